//! `X_recv_set`: the last few receive rates, which bound the sending rate (RFC 5348 §4.3).

use weir_units::TimeDelta;

use crate::time::SendTime;

/// Number of values kept (RFC 5348 §8.2.2: three suffice).
const LENGTH: usize = 3;

/// The set of recent receive rates, in bytes/s, each with the time of its report, newest first.
#[derive(Clone, Debug)]
pub(super) struct ReceiveSet {
    values: [(f64, SendTime); LENGTH],
    known: usize,
}

impl ReceiveSet {
    /// The set with one value, as of `now`; infinity stands for the beginning.
    pub(super) fn of(value: f64, now: SendTime) -> Self {
        Self { values: [(value, now); LENGTH], known: 1 }
    }

    /// Takes `value` in and forgets values older than two round trips (*Update X_recv_set*).
    pub(super) fn update(&mut self, value: f64, now: SendTime, rtt: TimeDelta) {
        self.values.rotate_right(1);
        self.values[0] = (value, now);
        self.known = (self.known + 1).min(LENGTH);
        let fresh = |&(_, at): &(f64, SendTime)| now - at <= rtt * 2;
        self.known = self.values[..self.known].iter().take_while(|entry| fresh(entry)).count().max(1);
    }

    /// Takes `value` in and keeps only the greatest value, the beginning's infinity aside (*Maximize X_recv_set*).
    pub(super) fn maximize(&mut self, value: f64, now: SendTime) {
        let finite = self.values[..self.known].iter().map(|&(value, _)| value).filter(|v| v.is_finite());
        *self = Self::of(finite.fold(value, f64::max), now);
    }

    pub(super) fn halve(&mut self) {
        self.values.iter_mut().for_each(|(value, _)| *value /= 2.0);
    }

    /// Scales the rates that would have been received by `factor` for coupling.
    pub(super) fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|(value, _)| *value *= factor);
    }

    pub(super) fn max(&self) -> f64 {
        self.values[..self.known].iter().fold(0.0, |most, &(value, _)| most.max(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: TimeDelta = TimeDelta::from_millis(100);

    /// Sender time of `ms` milliseconds.
    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn the_beginning_bounds_nothing_for_two_round_trips() {
        let mut set = ReceiveSet::of(f64::INFINITY, ms(0));
        set.update(100.0, ms(100), RTT);
        set.update(200.0, ms(200), RTT);
        assert_eq!(set.max(), f64::INFINITY);
        set.update(150.0, ms(201), RTT);
        assert_eq!(set.max(), 200.0);
    }

    #[test]
    fn values_leave_after_two_round_trips() {
        let mut set = ReceiveSet::of(500.0, ms(0));
        set.update(100.0, ms(150), RTT);
        assert_eq!(set.max(), 500.0);
        set.update(200.0, ms(260), RTT);
        assert_eq!(set.max(), 200.0);
        set.update(50.0, ms(9000), RTT);
        assert_eq!(set.max(), 50.0);
    }

    #[test]
    fn the_greatest_stays_and_becomes_new() {
        let mut set = ReceiveSet::of(f64::INFINITY, ms(0));
        set.update(300.0, ms(50), RTT);
        set.maximize(100.0, ms(100));
        assert_eq!(set.max(), 300.0);
        set.update(120.0, ms(300), RTT);
        assert_eq!(set.max(), 300.0, "as new as the last report");
        set.halve();
        assert_eq!(set.max(), 150.0);
    }
}
