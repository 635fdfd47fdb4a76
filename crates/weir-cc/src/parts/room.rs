//! Memory of queues that hold the packets of a path.

use alloc::collections::VecDeque;

/// Least growth: the memory of a nearly empty queue.
const LEAST: usize = 8;

/// Reserves memory for one more entry where there is none, up to `most` in all. Grows by half, which leaves less
/// unused than doubling with thousands of calls.
#[inline]
pub(crate) fn make_room<T>(queue: &mut VecDeque<T>, most: usize) {
    let there = queue.len();
    if there == queue.capacity() {
        queue.reserve_exact((there / 2).max(LEAST).min(most.saturating_sub(there)).max(1));
    }
}
