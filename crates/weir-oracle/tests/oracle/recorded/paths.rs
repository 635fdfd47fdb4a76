//! The paths of recorded closed loops in Weir's simulator. Losses and jitter are drawn anew: only means can be compared.

use std::fmt::Write;

use weir_import::traces::TraceStore;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_study::runs::Task;

use super::records::{rows, table};

/// Start of the measurements, and end of the run, s.
const FROM: f64 = 6.0;
const END: f64 = 60.0;

/// The path of a recorded closed loop.
pub(crate) struct Path {
    pub(crate) name: String,
    /// Round-trip time, longest wait in the queue and standard deviation of the jitter, ms.
    rtt: f64,
    queue: f64,
    jitter: f64,
    loss: f64,
    /// Capacity in bit/s from each of these times on, s.
    capacity: Vec<(f64, f64)>,
    /// Packets whose wait and own transmission exceed this get CE, ms.
    mark: Option<f64>,
    /// Utilisation by the other implementation.
    pub(crate) utilisation: f64,
}

/// A sender and what it sends, as a recording has them.
pub(crate) struct Caller<'a> {
    pub(crate) controller: &'a str,
    /// Options of the controller, in TOML.
    pub(crate) options: &'a str,
    /// The least rate, kbit/s.
    pub(crate) min_kbps: u64,
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// The paths of the closed loops of a folder, in the order of its summary.
pub(crate) fn paths(folder: &str) -> Vec<Path> {
    let (summary, links) = (table(folder, "summary.csv"), table(folder, "links.csv"));
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
            mark: (!cells[7].is_empty()).then(|| number(cells[7])),
            utilisation: number(cells[8]),
            capacity: steps(cells[0]),
        })
        .collect()
}

impl Path {
    /// The mean capacity of the measured time, bit/s.
    fn mean_capacity(&self) -> f64 {
        let ends = self.capacity.iter().skip(1).map(|step| step.0).chain([END]);
        let bits =
            self.capacity.iter().zip(ends).map(|(&(from, rate), to)| rate * (to - from.max(FROM)).max(0.0));
        bits.sum::<f64>() / (END - FROM)
    }

    /// The scenario of this path with one call of `caller`.
    fn scenario(&self, caller: &Caller<'_>) -> Scenario {
        let Caller { controller, options, min_kbps } = caller;
        let mut steps = String::new();
        for (at, rate) in &self.capacity {
            write!(steps, "{{ at = \"{at}s\", rate = \"{rate}bps\" }}, ").expect("a string takes it");
        }
        let Self { name, rtt, queue, jitter, loss, .. } = self;
        let (queue, ecn) = match self.mark {
            Some(mark) => (format!("{{ time = \"{queue}ms\", mark_above = \"{mark}ms\" }}"), "ect1"),
            None => (format!("{{ time = \"{queue}ms\" }}"), "not-ect"),
        };
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
             queue = {queue}\n\
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
             ecn = \"{ecn}\"\n\
             encoder = {{ preset = \"papers\", min_rate = \"{min_kbps}kbps\", max_rate = \"5Mbps\" }}\n\
             payload_limit = \"1060B\"\n\
             rates = {{ min = \"{min_kbps}kbps\", start = \"300kbps\", max = \"5Mbps\" }}\n"
        );
        Scenario::parse(name, &text, &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Bits that arrived over those that could, in the mean of so many runs.
    pub(crate) fn utilisation_of(&self, caller: &Caller<'_>, seeds: u64) -> f64 {
        let scenario = self.scenario(caller);
        let received = |seed| {
            let ran = Task::new(format!("{} {seed}", self.name), &scenario, RunOptions::new(seed))
                .run(&TraceStore::at(None))
                .unwrap_or_else(|error| panic!("{error}"));
            ran.measured.metrics.flows[0].rate_bps.expect("packets arrived")
        };
        (1..=seeds).map(received).sum::<f64>() / seeds as f64 / self.mean_capacity()
    }
}
