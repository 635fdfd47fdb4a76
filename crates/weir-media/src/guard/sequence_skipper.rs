//! Skips sequence numbers, so that an optimistic acknowledgement of packets that were never sent is detected.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_cc::{Controller, PacketFormat, ReportKind, SendTime};
use weir_units::TimeDelta;

use crate::detection::DetectionSide;
use crate::path_config::PathConfig;

/// Maximum time to the next skipped number while the receiver is in doubt; the mean is half of that.
const IN_DOUBT: TimeDelta = TimeDelta::from_secs(1);

/// Random choice of the sequence numbers to skip.
#[derive(Debug)]
pub(crate) struct SequenceSkipper {
    /// Mean distance of skipped numbers.
    mean: u32,
    /// Packets until the next skipped number.
    left: u32,
    /// While in doubt, the time of the next skipped number.
    due: Option<SendTime>,
    rng: Pcg64Mcg,
}

impl SequenceSkipper {
    /// A skipper, or `None` where numbers are not skipped, or a receiver would take a gap for a loss
    /// ([`PathConfig::leave_out`]).
    pub(crate) fn new(config: &PathConfig, controller: &dyn Controller, seed: u64) -> Option<Self> {
        use ReportKind::{Dccc, Nada, NadaDelay, Own, Packets, Tfrc};
        let at_receiver = [Nada, Dccc, Tfrc, NadaDelay, Own].into_iter().any(|kind| controller.accepts(kind));
        let counted =
            config.detection.is_some_and(|detection| detection.at(DetectionSide::Receiver).is_some());
        let per_packet = controller.accepts(Packets) && config.packet_format == PacketFormat::TransportWide;
        let mean = config.leave_out.filter(|_| per_packet && !at_receiver && !counted)?.max(2);
        let mut leaving_out = Self { mean, left: 0, due: None, rng: Pcg64Mcg::seed_from_u64(seed ^ SALT) };
        leaving_out.draw();
        Some(leaving_out)
    }

    /// Whether to skip a number before the packet that is about to leave. More numbers are skipped while the receiver
    /// is `in_doubt`.
    pub(crate) fn next(&mut self, now: SendTime, in_doubt: bool) -> bool {
        self.left -= 1;
        let turn = self.left == 0;
        if turn {
            self.draw();
        }
        if !in_doubt {
            self.due = None;
            return turn;
        }
        let is_due = self.due.is_none_or(|due| now >= due);
        if is_due {
            let wait = self.rng.random_range(0..IN_DOUBT.nanos());
            self.due = Some(now + TimeDelta::from_nanos(wait));
        }
        turn || is_due
    }

    fn draw(&mut self) {
        self.left = self.rng.random_range(1..self.mean.saturating_mul(2));
    }
}

/// Salt of the seed, as other random numbers use the same seed.
const SALT: u64 = 0x6c65_6176_696e_6721;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_doubt_a_number_is_left_out_each_half_second_whatever_the_rate() {
        let left_out = |in_doubt: bool, packets_a_second: i64| {
            let mut numbers =
                SequenceSkipper { mean: 500, left: 500, due: None, rng: Pcg64Mcg::seed_from_u64(1) };
            let sent = (0..60 * packets_a_second).map(|n| 1000 * n / packets_a_second);
            sent.filter(|&ms| numbers.next(SendTime::from_millis(ms), in_doubt)).count()
        };
        // 6000 packets are 12 times 500; a minute has 120 half seconds.
        assert!((6..=20).contains(&left_out(false, 100)), "{}", left_out(false, 100));
        assert!((110..=155).contains(&left_out(true, 100)), "{}", left_out(true, 100));
        assert!((75..=130).contains(&left_out(true, 10)), "{}", left_out(true, 10));
    }
}
