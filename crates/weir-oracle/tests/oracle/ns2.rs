//! RAP and TFRC of ns-2.35: its losses (`data/ns2`) beside those of the presets `ns2` on the same paths.
//!
//! ```sh
//! WEIR_LONG=1 cargo test -p weir-oracle --test oracle ns2 -- --nocapture --test-threads=1
//! ```

use weir_import::traces::TraceStore;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_study::runs::Task;

use crate::long;
use crate::recorded::records::{rows, table};

/// Tolerance as a share of ns-2's mean loss.
const WITHIN: f64 = 0.15;
/// Runs of each case here. Other start times change losses by up to 4 %.
const SEEDS: u64 = 1;
/// Least number of flows of a case with a verdict.
const JUDGED_FROM: u32 = 5;

/// The compared results, of all packets from 20 to 120 s: loss ratio, use of the link and mean queue in packets.
#[derive(Clone, Copy, Debug)]
struct DropTailOutcome {
    loss: f64,
    utilisation: f64,
    queue: f64,
}

impl DropTailOutcome {
    /// The mean of `runs`.
    fn mean(runs: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        Self {
            loss: mean(|run| run.loss),
            utilisation: mean(|run| run.utilisation),
            queue: mean(|run| run.queue),
        }
    }
}

/// A path, and its senders.
#[derive(Clone, Copy, Debug)]
struct Case {
    controller: &'static str,
    /// Delay in each direction in ms, and ns-2's `queue-limit` in packets. The one in service is among them, as a
    /// packet that would be the last to fit is dropped.
    delay: u32,
    queue: u32,
    /// `Agent/TFRC set tcp_tick_`, in s as the table writes it.
    tick: &'static str,
    flows: u32,
}

impl Case {
    /// The mean of ns-2's results.
    fn of_ns2(&self) -> DropTailOutcome {
        let table = table("ns2", "rap-tfrc.csv");
        let Self { controller, delay, queue, tick, flows } = self;
        let own = [*controller, &delay.to_string(), &queue.to_string(), &flows.to_string(), tick, "120"];
        let number = |cell: &str| cell.parse::<f64>().expect("a number");
        let runs: Vec<DropTailOutcome> = rows(&table)
            .filter(|cells| [cells[0], cells[1], cells[3], cells[4], cells[6], cells[8]] == own)
            .map(|cells| DropTailOutcome {
                loss: number(cells[14]),
                utilisation: number(cells[15]),
                queue: number(cells[13]),
            })
            .collect();
        assert_eq!(runs.len(), 3, "{self:?}");
        DropTailOutcome::mean(&runs)
    }

    /// The mean of Weir's results.
    fn of_weir(&self) -> DropTailOutcome {
        let scenario = self.scenario();
        let run = |seed| {
            let ran = Task::new(format!("ns2 {seed}"), &scenario, RunOptions::new(seed))
                .run(&TraceStore::at(None))
                .unwrap_or_else(|error| panic!("{error}"));
            let links = &ran.measured.metrics.links;
            let link = links.iter().find(|link| link.name == "bottleneck").expect("it is measured");
            DropTailOutcome {
                loss: link.loss_ratio.expect("packets came"),
                utilisation: link.utilisation.bits.expect("it has a capacity"),
                queue: link.queue_packets.mean.expect("packets waited"),
            }
        };
        DropTailOutcome::mean(&(1..=SEEDS).map(run).collect::<Vec<_>>())
    }

    /// Packets of 1000 bytes with RAP, of 1032 with TFRC, as on ns-2's link; 52 of them are headers here.
    fn scenario(&self) -> Scenario {
        let Self { controller, delay, queue, tick, flows } = self;
        let payload = if *controller == "rap" { 948 } else { 980 };
        let options = match *tick {
            "" | "0.1" => String::new(),
            tick => format!(", retransmission_timeout = {{ measured-in-ticks = \"{tick}s\" }}"),
        };
        let text = format!(
            "title = \"{controller} of ns-2\"\n\
             duration = \"120s\"\n\
             measure = {{ from = \"20s\" }}\n\
             [dumbbell.bottleneck]\n\
             rate = \"10Mbps\"\n\
             delay = \"{delay}ms\"\n\
             queue = {{ packets = {queue} }}\n\
             [dumbbell.access]\n\
             rate = \"1Gbps\"\n\
             queue = {{}}\n\
             [dumbbell.reverse]\n\
             rate = \"10Mbps\"\n\
             delay = \"{delay}ms\"\n\
             queue = {{}}\n\
             [flows.flow]\n\
             kind = \"media\"\n\
             count = {flows}\n\
             start_spread = \"1s\"\n\
             controller = \"{controller}\"\n\
             options = {{ preset = \"ns2\"{options} }}\n\
             encoder = {{ preset = \"greedy\", packet_size = \"{payload}B\", max_rate = \"1Gbps\" }}\n\
             payload_limit = \"{payload}B\"\n\
             rates = {{ min = \"8kbps\", start = \"64kbps\", max = \"1Gbps\" }}\n"
        );
        Scenario::parse("ns2", &text, &[]).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Prints and checks loss, utilisation and queue against ns-2.
fn compare(controller: &'static str, delay: u32, queue: u32, tick: &'static str) {
    println!(
        "| {controller} {tick}, {} ms, {queue} packets | loss | | use of the link | | queue | |",
        2 * delay
    );
    println!("|---|---|---|---|---|---|---|");
    let mut wrong = Vec::new();
    for flows in if long() { &[1, 5, 10, 15][..] } else { &[5, 15] }.iter().copied() {
        let case = Case { controller, delay, queue, tick, flows };
        let (theirs, ours) = (case.of_ns2(), case.of_weir());
        println!(
            "| {flows} | {:.3} % | {:.3} % | {:.3} | {:.3} | {:.1} | {:.1} |",
            100.0 * theirs.loss,
            100.0 * ours.loss,
            theirs.utilisation,
            ours.utilisation,
            theirs.queue,
            ours.queue
        );
        if flows >= JUDGED_FROM && (ours.loss / theirs.loss - 1.0).abs() > WITHIN {
            wrong.push((flows, ours.loss, theirs.loss));
        }
    }
    assert!(wrong.is_empty(), "{controller}, {delay} ms: {wrong:?}");
}

#[test]
fn rap_on_a_path_of_10_ms() {
    compare("rap", 5, 13, "");
}

#[test]
fn rap_on_a_path_of_100_ms() {
    compare("rap", 50, 62, "");
}

#[test]
fn tfrc_on_a_path_of_10_ms() {
    compare("tfrc", 5, 13, "0.1");
}

#[test]
fn tfrc_on_a_path_of_10_ms_with_fine_ticks() {
    compare("tfrc", 5, 13, "0.001");
}

#[test]
fn tfrc_on_a_path_of_100_ms() {
    compare("tfrc", 50, 62, "0.1");
}
