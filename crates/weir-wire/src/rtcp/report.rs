//! Sender and receiver reports (RFC 3550 §6.4).

use super::compound::{HEADER_LEN, RtcpPacket, SSRC_LEN, start};
use super::{RECEIVER_REPORT, SENDER_REPORT};
use crate::cursor::{Reader, Writer};
use crate::error::{ParseError, WriteError, at_most};
use crate::ntp::NtpTime;

/// Length of the sender's part of a sender report in bytes.
const SENDER_INFO_LEN: usize = 20;
/// Most report blocks in one packet: five bits count them.
const MAX_BLOCKS: usize = 31;

/// Report of a receiver about one source (RFC 3550 §6.4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReportBlock {
    /// The source reported on.
    pub ssrc: u32,
    /// Loss since the report before, in 1/256; see [`fraction_lost`].
    pub fraction_lost: u8,
    /// Packets lost since the beginning, negative if duplicates outnumber losses: 24 bits, −2²³ to 2²³ − 1. Writing
    /// saturates.
    pub cumulative_lost: i32,
    /// Highest sequence number received in the lower 16 bits, count of wraps in the upper 16.
    pub highest_sequence: u32,
    /// Interarrival jitter in ticks of the media clock.
    pub jitter: u32,
    /// Middle 32 bits of the NTP time of the last sender report (`LSR`), 0 before the first.
    pub last_sender_report: u32,
    /// Delay from the arrival of that report to this one, in 1/65536 s (`DLSR`), 0 before the first.
    pub delay_since_last_sender_report: u32,
}

impl ReportBlock {
    /// Length on the wire in bytes.
    pub const WIRE_LEN: usize = 24;

    fn from_words(words: [[u8; 4]; 6]) -> Self {
        let [ssrc, loss, highest_sequence, jitter, last_sender_report, delay_since_last_sender_report] =
            words.map(u32::from_be_bytes);
        Self {
            ssrc,
            fraction_lost: (loss >> 24) as u8,
            cumulative_lost: (loss << 8) as i32 >> 8,
            highest_sequence,
            jitter,
            last_sender_report,
            delay_since_last_sender_report,
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.ssrc);
        writer.u8(self.fraction_lost);
        writer.u24(self.cumulative_lost.clamp(-0x80_0000, 0x7F_FFFF) as u32);
        writer.u32(self.highest_sequence);
        writer.u32(self.jitter);
        writer.u32(self.last_sender_report);
        writer.u32(self.delay_since_last_sender_report);
    }
}

/// The share of `expected` packets that did not arrive, in 1/256 rounded down and at most 255 (RFC 3550 §A.3). The
/// result is 0 if duplicates outnumber the losses or none were expected. Both count from the report before.
pub const fn fraction_lost(expected: u32, received: u32) -> u8 {
    let lost = expected.saturating_sub(received) as u64;
    if lost == 0 {
        return 0;
    }
    // Total loss would be 256, which the field cannot hold.
    let fraction = 256 * lost / expected as u64;
    if fraction > 255 { 255 } else { fraction as u8 }
}

/// Report blocks as in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RawBlocks<'a>(&'a [[[u8; 4]; 6]]);

impl<'a> RawBlocks<'a> {
    fn read(reader: &mut Reader<'a>, count: u8) -> Result<Self, ParseError> {
        let bytes = reader.slice(ReportBlock::WIRE_LEN * usize::from(count))?;
        Ok(Self(bytes.as_chunks().0.as_chunks().0))
    }

    fn iter(self) -> impl ExactSizeIterator<Item = ReportBlock> + Clone + use<'a> {
        self.0.iter().copied().map(ReportBlock::from_words)
    }
}

/// Information of a sender about itself (RFC 3550 §6.4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SenderInfo {
    /// When the report was made.
    pub ntp: NtpTime,
    /// The same moment in ticks of the media clock.
    pub rtp_timestamp: u32,
    /// RTP packets sent since the beginning.
    pub packet_count: u32,
    /// Bytes of payload sent since the beginning, without headers and padding.
    pub octet_count: u32,
}

/// A sender report (SR).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderReport<'a> {
    /// SSRC of the sender of the report.
    pub ssrc: u32,
    /// Information of the sender about itself.
    pub info: SenderInfo,
    /// A profile's extension after the blocks.
    pub extension: &'a [u8],
    blocks: RawBlocks<'a>,
}

impl<'a> SenderReport<'a> {
    /// Reads a sender report.
    ///
    /// # Errors
    /// If the packet is of another type, or too short for its blocks.
    pub fn parse(packet: &RtcpPacket<'a>) -> Result<Self, ParseError> {
        let mut reader = packet.reader_of(SENDER_REPORT)?;
        let ssrc = reader.u32()?;
        let info = SenderInfo {
            ntp: NtpTime::read(&mut reader)?,
            rtp_timestamp: reader.u32()?,
            packet_count: reader.u32()?,
            octet_count: reader.u32()?,
        };
        let blocks = RawBlocks::read(&mut reader, packet.count)?;
        Ok(Self { ssrc, info, blocks, extension: reader.rest() })
    }

    /// Blocks about the sources that it receives.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = ReportBlock> + Clone + use<'a> {
        self.blocks.iter()
    }

    /// Length on the wire in bytes of a sender report with `blocks` blocks.
    pub const fn wire_len(blocks: usize) -> usize {
        HEADER_LEN + SSRC_LEN + SENDER_INFO_LEN + blocks * ReportBlock::WIRE_LEN
    }

    /// Writes a sender report to the start of `buffer` and returns its length.
    ///
    /// # Errors
    /// If there are more than 31 blocks, or the buffer is too small. The buffer stays unchanged then.
    pub fn write(
        ssrc: u32,
        info: &SenderInfo,
        blocks: &[ReportBlock],
        buffer: &mut [u8],
    ) -> Result<usize, WriteError> {
        at_most(MAX_BLOCKS, blocks.len(), "report blocks")?;
        let length = Self::wire_len(blocks.len());
        let mut writer = start(buffer, length, blocks.len() as u8, SENDER_REPORT)?;
        writer.u32(ssrc);
        writer.u64(info.ntp.0);
        writer.u32(info.rtp_timestamp);
        writer.u32(info.packet_count);
        writer.u32(info.octet_count);
        for block in blocks {
            block.write(&mut writer);
        }
        Ok(length)
    }
}

/// A receiver report (RR).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverReport<'a> {
    /// SSRC of the sender of the report.
    pub ssrc: u32,
    /// A profile's extension after the blocks.
    pub extension: &'a [u8],
    blocks: RawBlocks<'a>,
}

impl<'a> ReceiverReport<'a> {
    /// Most report blocks in one packet: five bits count them.
    pub const MAX_BLOCKS: usize = MAX_BLOCKS;

    /// Reads a receiver report.
    ///
    /// # Errors
    /// If the packet is of another type, or too short for its blocks.
    pub fn parse(packet: &RtcpPacket<'a>) -> Result<Self, ParseError> {
        let mut reader = packet.reader_of(RECEIVER_REPORT)?;
        let ssrc = reader.u32()?;
        let blocks = RawBlocks::read(&mut reader, packet.count)?;
        Ok(Self { ssrc, blocks, extension: reader.rest() })
    }

    /// Blocks about the sources that it receives.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = ReportBlock> + Clone + use<'a> {
        self.blocks.iter()
    }

    /// Length on the wire in bytes of a receiver report with `blocks` blocks.
    pub const fn wire_len(blocks: usize) -> usize {
        HEADER_LEN + SSRC_LEN + blocks * ReportBlock::WIRE_LEN
    }

    /// Writes a receiver report to the start of `buffer` and returns its length.
    ///
    /// # Errors
    /// If there are more than 31 blocks, or the buffer is too small. The buffer stays unchanged then.
    pub fn write(ssrc: u32, blocks: &[ReportBlock], buffer: &mut [u8]) -> Result<usize, WriteError> {
        at_most(MAX_BLOCKS, blocks.len(), "report blocks")?;
        let length = Self::wire_len(blocks.len());
        let mut writer = start(buffer, length, blocks.len() as u8, RECEIVER_REPORT)?;
        writer.u32(ssrc);
        for block in blocks {
            block.write(&mut writer);
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests;
