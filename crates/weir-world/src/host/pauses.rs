//! Scheduled pauses of a flow.

use weir_net::Time;

/// The beginning or the end of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PauseEdge {
    /// The beginning of a pause.
    Pause,
    /// The end of a pause.
    Resume,
}

/// Pauses in order, each from its first time, included, to its second, excluded.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    spans: Vec<(Time, Time)>,
    /// Index of the present pause, or the next.
    at: usize,
    paused: bool,
}

impl Pauses {
    /// The pauses in any order; pauses that touch or overlap are merged.
    pub(super) fn new(mut pauses: Vec<(Time, Time)>) -> Self {
        pauses.retain(|(from, to)| from < to);
        pauses.sort_unstable();
        pauses.dedup_by(|later, earlier| {
            let joined = later.0 <= earlier.1;
            if joined {
                earlier.1 = earlier.1.max(later.1);
            }
            joined
        });
        Self { spans: pauses, at: 0, paused: false }
    }

    /// Time of the next edge, or [`Time::MAX`] without one.
    pub(super) fn next_edge(&self) -> Time {
        let pause = self.spans.get(self.at);
        pause.map_or(Time::MAX, |&(from, to)| if self.paused { to } else { from })
    }

    /// The next edge, if it is due by `now`. Each is returned once; several may be due.
    pub(super) fn next_due(&mut self, now: Time) -> Option<PauseEdge> {
        if self.next_edge() > now || self.next_edge() == Time::MAX {
            return None;
        }
        self.paused = !self.paused;
        self.at += usize::from(!self.paused);
        Some(if self.paused { PauseEdge::Pause } else { PauseEdge::Resume })
    }

    /// Whether there is a pause, as of the last call of [`Self::next_due`].
    pub(super) fn paused(&self) -> bool {
        self.paused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_that_touch_are_one_and_empty_ones_are_none() {
        let t = Time::from_millis;
        let mut pauses = Pauses::new(vec![(t(50), t(60)), (t(10), t(20)), (t(20), t(30)), (t(40), t(40))]);
        assert_eq!(pauses.next_edge(), t(10));
        assert_eq!(pauses.next_due(t(9)), None);
        assert_eq!((pauses.next_due(t(10)), pauses.next_due(t(10))), (Some(PauseEdge::Pause), None));
        assert!(pauses.paused());
        assert_eq!(pauses.next_edge(), t(30));
        // A late call reedges all edges.
        let edges: Vec<PauseEdge> = std::iter::from_fn(|| pauses.next_due(t(55))).collect();
        assert_eq!(edges, [PauseEdge::Resume, PauseEdge::Pause]);
        assert_eq!(pauses.next_due(t(60)), Some(PauseEdge::Resume));
        assert_eq!(pauses.next_edge(), Time::MAX);
    }
}
