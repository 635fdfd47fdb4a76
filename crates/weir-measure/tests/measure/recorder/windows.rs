//! Further windows beside the one of the plan, and the media that reach the viewer of a flow.

use std::sync::Arc;

use weir_measure::metrics::{BacklogReader, ExtraWindow, Measured, NetworkObserver};
use weir_world::Loss;

use super::*;

fn window(name: &str, spans: &[(u64, u64)], delays_only: bool) -> ExtraWindow {
    let spans = spans.iter().map(|&(from, to)| (Time::from_millis(from), Time::from_millis(to)));
    ExtraWindow { name: name.to_owned(), spans: spans.collect(), delays_only }
}

/// The measurements of 4 s with these extra windows.
fn measured(windows: Vec<ExtraWindow>) -> Measured {
    let mut run = Run::new(MeasurePlan { windows, ..plan(4000, vec![media("a")]) });
    // Received at 100, 1100, 2100 and 3100 ms, 1000, 2000, 3000 and 4000 bytes, 10, 20, 30 and 40 ms late.
    for k in 0..4 {
        let received = 1000 * k + 100;
        run.passes(0, received - 25 - 10 * (k + 1), received, 1000 * (k as u32 + 1));
    }
    run.0.finish()
}

#[test]
fn everything_is_measured_in_each_window_too() {
    let parted = window("parted", &[(1000, 2000), (3000, 3500)], false);
    let own = measured(vec![parted]).metrics.windows.remove("parted").unwrap();
    // 2000 + 4000 bytes in 1.5 s.
    assert_eq!(own.flows[0].rate_bps, Some(32_000.0));
    assert_eq!((own.flows[0].owd_excess_ms.mean, own.flows[0].owd_excess_ms.max), (Some(30.0), Some(40.0)));
    // 1 Mbit/s for 1.5 s, without any exit.
    assert_eq!(own.links[0].utilisation.bits, Some(0.0));
}

#[test]
fn a_window_is_cut_off_at_the_end_of_the_run() {
    let late = window("late", &[(3000, 9000)], false);
    let own = measured(vec![late]).metrics.windows.remove("late").unwrap();
    // 4000 bytes in the one second that is left.
    assert_eq!(own.flows[0].rate_bps, Some(32_000.0));
}

#[test]
fn of_some_windows_only_the_delays_of_packets_are_wanted() {
    let all = measured(vec![window("first", &[(0, 1500)], true), window("last", &[(2000, 4000)], false)]);
    let counts = |name: &str| all.delays_within[name][0].owd_excess.count();
    assert_eq!((counts("first"), counts("last")), (2, 2));
    assert_eq!(all.delays_within["first"][0].owd_excess.max(), Some(TimeDelta::from_millis(20)));
    assert_eq!(all.metrics.windows.keys().collect::<Vec<_>>(), ["last"]);
    assert_eq!(all.delays[0].owd_excess.count(), 4, "and of the whole run all");
}

#[test]
fn frames_have_no_delays_where_only_those_of_packets_are_wanted() {
    let windows = vec![window("packets", &[(0, 2000)], true), window("all", &[(0, 2000)], false)];
    let mut run = Run::new(MeasurePlan { windows, ..plan(2000, vec![media("a")]) });
    run.captures(0, 100, 1, 1000);
    run.brings(0, 190);
    let found = run.0.finish();
    let frames = |name: &str| found.delays_within[name][0].frame_delay.count();
    assert_eq!((frames("packets"), frames("all")), (0, 1));
}

#[test]
fn received_bytes_are_given_in_bins_of_100_ms_from_the_window_on() {
    let mut run = Run::within(plan(400, vec![media("a"), media("b")]), 50, 400);
    run.passes(0, 10, 49, 1000);
    run.passes(0, 20, 50, 2000);
    run.passes(0, 20, 149, 100);
    run.passes(1, 20, 399, 3000);
    // Bins begin at −50, 50, 150, 250 and 350 ms.
    assert_eq!(run.0.finish().receipts, [[1000, 2100, 0, 0, 0], [0, 0, 0, 0, 3000]]);
}

#[test]
fn the_payload_of_frames_is_counted_apart_where_it_is_wanted() {
    let packet = |sent_ms: u64, wire_size, frame| PacketMeta {
        sent_at: Time::from_millis(sent_ms),
        wait: TimeDelta::ZERO,
        wire_size,
        payload: wire_size - 40,
        frame,
        control: false,
    };
    let receipts = |media_receipts| {
        let plan = MeasurePlan { media_receipts, ..plan(300, vec![media("a")]) };
        let mut run = Run::new(plan);
        run.0.delivered(Time::from_millis(50), 0, &packet(10, 1240, 0));
        run.0.delivered(Time::from_millis(60), 0, &packet(20, 300, PacketMeta::NO_FRAME));
        run.0.delivered(Time::from_millis(250), 0, &packet(200, 1240, 1));
        let found = run.0.finish();
        (found.receipts, found.media_receipts)
    };
    let wire = vec![vec![1540, 0, 1240]];
    assert_eq!(receipts(true), (wire.clone(), vec![vec![1200, 0, 1200]]));
    assert_eq!(receipts(false), (wire, vec![Vec::new()]));
}

#[test]
fn a_viewer_gets_what_was_captured_from_a_time_on() {
    let viewed = MeasurePlan { viewed_from: Time::from_millis(1000), ..plan(3000, vec![media("a")]) };
    let mut run = Run::within(viewed, 2500, 3000);
    // Captured before; complete after 150 ms; after 151 ms; of two packets one arrives.
    for (number, captured, packets, complete) in
        [(0, 999, 1, 1100), (1, 1000, 1, 1150), (2, 1500, 1, 1651), (3, 2000, 2, 2050)]
    {
        run.captures(number, captured, packets, 700 + number);
        run.brings(number, complete);
    }
    let found = run.0.finish();
    let view = &found.views[0];
    assert_eq!((view.payload_bytes, view.useful_bytes), (3 * (1000 - u64::from(HEADERS)), 701));
    assert_eq!((view.frame_delay.count(), view.frame_delay.mean_ms()), (2, Some(150.5)));
}

#[test]
fn the_whole_wait_is_that_at_the_sender_and_in_queues() {
    let mut run = Run::within(plan(2000, vec![media("a")]), 500, 2000);
    let packet =
        |sent, wait, frame| PacketMeta { wait: TimeDelta::from_millis(wait), frame, ..data(sent, 1000) };
    run.captures(0, 100, 3, 3000);
    // Held for 50 ms and 10 ms in queues, before the window; for 450 and 20, 600 and 30 ms; of no frame.
    run.0.delivered(Time::from_millis(200), 0, &packet(150, 10, 0));
    run.0.delivered(Time::from_millis(600), 0, &packet(550, 20, 0));
    run.0.delivered(Time::from_millis(800), 0, &packet(700, 30, 0));
    run.0.delivered(Time::from_millis(900), 0, &packet(850, 40, PacketMeta::NO_FRAME));
    let found = run.0.finish();
    let whole = &found.delays[0].whole_wait;
    assert_eq!(
        (whole.count(), whole.mean_ms(), whole.max()),
        (2, Some(550.0), Some(TimeDelta::from_millis(630)))
    );
}

#[test]
fn a_witness_sees_what_waits_while_the_run_lasts() {
    let plan = plan(1000, vec![media("a")]);
    let observer = Arc::new(NetworkObserver::new(&plan));
    let mut run = Run(Recorder::new(plan).beside(Some(Arc::clone(&observer))));
    let packet = run.sends(0, 100, 1000);
    let lost = run.sends(0, 150, 500);
    run.0.dropped(Time::from_millis(200), 0, 0, &lost, Loss::Random);
    let waits = PacketMeta { wait: TimeDelta::from_millis(120), ..packet };
    run.0.delivered(Time::from_millis(245), 0, &waits);
    let waiting = |ms| observer.waiting(0, Time::from_millis(ms), &mut BacklogReader::default());
    assert_eq!([100, 110, 160, 210, 230].map(waiting), [0, 1000, 1500, 1000, 0]);
}
