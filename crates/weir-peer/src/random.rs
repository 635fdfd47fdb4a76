//! Random bytes for nonces and keys.

use crate::keys::HandshakeNonce;

/// A source of random bytes.
pub trait RandomBytes: core::fmt::Debug + Send {
    /// Fills `bytes`.
    fn fill(&mut self, bytes: &mut [u8]);

    /// A nonce.
    fn nonce(&mut self) -> HandshakeNonce {
        let mut nonce = HandshakeNonce::default();
        self.fill(&mut nonce);
        nonce
    }
}

/// The randomness of the operating system, which nobody can foretell.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl RandomBytes for SystemRandom {
    fn fill(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("an operating system has random bytes");
    }
}

/// Bytes that a seed repeats (SplitMix64), for simulations and tests. They protect nothing.
#[derive(Clone, Debug)]
pub struct RepeatableRandom(u64);

impl RepeatableRandom {
    /// The bytes of this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl RandomBytes for RepeatableRandom {
    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_bits().to_le_bytes()[..chunk.len()]);
        }
    }
}
