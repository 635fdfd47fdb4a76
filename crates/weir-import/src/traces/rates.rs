//! Rates over time, and their conversion to delivery opportunities.

use serde::{Deserialize, Serialize};
use weir_net::Trace;

use super::error::FormError;

/// Longest trace in seconds, as times are milliseconds in 32 bits.
pub(super) const MAX_SECONDS: f64 = u32::MAX as f64 / 1e3;
/// Highest rate.
const MAX_RATE: f64 = 1e11;
/// Greatest number of opportunities of a trace that is not given as opportunities; each takes four bytes of memory.
pub(super) const MAX_OPPORTUNITIES: f64 = 1e8;

/// A rate that holds from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateFrom {
    /// Begin of the rate, in s.
    pub seconds: f64,
    /// The rate.
    pub bits_per_second: f64,
}

/// Completes the rates: a last rate that is not 0 lasts as long as the previous one.
pub(super) fn close(rates: &mut Vec<RateFrom>) {
    if let [.., before, last] = rates.as_slice()
        && last.bits_per_second > 0.0
    {
        let seconds = last.seconds + (last.seconds - before.seconds);
        rates.push(RateFrom { seconds: (seconds * 1e9).round() / 1e9, bits_per_second: 0.0 });
    }
}

/// The trace of rates, of which the last is 0. Opportunity n is due when the integral of the rate reaches n · 12 000
/// bits, rounded up to a millisecond. `wrong` describes the place of a rate. The computing time grows with rates and
/// opportunities, not with the length of the trace.
pub(super) fn trace_of(
    rates: &[RateFrom],
    wrong: impl Fn(usize, String) -> FormError,
) -> Result<Trace, FormError> {
    let last = rates.len().saturating_sub(1);
    let Some(end) = rates.last().filter(|_| last > 0) else {
        let problem = "a trace needs two rates at least, by which it is known when it ends";
        return Err(wrong(last, problem.to_owned()));
    };
    let mut before: Option<RateFrom> = None;
    let mut bits = 0.0;
    for (index, &rate) in rates.iter().enumerate() {
        let RateFrom { seconds, bits_per_second } = rate;
        let in_order = before.map_or(seconds == 0.0, |before| seconds > before.seconds);
        if !in_order || seconds > MAX_SECONDS {
            let problem =
                format!("{seconds} s: times must begin with 0 and increase, to {MAX_SECONDS} at most");
            return Err(wrong(index, problem));
        }
        if !(0.0..=MAX_RATE).contains(&bits_per_second) {
            let problem = format!("{bits_per_second} bit/s: a rate must lie between 0 and {MAX_RATE}");
            return Err(wrong(index, problem));
        }
        bits += before.map_or(0.0, |before| before.bits_per_second * (seconds - before.seconds));
        if bits > MAX_OPPORTUNITIES * Trace::OPPORTUNITY.bytes_f64() * 8.0 {
            let problem = format!(
                "{seconds} s: until then there are more than {MAX_OPPORTUNITIES} opportunities of 1500 bytes; make the \
                 trace shorter or slower"
            );
            return Err(wrong(index, problem));
        }
        before = Some(rate);
    }
    let mut opportunities = Vec::new();
    add_opportunities(rates, &mut opportunities);
    let Ok(trace) = Trace::from_millis(opportunities) else {
        let problem = "the rates are too low for a single opportunity of 1500 bytes";
        return Err(wrong(last, problem.to_owned()));
    };
    Ok(trace.lasting_millis((nanos(end.seconds) / NANOS_PER_MILLI) as u32))
}

const NANOS_PER_MILLI: u64 = 1_000_000;

fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

fn add_opportunities(rates: &[RateFrom], opportunities: &mut Vec<u32>) {
    // A rate in bit/s is the same number in millibits per millisecond.
    let opportunity = u128::from(Trace::OPPORTUNITY.bytes() * 8 * 1000);
    let mut unspent = 0_u128;
    let end = rates.last().map_or(0, |end| nanos(end.seconds) / NANOS_PER_MILLI);
    for pair in rates.windows(2) {
        // A rate holds for the milliseconds that begin while it does.
        let begin = |rate: RateFrom| nanos(rate.seconds).div_ceil(NANOS_PER_MILLI).min(end);
        let (from, to) = (begin(pair[0]), begin(pair[1]));
        let rate = u128::from(pair[0].bits_per_second.round() as u64);
        let after = unspent + rate * u128::from(to - from);
        // Bits left over from earlier rates count towards the first opportunity of this one.
        for number in 1..=after / opportunity {
            let millis = (number * opportunity - unspent).div_ceil(rate);
            opportunities.push(from as u32 + millis as u32);
        }
        unspent = after % opportunity;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_units::{DataRate, TimeDelta};

    use super::*;

    fn rates(pairs: &[(f64, f64)]) -> Vec<RateFrom> {
        pairs.iter().map(|&(seconds, bits_per_second)| RateFrom { seconds, bits_per_second }).collect()
    }

    fn made(rates: &[RateFrom]) -> Result<Trace, FormError> {
        trace_of(rates, |index, problem| FormError::Whole { problem: format!("{index}: {problem}") })
    }

    #[test]
    fn opportunities_are_those_of_the_rate_of_each_millisecond() {
        let rates =
            rates(&[(0.0, 5e6), (0.0123, 24e6), (0.5, 0.0), (1.0, 123_457.0), (3.1, 1e9), (3.25, 0.0)]);
        assert_eq!(made(&rates), Ok(by_millisecond(&rates)));
    }

    /// The trace by the rate of each millisecond, one after the other.
    fn by_millisecond(rates: &[RateFrom]) -> Trace {
        let mut current = 0;
        let end = TimeDelta::from_nanos(nanos(rates[rates.len() - 1].seconds) as i64);
        Trace::from_rate(end, |at| {
            while rates.get(current + 1).is_some_and(|next| nanos(next.seconds) <= at.nanos()) {
                current += 1;
            }
            DataRate::from_bps(rates[current].bits_per_second.round() as u64)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        #[test]
        fn whatever_the_rates_are_opportunities_are_those_of_each_millisecond(
            steps in prop::collection::vec((1..2_000_000_u64, prop_oneof![Just(0.0), 1.0..1e6, 1e6..1e8]), 1..12),
        ) {
            // Steps of up to 2 s, to the microsecond.
            let mut micros = 0;
            let mut rates = Vec::new();
            for (step, bits_per_second) in steps {
                rates.push(RateFrom { seconds: micros as f64 / 1e6, bits_per_second });
                micros += step;
            }
            rates.push(RateFrom { seconds: micros as f64 / 1e6, bits_per_second: 0.0 });
            let expected = by_millisecond(&rates);
            match made(&rates) {
                Ok(trace) => prop_assert_eq!(trace, expected),
                Err(_) => prop_assert!(expected.is_empty()),
            }
        }
    }

    #[test]
    fn after_a_last_rate_the_trace_goes_on_as_long_as_the_one_before() {
        let mut open = rates(&[(0.0, 1e6), (0.1, 2e6), (0.2, 1e6)]);
        close(&mut open);
        assert_eq!(open[3..], rates(&[(0.3, 0.0)]));
        close(&mut open);
        assert_eq!(open.len(), 4);
        let mut single = rates(&[(0.0, 1e6)]);
        close(&mut single);
        assert!(made(&single).unwrap_err().to_string().starts_with("0: a trace needs two rates"));
    }

    #[test]
    fn a_long_trace_costs_no_more_than_its_opportunities() {
        // Millisecond by millisecond this would take minutes.
        assert_eq!(made(&rates(&[(0.0, 1.0), (4_294_967.0, 0.0)])).unwrap().len(), 357);
        assert!(
            made(&rates(&[(0.0, 1.0), (1e18, 0.0)]))
                .unwrap_err()
                .to_string()
                .starts_with("1: 1000000000000000000 s")
        );
    }
}
