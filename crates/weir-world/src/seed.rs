//! Streams of randomness: each component draws from its own, so that adding one does not disturb the others.

/// The seed of the stream `purpose` of the component `name` in the run `seed`: a fixed hash (FNV-1a, finished by
/// the mixer of SplitMix64), the same on any processor and in any version.
pub fn stream(seed: u64, name: &str, purpose: &str) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let separator = [0xff]; // no UTF-8 text contains it
    let bytes = seed.to_le_bytes().into_iter().chain(name.bytes()).chain(separator).chain(purpose.bytes());
    let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    let mut z = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Purposes of the random streams of a run.
pub mod purpose {
    /// Loss and jitter of a link.
    pub const LINK: &str = "link";
    /// Lateness of hosts.
    pub const HOST_NOISE: &str = "host noise";
    /// Access to the channel of a Wi-Fi cell.
    pub const CELL: &str = "cell";
    /// Sizes of a media flow's frames.
    pub const ENCODER: &str = "video";
    /// Times of the sender's RTCP.
    pub const SENDER_RTCP: &str = "sender rtcp";
    /// Times of the receiver's RTCP.
    pub const RECEIVER_RTCP: &str = "receiver rtcp";
    /// Sizes of downloads.
    pub const DOWNLOADS: &str = "downloads";
    /// Sessions of web clients.
    pub const WEB: &str = "web";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_and_distinct() {
        // Published runs depend on these values, which another program has computed.
        assert_eq!(stream(1, "video", "encoder"), 0xda84_8c31_e00f_50b8);
        assert_eq!(stream(1, "video", "rtcp"), 0xde35_8168_ac52_588c);
        let all = [
            stream(1, "video", "encoder"),
            stream(2, "video", "encoder"),
            stream(1, "audio", "encoder"),
            stream(1, "video", "rtcp"),
            stream(1, "videoe", "ncoder"),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }
}
