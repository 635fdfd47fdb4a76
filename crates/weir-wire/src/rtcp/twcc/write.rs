//! The writer of transport-wide feedback: the choice of chunks and deltas.

use super::{CHUNK_LEN, FIXED_LEN, FORMAT, LARGE, MISSING, REFERENCE_TICKS, SMALL, TICK_NANOS, Twcc};
use crate::error::BufferTooSmall;
use crate::rtcp::TRANSPORT_FEEDBACK;
use crate::rtcp::compound::start;

/// Least space for a message that reports on a packet.
const LEAST_LEN: usize = FIXED_LEN + 4;
const LONGEST_RUN: u16 = 0x1FFF;
/// Most symbols of one bit in a chunk, and of two bits.
const ONE_BIT_SYMBOLS: u16 = 14;
const TWO_BIT_SYMBOLS: u16 = 7;
const RUN_SHIFT: u32 = 13;
const ONE_BIT_VECTOR: u16 = 0x8000;
const TWO_BIT_VECTOR: u16 = 0xC000;

/// The fields of a message besides its statuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TwccHeader {
    /// SSRC of the sender of the report.
    pub ssrc: u32,
    /// The source reported on.
    pub source: u32,
    /// Number of the first packet reported on.
    pub base_sequence: u16,
    /// The message's own number.
    pub number: u8,
}

/// Size of a written message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenSize {
    /// Bytes of the message.
    pub length: usize,
    /// Packets that it reports on: fewer than were given if the next one did not fit.
    pub packets: usize,
}

impl Twcc<'_> {
    /// Writes a message to the start of `buffer`: `arrivals` holds for each packet from the base on when it
    /// arrived, in nanoseconds by the receiver's clock, and `None` if it has not. Times are rounded to the nearest
    /// 250 µs; rounding errors do not add up.
    ///
    /// The message ends before the first packet that does not fit. Causes are a length above `buffer` or
    /// [`Self::MAX_LEN`], a time 8.192 s or more from the one before, and a count of 65 535 packets. Then another
    /// message has to go on with that packet. At least one packet always fits.
    ///
    /// Chunks are chosen as in libwebrtc's encoder, as soon as the next symbol cannot join the pending ones: a run
    /// if they are all the same, else a vector.
    ///
    /// # Errors
    /// If `buffer` has fewer than 24 bytes. The buffer stays unchanged then.
    pub fn write(
        header: &TwccHeader,
        arrivals: impl IntoIterator<Item = Option<i64>>,
        buffer: &mut [u8],
    ) -> Result<WrittenSize, BufferTooSmall> {
        let available = buffer.len();
        if available < LEAST_LEN {
            return Err(BufferTooSmall { needed: LEAST_LEN, available });
        }
        // Padding fills up to a multiple of four.
        let limit = available.min(Self::MAX_LEN) / 4 * 4;
        let mut body = FeedbackBody::new(&mut buffer[FIXED_LEN..limit]);
        let mut packets = 0;
        for arrival in arrivals {
            if packets == u16::MAX || !body.push(arrival) {
                break;
            }
            packets += 1;
        }
        let reference = body.reference;
        let unpadded = FIXED_LEN + body.finish();
        let length = unpadded.next_multiple_of(4);
        let mut writer = start(&mut buffer[..length], length, FORMAT, TRANSPORT_FEEDBACK)?;
        writer.u32(header.ssrc);
        writer.u32(header.source);
        writer.u16(header.base_sequence);
        writer.u16(packets);
        writer.u24(reference.unwrap_or(0) as u32);
        writer.u8(header.number);
        pad(&mut buffer[..length], length - unpadded);
        Ok(WrittenSize { length, packets: usize::from(packets) })
    }
}

/// Fills the last `count` bytes of `message` with padding and its count.
fn pad(message: &mut [u8], count: usize) {
    const PADDING_FLAG: u8 = 0x20;
    let [first, .., last] = message else { return };
    if count > 0 {
        *first |= PADDING_FLAG;
        *last = count as u8;
        let end = message.len() - 1;
        message[end + 1 - count..end].fill(0);
    }
}

/// Chunks and deltas under construction. Chunks are in their final place; where the deltas begin is known only at
/// the end.
#[derive(Debug)]
struct FeedbackBody<'a> {
    room: &'a mut [u8],
    chunks_len: usize,
    deltas: [u8; Twcc::MAX_LEN],
    deltas_len: usize,
    pending: PendingSymbols,
    /// Reference time in units of 64 ms; known with the first packet received.
    reference: Option<i64>,
    /// The time written so far.
    ticks: i64,
}

impl<'a> FeedbackBody<'a> {
    fn new(room: &'a mut [u8]) -> Self {
        Self {
            room,
            chunks_len: 0,
            deltas: [0; Twcc::MAX_LEN],
            deltas_len: 0,
            pending: PendingSymbols::default(),
            reference: None,
            ticks: 0,
        }
    }

    /// Adds a packet if it fits.
    fn push(&mut self, arrival: Option<i64>) -> bool {
        let Some(nanos) = arrival else { return self.push_symbol(MISSING, &[]) };
        let ticks = nanos.saturating_add(TICK_NANOS / 2).div_euclid(TICK_NANOS);
        let begin = || {
            let reference = nanos.div_euclid(TICK_NANOS * REFERENCE_TICKS);
            (reference, reference * REFERENCE_TICKS)
        };
        let (reference, before) = self.reference.map_or_else(begin, |reference| (reference, self.ticks));
        let delta = ticks - before;
        let fits = if let Ok(delta) = u8::try_from(delta) {
            self.push_symbol(SMALL, &[delta])
        } else if let Ok(delta) = i16::try_from(delta) {
            self.push_symbol(LARGE, &delta.to_be_bytes())
        } else {
            false
        };
        if fits {
            self.reference = Some(reference);
            self.ticks = ticks;
        }
        fits
    }

    fn push_symbol(&mut self, symbol: u16, delta: &[u8]) -> bool {
        let accepted = self.pending.accepts(symbol);
        // The symbols that are pending afterwards take one chunk.
        let chunks_len = self.chunks_len + CHUNK_LEN * (1 + usize::from(!accepted));
        let deltas_len = self.deltas_len + delta.len();
        if chunks_len + deltas_len > self.room.len() {
            return false;
        }
        if !accepted {
            let chunk = self.pending.take_chunk();
            self.put_chunk(chunk);
        }
        self.pending.push(symbol);
        self.deltas[self.deltas_len..deltas_len].copy_from_slice(delta);
        self.deltas_len = deltas_len;
        true
    }

    fn put_chunk(&mut self, chunk: u16) {
        self.room[self.chunks_len..][..CHUNK_LEN].copy_from_slice(&chunk.to_be_bytes());
        self.chunks_len += CHUNK_LEN;
    }

    /// Puts the last chunk and the deltas in their place and returns the length of all.
    fn finish(mut self) -> usize {
        if self.pending.len > 0 {
            let chunk = self.pending.last_chunk();
            self.put_chunk(chunk);
        }
        self.room[self.chunks_len..][..self.deltas_len].copy_from_slice(&self.deltas[..self.deltas_len]);
        self.chunks_len + self.deltas_len
    }
}

/// Symbols that are not yet in a chunk.
#[derive(Clone, Copy, Debug, Default)]
struct PendingSymbols {
    len: u16,
    /// The first 14 symbols, two bits each, the first one in bits 27 and 26.
    symbols: u32,
    /// Whether all are the same.
    uniform: bool,
    /// Whether one has a large delta.
    large: bool,
}

impl PendingSymbols {
    /// Whether one chunk can hold the pending symbols and `symbol`, or hold their first seven and leave the rest
    /// pending.
    const fn accepts(self, symbol: u16) -> bool {
        self.len < TWO_BIT_SYMBOLS
            || (self.len < ONE_BIT_SYMBOLS && !self.large && symbol != LARGE)
            || (self.uniform && symbol == self.first() && self.len < LONGEST_RUN)
    }

    const fn first(self) -> u16 {
        (self.symbols >> 26) as u16
    }

    const fn push(&mut self, symbol: u16) {
        self.uniform = self.len == 0 || (self.uniform && symbol == self.first());
        self.large |= symbol == LARGE;
        if self.len < ONE_BIT_SYMBOLS {
            self.symbols |= (symbol as u32) << (26 - 2 * self.len);
        }
        self.len += 1;
    }

    /// A chunk of the pending symbols, because the next one cannot join it. Symbols that do not fit into it stay
    /// pending.
    fn take_chunk(&mut self) -> u16 {
        if self.uniform || self.len == ONE_BIT_SYMBOLS {
            let chunk = self.last_chunk();
            *self = Self::default();
            return chunk;
        }
        let (chunk, rest) = (self.two_bit_vector(), *self);
        *self = Self::default();
        for place in TWO_BIT_SYMBOLS..rest.len {
            self.push((rest.symbols >> (26 - 2 * place)) as u16 & 0b11);
        }
        chunk
    }

    /// The chunk that holds all pending symbols, if no more follow.
    const fn last_chunk(self) -> u16 {
        if self.uniform {
            self.first() << RUN_SHIFT | self.len
        } else if self.len <= TWO_BIT_SYMBOLS {
            self.two_bit_vector()
        } else {
            ONE_BIT_VECTOR | lower_bits(self.symbols)
        }
    }

    const fn two_bit_vector(self) -> u16 {
        TWO_BIT_VECTOR | (self.symbols >> 14) as u16
    }
}

/// The lower bit of each pair of bits.
const fn lower_bits(pairs: u32) -> u16 {
    let bits = pairs & 0x5555_5555;
    let bits = (bits | bits >> 1) & 0x3333_3333;
    let bits = (bits | bits >> 2) & 0x0F0F_0F0F;
    let bits = (bits | bits >> 4) & 0x00FF_00FF;
    (bits | bits >> 8) as u16
}
