//! E-TCP: one window, divided equally among the connections.
//!
//! Source: Eggert, Heidemann, Touch, "Effects of ensemble-TCP", 1999. Only an announcement of the paper was
//! available, so that the formulas are Weir's. As criticised in coupling-2018 §III.B, it keeps no state per
//! connection. Each connection's loss halves the common window, even if several belong to one loss event. A
//! connection in fast recovery gets a new part, too, but a sender that ignores windows in fast recovery does not use
//! it.

use super::ensemble::{ControlledFlow, Rule, RuleCoupler};
use crate::coupled::message::{CwndUpdate, WindowEvent};
use crate::window::Window;

/// Coupler with one common window that is divided equally.
pub type ETcp = RuleCoupler<OneWindow>;

/// The shared window of all connections.
#[derive(Clone, Debug)]
pub struct OneWindow {
    window: Window,
}

impl Default for OneWindow {
    fn default() -> Self {
        Self { window: Window { cwnd: 0.0, ssthresh: f64::INFINITY } }
    }
}

impl OneWindow {
    fn divide(&self, flows: &mut [ControlledFlow], at_once: bool) {
        let count = flows.len() as f64;
        for flow in flows {
            flow.window = Window { cwnd: self.window.cwnd / count, ssthresh: self.window.ssthresh / count };
            flow.at_once |= at_once;
        }
    }

    fn reduce(&mut self, cwnd_update: &CwndUpdate) {
        let kept = (cwnd_update.after.ssthresh / cwnd_update.before.cwnd).clamp(0.5, 1.0);
        self.window.ssthresh = (self.window.cwnd * kept).max(2.0);
    }
}

impl Rule for OneWindow {
    fn on_join(&mut self, flows: &mut [ControlledFlow], place: usize) {
        if flows.len() == 1 {
            self.window = flows[place].window;
        }
        self.divide(flows, true);
    }

    fn on_cwnd_update(&mut self, flows: &mut [ControlledFlow], _place: usize, cwnd_update: &CwndUpdate) {
        if let [only] = flows {
            self.window = cwnd_update.after;
            only.window = cwnd_update.after;
            return;
        }
        let grown = (cwnd_update.after.cwnd - cwnd_update.before.cwnd).max(0.0);
        match cwnd_update.event {
            WindowEvent::RecoveryEntered | WindowEvent::Marked => {
                self.reduce(cwnd_update);
                self.window.cwnd = self.window.ssthresh;
            }
            WindowEvent::Reduced => {
                self.reduce(cwnd_update);
                self.window.cwnd = 1.0;
            }
            WindowEvent::Acknowledged if cwnd_update.before.in_slow_start() => self.window.cwnd += grown,
            // One segment for each round trip of all.
            WindowEvent::Acknowledged => self.window.cwnd += grown / flows.len() as f64,
            _ => {}
        }
        let reduced = matches!(
            cwnd_update.event,
            WindowEvent::RecoveryEntered | WindowEvent::Marked | WindowEvent::Reduced
        );
        self.divide(flows, reduced);
    }

    fn on_leave(&mut self, flows: &mut [ControlledFlow], _left: Window) {
        self.divide(flows, true);
    }

    fn on_withdraw(&mut self, flows: &mut [ControlledFlow], left: Window) {
        self.window.cwnd = (self.window.cwnd - left.cwnd).max(1.0);
        self.divide(flows, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupled::ctrl::ensemble::test_support::{join, send_message, update_of, window};

    #[test]
    fn each_loss_halves_the_window_of_all_at_once() {
        let mut coupler = ETcp::new();
        assert_eq!(send_message(&mut coupler, 0, &join(20.0, 8.0)), [(0, window(20.0, 8.0))]);
        assert_eq!(
            send_message(&mut coupler, 1, &join(10.0, 64.0)),
            [(0, window(10.0, 4.0)), (1, window(10.0, 4.0))]
        );
        let before = Window { cwnd: 10.0, ssthresh: 4.0 };
        let grown = update_of(WindowEvent::Acknowledged, before, Window { cwnd: 11.0, ..before });
        assert_eq!(send_message(&mut coupler, 0, &grown), [(0, window(10.25, 4.0))]);
        let loss = update_of(WindowEvent::RecoveryEntered, before, Window { cwnd: 5.0, ssthresh: 5.0 });
        assert_eq!(send_message(&mut coupler, 0, &loss), [(1, window(5.125, 5.125))]);
        // A loss of the same round trip, and yet another halving.
        let loss = update_of(
            WindowEvent::RecoveryEntered,
            Window { cwnd: 5.125, ssthresh: 5.125 },
            Window { cwnd: 2.5, ssthresh: 2.5 },
        );
        let actions = send_message(&mut coupler, 1, &loss);
        assert_eq!(actions, [(0, window(2.5625, 2.5625))]);
    }
}
