//! The copies of a flow: their names and times.

use std::borrow::Cow;

use weir_units::TimeDelta;

use crate::scenario::Flow;

/// Most copies of one flow.
pub(crate) const MOST_COPIES: i64 = 10_000;

/// A copy of a flow; the spread of the start is not yet in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlowCopy {
    pub(crate) name: String,
    /// Number of the copy, or `None` for a flow that is not copied.
    pub(crate) number: Option<i64>,
    pub(crate) start: TimeDelta,
    pub(crate) stop: Option<TimeDelta>,
    /// Delay of the copy against the flow as written.
    pub(crate) shift: TimeDelta,
}

/// The copies of `flow`, which is called `name`, in a run of `duration`.
pub(crate) fn copies(name: &str, flow: &Flow, duration: TimeDelta) -> Vec<FlowCopy> {
    let Some(count) = count(flow, duration) else {
        return vec![FlowCopy {
            name: name.to_owned(),
            number: None,
            start: flow.start,
            stop: flow.stop,
            shift: TimeDelta::ZERO,
        }];
    };
    let apart = flow.every.unwrap_or_default();
    let first = i64::from(flow.first.unwrap_or(1));
    let copy = |i: i64| FlowCopy {
        name: format!("{name}-{}", first + i),
        number: Some(first + i),
        start: flow.start + apart * i,
        stop: flow.stop.map(|stop| stop + apart * i),
        shift: apart * i,
    };
    (0..count).map(copy).collect()
}

/// `text` with the number of a copy for each `#`.
pub(crate) fn numbered(text: &str, number: Option<i64>) -> Cow<'_, str> {
    match number {
        Some(number) if text.contains('#') => Cow::Owned(text.replace('#', &number.to_string())),
        _ => Cow::Borrowed(text),
    }
}

/// Number of copies, or `None` for a flow that is not copied.
fn count(flow: &Flow, duration: TimeDelta) -> Option<i64> {
    match (flow.count, flow.every) {
        (Some(count), _) => Some(i64::from(count).min(MOST_COPIES)),
        (None, Some(every)) => Some(starts_within(duration - flow.start, every)),
        (None, None) => None,
    }
}

/// Number of times 0, `every`, 2 · `every`, … before `span`.
fn starts_within(span: TimeDelta, every: TimeDelta) -> i64 {
    if span <= TimeDelta::ZERO || every <= TimeDelta::ZERO {
        return 0;
    }
    ((span.nanos() - 1) / every.nanos() + 1).min(MOST_COPIES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(text: &str) -> Flow {
        toml::from_str(&format!("kind = \"constant\"\nrate = \"1Mbps\"\n{text}")).unwrap()
    }

    const S: fn(i64) -> TimeDelta = TimeDelta::from_secs;

    #[test]
    fn a_flow_that_is_not_copied_keeps_its_name() {
        let only = copies("a", &flow("start = \"1s\""), S(10));
        assert_eq!(
            only,
            [FlowCopy { name: "a".to_owned(), number: None, start: S(1), stop: None, shift: S(0) }]
        );
    }

    #[test]
    fn counted_copies_are_numbered_from_one() {
        let text = "count = 2\nevery = \"3s\"\nstop = \"2s\"";
        let copy = |number: i64, start, stop| {
            let name = format!("tcp-{number}");
            FlowCopy { name, number: Some(number), start: S(start), stop: Some(S(stop)), shift: S(start) }
        };
        assert_eq!(copies("tcp", &flow(text), S(1)), [copy(1, 0, 2), copy(2, 3, 5)]);
        let later = copies("tcp", &flow(&format!("{text}\nfirst = 9")), S(1));
        assert_eq!(later, [copy(9, 0, 2), copy(10, 3, 5)]);
    }

    #[test]
    fn a_number_stands_for_each_sign() {
        assert_eq!(numbered("a-#-#", Some(12)), "a-12-12");
        assert_eq!(numbered("a-#", None), "a-#");
    }

    #[test]
    fn uncounted_copies_repeat_until_the_run_ends() {
        // Starts at 5, 17, 29, ..., 113; the next one, at 125 s, is the end of the run.
        let repeated = flow("start = \"5s\"\nstop = \"8s\"\nevery = \"12s\"");
        assert_eq!(copies("tcp", &repeated, S(125)).len(), 10);
        assert_eq!(copies("tcp", &repeated, S(126)).len(), 11);
        assert_eq!(copies("tcp", &repeated, S(5)).len(), 0);
    }
}
