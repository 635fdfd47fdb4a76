//! The throughput equation of TCP and its inverse (RFC 5348 §3.1).

use super::config::TimeoutTerm;

/// Lower bound of the loss event rates in which the inverse searches.
const MIN_LOSS_RATE: f64 = 1e-10;
/// Number of halvings of that range on a logarithmic scale: ln(10¹⁰)/2⁴⁰ is far below the equation's own precision.
const BISECTIONS: u32 = 40;

/// TCP's packets per round trip at the loss event rate `p` in (0, 1], with a retransmission timeout of `t_rto`
/// round trips and `b` = 1: `X_Bps · R/s`. RFC 5348 §3.1.
pub(super) fn packets_per_rtt(p: f64, t_rto: f64, term: TimeoutTerm) -> f64 {
    let timeouts = 3.0 * libm::sqrt(3.0 * p / 8.0);
    let timeouts = match term {
        TimeoutTerm::Rfc5348 => timeouts,
        TimeoutTerm::AtMostOne => timeouts.min(1.0),
    };
    1.0 / (libm::sqrt(2.0 * p / 3.0) + t_rto * timeouts * p * (1.0 + 32.0 * p * p))
}

/// The loss event rate at which TCP would send `packets` per round trip; at most 1. RFC 5348 §6.3.1.
pub(super) fn loss_event_rate(packets: f64, t_rto: f64, term: TimeoutTerm) -> f64 {
    let (mut low, mut high) = (libm::log(MIN_LOSS_RATE), 0.0);
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if packets_per_rtt(libm::exp(middle), t_rto, term) > packets {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `value` is `expected` within 1e-3.
    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-3, "{value}, not {expected}");
    }

    #[test]
    fn throughput_is_that_of_the_equation() {
        // p = 0.01: √(0.02/3) = 0.081650; 12·√(0.00375)·0.01·(1 + 0.0032) = 0.0073721; 1/0.089022 = 11.233.
        // The others alike.
        for (p, packets) in
            [(1e-4, 122.36), (1e-3, 38.38), (0.01, 11.233), (0.05, 3.686), (0.1, 1.770), (0.2, 0.537)]
        {
            near(packets_per_rtt(p, 4.0, TimeoutTerm::Rfc5348), packets);
        }
    }

    #[test]
    fn without_timeouts_it_is_the_square_root_law() {
        // R = s = 1 and t_RTO = 0 leave √(3/(2p)) = 1.2247/√p.
        near(packets_per_rtt(1e-4, 0.0, TimeoutTerm::Rfc5348), 122.47);
    }

    #[test]
    fn the_inverse_finds_the_loss_event_rate() {
        for (packets, p) in [
            (1.0, 0.14587),
            (2.0, 0.09078),
            (4.0, 0.04546),
            (10.0, 0.01217),
            (20.0, 0.003_523),
            (50.0, 0.000_594),
            (125.0, 0.000_095_8),
        ] {
            let found = loss_event_rate(packets, 4.0, TimeoutTerm::Rfc5348);
            assert!((found / p - 1.0).abs() < 2e-3, "{packets}: {found}, not {p}");
            near(packets_per_rtt(found, 4.0, TimeoutTerm::Rfc5348), packets);
        }
        // Half a packet per round trip: 4.84 packets from loss to loss.
        near(loss_event_rate(0.5, 4.0, TimeoutTerm::Rfc5348), 0.20643);
    }

    #[test]
    fn rates_that_no_loss_event_rate_gives_are_bounded() {
        assert_eq!(loss_event_rate(0.0, 4.0, TimeoutTerm::Rfc5348), 1.0);
        near(loss_event_rate(f64::INFINITY, 4.0, TimeoutTerm::Rfc5348), MIN_LOSS_RATE);
    }

    #[test]
    fn the_bounded_term_matters_only_at_heavy_loss() {
        // 3·√(3p/8) = 1 at p = 8/27 = 0.2963. At p = 0.5: √(1/3) + 4·0.5·(1 + 8) = 18.577.
        near(packets_per_rtt(0.5, 4.0, TimeoutTerm::AtMostOne), 1.0 / 18.577);
        let both =
            [TimeoutTerm::Rfc5348, TimeoutTerm::AtMostOne].map(|term| packets_per_rtt(0.29, 4.0, term));
        assert_eq!(both[0], both[1]);
    }
}
