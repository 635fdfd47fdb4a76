//! The vectors of the resolved algorithm, in segments.

use super::*;

#[test]
fn a_growth_of_the_coordinator_is_the_aggregates() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    assert_eq!((rig.cwnd(0), rig.cwnd(1), rig.coupler.coordinator()), (10.0, 10.0, Some(FlowId(0))));
    rig.event(0, WindowEvent::Acknowledged, 10.1);
    assert!(close(rig.sum(), 20.1) && close(rig.share(0), 10.05) && close(rig.cwnd(0), 10.05));
    // The other flow's growth does not count: it takes its share.
    rig.event(1, WindowEvent::Acknowledged, 10.1);
    assert!(close(rig.sum(), 20.1) && close(rig.cwnd(1), 10.05));
}

#[test]
fn b_two_recoveries_of_a_round_trip_are_one_loss_event() {
    let mut rig = Rig::sharing(ramped(), 20.0, &[1.0, 1.0]);
    rig.enter_recovery(1);
    assert_eq!((rig.threshold(), rig.sum()), (Some(10.0), 20.0));
    rig.enter_recovery(0);
    rig.leave_recovery(1, 5.0);
    assert_eq!((rig.sum(), rig.share(0), rig.share(1)), (10.0, 5.0, 5.0));
    rig.leave_recovery(0, 5.0);
    assert_eq!((rig.sum(), rig.cwnd(0), rig.cwnd(1)), (10.0, 5.0, 5.0));
}

#[test]
fn c_shares_follow_priorities() {
    let rig = Rig::sharing(ramped(), 12.0, &[1.0, 1.0, 2.0]);
    assert_eq!([0, 1, 2].map(|flow| rig.share(flow)), [3.0, 3.0, 6.0]);
    assert_eq!([0, 1, 2].map(|flow| rig.cwnd(flow)), [3.0, 3.0, 6.0]);
}

#[test]
fn d_an_isolated_timeout_is_a_loss_event_and_no_slow_start() {
    let mut rig = Rig::sharing(ramped(), 16.0, &[1.0, 1.0]);
    rig.wait(150);
    rig.ack(1);
    rig.wait(150);
    rig.time_out(0);
    assert_eq!((rig.threshold(), rig.sum(), rig.share(0), rig.share(1)), (Some(8.0), 8.0, 4.0, 4.0));
    assert!(rig.actions.is_empty(), "{:?}", rig.actions);
    assert!(!rig.windows[&0].in_slow_start(), "{:?}", rig.windows[&0]);
}

#[test]
fn e_when_all_time_out_all_begin_again() {
    let mut rig = Rig::sharing(ramped(), 16.0, &[1.0, 1.0]);
    rig.wait(300);
    rig.time_out(0);
    assert_eq!((rig.sum(), rig.actions.len()), (16.0, 0));
    rig.time_out(1);
    assert_eq!(rig.actions, [(0, CouplerAction::Reduce), (1, CouplerAction::Reduce)]);
    for flow in [0, 1] {
        rig.report_window(flow, WindowEvent::Reduced, window(1.0, 4.0));
    }
    assert_eq!((rig.threshold(), rig.sum(), rig.share(0), rig.share(1)), (Some(8.0), 2.0, 1.0, 1.0));
    assert!([0, 1].into_iter().all(|flow| rig.windows[&flow] == window(1.0, 4.0)), "{:?}", rig.windows);
    // Slow start up to 8: the acknowledgements of each flow open the sum, of which each has its part.
    rig.event(0, WindowEvent::Acknowledged, 2.0);
    assert_eq!((rig.sum(), rig.share(1)), (3.0, 1.5));
    rig.event(1, WindowEvent::Acknowledged, 2.0);
    assert_eq!((rig.sum(), rig.share(1)), (4.0, 2.0));
}

#[test]
fn f_a_newcomer_brings_its_window_or_not() {
    for (config, sum) in [(Config::as_printed(), 30.0), (ramped(), 20.0), (Config::default(), 20.0)] {
        let mut rig = Rig::sharing(config, 20.0, &[1.0]);
        rig.join(1, 1.0, window(10.0, f64::INFINITY));
        assert_eq!((rig.sum(), rig.share(0), rig.share(1)), (sum, sum / 2.0, sum / 2.0), "{config:?}");
    }
}
