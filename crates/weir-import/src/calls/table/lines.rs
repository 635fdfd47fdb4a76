//! Lines of bounded length.

use std::io::{self, Read};

/// Most bytes of a line.
const LONGEST: usize = 1 << 20;

/// Bytes of a text, which end with an error at a line that is too long to be one of a table.
#[derive(Debug)]
pub(super) struct BoundedLines<R> {
    inner: R,
    /// Bytes of the line so far, and of the line before it.
    length: usize,
    before: usize,
    /// Ends of lines.
    ends: u64,
}

impl<R: Read> BoundedLines<R> {
    pub(super) const fn new(inner: R) -> Self {
        Self { inner, length: 0, before: 0, ends: 0 }
    }

    /// Number of the last line from 1, and whether it is shorter than the line before, if it has no end.
    pub(super) fn open_end(&self) -> Option<(u64, bool)> {
        (self.length > 0).then_some((self.ends + 1, self.length < self.before))
    }
}

impl<R: Read> Read for BoundedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        for &byte in &buffer[..read] {
            if matches!(byte, b'\n' | b'\r') {
                // An empty line is none, nor is the second byte of an end of two.
                self.before = if self.length > 0 { self.length } else { self.before };
                self.length = 0;
                self.ends += u64::from(byte == b'\n');
            } else {
                self.length += 1;
            }
            if self.length > LONGEST {
                let problem = "a line is longer than 1 MB, which no line of a table is";
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
        }
        Ok(read)
    }
}
