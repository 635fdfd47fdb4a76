//! The copies of a flow: their names and times.

use weir_units::TimeDelta;

use super::flow::Flow;

/// Most copies of one flow.
pub(crate) const MOST_COPIES: i64 = 10_000;

/// One copy of a flow; the spread of the start is not yet in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    pub(crate) name: String,
    pub(crate) start: TimeDelta,
    pub(crate) stop: Option<TimeDelta>,
    /// How much later it is than the flow as written.
    pub(crate) shift: TimeDelta,
}

/// The copies of `flow`, which is called `name`, in a run of `duration`.
pub(crate) fn copies(name: &str, flow: &Flow, duration: TimeDelta) -> Vec<Copy> {
    let Some(count) = count(flow, duration) else {
        return vec![Copy {
            name: name.to_owned(),
            start: flow.start,
            stop: flow.stop,
            shift: TimeDelta::ZERO,
        }];
    };
    let apart = flow.every.unwrap_or_default();
    let copy = |i: i64| Copy {
        name: format!("{name}-{}", i + 1),
        start: flow.start + apart * i,
        stop: flow.stop.map(|stop| stop + apart * i),
        shift: apart * i,
    };
    (0..count).map(copy).collect()
}

/// How many copies there are; `None` for a flow that is not copied.
fn count(flow: &Flow, duration: TimeDelta) -> Option<i64> {
    match (flow.count, flow.every) {
        (Some(count), _) => Some(i64::from(count).min(MOST_COPIES)),
        (None, Some(every)) => Some(starts_within(duration - flow.start, every)),
        (None, None) => None,
    }
}

/// How many times at 0, `every`, 2 · `every`, … lie before `span`.
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
        assert_eq!(only, [Copy { name: "a".to_owned(), start: S(1), stop: None, shift: S(0) }]);
    }

    #[test]
    fn counted_copies_are_numbered_from_one() {
        let two = copies("tcp", &flow("count = 2\nevery = \"3s\"\nstop = \"2s\""), S(1));
        assert_eq!(two[0], Copy { name: "tcp-1".to_owned(), start: S(0), stop: Some(S(2)), shift: S(0) });
        assert_eq!(two[1], Copy { name: "tcp-2".to_owned(), start: S(3), stop: Some(S(5)), shift: S(3) });
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
