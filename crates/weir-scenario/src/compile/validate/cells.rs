//! Wi-Fi cells and the links in them.

use weir_units::TimeDelta;

use super::Problems;
use crate::scenario::{Cell, Dumbbell, InService, LinkJitter, LinkModel, OutputOrder, Scenario};
use weir_form::{KeyPath, advice};

impl Problems<'_> {
    /// Checks a cell.
    pub(super) fn cell(&mut self, cell: &Cell, path: &KeyPath) {
        self.some_rate(&path.with("rate"), cell.rate);
        if let Err(error) = cell.config().validate() {
            self.config(path, &error);
        }
    }

    /// Checks a link in the cell `name`.
    pub(super) fn in_cell(&mut self, scenario: &Scenario, name: &str, model: &LinkModel, path: &KeyPath) {
        if scenario.cells.get(name).is_none() {
            let advice = if scenario.cells.is_empty() {
                format!("add a `[cells.{name}]`")
            } else {
                advice(name, scenario.cells.names())
            };
            self.value(&path.with("cell"), format!("there is no cell `{name}`")).push_str(&advice);
        }
        let queue = path.with("queue");
        // The cell computes when a packet leaves, and its queue is drop-tail.
        let meaningless = [
            (path.with("delay"), model.delay > TimeDelta::ZERO),
            (path.with("jitter"), model.jitter != LinkJitter::None),
            (path.with("order"), model.order != OutputOrder::Link),
            (path.with("bucket"), model.bucket.is_some()),
            (path.with("changes"), !model.changes.is_empty()),
            (queue.with("at_rate"), model.queue.at_rate.is_some()),
            (queue.with("mark_above"), model.queue.mark_above.is_some()),
            (queue.with("in_service"), model.queue.in_service != InService::Counted),
            (queue.with("discipline"), model.queue.discipline.config() != weir_net::Discipline::DropTail),
        ];
        for (path, _) in meaningless.into_iter().filter(|(_, given)| *given) {
            self.key(&path, format!("`{path}` has no meaning in a cell"))
                .push_str("leave it out, or give it to a link before or behind");
        }
    }

    /// Refuses cells in a dumbbell, which has none.
    pub(super) fn no_cells(&mut self, dumbbell: &Dumbbell, path: &KeyPath) {
        let Dumbbell { bottleneck, access, exit, reverse } = dumbbell;
        let models = [
            ("bottleneck", Some(bottleneck)),
            ("access", Some(access)),
            ("exit", exit.as_ref()),
            ("reverse", reverse.as_ref()),
        ];
        for (key, _) in models.into_iter().filter(|(_, model)| model.is_some_and(|m| m.cell.is_some())) {
            let path = path.with(key).with("cell");
            self.key(&path, format!("`{path}` has no meaning: a dumbbell has no cells"))
                .push_str("leave it out, or write the network as `links`");
        }
    }
}
