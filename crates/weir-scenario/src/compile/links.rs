//! The links and cells of a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_net::{Service, Time, TokenBucket, Trace, WifiLink};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_world::{CellSpec, LinkSpec};

use super::context::{Context, time};
use super::topology::{Network, PlannedLink};
use super::trace_use::TraceUse;
use crate::scenario::{Bucket, Cell, LinkModel, Step, TraceOffset};
use weir_form::{KeyPath, Problem};
use weir_import::traces::TraceStoreError;
use weir_import::traces::edit::scale;

/// The links of a run in the order of the network's, with their traces, cells and bottlenecks.
pub(super) struct CompiledLinks {
    pub(super) specs: Vec<LinkSpec>,
    pub(super) cells: Vec<CellSpec>,
    pub(super) traces: Vec<TraceUse>,
    /// For each flow the link that limits it.
    pub(super) bottlenecks: Vec<Option<usize>>,
}

impl Context<'_> {
    pub(super) fn links(&self, network: &Network<'_>) -> Result<CompiledLinks, Problem> {
        let airs: BTreeMap<&str, DataRate> =
            self.scenario.cells.iter().map(|(name, cell)| (name, cell.capacity(name, network))).collect();
        let mut specs = Vec::with_capacity(network.links.len());
        let mut traces = Vec::new();
        for planned in &network.links {
            let (service, used) = self.service(planned, &airs)?;
            traces.extend(used);
            specs.push(link_spec(planned, service)?);
        }
        let cells = self.cells(network, &specs);
        let bottlenecks = bottlenecks(network, &specs, self.end());
        for &limit in bottlenecks.iter().flatten() {
            specs[limit].bottleneck = true;
        }
        Ok(CompiledLinks { specs, cells, traces, bottlenecks })
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
                TraceStoreError::NotFound { advice, .. } | TraceStoreError::Ambiguous { advice, .. } => {
                    problem.help(advice)
                }
                TraceStoreError::Malformed { error, .. } => problem.help(error.form()),
                _ => problem,
            }
        };
        let load = |key: &str, name: &str| {
            self.store.load_in_run(name, self.scenario.origin.directory(&link.with(key)), self.seed)
        };
        match (load("trace", wanted), fallback) {
            (Ok(trace), _) => Ok((trace, wanted.to_owned())),
            (Err(TraceStoreError::NotFound { .. }), Some(other)) => {
                let trace = load("fallback", other).map_err(|error| fail("fallback", error))?;
                Ok((trace, other.to_owned()))
            }
            (Err(error), _) => Err(fail("trace", error)),
        }
    }

    /// A random offset is the same share of every trace, so that both directions of one recording stay in step.
    fn trace_offset(&self, model: &LinkModel, trace: &Trace) -> TimeDelta {
        match model.trace_offset {
            None => TimeDelta::ZERO,
            Some(TraceOffset::At(offset)) => offset,
            Some(TraceOffset::Word(_)) => trace.duration().scale(self.unit("traces", "offset")),
        }
    }
}

impl LinkModel {
    /// The server of a link without a trace.
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

/// For each flow the link of its path with the least capacity until `end`, the first of several.
fn bottlenecks(network: &Network<'_>, links: &[LinkSpec], end: Time) -> Vec<Option<usize>> {
    let capacities: Vec<DataSize> =
        links.iter().map(|link| link.config.service.capacity(Time::ZERO, end)).collect();
    let rate = |&link: &usize| capacities[link];
    network.flows.iter().map(|flow| flow.forward.iter().copied().min_by_key(rate)).collect()
}

fn link_spec(planned: &PlannedLink, service: Service) -> Result<LinkSpec, Problem> {
    let config = planned.model.config(service).map_err(|error| {
        Problem::value(&planned.path.with("loss"), error.to_string()).help("let the bursts be longer")
    })?;
    Ok(LinkSpec::new(&planned.name, config))
}
