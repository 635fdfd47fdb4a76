//! When a number is left out, so that who tells of packets that he has not seen is found out.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_cc::{Controller, PacketFormat, ReportKind, SendTime};
use weir_units::TimeDelta;

use crate::config::MediaConfig;
use crate::detection::Place;

/// While it is in doubt who tells of such numbers the next comes so long after the last at most, and half of that on average.
const IN_DOUBT: TimeDelta = TimeDelta::from_secs(1);

/// One number in so many, by chance.
#[derive(Debug)]
pub(crate) struct SequenceSkipper {
    /// In so many on average.
    mean: u32,
    /// So many packets leave before the next.
    left: u32,
    /// While in doubt, when the next is.
    due: Option<SendTime>,
    rng: Pcg64Mcg,
}

impl SequenceSkipper {
    /// `None` where numbers are not left out, or a receiver would take a gap for a loss ([`MediaConfig::leave_out`]).
    pub(crate) fn new(config: &MediaConfig, controller: &dyn Controller, seed: u64) -> Option<Self> {
        use ReportKind::{Dccc, Nada, NadaDelay, Own, Packets, Tfrc};
        let at_receiver = [Nada, Dccc, Tfrc, NadaDelay, Own].into_iter().any(|kind| controller.accepts(kind));
        let counted = config.detection.is_some_and(|detection| detection.at(Place::Receiver).is_some());
        let told = controller.accepts(Packets) && config.packet_format == PacketFormat::TransportWide;
        let mean = config.leave_out.filter(|_| told && !at_receiver && !counted)?.max(2);
        let mut leaving_out = Self { mean, left: 0, due: None, rng: Pcg64Mcg::seed_from_u64(seed ^ SALT) };
        leaving_out.draw();
        Some(leaving_out)
    }

    /// A packet is about to leave: whether the next number stays without one. They are more while it is `in_doubt` who tells of them.
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

/// The seed is that of other chances too.
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
