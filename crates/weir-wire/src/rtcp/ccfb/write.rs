//! The writing side of congestion control feedback.

use super::{BLOCK_HEADER_LEN, Ccfb, FORMAT, MOST_METRICS, MetricBlock, TIMESTAMP_LEN, metrics_len};
use crate::cursor::Writer;
use crate::error::{BufferTooSmall, WriteError, at_most};
use crate::rtcp::TRANSPORT_FEEDBACK;
use crate::rtcp::compound::{HEADER_LEN, SSRC_LEN, start};

/// Length up to the first block, in bytes.
const FIXED_LEN: usize = HEADER_LEN + SSRC_LEN;

/// 16 bits count the words of a packet after the first.
const MOST_LEN: usize = 4 << 16;

/// Writes congestion control feedback, a stream after the other.
#[derive(Debug)]
pub struct CcfbWriter<'a> {
    buffer: &'a mut [u8],
    length: usize,
}

impl<'a> CcfbWriter<'a> {
    /// A writer to the start of `buffer`.
    pub const fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer, length: FIXED_LEN }
    }

    /// Adds the report on the stream `source`: for each packet from `begin_sequence` on its metric if it arrived,
    /// and `None` if it has not.
    ///
    /// # Errors
    /// If there are more than 16 384 packets, or the buffer, of which 256 KiB can be used, is too small for them and
    /// the report timestamp. The stream is left out then.
    pub fn stream(
        &mut self,
        source: u32,
        begin_sequence: u16,
        metrics: impl ExactSizeIterator<Item = Option<MetricBlock>>,
    ) -> Result<(), WriteError> {
        let packets = metrics.len();
        at_most(MOST_METRICS, packets, "packets of a stream")?;
        let length = BLOCK_HEADER_LEN + metrics_len(packets);
        let available = self.buffer.len().min(MOST_LEN);
        let needed = self.length + length + TIMESTAMP_LEN;
        if needed > available {
            return Err(BufferTooSmall { needed, available }.into());
        }
        let mut writer = Writer::new(&mut self.buffer[self.length..], length)?;
        writer.u32(source);
        writer.u16(begin_sequence);
        writer.u16(packets as u16);
        // At most the promised number: the space is checked for so many.
        for metric in metrics.take(packets) {
            writer.u16(metric.map_or(0, MetricBlock::word));
        }
        writer.zeros();
        self.length += length;
        Ok(())
    }

    /// Most packets that the report on a further stream may have.
    pub fn most_packets(&self) -> usize {
        let others = self.length - FIXED_LEN;
        Ccfb::most_packets(self.buffer.len().min(MOST_LEN).saturating_sub(others))
    }

    /// Ends the message: `ssrc` reports at `timestamp`. Returns its length.
    ///
    /// # Errors
    /// If the buffer is too small for a message without streams. The buffer stays unchanged then.
    pub fn finish(self, ssrc: u32, timestamp: u32) -> Result<usize, BufferTooSmall> {
        let length = self.length + TIMESTAMP_LEN;
        let mut writer = start(self.buffer, length, FORMAT, TRANSPORT_FEEDBACK)?;
        writer.u32(ssrc);
        self.buffer[self.length..length].copy_from_slice(&timestamp.to_be_bytes());
        Ok(length)
    }
}

impl Ccfb<'_> {
    /// Writes a message about a single stream to the start of `buffer`; see [`CcfbWriter`]. Returns its length.
    ///
    /// # Errors
    /// As [`CcfbWriter::stream`].
    pub fn write(
        ssrc: u32,
        timestamp: u32,
        source: u32,
        begin_sequence: u16,
        metrics: impl ExactSizeIterator<Item = Option<MetricBlock>>,
        buffer: &mut [u8],
    ) -> Result<usize, WriteError> {
        let mut writer = CcfbWriter::new(buffer);
        writer.stream(source, begin_sequence, metrics)?;
        Ok(writer.finish(ssrc, timestamp)?)
    }
}
