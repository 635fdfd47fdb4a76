//! The paths of the recorded closed loops in Weir's simulator. Losses and jitter are drawn anew: the paths are compared
//! as a whole.

use std::fmt::Write;

use weir_lab::build::RunOptions;
use weir_lab::runs::Task;
use weir_lab::scenario::Scenario;
use weir_lab::traces::TraceStore;

use super::records::{rows, table};

/// Runs of each path.
const SEEDS: u64 = 5;
/// What is measured begins, and the run ends, s.
const FROM: f64 = 6.0;
const END: f64 = 60.0;

/// The path of a recorded closed loop.
struct Path {
    name: String,
    /// Round-trip time, longest wait in the queue and standard deviation of the jitter, ms.
    rtt: f64,
    queue: f64,
    jitter: f64,
    loss: f64,
    /// Capacity in bit/s from each of these times on, s.
    capacity: Vec<(f64, f64)>,
    /// What the C++ used of it.
    utilisation: f64,
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

fn paths() -> Vec<Path> {
    let (summary, links) = (table("summary.csv"), table("links.csv"));
    let steps = |name: &str| {
        let own = rows(&links).filter(|cells| cells[0] == name);
        own.map(|cells| (number(cells[1]), number(cells[2]))).collect()
    };
    let closed = rows(&summary).filter(|cells| cells[1] == "closed");
    closed
        .map(|cells| Path {
            name: cells[0].to_owned(),
            rtt: number(cells[3]),
            queue: number(cells[4]),
            loss: number(cells[5]),
            jitter: number(cells[6]),
            utilisation: number(cells[8]),
            capacity: steps(cells[0]),
        })
        .collect()
}

impl Path {
    /// The mean capacity of what is measured, bit/s.
    fn mean_capacity(&self) -> f64 {
        let ends = self.capacity.iter().skip(1).map(|step| step.0).chain([END]);
        let bits =
            self.capacity.iter().zip(ends).map(|(&(from, rate), to)| rate * (to - from.max(FROM)).max(0.0));
        bits.sum::<f64>() / (END - FROM)
    }

    fn scenario(&self, controller: &str, options: &str) -> Scenario {
        let mut steps = String::new();
        for (at, rate) in &self.capacity {
            write!(steps, "{{ at = \"{at}s\", rate = \"{rate}bps\" }}, ").expect("a string takes it");
        }
        let Self { name, rtt, queue, jitter, loss, .. } = self;
        let delay = rtt / 2.0;
        let jitter = match *jitter {
            0.0 => "{ kind = \"none\" }".to_owned(),
            sd => format!("{{ kind = \"half-normal\", sd = \"{sd}ms\", max = \"{}ms\" }}", 10.0 * sd),
        };
        let text = format!(
            "title = \"{name}\"\n\
             duration = \"{END}s\"\n\
             measure = {{ from = \"{FROM}s\" }}\n\
             [links.forward]\n\
             from = \"here\"\n\
             to = \"there\"\n\
             delay = \"{delay}ms\"\n\
             steps = [{steps}]\n\
             queue = {{ time = \"{queue}ms\" }}\n\
             jitter = {jitter}\n\
             order = \"none\"\n\
             loss = {loss}\n\
             [links.back]\n\
             from = \"there\"\n\
             to = \"here\"\n\
             delay = \"{delay}ms\"\n\
             rate = \"1Gbps\"\n\
             [flows.video]\n\
             kind = \"media\"\n\
             from = \"here\"\n\
             to = \"there\"\n\
             controller = \"{controller}\"\n\
             options = {options}\n\
             encoder = {{ preset = \"papers\", min_rate = \"150kbps\", max_rate = \"5Mbps\" }}\n\
             payload_limit = \"1060B\"\n\
             rates = {{ min = \"150kbps\", start = \"300kbps\", max = \"5Mbps\" }}\n"
        );
        Scenario::parse(name, &text, &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Bits that arrived over those that could, in the mean of all seeds.
    fn utilisation_of(&self, controller: &str, options: &str) -> f64 {
        let scenario = self.scenario(controller, options);
        let received = |seed| {
            let ran = Task::new(format!("{} {seed}", self.name), &scenario, RunOptions::new(seed))
                .run(&TraceStore::at(None))
                .unwrap_or_else(|error| panic!("{error}"));
            ran.measured.metrics.flows[0].rate_bps.expect("packets arrived")
        };
        (1..=SEEDS).map(received).sum::<f64>() / SEEDS as f64 / self.mean_capacity()
    }
}

#[test]
fn the_preset_uses_what_the_authors_code_uses_of_eight_paths() {
    let preset = "{ preset = \"ns3-rmcat\", pacing = { factor = 1.5 } }";
    let default = "{ pacing = { factor = 1.5 } }";
    println!("| path | C++ | `nada`, `ns3-rmcat` | `nada-at-sender`, `ns3-rmcat` | `nada` |");
    println!("|---|---|---|---|---|");
    let mut means = [0.0; 4];
    let paths = paths();
    for path in &paths {
        let used = [
            path.utilisation,
            path.utilisation_of("nada", preset),
            path.utilisation_of("nada-at-sender", preset),
            path.utilisation_of("nada", default),
        ];
        println!("| {} | {:.3} | {:.3} | {:.3} | {:.3} |", path.name, used[0], used[1], used[2], used[3]);
        means.iter_mut().zip(used).for_each(|(mean, used)| *mean += used / paths.len() as f64);
    }
    let [theirs, ours, at_sender, default] = means;
    println!("| mean | {theirs:.3} | {ours:.3} | {at_sender:.3} | {default:.3} |");
    assert!((theirs - 0.806).abs() < 0.001, "{theirs}");
    assert!((ours - theirs).abs() < 0.05, "{ours} and {theirs}");
    assert!((at_sender - theirs).abs() < 0.05, "{at_sender} and {theirs}");
}
