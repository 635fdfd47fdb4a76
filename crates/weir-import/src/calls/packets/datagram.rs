//! Datagrams of a file, whatever its form.

/// A datagram of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileDatagram<'a> {
    /// Time in µs since any fixed time.
    pub(super) time_us: i64,
    /// Number of the pair of ports.
    pub(super) pair: u32,
    /// Whether it goes from the first port of the pair to the second; from the recording end, where that is known.
    pub(super) forward: bool,
    /// The datagram, as far as it was captured.
    pub(super) bytes: &'a [u8],
    /// Its length.
    pub(super) length: u32,
    /// Bytes of IP and UDP headers before it; 0 where unknown.
    pub(super) overhead: u32,
    /// Remaining hops; 0 where unknown.
    pub(super) hops: u8,
}

/// Facts about the form of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FormFacts {
    /// Whether forward is the direction from the recording end.
    pub(super) knows_end: bool,
    /// Whether RTP and RTCP are as before encryption, by the form.
    pub(super) decrypted: bool,
    /// Whether the direction of RTCP is unknown.
    pub(super) one_way: bool,
}

/// Most bytes of a datagram.
pub(super) const LONGEST_DATAGRAM: usize = 65_535;
