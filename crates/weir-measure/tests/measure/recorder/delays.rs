//! The three delays of packets.

use super::*;

#[test]
fn owd_excess_is_one_way_delay_less_propagation() {
    let mut run = Run::within(plan(4000, vec![media("a")]), 1000, 3000);
    // One-way delays 35, 45, 55, 65 ms less 25 ms propagation; received outside the window: 900 ms.
    run.passes(0, 0, 900, 1000);
    for (k, delay) in [35, 45, 55, 65].into_iter().enumerate() {
        let sent = 990 + 10 * k as u64;
        run.passes(0, sent, sent + delay, 1000);
    }
    run.passes(0, 2100, 3000, 1000);
    let excess = &run.metrics().flows[0].owd_excess_ms;
    assert_eq!((excess.mean, excess.max), (Some(25.0), Some(40.0)));
    // Type 7 on 10, 20, 30, 40: rank 1.5 is 25, rank 2.85 is 38.5, rank 0.15 is 11.5; bins of 0.4 %.
    near(excess.p50, 25.0, 0.1);
    near(excess.p95, 38.5, 0.16);
    near(excess.p5, 11.5, 0.06);
    // √((225 + 25 + 25 + 225) / 4) = 11.1803.
    near(excess.sd, 11.1803, 1e-4);
}

#[test]
fn queue_wait_is_what_bottlenecks_made_the_packet_wait() {
    let mut run = Run::new(plan(1000, vec![media("a")]));
    for (sent, wait) in [(0, 4), (10, 8), (20, 0)] {
        let packet = PacketMeta { wait: TimeDelta::from_millis(wait), ..data(sent, 1000) };
        run.0.delivered(Time::from_millis(sent + 40), 0, &packet);
    }
    let wait = &run.metrics().flows[0].queue_wait_ms;
    assert_eq!((wait.mean, wait.max), (Some(4.0), Some(8.0)));
}

#[test]
fn rtt_excess_is_over_the_least_of_the_run() {
    let mut run = Run::within(plan(4000, vec![media("a")]), 1000, 3000);
    // The least, 60 ms, before the window; 80 and 100 ms in it; 500 ms after it.
    for (at, rtt) in [(500, 60), (1500, 80), (2500, 100), (3500, 500)] {
        run.0.rtt(Time::from_millis(at), 0, TimeDelta::from_millis(rtt));
    }
    let flow = &run.metrics().flows[0];
    assert_eq!(flow.min_rtt_ms, Some(60.0));
    assert_eq!((flow.rtt_excess_ms.mean, flow.rtt_excess_ms.max), (Some(30.0), Some(40.0)));
}

#[test]
fn a_flow_without_feedback_has_no_rtt() {
    let flow = Run::new(plan(1000, vec![media("a")])).metrics().flows.remove(0);
    assert_eq!((flow.min_rtt_ms, flow.rtt_excess_ms.mean), (None, None));
}
