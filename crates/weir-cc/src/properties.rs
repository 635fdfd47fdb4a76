//! The controllers of this crate under the tests of [`crate::testing`], a line each in [`CONTROLLERS`], and properties
//! of their lines. Couplers have theirs in `couplers`.

mod controllers;
mod couplers;
mod course;
mod exceptions;
mod tfrc_coupled;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::controller::{PathEvent, RateLimits};
use crate::packet::{Ecn, PacketFate, PacketResult, SendState, SentPacket};
use crate::report::ReceptionReport;
use crate::testing::{Call, TestedController, survives_silence, usual_limits};
use crate::time::{ArrivalTime, SendTime};
use controllers::CONTROLLERS;

#[test]
fn no_two_controllers_share_a_name() {
    for (i, line) in CONTROLLERS.iter().enumerate() {
        assert!(
            CONTROLLERS[..i].iter().all(|other| other.controller.name != line.controller.name),
            "{}",
            line.controller.name
        );
    }
}

#[test]
fn at_most_four_controllers_have_a_rule_of_their_own_that_is_faster_than_coupling() {
    assert!(
        CONTROLLERS
            .iter()
            .filter(|line| line.controller.forgets_shares || line.controller.own_cut < 1.0)
            .count()
            <= 4
    );
}

fn controller(name: &str) -> &'static TestedController {
    CONTROLLERS
        .iter()
        .map(|line| &line.controller)
        .find(|controller| controller.name == name)
        .expect("it has a line")
}

/// Silence after `calls`, all at once.
fn survives_silence_after(name: &str, calls: impl IntoIterator<Item = Call>) {
    let calls: Vec<_> = calls.into_iter().map(|call| (TimeDelta::ZERO, call, SendState::default())).collect();
    survives_silence((controller(name).build)(usual_limits()).0, usual_limits(), &calls);
}

/// A case that was broken once.
#[test]
fn gcc_dccc_survives_silence_after_the_least_share_and_a_round_trip_of_seconds() {
    let (least, most) = (DataRate::from_bps(1), DataRate::from_bps(4_134_219));
    let limits = RateLimits::new(least, least, most).unwrap();
    let rtt = TimeDelta::from_nanos(5_013_421_884);
    survives_silence_after(
        "gcc-dccc",
        [
            Call::Event(PathEvent::Limits(limits)),
            Call::Ceiling(most),
            Call::Reception(ReceptionReport::default(), Some(rtt)),
            Call::Allocation(DataRate::ZERO),
        ],
    );
}

/// A case that was broken once.
#[test]
fn rap_survives_silence_after_a_packet_that_arrived_three_times_years_apart() {
    let result = |sent_at, at| {
        let (at, fate_at) = (SendTime::from_nanos(sent_at), ArrivalTime::from_nanos(at));
        let zero = DataSize::ZERO;
        let sent = SentPacket { id: 0, at, size: zero, payload: zero, padding: false, probe: None };
        PacketResult { sent, fate: PacketFate::Arrived { at: Some(fate_at), ecn: Ecn::NotEct } }
    };
    let results =
        vec![result(-3_674_374_216_782_330_472, 5_315_090_460_870_977_262), result(0, 0), result(0, 0)];
    survives_silence_after("rap", [Call::Packets(results, Some(ArrivalTime::ZERO), None, 0)]);
}
