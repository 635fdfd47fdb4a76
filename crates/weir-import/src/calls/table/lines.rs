//! Lines of bounded length.

use std::io::{self, Read};

/// Most bytes of a line.
const LONGEST: usize = 1 << 20;

/// Bytes of a text, which end with an error at a line that is too long to be one of a table.
#[derive(Debug)]
pub(super) struct BoundedLines<R> {
    inner: R,
    length: usize,
}

impl<R: Read> BoundedLines<R> {
    pub(super) const fn new(inner: R) -> Self {
        Self { inner, length: 0 }
    }
}

impl<R: Read> Read for BoundedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        for &byte in &buffer[..read] {
            self.length = if byte == b'\n' { 0 } else { self.length + 1 };
            if self.length > LONGEST {
                let problem = "a line is longer than 1 MB, which no line of a table is";
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
        }
        Ok(read)
    }
}
