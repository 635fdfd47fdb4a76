//! Room in queues that are as long as what a path holds.

use alloc::collections::VecDeque;

/// At least so many more: what a queue takes that nearly nothing waits in.
const LEAST: usize = 8;

/// Makes room for one more where there is none, up to `most` in all: by half, of which thousands of calls leave less unused than of
/// twice.
#[inline]
pub(crate) fn make_room<T>(queue: &mut VecDeque<T>, most: usize) {
    let there = queue.len();
    if there == queue.capacity() {
        queue.reserve_exact((there / 2).max(LEAST).min(most.saturating_sub(there)).max(1));
    }
}
