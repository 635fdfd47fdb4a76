//! Hashes that are the same in every process and on every machine.

use std::fmt::{self, Write};

/// The FNV-1a hash of the formatted `text`.
pub(crate) fn fingerprint(text: fmt::Arguments<'_>) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    // Writing into the hash never fails; text that cannot be formatted ends at the same place each time.
    let _ = hash.write_fmt(text);
    hash.0
}

struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.0 = text.bytes().fold(self.0, step);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_equals_the_published_test_vectors() {
        // Fowler, Noll, Vo: the test vectors of 64-bit FNV-1a.
        assert_eq!(fingerprint(format_args!("")), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint(format_args!("a")), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fingerprint(format_args!("{}{}", "foo", "bar")), 0x8594_4171_f739_67e8);
    }
}
