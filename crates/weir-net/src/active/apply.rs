//! Changes of an active link while it runs.

use super::{Active, State};
use crate::backlog::latest;
use crate::changes::{LinkChange, nanos};
use crate::config::Order;
use crate::loss::LossSource;
use crate::packet::Packet;
use crate::queue::WaitingPackets;
use crate::random::{JitterSource, RandomStreams};

impl<P: Packet, Q: WaitingPackets> Active<P, Q> {
    /// Applies a change that is valid. `seed` is the link's.
    pub(crate) fn apply(&mut self, change: &LinkChange, seed: u64) {
        self.advance(latest(self.now, change.at));
        if let Some(limits) = &change.limits {
            self.limits.replace(limits);
            self.coming = None;
        }
        if let Some(model) = change.loss {
            let source = self.loss.get_or_insert_with(|| LossSource::none(RandomStreams::new(seed).loss));
            source.replace_from(self.now, model);
        }
        if let Some(delay) = change.delay {
            self.onward.delay = nanos(delay);
            self.onward.overtakes |= self.onward.order != Order::Link;
            self.onward.jitter.iter_mut().for_each(JitterSource::end_changes);
            if let State::Serving(serving) = self.state {
                self.onward.resend(serving.place, serving.slot.departure, &self.records);
            }
        }
    }
}
