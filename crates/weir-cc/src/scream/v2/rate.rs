//! The target rate, directly from the reference window. Sizes in bytes, times in s, rates in bit/s.

use super::config::{Config, Edition};
use crate::parts::least_window::window_of;

/// From this share of a packet in the window on, the rate stays behind it.
const SMALL_WINDOW: f64 = 0.1;

/// What the rate is computed from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Basis {
    pub(super) ref_wnd: f64,
    pub(super) s_rtt: f64,
    pub(super) bytes_in_flight: f64,
    /// Whether more in flight than the window lowers the rate: L4S is inactive (early), or the queue is not short
    /// (late).
    pub(super) compensate: bool,
}

impl Config {
    /// The target rate, not yet within its bounds.
    pub(super) fn target_rate(&self, basis: &Basis) -> f64 {
        let mut share = 1.0;
        let excess = basis.bytes_in_flight / basis.ref_wnd / self.bytes_in_flight_limit;
        if basis.compensate && excess > 1.0 {
            share /= excess.min(self.bytes_in_flight_compensation);
        }
        let most = match self.edition {
            Edition::Early => 0.8,
            Edition::Late => 0.2,
        };
        share *= 1.0 - (self.mss_share(basis.ref_wnd) - SMALL_WINDOW).clamp(0.0, most);
        share * self.payload_share() * 8.0 * basis.ref_wnd / basis.s_rtt
    }

    /// The window from which [`Self::target_rate`] computes `rate` while nothing lowers it.
    pub(super) fn window_for(&self, rate: f64, s_rtt: f64) -> f64 {
        window_of(rate, s_rtt, self.payload_share())
    }

    /// Of an RTP packet.
    pub(super) fn payload_share(&self) -> f64 {
        self.mss.bytes_f64() / (self.mss.bytes_f64() + self.packet_overhead.bytes_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9 * expected, "{value} instead of {expected}");
    }

    const BASIS: Basis = Basis { ref_wnd: 20_000.0, s_rtt: 0.1, bytes_in_flight: 0.0, compensate: false };

    #[test]
    fn a_window_per_round_trip_without_headers() {
        // 8·20 000/0.1 = 1.6 Mbit/s, of which 1000/1020 are payload.
        near(Config::LATE.target_rate(&BASIS), 1.6e6 / 1.02);
        near(Config::early().target_rate(&BASIS), 1.6e6);
        near(Config::LATE.window_for(1.6e6 / 1.02, 0.1), 20_000.0);
    }

    #[test]
    fn a_window_of_few_packets_lowers_the_rate() {
        // r = 1000/4000 = 0.25: 0.15 less. r = 1/3 would be 0.233 less, the late text stops at 0.2.
        let small = Basis { ref_wnd: 4000.0, ..BASIS };
        near(Config::early().target_rate(&small), 320e3 * 0.85);
        let smallest = Basis { ref_wnd: 3000.0, ..BASIS };
        near(Config::early().target_rate(&smallest), 240e3 * (1.1 - 1.0 / 3.0));
        near(Config::LATE.target_rate(&smallest), 240e3 * 0.8 / 1.02);
    }

    #[test]
    fn more_in_flight_than_the_window_lowers_the_rate_where_the_queue_shows() {
        // 21 600/20 000/0.9 = 1.2; 40 000/20 000/0.9 = 2.2, at most 1.5.
        let above = Basis { bytes_in_flight: 21_600.0, compensate: true, ..BASIS };
        near(Config::early().target_rate(&above), 1.6e6 / 1.2);
        near(Config::early().target_rate(&Basis { bytes_in_flight: 4e4, ..above }), 1.6e6 / 1.5);
        near(Config::early().target_rate(&Basis { bytes_in_flight: 1.7e4, ..above }), 1.6e6);
        near(Config::early().target_rate(&Basis { compensate: false, ..above }), 1.6e6);
    }
}
