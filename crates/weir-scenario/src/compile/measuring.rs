//! The measurement plan of a run.

use weir_cc::Signal;
use weir_net::Time;
use weir_sim::tcp::TcpSender;
use weir_units::{DataRate, TimeDelta};
use weir_world::{CellSpec, FlowSpec, LinkSpec, MediaSpec, Traffic};

use super::context::time;
use super::couplings::later_weights;
use super::links::CompiledLinks;
use super::topology::{Network, PlannedFlow};
use crate::scenario::{FlowTraffic, FurtherWindow, Scenario, Tcp};
use weir_measure::metrics::{ExtraWindow, FlowPlan, LinkPlan, MeasurePlan};
use weir_measure::results::FlowKind;

/// The plan for a run over `links`, whose flows, in the order of the network's, are `specs`.
pub(super) fn measure_plan(
    scenario: &Scenario,
    network: &Network<'_>,
    links: &CompiledLinks,
    specs: &[FlowSpec],
) -> MeasurePlan {
    let shared = Shared::new(&links.cells, &links.specs);
    let flow = |((planned, spec), &bottleneck)| {
        flow_plan(spec, &FlowProperties { planned, links: &links.specs, shared: &shared, bottleneck })
    };
    let planned = network.flows.iter();
    let flows = planned.zip(specs).zip(&links.bottlenecks).map(flow).collect();
    let links = links.specs.iter().map(link_plan).collect();
    MeasurePlan {
        window: scenario.window(),
        windows: scenario.further_windows(),
        ..MeasurePlan::new(time(scenario.duration), flows, links)
    }
}

/// The properties of a flow that its simulation does not need.
struct FlowProperties<'a> {
    planned: &'a PlannedFlow<'a>,
    links: &'a [LinkSpec],
    shared: &'a Shared,
    /// The link that limits it.
    bottleneck: Option<usize>,
}

/// The measurement of a flow that is simulated by `spec`.
fn flow_plan(spec: &FlowSpec, known: &FlowProperties<'_>) -> FlowPlan {
    let &FlowProperties { planned, links, shared, bottleneck } = known;
    let flow = planned.flow;
    let (sender_signals, receiver_signals) = signals(&spec.traffic);
    FlowPlan {
        name: spec.name.clone(),
        kind: kind(&flow.carried),
        start: spec.start,
        stop: spec.stop,
        pauses: spec.pauses.clone(),
        propagation: spec.forward.iter().map(|&link| links[link].config.least_delay()).sum(),
        route: spec.forward.iter().map(|&link| shared.of(link)).collect(),
        bottleneck: bottleneck.map(|link| shared.of(link)),
        max_rate: flow.max_rate(),
        max_rates: max_rates(planned),
        sends: flow.sends(),
        weight: flow.weight(),
        later_weights: later_weights(planned),
        competes: matches!(&flow.carried, FlowTraffic::Media(media) if media.competitor),
        controller: controller(&flow.carried).to_owned(),
        sender_signals,
        receiver_signals,
    }
}

/// Other highest rates of a flow, each from a time on.
fn max_rates(planned: &PlannedFlow<'_>) -> Vec<(Time, DataRate)> {
    let steps = planned.flow.max_rates().into_iter();
    steps.map(|(at, rate)| (time(at + planned.copy.shift), rate)).collect()
}

fn link_plan(spec: &LinkSpec) -> LinkPlan {
    LinkPlan {
        name: spec.name.clone(),
        service: spec.config.service.clone(),
        delay: spec.config.least_delay(),
        bottleneck: spec.bottleneck,
    }
}

/// The names of the signals of the sender half and of the receiver half.
fn signals(traffic: &Traffic) -> (Vec<String>, Vec<String>) {
    let names = |signals: &[Signal]| signals.iter().map(|signal| signal.name.to_owned()).collect();
    match traffic {
        Traffic::Media(MediaSpec { sender, receiver, .. }) => {
            let sender = sender.as_ref().map_or(&[][..], |half| half.signals());
            let receiver = receiver.as_ref().map_or(&[][..], |half| half.signals());
            (names(sender), names(receiver))
        }
        Traffic::Tcp { .. } | Traffic::ChromiumTcp { .. } => (names(TcpSender::signals()), Vec::new()),
        _ => (Vec::new(), Vec::new()),
    }
}

fn controller(traffic: &FlowTraffic) -> &str {
    match traffic {
        FlowTraffic::Media(media) => &media.controller,
        _ => "",
    }
}

fn kind(traffic: &FlowTraffic) -> FlowKind {
    match traffic {
        FlowTraffic::Media(_) => FlowKind::Media,
        FlowTraffic::Constant(_) => FlowKind::Constant,
        FlowTraffic::Audio(_) => FlowKind::Audio,
        FlowTraffic::Tcp(Tcp { downloads: Some(_), .. }) => FlowKind::Downloads,
        FlowTraffic::Tcp(_) => FlowKind::Tcp,
        FlowTraffic::Web(_) => FlowKind::Web,
    }
}

/// Represents the limiting links of a cell by a single one for the sharing of capacity, so that their flows have the same
/// bottleneck.
struct Shared(Vec<usize>);

impl Shared {
    fn new(cells: &[CellSpec], links: &[LinkSpec]) -> Self {
        let mut stands_for: Vec<usize> = (0..links.len()).collect();
        for cell in cells {
            let members = || cell.links.iter().map(|&(link, _)| link).filter(|&link| links[link].bottleneck);
            for link in members() {
                stands_for[link] = members().next().unwrap_or(link);
            }
        }
        Self(stands_for)
    }

    fn of(&self, link: usize) -> usize {
        self.0[link]
    }
}

impl Scenario {
    /// The window of the metrics, cut off at the end of the run.
    pub fn window(&self) -> (Time, Time) {
        let measure = self.measure.as_ref();
        self.span(measure.map_or(TimeDelta::ZERO, |m| m.from), measure.and_then(|m| m.to))
    }

    fn further_windows(&self) -> Vec<ExtraWindow> {
        let given = self.measure.iter().flat_map(|measure| measure.windows.iter());
        let window = |(name, window): (&str, &FurtherWindow)| ExtraWindow {
            name: name.to_owned(),
            spans: vec![self.span(window.from, window.to)],
            delays_only: false,
        };
        given.map(window).collect()
    }

    /// A window from one time to another, cut off at the end of the run.
    fn span(&self, from: TimeDelta, to: Option<TimeDelta>) -> (Time, Time) {
        (time(from), time(to.map_or(self.duration, |to| to.min(self.duration))))
    }
}
