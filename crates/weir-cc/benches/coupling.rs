//! Cost of one flow's update in the Flow State Exchange, its allocations to all flows included: nanoseconds and
//! heap allocations.
//!
//! Printed is the minimum over 15 rounds: a round can only be slowed by others, never hurried. The limits are for
//! 10 and for 1000 flows.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod counting;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use weir_cc::coupled::fse::{Config, Fse, InitialGrouping};
use weir_cc::coupled::{Coupler, CouplerAction, CouplingMessage, FlowId, FlowParameters, Join, Update};
use weir_cc::{ChangeReason, DataRate, Decision, SendTime, TimeDelta};

const ROUNDS: usize = 15;
const UPDATES: u32 = 20_000;

/// Flows that apply their allocations at once, and report updates in turn.
struct Flows {
    fse: Fse,
    taken: Vec<(DataRate, u32)>,
    updates: u32,
}

impl Flows {
    /// Every third flow is application-limited at its present rate; weights are 1 to 4.
    fn new(config: Config, flows: u32) -> Self {
        let mut fse = Fse::new(config, InitialGrouping::Together).expect("valid");
        let rate = DataRate::from_mbps(1);
        for flow in 0..flows {
            let desired = (flow % 3 == 0).then_some(rate);
            let parameters =
                FlowParameters { priority: f64::from(1 + flow % 4), desired, least: DataRate::from_kbps(50) };
            let join = Join { parameters, start: rate, present: rate, window: None };
            fse.on_message(SendTime::ZERO, FlowId(flow), &CouplingMessage::Join(join)).expect("it joins");
        }
        Self { fse, taken: vec![(rate, 0); flows as usize], updates: 0 }
    }

    /// Passes a decision of the next flow to the exchange: a rise by 20 kbit/s, each sixteenth time a fall to 70 %.
    fn update(&mut self) {
        let flow = self.updates % self.taken.len() as u32;
        let now = SendTime::from_millis(i64::from(self.updates));
        let (base, epoch) = self.taken[flow as usize];
        let falls = self.updates.is_multiple_of(16);
        let rate = if falls { base.scale(0.7) } else { base + DataRate::from_kbps(20) };
        let why = if falls { ChangeReason::Loss } else { ChangeReason::Growth };
        let decision = Decision { rate, base, why, rtt: Some(TimeDelta::from_millis(50)) };
        self.taken[flow as usize].0 = rate;
        let update = CouplingMessage::Update(Update { decision, window: None, epoch, has_feedback: true });
        self.fse.on_message(now, FlowId(flow), &update).expect("it has joined");
        while let Some((FlowId(flow), order)) = self.fse.poll_action() {
            if let CouplerAction::Rate { rate, epoch } = order {
                self.taken[flow as usize] = (rate, epoch);
            }
        }
        self.updates = self.updates.wrapping_add(1);
    }
}

/// Minimum of nanoseconds per update, and the heap allocations of one update of each flow.
fn cost(config: Config, flows: u32) -> (f64, usize) {
    let mut all = Flows::new(config, flows);
    (0..2 * flows).for_each(|_| all.update());
    let before = counting::allocations();
    let rounds = (0..ROUNDS).map(|_| {
        let began = Instant::now();
        (0..UPDATES).for_each(|_| black_box(&mut all).update());
        began.elapsed().as_nanos() as f64 / f64::from(UPDATES)
    });
    let least = rounds.fold(f64::INFINITY, f64::min);
    (least, counting::allocations() - before)
}

fn main() -> ExitCode {
    let algorithms = [
        ("coupled-rtp-2014, algorithm 1", Config::rtp_2014_active()),
        ("coupled-rtp-2014, algorithm 2", Config::rtp_2014_conservative()),
        ("RFC 8699, algorithm 1", Config::rfc8699_active()),
        ("RFC 8699, algorithm 2", Config::rfc8699_conservative()),
        ("RFC 8699, appendix C", Config::rfc8699_passive_in_a_testbed()),
        ("passive, simple", Config::passive_simple_in_a_testbed()),
    ];
    let mut exit = ExitCode::SUCCESS;
    println!("{:<32}{:>8}{:>14}{:>14}", "an update of one of", "flows", "minimum ns", "allocations");
    for (name, config) in algorithms {
        for (flows, most) in [(2, None), (10, Some(500.0)), (100, None), (1000, Some(20_000.0))] {
            let (nanos, allocations) = cost(config, flows);
            let held = allocations == 0 && most.is_none_or(|most| nanos <= most);
            if !held {
                exit = ExitCode::FAILURE;
            }
            let over = if held { "" } else { "  over its bar" };
            println!("{name:<32}{flows:>8}{nanos:>14.1}{allocations:>14}{over}");
        }
    }
    exit
}
