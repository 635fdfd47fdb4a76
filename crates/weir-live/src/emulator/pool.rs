//! Buffers for packets in flight, reused.

/// Bytes of a buffer: a packet of the usual MTU fits with room to spare.
pub const SLOT_LEN: usize = 2048;

/// Buffers of [`SLOT_LEN`] bytes. The pool allocates only where more buffers are in use than ever before.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "growth moves no bytes")]
pub struct BufferPool {
    slots: Vec<Box<[u8; SLOT_LEN]>>,
    free: Vec<u32>,
}

impl BufferPool {
    /// A pool that begins with `slots` buffers.
    pub fn with_slots(slots: usize) -> Self {
        let mut pool = Self::default();
        for _ in 0..slots {
            let buffer = pool.grow();
            pool.free.push(buffer);
        }
        pool
    }

    /// A further buffer.
    fn grow(&mut self) -> u32 {
        self.slots.push(Box::new([0; SLOT_LEN]));
        // Its return needs no allocation.
        self.free.reserve(self.slots.len() - self.free.len());
        self.slots.len() as u32 - 1
    }

    /// A buffer, by its index; its content is arbitrary.
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.grow())
    }

    /// Returns a buffer to the pool.
    pub fn release(&mut self, buffer: u32) {
        debug_assert!(!self.free.contains(&buffer), "buffer {buffer} is returned twice");
        self.free.push(buffer);
    }

    /// The bytes of a buffer.
    ///
    /// # Panics
    /// If the pool has no buffer of this index.
    pub fn bytes(&mut self, buffer: u32) -> &mut [u8; SLOT_LEN] {
        &mut self.slots[buffer as usize]
    }

    /// Buffers in use.
    pub fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_reused_once_it_is_returned() {
        let mut pool = BufferPool::with_slots(1);
        let first = pool.take();
        let second = pool.take();
        assert_ne!(first, second);
        pool.bytes(first)[0] = 1;
        pool.bytes(second)[0] = 2;
        assert_eq!((pool.bytes(first)[0], pool.in_use()), (1, 2));
        pool.release(first);
        assert_eq!((pool.take(), pool.in_use()), (first, 2));
    }
}
