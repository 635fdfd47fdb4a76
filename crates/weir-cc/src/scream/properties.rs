//! Properties of SCReAM's variants beyond those of every controller.

use proptest::prelude::*;

use super::v1::{self, Increment, Scream};
use crate::testing::{CheckedSender, calls, cases, limits};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]

    #[test]
    fn the_literal_increment_without_compensation_keeps_the_promises_of_every_controller(
        limits in limits(),
        calls in calls(),
    ) {
        let config =
            v1::Config { increment: Increment::Literal, compensation: false, ..v1::Config::default() };
        let mut life = CheckedSender::new(Box::new(Scream::new(config, limits).unwrap()), limits);
        for call in &calls {
            life.call(call);
        }
    }
}
