//! DCCC on random parking lots: packet runs rest at the equilibrium of the controller's equations.
//!
//! Queues lose no packets here. So the rates of all flows and the queues of all links solve `h/x = β·(e − T)/RTT` for each flow.
//! A link has a queue only if it is full. The delay price is no sum over links, so that this is not proportional fairness.

use std::fmt::Write as _;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_import::traces::TraceStore;
use weir_measure::metrics::Recorder;
use weir_measure::simulate;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_theory::analysis::solver;

use super::whole_path::long;

const SECONDS: u32 = 400;
const MEASURED: u32 = 150;
/// `h` in bit/s, at the upper end of table I, for two reasons. A lot is at rest after 400 s, and the serialisation time of
/// packets, by which the waits of flows differ, weighs less. `T` is in seconds.
const UTILITY_WEIGHT: f64 = 50e3;
const BETA: f64 = 0.1;
const T: f64 = 0.1;

struct Link {
    /// Capacity in bit/s.
    capacity: f64,
    /// Delay in seconds, the same in both directions.
    delay: f64,
}

/// A flow from the node before its first link to the one behind its last.
struct Flow {
    links: std::ops::Range<usize>,
    weight: f64,
}

struct Lot {
    links: Vec<Link>,
    flows: Vec<Flow>,
}

impl Lot {
    /// 2 to 4 links, 3 to 8 flows; a link without any flow is left out.
    fn random(seed: u64) -> Self {
        let mut dice = Pcg64Mcg::seed_from_u64(seed);
        let links: Vec<Link> = (0..dice.random_range(2..=4))
            .map(|_| Link {
                capacity: f64::from(dice.random_range(8000..=16_000_u32)) * 1e3,
                delay: f64::from(dice.random_range(50..=150_u32)) * 1e-4,
            })
            .collect();
        let flows = (0..dice.random_range(3..=8))
            .map(|_| {
                let first = dice.random_range(0..links.len());
                let last = dice.random_range(first..links.len());
                Flow { links: first..last + 1, weight: f64::from(dice.random_range(50..=200_u32)) / 100.0 }
            })
            .collect();
        Self { links, flows }
    }

    /// The scenario of this parking lot as TOML.
    fn scenario(&self) -> String {
        let mut text = format!(
            "title = \"A parking lot\"\nduration = \"{SECONDS}s\"\nclocks = \"synchronised\"\n\
             measure = {{ from = \"{}s\" }}\n",
            SECONDS - MEASURED
        );
        for (i, Link { capacity, delay }) in self.links.iter().enumerate() {
            let (next, micros) = (i + 1, (delay * 1e6).round());
            let queue = "queue = { time = \"2s\" }";
            let _ = write!(
                text,
                "[links.l{i}]\nfrom = \"n{i}\"\nto = \"n{next}\"\nrate = \"{capacity}bps\"\ndelay = \"{micros}us\"\n{queue}\n\
                 [links.b{i}]\nfrom = \"n{next}\"\nto = \"n{i}\"\nrate = \"1Gbps\"\ndelay = \"{micros}us\"\n{queue}\n"
            );
        }
        for (i, Flow { links, weight }) in self.flows.iter().enumerate() {
            let _ = write!(
                text,
                "[flows.f{i}]\nkind = \"media\"\nfrom = \"n{}\"\nto = \"n{}\"\nstart = \"{i}s\"\npriority = {weight}\n\
                 controller = \"dccc\"\noptions = {{ threshold = {{ fixed = \"100ms\" }}, utility_weight = \"50kbps\" }}\n\
                 encoder = {{ preset = \"perfect\", min_rate = \"20kbps\", max_rate = \"20Mbps\" }}\n\
                 rates = {{ min = \"20kbps\", start = \"200kbps\", max = \"20Mbps\" }}\n",
                links.start, links.end
            );
        }
        text
    }

    /// The rates at rest, where a share `payload` of each packet of `packet` bits is payload.
    fn equilibrium(&self, packet: f64, payload: f64) -> Vec<f64> {
        let link = |link: &Link| solver::Link {
            capacity: link.capacity * payload,
            constant_traffic: 0.0,
            buffer: f64::INFINITY,
        };
        let user = |flow: &Flow| {
            let links = &self.links[flow.links.clone()];
            let propagation: f64 = links.iter().map(|link| link.delay).sum();
            let serialisation: f64 = links.iter().map(|link| packet / link.capacity).sum();
            solver::RoutedFlow {
                route: flow.links.clone().collect(),
                forward: propagation + serialisation,
                // The return path has no serialisation time.
                back: propagation,
                threshold: T,
                utility_weight: UTILITY_WEIGHT * flow.weight,
                price_scale: BETA,
            }
        };
        let links: Vec<solver::Link> = self.links.iter().map(link).collect();
        let users: Vec<solver::RoutedFlow> = self.flows.iter().map(user).collect();
        solver::solve(&links, &users).expect("there is room").rates
    }
}

#[test]
fn flows_rest_within_two_per_cent_of_the_equilibrium() {
    for seed in 1..=if long() { 10 } else { 2 } {
        let lot = Lot::random(seed);
        let text = lot.scenario();
        let scenario =
            Scenario::parse("lot.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let options = RunOptions::new(seed);
        let run = scenario.build(&options, &TraceStore::at(None)).expect("it is complete");
        let recorder = simulate(run.spec, Recorder::new(run.plan)).expect("it is valid");
        let flows = recorder.finish().metrics.flows;
        let known = |value: Option<f64>| value.expect("each flow received packets");
        let packet = 8.0 * known(flows[0].received.bytes) / known(flows[0].received.packets);
        let payload = known(flows[0].payload_rate_bps) / known(flows[0].rate_bps);
        for (i, (flow, expected)) in flows.iter().zip(lot.equilibrium(packet, payload)).enumerate() {
            let rate = known(flow.payload_rate_bps);
            assert_eq!(flow.packet_loss_ratio, Some(0.0), "lot {seed}: flow {i}");
            assert!(
                (rate / expected - 1.0).abs() < 0.02,
                "lot {seed}: flow {i} has {rate:.0} bit/s, at rest {expected:.0}"
            );
        }
    }
}
