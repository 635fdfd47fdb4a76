//! The recent cuts that one flow made of its group's sum, to be taken back if its reports turn out to be forged.

use weir_units::TimeDelta;

use crate::time::SendTime;

/// Age up to which cuts are taken back.
const TAKEN_BACK: TimeDelta = TimeDelta::from_secs(10);
/// Cuts within this time are kept as one.
const TOGETHER: TimeDelta = TimeDelta::from_secs(5);

/// The cuts of a flow, the newest ones first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cuts([Option<Cut>; 3]);

/// Cuts that lie close together.
#[derive(Clone, Copy, Debug)]
struct Cut {
    first: SendTime,
    last: SendTime,
    /// Rate of the other flows before the first one, in bit/s.
    others: f64,
    /// The sum before the first one over the sum after the last one, at least 1.
    factor: f64,
}

impl Cuts {
    /// The flow cuts the sum to the share `1/factor`; the others had `others` bit/s of it until now.
    pub(super) fn note(&mut self, now: SendTime, others: f64, factor: f64) {
        let factor = factor.max(1.0);
        match &mut self.0[0] {
            Some(cut) if now - cut.first < TOGETHER => (cut.last, cut.factor) = (now, cut.factor * factor),
            _ => {
                self.0.rotate_right(1);
                self.0[0] = Some(Cut { first: now, last: now, others, factor });
            }
        }
    }

    /// The sum of the others without the cuts of the last ten seconds, in bit/s; `sum` is the one with them.
    pub(super) fn taken_back(&self, now: SendTime, sum: f64) -> f64 {
        let recent = self.0.iter().flatten().filter(|cut| now - cut.last <= TAKEN_BACK);
        let none = (0.0_f64, 1.0);
        let (others, factor) =
            recent.fold(none, |(others, factor), cut| (others.max(cut.others), factor * cut.factor));
        // The other flows have grown since, or some have left: neither counts twice.
        sum.max(others.min(sum * factor))
    }
}
