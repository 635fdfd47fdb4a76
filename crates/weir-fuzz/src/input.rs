//! Choices from bytes: any bytes are a valid choice, and few bytes make a likely one.

use weir_units::{DataRate, DataSize, TimeDelta};

/// The remaining bytes. Zeros follow after the end.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    /// All of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether no byte is left.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `count` bytes, or fewer at the end.
    pub fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (bytes, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.rest = rest;
        bytes
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let (mut array, bytes) = ([0; N], self.bytes(N));
        array[..bytes.len()].copy_from_slice(bytes);
        array
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        u8::from_le_bytes(self.array())
    }

    /// 16 bits.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// 32 bits.
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// 64 bits.
    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// A random boolean.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// True once in `count` times.
    pub fn seldom(&mut self, count: u8) -> bool {
        self.byte() % count == count - 1
    }

    /// A number below `count`, which is at most 2³².
    pub fn below(&mut self, count: u64) -> u64 {
        match count {
            0..=0x100 => u64::from(self.byte()) % count.max(1),
            0x101..=0x1_0000 => u64::from(self.u16()) % count,
            _ => u64::from(self.u32()) % count,
        }
    }

    /// An element of `all`, the first if no byte is left.
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// A rate up to 10 Mbit/s, or any.
    pub fn rate(&mut self) -> DataRate {
        DataRate::from_bps(if self.seldom(8) { self.u64() } else { self.below(10_000_000) })
    }

    /// A size up to 3000 bytes, or any.
    pub fn size(&mut self) -> DataSize {
        DataSize::from_bytes(if self.seldom(8) { self.u64() } else { self.below(3000) })
    }

    /// A span from -1 to 3 s, or any.
    pub fn span(&mut self) -> TimeDelta {
        if self.seldom(8) {
            return TimeDelta::from_nanos(self.u64() as i64);
        }
        TimeDelta::from_nanos(i64::from(self.u32()) - 1_000_000_000)
    }
}

/// Readings of a clock: mostly a little later, now and then set to anywhere within fifty years of where it began.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockReadings {
    nanos: i64,
}

impl ClockReadings {
    /// The largest distance from the beginning.
    const FARTHEST: i64 = 50 * 365 * 86_400_000_000_000;

    /// How long it is to the next moment.
    pub fn step(&mut self, input: &mut Input<'_>) -> TimeDelta {
        let before = self.nanos;
        self.nanos = if input.seldom(21) {
            input.u64() as i64 % Self::FARTHEST
        } else {
            // The clock may also move beyond that by steps: no input is long enough for another fifty years.
            before + input.below(300_000_000) as i64
        };
        TimeDelta::from_nanos(self.nanos - before)
    }
}
