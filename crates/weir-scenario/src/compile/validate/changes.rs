//! Changes of links.

use super::Problems;
use crate::scenario::Change;
use weir_form::KeyPath;

impl Problems<'_> {
    pub(super) fn changes(&mut self, changes: &[Change], path: &KeyPath) {
        for (i, change) in changes.iter().enumerate() {
            let path = path.item(i);
            self.not_negative(&path.with("at"), Some(change.at));
            self.not_negative(&path.with("delay"), change.delay);
            if let Some(Err(error)) = change.loss.map(|loss| loss.config()) {
                self.config(&path.with("loss"), &error);
            }
            let limits = change.queue.unwrap_or_default();
            self.not_negative(&path.with("queue").with("time"), limits.time);
            self.not_negative(&path.with("queue").with("at_rate"), limits.at_rate);
            if (change.delay, change.loss, change.queue) == (None, None, None) {
                self.value(&path, format!("`{path}` changes nothing"))
                    .push_str("add `delay`, `loss` or `queue`; rates change in `steps`");
            }
        }
        for (i, pair) in changes.windows(2).enumerate().filter(|(_, pair)| pair[1].at <= pair[0].at) {
            let message = format!("the change at {} comes after the one at {}", pair[1].at, pair[0].at);
            self.value(&path.item(i + 1).with("at"), message)
                .push_str("let each change be later than the one before");
        }
    }
}
