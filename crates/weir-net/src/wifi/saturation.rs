//! Throughput of a cell whose transmitters always have something to send.

use weir_units::DataRate;

use super::airtime::Airtime;
use super::config::{SLOT, WifiConfig, WifiLink};

/// Halvings of the interval in which the probability of a collision lies: more than the digits of an `f64`.
const HALVINGS: u32 = 60;

impl WifiConfig {
    /// Throughput of `transmitters` saturated transmitters, at least one, over links like `link`, in bits of
    /// packets over time. Packets have `size` bytes on the wire and no random loss. The model is that of Bianchi
    /// (2000, IEEE JSAC 18(3), eq. 7, 9, 13), with as many frames in a transmission as fit. Alone a transmitter
    /// has no collisions, and its windows are the least.
    pub fn saturation_rate(&self, link: &WifiLink, size: u32, transmitters: u32) -> DataRate {
        let airtime = Airtime::new(self, link);
        let frame = airtime.frame(size);
        let more = (2..=self.frames as usize).take_while(|&n| airtime.fits(n, frame * n as u64)).count();
        let frames = 1 + more as u64;
        let bits = (frames * u64::from(size) * 8) as f64;
        let busy = (self.aifs() + airtime.transmission(frame * frames) + airtime.response()) as f64;
        let (idle, one) = self.slots(f64::from(transmitters.max(1)));
        DataRate::from_bps((bits * one * 1e9 / (idle * SLOT as f64 + (1.0 - idle) * busy)) as u64)
    }

    /// The probabilities that none, and that exactly one of `n` transmits in a slot.
    fn slots(&self, n: f64) -> (f64, f64) {
        let window = f64::from(self.cw_min) + 1.0;
        let stages = libm::log2((f64::from(self.cw_max) + 1.0) / window);
        // The doublings: p·W·(1 − (2p)^m) / (1 − 2p).
        let attempt = |p: f64| {
            let doubling = p * window * (1.0 - libm::pow(2.0 * p, stages)) / (1.0 - 2.0 * p);
            2.0 / (1.0 + window + if n > 1.0 { doubling } else { 0.0 })
        };
        // Bisection to the fixed point between the probabilities of an attempt and of a collision.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            // Kept away from ½, where numerator and denominator vanish together.
            let p = f64::midpoint(low, high) + 1e-12;
            if 1.0 - libm::pow(1.0 - attempt(p), n - 1.0) > p { low = p } else { high = p }
        }
        let silent = 1.0 - attempt(low);
        (libm::pow(silent, n), n * (1.0 - silent) * libm::pow(silent, n - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_a_lone_transmitter_is_bits_over_the_mean_exchange() {
        let link = WifiLink::new(0, WifiLink::MCS_11);
        // AIFS 43, 7.5 slots 67.5, transmission 280, response 44: 434.5 µs for 12 000 bits.
        let rate = WifiConfig::default().saturation_rate(&link, 1500, 1);
        assert_eq!(rate.bps(), 27_617_951);
        // 22 frames of 1544 bytes fit into 5.484 ms: 271 766 bits are 1307 symbols; 43 + 67.5 + 5268 + 48 µs.
        let rate = WifiConfig { frames: 64, ..WifiConfig::default() }.saturation_rate(&link, 1500, 1);
        assert_eq!(rate.bps(), (264_000.0 / 5426.5e-6) as u64);
    }

    #[test]
    fn two_that_never_double_their_windows_collide_in_two_of_seventeen_attempts() {
        // W = 16: τ = 2/17, so no transmitter sends in 225/289 of the slots, one in 60/289, both in 4/289. Idle
        // slots last 9 µs, others 43 + 280 + 44: (225·9 + 64·367)/289 = 88.28 µs a slot, in which 12 000·60/289
        // bits go.
        let config = WifiConfig { cw_max: 15, ..WifiConfig::default() };
        let rate = config.saturation_rate(&WifiLink::new(0, WifiLink::MCS_11), 1500, 2);
        assert!((rate.bps_f64() - 720_000.0 / 25_513.0 * 1e6).abs() < 10.0, "{rate}");
    }
}
