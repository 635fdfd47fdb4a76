//! Sequential access to bytes: a reader that reports where the bytes end, and a writer that checks its space once
//! at the start.

use core::mem;

use crate::error::{BufferTooSmall, ParseError};

/// Reads fields one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    /// A reader of `bytes`, whose first byte counts as `offset` in errors.
    pub(crate) const fn new(bytes: &'a [u8], offset: usize) -> Self {
        Self { rest: bytes, offset }
    }

    /// Where the next field begins.
    pub(crate) const fn offset(&self) -> usize {
        self.offset
    }

    /// The remaining bytes.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// An error unless `needed` bytes are left.
    pub(crate) fn require(&self, needed: usize) -> Result<(), ParseError> {
        if self.rest.len() < needed { Err(self.too_short(needed)) } else { Ok(()) }
    }

    /// The next `length` bytes.
    pub(crate) fn slice(&mut self, length: usize) -> Result<&'a [u8], ParseError> {
        let (head, rest) = self.rest.split_at_checked(length).ok_or_else(|| self.too_short(length))?;
        self.rest = rest;
        self.offset += length;
        Ok(head)
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], ParseError> {
        let (head, rest) = self.rest.split_first_chunk().ok_or_else(|| self.too_short(N))?;
        self.rest = rest;
        self.offset += N;
        Ok(*head)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ParseError> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, ParseError> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ParseError> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, ParseError> {
        self.array().map(u64::from_be_bytes)
    }

    fn too_short(&self, needed: usize) -> ParseError {
        ParseError::TooShort { offset: self.offset, needed, available: self.rest.len() }
    }
}

/// Writes fields one after the other into space that was checked before the first of them.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    rest: &'a mut [u8],
}

impl<'a> Writer<'a> {
    /// A writer of exactly `needed` bytes at the start of `buffer`.
    pub(crate) fn new(buffer: &'a mut [u8], needed: usize) -> Result<Self, BufferTooSmall> {
        let available = buffer.len();
        match buffer.get_mut(..needed) {
            Some(rest) => Ok(Self { rest }),
            None => Err(BufferTooSmall { needed, available }),
        }
    }

    /// Writes `bytes`. The length given to [`Self::new`] covers them, so the split holds.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        let (head, rest) = mem::take(&mut self.rest).split_at_mut(bytes.len());
        head.copy_from_slice(bytes);
        self.rest = rest;
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    pub(crate) fn u16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }

    /// Writes the lower 24 bits of `value`.
    pub(crate) fn u24(&mut self, value: u32) {
        let [_, bytes @ ..] = value.to_be_bytes();
        self.put(&bytes);
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.put(&value.to_be_bytes());
    }

    /// Fills the remaining bytes with zeros.
    pub(crate) fn zeros(self) {
        self.rest.fill(0);
    }
}
