//! Rates, loss and feedback.

use weir_world::Loss;

use super::*;

#[test]
fn reception_counts_by_its_own_time_and_sending_by_its_own() {
    let mut run = Run::within(plan(4000, vec![media("a")]), 1000, 3000);
    // Sent before the window and received in it; wholly in it; received after it; wholly after it.
    run.passes(0, 980, 1010, 1000);
    run.passes(0, 1500, 1530, 1500);
    run.passes(0, 2990, 3020, 700);
    run.passes(0, 3100, 3130, 900);
    let flow = &run.metrics().flows[0];
    // Received 1000 + 1500 = 2500 bytes in 2 s: 10 kbit/s; payload 960 + 1460 = 2420 bytes: 9680 bit/s.
    assert_eq!((flow.received.bytes, flow.received.packets), (Some(2500.0), Some(2.0)));
    assert_eq!((flow.rate_bps, flow.payload_rate_bps), (Some(10_000.0), Some(9680.0)));
    // Sent 1500 + 700 = 2200 bytes: 8800 bit/s.
    assert_eq!((flow.sent.bytes, flow.sent.payload_bytes), (Some(2200.0), Some(2120.0)));
    assert_eq!(flow.sent_rate_bps, Some(8800.0));
}

#[test]
fn rates_are_over_the_time_of_activity() {
    let late = FlowPlan { start: Time::from_millis(2000), stop: Time::from_millis(2500), ..media("late") };
    let mut run = Run::within(plan(4000, vec![late]), 1000, 3000);
    run.passes(0, 2000, 2030, 1250);
    // 10 000 bits in the half second from 2.0 to 2.5 s.
    assert_eq!(run.metrics().flows[0].rate_bps, Some(20_000.0));
}

#[test]
fn a_flow_that_is_never_active_has_no_rate() {
    let later = FlowPlan { start: Time::from_millis(3500), ..media("later") };
    let flow = Run::within(plan(4000, vec![later]), 1000, 3000).metrics().flows.remove(0);
    assert_eq!((flow.rate_bps, flow.loss_ratio, flow.owd_excess_ms.mean), (None, None, None));
}

#[test]
fn the_rate_scatters_over_whole_seconds() {
    let mut run = Run::new(plan(3500, vec![media("a")]));
    // 1000, 1000 and 400 kbit/s, and half a second that does not count.
    run.flows_at(0, 0, 2000, 1000);
    run.flows_at(0, 2000, 3000, 400);
    run.flows_at(0, 3000, 3500, 2000);
    // Mean 800, deviations 200, 200, −400: √(240 000 / 2) = 346.41 kbit/s.
    near(run.metrics().flows[0].rate_sd_bps, 346_410.0, 1.0);
}

#[test]
fn packets_in_flight_at_the_end_are_neither_lost_nor_received() {
    let mut run = Run::within(plan(4000, vec![media("a")]), 1000, 4000);
    // Lost, but sent before the window.
    let early = run.sends(0, 900, 1000);
    run.0.dropped(Time::from_millis(1100), 0, 0, &early, Loss::Random);
    for k in 0..7 {
        run.passes(0, 1000 + k, 1050 + k, 1000);
    }
    run.passes(0, 1100, 1150, 500);
    let lost = run.sends(0, 1200, 1000);
    run.0.dropped(Time::from_millis(1210), 0, 0, &lost, Loss::Random);
    run.sends(0, 3990, 500);
    let flow = &run.metrics().flows[0];
    // Bytes: 1000 of 7 · 1000 + 500 + 1000 = 8500; packets: 1 of 9.
    near(flow.loss_ratio, 1000.0 / 8500.0, 1e-12);
    near(flow.packet_loss_ratio, 1.0 / 9.0, 1e-12);
    assert_eq!(flow.sent.packets, Some(10.0));
}

#[test]
fn feedback_is_overhead_and_not_data() {
    let mut run = Run::new(plan(10_000, vec![media("a")]));
    run.flows_at(0, 0, 10_000, 800);
    for ms in (0..10_000).step_by(100) {
        let report = PacketMeta { control: true, ..data(ms, 100) };
        run.0.sent(Time::from_millis(ms), 0, &report);
        run.0.delivered(Time::from_millis(ms + 30), 0, &report);
        run.0.dropped(Time::from_millis(ms + 30), 0, 0, &report, Loss::Random);
    }
    let flow = &run.metrics().flows[0];
    // 100 reports of 100 bytes in 10 s: 8 kbit/s, 10 packets/s, 1 % of the 800 kbit/s sent.
    assert_eq!((flow.feedback_rate_bps, flow.feedback_packet_rate), (Some(8000.0), Some(10.0)));
    near(flow.feedback_share, 0.01, 1e-12);
    assert_eq!((flow.sent_rate_bps, flow.rate_bps), (Some(800_000.0), Some(800_000.0)));
    assert_eq!(flow.loss_ratio, Some(0.0));
}

#[test]
fn a_finite_transfer_takes_the_time_from_its_start_to_its_completion() {
    let transfer = FlowPlan { kind: FlowKind::Tcp, start: Time::from_millis(1000), ..media("tcp") };
    let mut run = Run::new(plan(10_000, vec![transfer, media("other")]));
    run.passes(0, 1500, 1530, 2500);
    run.0.completed(Time::from_millis(3500), 0);
    let metrics = run.metrics();
    assert_eq!(metrics.flows[0].completion_seconds, Some(2.5));
    // 20 000 bits in those 2.5 s.
    assert_eq!(metrics.flows[0].rate_bps, Some(8000.0));
    assert_eq!(metrics.flows[1].completion_seconds, None);
}

#[test]
fn media_flows_are_pooled() {
    let constant = FlowPlan { kind: FlowKind::Constant, ..media("cross") };
    let mut run = Run::new(plan(1000, vec![media("a"), media("b"), constant]));
    // Delays in excess of 25 ms: 10 ms for a, 20 and 30 ms for b; the constant flow's 400 ms do not count.
    run.passes(0, 0, 35, 1000);
    run.passes(1, 100, 145, 500);
    run.passes(1, 200, 255, 500);
    run.passes(2, 300, 725, 1000);
    let lost = run.sends(0, 400, 2000);
    run.0.dropped(Time::from_millis(410), 0, 0, &lost, Loss::Random);
    let media = run.metrics().media;
    assert_eq!(media.rate_bps, Some(16_000.0));
    assert_eq!((media.loss_ratio, media.packet_loss_ratio), (Some(0.5), Some(0.25)));
    assert_eq!((media.owd_excess_ms.mean, media.owd_excess_ms.max), (Some(20.0), Some(30.0)));
}
