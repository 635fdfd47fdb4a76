//! Times of departures: pacer, prober and window, and padding up to the next layer of the source.

use weir_cc::{Pacing, SendTime};
use weir_units::{DataRate, DataSize};
use weir_wire::media::header_len;

use super::{PacketSource, PathSender, Phase};
use crate::timer::SenderTimer;

impl<S: PacketSource> PathSender<S> {
    /// Whether a window or exact pacing, and not the source, decides when a packet leaves.
    pub(crate) fn packets_wait(&self) -> bool {
        self.target.window.is_some() || matches!(self.target.pacing, Pacing::Exact(_))
    }

    /// Time at which the next packet, media or padding, may leave, or `None` if none waits. A probe has its own pace.
    /// With a full window packets wait for feedback, or until the history gives up the oldest packet.
    pub(super) fn next_departure(&self) -> Option<(SendTime, SenderTimer)> {
        if matches!(self.phase, Phase::Paused(_)) || self.config.foreign_pacer {
            return None;
        }
        let paced = |due| (due, SenderTimer::Pacer);
        let probing = self.prober.next_departure();
        let (due, payload) = match (self.source.next_payload(), probing) {
            (None, Some(due)) => return self.source.padding_payload().map(|_| paced(due)),
            (None, None) => {
                let padding = self.source.padding_payload()?;
                (self.pacer.next_padding(DataSize::from_bytes(u64::from(padding)))?, padding)
            }
            (Some(payload), due) => (due.unwrap_or_else(|| self.pacer.next_departure()), payload),
        };
        if let Some(window) = self.target.window {
            let in_flight = self.history.in_flight();
            let header = header_len(self.stamp(), self.config.marks_frames);
            let size = DataSize::from_bytes((header + usize::from(payload)) as u64);
            // One packet may always leave, however small the window.
            if !in_flight.is_zero() && in_flight + size > window {
                return self.history.next_expiry().map(|due| (due, SenderTimer::Window));
            }
        }
        Some(paced(due))
    }

    /// Whether the next layer of the source stays off whatever the target is.
    pub(crate) fn holds_layer(&self, now: SendTime) -> bool {
        self.climb.as_ref().is_some_and(|climb| climb.holds(now))
    }

    /// Media was queued: the climb to the next layer is weighed again.
    pub(crate) fn on_media_queued(&mut self, now: SendTime) {
        if self.climb.is_some() {
            self.pace(now);
        }
    }

    /// Applies the target to the pacer. Padding is that of the target or of the climb, the higher one, and does not fill
    /// what the controller takes off the media rate to drain a queue.
    pub(super) fn pace(&mut self, now: SendTime) {
        let mut paced = self.config.paced(&self.target, self.source.queued());
        self.climb_due = SendTime::MAX;
        if let Some(climb) = self.climb.as_mut().filter(|_| !matches!(self.phase, Phase::Paused(_))) {
            let next = self.source.next_layer(&self.target);
            let padding = climb.poll(now, self.target.sending_rate, next);
            self.climb_due = padding.due.unwrap_or(SendTime::MAX);
            paced.padding = paced.padding.max(padding.rate.min(self.target.media_rate));
        }
        self.padding = paced.padding;
        self.pacer.apply(now, &paced);
        let held = if self.holds_layer(now) { self.source.next_layer(&self.target) } else { None };
        let held = held.map(|next| next.needed.saturating_sub(DataRate::from_bps(1)));
        self.source.on_target(now, &self.target, held);
        self.departure = self.next_departure();
    }
}
