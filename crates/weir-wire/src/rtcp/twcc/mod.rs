//! Transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1): the fate of single packets by
//! their transport-wide sequence numbers.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|P| FMT=15  |    PT=205     |            length             |
//! |                     SSRC of packet sender                     |
//! |                       SSRC reported on                        |
//! |     base sequence number      |     packet status count       |
//! |     reference time (24, signed, 64 ms)        |  fb pkt count |
//! |  packet chunks of 16 bits ... receive deltas of 8 or 16 bits  |
//! |  ... zeros up to 32 bits                                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! A chunk holds symbols of packets, the first one in the upper bits: a run (`0`, a symbol of two bits, a length
//! of 13 bits), 14 symbols of one bit (`10`), or seven of two bits (`11`). Symbols of the last chunk beyond the
//! count have no meaning.
//!
//! | symbol | meaning | delta |
//! |---|---|---|
//! | 0 | not received | none |
//! | 1 | received | 8 bits without sign |
//! | 2 | received | 16 bits with sign |
//! | 3 | reserved; here, as in the draft's examples: received, time unknown | none |
//!
//! Deltas count 250 µs from one received packet to the next in order of their numbers, beginning at the reference
//! time.
//!
//! Where the draft does not specify, or deployed senders differ:
//!
//! 1. In chunks of one bit 1 means received: the draft's examples and all implementations, against its prose.
//! 2. Deltas may extend into the marked padding: some deployed senders overstate it.
//! 3. A message that ends where its deltas should begin reports which packets arrived, but not when.
//! 4. Padding is marked as such (P, and its length in the last byte), and accepted unmarked.

mod write;

pub use write::{TwccHeader, WrittenSize};

use super::TRANSPORT_FEEDBACK;
use super::compound::{HEADER_LEN, RtcpPacket};
use crate::cursor::Reader;
use crate::error::ParseError;

/// Feedback message type of transport-wide feedback.
pub(super) const FORMAT: u8 = 15;
/// Length up to the chunks, in bytes.
const FIXED_LEN: usize = HEADER_LEN + 16;
const CHUNK_LEN: usize = 2;
/// Nanoseconds in the unit of a delta.
const TICK_NANOS: i64 = 250_000;
/// Deltas in the unit of the reference time, 64 ms.
const REFERENCE_TICKS: i64 = 256;

const MISSING: u16 = 0;
const SMALL: u16 = 1;
const LARGE: u16 = 2;

/// A transport-wide feedback message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twcc<'a> {
    /// SSRC of the sender of the report.
    pub ssrc: u32,
    /// A source of the transport reported on.
    pub source: u32,
    /// Number of the first packet reported on.
    pub base_sequence: u16,
    /// Number of packets reported on.
    pub status_count: u16,
    /// Start of the deltas' time, in 64 ms by the receiver's clock: the lower 24 bits, with sign.
    pub reference_time: i32,
    /// The message's own number, by which lost messages are counted.
    pub number: u8,
    chunks: &'a [u8],
    deltas: &'a [u8],
    timed: bool,
}

/// Report on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketStatus {
    /// The packet has not been seen.
    Missing,
    /// The packet arrived, at a time that the message does not give.
    Untimed,
    /// The packet arrived so many 250 µs after the reference time.
    At(i32),
}

impl<'a> Twcc<'a> {
    /// Longest message that is written, in bytes: it fits any path that media packets fit.
    pub const MAX_LEN: usize = 1200;
    /// Period in nanoseconds after which reference times repeat: 2²⁴ · 64 ms, 12.4 days.
    pub const PERIOD_NANOS: i64 = (REFERENCE_TICKS * TICK_NANOS) << 24;

    /// Reads a message. Padding that covers deltas is read as deltas.
    ///
    /// # Errors
    /// If the packet is of another type or format, or too short for its statuses and their deltas.
    pub fn parse(packet: &RtcpPacket<'a>) -> Result<Self, ParseError> {
        packet.require_type(TRANSPORT_FEEDBACK)?;
        packet.require_format(FORMAT)?;
        let mut reader = Reader::new(packet.padded_body, packet.offset + HEADER_LEN);
        let ssrc = reader.u32()?;
        let source = reader.u32()?;
        let base_sequence = reader.u16()?;
        let status_count = reader.u16()?;
        let time_and_number = reader.u32()?;
        let after_header = reader.rest();
        let deltas_len = deltas_len(&mut reader, status_count)?;
        let (chunks, rest) = after_header.split_at(after_header.len() - reader.rest().len());
        let timed = rest.len() >= deltas_len;
        if !timed && !is_padding(packet, rest) {
            reader.require(deltas_len)?;
        }
        Ok(Self {
            ssrc,
            source,
            base_sequence,
            status_count,
            reference_time: time_and_number as i32 >> 8,
            number: time_and_number as u8,
            chunks,
            deltas: if timed { &rest[..deltas_len] } else { &[] },
            timed,
        })
    }

    /// The report on each packet, by number.
    pub fn statuses(&self) -> Statuses<'a> {
        Statuses {
            sequence: self.base_sequence,
            left: self.status_count,
            chunks: self.chunks,
            symbols: Symbols::default(),
            deltas: self.deltas,
            timed: self.timed,
            ticks: 0,
        }
    }

    /// The reference time in nanoseconds, within half a [period](Self::PERIOD_NANOS) around zero.
    pub const fn reference_nanos(&self) -> i64 {
        self.reference_time as i64 * REFERENCE_TICKS * TICK_NANOS
    }
}

impl PacketStatus {
    /// The arrival time in nanoseconds after the reference time, if the message gives it.
    pub const fn nanos(self) -> Option<i64> {
        match self {
            Self::At(ticks) => Some(ticks as i64 * TICK_NANOS),
            Self::Missing | Self::Untimed => None,
        }
    }
}

/// Whether `rest`, the end of the packet, is only padding, marked as such or not.
fn is_padding(packet: &RtcpPacket<'_>, rest: &[u8]) -> bool {
    let marked = packet.body().is_ok_and(|body| packet.padded_body.len() - body.len() >= rest.len());
    marked || (rest.len() < 4 && rest.iter().all(|&byte| byte == 0))
}

/// Walks over the chunks of `count` packets and returns how many bytes their deltas take.
fn deltas_len(reader: &mut Reader<'_>, count: u16) -> Result<usize, ParseError> {
    let mut left = count;
    let mut length = 0;
    while left > 0 {
        let symbols = Symbols::of(reader.u16()?);
        let packets = symbols.left.min(left);
        length += symbols.deltas_len(packets);
        left -= packets;
    }
    Ok(length)
}

/// The remaining symbols of a chunk: the next one is in the upper bits.
#[derive(Clone, Copy, Debug, Default)]
struct Symbols {
    bits: u16,
    /// Bits of a symbol.
    width: u32,
    /// Bits from a symbol to the next; none in a run.
    step: u32,
    left: u16,
}

impl Symbols {
    const fn of(chunk: u16) -> Self {
        match chunk >> 14 {
            0b10 => Self { bits: chunk << 2, width: 1, step: 1, left: 14 },
            0b11 => Self { bits: chunk << 2, width: 2, step: 2, left: 7 },
            _ => Self { bits: chunk << 1, width: 2, step: 0, left: chunk & 0x1FFF },
        }
    }

    const fn next(&mut self) -> u16 {
        let symbol = self.bits >> (16 - self.width);
        self.bits <<= self.step;
        self.left -= 1;
        symbol
    }

    /// Bytes of the deltas of the first `packets`, of which there are as many.
    const fn deltas_len(&self, packets: u16) -> usize {
        const UPPER: u16 = 0xAAAA;
        let packets = packets as u32;
        if self.step == 0 {
            return match self.bits >> 14 {
                SMALL => packets as usize,
                LARGE => 2 * packets as usize,
                _ => 0,
            };
        }
        let symbols = self.bits & !(u16::MAX >> (packets * self.step));
        if self.step == 1 {
            return symbols.count_ones() as usize;
        }
        let (upper, lower) = (symbols & UPPER, symbols << 1 & UPPER);
        ((lower & !upper).count_ones() + 2 * (upper & !lower).count_ones()) as usize
    }
}

/// The reports on each packet; see [`Twcc::statuses`].
#[derive(Clone, Debug)]
pub struct Statuses<'a> {
    sequence: u16,
    left: u16,
    chunks: &'a [u8],
    symbols: Symbols,
    deltas: &'a [u8],
    timed: bool,
    /// Time of the last packet received.
    ticks: i32,
}

impl Statuses<'_> {
    /// The next delta, which parsing has found to be there.
    fn delta(&mut self, symbol: u16) -> Option<i32> {
        if symbol == SMALL {
            let (&delta, rest) = self.deltas.split_first()?;
            self.deltas = rest;
            return Some(i32::from(delta));
        }
        let (&delta, rest) = self.deltas.split_first_chunk()?;
        self.deltas = rest;
        Some(i32::from(i16::from_be_bytes(delta)))
    }
}

impl Iterator for Statuses<'_> {
    /// The packet's number and its reception.
    type Item = (u16, PacketStatus);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        while self.symbols.left == 0 {
            let (&chunk, rest) = self.chunks.split_first_chunk()?;
            self.chunks = rest;
            self.symbols = Symbols::of(u16::from_be_bytes(chunk));
        }
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        let reception = match self.symbols.next() {
            MISSING => PacketStatus::Missing,
            symbol @ (SMALL | LARGE) if self.timed => {
                // 65 535 deltas of 16 bits stay within 32 bits.
                self.ticks = self.ticks.wrapping_add(self.delta(symbol)?);
                PacketStatus::At(self.ticks)
            }
            _ => PacketStatus::Untimed,
        };
        Some((sequence, reception))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

impl ExactSizeIterator for Statuses<'_> {}

#[cfg(test)]
mod tests;
