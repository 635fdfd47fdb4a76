//! The log of a run's emulator.

use crate::copies::PacketCopies;
use crate::drive::EventLog;
use crate::emulator::Event;

/// All events of a run's emulator, and copies of packets if there is a capture.
#[derive(Debug)]
pub(super) struct RunLog {
    pub(super) events: Vec<Event>,
    pub(super) copies: Option<PacketCopies>,
}

impl EventLog for RunLog {
    fn event(&mut self, event: &Event, bytes: &[u8]) {
        self.events.push(*event);
        if let Some(copies) = &mut self.copies {
            copies.event(event, bytes);
        }
    }
}
