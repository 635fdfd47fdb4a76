//! Properties of every controller, tested by its interface alone: a test kit for the controllers here and for those of
//! others (feature `testing`).
//!
//! A crate with a controller of its own has `weir-cc` with this feature among its dev-dependencies, and one line per
//! controller:
//!
//! ```
//! use weir_cc::gcc::goog_cc::{Config, GoogCc};
//! use weir_cc::packet_feedback::PacketFeedback;
//! use weir_cc::testing::{TestedController, halves, controller_tests};
//!
//! controller_tests!(
//!     mine,
//!     TestedController::new("mine", |limits| {
//!         let config = Config::default();
//!         halves(GoogCc::new(config, limits).unwrap(), PacketFeedback::new(config.feedback_interval))
//!     })
//!     .recovering_within(1500)
//!     .bounded_when_limited()
//!     .cutting_to(0.8)
//! );
//! ```
//!
//! Each of the [`properties`] is then a `#[test]` of the module `mine`, with the name of the property. The line of a
//! controller names each property that it does not hold by its own design ([`TestedController`]). Some tests let calls
//! of minutes pass: with `opt-level = 1` in `[profile.test]` all of them together take seconds. With `WEIR_LONG=1` in
//! the environment they have three times as many arbitrary cases, and longer calls.
//!
//! Further properties of a controller can be tested with arbitrary [`calls`] to a sender half, checked by a
//! [`CheckedSender`], and with arbitrary [`arrivals`], each of which may [`arrive`] at a receiver half. A [`Loop`] is a call over a
//! bottleneck of the simplest kind. [`couplers`] has the properties of couplers.

extern crate std;

mod arrivals;
mod calls;
mod closed_loop;
pub mod couplers;
mod life;
pub mod properties;
mod reports;
mod signals;
mod tested_controller;

#[doc(inline)]
pub use crate::{controller_tests, coupler_tests};
pub use arrivals::arrivals;
pub use calls::{Call, TimedCall, calls, limits};
pub use closed_loop::{Impairments, Loop, PACKET_PER_ROUND_TRIP, PacketSource};
pub use couplers::Composition;
pub use couplers::properties as coupler_properties;
pub use life::{CheckedSender, check_target, recovers_from_silence, survives_silence};
pub use reports::arrive;
pub use tested_controller::{BothHalves, ROUNDS_TO_RECOVER, TestedController, halves, usual_limits};

/// Whether the environment asks for tests at full length (`WEIR_LONG=1`).
pub(crate) fn is_long() -> bool {
    std::env::var_os("WEIR_LONG").is_some_and(|value| value == "1")
}

/// Number of arbitrary cases of a test that has `full` of them at full length: a third, unless `WEIR_LONG=1`.
pub(crate) fn cases(full: u32) -> u32 {
    if is_long() { full } else { full / 3 }
}

/// The [`properties`] of a controller as tests: `controller_tests!(mine, TestedController::new("mine", ...));` gives a
/// module `mine` with a `#[test]` for each of them. The second argument must be a constant expression, as a
/// [`TestedController`](crate::testing::TestedController) with its exceptions is.
#[macro_export]
macro_rules! controller_tests {
    ($name:ident, $controller:expr $(,)?) => {
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            const CONTROLLER: $crate::testing::TestedController = $controller;

            $crate::controller_tests! {
                @tests
                a_sender_keeps_its_promises_whatever_comes
                a_sender_survives_five_seconds_of_silence_whatever_came_before
                a_receiver_keeps_its_promises_whatever_comes
                hours_between_the_clocks_do_not_change_the_reports
                every_signal_has_a_name_and_a_meaning_of_its_own
                whatever_the_start_rate_it_comes_down_to_the_capacity_and_stays_there_on_average
                copies_losses_and_a_wrong_order_of_packets_and_reports_do_no_lasting_harm
                a_clock_that_drifts_by_100_ppm_does_not_push_the_rate_away_from_the_capacity
                twenty_seconds_after_the_receivers_clock_was_set_the_rate_is_back_and_stays
                while_the_source_offers_a_tenth_of_the_capacity_the_target_does_not_run_away
                coupling_that_gives_a_flow_its_own_rate_changes_nothing
                each_decision_starts_from_the_one_before_and_says_why
                a_source_that_fills_its_rate_is_never_what_lowers_it
                a_source_that_offers_little_on_an_empty_path_is_not_taken_for_congestion
                a_share_outside_the_limits_is_clamped_and_the_next_decision_starts_there
                coupling_is_the_cause_exactly_while_a_share_is_below_what_the_controller_computed_last
                a_rate_that_rises_is_not_limited_by_delay_or_loss
                alone_in_an_exchange_a_flow_is_as_if_it_were_not_coupled
                on_a_wide_link_copies_grow_as_fast_as_without_coupling
                on_a_narrow_link_copies_carry_as_much_as_without_coupling
                an_allocation_is_kept
                an_allocation_floods_no_link_and_starves_no_flow_for_long
            }
        }
    };
    (@tests $($property:ident)*) => {
        $(
            #[test]
            fn $property() {
                $crate::testing::properties::$property(&CONTROLLER);
            }
        )*
    };
}
