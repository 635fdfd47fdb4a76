//! Congestion control feedback (RFC 8888): the fate of single packets of each stream by their RTP sequence numbers.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|P| FMT=11  |    PT=205     |            length             |
//! |                     SSRC of packet sender                     |
//! |                       SSRC of a stream                        |   a block,
//! |          begin_seq            |          num_reports          |   as many
//! |R|ECN|  arrival time offset    |R|ECN|  arrival time offset    |   as there
//! |  ... one for each packet, zeros up to 32 bits                 |   are streams
//! |                 report timestamp, 16.16 s                     |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! * `R`: whether the packet was received; if not, the other 15 bits have no meaning.
//! * `ECN`: the two bits of its IP header (RFC 3168).
//! * arrival time offset: how long before the report timestamp the packet arrived, in 1/1024 s. 0x1FFE stands for
//!   more than 8189/1024 s, 0x1FFF for a time that is unknown or after the report.
//! * report timestamp: the middle 32 bits of the NTP time of the receiver's clock.
//!
//! Where the RFC leaves a choice:
//!
//! 1. `num_reports` is the number of packets (erratum 8166), as libwebrtc and today's pion send it. Before the
//!    erratum the RFC's text was that number less one, and SCReAM's authors and pion up to 1.2.15 send that. A
//!    message is read so if its length fits no other reading, or if its padding would have the bit of a packet
//!    received.
//! 2. An arrival time offset is rounded down. A decoded time is then late by up to 1/1024 s.

mod write;

pub use write::CcfbWriter;

use super::TRANSPORT_FEEDBACK;
use super::compound::{HEADER_LEN, RtcpPacket, SSRC_LEN};
use crate::cursor::Reader;
use crate::error::ParseError;

/// Feedback message type of congestion control feedback.
pub(super) const FORMAT: u8 = 11;
const BLOCK_HEADER_LEN: usize = SSRC_LEN + 4;
const METRIC_LEN: usize = 2;
const TIMESTAMP_LEN: usize = 4;
/// Most packets of a stream in a message (RFC 8888 §3.1).
const MOST_METRICS: usize = 16_384;

const RECEIVED: u16 = 1 << 15;
const ECN_SHIFT: u32 = 13;

/// Congestion control feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ccfb<'a> {
    /// SSRC of the sender of the report.
    pub ssrc: u32,
    /// When the report was made: the middle 32 bits of NTP time, in 1/65536 s.
    pub timestamp: u32,
    blocks: &'a [u8],
    /// Difference between the number of packets and `num_reports`.
    excess: u8,
}

/// Report on the packets of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcfbBlock<'a> {
    /// The stream.
    pub source: u32,
    /// RTP sequence number of the first packet reported on.
    pub begin_sequence: u16,
    metrics: &'a [u8],
}

/// Report on a packet that arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MetricBlock {
    /// The two ECN bits of its IP header: 0 not ECN-capable, 1 ECT(1), 2 ECT(0), 3 congestion experienced.
    pub ecn: u8,
    /// How long before the report it arrived, in 1/1024 s, 0 to 8191; see [`Self::OVER_RANGE`] and
    /// [`Self::UNAVAILABLE`].
    pub offset: u16,
}

impl MetricBlock {
    /// The offset that stands for more than 8189/1024 s.
    pub const OVER_RANGE: u16 = 0x1FFE;
    /// The offset that stands for a time that is not known, or after the report.
    pub const UNAVAILABLE: u16 = 0x1FFF;

    /// The offset of a packet that arrived `nanos` nanoseconds before the report, rounded down.
    pub const fn offset_from_nanos(nanos: i64) -> u16 {
        match nanos {
            ..0 => Self::UNAVAILABLE,
            // 8190 / 1024 s take 7 998 046 875 ns.
            7_998_046_875.. => Self::OVER_RANGE,
            _ => (nanos * 1024 / 1_000_000_000) as u16,
        }
    }

    /// How long before the report the packet arrived, in nanoseconds rounded down, or `None` if the offset does
    /// not give it.
    pub const fn offset_nanos(self) -> Option<i64> {
        if self.offset >= Self::OVER_RANGE {
            return None;
        }
        Some(self.offset as i64 * 1_000_000_000 / 1024)
    }

    const fn from_word(word: u16) -> Option<Self> {
        if word & RECEIVED == 0 {
            return None;
        }
        Some(Self { ecn: (word >> ECN_SHIFT) as u8 & 0b11, offset: word & Self::UNAVAILABLE })
    }

    const fn word(self) -> u16 {
        RECEIVED | (self.ecn as u16 & 0b11) << ECN_SHIFT | self.offset & Self::UNAVAILABLE
    }
}

/// Whether the padding of a block among `blocks` has the bit of a packet received. An error unless the blocks end where
/// the report timestamp begins.
fn pads_packets(mut blocks: Reader<'_>, excess: u8) -> Result<bool, ParseError> {
    let mut packets = false;
    while !blocks.rest().is_empty() {
        let (_, padding) = CcfbBlock::read(&mut blocks, excess)?;
        packets |= padding.first_chunk().is_some_and(|&word| u16::from_be_bytes(word) & RECEIVED != 0);
    }
    Ok(packets)
}

/// Bytes of the metrics of `packets`, filled up to 32 bits.
const fn metrics_len(packets: usize) -> usize {
    packets.next_multiple_of(2) * METRIC_LEN
}

impl<'a> Ccfb<'a> {
    /// Period in nanoseconds after which report timestamps repeat: 2³² / 65536 s, 18.2 h.
    pub const PERIOD_NANOS: i64 = (1 << 16) * 1_000_000_000;

    /// Reads congestion control feedback.
    ///
    /// # Errors
    /// If the packet is of another type or format, or its length does not fit its blocks.
    pub fn parse(packet: &RtcpPacket<'a>) -> Result<Self, ParseError> {
        let mut reader = packet.reader_of(TRANSPORT_FEEDBACK)?;
        packet.require_format(FORMAT)?;
        let ssrc = reader.u32()?;
        reader.require(TIMESTAMP_LEN)?;
        let begin = reader.offset();
        let (blocks, timestamp) = reader.rest().split_at(reader.rest().len() - TIMESTAMP_LEN);
        let timestamp = Reader::new(timestamp, begin + blocks.len()).u32()?;
        let pads_packets = |excess| pads_packets(Reader::new(blocks, begin), excess);
        let excess = match pads_packets(0) {
            Ok(false) => 0,
            Ok(true) => u8::from(pads_packets(1).is_ok()),
            Err(error) => pads_packets(1).map(|_| 1).map_err(|_| error)?,
        };
        Ok(Self { ssrc, timestamp, blocks, excess })
    }

    /// The reports on each stream.
    pub fn blocks(&self) -> Blocks<'a> {
        Blocks { reader: Reader::new(self.blocks, 0), excess: self.excess }
    }

    /// The report timestamp in nanoseconds, rounded to the nearest.
    pub const fn timestamp_nanos(&self) -> i64 {
        crate::ntp::nanos_from_units(self.timestamp)
    }

    /// Length on the wire in bytes of a message about `packets` packets of a single stream.
    pub const fn wire_len(packets: usize) -> usize {
        HEADER_LEN + SSRC_LEN + BLOCK_HEADER_LEN + metrics_len(packets) + TIMESTAMP_LEN
    }

    /// The number of packets of a single stream that a message of `length` bytes can report on.
    pub const fn most_packets(length: usize) -> usize {
        let packets = length.saturating_sub(Self::wire_len(0)) / 4 * 4 / METRIC_LEN;
        if packets > MOST_METRICS { MOST_METRICS } else { packets }
    }
}

/// The reports on each stream; see [`Ccfb::blocks`].
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    reader: Reader<'a>,
    excess: u8,
}

impl<'a> Iterator for Blocks<'a> {
    type Item = CcfbBlock<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        // Parsing has validated the blocks.
        CcfbBlock::read(&mut self.reader, self.excess).ok().map(|(block, _)| block)
    }
}

impl<'a> CcfbBlock<'a> {
    /// A block and its padding.
    fn read(reader: &mut Reader<'a>, excess: u8) -> Result<(Self, &'a [u8]), ParseError> {
        let source = reader.u32()?;
        let begin_sequence = reader.u16()?;
        let packets = usize::from(reader.u16()?) + usize::from(excess);
        let (metrics, padding) = reader.slice(metrics_len(packets))?.split_at(METRIC_LEN * packets);
        Ok((Self { source, begin_sequence, metrics }, padding))
    }

    /// The report on each packet, by number.
    pub fn metrics(&self) -> Metrics<'a> {
        Metrics { sequence: self.begin_sequence, rest: self.metrics }
    }
}

/// The reports on each packet of a stream; see [`CcfbBlock::metrics`].
#[derive(Clone, Debug)]
pub struct Metrics<'a> {
    sequence: u16,
    rest: &'a [u8],
}

impl Iterator for Metrics<'_> {
    /// The packet's RTP sequence number, and its metric if it arrived.
    type Item = (u16, Option<MetricBlock>);

    fn next(&mut self) -> Option<Self::Item> {
        let (&word, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        Some((sequence, MetricBlock::from_word(u16::from_be_bytes(word))))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.rest.len() / METRIC_LEN;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Metrics<'_> {}

#[cfg(test)]
mod tests;
