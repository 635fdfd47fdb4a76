//! Time cut into bins of 100 ms, the base of all rates over time.

use weir_net::Time;

use super::span::{Span, Stretches};

/// Length of a bin in nanoseconds.
pub const BIN: u64 = 100_000_000;
/// Bins in a second.
pub const PER_SECOND: usize = 10;

/// Bins of 100 ms that cover a run, placed so that one begins with the measurement window: rates per second of the
/// window are then sums of whole bins.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// By how much the first bin begins before the run, below [`BIN`].
    lead: u64,
    bins: usize,
    end: Time,
    from: Time,
    window: Stretches,
}

impl Grid {
    /// A grid of which a bin begins at `from`, where `window` does.
    pub(super) fn new(end: Time, from: Time, window: Stretches) -> Self {
        let lead = (BIN - from.nanos() % BIN) % BIN;
        let bins = (end.nanos().saturating_add(lead)).div_ceil(BIN) as usize;
        Self { lead, bins, end, from, window }
    }

    /// How many bins there are.
    pub(super) fn len(&self) -> usize {
        self.bins
    }

    /// The bin that `time` falls into; at or past [`Self::len`] after the end of the run.
    pub(super) fn bin(&self, time: Time) -> usize {
        (time.nanos().saturating_add(self.lead) / BIN) as usize
    }

    /// The time that a bin covers, cut off at the ends of the run.
    pub(super) fn span(&self, bin: usize) -> Span {
        let edge = |bin: usize| Time::from_nanos((bin as u64 * BIN).saturating_sub(self.lead)).min(self.end);
        Span::new(edge(bin), edge(bin + 1))
    }

    /// The whole seconds of the measurement window, counted from its start: the bins and the time of each.
    pub(super) fn seconds(&self) -> impl Iterator<Item = (core::ops::Range<usize>, Span)> + '_ {
        let first = self.bin(self.from);
        let count = Span::new(self.from, self.window.end()).nanos() / (PER_SECOND as u64 * BIN);
        let second = move |second: usize| {
            let from = first + second * PER_SECOND;
            let to = from + PER_SECOND;
            (from..to, Span::new(self.span(from).from, self.span(to - 1).to))
        };
        (0..count as usize).map(second).filter(|(_, span)| self.window.covers(*span))
    }
}

/// Remembers the current bin, so that a division is needed only once per bin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    bin: usize,
    /// The bin's start, counted from the first bin's.
    start: u64,
}

impl Cursor {
    pub(super) fn new() -> Self {
        Self { bin: 0, start: 0 }
    }

    /// The bin that `now` falls into.
    #[inline]
    pub(super) fn at(&mut self, now: Time, grid: &Grid) -> usize {
        let offset = now.nanos().saturating_add(grid.lead);
        // Wraps for an earlier time too, so that one comparison finds both.
        if offset.wrapping_sub(self.start) >= BIN {
            self.bin = (offset / BIN) as usize;
            self.start = self.bin as u64 * BIN;
        }
        self.bin
    }
}

/// Bytes (or anything else countable) per bin; what lies outside is left out.
#[derive(Clone, Debug)]
pub(super) struct Counts(Vec<u32>);

impl Counts {
    pub(super) fn new(bins: usize) -> Self {
        Self(vec![0; bins])
    }

    #[inline]
    pub(super) fn add(&mut self, bin: usize, amount: u32) {
        if let Some(count) = self.0.get_mut(bin) {
            *count = count.saturating_add(amount);
        }
    }

    pub(super) fn get(&self, bin: usize) -> u32 {
        self.0.get(bin).copied().unwrap_or(0)
    }

    /// The counts of all bins.
    pub(super) fn into_vec(self) -> Vec<u32> {
        self.0
    }

    /// The sum over a range of bins.
    pub(super) fn sum(&self, bins: core::ops::Range<usize>) -> u64 {
        bins.map(|bin| u64::from(self.get(bin))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        // The window begins at 250 ms: bins begin at −50, 50, 150, 250 … ms.
        let (from, to) = (Time::from_millis(250), Time::from_millis(2400));
        Grid::new(Time::from_millis(2500), from, Stretches::of([Span::new(from, to)]))
    }

    #[test]
    fn a_bin_begins_with_the_window() {
        let grid = grid();
        assert_eq!(grid.len(), 26);
        assert_eq!(grid.bin(Time::from_millis(249)), 2);
        assert_eq!(grid.bin(Time::from_millis(250)), 3);
        assert_eq!(grid.span(0), Span::new(Time::ZERO, Time::from_millis(50)));
        assert_eq!(grid.span(25), Span::new(Time::from_millis(2450), Time::from_millis(2500)));
    }

    #[test]
    fn only_whole_seconds_of_the_window_count() {
        let seconds: Vec<_> = grid().seconds().collect();
        let span = |from, to| Span::new(Time::from_millis(from), Time::from_millis(to));
        assert_eq!(seconds, [(3..13, span(250, 1250)), (13..23, span(1250, 2250))]);
    }

    #[test]
    fn the_cursor_agrees_with_the_grid() {
        let grid = grid();
        let mut cursor = Cursor::new();
        for ms in [0, 49, 50, 700, 699, 649, 2499, 10] {
            let time = Time::from_millis(ms);
            assert_eq!(cursor.at(time, &grid), grid.bin(time), "at {ms} ms");
        }
    }
}
