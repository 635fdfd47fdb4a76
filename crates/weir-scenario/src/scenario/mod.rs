//! Scenario files: a network, its flows, and the measurements, in TOML with units in the values.
//!
//! The types of this module alone describe the format. The JSON Schema ([`scenario_schema`]) comes from them, and finds unknown
//! keys, missing keys and wrong words. [`Scenario::parse`] reads a text and [`Scenario::build`] makes a run of it; both are the
//! work of [`build`](crate::compile).

mod cell;
mod change;
mod coupling;
mod encoder;
mod flow;
mod link;
mod loss;
mod media;
mod multipath;
mod named;
mod queue;
mod sender;
mod tcp;
mod tcp_options;
mod unresponsive;
mod variant;
mod web;

use std::sync::LazyLock;

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use toml::Value;
use weir_units::TimeDelta;

use crate::registry::Registry;
use weir_form::{KeyPath, Origin, Problem, ScenarioError, Shape, advice};

pub use crate::registry::TcpProfile;
pub use cell::Cell;
pub use change::{Change, QueueLimits};
pub use coupling::{Coupling, Desired, Detection, NO_COUPLER, PriorityStep, TakenAt};
pub use encoder::{
    BurstChoice, BurstShape, ChangedEncoder, EncoderChoice, EncoderPreset, KeyFrameChoice, KeyFrameSpacing,
    NoBurst, NoKeyFrames, NoSkip, SkipChoice, TALKING_HEAD,
};
pub use flow::{ClockStep, Flow, FlowTraffic, HostClock};
pub use link::{Bucket, Dumbbell, Link, LinkJitter, LinkModel, OutputOrder, RandomOffset, Step, TraceOffset};
pub use loss::{LinkLoss, LossModel};
pub use media::{ControllerOptions, EcnField, Media, Rates};
pub use multipath::Multipath;
pub use named::Named;
pub use queue::{DisciplineTable, DisciplineWord, InService, Queue, QueueDiscipline};
pub use sender::{ChangedSender, SenderChoice, SenderPreset};
pub use tcp::{Downloads, OnOrOff, SizeRange, Tcp};
pub use tcp_options::NEEDS_COUNTS;
pub use tcp_options::{TcpEcn, TcpOptions};
pub use unresponsive::{Audio, AudioStream, Constant, Pause};
pub use variant::is_one_name;
pub use variant::{Candidate, Variant};
pub use web::{DelayRange, Web, WebSizes};

/// A scenario: a network, its flows, and the measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of its results; the name of the shipped scenario or of the file unless given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Title of the scenario, one line.
    pub title: String,
    /// Source, such as a paper's table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Duration of a run.
    pub duration: TimeDelta,
    /// Number of runs, each with a seed of its own, unless the caller sets it.
    #[serde(default = "one_run")]
    #[schemars(range(min = 1, max = 100_000))]
    pub runs: u32,
    /// Seed of the first run; the others follow it.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Controllers to compare: each takes over all media flows in turn. The flows' own unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controllers: Vec<String>,
    /// Controllers with options, by the names that `controllers` uses.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub variants: Named<Variant>,
    /// Offsets of the receivers' clocks to the senders'.
    #[serde(default)]
    pub clocks: Clocks,
    /// Whether circuit breakers (RFC 8083) may stop media for the rest of the run.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub breakers: bool,
    /// The window in which the metrics are taken; the whole run unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<Measure>,
    /// A dumbbell, in place of `links`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dumbbell: Option<Dumbbell>,
    /// Spreads flows over paths of equal length; the first such path in the file unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multipath: Option<Multipath>,
    /// The Wi-Fi cells, by name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub cells: Named<Cell>,
    /// The links, by name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub links: Named<Link>,
    /// The flows, by name.
    #[serde(default)]
    pub flows: Named<Flow>,
    /// Couplings of flows, by name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub coupling: Named<Coupling>,
    /// Its origin, for messages about its values.
    #[serde(skip)]
    pub origin: Origin,
    /// The available controllers.
    #[serde(skip)]
    pub registry: Registry,
}

impl Scenario {
    /// The seeds of all runs.
    pub fn seeds(&self) -> Vec<u64> {
        (0..u64::from(self.runs)).map(|run| self.seed.wrapping_add(run)).collect()
    }

    /// The controllers of the media flows, each once, joined by `+`; `none` without media flows.
    pub fn controllers_in_use(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for (_, flow) in self.flows.iter() {
            if let FlowTraffic::Media(media) = &flow.carried
                && !names.contains(&media.controller.as_str())
            {
                names.push(&media.controller);
            }
        }
        if names.is_empty() { "none".to_owned() } else { names.join("+") }
    }

    /// Rule by which its media flows skip frames, as in headings of tables: `skip_above 100ms`, or several where flows differ.
    /// Empty without media.
    pub fn skip_rule(&self) -> String {
        skip_rule([self])
    }

    /// The same scenario as TOML, with every default written out.
    ///
    /// # Errors
    /// A number beyond the range of TOML; no parsed scenario has one.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(&Value::try_from(self)?)
    }

    /// The controller that `name`, which may be that of a variant, stands for.
    pub fn controller_of<'n>(&'n self, name: &'n str) -> &'n str {
        self.variants.get(name).map_or(name, |variant| &variant.controller)
    }

    /// Puts all media flows but competitors under the controller or variant `name`. Options of another controller are dropped,
    /// and the keys of a variant replace the remaining ones.
    ///
    /// # Errors
    /// An unknown controller.
    pub fn use_controller(&mut self, name: &str) -> Result<(), ScenarioError> {
        let controller = self.controller_of(name).to_owned();
        if !self.registry.known_names().any(|known| known == controller) {
            let mut names: Vec<&str> = self.variants.names().collect();
            self.registry.controller_names().for_each(|name| names.push(name));
            let problem = Problem::value(&KeyPath::default(), format!("there is no controller `{name}`"))
                .help(advice(name, names));
            return Err(ScenarioError::new("--controller", name, Some((0, name.len())), problem));
        }
        let own = self.variants.get(name).map(|variant| variant.options.0.clone());
        for flow in self.flows.values_mut() {
            let Some(media) = flow.judged_media_mut() else { continue };
            if media.controller != controller {
                controller.clone_into(&mut media.controller);
                media.options = None;
            }
            if let Some(own) = &own {
                media.options.get_or_insert_default().0.extend(own.clone());
            }
        }
        Ok(())
    }
}

impl Scenario {
    /// The same scenario with a TCP flow in place of each media flow but competitors. Each is like the scenario's first TCP flow,
    /// if it has any.
    pub fn with_tcp_for_media(mut self) -> Self {
        let tcp = self.flows.iter().find_map(|(_, flow)| match &flow.carried {
            FlowTraffic::Tcp(tcp) => Some(tcp.clone()),
            _ => None,
        });
        for flow in self.flows.values_mut() {
            if let (Some(_), Some(tcp)) = (flow.judged_media_mut(), &tcp) {
                flow.carried = FlowTraffic::Tcp(tcp.clone());
                flow.pauses = None;
            }
        }
        self
    }

    /// The same scenario without couplings.
    pub fn uncoupled(mut self) -> Self {
        self.coupling = Named::default();
        self
    }

    /// Puts all media flows but competitors under the preset `name` of their controllers, where there is one.
    pub fn use_preset(&mut self, name: &str) {
        for flow in self.flows.values_mut() {
            if let Some(media) = flow.judged_media_mut()
                && self.registry.has_preset(&media.controller, name)
            {
                let options = &mut media.options.get_or_insert_default().0;
                options.entry("preset").or_insert_with(|| name.into());
            }
        }
    }
}

impl Scenario {
    /// The coupling that the flow `name` is in, by its own name.
    pub(crate) fn coupling_of(&self, name: &str) -> Option<(&str, &Coupling)> {
        self.coupling.iter().find(|(_, coupling)| coupling.flows.iter().any(|flow| flow == name))
    }
}

/// [`Scenario::skip_rule`] of several scenarios together.
pub fn skip_rule<'a>(scenarios: impl IntoIterator<Item = &'a Scenario>) -> String {
    let mut limits: Vec<String> = Vec::new();
    for (_, flow) in scenarios.into_iter().flat_map(|scenario| scenario.flows.iter()) {
        let FlowTraffic::Media(media) = &flow.carried else { continue };
        let limit = media.encoder.config().skip_above.map_or("never".to_owned(), |limit| limit.to_string());
        if !limits.contains(&limit) {
            limits.push(limit);
        }
    }
    if limits.is_empty() { String::new() } else { format!("skip_above {}", limits.join(" or ")) }
}

/// JSON Schema of scenario files.
pub fn scenario_schema() -> &'static serde_json::Value {
    static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(|| schema_for!(Scenario).to_value());
    &SCHEMA
}

pub(crate) fn scenario_shape() -> Shape<'static> {
    Shape::new(scenario_schema())
}

/// The names of [`RunKeys`].
pub(crate) const RUN_KEYS: [&str; 4] = ["duration", "runs", "seed", "controllers"];

/// The keys of [`Scenario`] that options of commands set.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is made for its schema")]
struct RunKeys {
    duration: TimeDelta,
    #[serde(default = "one_run")]
    #[schemars(range(min = 1, max = 100_000))]
    runs: u32,
    #[serde(default = "first_seed")]
    seed: u64,
    #[serde(default)]
    controllers: Vec<String>,
}

/// JSON Schema of the keys of a scenario that options of commands set.
pub(crate) fn run_schema() -> &'static serde_json::Value {
    static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(|| schema_for!(RunKeys).to_value());
    &SCHEMA
}

pub(crate) fn run_shape() -> Shape<'static> {
    Shape::new(run_schema())
}

const fn one_run() -> u32 {
    1
}

const fn first_seed() -> u64 {
    1
}

/// Offsets of the receivers' clocks to the senders'.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clocks {
    /// Each receiver's clock is hours off, derived from the run's seed.
    #[default]
    Independent,
    /// All clocks read the same.
    Synchronised,
}

/// A window of time, and further ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Its begin.
    #[serde(default)]
    pub from: TimeDelta,
    /// Its end; that of the run unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<TimeDelta>,
    /// Whether queue lengths of bottlenecks are measured at each arrival: how long they get and whether they drain. Always on
    /// where flows are coupled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub queues: bool,
    /// Further windows, by name: each has its own metrics in the results.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub windows: Named<FurtherWindow>,
}

/// A window beside the main one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FurtherWindow {
    /// Its begin.
    #[serde(default)]
    pub from: TimeDelta,
    /// Its end; that of the run unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<TimeDelta>,
}
