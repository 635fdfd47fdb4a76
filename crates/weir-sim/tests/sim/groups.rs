//! A coupler that changes no flow and records the group of each.

use std::sync::{Arc, Mutex};

use weir_cc::SendTime;
use weir_cc::coupled::{Aggregate, Coupler, CouplerAction, CouplingMessage, FlowId, Grouped, Refusal};

use crate::common::Echo;

/// Groups into which flows were put, with the times.
pub(crate) type Moves = Arc<Mutex<Vec<(SendTime, FlowId, u32)>>>;

/// Coupler that has flows do what they would do without one, and records their groups.
#[derive(Debug, Default)]
pub(crate) struct Groups(Echo, Moves);

impl Groups {
    pub(crate) fn written_to(moves: &Moves) -> Self {
        Self(Echo::default(), Arc::clone(moves))
    }
}

impl Coupler for Groups {
    fn on_message(&mut self, now: SendTime, member: FlowId, word: &CouplingMessage) -> Result<(), Refusal> {
        self.0.on_message(now, member, word)
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        self.0.poll_action()
    }

    fn aggregate(&self, _member: FlowId) -> Option<Aggregate> {
        None
    }
}

impl Grouped for Groups {
    fn set_group(&mut self, now: SendTime, member: FlowId, group: u32) {
        self.1.lock().expect("nobody panics").push((now, member, group));
    }
}
