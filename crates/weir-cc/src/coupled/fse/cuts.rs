//! Record of a flow's recent reductions ("cuts") of its group's sum, which are undone if its reports prove to be
//! forged.

use weir_units::TimeDelta;

use crate::time::SendTime;

/// Age up to which cuts are undone.
const UNDO_AGE: TimeDelta = TimeDelta::from_secs(10);
/// Time within which successive cuts are recorded as one.
const MERGE_TIME: TimeDelta = TimeDelta::from_secs(5);

/// The recorded cuts of a flow, the newest first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cuts([Option<Cut>; 3]);

/// One cut, or several within a short time.
#[derive(Clone, Copy, Debug)]
struct Cut {
    first: SendTime,
    last: SendTime,
    /// Sum of the other flows' rates before the first cut, in bit/s.
    others: f64,
    /// Ratio of the sum before the first cut to that after the last, at least 1.
    factor: f64,
}

impl Cuts {
    /// Records a cut of the sum to the share `1/factor`. The other flows had `others` bit/s until then.
    pub(super) fn record(&mut self, now: SendTime, others: f64, factor: f64) {
        let factor = factor.max(1.0);
        match &mut self.0[0] {
            Some(cut) if now - cut.first < MERGE_TIME => (cut.last, cut.factor) = (now, cut.factor * factor),
            _ => {
                self.0.rotate_right(1);
                self.0[0] = Some(Cut { first: now, last: now, others, factor });
            }
        }
    }

    /// The sum of the other flows in bit/s without the cuts of the last ten seconds; `sum` is the one with them.
    pub(super) fn undone(&self, now: SendTime, sum: f64) -> f64 {
        let recent = self.0.iter().flatten().filter(|cut| now - cut.last <= UNDO_AGE);
        let none = (0.0_f64, 1.0);
        let (others, factor) =
            recent.fold(none, |(others, factor), cut| (others.max(cut.others), factor * cut.factor));
        // The other flows have grown since, or some have left: neither counts twice.
        sum.max(others.min(sum * factor))
    }
}
