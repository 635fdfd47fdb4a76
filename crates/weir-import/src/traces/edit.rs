//! Edits of traces: a part of one, or one with another rate.

use weir_net::{Time, Trace};
use weir_units::TimeDelta;

use super::rates::MAX_OPPORTUNITIES;

/// Reasons for which an edit yields no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// No opportunity is left.
    #[error("no opportunity is left between {from} and {to}; the trace lasts {duration}")]
    Empty {
        /// Begin of the part.
        from: TimeDelta,
        /// End of the part.
        to: TimeDelta,
        /// Duration of the whole trace.
        duration: TimeDelta,
    },
    /// The factor is out of range.
    #[error("the factor must lie between 0.001 and 1000")]
    Factor,
    /// No opportunity is left.
    #[error("the factor leaves no opportunity")]
    TooLow,
    /// The scaled trace has too many opportunities for the memory.
    #[error("the factor makes more than {MAX_OPPORTUNITIES} opportunities")]
    TooHigh,
}

/// The part of a trace after `from` up to and including `to` or its end, as a trace of that length that begins at 0. A part from
/// 0 on includes an opportunity at 0.
///
/// # Errors
/// No opportunity lies there.
pub fn cut(trace: &Trace, from: TimeDelta, to: TimeDelta) -> Result<Trace, EditError> {
    let after = |at: TimeDelta| at > from || from == TimeDelta::ZERO;
    let within = |at: &TimeDelta| after(*at) && *at <= to;
    let shifted = |at: TimeDelta| millis(at - from);
    let part = trace.opportunities().map(|at| at - Time::ZERO).filter(within).map(shifted);
    let part = Trace::from_millis(part);
    part.map(|part| part.lasting_millis(millis(trace.duration().min(to) - from)))
        .map_err(|_| EditError::Empty { from, to, duration: trace.duration() })
}

/// The time in whole milliseconds.
fn millis(time: TimeDelta) -> u32 {
    (time.nanos().max(0) / 1_000_000) as u32
}

/// The same trace with `factor` times the rate: 0.5 keeps one of two opportunities, and 1.5 doubles each second one.
///
/// # Errors
/// A factor out of range, or one that leaves no opportunity.
pub fn scale(trace: &Trace, factor: f64) -> Result<Trace, EditError> {
    if !(0.001..=1000.0).contains(&factor) {
        return Err(EditError::Factor);
    }
    if factor > 1.0 && factor * trace.len() as f64 > MAX_OPPORTUNITIES {
        return Err(EditError::TooHigh);
    }
    let mut whole = 0;
    let times = trace.opportunities().enumerate().flat_map(|(index, at)| {
        // Computed anew each time, so that no error adds up.
        let until = (factor * (index + 1) as f64 + 1e-9).floor() as u64;
        let copies = until - whole;
        whole = until;
        (0..copies).map(move |_| millis(at - Time::ZERO))
    });
    Trace::from_millis(times.collect::<Vec<_>>())
        .map(|scaled| scaled.lasting_millis(millis(trace.duration())))
        .map_err(|_| EditError::TooLow)
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
    fn the_whole_is_a_part_of_itself() {
        let whole = trace(&[0, 0, 5, 30]).lasting_millis(50);
        assert_eq!(cut(&whole, MS(0), whole.duration()), Ok(whole.clone()));
        assert_eq!(cut(&whole, MS(0), MS(20)), Ok(trace(&[0, 0, 5]).lasting_millis(20)));
        assert_eq!(cut(&whole, MS(5), MS(45)), Ok(trace(&[25]).lasting_millis(40)));
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
        assert_eq!(scale(&whole.lasting_millis(9), 0.25), Ok(trace(&[4]).lasting_millis(9)));
        let long = trace(&vec![1; 100_001]);
        assert_eq!(scale(&long, 1000.0), Err(EditError::TooHigh));
        // A hundred times a hundredth.
        let many = trace(&(1..=1000).collect::<Vec<_>>());
        assert_eq!(scale(&many, 0.01).unwrap().len(), 10);
    }
}
