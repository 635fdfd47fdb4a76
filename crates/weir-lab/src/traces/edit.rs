//! Making a trace from another one.

use weir_net::{Time, Trace};
use weir_units::TimeDelta;

/// Why nothing comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Nothing is left.
    #[error("no opportunity is left between {from} and {to}; the trace lasts {duration}")]
    Empty {
        /// Where the part begins.
        from: TimeDelta,
        /// Where it ends.
        to: TimeDelta,
        /// How long the whole is.
        duration: TimeDelta,
    },
    /// Not a factor.
    #[error("the factor must lie between 0.001 and 1000")]
    Factor,
    /// Nothing is left.
    #[error("the factor leaves no opportunity")]
    TooLow,
}

/// The part of a trace after `from` up to and including `to`, as a trace that begins at 0. It ends with its last
/// opportunity.
///
/// # Errors
/// No opportunity lies there.
pub fn cut(trace: &Trace, from: TimeDelta, to: TimeDelta) -> Result<Trace, EditError> {
    let within = |at: &Time| (*at - Time::ZERO) > from && (*at - Time::ZERO) <= to;
    let shifted = |at: Time| ((at - Time::ZERO - from).nanos().max(0) / 1_000_000) as u32;
    let part = trace.opportunities().filter(within).map(shifted);
    Trace::from_millis(part).map_err(|_| EditError::Empty { from, to, duration: trace.duration() })
}

/// The same trace with `factor` times the rate: of two opportunities one is left by 0.5, and by 1.5 each second one comes
/// twice.
///
/// # Errors
/// A factor out of range, or one that leaves nothing.
pub fn scale(trace: &Trace, factor: f64) -> Result<Trace, EditError> {
    if !(0.001..=1000.0).contains(&factor) {
        return Err(EditError::Factor);
    }
    let mut whole = 0;
    let times = trace.opportunities().enumerate().flat_map(|(index, at)| {
        // Computed anew each time: no error adds up.
        let until = (factor * (index + 1) as f64 + 1e-9).floor() as u64;
        let copies = until - whole;
        whole = until;
        (0..copies).map(move |_| (at.nanos() / 1_000_000) as u32)
    });
    Trace::from_millis(times.collect::<Vec<_>>()).map_err(|_| EditError::TooLow)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

    fn trace(times: &[u32]) -> Trace {
        Trace::from_millis(times.iter().copied()).unwrap()
    }

    #[test]
    fn a_part_begins_at_zero() {
        let whole = trace(&[5, 10, 10, 20, 30]);
        assert_eq!(cut(&whole, MS(5), MS(20)), Ok(trace(&[5, 5, 15])));
        assert_eq!(cut(&whole, MS(0), MS(99)), Ok(whole.clone()));
        let nothing = EditError::Empty { from: MS(11), to: MS(19), duration: MS(30) };
        assert_eq!(cut(&whole, MS(11), MS(19)), Err(nothing));
    }

    #[test]
    fn a_factor_takes_away_or_doubles_evenly() {
        let whole = trace(&[1, 2, 3, 4]);
        assert_eq!(scale(&whole, 0.5), Ok(trace(&[2, 4])));
        assert_eq!(scale(&whole, 1.5), Ok(trace(&[1, 2, 2, 3, 4, 4])));
        assert_eq!(scale(&whole, 1.0), Ok(whole.clone()));
        assert_eq!(scale(&whole, 0.1), Err(EditError::TooLow));
        for factor in [0.0, -1.0, f64::NAN, 1001.0] {
            assert_eq!(scale(&whole, factor), Err(EditError::Factor));
        }
        // A hundred times a hundredth.
        let many = trace(&(1..=1000).collect::<Vec<_>>());
        assert_eq!(scale(&many, 0.01).unwrap().len(), 10);
    }
}
