//! Flows with windows, in segments of 1250 bytes over 100 ms: a segment is 100 kbit/s.

use weir_units::DataSize;

use super::*;
use crate::coupled::message::{CwndUpdate, WindowEvent, Windowed};
use crate::window::{Ack, Congestion, Cubic, NewReno, Window, WindowAlgorithm};

const RTT: TimeDelta = TimeDelta::from_millis(100);
const FIRST: Window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };

fn windowed(base_rtt: Option<TimeDelta>) -> Windowed {
    Windowed { window: FIRST, segment: DataSize::from_bytes(1250), base_rtt }
}

/// A flow with a congestion window joins. Returns its number.
fn join_windowed(flows: &mut Flows, base_rtt: Option<TimeDelta>) -> u32 {
    let flow = flows.taken.len() as u32;
    flows.taken.push((1000.0, 0));
    let (start, window) = (kbps(1000.0), Some(windowed(base_rtt)));
    let message = CouplingMessage::Join(Join { parameters: greedy(1.0), start, present: start, window });
    flows.send_message(flow, message).unwrap();
    flow
}

/// A window event that changed the window from `before` to `after`.
fn update_of(event: WindowEvent, before: Window, after: Window) -> CwndUpdate {
    CwndUpdate {
        event,
        before,
        after,
        acked: 1.0,
        flight: before.cwnd,
        window_limited: true,
        srtt: Some(RTT),
        base_rtt: Some(RTT),
    }
}

fn report_window(flows: &mut Flows, flow: u32, event: WindowEvent, before: Window, after: Window) {
    flows.actions.clear();
    flows.send_message(flow, CouplingMessage::Window(update_of(event, before, after))).unwrap();
}

fn window(cwnd: f64, ssthresh: f64) -> Window {
    Window { cwnd, ssthresh }
}

/// The window to which a flow was ordered.
fn ordered(flows: &Flows, flow: u32) -> Option<Window> {
    flows.actions.iter().find_map(|&(to, action)| match action {
        CouplerAction::Window(window) if to == flow => Some(window),
        _ => None,
    })
}

/// Checks the ordered window within 1e-3 segments.
#[track_caller]
fn near(window: Option<Window>, cwnd: f64, ssthresh: f64) {
    let window = window.expect("a window was ordered");
    assert!((window.cwnd - cwnd).abs() < 1e-3, "{window:?}");
    assert!(window.ssthresh == ssthresh || (window.ssthresh - ssthresh).abs() < 1e-3, "{window:?}");
}

#[test]
fn a_window_shares_with_a_rate() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 3000.0)]);
    let tcp = join_windowed(&mut flows, Some(RTT));
    flows.shared_among(&[(0, 3000.0), (tcp, 1000.0)], 4000.0);
    // A segment more is 100 kbit/s more for both; before any congestion it stays in slow start.
    report_window(&mut flows, tcp, WindowEvent::Acknowledged, FIRST, window(11.0, f64::INFINITY));
    flows.shared_among(&[(0, 2050.0), (tcp, 2050.0)], 4100.0);
    assert_eq!(flows.taken[0].0, 2050.0);
    near(ordered(&flows, tcp), 20.5, f64::INFINITY);
}

#[test]
fn congestion_of_anybody_ends_a_slow_start() {
    let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 3000.0)]);
    let tcp = join_windowed(&mut flows, Some(RTT));
    flows.computes(0, 1500.0, ChangeReason::Delay);
    flows.shared_among(&[(0, 1000.0), (tcp, 1000.0)], 2000.0);
    assert_eq!(ordered(&flows, tcp), None, "it goes by that already");
    flows.at_ms(1000).grows(0, 1400.0);
    // The sum may use slow start up to 2000 of 2400, and 12 · 2000/2400 = 10.
    near(ordered(&flows, tcp), 12.0, 10.0);
}

#[test]
fn each_recovery_is_one_cut_without_an_action() {
    let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 1000.0)]);
    let tcp = join_windowed(&mut flows, Some(RTT));
    // The transport inflates its window; the congestion controller wants half.
    report_window(&mut flows, tcp, WindowEvent::RecoveryEntered, FIRST, window(8.0, 5.0));
    flows.shared_among(&[(0, 500.0), (tcp, 500.0)], 1000.0);
    assert_eq!(flows.taken[0].0, 500.0, "the others yield at once");
    report_window(&mut flows, tcp, WindowEvent::RecoveryEntered, window(8.0, 5.0), window(9.0, 5.0));
    flows.at_ms(300).grows(0, 700.0);
    flows.shared_among(&[(0, 600.0), (tcp, 600.0)], 1200.0);
    assert_eq!(ordered(&flows, tcp), None);
    report_window(&mut flows, tcp, WindowEvent::Repairing, window(8.0, 5.0), window(8.0, 5.0));
    report_window(&mut flows, tcp, WindowEvent::RecoveryLeft, window(8.0, 5.0), window(5.0, 5.0));
    flows.shared_among(&[(0, 600.0), (tcp, 600.0)], 1200.0);
    near(ordered(&flows, tcp), 6.0, 5.0);
}

#[test]
fn a_mark_is_a_cut_and_a_fall_without_one_is_delay() {
    for event in [WindowEvent::Marked, WindowEvent::Acknowledged] {
        let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 1000.0)]);
        let tcp = join_windowed(&mut flows, Some(RTT));
        report_window(&mut flows, tcp, event, FIRST, window(8.0, 8.0));
        flows.shared_among(&[(0, 800.0), (tcp, 800.0)], 1600.0);
    }
}

#[test]
fn a_timeout_reduces_only_where_no_flow_is_acknowledged() {
    let mut flows = Flows::at(Config::rfc8699_conservative(), &[(1.0, 1000.0)]);
    let tcp = join_windowed(&mut flows, Some(RTT));
    report_window(&mut flows, tcp, WindowEvent::Acknowledged, FIRST, FIRST);
    // The other flow gets feedback: the timer retransmits, one loss is reported, and the window is the share.
    flows.at_ms(900).grows(0, 1000.0);
    flows.at_ms(1000);
    report_window(&mut flows, tcp, WindowEvent::TimedOut, FIRST, FIRST);
    flows.shared_among(&[(0, 500.0), (tcp, 500.0)], 1000.0);
    near(ordered(&flows, tcp), 5.0, 5.0);
    assert!(!flows.actions.contains(&(tcp, CouplerAction::Reduce)));
    // No flow had feedback for long.
    flows.at_ms(5000);
    report_window(&mut flows, tcp, WindowEvent::TimedOut, window(5.0, 5.0), window(5.0, 5.0));
    assert_eq!(flows.actions, [(tcp, CouplerAction::Reduce)]);
    // Reduced to one segment of five, and the sum with it; slow start may reach half of it.
    report_window(&mut flows, tcp, WindowEvent::Reduced, window(5.0, 5.0), window(1.0, 2.5));
    flows.shared_among(&[(0, 100.0), (tcp, 100.0)], 200.0);
    flows.at_ms(5500);
    report_window(&mut flows, tcp, WindowEvent::Acknowledged, window(1.0, 2.5), window(2.0, 2.5));
    // 500 kbit/s of the sum, of which the flow has half.
    near(ordered(&flows, tcp), 1.5, 2.5);
}

#[test]
fn a_timeout_in_recovery_sends_no_second_loss_message() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 1000.0)]);
    let tcp = join_windowed(&mut flows, Some(RTT));
    report_window(&mut flows, tcp, WindowEvent::RecoveryEntered, FIRST, window(5.0, 5.0));
    flows.at_ms(900).grows(0, 750.0);
    flows.at_ms(1000);
    report_window(&mut flows, tcp, WindowEvent::TimedOut, window(5.0, 5.0), window(5.0, 5.0));
    flows.shared_among(&[(0, 750.0), (tcp, 750.0)], 1500.0);
    near(ordered(&flows, tcp), 7.5, 7.5);
}

#[test]
fn a_timer_without_a_coupling_reduces() {
    let mut flows = Flows::new(Config::rfc8699_active());
    flows.actions.clear();
    flows
        .send_message(9, CouplingMessage::Window(update_of(WindowEvent::TimedOut, FIRST, FIRST)))
        .unwrap_err();
    assert_eq!(flows.actions, [(9, CouplerAction::Reduce)]);
    let tcp = join_windowed(&mut flows, Some(RTT));
    report_window(&mut flows, tcp, WindowEvent::TimedOut, FIRST, FIRST);
    assert_eq!(flows.actions, [(tcp, CouplerAction::Reduce)], "alone");
}

#[test]
fn rates_are_measured_anew_with_the_smallest_round_trip_time() {
    let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 2000.0)]);
    let tcp = join_windowed(&mut flows, None);
    flows.actions.clear();
    // 20 segments of 100 kbit/s, in place of its start rate; no rate has grown.
    report_window(&mut flows, tcp, WindowEvent::Acknowledged, window(20.0, 20.0), window(20.0, 20.0));
    flows.shared_among(&[(0, 2000.0), (tcp, 2000.0)], 4000.0);
    let half = CwndUpdate {
        base_rtt: Some(TimeDelta::from_millis(50)),
        ..update_of(WindowEvent::Acknowledged, window(20.0, 20.0), window(20.0, 20.0))
    };
    flows.send_message(tcp, CouplingMessage::Window(half)).unwrap();
    flows.shared_among(&[(0, 3000.0), (tcp, 3000.0)], 6000.0);
    near(ordered(&flows, tcp), 15.0, 15.0);
}

#[test]
fn a_window_that_is_none_is_refused() {
    let mut flows = Flows::new(Config::rfc8699_active());
    for window in [
        Windowed { segment: DataSize::ZERO, ..windowed(None) },
        Windowed { base_rtt: Some(TimeDelta::ZERO), ..windowed(None) },
        Windowed { window: window(f64::NAN, 1.0), ..windowed(None) },
    ] {
        let start = kbps(1000.0);
        let message = CouplingMessage::Join(Join {
            parameters: greedy(1.0),
            start,
            present: start,
            window: Some(window),
        });
        assert_eq!(flows.send_message(0, message), Err(Refusal::Amount(FlowId(0))));
    }
    let tcp = join_windowed(&mut flows, Some(RTT));
    let none = CouplingMessage::Window(update_of(WindowEvent::Acknowledged, FIRST, window(f64::NAN, 1.0)));
    assert_eq!(flows.send_message(tcp, none), Err(Refusal::Amount(FlowId(tcp))));
    flows.shared_among(&[(tcp, 1000.0)], 1000.0);
}

/// Five minutes of acknowledgements, recoveries and timeouts of a congestion controller alone. No action is ever sent.
fn lives_alone(config: Config, mut algorithm: impl WindowAlgorithm) {
    let mut flows = Flows::new(config);
    let tcp = join_windowed(&mut flows, None);
    let mut now = FIRST;
    for step in 0..3000_i64 {
        flows.at_ms(100 * step);
        let before = now;
        let event = match step % 250 {
            200 => {
                algorithm.on_congestion(&mut now, flows.now, Congestion::Loss, before.cwnd);
                now.cwnd = now.ssthresh + 3.0;
                WindowEvent::RecoveryEntered
            }
            201 | 202 => WindowEvent::Repairing,
            203 => {
                now.cwnd = now.ssthresh * 0.9;
                WindowEvent::RecoveryLeft
            }
            240 if step > 1000 => {
                report_window(&mut flows, tcp, WindowEvent::TimedOut, now, now);
                assert_eq!(flows.actions, [(tcp, CouplerAction::Reduce)]);
                algorithm.on_congestion(&mut now, flows.now, Congestion::Timeout, before.cwnd);
                now.cwnd = 1.0;
                WindowEvent::Reduced
            }
            _ => {
                let min_rtt = TimeDelta::from_micros(100_000 - step);
                let ack = Ack { now: flows.now, acked: 1.7, srtt: RTT, min_rtt, window_limited: true };
                algorithm.on_ack(&mut now, &ack);
                WindowEvent::Acknowledged
            }
        };
        let min_rtt = TimeDelta::from_micros(100_000 - step);
        let cwnd_update = CwndUpdate { base_rtt: Some(min_rtt), ..update_of(event, before, now) };
        flows.actions.clear();
        flows.send_message(tcp, CouplingMessage::Window(cwnd_update)).unwrap();
        assert!(flows.actions.is_empty(), "{config:?} at {step}: {:?}", flows.actions);
    }
}

#[test]
fn a_window_that_is_alone_is_as_if_it_were_not_coupled() {
    for config in all_forms() {
        lives_alone(config, NewReno::new());
        lives_alone(config, Cubic::new());
    }
}

#[test]
fn a_silent_window_comes_back_with_an_acknowledgement_and_not_with_a_timeout() {
    for (event, comes_back) in [
        (WindowEvent::TimedOut, false),
        (WindowEvent::Reduced, false),
        (WindowEvent::Idle, false),
        (WindowEvent::Acknowledged, true),
        (WindowEvent::Marked, true),
    ] {
        let mut flows = Flows::at(Config::rfc8699_active(), &[(1.0, 1000.0)]);
        let tcp = join_windowed(&mut flows, Some(RTT));
        flows.at_ms(4900).grows(0, 1000.0);
        flows.at_ms(5000).fse.on_timeout(SendTime::from_millis(5000));
        assert_eq!(flows.fse.aggregate(FlowId(tcp)), None, "it is silent");
        report_window(&mut flows, tcp, event, FIRST, FIRST);
        assert_eq!(flows.fse.aggregate(FlowId(tcp)).is_some(), comes_back, "{event:?}");
    }
}
