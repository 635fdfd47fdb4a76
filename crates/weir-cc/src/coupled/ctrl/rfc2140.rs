//! Ensemble sharing of RFC 2140 §5: a newcomer begins with an equal part of the others' windows, which shrink by it.
//! Afterwards the connections are independent.

use super::ensemble::{ControlledFlow, Rule, RuleCoupler};
use crate::coupled::message::CwndUpdate;
use crate::window::Window;

/// Coupler of the initial windows of connections.
pub type Rfc2140 = RuleCoupler<EqualInitialParts>;

/// Rule that gives newcomers equal parts.
#[derive(Clone, Debug, Default)]
pub struct EqualInitialParts;

impl Rule for EqualInitialParts {
    fn on_join(&mut self, flows: &mut [ControlledFlow], place: usize) {
        let others = flows.len().saturating_sub(1) as f64;
        if others < 1.0 {
            return;
        }
        let (mut sum, mut threshold) = (0.0, 0.0);
        for (_, flow) in flows.iter().enumerate().filter(|&(other, _)| other != place) {
            sum += flow.window.cwnd;
            threshold += flow.window.ssthresh;
        }
        for (other, flow) in flows.iter_mut().enumerate() {
            flow.at_once = true;
            if other == place {
                // RFC 2140 §5: the newcomer has an equal part of the sum, and the mean threshold.
                flow.window = Window { cwnd: sum / (others + 1.0), ssthresh: threshold / others };
            } else {
                flow.window.cwnd -= sum / ((others + 1.0) * others);
            }
            flow.window.cwnd = flow.window.cwnd.max(1.0);
        }
    }

    fn on_cwnd_update(&mut self, flows: &mut [ControlledFlow], place: usize, cwnd_update: &CwndUpdate) {
        flows[place].window = cwnd_update.after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupled::ctrl::ensemble::test_support::{join, send_message, update_of, window};
    use crate::coupled::message::WindowEvent;

    #[test]
    fn a_newcomer_has_an_equal_part_and_the_sum_stays() {
        let mut coupler = Rfc2140::new();
        send_message(&mut coupler, 0, &join(30.0, 8.0));
        // 30/2 for the newcomer, 30/(2 · 1) from the first.
        assert_eq!(
            send_message(&mut coupler, 1, &join(10.0, 64.0)),
            [(0, window(15.0, 8.0)), (1, window(15.0, 8.0))]
        );
        let before = Window { cwnd: 15.0, ssthresh: 8.0 };
        let grown = Window { cwnd: 21.0, ..before };
        assert_eq!(send_message(&mut coupler, 0, &update_of(WindowEvent::Acknowledged, before, grown)), []);
        // 36/3 for the newcomer, 36/(3 · 2) from each: 21 - 6, 15 - 6.
        let actions = send_message(&mut coupler, 2, &join(10.0, 64.0));
        assert_eq!(actions, [(0, window(15.0, 8.0)), (1, window(9.0, 8.0)), (2, window(12.0, 8.0))]);
    }
}
