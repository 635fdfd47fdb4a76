//! JSON whose texts, numbers and nesting are bounded, so that a reader's memory is.

use std::io::{self, Read};

/// Most bytes of a text: a series of a dump is one.
pub(super) const LONGEST_TEXT: usize = 16 << 20;
/// Most bytes of a number or a word.
const LONGEST_WORD: usize = 256;
/// Deepest nesting.
const DEEPEST: usize = 100;

/// Bytes of JSON, which end with an error at a text, a number or a nesting beyond the bounds.
#[derive(Debug)]
pub(super) struct BoundedJson<R> {
    inner: R,
    /// Bytes of the text or word so far.
    length: usize,
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl<R: Read> BoundedJson<R> {
    pub(super) const fn new(inner: R) -> Self {
        Self { inner, length: 0, depth: 0, in_text: false, escaped: false }
    }

    fn check(&mut self, byte: u8) -> Result<(), &'static str> {
        self.length += 1;
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => (self.in_text, self.length) = (false, 0),
                _ => {}
            }
            return if self.length > LONGEST_TEXT { Err("a text is longer than 16 MB") } else { Ok(()) };
        }
        match byte {
            b'"' => (self.in_text, self.length) = (true, 0),
            b'[' | b'{' => (self.depth, self.length) = (self.depth + 1, 0),
            b']' | b'}' => (self.depth, self.length) = (self.depth.saturating_sub(1), 0),
            b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => self.length = 0,
            _ if self.length > LONGEST_WORD => return Err("a number or a word is longer than 256 bytes"),
            _ => {}
        }
        if self.depth > DEEPEST { Err("it is nested more than 100 deep") } else { Ok(()) }
    }
}

impl<R: Read> Read for BoundedJson<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        for &byte in &buffer[..read] {
            self.check(byte).map_err(|problem| {
                io::Error::new(io::ErrorKind::InvalidData, format!("{problem}, which no dump has"))
            })?;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_out_of_bounds_are_refused_before_they_fill_memory() {
        let long = |byte: u8, begin: &'static [u8]| {
            let endless = begin.chain(io::repeat(byte));
            io::copy(&mut BoundedJson::new(endless), &mut io::sink()).unwrap_err().to_string()
        };
        assert_eq!(long(b'a', b"[\""), "a text is longer than 16 MB, which no dump has");
        assert_eq!(long(b'7', b"["), "a number or a word is longer than 256 bytes, which no dump has");
        assert_eq!(long(b'[', b""), "it is nested more than 100 deep, which no dump has");
        let fine = br#"{"a": "[{\"", "b": [1, 2]}"#.as_slice();
        assert_eq!(io::copy(&mut BoundedJson::new(fine), &mut io::sink()).unwrap(), 26);
    }
}
