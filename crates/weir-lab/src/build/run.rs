//! From a scenario and a seed to a simulation.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use weir_cc::Ecn;
use weir_media::{FrameTraces, MediaConfig, Model};
use weir_net::{Service, Time, TokenBucket, Trace, WifiLink};
use weir_sim::tcp::TcpSender;
use weir_sim::{CellSpec, ClockSpec, FlowSpec, LinkSpec, SimSpec, Traffic, stream};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::topology::{Network, PlannedFlow, PlannedLink, network};
use crate::form::{KeyPath, Problem, ScenarioError};
use crate::metrics::{FlowPlan, LinkPlan, MeasurePlan};
use crate::registry::{self, TcpProfile};
use crate::results::FlowKind;
use crate::scenario::{
    AudioStream, Bucket, Carried, Cell, Clocks, EcnField, Flow, LinkModel, Media, OnOrOff, Scenario, Step,
    Tcp, TraceOffset,
};
use crate::traces::edit::scale;
use crate::traces::{DATA_VARIABLE, TraceStore, TraceStoreError};

/// What distinguishes one run of a scenario from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunOptions<'a> {
    /// Seed of all randomness. Runs of the same seed meet the same network and the same video, whatever the
    /// controller.
    pub seed: u64,
    /// Controller of all media flows in place of those that the scenario names.
    pub controller: Option<&'a str>,
    /// Whether to record time series.
    pub series: bool,
}

/// A run, ready to go.
#[derive(Debug)]
pub struct Run {
    /// What to simulate.
    pub spec: SimSpec,
    /// What to measure.
    pub plan: MeasurePlan,
    /// The traces in use.
    pub traces: Vec<TraceUse>,
}

/// Which trace a link follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceUse {
    /// The link.
    pub link: String,
    /// The trace that the scenario wants.
    pub wanted: String,
    /// The trace in use: the wanted one, or the fallback where there is no file.
    pub used: String,
}

/// A sentence for each of `traces` that another stood in for.
pub fn stand_ins<'a>(traces: impl IntoIterator<Item = &'a TraceUse>) -> Vec<String> {
    let mut notes = Vec::new();
    for TraceUse { wanted, used, .. } in traces.into_iter().filter(|t| t.used != t.wanted) {
        let note = format!(
            "The trace `{wanted}` was not found; `{used}` stood in for it. Give the directory of its \
             `traces/` with --data or {DATA_VARIABLE}."
        );
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Receivers' clocks are off by between one hour and this many.
const MOST_HOURS_OFF: f64 = 12.0;

impl Scenario {
    /// One run of the scenario.
    ///
    /// # Errors
    /// A trace that is not there, a controller that is not known or refuses its options, a network that makes no
    /// sense. A scenario from a file has only the first of these problems left.
    pub fn build(&self, run: &RunOptions<'_>, store: &TraceStore) -> Result<Run, ScenarioError> {
        match run.controller {
            Some(controller) => {
                let mut other = self.clone();
                other.use_controller(controller)?;
                Builder { scenario: &other, run, store }.build()
            }
            None => Builder { scenario: self, run, store }.build(),
        }
        .map_err(|problem| self.origin.error(problem))
    }
}

struct Builder<'a> {
    scenario: &'a Scenario,
    run: &'a RunOptions<'a>,
    store: &'a TraceStore,
}

impl Builder<'_> {
    fn build(&self) -> Result<Run, Problem> {
        let network = network(self.scenario, self.run.seed)?;
        let airs: BTreeMap<&str, DataRate> =
            self.scenario.cells.iter().map(|(name, cell)| (name, cell.capacity(name, &network))).collect();
        let mut links = Vec::with_capacity(network.links.len());
        let mut traces = Vec::new();
        for planned in &network.links {
            let (service, used) = self.service(planned, &airs)?;
            traces.extend(used);
            links.push(link_spec(planned, service)?);
        }
        let cells = self.cells(&network, &links);
        let limits = bottlenecks(&network, &links, time(self.scenario.duration));
        for &limit in limits.iter().flatten() {
            links[limit].bottleneck = true;
        }
        let starts: Vec<Time> = network.flows.iter().map(|flow| self.start(flow)).collect();
        let shared = Shared::new(&cells, &links);
        let plan = self.plan(&network, &links, (&limits, &shared), &starts);
        let flows = network
            .flows
            .iter()
            .zip(&starts)
            .map(|(flow, &start)| self.flow_spec(flow, start))
            .collect::<Result<Vec<_>, _>>()?;
        let plan = with_signals(plan, &flows);
        let spec = SimSpec { seed: self.run.seed, end: time(self.scenario.duration), links, cells, flows };
        Ok(Run { spec, plan, traces })
    }

    fn service(
        &self,
        planned: &PlannedLink,
        airs: &BTreeMap<&str, DataRate>,
    ) -> Result<(Service, Option<TraceUse>), Problem> {
        let model = &planned.model;
        if let Some(wanted) = &model.trace {
            let (trace, used) = self.trace(wanted, model.fallback.as_deref(), &planned.path)?;
            let trace = match model.trace_scale {
                None => trace,
                Some(factor) => Arc::new(scale(&trace, factor).map_err(|error| {
                    Problem::value(&planned.path.with("trace_scale"), error.to_string())
                        .help("let it be larger")
                })?),
            };
            let offset = self.trace_offset(model, &trace);
            let service = Service::Trace { trace, offset, repeat: model.repeat.unwrap_or(true) };
            let used = TraceUse { link: planned.name.clone(), wanted: wanted.clone(), used };
            return Ok((service, Some(used)));
        }
        if let Some(&capacity) = model.cell.as_deref().and_then(|cell| airs.get(cell)) {
            return Ok((Service::Constant(capacity), None));
        }
        Ok((model.rated_service(), None))
    }

    /// The cells, each with its links. The links that begin at one node are one transmitter.
    fn cells(&self, network: &Network<'_>, links: &[LinkSpec]) -> Vec<CellSpec> {
        let of_cell = |(name, cell): (&str, &Cell)| {
            let mut nodes: Vec<&str> = Vec::new();
            let mut members = Vec::new();
            for (number, planned) in network.links.iter().enumerate() {
                if planned.model.cell.as_deref() != Some(name) {
                    continue;
                }
                let transmitter = nodes.iter().position(|&node| node == planned.from).unwrap_or_else(|| {
                    nodes.push(&planned.from);
                    nodes.len() - 1
                });
                let rate = planned.model.rate.unwrap_or(cell.rate);
                let config = &links[number].config;
                members
                    .push((number, WifiLink { transmitter, rate, loss: config.loss, queue: config.queue }));
            }
            CellSpec { name: name.to_owned(), config: cell.config(), links: members }
        };
        self.scenario.cells.iter().map(of_cell).collect()
    }

    fn trace(
        &self,
        wanted: &str,
        fallback: Option<&str>,
        link: &KeyPath,
    ) -> Result<(Arc<Trace>, String), Problem> {
        let fail = |key: &str, error: TraceStoreError| {
            let problem = Problem::value(&link.with(key), error.to_string());
            match error {
                TraceStoreError::NotFound { advice, .. } => problem.help(advice),
                TraceStoreError::Malformed { error, .. } => problem.help(error.form()),
                _ => problem,
            }
        };
        match (self.store.load(wanted), fallback) {
            (Ok(trace), _) => Ok((trace, wanted.to_owned())),
            (Err(TraceStoreError::NotFound { .. }), Some(other)) => {
                let trace = self.store.load(other).map_err(|error| fail("fallback", error))?;
                Ok((trace, other.to_owned()))
            }
            (Err(error), _) => Err(fail("trace", error)),
        }
    }

    /// The frame sizes `wanted`, read from a file.
    fn frame_sizes(&self, wanted: &str, path: &KeyPath) -> Result<&'static FrameTraces, Problem> {
        self.store.frame_sizes(wanted).map_err(|error| {
            let problem = Problem::value(path, error.to_string());
            match error {
                TraceStoreError::NotFound { advice, .. } => problem.help(advice),
                _ => problem
                    .help("a line of rates in kbit/s, then for each frame its size in bytes at each rate"),
            }
        })
    }

    /// A random offset is the same share of every trace, so that both directions of one recording stay together.
    fn trace_offset(&self, model: &LinkModel, trace: &Trace) -> TimeDelta {
        match model.trace_offset {
            None => TimeDelta::ZERO,
            Some(TraceOffset::At(offset)) => offset,
            Some(TraceOffset::Word(_)) => trace.duration().scale(self.unit("traces", "offset")),
        }
    }

    fn start(&self, flow: &PlannedFlow<'_>) -> Time {
        time(flow.copy.start + self.spread(flow, flow.flow.start_spread, "start"))
    }

    /// When the flow stops sending; [`Time::MAX`] for never.
    fn stop(&self, flow: &PlannedFlow<'_>) -> Time {
        let later = self.spread(flow, flow.flow.stop_spread, "stop");
        flow.copy.stop.map_or(Time::MAX, |stop| time(stop + later))
    }

    fn spread(&self, flow: &PlannedFlow<'_>, spread: Option<TimeDelta>, purpose: &str) -> TimeDelta {
        spread.map(|spread| spread.scale(self.unit(&flow.copy.name, purpose))).unwrap_or_default()
    }

    /// Uniform in [0, 1), from a stream of its own.
    fn unit(&self, name: &str, purpose: &str) -> f64 {
        let mut random = Pcg64Mcg::seed_from_u64(stream(self.run.seed, name, purpose));
        (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn flow_spec(&self, planned: &PlannedFlow<'_>, start: Time) -> Result<FlowSpec, Problem> {
        let mut traffic = traffic(planned.flow).map_err(|error| {
            Problem::value(&planned.path.with("options"), error.to_string())
                .help("see the options of the controller")
        })?;
        if let (Carried::Media(media), Traffic::Media { config, .. }) = (&planned.flow.carried, &mut traffic)
            && let Some(wanted) = media.encoder.wanted_traces()
        {
            let traces = self.frame_sizes(wanted, &planned.path.with("encoder").with("traces"))?;
            if let Model::Traces(traced) | Model::Hybrid(_, traced) = &mut config.encoder.model {
                traced.traces = traces;
            }
        }
        Ok(FlowSpec {
            name: planned.copy.name.clone(),
            forward: planned.forward.clone(),
            reverse: planned.reverse.clone(),
            start,
            stop: self.stop(planned),
            pauses: self.pauses(planned, start),
            sender_clock: ClockSpec::default(),
            receiver_clock: self.receiver_clock(planned),
            traffic,
        })
    }

    /// When the flow says nothing, from `start` on.
    fn pauses(&self, planned: &PlannedFlow<'_>, start: Time) -> Vec<(Time, Time)> {
        let shift = planned.copy.shift;
        let given = planned.flow.pauses.iter().flatten();
        let mut pauses: Vec<_> = given.map(|p| (time(p.from + shift), time(p.to + shift))).collect();
        if let Carried::Constant(constant) = &planned.flow.carried {
            let stop = self.stop(planned).min(time(self.scenario.duration));
            pauses.extend(constant.silences(start, stop));
        }
        pauses
    }

    fn receiver_clock(&self, planned: &PlannedFlow<'_>) -> ClockSpec {
        let given = planned.flow.receiver_clock.unwrap_or_default();
        let usual = || match self.scenario.clocks {
            Clocks::Synchronised => TimeDelta::ZERO,
            Clocks::Independent => {
                let hours = 1.0 + (MOST_HOURS_OFF - 1.0) * self.unit(&planned.copy.name, "clock");
                TimeDelta::from_secs_f64(hours * 3600.0)
            }
        };
        let offset = given.offset.unwrap_or_else(usual);
        ClockSpec { offset, drift_ppm: given.drift_ppm, resolution: given.resolution }
    }

    fn plan(
        &self,
        network: &Network<'_>,
        links: &[LinkSpec],
        (limits, shared): (&[Option<usize>], &Shared),
        starts: &[Time],
    ) -> MeasurePlan {
        let flow = |((planned, &bottleneck), &start): ((&PlannedFlow<'_>, &Option<usize>), &Time)| FlowPlan {
            name: planned.copy.name.clone(),
            kind: kind(&planned.flow.carried),
            start,
            stop: self.stop(planned),
            pauses: self.pauses(planned, start),
            propagation: planned.forward.iter().map(|&l| links[l].config.delay).sum(),
            route: planned.forward.iter().map(|&link| shared.of(link)).collect(),
            bottleneck: bottleneck.map(|link| shared.of(link)),
            max_rate: planned.flow.max_rate(),
            sends: planned.flow.sends(),
            weight: planned.flow.weight(),
            sender_signals: Vec::new(),
            receiver_signals: Vec::new(),
        };
        MeasurePlan {
            end: time(self.scenario.duration),
            window: self.scenario.window(),
            flows: network.flows.iter().zip(limits).zip(starts).map(flow).collect(),
            links: links
                .iter()
                .map(|l| LinkPlan {
                    name: l.name.clone(),
                    service: l.config.service.clone(),
                    delay: l.config.delay,
                    bottleneck: l.bottleneck,
                })
                .collect(),
            series: self.run.series,
            unsettled: Vec::new(),
        }
    }
}

impl Scenario {
    /// The window of the metrics, cut off at the end of the run.
    pub fn window(&self) -> (Time, Time) {
        let measure = self.measure;
        let from = measure.map_or(TimeDelta::ZERO, |m| m.from);
        let to = measure.and_then(|m| m.to).map_or(self.duration, |to| to.min(self.duration));
        (time(from), time(to))
    }
}

impl LinkModel {
    /// The server of a link that follows no trace.
    pub(crate) fn rated_service(&self) -> Service {
        let steps = self.steps.as_ref();
        let steps: Option<Vec<_>> =
            steps.map(|steps| steps.iter().map(|&Step { at, rate }| (time(at), rate)).collect());
        let rate = self.rate.unwrap_or_default();
        match (self.bucket, steps) {
            (Some(Bucket { burst, peak }), steps) => {
                let rates = steps.unwrap_or_else(|| vec![(Time::ZERO, rate)]);
                Service::TokenBucket(TokenBucket { rates, burst, peak })
            }
            (None, Some(steps)) => Service::Steps(steps),
            (None, None) => Service::Constant(rate),
        }
    }
}

fn time(since_start: TimeDelta) -> Time {
    Time::ZERO + since_start
}

fn kind(traffic: &Carried) -> FlowKind {
    match traffic {
        Carried::Media(_) => FlowKind::Media,
        Carried::Constant(_) => FlowKind::Constant,
        Carried::Audio(_) => FlowKind::Audio,
        Carried::Tcp(Tcp { downloads: Some(_), .. }) => FlowKind::Downloads,
        Carried::Tcp(_) => FlowKind::Tcp,
        Carried::Web(_) => FlowKind::Web,
    }
}

/// For each flow the link of its way that can carry least until `end`, the first of several.
fn bottlenecks(network: &Network<'_>, links: &[LinkSpec], end: Time) -> Vec<Option<usize>> {
    let capacities: Vec<DataSize> =
        links.iter().map(|link| link.config.service.capacity(Time::ZERO, end)).collect();
    let rate = |&link: &usize| capacities[link];
    network.flows.iter().map(|flow| flow.forward.iter().copied().min_by_key(rate)).collect()
}

/// Which of the limiting links of a cell stands for all of them where a capacity is shared, so that their flows have
/// the same bottleneck.
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

fn link_spec(planned: &PlannedLink, service: Service) -> Result<LinkSpec, Problem> {
    let config = planned.model.config(service).map_err(|error| {
        Problem::value(&planned.path.with("loss"), error.to_string()).help("let the bursts be longer")
    })?;
    Ok(LinkSpec { name: planned.name.clone(), config, bottleneck: false })
}

fn traffic(flow: &Flow) -> Result<Traffic, registry::RegistryError> {
    match &flow.carried {
        Carried::Media(media) => media_traffic(media),
        Carried::Constant(constant) => Ok(Traffic::Unresponsive(constant.source())),
        Carried::Audio(audio) => Ok(Traffic::Unresponsive(audio.source())),
        Carried::Tcp(tcp) => tcp_traffic(tcp),
        Carried::Web(web) => {
            let config = web.config();
            let laws = registry::window_laws_of(&web.law, None, config.pacing)?;
            Ok(Traffic::Web { laws, config, web: web.traffic() })
        }
    }
}

fn media_traffic(media: &Media) -> Result<Traffic, registry::RegistryError> {
    let limits = media.limits()?;
    let options = media.options.as_ref().map(|options| &options.0);
    let halves = registry::build(&media.controller, options, limits, media.priority)?;
    let config = MediaConfig {
        packet_format: halves.packet_format,
        audio: media.audio.map(AudioStream::config),
        key_frame_requests: media.key_frame_requests,
        payload_limit: u16::try_from(media.payload_limit.bytes()).unwrap_or(u16::MAX),
        rtcp_interval: media.rtcp_interval,
        ecn: match media.ecn {
            EcnField::NotEct => Ecn::NotEct,
            EcnField::Ect0 => Ecn::Ect0,
            EcnField::Ect1 => Ecn::Ect1,
        },
        ..MediaConfig::new(limits, media.encoder.config())
    };
    Ok(Traffic::Media { controller: halves.controller, receiver: halves.receiver, config })
}

fn tcp_traffic(tcp: &Tcp) -> Result<Traffic, registry::RegistryError> {
    let (config, size) = (tcp.config(), tcp.size);
    if tcp.profile == Some(TcpProfile::Chromium2015) {
        return Ok(Traffic::ChromiumTcp { config, size });
    }
    let Some(downloads) = &tcp.downloads else {
        let law = registry::window_law(tcp.law(), tcp.profile, config.pacing)?;
        return Ok(Traffic::Tcp { law, config, size });
    };
    let downloads = weir_sim::Downloads {
        smallest: downloads.size.min,
        largest: downloads.size.max,
        idle: downloads.idle,
        begins_idle: downloads.begin == OnOrOff::Off,
    };
    let laws = registry::window_laws_of(tcp.law(), tcp.profile, config.pacing)?;
    Ok(Traffic::Downloads { laws, config, downloads })
}

/// The plan with the names of the signals of controllers and TCP senders.
fn with_signals(mut plan: MeasurePlan, flows: &[FlowSpec]) -> MeasurePlan {
    let names = |signals: &[weir_cc::Signal]| signals.iter().map(|s| s.name.to_owned()).collect();
    for (plan, flow) in plan.flows.iter_mut().zip(flows) {
        match &flow.traffic {
            Traffic::Media { controller, receiver, .. } => {
                plan.sender_signals = names(controller.signals());
                plan.receiver_signals = names(receiver.signals());
            }
            Traffic::Tcp { .. } | Traffic::ChromiumTcp { .. } => {
                plan.sender_signals = names(TcpSender::signals());
            }
            _ => {}
        }
    }
    plan
}
