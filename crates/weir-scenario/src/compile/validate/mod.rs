//! Validation of scenarios: each problem is found at its place.

mod call;
mod cells;
mod changes;
mod clock;
mod coupling;
mod ecn;
mod late;
mod media;
mod transport;

use std::collections::BTreeSet;

use weir_net::{ConfigError, TokenBucket};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::copies::MOST_COPIES;
use super::topology::{Network, network};
use crate::registry::Registry;
use crate::scenario::{
    Bucket, Constant, Flow, FlowTraffic, LinkJitter, LinkModel, Pause, Scenario, Step, TraceOffset,
};
use weir_form::{KeyPath, Problem};

/// Largest packet on the wire.
const LARGEST_PACKET: DataSize = DataSize::from_bytes(65_535);
/// Longest run.
const LONGEST_RUN: TimeDelta = TimeDelta::from_secs(24 * 3600);
/// Shortest period of sending, and of silence, of a flow that alternates.
const SHORTEST_TURN: TimeDelta = TimeDelta::from_millis(10);
/// Highest rate; a higher one would be several packets in a nanosecond.
const HIGHEST_RATE: DataRate = DataRate::from_mbps(1_000_000);
/// Smallest and largest segment of TCP.
const SEGMENT_LIMITS: (DataSize, DataSize) = (DataSize::from_bytes(50), DataSize::from_bytes(60_000));

/// Keys of flows that determine their paths and copies.
const WAYS: [&str; 8] = ["from", "to", "route", "reverse_route", "call", "count", "first", "every"];

/// Warnings: parts of `scenario` that can be run, but are hardly intended.
pub(crate) fn warnings(scenario: &Scenario) -> Vec<Problem> {
    ecn::warnings(scenario).into_iter().chain(late::warnings(scenario)).collect()
}

/// All problems of `scenario` that its form does not exclude.
pub(crate) fn problems(scenario: &Scenario) -> Vec<Problem> {
    let mut all = Problems { found: Vec::new(), registry: &scenario.registry };
    all.scenario(scenario);
    for (name, cell) in scenario.cells.iter() {
        all.cell(cell, &KeyPath::of(&["cells", name]));
    }
    for (name, link) in scenario.links.iter() {
        let path = KeyPath::of(&["links", name]);
        all.model(&link.model, &path);
        if let Some(cell) = &link.model.cell {
            all.in_cell(scenario, cell, &link.model, &path);
        }
        if link.from == link.to {
            all.value(&path.with("to"), format!("the link `{name}` leads to where it begins, `{}`", link.to))
                .push_str("let `from` and `to` be different nodes");
        }
    }
    if let Some(dumbbell) = &scenario.dumbbell {
        let path = KeyPath::of(&["dumbbell"]);
        all.no_cells(dumbbell, &path);
        all.model(&dumbbell.bottleneck, &path.with("bottleneck"));
        all.model(&dumbbell.access, &path.with("access"));
        let others = [("exit", &dumbbell.exit), ("reverse", &dumbbell.reverse)];
        for (key, model) in others.into_iter().filter_map(|(key, model)| Some((key, model.as_ref()?))) {
            all.model(model, &path.with(key));
        }
    }
    for (name, flow) in scenario.flows.iter() {
        all.flow(flow, &KeyPath::of(&["flows", name]));
    }
    all.calls(scenario);
    all.couplings(scenario);
    if !all.found.iter().any(concerns_the_network) {
        all.ways(scenario);
    }
    all.found
}

/// Whether the network cannot be made, or is a different one, because of this problem.
fn concerns_the_network(problem: &Problem) -> bool {
    let keys: Vec<&str> = problem.path.0.iter().map(String::as_str).collect();
    match keys.as_slice() {
        ["flows", _, key, ..] => WAYS.contains(key),
        ["links", _, key, ..] => ["from", "to"].contains(key),
        ["links" | "flows" | "dumbbell" | "multipath" | "duration"] | [] => true,
        _ => false,
    }
}

struct Problems<'s> {
    found: Vec<Problem>,
    registry: &'s Registry,
}

impl Problems<'_> {
    /// Adds a problem of the value at `path`; the advice is to be written into the returned string.
    fn value(&mut self, path: &KeyPath, message: String) -> &mut String {
        self.note(Problem::value(path, message))
    }

    /// Adds a problem of the key at the end of `path`.
    fn key(&mut self, path: &KeyPath, message: String) -> &mut String {
        self.note(Problem::key(path, message))
    }

    fn note(&mut self, problem: Problem) -> &mut String {
        self.found.push(problem.help(""));
        let last = self.found.len() - 1;
        self.found[last].help.get_or_insert_default()
    }

    fn not_negative(&mut self, path: &KeyPath, time: Option<TimeDelta>) {
        if let Some(time) = time.filter(|t| t.is_negative()) {
            self.value(path, format!("`{path}` is {time}, less than no time")).push_str("write 0s or longer");
        }
    }

    fn positive(&mut self, path: &KeyPath, time: Option<TimeDelta>) {
        if let Some(time) = time.filter(|&t| t <= TimeDelta::ZERO) {
            self.value(path, format!("`{path}` is {time}")).push_str("write a time longer than 0s");
        }
    }

    fn some_rate(&mut self, path: &KeyPath, rate: DataRate) {
        if rate.is_zero() {
            self.value(path, format!("`{path}` is {rate}")).push_str("write a rate above 0bps");
        } else if rate > HIGHEST_RATE {
            self.value(path, format!("`{path}` is {rate}")).push_str("write a rate of at most 1000Gbps");
        }
    }

    fn size(&mut self, path: &KeyPath, size: DataSize, (low, high): (DataSize, DataSize)) {
        if size < low || size > high {
            let advice = format!("write a size from {low} to {high}");
            self.value(path, format!("`{path}` is {size}")).push_str(&advice);
        }
    }

    /// A window of a run that ends at `end`.
    fn window(&mut self, path: &KeyPath, (from, to): (TimeDelta, Option<TimeDelta>), end: TimeDelta) {
        self.not_negative(&path.with("from"), Some(from));
        if from >= end && !from.is_negative() {
            self.value(&path.with("from"), format!("the window begins at {from}, the run ends at {end}"))
                .push_str("let the window begin before the run ends");
        } else if let Some(to) = to.filter(|&to| to <= from) {
            self.value(&path.with("to"), format!("the window ends at {to}, before it begins at {from}"))
                .push_str("let `to` be later than `from`");
        }
    }

    fn scenario(&mut self, scenario: &Scenario) {
        let root = KeyPath::default();
        self.positive(&root.with("duration"), Some(scenario.duration));
        if scenario.duration > LONGEST_RUN {
            let message = format!("a run of {} would outlast patience and memory", scenario.duration);
            let advice = format!("write at most {LONGEST_RUN}");
            self.value(&root.with("duration"), message).push_str(&advice);
        }
        // Without a positive duration each window would be reported, too.
        if let Some(measure) = scenario.measure.as_ref().filter(|_| scenario.duration > TimeDelta::ZERO) {
            let path = root.with("measure");
            self.window(&path, (measure.from, measure.to), scenario.duration);
            for (name, window) in measure.windows.iter() {
                self.window(&path.with("windows").with(name), (window.from, window.to), scenario.duration);
            }
        }
        match (&scenario.dumbbell, scenario.links.is_empty()) {
            (Some(_), false) => self
                .key(&root.with("dumbbell"), "a scenario has either `dumbbell` or `links`".to_owned())
                .push_str("leave out one of them; a dumbbell makes its own links"),
            (None, true) => self
                .value(&root.with("links"), "the scenario has no network".to_owned())
                .push_str("add a `[links.NAME]` for each link, or a `[dumbbell]`"),
            _ => {}
        }
        if scenario.dumbbell.is_some() && scenario.multipath.is_some() {
            self.key(&root.with("multipath"), "a dumbbell has no ways to choose from".to_owned())
                .push_str("leave out `multipath`, or write the network as `links`");
        }
        for (i, name) in scenario.controllers.iter().enumerate() {
            if scenario.variants.get(name).is_none() {
                self.controller_name(name, &root.with("controllers").item(i), scenario.variants.names());
            }
        }
        for (name, variant) in scenario.variants.iter() {
            self.variant(name, variant, &root.with("variants").with(name));
        }
        if scenario.flows.is_empty() {
            self.value(&root.with("flows"), "the scenario has no flow".to_owned())
                .push_str("add a `[flows.NAME]` for each flow");
        }
    }

    fn model(&mut self, model: &LinkModel, path: &KeyPath) {
        self.capacity(model, path);
        self.not_negative(&path.with("delay"), Some(model.delay));
        let queue = path.with("queue");
        self.not_negative(&queue.with("time"), model.queue.time);
        self.not_negative(&queue.with("at_rate"), model.queue.at_rate);
        self.not_negative(&queue.with("at_peak_rate"), model.queue.at_peak_rate);
        self.not_negative(&queue.with("mark_above"), model.queue.mark_above);
        if let Err(error) = model.queue.discipline.config().validate() {
            self.config(&queue.with("discipline"), &error);
        }
        if let Err(error) = model.loss.config() {
            self.config(&path.with("loss"), &error);
        }
        self.jitter(&model.jitter, &path.with("jitter"));
        self.changes(&model.changes, &path.with("changes"));
    }

    /// Adds the problem that the network has with a value.
    fn config(&mut self, path: &KeyPath, error: &ConfigError) {
        let (message, advice) = match error {
            ConfigError::OutOfRange { name, must } => {
                (format!("the {name} is out of range"), format!("let it be {must}"))
            }
            ConfigError::LossBurstTooShort => {
                let advice = "let `burst` be at least 1, and at least `mean / (1 - mean)`";
                ("such bursts cannot make this loss".to_owned(), advice.to_owned())
            }
            other => (other.to_string(), "see the table of links".to_owned()),
        };
        self.value(path, message).push_str(&advice);
    }

    fn capacity(&mut self, model: &LinkModel, path: &KeyPath) {
        let given: Vec<&str> = [
            ("rate", model.rate.is_some()),
            ("steps", model.steps.is_some()),
            ("trace", model.trace.is_some()),
            ("cell", model.cell.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, given)| given.then_some(key))
        .collect();
        match given.as_slice() {
            [] => self
                .value(&path.with("rate"), format!("`{path}` has no capacity"))
                .push_str("add one of `rate`, `steps`, `trace` and `cell`"),
            // In a cell the rate is that of the physical layer.
            [_] | ["rate", "cell"] => {}
            [first, second, ..] => self
                .key(&path.with(second), format!("`{path}` has both `{first}` and `{second}`"))
                .push_str("a link has one of `rate`, `steps`, `trace` and `cell`"),
        }
        if let Some(rate) = model.rate {
            self.some_rate(&path.with("rate"), rate);
        }
        if let Some(steps) = &model.steps {
            self.steps(steps, &path.with("steps"));
        }
        if let Some(bucket) = model.bucket {
            self.bucket(bucket, model.trace.is_some(), &path.with("bucket"));
        }
        if let Some(TraceOffset::At(offset)) = model.trace_offset {
            self.not_negative(&path.with("trace_offset"), Some(offset));
        }
        let of_traces = [
            ("fallback", model.fallback.is_some()),
            ("trace_offset", model.trace_offset.is_some()),
            ("trace_scale", model.trace_scale.is_some()),
            ("repeat", model.repeat.is_some()),
        ];
        for (key, _) in of_traces.into_iter().filter(|(_, given)| *given && model.trace.is_none()) {
            let path = path.with(key);
            self.key(&path, format!("`{path}` has no meaning without a trace"))
                .push_str("leave it out, or add `trace`");
        }
    }

    fn bucket(&mut self, bucket: Bucket, follows_trace: bool, path: &KeyPath) {
        if follows_trace {
            self.key(path, format!("`{path}` has no meaning with a trace"))
                .push_str("leave it out, or give a `rate` or `steps`");
        }
        if bucket.burst < TokenBucket::MTU {
            let message = format!("a bucket of {} never lets a packet of full size pass", bucket.burst);
            let advice = format!("write a size of at least {}", TokenBucket::MTU);
            self.value(&path.with("burst"), message).push_str(&advice);
        }
        if let Some(peak) = bucket.peak {
            self.some_rate(&path.with("peak"), peak);
        }
    }

    fn steps(&mut self, steps: &[Step], path: &KeyPath) {
        match steps.first() {
            None => self
                .value(path, format!("`{path}` is empty"))
                .push_str("begin with `{ at = \"0s\", rate = … }`"),
            Some(first) if first.at != TimeDelta::ZERO => self
                .value(&path.item(0).with("at"), format!("the first step is at {}", first.at))
                .push_str("let the first step be at 0s"),
            Some(_) => {}
        }
        for (i, pair) in steps.windows(2).enumerate().filter(|(_, pair)| pair[1].at <= pair[0].at) {
            let (before, at) = (pair[0].at, pair[1].at);
            self.value(
                &path.item(i + 1).with("at"),
                format!("the step at {at} comes after the one at {before}"),
            )
            .push_str("let each step be later than the one before");
        }
        if !steps.is_empty() && steps.iter().all(|step| step.rate.is_zero()) {
            self.value(path, format!("`{path}` never has a rate")).push_str("let one step be above 0bps");
        }
    }

    fn jitter(&mut self, jitter: &LinkJitter, path: &KeyPath) {
        let (mean, sd, max) = match *jitter {
            LinkJitter::Trace { ref delays } => {
                if delays.is_empty() {
                    self.value(&path.with("delays"), format!("`{}` is empty", path.with("delays")))
                        .push_str("write at least one delay");
                }
                for (i, &delay) in delays.iter().enumerate() {
                    self.not_negative(&path.with("delays").item(i), Some(delay));
                }
                return;
            }
            LinkJitter::None => (None, None, None),
            LinkJitter::HalfNormal { sd, max } => (None, Some(sd), Some(max)),
            LinkJitter::Uniform { max } => (None, None, Some(max)),
            LinkJitter::ClippedNormal { mean, sd, max } => (Some(mean), Some(sd), Some(max)),
        };
        self.not_negative(&path.with("mean"), mean);
        self.not_negative(&path.with("sd"), sd);
        self.not_negative(&path.with("max"), max);
    }

    fn flow(&mut self, flow: &Flow, path: &KeyPath) {
        self.not_negative(&path.with("start"), Some(flow.start));
        self.not_negative(&path.with("access_delay"), flow.access_delay);
        self.not_negative(&path.with("start_spread"), flow.start_spread);
        self.not_negative(&path.with("stop_spread"), flow.stop_spread);
        if flow.first.is_some() && flow.count.is_none() && flow.every.is_none() {
            let path = path.with("first");
            self.key(&path, format!("`{path}` has no meaning without copies"))
                .push_str("leave it out, or add `count`");
        }
        if flow.stop_spread.is_some() && flow.stop.is_none() {
            let path = path.with("stop_spread");
            self.key(&path, format!("`{path}` has no meaning without `stop`"))
                .push_str("leave it out, or add `stop`");
        }
        self.positive(&path.with("every"), flow.every);
        let latest = flow.start + flow.start_spread.unwrap_or_default();
        if let Some(stop) = flow.stop.filter(|&stop| stop <= latest) {
            self.value(&path.with("stop"), format!("the flow stops at {stop}, before it starts at {latest}"))
                .push_str("let `stop` be later than `start`");
        }
        if let Some(pauses) = &flow.pauses {
            self.pauses(pauses, &flow.carried, &path.with("pauses"));
        }
        if let Some(clock) = flow.receiver_clock {
            self.clock(clock, &path.with("receiver_clock"));
        }
        match &flow.carried {
            FlowTraffic::Media(media) => self.media(media, path),
            FlowTraffic::Constant(constant) => self.constant(constant, path),
            FlowTraffic::Audio(audio) => self.audio(audio.config(), path),
            FlowTraffic::Tcp(tcp) => self.tcp(tcp, path),
            FlowTraffic::Web(web) => self.web(web, path),
        }
    }

    fn constant(&mut self, constant: &Constant, path: &KeyPath) {
        match (constant.rate, &constant.steps) {
            (Some(rate), None) => self.some_rate(&path.with("rate"), rate),
            (None, Some(steps)) => self.steps(steps, &path.with("steps")),
            (None, None) => self
                .value(&path.with("rate"), format!("`{path}` has no rate"))
                .push_str("add `rate` or `steps`"),
            (Some(_), Some(_)) => self
                .key(&path.with("steps"), format!("`{path}` has both `rate` and `steps`"))
                .push_str("leave out one of them"),
        }
        self.on_and_off(constant, path);
        let limits = (DataSize::from_bytes(1), LARGEST_PACKET);
        self.size(&path.with("packet_size"), constant.packet_size, limits);
    }

    fn on_and_off(&mut self, constant: &Constant, path: &KeyPath) {
        let shortest = format!("write at least {SHORTEST_TURN}");
        for (key, given, other) in [("on", constant.on, constant.off), ("off", constant.off, constant.on)] {
            let path = path.with(key);
            match (given, other) {
                (Some(time), _) if time < SHORTEST_TURN => {
                    self.value(&path, format!("`{path}` is {time}")).push_str(&shortest);
                }
                (None, Some(_)) => self
                    .value(&path, format!("`{path}` is missing"))
                    .push_str("`on` and `off` take turns: write both, or neither"),
                _ => {}
            }
        }
    }

    fn pauses(&mut self, pauses: &[Pause], traffic: &FlowTraffic, path: &KeyPath) {
        if matches!(traffic, FlowTraffic::Tcp(_) | FlowTraffic::Web(_)) {
            self.key(path, format!("`{path}` has no meaning: TCP does not pause"))
                .push_str("leave it out, or let the flow `stop` and another one start");
        }
        for (i, pause) in pauses.iter().enumerate() {
            let at = path.item(i);
            self.not_negative(&at.with("from"), Some(pause.from));
            if pause.to <= pause.from {
                let (from, to) = (pause.from, pause.to);
                self.value(&at.with("to"), format!("the pause ends at {to}, before it begins at {from}"))
                    .push_str("let `to` be later than `from`");
            }
        }
        for (i, pair) in pauses.windows(2).enumerate().filter(|(_, pair)| pair[1].from < pair[0].to) {
            let (before, from) = (pair[0].to, pair[1].from);
            self.value(
                &path.item(i + 1).with("from"),
                format!("the pause from {from} on begins before the one before ends, at {before}"),
            )
            .push_str("let each pause begin after the one before");
        }
    }

    /// Adds the problems of the flows' paths: for each flow the first one.
    fn ways(&mut self, scenario: &Scenario) {
        let mut left = scenario.clone();
        while let Err(problem) = network(&left, left.seed).map(|network| self.network(scenario, &network)) {
            let flow = match problem.path.0.as_slice() {
                [section, name, ..] if section == "flows" => Some(name.clone()),
                _ => None,
            };
            // Several flows may lack the same path.
            if self.found.iter().all(|known| known.message != problem.message) {
                self.found.push(problem);
            }
            if !flow.is_some_and(|flow| left.flows.remove(&flow)) {
                return;
            }
        }
    }

    fn network(&mut self, scenario: &Scenario, network: &Network<'_>) {
        let mut names = BTreeSet::new();
        for flow in &network.flows {
            if !names.insert(&flow.copy.name) {
                self.key(&flow.path, format!("there are two flows `{}`", flow.copy.name)).push_str(
                    "a copy takes the flow's name and its number; give one of the two another name",
                );
            }
        }
        for (name, flow) in scenario.flows.iter() {
            let copies = network.flows.iter().filter(|f| f.path.last() == name).count();
            if flow.count.is_none() && copies as i64 >= MOST_COPIES {
                let path = KeyPath::of(&["flows", name, "every"]);
                self.value(&path, format!("`{path}` makes {MOST_COPIES} copies or more"))
                    .push_str("let the copies be further apart, or say how many with `count`");
            }
        }
    }
}
