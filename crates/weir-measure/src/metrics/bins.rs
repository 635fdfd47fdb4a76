//! Bins of 100 ms that cover a run, the base of all rates over time.

use weir_net::Time;

use super::span::{ActiveSpan, Stretches};

/// Length of a bin in nanoseconds.
pub const BIN_NANOS: u64 = 100_000_000;
/// Bins in a second.
pub const BINS_PER_SECOND: usize = 10;

/// Bins of 100 ms that cover a run, with an edge at the start of the measurement window. Rates per second of the
/// window are then sums of whole bins.
#[derive(Clone, Debug)]
pub(super) struct BinGrid {
    /// Time between the beginning of the first bin and that of the run, less than [`BIN_NANOS`].
    lead: u64,
    bins: usize,
    end: Time,
    from: Time,
    window: Stretches,
}

impl BinGrid {
    /// A grid in which a bin begins at `from`, the beginning of `window`.
    pub(super) fn new(end: Time, from: Time, window: Stretches) -> Self {
        let lead = (BIN_NANOS - from.nanos() % BIN_NANOS) % BIN_NANOS;
        let bins = (end.nanos().saturating_add(lead)).div_ceil(BIN_NANOS) as usize;
        Self { lead, bins, end, from, window }
    }

    /// Number of bins.
    pub(super) fn len(&self) -> usize {
        self.bins
    }

    /// Index of the bin that contains `time`. It is [`Self::len`] or more after the end of the run.
    pub(super) fn bin(&self, time: Time) -> usize {
        (time.nanos().saturating_add(self.lead) / BIN_NANOS) as usize
    }

    /// The time that a bin covers, limited to the run.
    pub(super) fn span(&self, bin: usize) -> ActiveSpan {
        let edge =
            |bin: usize| Time::from_nanos((bin as u64 * BIN_NANOS).saturating_sub(self.lead)).min(self.end);
        ActiveSpan::new(edge(bin), edge(bin + 1))
    }

    /// The whole seconds of the measurement window, from its start: the bins of each, and the time they cover.
    pub(super) fn seconds(&self) -> impl Iterator<Item = (core::ops::Range<usize>, ActiveSpan)> + '_ {
        let first = self.bin(self.from);
        let count =
            ActiveSpan::new(self.from, self.window.end()).nanos() / (BINS_PER_SECOND as u64 * BIN_NANOS);
        let second = move |second: usize| {
            let from = first + second * BINS_PER_SECOND;
            let to = from + BINS_PER_SECOND;
            (from..to, ActiveSpan::new(self.span(from).from, self.span(to - 1).to))
        };
        (0..count as usize).map(second).filter(|(_, span)| self.window.covers(*span))
    }
}

/// Cache of the last bin and of its position in the window, so that one comparison suffices for most times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// Beginning and length of a span of time, in ns, that lies in one bin and wholly inside or outside of the
    /// window.
    from: u64,
    length: u64,
    at: GridPosition,
}

/// Position of a time on the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GridPosition {
    /// Index of the bin.
    pub(super) bin: usize,
    /// Whether the time is within the window.
    pub(super) in_window: bool,
}

impl Cursor {
    pub(super) fn new() -> Self {
        Self { from: 0, length: 0, at: GridPosition { bin: 0, in_window: false } }
    }

    /// The position of `now`.
    #[inline]
    pub(super) fn at(&mut self, now: Time, grid: &BinGrid) -> GridPosition {
        // Wraps for an earlier time too, so that one comparison covers both ends.
        if now.nanos().wrapping_sub(self.from) >= self.length {
            self.seek(now, grid);
        }
        self.at
    }

    #[inline(never)]
    fn seek(&mut self, now: Time, grid: &BinGrid) {
        let bin = grid.bin(now);
        let edge = |bin: u64| bin.saturating_mul(BIN_NANOS).saturating_sub(grid.lead);
        let (mut from, mut to) = (edge(bin as u64), edge(bin as u64 + 1));
        for change in grid.window.changes() {
            if change <= now {
                from = from.max(change.nanos());
            } else {
                to = to.min(change.nanos());
            }
        }
        *self =
            Self { from, length: to - from, at: GridPosition { bin, in_window: grid.window.contains(now) } };
    }
}

/// Sum of bytes, or of another quantity, in each bin. Values outside of all bins are ignored. Sums have 16 bits until
/// one needs more.
#[derive(Clone, Debug)]
pub(super) enum BinCounts {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl BinCounts {
    pub(super) fn new(bins: usize) -> Self {
        Self::Narrow(vec![0; bins])
    }

    #[inline]
    pub(super) fn add(&mut self, bin: usize, amount: u32) {
        match self {
            Self::Narrow(counts) => {
                let Some(count) = counts.get_mut(bin) else { return };
                match u16::try_from(u32::from(*count).saturating_add(amount)) {
                    Ok(sum) => *count = sum,
                    Err(_) => self.widen_and_add(bin, amount),
                }
            }
            Self::Wide(counts) => {
                if let Some(count) = counts.get_mut(bin) {
                    *count = count.saturating_add(amount);
                }
            }
        }
    }

    #[cold]
    fn widen_and_add(&mut self, bin: usize, amount: u32) {
        *self = Self::Wide(core::mem::replace(self, Self::Wide(Vec::new())).into_vec());
        self.add(bin, amount);
    }

    pub(super) fn get(&self, bin: usize) -> u32 {
        let count = match self {
            Self::Narrow(counts) => counts.get(bin).copied().map(u32::from),
            Self::Wide(counts) => counts.get(bin).copied(),
        };
        count.unwrap_or(0)
    }

    /// The counts of all bins.
    pub(super) fn into_vec(self) -> Vec<u32> {
        match self {
            Self::Narrow(counts) => counts.into_iter().map(u32::from).collect(),
            Self::Wide(counts) => counts,
        }
    }

    /// The sum over a range of bins.
    pub(super) fn sum(&self, bins: core::ops::Range<usize>) -> u64 {
        bins.map(|bin| u64::from(self.get(bin))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_the_same_with_16_bits_and_with_32() {
        let mut counts = BinCounts::new(3);
        counts.add(0, 65_535);
        counts.add(2, 7);
        counts.add(9, 70_000);
        assert!(matches!(counts, BinCounts::Narrow(_)));
        assert_eq!((counts.sum(0..3), counts.get(9)), (65_542, 0));
        counts.add(0, 1);
        assert!(matches!(counts, BinCounts::Wide(_)));
        counts.add(1, u32::MAX);
        counts.add(1, 1);
        assert_eq!(counts.sum(0..4), 65_536 + u64::from(u32::MAX) + 7);
        assert_eq!(counts.into_vec(), [65_536, u32::MAX, 7]);
        assert_eq!(BinCounts::new(2).into_vec(), [0, 0]);
    }

    /// A grid over 2.5 s whose window begins at 250 ms.
    fn grid() -> BinGrid {
        // The window begins at 250 ms: bins begin at −50, 50, 150, 250 … ms.
        let (from, to) = (Time::from_millis(250), Time::from_millis(2400));
        BinGrid::new(Time::from_millis(2500), from, Stretches::of([ActiveSpan::new(from, to)]))
    }

    #[test]
    fn a_bin_begins_with_the_window() {
        let grid = grid();
        assert_eq!(grid.len(), 26);
        assert_eq!(grid.bin(Time::from_millis(249)), 2);
        assert_eq!(grid.bin(Time::from_millis(250)), 3);
        assert_eq!(grid.span(0), ActiveSpan::new(Time::ZERO, Time::from_millis(50)));
        assert_eq!(grid.span(25), ActiveSpan::new(Time::from_millis(2450), Time::from_millis(2500)));
    }

    #[test]
    fn only_whole_seconds_of_the_window_count() {
        let seconds: Vec<_> = grid().seconds().collect();
        let span = |from, to| ActiveSpan::new(Time::from_millis(from), Time::from_millis(to));
        assert_eq!(seconds, [(3..13, span(250, 1250)), (13..23, span(1250, 2250))]);
    }

    #[test]
    fn the_cursor_agrees_with_the_grid() {
        let grid = grid();
        let mut cursor = Cursor::new();
        for ms in [0, 49, 50, 249, 250, 251, 700, 699, 649, 2399, 2400, 2499, 2380, 10] {
            let time = Time::from_millis(ms);
            let in_window = (250..2400).contains(&ms);
            assert_eq!(cursor.at(time, &grid), GridPosition { bin: grid.bin(time), in_window }, "at {ms} ms");
        }
    }
}
