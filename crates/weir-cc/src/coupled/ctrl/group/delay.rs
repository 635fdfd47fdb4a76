//! Delay-based controllers that report decisions (LEDBAT): additive in both directions, proportional for congestion.

use super::CtrlTcp;
use crate::coupled::ctrl::config::CoordinatorSelection;
use crate::coupled::ctrl::flow::CongestionSignal;
use crate::coupled::message::{CwndUpdate, Update, WindowEvent, Windowed};
use crate::decision::{ChangeReason, Decision};
use crate::time::SendTime;
use crate::window::Window;

impl CtrlTcp {
    /// Takes a rate that a controller computed, and the window that belongs to it. Each update is answered, because
    /// the flow waits for the answer.
    pub(super) fn on_update(&mut self, now: SendTime, place: usize, update: &Update) {
        let (member, held) = (self.flows.member(place), self.flows[place].window);
        let Some(windowed) = update.window else { return };
        let cwnd_update = as_cwnd_update(&update.decision, &windowed, held);
        self.flows[place].congestion_signal = CongestionSignal::Delay;
        self.measure(place, &cwnd_update);
        self.flows[place].on_acknowledged(now, &cwnd_update);
        self.take_lead(member);
        if self.is_alone() {
            self.set_to_only_flow(place, cwnd_update.after);
        } else {
            self.weigh(now, place, &cwnd_update, update.decision.why);
        }
        if now >= self.algorithm.next_review {
            self.review(now);
        }
        self.send_window(place, f64::INFINITY, None);
    }

    fn weigh(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate, why: ChangeReason) {
        let kept = self.kept_share(cwnd_update.after.cwnd, cwnd_update.before.cwnd);
        match why {
            ChangeReason::Loss | ChangeReason::Mark => self.reduce_once(now, place, kept),
            // No flow was acknowledged for a round trip: more than this flow's feedback is missing.
            ChangeReason::Timeout if self.all_are_silent(now, place) => self.reduce_once(now, place, kept),
            ChangeReason::Start | ChangeReason::Growth | ChangeReason::Probe | ChangeReason::Delay
                if self.may_grow(now) =>
            {
                if self.algorithm.config.lead == CoordinatorSelection::All {
                    self.grow_by_part(place, cwnd_update);
                } else if self.coordinates(place) {
                    self.add(
                        (cwnd_update.after.cwnd - cwnd_update.before.cwnd) * self.bytes_of_aggregate(place),
                    );
                }
            }
            _ => {}
        }
    }

    fn all_are_silent(&self, now: SendTime, place: usize) -> bool {
        let others = self.flows.all().iter().enumerate().filter(|&(other, _)| other != place);
        others.into_iter().all(|(_, flow)| now - flow.acknowledged_at > self.round_trip())
    }
}

/// A decision as a window event. The window before follows from the rate before.
fn as_cwnd_update(decision: &Decision, windowed: &Windowed, held: Window) -> CwndUpdate {
    let after = Window { ssthresh: held.ssthresh, ..windowed.window };
    let cwnd = match decision.rate.bps_f64() {
        rate if rate > 0.0 => after.cwnd * (decision.base.bps_f64() / rate),
        _ => held.cwnd,
    };
    CwndUpdate {
        event: WindowEvent::Acknowledged,
        before: Window { cwnd, ..after },
        after,
        acked: 0.0,
        flight: after.cwnd,
        window_limited: decision.why != ChangeReason::Application,
        srtt: decision.rtt,
        base_rtt: windowed.base_rtt,
    }
}
