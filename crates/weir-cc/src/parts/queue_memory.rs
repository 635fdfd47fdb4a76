//! Growth of the memory of queues that hold the packets of a path.

use alloc::collections::VecDeque;

/// Least number of entries by which the memory grows.
const MIN_GROWTH: usize = 8;

/// Reserves memory for one more entry if there is none, up to `most` in all. The memory grows by half, which leaves
/// less unused than doubling with thousands of calls.
#[inline]
pub(crate) fn reserve_entry<T>(queue: &mut VecDeque<T>, most: usize) {
    let there = queue.len();
    if there == queue.capacity() {
        queue.reserve_exact((there / 2).max(MIN_GROWTH).min(most.saturating_sub(there)).max(1));
    }
}
