//! Pauses of a flow.

use weir_net::Time;

/// An edge of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Pause,
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

    /// The next edge passed by `now`; call until `None`.
    pub(super) fn turn(&mut self, now: Time) -> Option<Turn> {
        if self.next_edge() > now || self.next_edge() == Time::MAX {
            return None;
        }
        self.paused = !self.paused;
        self.at += usize::from(!self.paused);
        Some(if self.paused { Turn::Pause } else { Turn::Resume })
    }

    /// Whether there is a pause, as of the last call of [`Self::turn`].
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
        assert_eq!(pauses.turn(t(9)), None);
        assert_eq!((pauses.turn(t(10)), pauses.turn(t(10))), (Some(Turn::Pause), None));
        assert!(pauses.paused());
        assert_eq!(pauses.next_edge(), t(30));
        // A late call returns all edges.
        let turns: Vec<Turn> = std::iter::from_fn(|| pauses.turn(t(55))).collect();
        assert_eq!(turns, [Turn::Resume, Turn::Pause]);
        assert_eq!(pauses.turn(t(60)), Some(Turn::Resume));
        assert_eq!(pauses.next_edge(), Time::MAX);
    }
}
