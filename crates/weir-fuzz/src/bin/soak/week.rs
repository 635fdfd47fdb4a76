//! A week of a call in the simulator, over a cellular link: memory does not grow, targets are within the
//! limits, and the last day is as good as the second.

use weir_cc::testing::check_target;
use weir_cc::{RateLimits, Target};
use weir_fuzz::controllers::names;
use weir_import::traces::TraceStore;
use weir_net::Time;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_sim::Simulation;
use weir_units::{DataRate, TimeDelta};
use weir_world::{Monitor, PacketMeta};

use crate::PartOutcome;
use crate::memory::Memory;

const DAY_SECONDS: i64 = 86_400;
const DAYS: usize = 7;
/// Logs and buffers needed at the worst moment of a later day, in KiB.
const MOST_GROWTH_KIB: i64 = 512;
/// Largest share by which the last day may deliver less than the second.
const MAX_DECLINE: f64 = 0.05;

/// The trace repeats each two minutes: 2.5 Mbit/s on average, with fades and outages. The week is not in this
/// file: scenarios last a day at most, because their measurements grow with time, and this run has none.
const SCENARIO: &str = r#"
title = "A week of a call"
duration = "24h"

[links.forward]
from = "here"
to = "there"
delay = "25ms"
trace = "synthetic-lte"
queue = { bytes = "100kB" }

[links.back]
from = "there"
to = "here"
delay = "25ms"
rate = "10Mbps"
queue = { time = "300ms" }

[flows.video]
kind = "media"
from = "here"
to = "there"
controller = "gcc"
encoder = { preset = "papers", skip_above = "100ms" }
rates = { min = "50kbps", start = "300kbps", max = "1500kbps" }
"#;

/// Bytes of media that arrived on each day; checks every target.
struct Days {
    limits: RateLimits,
    bytes: [u64; DAYS],
}

impl Monitor for Days {
    fn delivered(&mut self, now: Time, _flow: usize, packet: &PacketMeta) {
        let day = (now.nanos() / (DAY_SECONDS as u64 * 1_000_000_000)) as usize;
        self.bytes[day.min(DAYS - 1)] += u64::from(packet.payload);
    }

    fn target(&mut self, _now: Time, _flow: usize, target: &Target) {
        check_target(&self.limits, target);
    }
}

pub(crate) fn run(controller: &str) -> PartOutcome {
    assert!(names().contains(&controller), "{controller} is no controller");
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(1500)).expect("they are in order");
    let scenario = Scenario::parse("week.toml", SCENARIO, &[]).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions { controller: Some(controller), ..RunOptions::new(1) };
    let mut run = scenario.build(&options, &TraceStore::at(None)).unwrap_or_else(|error| panic!("{error}"));
    run.spec.end = Time::ZERO + TimeDelta::from_secs(DAY_SECONDS * DAYS as i64);
    let days = Days { limits, bytes: [0; DAYS] };
    let mut simulation = Simulation::new(run.spec, days).unwrap_or_else(|error| panic!("{error}"));
    let mut memory = None;
    for hour in 1..=24 * DAYS as i64 {
        simulation.run_until(Time::ZERO + TimeDelta::from_secs(3600 * hour));
        if hour >= 17 {
            memory.get_or_insert_with(Memory::early).look();
        }
    }
    let bytes = simulation.monitor().bytes;
    let kbps = |day: usize| bytes[day] as f64 * 8e-3 / DAY_SECONDS as f64;
    let (second, last) = (kbps(1), kbps(DAYS - 1));
    // The minimum is 50 kbit/s of media and headers.
    assert!(second > 40.0, "{second:.0} kbit/s on the second day");
    assert!(
        last >= second * (1.0 - MAX_DECLINE),
        "{second:.0} kbit/s on the second day, {last:.0} on the last"
    );
    let done = format!("{} h, {second:.0} kbit/s on day 2, {last:.0} on day {DAYS}", 24 * DAYS);
    PartOutcome { done, memory: memory.unwrap_or_else(Memory::early), most_growth_kib: MOST_GROWTH_KIB }
}
