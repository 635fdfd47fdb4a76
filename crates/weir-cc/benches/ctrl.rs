//! What a word to a coupler of windows costs, in nanoseconds: an acknowledgement of each of so many flows in turn, and the
//! orders it brings; and the same while a newcomer's share is clocked out.
//!
//! Printed is the minimum over 15 rounds: a round can only be slowed by others, never hurried.

use std::hint::black_box;

use weir_cc::coupled::ctrl::{Config, CtrlTcp};
use weir_cc::coupled::{Coupler, Join, Member, Order, Told, WindowNews, Windowed, Wishes, Word};
use weir_cc::window::Window;
use weir_cc::{DataRate, DataSize, SendTime, TimeDelta};

const ROUNDS: u32 = 15;
const WORDS: u32 = 1_000_000;
const RTT: TimeDelta = TimeDelta::from_millis(100);
/// In segments, of each flow.
const WINDOW: f64 = 20.0;

fn join(cwnd: f64) -> Word {
    let wishes = Wishes { priority: 1.0, desired: None, least: DataRate::ZERO };
    let windowed = Windowed {
        window: Window { cwnd, ssthresh: 2.0 },
        segment: DataSize::from_bytes(1448),
        base_rtt: Some(RTT),
    };
    Word::Join(Join { wishes, start: DataRate::ZERO, present: DataRate::ZERO, window: Some(windowed) })
}

fn acknowledgement(before: Window) -> Word {
    let after = Window { cwnd: before.cwnd + 1.0 / before.cwnd, ..before };
    let (acked, flight) = (1.0, before.cwnd - 1.0);
    let (srtt, base_rtt) = (Some(RTT), Some(RTT));
    let told = Told::Acknowledged;
    Word::Window(WindowNews { told, before, after, acked, flight, window_limited: true, srtt, base_rtt })
}

/// Flows that have come to their shares, and the windows that they have.
struct Group {
    coupler: CtrlTcp,
    windows: Vec<Window>,
    words: u64,
}

impl Group {
    fn of(flows: u32) -> Self {
        let coupler = CtrlTcp::new(Config::default()).expect("the usual constants are valid");
        let windows = vec![Window { cwnd: WINDOW, ssthresh: 2.0 }; flows as usize];
        let mut group = Self { coupler, windows, words: 0 };
        for flow in 0..flows {
            let cwnd = if flow == 0 { WINDOW * f64::from(flows) } else { WINDOW };
            group.tell(flow, &join(cwnd));
        }
        group
    }

    fn tell(&mut self, flow: u32, word: &Word) {
        // A round trip is as long as all windows take at a word each 100 µs.
        self.words += 1;
        let now = SendTime::from_nanos((self.words * 100_000) as i64);
        let _ = self.coupler.on_word(now, Member(flow), word);
        while let Some((Member(flow), order)) = self.coupler.poll_order() {
            if let Order::Window(window) = order {
                self.windows[flow as usize] = window;
            }
        }
    }

    fn acknowledge(&mut self, flow: u32) {
        let word = acknowledgement(self.windows[flow as usize]);
        self.tell(flow, &word);
    }

    /// Every so often the aggregate is halved, so that it stays what it was.
    fn halve(&mut self) {
        let before = self.windows[0];
        let half = before.cwnd / 2.0;
        let (told, after) = (Told::RecoveryEntered, Window { cwnd: half, ssthresh: half });
        let news = WindowNews {
            told,
            before,
            after,
            acked: 0.0,
            flight: before.cwnd,
            window_limited: true,
            srtt: Some(RTT),
            base_rtt: Some(RTT),
        };
        self.tell(0, &Word::Window(news));
        self.tell(0, &Word::Window(WindowNews { told: Told::RecoveryLeft, before: after, ..news }));
    }
}

fn round(flows: u32, joins_every: Option<u32>) -> f64 {
    let mut group = Group::of(flows);
    for number in 0..WORDS {
        group.acknowledge(number % flows);
        if number % 20_000 == 0 {
            group.halve();
        }
        if joins_every.is_some_and(|every| number % every == 0) {
            group.tell(flows - 1, &Word::Leave);
            group.tell(flows - 1, &join(10.0));
        }
    }
    group.windows[0].cwnd
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures wall-clock time")]
fn nanos_per_word(flows: u32, joins_every: Option<u32>) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let begin = std::time::Instant::now();
        black_box(round(black_box(flows), joins_every));
        begin.elapsed().as_nanos() as f64 / f64::from(WORDS)
    });
    rounds.fold(f64::INFINITY, f64::min)
}

fn main() {
    // Cargo passes arguments of its own.
    for flows in [1, 2, 10, 100] {
        println!("{:<40}{:>8.1} ns a word", format!("{flows} flows"), nanos_per_word(flows, None));
    }
    for flows in [2, 10] {
        let name = format!("{flows} flows, one joins every 200 words");
        println!("{name:<40}{:>8.1} ns a word", nanos_per_word(flows, Some(200)));
    }
}
