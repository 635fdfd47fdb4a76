//! How long a transmission takes. Sections are those of IEEE Std 802.11-2016; times in ns.

use weir_units::DataRate;

use super::config::{SIFS, WifiConfig, WifiLink};

/// Preamble of HT mixed format with two streams (§19.3.2): L-STF 8, L-LTF 8, L-SIG 4, HT-SIG 8, HT-STF 4 and two
/// HT-LTF of 4 µs.
const PREAMBLE: u64 = 40_000;
/// A symbol with a guard interval of 800 ns (§19.4.2).
const SYMBOL: u64 = 4_000;
/// SERVICE (16) and tail (6) around the bits of a PSDU (§19.4.3).
const SERVICE_AND_TAIL: u64 = 22;
/// Bytes around an IP packet: `QoS` data header 26, LLC and SNAP 8, FCS 4 (§9.3.2.1).
const FRAME_OVERHEAD: u64 = 38;
/// Delimiter of a frame in an A-MPDU (§9.7.1), which ends on a multiple of it.
const DELIMITER: u64 = 4;
/// Most bytes of an A-MPDU of HT (§9.4.2.56.3).
const MOST_BYTES: u64 = 65_535;
/// Legacy OFDM at 24 Mbit/s, the highest mandatory rate: 20 µs of preamble and SIGNAL, 96 bits a symbol. An ACK has 14
/// bytes: 16 + 112 + 6 bits are 2 symbols.
const ACK: u64 = 28_000;
/// A compressed block acknowledgement has 32 bytes: 16 + 256 + 6 bits are 3 symbols.
const BLOCK_ACK: u64 = 32_000;

/// Durations on one link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Airtime {
    rate: DataRate,
    /// Most frames together; 1 for no aggregation.
    frames: usize,
    longest: u64,
}

impl Airtime {
    pub(super) fn new(config: &WifiConfig, link: &WifiLink) -> Self {
        let longest = config.longest.nanos().max(0) as u64;
        Self { rate: link.rate, frames: config.frames as usize, longest }
    }

    /// Bytes of the frame around a packet of `size` bytes, with what aggregation adds to it.
    pub(super) fn frame(&self, size: u32) -> u64 {
        let frame = u64::from(size) + FRAME_OVERHEAD;
        if self.frames == 1 { frame } else { (frame + DELIMITER).next_multiple_of(DELIMITER) }
    }

    /// Duration of a transmission of so many bytes of frames, without the acknowledgement.
    pub(super) fn transmission(&self, bytes: u64) -> u64 {
        let bits = bytes * 8 + SERVICE_AND_TAIL;
        let nanos = bits.saturating_mul(1_000_000_000).div_ceil(self.rate.bps().max(1));
        PREAMBLE + nanos.min(u64::MAX / 4).next_multiple_of(SYMBOL)
    }

    /// Duration of the bits of a packet alone.
    pub(super) fn bits(&self, size: u32) -> u64 {
        u64::from(size).saturating_mul(8_000_000_000) / self.rate.bps().max(1)
    }

    /// Whether `frames` frames of `bytes` bytes together are not too many.
    pub(super) fn fits(&self, frames: usize, bytes: u64) -> bool {
        frames <= self.frames && bytes <= MOST_BYTES && self.transmission(bytes) <= self.longest
    }

    /// From the end of a transmission to that of its acknowledgement.
    pub(super) fn response(&self) -> u64 {
        SIFS + if self.frames == 1 { ACK } else { BLOCK_ACK }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn airtime(frames: u32) -> Airtime {
        Airtime::new(&WifiConfig { frames, ..WifiConfig::default() }, &WifiLink::new(0, WifiLink::MCS_11))
    }

    #[test]
    fn a_transmission_takes_whole_symbols() {
        // 1500 + 38 bytes: 12304 + 22 bits of 208 a symbol are 59.3: 60 symbols, 240 µs, after 40 µs.
        let one = airtime(1);
        assert_eq!((one.frame(1500), one.transmission(1538)), (1538, 280_000));
        // ACK: 16 + 28 µs. Block acknowledgement: 16 + 32 µs.
        assert_eq!((one.response(), airtime(2).response()), (44_000, 48_000));
        // In an A-MPDU 1538 + 4 bytes take 1544; 40 of them 61 760 bytes: 494 102 bits are 2375.5 symbols.
        let many = airtime(64);
        assert_eq!((many.frame(1500), many.transmission(61_760)), (1544, 40_000 + 2376 * 4000));
    }

    #[test]
    fn an_aggregate_ends_at_its_first_limit() {
        // At 52 Mbit/s 5.484 ms are 1361 symbols after the preamble: 283 088 − 22 bits are 35 383 bytes.
        let many = airtime(64);
        assert!(many.fits(1, 35_383) && !many.fits(1, 35_384));
        assert!(airtime(16).fits(16, 1000) && !airtime(16).fits(17, 1000));
    }
}
