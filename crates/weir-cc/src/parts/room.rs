//! Room in queues that are as long as what a path holds.

use alloc::collections::VecDeque;

/// At least so many more.
const LEAST: usize = 8;

/// Makes room for one more where there is none: by half, of which thousands of calls leave less unused than of twice.
#[inline]
pub(crate) fn make_room<T>(queue: &mut VecDeque<T>) {
    if queue.len() == queue.capacity() {
        queue.reserve_exact((queue.len() / 2).max(LEAST));
    }
}
