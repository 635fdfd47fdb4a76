//! What holds of SCReAM's variants beyond what holds of every law.

use proptest::prelude::*;

use super::v1::{self, Increment, Scream};
use super::v2::{self, ScreamV2};
use crate::testing::{Call, Life, calls, limits, survives_silence, usual_limits};

proptest! {
    #[test]
    fn the_literal_increment_without_compensation_keeps_the_promises_of_every_law(
        limits in limits(),
        calls in calls(),
    ) {
        let config =
            v1::Config { increment: Increment::Literal, compensation: false, ..v1::Config::default() };
        let mut life = Life::new(Box::new(Scream::new(config, limits).unwrap()), limits);
        for call in &calls {
            life.live(call);
        }
    }

    #[test]
    fn the_early_second_version_answers_packet_feedback_and_no_other(limits in limits(), calls in calls()) {
        let config = v2::Config::early();
        let mut life = Life::new(Box::new(ScreamV2::new(config, limits).unwrap()), limits);
        for timed in &calls {
            let decided = life.live(timed).is_some();
            if let Call::Ceiling(_) | Call::Reception(..) | Call::Law(..) | Call::Sent(..) = timed.1 {
                prop_assert!(!decided);
            }
        }
    }

    #[test]
    fn the_early_second_version_survives_silence(calls in calls()) {
        let sender = ScreamV2::new(v2::Config::early(), usual_limits()).unwrap();
        survives_silence(Box::new(sender), usual_limits(), &calls);
    }
}
