//! Replay of a recorded call by another controller (`replay`).

use weir_cc::DataRate;
use weir_registry::Registry;
use weir_world::RecordedCall;
use weir_world::recorded::OptionalInteger;

use super::*;
use crate::testing::{over_link, recorded, recorded_by_sender};

/// A call of `controller` over a link of 1, 2 and 0.7 Mbit/s.
fn steps(controller: &str) -> RecordedCall {
    recorded_by_sender(&over_steps(controller), 1)
}

fn over_steps(controller: &str) -> String {
    let keys = "steps = [{ at = '0s', rate = '1Mbps' }, { at = '12s', rate = '2Mbps' }, { at = '25s', rate = '700kbps' }]\n\
                queue = { time = '300ms' }";
    over_link(controller, keys, 40, "")
}

fn replayed(call: &RecordedCall, controller: &str) -> ControllerReplay {
    let options = ReplayOptions::of(call, None, Some(DataRate::from_kbps(2500))).unwrap();
    replay(call, &Registry::standard(), (controller, None), &options).unwrap()
}

#[test]
fn a_controller_decides_on_its_own_recording_as_it_did() {
    for controller in ["gcc", "nada-at-sender"] {
        let call = steps(controller);
        let found = replayed(&call, controller).agreement.unwrap();
        assert!(found.within_10_percent > 0.999, "{controller}: {found:?}");
        assert!((found.median_ratio - 1.0).abs() < 1e-4, "{controller}: {found:?}");
    }
}

#[test]
fn a_receiver_half_gets_the_recorded_arrivals() {
    let call = recorded(&over_steps("gcc-2016"), 1);
    let found = replayed(&call, "gcc-2016");
    assert_eq!(found.controller, "gcc-2016");
    assert!(found.remarks[0].contains("made from the arrivals"), "{:?}", found.remarks);
    assert!(found.agreement.unwrap().within_10_percent > 0.9, "{:?}", found.agreement);
}

#[test]
fn a_controller_at_the_receiver_is_replaced_by_its_twin() {
    let found = replayed(&steps("gcc"), "nada");
    assert_eq!(found.controller, "nada-at-sender");
    assert!(found.remarks[0].starts_with("nada measures at the receiver"), "{:?}", found.remarks);
}

#[test]
fn a_controller_with_a_window_gets_no_statistic_and_its_curve_an_end() {
    let own = replayed(&steps("scream-v2"), "scream-v2");
    let foreign = replayed(&steps("gcc"), "scream-v2");
    assert!(own.agreement.is_none() && foreign.agreement.is_none());
    assert!(foreign.diverged_us.is_some());
    assert!(own.diverged_us.is_none_or(|own| own > foreign.diverged_us.unwrap()), "{own:?}");
}

#[test]
fn a_recording_without_packets_is_refused_with_what_would_do() {
    let empty = RecordedCall::default();
    let options = ReplayOptions::of(&empty, None, None).unwrap();
    let refusal = |call: &RecordedCall| {
        replay(call, &Registry::standard(), ("gcc", None), &options).unwrap_err().to_string()
    };
    assert!(refusal(&empty).starts_with("the recording has counters and no packets"));
    let mut arrivals = steps("gcc");
    arrivals.packets.sent_us.fill(OptionalInteger::UNKNOWN);
    assert!(refusal(&arrivals).starts_with("the recording has no departures"));
    let mut departures = steps("gcc");
    departures.packets.arrived_us.fill(OptionalInteger::UNKNOWN);
    assert!(refusal(&departures).starts_with("no packet is in a feedback report as received"));
}

#[test]
fn reports_are_made_where_the_recording_has_none() {
    let mut call = steps("gcc");
    call.packets.reported_us.fill(OptionalInteger::UNKNOWN);
    let found = replayed(&call, "gcc");
    assert!(found.remarks[0].contains("each 50 ms"), "{:?}", found.remarks);
    let found = found.agreement.unwrap();
    assert!(found.within_10_percent > 0.6 && (found.median_ratio - 1.0).abs() < 0.1, "{found:?}");
}

#[test]
fn each_packet_is_in_one_made_report() {
    let mut call = RecordedCall::default();
    // Sent each 10 ms; the third one comes late, and every fifth is lost.
    for row in 0..20_i64 {
        let arrived = if row == 2 { 400_000 } else { 10_000 * row + 30_000 };
        call.packets.push(weir_world::recorded::PacketRow {
            sequence: row,
            sent_us: OptionalInteger::new(10_000 * row),
            arrived_us: (row % 5 != 4).then_some(arrived).into(),
            ..Default::default()
        });
    }
    let schedule = ReplaySchedule::of(&call, None, false);
    assert_eq!(schedule.reported, (0..19).collect::<Vec<u32>>());
    let reports = schedule.inputs.iter().filter_map(|(at, input)| match input {
        schedule::ReplayInput::Report(rows, _) => Some((*at, rows.clone())),
        _ => None,
    });
    let way_back = 25_000;
    assert_eq!(
        reports.collect::<Vec<_>>(),
        [(50_000, 0..2), (100_000, 2..8), (150_000, 8..13), (200_000, 13..18), (250_000, 18..19)]
            .map(|(at, rows)| (at + way_back, rows))
    );
}

#[test]
fn the_reason_for_no_statistic_is_said() {
    let mut call = steps("gcc");
    let said = |replay: &ControllerReplay, text: &str| {
        assert!(replay.remarks.iter().any(|remark| remark.contains(text)), "{:?}", replay.remarks);
    };
    said(&replayed(&call, "scream-v2"), "no statistic, as its rate depends on its own bytes in flight");
    call.targets = weir_world::recorded::Rates::default();
    said(&replayed(&call, "gcc"), "no statistic, as the recording has no rate");
}

/// A call of `data/calls`.
fn shipped(name: &str) -> RecordedCall {
    let path = format!("{}/../../data/calls/{name}.rtclog", env!("CARGO_MANIFEST_DIR"));
    weir_import::calls::read_file(path.as_ref(), &weir_import::calls::CallOptions::default()).unwrap()
}

#[test]
fn gcc_follows_the_estimate_of_chromium() {
    for name in ["c1-steps", "c2-beside-cubic", "c3-steps", "c4-beside-cubic"] {
        let call = shipped(name);
        let options = ReplayOptions::of(&call, None, None).unwrap();
        let found = replay(&call, &Registry::standard(), ("gcc", None), &options).unwrap();
        let agreement = found.agreement.unwrap();
        assert!(agreement.within_10_percent > 0.97, "{name}: {agreement:?}");
        assert!((agreement.median_ratio - 1.0).abs() < 0.005, "{name}: {agreement:?}");
    }
}
