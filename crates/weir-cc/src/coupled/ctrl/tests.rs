//! Flows as TCP senders would be, coupled without delay.

mod clocked;
mod delay;
mod losses;
mod members;
mod properties;
mod timeouts;
mod vectors;

use alloc::collections::BTreeMap;

use weir_units::{DataRate, DataSize, TimeDelta};

use super::{Config, CtrlTcp, Newcomer};
use crate::coupled::{Coupler, Join, Member, Order, Told, WindowNews, Windowed, Wishes, Word};
use crate::time::SendTime;
use crate::window::Window;

const MSS: f64 = 1000.0;
const RTT: TimeDelta = TimeDelta::from_millis(100);

/// Flows and their coupler; windows and sums in segments.
struct Rig {
    coupler: CtrlTcp,
    now: SendTime,
    /// The window that each flow has.
    windows: BTreeMap<u32, Window>,
    /// All orders but those of windows, which are obeyed.
    orders: Vec<(u32, Order)>,
}

fn ramped() -> Config {
    Config { newcomer: Newcomer::Ramped, ..Config::default() }
}

fn wishes(priority: f64) -> Wishes {
    Wishes { priority, desired: None, least: DataRate::ZERO }
}

fn window(cwnd: f64, ssthresh: f64) -> Window {
    Window { cwnd, ssthresh }
}

/// A join with this window.
fn join(priority: f64, window: Window) -> Word {
    let segment = DataSize::from_bytes(1000);
    let windowed = Windowed { window, segment, base_rtt: Some(RTT) };
    let (start, present) = (DataRate::from_kbps(300), DataRate::from_kbps(300));
    Word::Join(Join { wishes: wishes(priority), start, present, window: Some(windowed) })
}

/// News of a flow whose window stays.
fn news(told: Told, stays: Window) -> WindowNews {
    news_of(told, stays, stays)
}

/// News of a flow whose window becomes `after` by its own law, all of it in use.
fn news_of(told: Told, before: Window, after: Window) -> WindowNews {
    let acked = f64::from(u8::from(matches!(told, Told::Acknowledged | Told::Repairing)));
    let flight = before.cwnd - acked;
    let (srtt, base_rtt) = (Some(RTT), Some(RTT));
    WindowNews { told, before, after, acked, flight, window_limited: true, srtt, base_rtt }
}

impl Rig {
    fn new(config: Config) -> Self {
        Self::of(CtrlTcp::new(config).unwrap())
    }

    fn of(coupler: CtrlTcp) -> Self {
        Self { coupler, now: SendTime::ZERO, windows: BTreeMap::new(), orders: Vec::new() }
    }

    /// Flows 0, 1, … of these priorities, in congestion avoidance, with this sum.
    fn sharing(config: Config, sum: f64, priorities: &[f64]) -> Self {
        Self::with_threshold(config, sum, 1.0, priorities)
    }

    fn with_threshold(config: Config, sum: f64, ssthresh: f64, priorities: &[f64]) -> Self {
        let mut rig = Self::new(config);
        for (flow, &priority) in (0..).zip(priorities) {
            let brought = if flow == 0 { window(sum, ssthresh) } else { window(10.0, f64::INFINITY) };
            rig.join(flow, priority, brought);
            rig.settle();
        }
        rig
    }

    /// All flows stand at their shares, and are heard of.
    fn settle(&mut self) {
        for _ in 0..100 {
            for flow in self.windows.keys().copied().collect::<Vec<_>>() {
                let stays = self.windows[&flow];
                let limited = WindowNews { window_limited: false, ..news(Told::Acknowledged, stays) };
                self.tell(flow, &Word::Window(limited));
            }
        }
        self.orders.clear();
    }

    fn wait(&mut self, ms: i64) {
        self.now += TimeDelta::from_millis(ms);
    }

    fn tell(&mut self, flow: u32, word: &Word) {
        let _ = self.coupler.on_word(self.now, Member(flow), word);
        self.obey();
    }

    fn obey(&mut self) {
        while let Some((Member(flow), order)) = self.coupler.poll_order() {
            match order {
                Order::Window(window) => drop(self.windows.insert(flow, window)),
                other => self.orders.push((flow, other)),
            }
        }
    }

    fn join(&mut self, flow: u32, priority: f64, brought: Window) {
        self.windows.insert(flow, brought);
        self.tell(flow, &join(priority, brought));
    }

    /// The flow's own law made this of its window; it does as ordered.
    fn told(&mut self, flow: u32, told: Told, cwnd: f64) {
        let before = self.windows[&flow];
        let ssthresh = if told == Told::RecoveryEntered { cwnd } else { before.ssthresh };
        self.told_window(flow, told, window(cwnd, ssthresh));
    }

    fn told_window(&mut self, flow: u32, told: Told, after: Window) {
        let before = self.windows[&flow];
        if !matches!(told, Told::TimedOut | Told::RecoveryEntered) {
            self.windows.insert(flow, after);
        }
        let news = news_of(told, before, after);
        self.tell(flow, &Word::Window(news));
    }

    /// An acknowledgement that leaves the window as it is.
    fn ack(&mut self, flow: u32) {
        let cwnd = self.windows[&flow].cwnd;
        self.told(flow, Told::Acknowledged, cwnd);
    }

    /// Fast recovery of a NewReno flow begins at its present window.
    fn enter_recovery(&mut self, flow: u32) {
        let half = self.windows[&flow].cwnd / 2.0;
        self.told(flow, Told::RecoveryEntered, half);
    }

    fn leave_recovery(&mut self, flow: u32, cwnd: f64) {
        self.told(flow, Told::RecoveryLeft, cwnd);
    }

    fn time_out(&mut self, flow: u32) {
        let cwnd = self.windows[&flow].cwnd;
        self.told(flow, Told::TimedOut, cwnd);
    }

    fn sum(&self) -> f64 {
        let flow = *self.windows.keys().next().unwrap();
        self.coupler.aggregate(Member(flow)).unwrap().sum / MSS
    }

    fn threshold(&self) -> Option<f64> {
        self.coupler.threshold().map(|bytes| bytes / MSS)
    }

    fn share(&self, flow: u32) -> f64 {
        self.coupler.share(Member(flow)).unwrap() / MSS
    }

    fn cwnd(&self, flow: u32) -> f64 {
        self.windows[&flow].cwnd
    }
}

fn close(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-9
}
