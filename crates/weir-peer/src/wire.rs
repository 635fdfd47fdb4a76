//! Bytes of messages: big-endian numbers one behind another.

use weir_units::TimeDelta;

/// Largest packet on the wire in bytes, headers of IPv6 or IPv4 included.
pub const PEER_MTU: usize = 1200;
/// Most bytes of an RTP header with Weir's extensions.
pub(crate) const RTP_HEADER: usize = 36;

/// The bytes of a message that are still to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireReader<'a>(&'a [u8]);

impl<'a> WireReader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A text of at most `most` bytes, behind its length in two bytes.
    pub(crate) fn text(&mut self, most: usize) -> Option<&'a str> {
        let length = usize::from(self.u16()?);
        let bytes = self.bytes(length).filter(|_| length <= most)?;
        core::str::from_utf8(bytes).ok()
    }

    /// A span in whole microseconds.
    pub(crate) fn span(&mut self) -> Option<TimeDelta> {
        self.u32().map(|micros| TimeDelta::from_micros(i64::from(micros)))
    }
}

/// Writes a text behind its length.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    let bytes = &text.as_bytes()[..text.len().min(usize::from(u16::MAX))];
    out.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Writes a span in whole microseconds; negative ones as zero, longer ones than 71 minutes as the longest.
pub(crate) fn put_span(out: &mut Vec<u8>, span: TimeDelta) {
    let micros = (span.nanos() / 1000).clamp(0, i64::from(u32::MAX)) as u32;
    out.extend_from_slice(&micros.to_be_bytes());
}
