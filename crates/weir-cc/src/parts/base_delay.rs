//! Base delay: the part of the one-way delay that is not queuing delay.
//!
//! It is the smallest apparent delay of the last ten minutes, stored as one minimum per minute (RFC 6817 §4.2). A
//! changed route and the skew of two clocks expire with their minutes. A controller that drains the queue every
//! minute needs fewer minutes.

use weir_units::TimeDelta;

use crate::time::{ApparentDelay, ArrivalTime};

/// Minutes of history. RFC 6817 §2.5 recommends ten.
const MINUTES: usize = 10;
const MINUTE: TimeDelta = TimeDelta::from_secs(60);
/// Number of successive whole minutes with rising minima after which the rise counts as clock skew.
const RISING_MINUTES: usize = 4;
/// Greatest skew of two clocks: 500 ppm.
const MAX_SKEW: f64 = 500e-6;

/// The base delay of a path, by the apparent delays of its packets.
#[derive(Clone, Debug)]
pub(crate) struct BaseDelay {
    /// A minimum per minute; the present minute comes first.
    minima: [Option<Minimum>; MINUTES],
    /// Number of minima that count, the present one included; unbounded if `None`.
    kept: Option<usize>,
    /// Beginning of the present minute, or `None` before the first packet.
    minute: Option<ArrivalTime>,
    /// Rise of the empty path's apparent delay in seconds per second, because the receiver's clock is faster than the
    /// sender's. It is not measured if the queue may never be empty.
    rise: Option<f64>,
    /// The latest arrival.
    latest: ArrivalTime,
}

/// The smallest delay of a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Minimum {
    delay: ApparentDelay,
    at: ArrivalTime,
}

impl Default for BaseDelay {
    fn default() -> Self {
        Self::new()
    }
}

impl BaseDelay {
    /// The minimum of ten minutes, without any sample.
    pub(crate) fn new() -> Self {
        Self::keeping(MINUTES)
    }

    /// The minimum of `minutes` minutes, 1 to 10, the present one included, without any sample.
    pub(crate) fn keeping(minutes: usize) -> Self {
        Self { kept: Some(minutes.clamp(1, MINUTES)), ..Self::unlimited() }
    }

    /// The minimum for a flow that drains the queue if it has not been empty `for_so_long`. It covers that time and
    /// two more minutes, in one of which the queue has drained; without any sample.
    pub(crate) fn between_drains(for_so_long: TimeDelta) -> Self {
        let whole = for_so_long.nanos() / MINUTE.nanos();
        let kept = usize::try_from(whole).unwrap_or(0).saturating_add(2);
        Self { rise: Some(0.0), ..Self::keeping(kept) }
    }

    /// Whether a minimum is kept until the queue has drained, which happens after `span`: longer than 0, at most 8
    /// minutes.
    pub(crate) fn outlives(span: TimeDelta) -> bool {
        TimeDelta::ZERO < span && span <= MINUTE * (MINUTES as i64 - 2)
    }

    /// The minimum of the whole session, without any sample.
    pub(crate) fn unlimited() -> Self {
        Self { minima: [None; MINUTES], kept: None, minute: None, rise: None, latest: ArrivalTime::ZERO }
    }

    /// Takes a packet that arrived `at` with `delay`. Returns the base delay including this packet, at most `delay`.
    pub(crate) fn on_arrival(&mut self, at: ArrivalTime, delay: ApparentDelay) -> ApparentDelay {
        self.advance_minutes(at);
        self.latest = at;
        let present = self.minima[0].filter(|least| least.delay <= delay);
        self.minima[0] = Some(present.unwrap_or(Minimum { delay, at }));
        self.get().map_or(delay, |base| base.min(delay))
    }

    /// The base delay, or `None` before the first packet.
    pub(crate) fn get(&self) -> Option<ApparentDelay> {
        let kept = self.minima.iter().take(self.kept.unwrap_or(1)).flatten();
        match self.rise.filter(|&rise| rise > 0.0) {
            None => kept.map(|least| least.delay).min(),
            Some(rise) => kept.map(|least| least.delay + (self.latest - least.at).scale(rise)).min(),
        }
    }

    /// Removes all minima.
    pub(crate) fn restart(&mut self) {
        (self.minima, self.minute) = ([None; MINUTES], None);
        self.rise = self.rise.map(|_| 0.0);
    }

    fn advance_minutes(&mut self, at: ArrivalTime) {
        let began = *self.minute.get_or_insert(at);
        if at - began < -MINUTE {
            // The receiver's clock was set back: delays from before it cannot be compared.
            self.restart();
            self.minute = Some(at);
            return;
        }
        if self.kept.is_none() {
            self.minute = Some(at);
            return;
        }
        let passed = (at - began).nanos().max(0) / MINUTE.nanos();
        let turned = usize::try_from(passed).unwrap_or(MINUTES).min(MINUTES);
        self.minima.rotate_right(turned % MINUTES);
        self.minima[..turned].fill(None);
        self.minute = Some(began + MINUTE * passed);
        if turned > 0 && self.rise.is_some() {
            self.rise = Some(self.measure_rise());
        }
    }

    /// The smallest rise from one whole minute to the next, over several of them; 0 if one of them does not rise.
    fn measure_rise(&self) -> f64 {
        let rises = self.minima[1..=RISING_MINUTES].windows(2).map(|pair| {
            let [Some(later), Some(earlier)] = *pair else { return 0.0 };
            (later.delay - earlier.delay).secs_f64() / (later.at - earlier.at).secs_f64().max(1.0)
        });
        rises.fold(MAX_SKEW, f64::min).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SendTime;

    fn second(s: i64) -> ArrivalTime {
        ArrivalTime::from_millis(s * 1000)
    }

    /// An apparent delay of `ms` milliseconds; the clocks are five hours apart.
    fn delay(ms: i64) -> ApparentDelay {
        ApparentDelay::between(SendTime::ZERO, ArrivalTime::from_millis(5 * 3_600_000 + ms))
    }

    #[test]
    fn the_base_is_the_smallest_delay_seen() {
        let mut base = BaseDelay::new();
        assert_eq!(base.get(), None);
        assert_eq!(base.on_arrival(second(0), delay(40)), delay(40));
        assert_eq!(base.on_arrival(second(1), delay(25)), delay(25));
        assert_eq!(base.on_arrival(second(90), delay(60)), delay(25));
        assert_eq!(base.get(), Some(delay(25)));
    }

    #[test]
    fn a_minute_is_forgotten_ten_minutes_later() {
        let mut base = BaseDelay::new();
        base.on_arrival(second(30), delay(25));
        // Minutes are counted from the first packet: the first ends at 90 s and leaves at 30 + 600 s.
        for s in 31..630 {
            assert_eq!(base.on_arrival(second(s), delay(45)), delay(25), "{s} s");
        }
        assert_eq!(base.on_arrival(second(630), delay(45)), delay(45));
    }

    #[test]
    fn a_memory_of_three_minutes_forgets_each_minute_two_minutes_later() {
        let mut base = BaseDelay::keeping(3);
        base.on_arrival(second(0), delay(25));
        assert_eq!(base.on_arrival(second(179), delay(45)), delay(25));
        assert_eq!(base.on_arrival(second(180), delay(45)), delay(45));
        base.restart();
        base.on_arrival(second(200), delay(30));
        assert_eq!(base.on_arrival(second(379), delay(45)), delay(30));
        assert_eq!(base.on_arrival(second(380), delay(45)), delay(45));
    }

    #[test]
    fn between_drains_the_minimum_stays_for_two_minutes_more() {
        for (drain_after, gone) in [(20, 120), (60, 180), (119, 180), (480, 600)] {
            assert!(BaseDelay::outlives(TimeDelta::from_secs(drain_after)));
            let mut base = BaseDelay::between_drains(TimeDelta::from_secs(drain_after));
            base.on_arrival(second(0), delay(25));
            assert_eq!(base.on_arrival(second(gone - 1), delay(45)), delay(25), "{drain_after} s");
            assert_eq!(base.on_arrival(second(gone), delay(45)), delay(45), "{drain_after} s");
        }
        assert!(!BaseDelay::outlives(TimeDelta::from_secs(481)) && !BaseDelay::outlives(TimeDelta::ZERO));
    }

    #[test]
    fn an_unlimited_memory_forgets_at_a_clock_set_back_alone() {
        let mut base = BaseDelay::unlimited();
        base.on_arrival(second(0), delay(25));
        assert_eq!(base.on_arrival(second(100_000), delay(45)), delay(25));
        assert_eq!(base.on_arrival(second(99_930), delay(45)), delay(45));
    }

    #[test]
    fn a_long_silence_forgets_what_is_old_and_no_more() {
        let mut base = BaseDelay::new();
        base.on_arrival(second(0), delay(25));
        base.on_arrival(second(100), delay(35));
        assert_eq!(base.on_arrival(second(599), delay(45)), delay(25));
        // The first minute is gone at 650 s, the second (from 60 to 120 s) not before 660 s.
        assert_eq!(base.on_arrival(second(650), delay(45)), delay(35));
        assert_eq!(base.on_arrival(second(660), delay(45)), delay(45));
        assert_eq!(base.on_arrival(second(100_000), delay(70)), delay(70));
    }

    #[test]
    fn a_packet_out_of_order_belongs_to_the_present_minute() {
        let mut base = BaseDelay::new();
        base.on_arrival(second(0), delay(50));
        base.on_arrival(second(70), delay(50));
        assert_eq!(base.on_arrival(second(59), delay(30)), delay(30));
        assert_eq!(base.on_arrival(second(71), delay(50)), delay(30));
    }

    #[test]
    fn a_clock_set_back_begins_anew() {
        let mut base = BaseDelay::new();
        base.on_arrival(second(4000), delay(25));
        assert_eq!(base.on_arrival(second(400), delay(90)), delay(90));
        base.restart();
        assert_eq!(base.get(), None);
    }

    /// Base delay less the true one, in ms, in the last second of each of ten minutes. The queue of 20 ms drains
    /// each minute, and the receiver's clock gains `ppm`.
    fn errors(ppm: i64) -> Vec<i64> {
        let mut base = BaseDelay::between_drains(MINUTE);
        let mut errors = Vec::new();
        for s in 0..600 {
            let empty = 25 + s * ppm / 1000;
            let queue = if s % 60 == 40 { 0 } else { 20 };
            let known = base.on_arrival(second(s), delay(empty + queue));
            if s % 60 == 59 {
                errors.push((known - delay(empty)).nanos() / 1_000_000);
            }
        }
        errors
    }

    #[test]
    fn a_fast_clock_is_followed_after_four_minutes() {
        assert_eq!(errors(0), [0; 10]);
        // 200 ppm are 12 ms in a minute: three minutes of minima are up to 28 ms behind.
        let errors = errors(200);
        assert_eq!(errors[3], -27);
        assert!(errors[4..].iter().all(|error| error.abs() <= 1), "{errors:?}");
    }

    #[test]
    fn a_slow_clock_is_followed_at_once() {
        // The minimum is the newest one, 19 s old.
        assert!(errors(-200).iter().all(|error| (0..=4).contains(error)), "{:?}", errors(-200));
    }
}
