//! Detection of ramp-up, as distinct from a limit: whether the rate rises by the controller's own rule.

use weir_units::TimeDelta;

use super::extremes::Extremes;
use crate::time::SendTime;

/// Rise of the rate above its lowest value in [`Pace`], as a factor, from which on the rate climbs.
const MIN_RISE: f64 = 1.03;
/// Extremes of six parts of 100 ms: with [`MIN_RISE`] a pace of more than 5 % in a second.
type Pace = Extremes<6, 100>;
/// Factor of the highest rate in [`Swing`] below which the rate has fallen, so that the next rise begins a climb.
const FALL_FACTOR: f64 = 0.9;
/// Factor of the highest rate in [`Swing`] above which a rise begins a climb. A swing about an equilibrium stays
/// below.
const LEAD_FACTOR: f64 = 1.005;
type Swing = Extremes<6, 500>;
/// Time without a rise after which a climb ends, once [`MIN_DECISIONS`] have passed too.
const MAX_PAUSE: TimeDelta = TimeDelta::from_secs(1);
/// Rise above the rate of the last rise, as a factor, with which a climb goes on.
const CONTINUED_RISE: f64 = 1.02;
/// Decisions without a rise after which a climb ends. A controller that decides once a second or less often has no
/// other sign.
const MIN_DECISIONS: u8 = 2;

/// Detector of a climbing rate, from the rates of decisions. A controller counts as climbing from the beginning until
/// it finds a limit.
///
/// The rate rises when it is more than 3 % above its lowest value of the last 0.6 s, or since the last rise. That is
/// a pace of 5 % in a second, detected before the second is over. A rise begins a climb where it exceeds the rates of
/// the last three seconds, or follows a fall of more than a tenth in that time. A swing about an equilibrium does
/// neither.
///
/// The climb goes on with each further rise, and with each 2 % above the rate of the last one. A climb ends when a
/// second and two decisions have passed with neither. So a small ripple is no climb. A fall does not end a climb if
/// the rate rises again within a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Climb {
    climbing: bool,
    /// Whether the climb is assumed, before the first rise.
    assumed: bool,
    pace: Pace,
    swing: Swing,
    /// The rate in force.
    rate: f64,
    /// Rate of the last rise.
    risen_to: f64,
    /// Time of the last rise.
    risen: Option<SendTime>,
    /// Decisions since the last rise.
    decisions: u8,
}

impl Climb {
    /// Detector before the first decision, with the start rate in bit/s.
    pub(super) const fn new(rate: f64) -> Self {
        Self {
            climbing: true,
            assumed: true,
            pace: Pace::new(rate),
            swing: Swing::new(rate),
            rate,
            risen_to: rate,
            risen: None,
            decisions: 0,
        }
    }

    pub(super) const fn is_climbing(&self) -> bool {
        self.climbing
    }

    /// Takes in a decision on `rate` (bit/s, above 0). `limits` says whether the controller has found a limit.
    pub(super) fn decide(&mut self, now: SendTime, rate: f64, limits: bool) {
        self.pace.advance(now, self.rate);
        self.swing.advance(now, self.rate);
        self.climbing &= !(self.assumed && limits && rate <= self.rate);
        self.rate = rate;
        self.pace.push(rate);
        let rises = rate > MIN_RISE * self.pace.lowest() && (self.climbing || self.leaves_swing(rate));
        self.swing.push(rate);
        if rises {
            (self.climbing, self.assumed) = (true, false);
            // The next rise begins here.
            self.pace.fill(rate);
        }
        if rises || rate > CONTINUED_RISE * self.risen_to {
            (self.risen_to, self.risen, self.decisions) = (rate, Some(now), 0);
        } else {
            // The clock may have been set back.
            let risen = self.risen.map_or(now, |risen| risen.min(now));
            self.risen = Some(risen);
            self.decisions = self.decisions.saturating_add(1);
            if now - risen >= MAX_PAUSE && self.decisions >= MIN_DECISIONS {
                self.climbing = false;
            }
        }
    }

    /// Scales the rate by `factor` (above 0), for a change outside the controller's rule, which is neither a rise nor
    /// a fall.
    pub(super) fn scale(&mut self, factor: f64) {
        self.pace.scale(factor);
        self.swing.scale(factor);
        self.rate *= factor;
        self.risen_to *= factor;
    }

    /// Whether `rate`, which is not counted yet, is more than a swing about an equilibrium.
    fn leaves_swing(&self, rate: f64) -> bool {
        let highest = self.swing.highest();
        self.swing.lowest() < FALL_FACTOR * highest || rate > LEAD_FACTOR * highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KBPS: f64 = 1e3;

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    /// Decisions each 100 ms, from `from` on; whether it climbs after each.
    fn decided(climb: &mut Climb, from: i64, rates: &[f64]) -> Vec<bool> {
        let decide = |(index, rate): (usize, &f64)| {
            climb.decide(at(from + 100 * index as i64), rate * KBPS, false);
            climb.is_climbing()
        };
        rates.iter().enumerate().map(decide).collect()
    }

    /// A controller that has stood at 1000 kbit/s for three seconds; the next decision is due at 3 s.
    fn standing() -> Climb {
        let mut climb = Climb::new(1000.0 * KBPS);
        assert!(climb.is_climbing(), "it begins so");
        let climbing = decided(&mut climb, 0, &[1000.0; 30]);
        assert_eq!(climbing.iter().filter(|&&climbing| climbing).count(), 10, "for a second");
        climb
    }

    #[test]
    fn a_pace_of_five_per_cent_in_a_second_is_a_climb_and_a_ripple_is_none() {
        let mut climb = standing();
        let ripple: Vec<f64> = (0..40).map(|i| if i % 4 < 2 { 1000.0 } else { 1029.0 }).collect();
        assert!(decided(&mut climb, 3000, &ripple).iter().all(|climbing| !climbing));
        let paced = |per_second: f64| -> Option<usize> {
            let mut climb = standing();
            let rate = |i: i32| 1000.0 * libm::pow(1.0 + per_second, f64::from(i) / 10.0);
            let growth: Vec<f64> = (1..=100).map(rate).collect();
            decided(&mut climb, 3000, &growth).iter().position(|&climbing| climbing)
        };
        // 1.08^0.3 = 1.023, 1.08^0.4 = 1.031.
        assert_eq!(paced(0.08), Some(3));
        // 1.052^0.6 = 1.031, 1.05^0.6 = 1.0297.
        assert_eq!((paced(0.052), paced(0.05), paced(0.03)), (Some(5), None, None));
    }

    #[test]
    fn a_swing_about_an_equilibrium_is_no_climb_however_fast_it_is() {
        // By `depth` below 1000 kbit/s and back within two seconds, as SCReAM does about its target.
        let climbing = |depth: f64| {
            let mut climb = standing();
            let rate = |i: i32| 1000.0 - depth * f64::from((i % 20 - 10).abs()) / 10.0;
            let swing: Vec<f64> = (10..210).map(rate).collect();
            decided(&mut climb, 3000, &swing).iter().filter(|&&climbing| climbing).count()
        };
        assert_eq!(climbing(80.0), 0);
        assert!(climbing(150.0) > 100, "{}", climbing(150.0));
    }

    #[test]
    fn a_climb_ends_with_a_second_that_brings_less_than_two_per_cent() {
        let mut climb = standing();
        decided(&mut climb, 3000, &[1100.0]);
        // The last rise was at 3 s: within a second, until 4 s, the rate has not risen further.
        let flat = decided(&mut climb, 3100, &[1110.0; 12]);
        assert_eq!(flat.iter().position(|&climbing| !climbing), Some(9));
    }

    #[test]
    fn a_cut_ends_a_climb_unless_the_next_second_brings_the_rate_up_again() {
        let sawtooth = |then: &[f64]| {
            let mut climb = standing();
            decided(&mut climb, 3000, &[1100.0, 900.0]);
            decided(&mut climb, 3200, then)
        };
        assert!(sawtooth(&[910.0, 920.0, 930.0, 940.0, 950.0, 960.0]).iter().all(|&climbing| climbing));
        let held = sawtooth(&[900.0; 10]);
        assert_eq!(held.iter().position(|&climbing| !climbing), Some(8), "a second after the last rise");
    }

    #[test]
    fn decisions_two_seconds_apart_climb_from_each_to_the_next_but_one() {
        let mut climb = Climb::new(500.0 * KBPS);
        let mut decide = |second: i64, kbps: f64| {
            climb.decide(at(1000 * second), kbps * KBPS, false);
            climb.is_climbing()
        };
        assert_eq!([decide(0, 500.0), decide(2, 500.0)], [true, false]);
        assert!(decide(6, 900.0), "the rate in force until then was 500");
        assert_eq!([decide(8, 800.0), decide(10, 700.0)], [true, false]);
    }

    #[test]
    fn the_climb_that_is_assumed_ends_with_the_first_limit() {
        let after = |rates: &[f64], limits: bool| {
            let mut climb = Climb::new(1000.0 * KBPS);
            for rate in rates {
                climb.decide(at(0), rate * KBPS, limits);
            }
            climb.is_climbing()
        };
        assert!(after(&[990.0], false) && after(&[1010.0], true));
        assert!(!after(&[1000.0], true) && !after(&[990.0], true));
        assert!(after(&[1100.0, 1000.0], true), "a rise is no assumption");
    }

    #[test]
    fn changes_by_others_are_no_climb() {
        let mut climb = standing();
        climb.scale(2.0);
        assert!(decided(&mut climb, 3000, &[2000.0; 5]).iter().all(|climbing| !climbing));
        assert!(decided(&mut climb, 3500, &[2120.0])[0], "but a rise of its own is");
    }

    #[test]
    fn a_clock_that_is_set_back_does_no_harm() {
        let mut climb = standing();
        assert!(!decided(&mut climb, -10_000, &[1000.0])[0]);
        assert!(decided(&mut climb, -9900, &[1100.0])[0]);
        decided(&mut climb, i64::MAX / 2_000_000, &[1100.0]);
        decided(&mut climb, 0, &[1100.0]);
    }
}
