//! EFCM: every connection has the mean of all windows.
//!
//! Source: Savorić et al., Computer Networks 49(2), 2005. Only an abstract was available, so that the formulas are
//! Weir's. `n` connections are as aggressive as `n` uncoupled ones. Its pacing and its use of round-trip times are
//! left to the senders.

use super::ensemble::{ControlledFlow, Rule, RuleCoupler};
use crate::coupled::message::{CwndUpdate, WindowEvent};
use crate::window::Window;

/// Coupler that gives each connection the mean of the windows.
pub type Efcm = RuleCoupler<WindowSums>;

/// The sums of the connections' windows.
#[derive(Clone, Debug, Default)]
pub struct WindowSums {
    cwnd: f64,
    /// Sum of the `ssthresh` last reported by each connection.
    ssthresh: Option<f64>,
}

impl WindowSums {
    fn spread(&self, flows: &mut [ControlledFlow], at_once: bool) {
        let count = flows.len() as f64;
        for flow in flows {
            let ssthresh = self.ssthresh.unwrap_or(f64::INFINITY);
            flow.window = Window { cwnd: self.cwnd / count, ssthresh };
            flow.at_once |= at_once;
        }
    }
}

impl Rule for WindowSums {
    fn on_join(&mut self, flows: &mut [ControlledFlow], place: usize) {
        self.cwnd += flows[place].window.cwnd;
        let joined = flows[place].window.ssthresh;
        self.ssthresh = self.ssthresh.or(joined.is_finite().then_some(joined));
        self.spread(flows, true);
    }

    fn on_cwnd_update(&mut self, flows: &mut [ControlledFlow], _place: usize, cwnd_update: &CwndUpdate) {
        let count = flows.len() as f64;
        let (before, after) = (cwnd_update.before, cwnd_update.after);
        match cwnd_update.event {
            _ if flows.len() == 1 => {
                self.cwnd = after.cwnd;
                self.ssthresh = after.ssthresh.is_finite().then_some(after.ssthresh);
            }
            WindowEvent::RecoveryEntered | WindowEvent::Marked | WindowEvent::Reduced => {
                self.cwnd = (self.cwnd + after.cwnd - before.cwnd).max(1.0);
                let mean = self.ssthresh.unwrap_or(self.cwnd / count);
                self.ssthresh = Some(mean + (after.ssthresh - mean) / count);
            }
            WindowEvent::Acknowledged => self.cwnd = (self.cwnd + after.cwnd - before.cwnd).max(1.0),
            _ => {}
        }
        let reduced = matches!(
            cwnd_update.event,
            WindowEvent::RecoveryEntered | WindowEvent::Marked | WindowEvent::Reduced
        );
        self.spread(flows, reduced && flows.len() > 1);
    }

    fn on_leave(&mut self, flows: &mut [ControlledFlow], left: Window) {
        self.cwnd -= left.cwnd;
        self.spread(flows, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupled::ctrl::ensemble::test_support::{join, send_message, update_of, window};

    #[test]
    fn a_loss_halves_one_part_of_the_sum_and_all_have_the_mean() {
        let mut coupler = Efcm::new();
        send_message(&mut coupler, 0, &join(20.0, 8.0));
        assert_eq!(
            send_message(&mut coupler, 1, &join(10.0, 64.0)),
            [(0, window(15.0, 8.0)), (1, window(15.0, 8.0))]
        );
        let before = Window { cwnd: 15.0, ssthresh: 8.0 };
        let grown = update_of(WindowEvent::Acknowledged, before, Window { cwnd: 16.0, ..before });
        assert_eq!(send_message(&mut coupler, 0, &grown), [(0, window(15.5, 8.0))]);
        // 31 - 15 + 7 = 23; the mean of thresholds 8 and 7.
        let loss = update_of(WindowEvent::RecoveryEntered, before, Window { cwnd: 7.0, ssthresh: 7.0 });
        assert_eq!(send_message(&mut coupler, 1, &loss), [(0, window(11.5, 7.5))]);
    }
}
