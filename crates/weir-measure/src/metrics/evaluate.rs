//! Computation of the metrics of a run from the recorded counters.

use std::collections::BTreeMap;
use std::ops::Range;

use super::bins::{BinCounts, BinGrid};
use super::contention::Contention;
use super::convergence::{MIN_PIECE, convergence};
use super::coupling::CouplingFlows;
use super::delays::FlowDelays;
use super::fairness::jain;
use super::flow::{FlowRecorder, PacketTotals};
use super::histogram::Histogram;
use super::link::{LinkRecorder, ratio};
use super::max_min::{SharedNetwork, SteadyShares};
use super::plan::{CouplingPlan, MeasurePlan};
use super::span::{ActiveSpan, Stretches};
use crate::results::stats;
use crate::results::{Convergence, FlowKind, FlowMeasures, Jain, LinkMeasures, Pooled, RunMetrics, Value};

/// All counters of a run, per flow and per link in the order of the plan.
#[derive(Debug)]
pub(super) struct Evaluation<'a> {
    pub(super) plan: &'a MeasurePlan,
    pub(super) window: &'a Stretches,
    pub(super) grid: &'a BinGrid,
    pub(super) flows: &'a [FlowRecorder],
    pub(super) links: &'a [LinkRecorder],
    /// The time spans in which each flow could send.
    pub(super) active: &'a [Stretches],
    pub(super) delays: &'a [FlowDelays],
}

impl Evaluation<'_> {
    pub(super) fn metrics(&self) -> RunMetrics {
        let contentions: Vec<Contention<'_>> =
            (0..self.links.len()).map(|link| self.contention(link)).collect();
        let network = SharedNetwork { links: &self.plan.links, flows: &self.plan.flows, active: self.active };
        let mut shares = SteadyShares::new(network, self.window, MIN_PIECE);
        let mut flows: Vec<_> =
            (0..self.flows.len()).map(|flow| self.flow(flow, &contentions, &mut shares)).collect();
        self.plan.couplings.iter().for_each(|coupling| self.couple(coupling, &mut flows));
        let links = contentions.iter().enumerate().map(|(i, contention)| self.link(i, contention, &flows));
        RunMetrics {
            media: self.media(&flows),
            links: links.collect(),
            jain: self.jain(&flows),
            flows,
            windows: BTreeMap::new(),
        }
    }

    fn contention(&self, link: usize) -> Contention<'_> {
        Contention::new(link, &self.plan.links[link], &self.plan.flows, self.active)
    }

    fn flow(
        &self,
        flow: usize,
        contentions: &[Contention<'_>],
        shares: &mut SteadyShares<'_>,
    ) -> FlowMeasures<Value> {
        let plan = &self.plan.flows[flow];
        let contention = plan.bottleneck.and_then(|link| contentions.get(link));
        let fair_share = contention.and_then(|contention| contention.mean_fair_share(flow, self.window));
        let convergence = self.convergence(flow, shares);
        self.flows[flow].evaluate(
            plan,
            self.grid,
            &self.active[flow],
            fair_share,
            &self.delays[flow],
            convergence,
        )
    }

    /// Sets the metrics of coupled flows.
    fn couple(&self, coupling: &CouplingPlan, flows: &mut [FlowMeasures<Value>]) {
        let total = |of: fn(&FlowRecorder) -> u64| -> f64 {
            coupling.flows.iter().map(|&flow| of(&self.flows[flow]) as f64).sum()
        };
        let (sent, received) = (total(|flow| flow.sent.bytes), total(|flow| flow.received.bytes));
        let coupled = CouplingFlows { coupling, flows: &self.plan.flows, active: self.active };
        let shares_by_weight = coupled.shares_by_weight(self.window);
        for (place, &flow) in coupling.flows.iter().enumerate() {
            let (recorder, measures) = (&self.flows[flow], &mut flows[flow]);
            measures.share_sent = ratio(recorder.sent.bytes as f64, sent);
            measures.share_received = ratio(recorder.received.bytes as f64, received);
            measures.share_wanted = shares_by_weight.as_ref().map(|parts| parts[place]);
            measures.refused_messages = Some(recorder.refused_messages() as f64);
        }
    }

    fn convergence(&self, flow: usize, shares: &mut SteadyShares<'_>) -> Vec<Convergence<Value>> {
        if !self.is_adaptive(flow) || self.plan.flows[flow].bottleneck.is_none() {
            return Vec::new();
        }
        convergence(&shares.of(flow), &self.flows[flow].receipts, self.grid)
    }

    fn link(&self, link: usize, own: &Contention<'_>, flows: &[FlowMeasures<Value>]) -> LinkMeasures<Value> {
        let shares: Vec<f64> = own.flows().iter().filter_map(|&flow| flows[flow].fair_share).collect();
        self.links[link].evaluate(&self.plan.links[link], self.grid, self.window, stats::mean(&shares))
    }

    fn media(&self, measures: &[FlowMeasures<Value>]) -> Pooled<Value> {
        let media: Vec<usize> = self.flows_where(|flow| self.plan.flows[flow].kind == FlowKind::Media);
        let total = |of: fn(&FlowRecorder) -> PacketTotals| {
            media.iter().map(|&flow| of(&self.flows[flow])).fold(PacketTotals::default(), PacketTotals::plus)
        };
        let pooled = |of: fn(&FlowDelays) -> &Histogram| {
            let mut all = Histogram::new();
            for &flow in &media {
                all.merge(of(&self.delays[flow]));
            }
            (&all).into()
        };
        let (arrived, lost) = (total(|flow| flow.arrived), total(|flow| flow.lost));
        let rates: Vec<f64> = media.iter().filter_map(|&flow| measures[flow].rate_bps).collect();
        Pooled {
            rate_bps: (!rates.is_empty()).then(|| rates.iter().sum()),
            loss_ratio: ratio(lost.bytes as f64, (lost.bytes + arrived.bytes) as f64),
            packet_loss_ratio: ratio(lost.packets as f64, (lost.packets + arrived.packets) as f64),
            owd_excess_ms: pooled(|delays| &delays.owd_excess),
            queue_wait_ms: pooled(|delays| &delays.queue_wait),
            rtt_excess_ms: pooled(|delays| &delays.rtt_excess),
            frame_delay_ms: pooled(|delays| &delays.frame_delay),
        }
    }

    fn jain(&self, measures: &[FlowMeasures<Value>]) -> Jain<Value> {
        let competing = self.competing();
        let of_means = |rate: fn(&FlowMeasures<Value>) -> Value| {
            jain(&competing.iter().filter_map(|&flow| rate(&measures[flow])).collect::<Vec<_>>())
        };
        Jain {
            of_means: of_means(|flow| flow.rate_bps),
            mean_of_instant: self.mean_of_instant(&competing, |flow| Some(&flow.receipts)),
            sent_of_means: of_means(|flow| flow.sent_rate_bps),
            sent_mean_of_instant: self.mean_of_instant(&competing, |flow| flow.sends.as_ref()),
        }
    }

    /// Mean of Jain's index of `bytes` per second, over the seconds in which all of these flows are active.
    fn mean_of_instant(&self, flows: &[usize], bytes: fn(&FlowRecorder) -> Option<&BinCounts>) -> Value {
        let all_active = |second: ActiveSpan| flows.iter().all(|&f| self.active[f].covers(second));
        let seconds = self.grid.seconds().filter(|(_, second)| all_active(*second));
        let index = |(bins, _): (Range<usize>, ActiveSpan)| {
            let rate = |&flow: &usize| Some(bytes(&self.flows[flow])?.sum(bins.clone()) as f64);
            jain(&flows.iter().map(rate).collect::<Option<Vec<_>>>()?)
        };
        stats::mean(&seconds.filter_map(index).collect::<Vec<_>>())
    }

    /// The adaptive flows that share a bottleneck with the first media flow (or, without one, the first flow that
    /// adapts).
    fn competing(&self) -> Vec<usize> {
        let adaptive = self.flows_where(|flow| self.is_adaptive(flow));
        let is_media = |flow: &&usize| self.plan.flows[**flow].kind == FlowKind::Media;
        let Some(&first) = adaptive.iter().find(is_media).or(adaptive.first()) else { return Vec::new() };
        let bottleneck = self.plan.flows[first].bottleneck;
        adaptive.into_iter().filter(|&flow| self.plan.flows[flow].bottleneck == bottleneck).collect()
    }

    fn is_adaptive(&self, flow: usize) -> bool {
        matches!(self.plan.flows[flow].kind, FlowKind::Media | FlowKind::Tcp)
    }

    fn flows_where(&self, condition: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.flows.len()).filter(|&flow| condition(flow)).collect()
    }
}
