//! TCP's estimate of the round-trip time in whole ticks of a clock, as ns-2's TCP and TFRC keep it.

use weir_units::TimeDelta;

/// Binary places of `SRTT`, as its gain is 1/8 (RFC 6298 §2.3).
const SRTT_PLACES: u32 = 3;
/// Binary places of `RTTVAR`, as its gain is 1/4.
const VARIATION_PLACES: u32 = 2;
/// Shift that converts a variation with two binary places to four variations with three places.
const FOUR_VARIATIONS: u32 = 2 + SRTT_PLACES - VARIATION_PLACES;

/// Smoothed round-trip time and its variation, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickEstimate {
    /// Length of a tick in seconds.
    tick: f64,
    /// `SRTT` in eighths of a tick.
    srtt: i64,
    /// `RTTVAR` in quarters of a tick.
    variation: i64,
}

impl TickEstimate {
    /// Estimate after the first sample, half of which is the variation (RFC 6298 §2.2).
    pub(super) fn first(sample: TimeDelta, tick: TimeDelta) -> Self {
        let tick = tick.secs_f64();
        let ticks = ticks(sample, tick);
        Self { tick, srtt: ticks << SRTT_PLACES, variation: ticks << (VARIATION_PLACES - 1) }
    }

    /// Takes in a further sample, rounded down at each binary place (RFC 6298 §2.3).
    pub(super) fn add(&mut self, sample: TimeDelta) {
        let error = ticks(sample, self.tick) - (self.srtt >> SRTT_PLACES);
        self.srtt = (self.srtt + error).max(1);
        let surplus = error.abs() - (self.variation >> VARIATION_PLACES);
        self.variation = (self.variation + surplus).max(1);
    }

    /// `SRTT + 4·RTTVAR` in seconds: whole ticks, without a least value.
    pub(super) fn timeout(&self) -> f64 {
        (((self.variation << FOUR_VARIATIONS) + self.srtt) >> SRTT_PLACES) as f64 * self.tick
    }
}

/// A sample in ticks, rounded to the nearest; at least one.
fn ticks(sample: TimeDelta, tick: f64) -> i64 {
    ((sample.secs_f64() / tick + 0.5) as i64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The timeout in s after these samples in ms.
    fn after(tick: i64, samples: &[i64]) -> f64 {
        let ms = TimeDelta::from_millis;
        let mut estimate = TickEstimate::first(ms(samples[0]), ms(tick));
        samples[1..].iter().for_each(|&sample| estimate.add(ms(sample)));
        estimate.timeout()
    }

    /// Checks that `seconds` is `expected` within 1e-9.
    fn near(seconds: f64, expected: f64) {
        assert!((seconds - expected).abs() < 1e-9, "{seconds}, not {expected} s");
    }

    #[test]
    fn a_round_trip_below_a_tick_is_one_tick() {
        // SRTT 8/8, RTTVAR 2/4 of a tick: (2·8 + 8)/8 = 3 ticks. Alike samples leave it: 2/4 counts as no whole tick.
        near(after(100, &[20]), 0.3);
        near(after(100, &[20, 20, 20, 20, 20, 20]), 0.3);
    }

    #[test]
    fn samples_are_rounded_to_the_nearest_tick() {
        // 140 ms is 1 tick, 160 ms 2: SRTT 16/8, RTTVAR 4/4: (4·8 + 16)/8 = 6.
        near(after(100, &[140]), 0.3);
        near(after(100, &[160]), 0.6);
    }

    #[test]
    fn the_gains_are_an_eighth_and_a_quarter() {
        // 1 tick, then 3: error 2, SRTT (8 + 2)/8; RTTVAR (2 + 2 − 0)/4: (4·8 + 10) >> 3 = 5 ticks.
        near(after(100, &[100, 300]), 0.5);
        // Then 1: error 1 − 1 = 0, SRTT 10/8; RTTVAR (4 + 0 − 1)/4: (3·8 + 10) >> 3 = 4 ticks.
        near(after(100, &[100, 300, 100]), 0.4);
    }

    #[test]
    fn fine_ticks_give_the_estimate_of_rfc_6298() {
        // 100 ms, then 200 ms: RTTVAR = 0.75·50 + 0.25·100 = 62.5 ms, SRTT = 112.5 ms: 362.5 ms, in whole ticks of 1 ms.
        near(after(1, &[100, 200]), 0.362);
    }
}
