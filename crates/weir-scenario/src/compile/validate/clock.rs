//! Receivers' clocks.

use weir_units::TimeDelta;

use super::Problems;
use crate::scenario::HostClock;
use weir_form::KeyPath;

/// Furthest that a clock may be off: a hundred years.
const MOST_OFFSET: TimeDelta = TimeDelta::from_secs(876_000 * 3600);
/// Coarsest clock.
const COARSEST: TimeDelta = TimeDelta::from_secs(1);

impl Problems<'_> {
    pub(super) fn clock(&mut self, clock: HostClock, path: &KeyPath) {
        if let Some(offset) = clock.offset.filter(|offset| offset.abs() > MOST_OFFSET) {
            let path = path.with("offset");
            let advice = format!("write a time from -{MOST_OFFSET} to {MOST_OFFSET}");
            self.value(&path, format!("`{path}` is {offset}")).push_str(&advice);
        }
        if let Some(step) = clock.step {
            let path = path.with("step");
            self.not_negative(&path.with("at"), Some(step.at));
            if step.by.abs() > MOST_OFFSET {
                let advice = format!("write a time from -{MOST_OFFSET} to {MOST_OFFSET}");
                self.value(&path.with("by"), format!("`{}` is {}", path.with("by"), step.by))
                    .push_str(&advice);
            }
        }
        let (resolution, path) = (clock.resolution, path.with("resolution"));
        self.not_negative(&path, Some(resolution));
        if resolution > COARSEST {
            let advice = format!("write at most {COARSEST}");
            self.value(&path, format!("`{path}` is {resolution}")).push_str(&advice);
        }
    }
}
