//! Delivery-opportunity traces: the capacity of a cellular link, moment by moment.
//!
//! The text form is that of Mahimahi (Netravali et al., USENIX ATC 2015). Each line has a whole number, the
//! millisecond at which up to 1500 bytes may leave the queue. Several opportunities in one millisecond repeat the
//! line. After its last line a trace begins again, so its period is the last number. A first line 0 then falls
//! together with the last opportunity of the cycle before. A trace that is made in another way may end with an
//! outage: its period is then longer than the time of its last opportunity.

use core::fmt;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::time::Time;

/// Nanoseconds in a millisecond.
const MILLI: u64 = 1_000_000;

/// Delivery opportunities in order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Milliseconds, not decreasing.
    opportunities: Box<[u32]>,
    /// Milliseconds, not 0 and not before the last opportunity.
    period: u32,
}

impl Trace {
    /// Largest number of bytes that one opportunity carries.
    pub const OPPORTUNITY: DataSize = DataSize::from_bytes(OPPORTUNITY_BYTES);

    /// Reads the text form.
    ///
    /// # Errors
    /// [`TraceError`] with the place of the first line that is empty, not a number, smaller than the line before or
    /// beyond 2³² - 1 ms, of a last line 0, or if there is no line at all.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        if text.is_empty() {
            return Err(TraceError { line: 1, column: 1, problem: TraceProblem::EmptyFile });
        }
        let body = text.strip_suffix('\n').unwrap_or(text);
        let mut opportunities = Vec::new();
        let mut latest = 0;
        for (index, line) in body.split('\n').enumerate() {
            let fail = |column, problem| TraceError { line: index + 1, column, problem };
            let milli = parse_line(line.strip_suffix('\r').unwrap_or(line))
                .map_err(|(column, problem)| fail(column, problem))?;
            if milli < latest {
                return Err(fail(1, TraceProblem::Decreasing));
            }
            latest = milli;
            opportunities.push(milli);
        }
        if latest == 0 {
            return Err(TraceError {
                line: opportunities.len(),
                column: 1,
                problem: TraceProblem::LastIsZero,
            });
        }
        Ok(Self { opportunities: opportunities.into(), period: latest })
    }

    /// A trace with opportunities at these milliseconds.
    ///
    /// # Errors
    /// [`TraceError`], the number of an entry being its line, if there is none, one is smaller than the one before, or the
    /// last one is 0.
    pub fn from_millis(millis: impl IntoIterator<Item = u32>) -> Result<Self, TraceError> {
        let opportunities: Box<[u32]> = millis.into_iter().collect();
        let fail = |line, problem| Err(TraceError { line, column: 1, problem });
        if let Some(index) = opportunities.windows(2).position(|pair| pair[1] < pair[0]) {
            return fail(index + 2, TraceProblem::Decreasing);
        }
        match opportunities.last() {
            None => fail(1, TraceProblem::EmptyFile),
            Some(0) => fail(opportunities.len(), TraceProblem::LastIsZero),
            Some(&period) => Ok(Self { opportunities, period }),
        }
    }

    /// The same opportunities, repeated after `period` ms: after the last of them the link is idle until the
    /// period ends. A period before the last opportunity is lengthened to it.
    #[must_use]
    pub fn lasting_millis(self, period: u32) -> Self {
        let last = self.opportunities.last().copied().unwrap_or(0);
        Self { period: period.max(last), ..self }
    }

    /// The trace of a link with the rate `rate(t)`, sampled once each millisecond. Opportunity n comes when the
    /// integral of the rate reaches n · 12 000 bits, rounded up to a millisecond. The trace repeats after
    /// `duration`, cut to milliseconds, and takes four bytes of memory per opportunity. Rates too low for a single
    /// opportunity give an empty trace, which no link accepts.
    pub fn from_rate(duration: TimeDelta, mut rate: impl FnMut(Time) -> DataRate) -> Self {
        // A rate in bit/s is the same number in millibits per millisecond.
        const OPPORTUNITY_MILLIBITS: u64 = OPPORTUNITY_BYTES * 8 * 1000;
        let millis = u32::try_from(duration.nanos().max(0) as u64 / MILLI).unwrap_or(u32::MAX);
        let mut opportunities = Vec::new();
        let mut unspent = 0_u64;
        for milli in 0..millis {
            unspent = unspent.saturating_add(rate(Time::from_millis(milli.into())).bps());
            let due = unspent / OPPORTUNITY_MILLIBITS;
            unspent %= OPPORTUNITY_MILLIBITS;
            opportunities.extend((0..due).map(|_| milli + 1));
        }
        Self { opportunities: opportunities.into(), period: millis }
    }

    /// How many opportunities a cycle has.
    pub fn len(&self) -> usize {
        self.opportunities.len()
    }

    /// Whether there is none at all.
    pub fn is_empty(&self) -> bool {
        self.opportunities.is_empty()
    }

    /// The times of the opportunities of one cycle.
    pub fn opportunities(&self) -> impl ExactSizeIterator<Item = Time> + '_ {
        self.opportunities.iter().map(|&milli| Time::from_millis(milli.into()))
    }

    /// The period after which the trace repeats; of Mahimahi's form the time of the last opportunity.
    pub fn duration(&self) -> TimeDelta {
        TimeDelta::from_nanos(self.period() as i64)
    }

    /// Mean rate: bytes of all opportunities over the period; zero for an empty trace.
    pub fn mean_rate(&self) -> DataRate {
        if self.is_empty() {
            return DataRate::ZERO;
        }
        DataSize::from_bytes(self.len() as u64 * OPPORTUNITY_BYTES) / self.duration()
    }

    /// The highest rate over 100 ms of a cycle; zero for an empty trace.
    pub fn peak_rate(&self) -> DataRate {
        let moment = (MOMENT / MILLI) as u32;
        let mut first = 0;
        let most = (0..self.len()).map(|last| {
            while self.opportunities[last] - self.opportunities[first] >= moment {
                first += 1;
            }
            last + 1 - first
        });
        over_a_moment(most.max().unwrap_or(0) as u64)
    }

    fn period(&self) -> u64 {
        u64::from(self.period) * MILLI
    }

    /// How many opportunities lie at or before `nanos` after the beginning of the trace.
    pub(crate) fn count_until(&self, nanos: u64, repeat: bool) -> u64 {
        let (period, len) = (self.period(), self.len() as u64);
        if period == 0 {
            return 0;
        }
        if !repeat && nanos >= period {
            return len;
        }
        let milli = (nanos % period) / MILLI;
        let begun = self.opportunities.partition_point(|&at| u64::from(at) <= milli) as u64;
        (nanos / period).saturating_mul(len).saturating_add(begun)
    }

    /// The time of opportunity `number`, counted from 0, in nanoseconds after the beginning of the trace, or
    /// `None` after the end.
    pub(crate) fn time_of(&self, number: u64, repeat: bool) -> Option<u64> {
        let len = self.len() as u64;
        let (cycle, index) = (number.checked_div(len)?, number.checked_rem(len)?);
        if cycle > 0 && !repeat {
            return None;
        }
        let at = u64::from(*self.opportunities.get(index as usize)?) * MILLI;
        cycle.checked_mul(self.period())?.checked_add(at)
    }
}

/// Averaging window of the rate at a moment, in ns.
pub(crate) const MOMENT: u64 = 100 * MILLI;

/// The rate of so many opportunities in a [`MOMENT`].
pub(crate) fn over_a_moment(opportunities: u64) -> DataRate {
    DataSize::from_bytes(opportunities.saturating_mul(OPPORTUNITY_BYTES))
        / TimeDelta::from_nanos(MOMENT as i64)
}

/// Bytes that one opportunity carries at most. (Mahimahi's code has 1504, four of them for its own tunnel header.)
pub(crate) const OPPORTUNITY_BYTES: u64 = 1500;

fn parse_line(line: &str) -> Result<u32, (usize, TraceProblem)> {
    if line.is_empty() {
        return Err((1, TraceProblem::EmptyLine));
    }
    if let Some(column) = line.chars().position(|c| !c.is_ascii_digit()) {
        return Err((column + 1, TraceProblem::NotANumber));
    }
    line.parse().map_err(|_| (1, TraceProblem::TooLarge))
}

/// Why a text is no trace, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// Line, counted from 1.
    pub line: usize,
    /// Character in the line, counted from 1.
    pub column: usize,
    /// The problem at this place.
    pub problem: TraceProblem,
}

/// A problem in the text of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceProblem {
    /// The text is empty.
    EmptyFile,
    /// A line has no characters.
    EmptyLine,
    /// A character is no digit.
    NotANumber,
    /// The number is beyond 2³² - 1.
    TooLarge,
    /// The number is smaller than that of the line before.
    Decreasing,
    /// The last number is 0, so that the trace has no duration.
    LastIsZero,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self.problem {
            TraceProblem::EmptyFile => "a trace needs at least one line",
            TraceProblem::EmptyLine => "a line must not be empty",
            TraceProblem::NotANumber => "a line must be a whole number of milliseconds",
            TraceProblem::TooLarge => "the number of milliseconds is too large",
            TraceProblem::Decreasing => "the milliseconds must not decrease from line to line",
            TraceProblem::LastIsZero => "the last line must be greater than 0",
        };
        write!(f, "line {}, column {}: {problem}", self.line, self.column)
    }
}

impl core::error::Error for TraceError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(numbers: impl Iterator<Item = u32>) -> Trace {
        let text: Vec<String> = numbers.map(|n| n.to_string()).collect();
        Trace::parse(&text.join("\n")).unwrap()
    }

    #[test]
    fn mean_rate_counts_every_opportunity_over_the_last_time() {
        // 1001 · 12 000 bits in 1 s, and 1000 · 12 000 bits in 1 s.
        assert_eq!(lines(0..=1000).mean_rate(), DataRate::from_kbps(12_012));
        assert_eq!(lines(1..=1000).mean_rate(), DataRate::from_mbps(12));
        // 3 · 12 000 bits in 3 ms.
        assert_eq!(Trace::parse("1\n1\n3\n").unwrap().mean_rate(), DataRate::from_mbps(12));
    }

    #[test]
    fn a_wrong_line_is_named_by_its_place() {
        let cases = [
            ("", 1, 1, TraceProblem::EmptyFile),
            ("\n", 1, 1, TraceProblem::EmptyLine),
            ("1\n\n2\n", 2, 1, TraceProblem::EmptyLine),
            ("1\n2\n\n", 3, 1, TraceProblem::EmptyLine),
            ("1\n12x4\n", 2, 3, TraceProblem::NotANumber),
            ("-1\n", 1, 1, TraceProblem::NotANumber),
            ("5\n4\n", 2, 1, TraceProblem::Decreasing),
            ("0\n0\n", 2, 1, TraceProblem::LastIsZero),
            ("4294967296\n", 1, 1, TraceProblem::TooLarge),
        ];
        for (text, line, column, problem) in cases {
            assert_eq!(Trace::parse(text), Err(TraceError { line, column, problem }), "{text:?}");
        }
        let error = Trace::parse("1\n12x4\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2, column 3: a line must be a whole number of milliseconds");
    }

    #[test]
    fn line_ends_of_either_kind_and_a_missing_last_one_are_fine() {
        let trace = Trace::parse("1\n1\n3").unwrap();
        assert_eq!(Trace::parse("1\r\n1\r\n3\r\n").unwrap(), trace);
        let times: Vec<Time> = trace.opportunities().collect();
        assert_eq!(times, [1, 1, 3].map(Time::from_millis));
        assert_eq!((trace.duration(), trace.len(), trace.is_empty()), (TimeDelta::from_millis(3), 3, false));
    }

    #[test]
    fn a_synthetic_trace_follows_the_integral_of_the_rate() {
        // 5 Mbit/s: 12 000 bits each 2.4 ms: 2.4, 4.8, 7.2, 9.6, 12.0, rounded up.
        let trace = Trace::from_rate(TimeDelta::from_millis(12), |_| DataRate::from_mbps(5));
        let times: Vec<u64> = trace.opportunities().map(|at| at.nanos() / MILLI).collect();
        assert_eq!(times, [3, 5, 8, 10, 12]);
        // 24 Mbit/s for 1 ms are two opportunities; 6 Mbit/s then give one each 2 ms.
        let trace = Trace::from_rate(TimeDelta::from_millis(5), |at| {
            DataRate::from_mbps(if at < Time::from_millis(1) { 24 } else { 6 })
        });
        let times: Vec<u64> = trace.opportunities().map(|at| at.nanos() / MILLI).collect();
        assert_eq!(times, [1, 1, 3, 5]);
        let silent = Trace::from_rate(TimeDelta::from_secs(1), |_| DataRate::ZERO);
        assert!(silent.is_empty());
        assert_eq!((silent.mean_rate(), silent.count_until(5, true)), (DataRate::ZERO, 0));
        assert_eq!(silent.time_of(0, true), None);
    }

    #[test]
    fn silence_at_the_end_is_part_of_the_period() {
        // 12 Mbit/s for 2 ms, nothing for 8 ms: 1, 2 | 11, 12 | 21, ...
        let rate = |at| if at < Time::from_millis(2) { DataRate::from_mbps(12) } else { DataRate::ZERO };
        let trace = Trace::from_rate(TimeDelta::from_millis(10), rate);
        assert_eq!((trace.duration(), trace.len()), (TimeDelta::from_millis(10), 2));
        assert_eq!(trace.mean_rate(), DataRate::from_kbps(2400));
        let at = |number| trace.time_of(number, true).map(|nanos| nanos / MILLI);
        assert_eq!([at(0), at(1), at(2), at(3), at(4)], [1, 2, 11, 12, 21].map(Some));
        let until = |milli, repeat| trace.count_until(milli * MILLI, repeat);
        assert_eq!([until(2, true), until(10, true), until(11, true), until(21, true)], [2, 2, 3, 5]);
        assert_eq!([until(9, false), until(30, false)], [2, 2]);
        let same = Trace::from_millis([1, 2]).unwrap();
        assert_eq!(same.clone().lasting_millis(10), trace);
        assert_eq!(trace.lasting_millis(0), same);
    }

    #[test]
    fn opportunities_are_numbered_through_the_cycles() {
        // 1, 1, 3 | 4, 4, 6 | 7, ...
        let trace = Trace::parse("1\n1\n3").unwrap();
        let at = |number| trace.time_of(number, true).map(|nanos| nanos / MILLI);
        assert_eq!([at(0), at(1), at(2), at(3), at(5), at(6)], [1, 1, 3, 4, 6, 7].map(Some));
        assert_eq!(trace.time_of(2, false), Some(3 * MILLI));
        assert_eq!(trace.time_of(3, false), None);
        let until = |milli, repeat| trace.count_until(milli * MILLI, repeat);
        assert_eq!([until(0, true), until(1, true), until(3, true), until(4, true)], [0, 2, 3, 5]);
        assert_eq!(trace.count_until(MILLI - 1, true), 0);
        assert_eq!([until(2, false), until(3, false), until(9, false)], [2, 3, 3]);
    }

    #[test]
    fn milliseconds_may_repeat_and_do_not_fall() {
        let error = |line, problem| Err(TraceError { line, column: 1, problem });
        assert_eq!(Trace::from_millis([1, 1, 2]).map(|trace| trace.len()), Ok(3));
        assert_eq!(Trace::from_millis([1, 3, 2]), error(3, TraceProblem::Decreasing));
        assert_eq!(Trace::from_millis([0, 0]), error(2, TraceProblem::LastIsZero));
        assert_eq!(Trace::from_millis([]), error(1, TraceProblem::EmptyFile));
    }
}
