//! Both halves of every controller, alone: arbitrary calls to a sender half, arbitrary arrivals at a receiver
//! half.
//!
//! The kit of `weir_cc::testing` holds the invariants. The calls here are of its kinds, but chosen by bytes: fast
//! enough for millions of them, and with structure for a fuzzer to learn.

mod arrivals;
mod calls;

use std::sync::LazyLock;

use weir_cc::testing::{CheckedSender, arrive};
use weir_cc::{ArrivalTime, RateLimits, Receiver, Report};
use weir_scenario::registry::{Halves, Registry};

use crate::input::Input;
use arrivals::FuzzedArrivals;

pub use calls::{Calls, limits};

/// The names of all controllers.
pub fn names() -> &'static [&'static str] {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::standard);
    static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| REGISTRY.controller_names().collect());
    &NAMES
}

/// Both halves of the controller `name`.
///
/// # Panics
/// If there is no such controller.
pub fn halves(name: &str, limits: RateLimits) -> Halves {
    Registry::standard().build(name, None, limits, 1.0).expect("a controller as it ships")
}

/// A sender half of some controller, and calls.
pub(crate) fn senders(data: &[u8]) {
    let mut input = Input::new(data);
    let name = input.one_of(names());
    let limits = limits(&mut input);
    let mut checked_sender = CheckedSender::new(halves(name, limits).controller, limits);
    let mut calls = Calls::default();
    while !input.is_empty() {
        checked_sender.call(&calls.next(&mut input));
    }
}

/// A receiver half of some controller, and arrivals.
pub(crate) fn receivers(data: &[u8]) {
    let mut input = Input::new(data);
    let name = input.one_of(names());
    let limits = limits(&mut input);
    let mut receiving = Receiving::new(halves(name, limits).receiver, limits);
    while !input.is_empty() {
        receiving.call(&mut input);
    }
    receiving.wait();
}

/// A receiver half at which arbitrary packets arrive.
#[derive(Debug)]
pub struct Receiving {
    receiver: Box<dyn Receiver>,
    limits: RateLimits,
    arrivals: FuzzedArrivals,
    reports: u64,
}

impl Receiving {
    /// A half whose reports of a rate must be within `limits`.
    pub fn new(receiver: Box<dyn Receiver>, limits: RateLimits) -> Self {
        Self { receiver, limits, arrivals: FuzzedArrivals::default(), reports: 0 }
    }

    /// A packet arrives, and reports due until then are made; now and then the route changes before.
    ///
    /// # Panics
    /// If an invariant of every controller fails.
    pub fn call(&mut self, input: &mut Input<'_>) {
        if input.seldom(64) {
            self.receiver.on_route_changed();
        }
        let Self { receiver, limits, arrivals, reports } = self;
        arrive(&mut **receiver, &arrivals.next(input), |report| {
            *reports += 1;
            within(*limits, report);
        });
    }

    /// The number of reports.
    pub const fn reports(&self) -> u64 {
        self.reports
    }

    /// No packet arrives any more.
    ///
    /// # Panics
    /// If a time to report is not later than the one before.
    pub fn wait(mut self) {
        let mut now = self.arrivals.at();
        for _ in 0..100 {
            let Some(due) = self.receiver.next_timeout().filter(|&due| due < ArrivalTime::MAX) else { break };
            now = now.max(due);
            while let Some(report) = self.receiver.poll_report(now) {
                within(self.limits, &report);
            }
            assert!(self.receiver.next_timeout().is_none_or(|next| next > now));
        }
    }
}

fn within(limits: RateLimits, report: &Report<'_>) {
    if let Report::Ceiling(rate) = report {
        assert_eq!(*rate, limits.clamp(*rate));
    }
}
