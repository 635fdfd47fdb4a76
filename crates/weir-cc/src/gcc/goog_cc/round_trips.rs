//! The round-trip times that the law goes by.

use weir_units::TimeDelta;

use crate::time::SendTime;

/// The span of the longest feedback rounds that are remembered. libwebrtc.
const ROUNDS: usize = 32;
/// Receiver reports are waited for so long; then those of feedback count. libwebrtc expects reports within 5 s.
const PATIENCE: TimeDelta = TimeDelta::from_secs(5);
/// Of one packet, to which receiver reports round.
const MILLISECOND: TimeDelta = TimeDelta::from_millis(1);

/// Those of receiver reports, and of feedback where no report tells any.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips {
    longest: LongestRounds,
    reported: bool,
    /// When feedback came first.
    heard: Option<SendTime>,
}

impl RoundTrips {
    pub(super) const NONE: Self = Self { longest: LongestRounds::NONE, reported: false, heard: None };

    /// A receiver report tells `rtt`: what counts of it.
    pub(super) fn on_report(&mut self, rtt: TimeDelta) -> TimeDelta {
        self.reported = true;
        let whole = (rtt.nanos().saturating_add(MILLISECOND.nanos() / 2)) / MILLISECOND.nanos();
        TimeDelta::from_millis(whole.max(1))
    }

    /// Feedback came at `now` whose longest round was `longest`: the round-trip time, if receiver reports tell none.
    pub(super) fn on_feedback(&mut self, longest: TimeDelta, now: SendTime) -> Option<TimeDelta> {
        let mean = self.longest.add(longest);
        let heard = *self.heard.get_or_insert(now);
        (!self.reported && (now - heard).abs() > PATIENCE).then_some(mean)
    }

    /// The least of the longest rounds of the last feedbacks, in whole milliseconds; `None` before the first.
    pub(super) fn least(&self) -> Option<TimeDelta> {
        (self.longest.count > 0).then_some(self.longest.least)
    }
}

/// The longest round of each of the last 32 feedbacks, waiting at the receiver included.
#[derive(Clone, Copy, Debug)]
struct LongestRounds {
    rounds: [TimeDelta; ROUNDS],
    count: usize,
    sum: TimeDelta,
    least: TimeDelta,
}

impl LongestRounds {
    const NONE: Self =
        Self { rounds: [TimeDelta::MAX; ROUNDS], count: 0, sum: TimeDelta::ZERO, least: TimeDelta::MAX };
    /// Longer than any round trip that means something; sums of these do not overflow.
    const MOST: TimeDelta = TimeDelta::from_secs(100_000);

    /// Takes the longest round of a feedback; returns the mean.
    fn add(&mut self, longest: TimeDelta) -> TimeDelta {
        let longest = longest.clamp(TimeDelta::ZERO, Self::MOST);
        let slot = &mut self.rounds[self.count % ROUNDS];
        if self.count >= ROUNDS {
            self.sum -= *slot;
        }
        self.sum += longest;
        *slot = longest;
        self.count += 1;
        let least = self.rounds.iter().min().copied().unwrap_or(longest);
        self.least = TimeDelta::from_millis(least.nanos() / MILLISECOND.nanos());
        self.sum / self.count.min(ROUNDS) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn the_longest_of_the_last_32_feedbacks_are_remembered() {
        let mut rounds = LongestRounds::NONE;
        assert_eq!((rounds.add(ms(100)), rounds.least), (ms(100), ms(100)));
        assert_eq!((rounds.add(ms(200)), rounds.least), (ms(150), ms(100)));
        let last = (0..32).map(|_| rounds.add(TimeDelta::from_micros(120_900))).last();
        assert_eq!((last, rounds.least), (Some(TimeDelta::from_micros(120_900)), ms(120)));
        rounds.add(TimeDelta::MAX);
        assert!(rounds.add(TimeDelta::from_nanos(-1)) <= LongestRounds::MOST);
        assert_eq!(rounds.least, TimeDelta::ZERO);
    }

    #[test]
    fn feedback_counts_where_no_receiver_report_tells_a_round_trip_time_for_five_seconds() {
        let mut round_trips = RoundTrips::NONE;
        assert_eq!(round_trips.least(), None);
        assert_eq!(round_trips.on_feedback(ms(80), at(1000)), None);
        assert_eq!(round_trips.on_feedback(ms(80), at(6000)), None);
        assert_eq!(round_trips.on_feedback(ms(80), at(6001)), Some(ms(80)));
        assert_eq!(round_trips.least(), Some(ms(80)));
        assert_eq!(round_trips.on_report(TimeDelta::from_micros(50_500)), ms(51));
        assert_eq!(round_trips.on_report(TimeDelta::ZERO), ms(1));
        assert_eq!(round_trips.on_feedback(ms(80), at(20_000)), None);
    }
}
