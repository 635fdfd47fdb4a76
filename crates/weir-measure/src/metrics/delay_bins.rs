//! The bins of a [`Histogram`](super::Histogram). Only bins in use take memory, a few bytes each.

/// Bins per octave (a doubling of the delay), as a power of two.
const OCTAVE_BITS: u32 = 8;
/// Number of bins per octave: a bin is at most 1/256 = 0.39 % of its delays wide.
const BINS_PER_OCTAVE: usize = 1 << OCTAVE_BITS;
/// Logarithm to base 2 of the shortest delay with a bin of its own, 2^10 ns (about 1 µs).
const SMALLEST_BITS: u32 = 10;
/// The shortest delay with a bin of its own, in ns.
pub(super) const SMALLEST: u64 = 1 << SMALLEST_BITS;
/// Number of bins in a chunk, which are allocated together.
const BINS_PER_CHUNK: usize = 32;
const CHUNKS_PER_OCTAVE: usize = BINS_PER_OCTAVE / BINS_PER_CHUNK;
/// Index of a chunk that is not allocated. All octaves together have 432 chunks.
const NOT_ALLOCATED: u16 = u16::MAX;
/// The bit of an index that marks a chunk of 32-bit counts.
const WIDE_BIT: u16 = 1 << 15;
/// Least number of chunks by which the memory grows; it grows by an eighth if that is more.
const GROWTH: usize = 4;

/// Delays from `low` to below `low + width`, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bin {
    pub(super) low: u64,
    pub(super) width: u64,
}

impl Bin {
    /// The bin of all delays below [`SMALLEST`], which count as zero: most of them are zero.
    pub(super) const SHARED: Self = Self { low: 0, width: 0 };

    /// The bin of this number, counted from the one that begins at [`SMALLEST`].
    fn numbered(number: usize) -> Self {
        let octave = (number / BINS_PER_OCTAVE) as u32;
        let width_bits = octave + SMALLEST_BITS - OCTAVE_BITS;
        let low = ((BINS_PER_OCTAVE + number % BINS_PER_OCTAVE) as u64) << width_bits;
        Self { low, width: 1 << width_bits }
    }
}

/// The number of the bin of a delay of [`SMALLEST`] or more.
#[inline]
fn number(nanos: u64) -> usize {
    let magnitude = nanos.ilog2();
    let octave = (magnitude - SMALLEST_BITS) as usize;
    let within = (nanos >> (magnitude - OCTAVE_BITS)) as usize & (BINS_PER_OCTAVE - 1);
    octave * BINS_PER_OCTAVE + within
}

/// Number of delays in each bin. Chunks of 32 bins are allocated when they are needed. Their counts have 8 bits, or
/// 32 once a count of the chunk needs more.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayBins {
    /// Index of each chunk in `narrow` or, with the bit [`WIDE_BIT`], in `wide`; [`NOT_ALLOCATED`] for chunks that are not
    /// allocated.
    chunk_indices: Vec<u16>,
    narrow: Vec<[u8; BINS_PER_CHUNK]>,
    wide: Vec<[u32; BINS_PER_CHUNK]>,
}

impl DelayBins {
    /// Counts `count` delays of one length, which is [`SMALLEST`] or more.
    #[inline]
    pub(super) fn add(&mut self, nanos: u64, count: u32) {
        let number = number(nanos);
        let place = self.chunk_indices.get(number / BINS_PER_CHUNK).copied().unwrap_or(NOT_ALLOCATED);
        let within = number % BINS_PER_CHUNK;
        if let Some(chunk) = self.narrow.get_mut(usize::from(place)) {
            let sum = u32::from(chunk[within]).saturating_add(count);
            if let Ok(sum) = u8::try_from(sum) {
                chunk[within] = sum;
                return;
            }
        } else if let Some(chunk) = self.wide.get_mut(usize::from(place ^ WIDE_BIT)) {
            chunk[within] = chunk[within].saturating_add(count);
            return;
        }
        self.grow_and_add(nanos, count);
    }

    #[cold]
    fn grow_and_add(&mut self, nanos: u64, count: u32) {
        let chunk = number(nanos) / BINS_PER_CHUNK;
        if chunk >= self.chunk_indices.len() {
            let octaves = chunk / CHUNKS_PER_OCTAVE + 1;
            self.chunk_indices.reserve_exact(octaves * CHUNKS_PER_OCTAVE - self.chunk_indices.len());
            self.chunk_indices.resize(octaves * CHUNKS_PER_OCTAVE, NOT_ALLOCATED);
        }
        let place = self.chunk_indices[chunk];
        self.chunk_indices[chunk] = if place == NOT_ALLOCATED {
            push(&mut self.narrow, [0; BINS_PER_CHUNK])
        } else {
            let counts = self.narrow.swap_remove(usize::from(place));
            let moved = self.narrow.len() as u16;
            self.chunk_indices.iter_mut().filter(|other| **other == moved).for_each(|other| *other = place);
            push(&mut self.wide, counts.map(u32::from)) | WIDE_BIT
        };
        self.add(nanos, count);
    }

    /// The bins with delays and the number of delays in each, from the shortest on.
    pub(super) fn occupied(&self) -> impl Iterator<Item = (Bin, u32)> + '_ {
        self.chunks().flat_map(|(first, counts)| occupied(first, counts))
    }

    /// The bin that holds the delay of the given rank, its count, and the sum of the counts before it.
    pub(super) fn bin_of_rank(&self, rank: u64) -> Option<(Bin, u64, u64)> {
        let mut before = 0;
        for (first, counts) in self.chunks() {
            let in_chunk: u64 = counts.iter().map(|&count| u64::from(count)).sum();
            if rank >= before + in_chunk {
                before += in_chunk;
                continue;
            }
            for (bin, count) in occupied(first, counts) {
                let count = u64::from(count);
                if rank < before + count {
                    return Some((bin, count, before));
                }
                before += count;
            }
        }
        None
    }

    /// The counts of each chunk, from the shortest delays on, with the number of its first bin.
    fn chunks(&self) -> impl Iterator<Item = (usize, [u32; BINS_PER_CHUNK])> + '_ {
        let firsts = (0..).step_by(BINS_PER_CHUNK);
        let there = firsts.zip(&self.chunk_indices).filter(|&(_, &place)| place != NOT_ALLOCATED);
        there.map(|(first, &place)| match self.narrow.get(usize::from(place)) {
            Some(counts) => (first, counts.map(u32::from)),
            None => (first, self.wide[usize::from(place ^ WIDE_BIT)]),
        })
    }
}

/// The bins with delays among the 32 from number `first` on.
fn occupied(first: usize, counts: [u32; BINS_PER_CHUNK]) -> impl Iterator<Item = (Bin, u32)> {
    let there = (first..).zip(counts).filter(|&(_, count)| count > 0);
    there.map(|(number, count)| (Bin::numbered(number), count))
}

/// Appends `chunk`. Returns its index.
fn push<T>(chunks: &mut Vec<T>, chunk: T) -> u16 {
    if chunks.len() == chunks.capacity() {
        chunks.reserve_exact((chunks.len() / 8).max(GROWTH));
    }
    chunks.push(chunk);
    (chunks.len() - 1) as u16
}

/// Equality of the counts, whatever the order of the chunks.
impl PartialEq for DelayBins {
    fn eq(&self, other: &Self) -> bool {
        self.occupied().eq(other.occupied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_begins_where_the_one_before_it_ends() {
        let mut end = SMALLEST;
        for bin in (0..10_000).map(Bin::numbered) {
            assert_eq!(bin.low, end);
            end += bin.width;
            assert_eq!((Bin::numbered(number(bin.low)), Bin::numbered(number(end - 1))), (bin, bin));
        }
    }

    #[test]
    fn only_chunks_in_use_take_memory() {
        let mut bins = DelayBins::default();
        (0..200).for_each(|_| bins.add(1 << 30, 1));
        bins.add(1 << 20, 1);
        assert_eq!((bins.narrow.len(), bins.narrow.capacity(), bins.wide.len()), (2, 4, 0));
        let (first, second) = (Bin { low: 1 << 20, width: 1 << 12 }, Bin { low: 1 << 30, width: 1 << 22 });
        assert!(bins.occupied().eq([(first, 1), (second, 200)]));
        let bin_of_rank = [0, 1, 200, 201].map(|rank| bins.bin_of_rank(rank));
        assert_eq!(bin_of_rank, [Some((first, 1, 0)), Some((second, 200, 1)), Some((second, 200, 1)), None]);
    }

    #[test]
    fn larger_counts_use_wider_counters() {
        // Three chunks; the first and then the last of them grow.
        let (mut one_by_one, mut at_once) = (DelayBins::default(), DelayBins::default());
        (0..1000).for_each(|_| one_by_one.add(5000, 1));
        for (nanos, count) in [(20_000, 255), (90_000, 1), (90_000, 254)] {
            one_by_one.add(nanos, count);
        }
        for (nanos, count) in [(90_000, 255), (20_000, 255), (5000, 1000)] {
            at_once.add(nanos, count);
        }
        let counts = |bins: &DelayBins| bins.occupied().map(|(_, count)| count).collect::<Vec<_>>();
        assert_eq!((one_by_one.narrow.len(), one_by_one.wide.len()), (2, 1));
        assert_eq!(one_by_one, at_once);
        assert_eq!(counts(&one_by_one), [1000, 255, 255]);
        one_by_one.add(20_000, 1);
        assert_eq!((one_by_one.narrow.len(), one_by_one.wide.len()), (1, 2));
        assert_eq!(counts(&one_by_one), [1000, 256, 255]);
        assert_ne!(one_by_one, at_once);
        at_once.add(20_000, 1);
        assert_eq!(one_by_one, at_once);
        let place = |rank| at_once.bin_of_rank(rank).map(|(_, count, before)| (count, before));
        assert_eq!([999, 1000, 1256].map(place), [Some((1000, 0)), Some((256, 1000)), Some((255, 1256))]);
        one_by_one.add(90_000, u32::MAX);
        one_by_one.add(90_000, 1);
        assert_eq!(counts(&one_by_one), [1000, 256, u32::MAX]);
    }
}
