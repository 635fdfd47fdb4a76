//! Cost of a message to a coupler of congestion windows, in nanoseconds: an acknowledgement of each flow in turn,
//! with the allocations that follow. The same is measured while a newcomer's share is clocked out. The cost of
//! making the messages is included, and printed first.
//!
//! Printed is the minimum over 15 rounds: a round can only be slowed by others, never hurried.

use std::hint::black_box;

use weir_cc::coupled::ctrl::{Config, CtrlTcp};
use weir_cc::coupled::{
    Coupler, CouplerAction, CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, WindowEvent, Windowed,
};
use weir_cc::window::Window;
use weir_cc::{DataRate, DataSize, SendTime, TimeDelta};

const ROUNDS: u32 = 15;
const MESSAGES: u32 = 1_000_000;
const RTT: TimeDelta = TimeDelta::from_millis(100);
/// In segments, of each flow.
const WINDOW: f64 = 20.0;

/// The join of a flow with a congestion window of `cwnd` segments.
fn join(cwnd: f64) -> CouplingMessage {
    let parameters = FlowParameters { priority: 1.0, desired: None, least: DataRate::ZERO };
    let windowed = Windowed {
        window: Window { cwnd, ssthresh: 2.0 },
        segment: DataSize::from_bytes(1448),
        base_rtt: Some(RTT),
    };
    CouplingMessage::Join(Join {
        parameters,
        start: DataRate::ZERO,
        present: DataRate::ZERO,
        window: Some(windowed),
    })
}

/// The message that one segment was acknowledged, in congestion avoidance.
fn acknowledgement(before: Window) -> CouplingMessage {
    let after = Window { cwnd: before.cwnd + 1.0 / before.cwnd, ..before };
    let (acked, flight) = (1.0, before.cwnd - 1.0);
    let (srtt, base_rtt) = (Some(RTT), Some(RTT));
    let event = WindowEvent::Acknowledged;
    CouplingMessage::Window(CwndUpdate {
        event,
        before,
        after,
        acked,
        flight,
        window_limited: true,
        srtt,
        base_rtt,
    })
}

/// Flows that have reached their shares, and their congestion windows.
struct Group {
    coupler: CtrlTcp,
    windows: Vec<Window>,
    messages: u64,
}

impl Group {
    /// A group of `flows` flows that share one aggregate window.
    fn of(flows: u32) -> Self {
        let coupler = CtrlTcp::new(Config::default()).expect("the usual constants are valid");
        let windows = vec![Window { cwnd: WINDOW, ssthresh: 2.0 }; flows as usize];
        let mut group = Self { coupler, windows, messages: 0 };
        for flow in 0..flows {
            let cwnd = if flow == 0 { WINDOW * f64::from(flows) } else { WINDOW };
            group.send_message(flow, &join(cwnd));
        }
        group
    }

    /// Passes a message of `flow` to the coupler, and applies the windows that it orders.
    fn send_message(&mut self, flow: u32, message: &CouplingMessage) {
        // A round trip is as long as all windows take at one message each 100 µs.
        self.messages += 1;
        let now = SendTime::from_nanos((self.messages * 100_000) as i64);
        let _ = self.coupler.on_message(now, FlowId(flow), message);
        while let Some((FlowId(flow), order)) = self.coupler.poll_action() {
            if let CouplerAction::Window(window) = order {
                self.windows[flow as usize] = window;
            }
        }
    }

    fn acknowledge(&mut self, flow: u32) {
        let message = acknowledgement(self.windows[flow as usize]);
        self.send_message(flow, &message);
    }

    /// Halves the aggregate at intervals, so that it stays constant on average.
    fn halve(&mut self) {
        let before = self.windows[0];
        let half = before.cwnd / 2.0;
        let (event, after) = (WindowEvent::RecoveryEntered, Window { cwnd: half, ssthresh: half });
        let news = CwndUpdate {
            event,
            before,
            after,
            acked: 0.0,
            flight: before.cwnd,
            window_limited: true,
            srtt: Some(RTT),
            base_rtt: Some(RTT),
        };
        self.send_message(0, &CouplingMessage::Window(news));
        self.send_message(
            0,
            &CouplingMessage::Window(CwndUpdate { event: WindowEvent::RecoveryLeft, before: after, ..news }),
        );
    }
}

/// Nanoseconds per message of a group; the last flow leaves and joins every `joins_every` messages.
fn round(flows: u32, joins_every: Option<u32>) -> f64 {
    let mut group = Group::of(flows);
    for number in 0..MESSAGES {
        group.acknowledge(number % flows);
        if number % 20_000 == 0 {
            group.halve();
        }
        if joins_every.is_some_and(|every| number % every == 0) {
            group.send_message(flows - 1, &CouplingMessage::Leave);
            group.send_message(flows - 1, &join(10.0));
        }
    }
    group.windows[0].cwnd
}

/// Cost of making the messages, without a coupler.
fn messages_alone(flows: u32) -> f64 {
    let mut window = Window { cwnd: WINDOW, ssthresh: 2.0 };
    for _ in 0..MESSAGES {
        if let CouplingMessage::Window(news) = black_box(&acknowledgement(window)) {
            window.cwnd = news.after.cwnd - 1.0 / f64::from(flows);
        }
    }
    window.cwnd
}

/// Nanoseconds per message of the fastest round.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures wall-clock time")]
fn nanos_per_message(round: impl Fn() -> f64) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let begin = std::time::Instant::now();
        black_box(round());
        begin.elapsed().as_nanos() as f64 / f64::from(MESSAGES)
    });
    rounds.fold(f64::INFINITY, f64::min)
}

fn main() {
    // Cargo passes arguments of its own.
    println!(
        "{:<40}{:>8.1} ns a message",
        "messages without a coupler",
        nanos_per_message(|| messages_alone(black_box(20)))
    );
    for flows in [1, 2, 10, 100] {
        println!(
            "{:<40}{:>8.1} ns a message",
            format!("{flows} flows"),
            nanos_per_message(|| round(black_box(flows), None))
        );
    }
    for flows in [2, 10] {
        let name = format!("{flows} flows, one joins every 200 messages");
        println!("{name:<40}{:>8.1} ns a message", nanos_per_message(|| round(black_box(flows), Some(200))));
    }
}
