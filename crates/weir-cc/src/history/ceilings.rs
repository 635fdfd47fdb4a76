//! Contradictions among ceilings (REMB): a rate that swings as no estimate of a receiver does.
//!
//! A REMB names no packet, so that ceilings are compared in order of arrival. The estimate of a receiver may fall to
//! any rate at once. But it does not double within a second after falling to half, or fall to half within a second
//! after doubling. Forged ceilings beside those of the receiver have this effect with each message.

use weir_units::{DataRate, TimeDelta};

use crate::time::SendTime;

/// Time within which a ceiling swings to another level and back.
const SWING_TIME: TimeDelta = TimeDelta::from_secs(1);
/// Time within which two swings are a contradiction; a single one may be chance.
const CONTRADICTION_TIME: TimeDelta = TimeDelta::from_secs(10);
/// Rate below which all ceilings are alike, because no media flows at any of them.
const MIN_BPS: u64 = 1000;

/// A level of similar ceilings.
#[derive(Clone, Copy, Debug)]
struct Level {
    bps: u64,
    /// Time of the last of these ceilings.
    at: SendTime,
}

impl Level {
    /// Whether neither ceiling is at least twice the other.
    fn is_near(&self, other: &Self) -> bool {
        let below_twice = |a: u64, b: u64| a / 2 < b.max(MIN_BPS);
        below_twice(self.bps, other.bps) && below_twice(other.bps, self.bps)
    }
}

/// The last level of ceilings, and the previous one.
#[derive(Debug, Default)]
pub(super) struct Ceilings {
    newest: Option<Level>,
    before: Option<Level>,
    /// Time of the last swing.
    swung: Option<SendTime>,
}

impl Ceilings {
    /// Takes a ceiling of `rate`. Returns whether it contradicts others.
    pub(super) fn on_ceiling(&mut self, now: SendTime, rate: DataRate) -> bool {
        let new = Level { bps: rate.bps(), at: now };
        let Some(last) = self.newest.replace(new) else { return false };
        if new.is_near(&last) {
            return false;
        }
        // A swing goes back to the level before the last one.
        let returned = |before: &Level| now - before.at <= SWING_TIME && new.is_near(before);
        if !self.before.replace(last).as_ref().is_some_and(returned) {
            return false;
        }
        let before = self.swung.replace(now);
        // A single swing may be chance.
        before.is_some_and(|before| now - before <= CONTRADICTION_TIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When ceilings in kbit/s, each with its time in ms, first contradict each other.
    fn contradicted(received: impl IntoIterator<Item = (i64, u64)>) -> Option<i64> {
        let mut ceilings = Ceilings::default();
        let mut on = |(ms, kbps)| ceilings.on_ceiling(SendTime::from_millis(ms), DataRate::from_kbps(kbps));
        received.into_iter().find(|&ceiling| on(ceiling)).map(|(ms, _)| ms)
    }

    /// Ceilings of an estimator in each second, beside forged ones each `every` ms.
    fn beside(every: i64, kbps: u64) -> Vec<(i64, u64)> {
        let forged = (0..20_000 / every).map(|n| (5000 + n * every, kbps));
        let mut all: Vec<_> = (0..25).map(|s| (s * 1000 + 7, 900 + s as u64)).chain(forged).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn ceilings_of_two_contradict_each_other_with_the_second_that_differs() {
        for kbps in [0, 30, 400, u64::MAX / 1000] {
            assert_eq!(contradicted(beside(20, kbps)), Some(5020), "{kbps}");
            assert_eq!(contradicted(beside(100, kbps)), Some(5100), "{kbps}");
            assert_eq!(contradicted(beside(1000, kbps)), Some(6000), "{kbps}");
            // A single forged ceiling looks like an estimator that falls once.
            assert_eq!(contradicted(beside(30_000, kbps)), None);
        }
        // A similar ceiling.
        assert_eq!(contradicted(beside(100, 600)), None);
    }

    #[test]
    fn an_estimator_contradicts_itself_neither_where_it_falls_nor_where_it_climbs() {
        // To a third at once each five seconds; from there half as much again each second.
        let course = [900, 300, 450, 675, 1010];
        let falls = (0..300).map(|s| (s * 1000, course[s as usize % 5]));
        assert_eq!(contradicted(falls), None);
        // A steep climb, twofold each 100 ms, once; then the way down.
        let climb = (0..10).map(|n| (100 * n, 10 << n)).chain((0..10).map(|n| (2000 + 100 * n, 5000 >> n)));
        assert_eq!(contradicted(climb), None);
    }
}
