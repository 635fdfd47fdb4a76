//! Properties of every controller: a function for each, which panics where the property does not hold.
//! [`controller_tests!`](super::controller_tests) makes a test of each.
#![allow(clippy::missing_panics_doc, reason = "that is what each of them does")]

mod bottleneck;
mod copies;
mod coupling;
mod exchange;
mod kept;
mod limiting;

use core::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use weir_units::TimeDelta;

use super::arrivals::arrivals;
use super::calls::{calls_to, limits};
use super::cases;
use super::life::{CheckedSender, recovers};
use super::reports::{ReportContent, reports};
use super::tested_controller::{TestedController, usual_limits};
use crate::report::Report;

pub use bottleneck::{
    a_clock_that_drifts_by_100_ppm_does_not_push_the_rate_away_from_the_capacity,
    copies_losses_and_a_wrong_order_of_packets_and_reports_do_no_lasting_harm,
    twenty_seconds_after_the_receivers_clock_was_set_the_rate_is_back_and_stays,
    whatever_the_start_rate_it_comes_down_to_the_capacity_and_stays_there_on_average,
    while_the_source_offers_a_tenth_of_the_capacity_the_target_does_not_run_away,
};
#[cfg(test)]
pub(crate) use copies::StaggeredFlows;
pub use copies::{
    on_a_narrow_link_copies_carry_as_much_as_without_coupling,
    on_a_wide_link_copies_grow_as_fast_as_without_coupling,
};
#[cfg(test)]
pub(crate) use coupling::{CAPACITY, change_path, flow};
pub use coupling::{
    a_share_outside_the_limits_is_clamped_and_the_next_decision_starts_there,
    a_source_that_fills_its_rate_is_never_what_lowers_it,
    a_source_that_offers_little_on_an_empty_path_is_not_taken_for_congestion,
    coupling_is_the_cause_exactly_while_a_share_is_below_what_the_controller_computed_last,
    coupling_that_gives_a_flow_its_own_rate_changes_nothing,
    each_decision_starts_from_the_one_before_and_says_why,
};
pub use exchange::alone_in_an_exchange_a_flow_is_as_if_it_were_not_coupled;
pub use kept::{an_allocation_floods_no_link_and_starves_no_flow_for_long, an_allocation_is_kept};
pub use limiting::a_rate_that_rises_is_not_limited_by_delay_or_loss;

/// Number of arbitrary cases at full length.
const CASES: u32 = 150;

/// Checks `property` for arbitrary values of `strategy`. A failing case is printed, as small as it could be made; no
/// file keeps it.
fn holds<S: Strategy<Value: Debug>>(
    controller: &TestedController,
    strategy: &S,
    property: impl Fn(S::Value),
) {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(CASES)) };
    let mut runner = TestRunner::new(config);
    let run = runner.run(strategy, |case| {
        property(case);
        Ok(())
    });
    if let Err(error) = run {
        panic!("{}: {error}\n{runner}", controller.name);
    }
}

/// With any calls and limits, rates are within the limits, and no signal is infinite. A timeout that came early changes
/// nothing, one that has come asks for a later one, and no call panics.
pub fn a_sender_keeps_its_promises_whatever_comes(controller: &TestedController) {
    holds(controller, &(limits(), calls_to(controller.report_name())), |(limits, calls)| {
        let mut life = CheckedSender::new((controller.build)(limits).0, limits);
        for call in &calls {
            life.call(call);
        }
    });
}

/// After any calls, five seconds of silence lower the rate, and good feedback brings it to the maximum.
pub fn a_sender_survives_five_seconds_of_silence_whatever_came_before(controller: &TestedController) {
    holds(controller, &calls_to(controller.report_name()), |calls| {
        let sender = (controller.build)(usual_limits()).0;
        recovers(
            CheckedSender::new(sender, usual_limits()),
            &calls,
            controller.rounds_to_recover,
            controller.ease,
        );
    });
}

/// With any arrivals, the next report is at most 5 s off, and none comes before its time or without end. Ceilings are
/// within the limits, no signal is infinite, and no call panics.
pub fn a_receiver_keeps_its_promises_whatever_comes(controller: &TestedController) {
    holds(controller, &(limits(), arrivals()), |(limits, arrivals)| {
        let (_, mut receiver) = (controller.build)(limits);
        for report in reports(&mut *receiver, &arrivals, TimeDelta::ZERO) {
            if let ReportContent::Other(Report::Ceiling(rate)) = report {
                assert_eq!(rate, limits.clamp(rate));
            }
        }
    });
}

/// A receiver's clock that is hours off makes the same reports, except for a controller [by absolute
/// delays](TestedController::by_absolute_delays).
pub fn hours_between_the_clocks_do_not_change_the_reports(controller: &TestedController) {
    if controller.absolute_delays {
        return;
    }
    let offset = -100_000_000_000_000..100_000_000_000_000_i64;
    holds(controller, &(arrivals(), offset), |(arrivals, offset)| {
        let reports_at = |offset| reports(&mut *(controller.build)(usual_limits()).1, &arrivals, offset);
        assert_eq!(reports_at(TimeDelta::ZERO), reports_at(TimeDelta::from_nanos(offset)));
    });
}

/// The sender half has a signal at least; names and meanings are not empty, and no two signals of a half share a name.
pub fn every_signal_has_a_name_and_a_meaning_of_its_own(controller: &TestedController) {
    let (sender, receiver) = (controller.build)(usual_limits());
    assert!(!sender.signals().is_empty(), "{} shows nothing", controller.name);
    for signals in [sender.signals(), receiver.signals()] {
        for (i, signal) in signals.iter().enumerate() {
            assert!(!signal.name.is_empty() && !signal.meaning.is_empty());
            assert!(signals[..i].iter().all(|other| other.name != signal.name), "{}", signal.name);
        }
    }
}
