//! A shipped scenario run over the seeds, each run with its series.

use std::ops::RangeInclusive;

use weir_lab::comparison::ComparisonRequest;
use weir_lab::metrics::{FlowSeries, Series, SignalSeries};
use weir_lab::results::{FlowMeasures, RunMetrics, Value};
use weir_lab::scenario::Scenario;
use weir_lab::traces::TraceStore;

use crate::report::Report;

/// The paper makes ten runs of each experiment.
const SEEDS: RangeInclusive<u64> = 1..=10;

/// A run in detail.
pub(crate) struct Run {
    pub(crate) metrics: RunMetrics,
    pub(crate) series: Series,
}

/// The runs of a scenario, in the order of the seeds.
pub(crate) struct Experiment(pub(crate) Vec<Run>);

/// What the tables of the paper give, as means over the runs.
pub(crate) struct Table {
    /// Mean over time of carried over possible rate, in per cent.
    pub(crate) utilisation: f64,
    /// Median of RTT − RTTmin, in ms.
    pub(crate) median: f64,
    /// 95th percentile of RTT − RTTmin, in ms.
    pub(crate) p95: f64,
    /// Packets lost over packets sent, in per cent.
    pub(crate) loss: f64,
}

impl Experiment {
    /// The scenario that ships as `gcc-2016/NAME`, with `overrides` as `--set` takes them. Series are kept of the
    /// first seed of a comparison only, hence one comparison per seed.
    pub(crate) fn run(name: &str, overrides: &[&str]) -> Self {
        Self::of(&format!("gcc-2016/{name}"), overrides)
    }

    /// The scenario that ships as `name`, likewise.
    pub(crate) fn of(name: &str, overrides: &[&str]) -> Self {
        let overrides: Vec<String> = overrides.iter().map(|&o| o.to_owned()).collect();
        let scenario = Scenario::open(name, &overrides).expect("it ships");
        Self(SEEDS.map(|seed| Run::of(&scenario, seed)).collect())
    }

    /// A value of each run.
    pub(crate) fn each(&self, value: impl Fn(&Run) -> f64) -> Vec<f64> {
        self.0.iter().map(value).collect()
    }

    /// Reports what the paper's tables give, of all media flows together.
    pub(crate) fn table(&self, report: &mut Report) -> Table {
        let share = |value: Value| 100.0 * defined(value);
        let utilisation = self.each(|run| share(run.metrics.links[0].utilisation.time_mean));
        let bits = self.each(|run| share(run.metrics.links[0].utilisation.bits));
        let delay = |run: &Run| run.metrics.media.rtt_excess_ms.clone();
        let utilisation = report.row("utilisation as time mean, %", 1, &utilisation);
        report.row("utilisation as carried over possible bits, %", 1, &bits);
        let table = Table {
            utilisation,
            median: report.row("RTT − RTTmin, median, ms", 0, &self.each(|run| defined(delay(run).p50))),
            p95: report.row(
                "RTT − RTTmin, 95th percentile, ms",
                0,
                &self.each(|run| defined(delay(run).p95)),
            ),
            loss: report.row("loss, %", 2, &self.each(|run| share(run.metrics.media.packet_loss_ratio))),
        };
        let one_way = self.each(|run| defined(run.metrics.media.owd_excess_ms.p95));
        report.row("one-way delay − propagation, 95th percentile, ms", 0, &one_way);
        table
    }

    /// Reports Jain's index of the mean rates.
    pub(crate) fn jain(&self, report: &mut Report) -> f64 {
        report.row("Jain's index of the mean rates", 3, &self.each(|run| defined(run.metrics.jain.of_means)))
    }
}

impl Run {
    fn of(scenario: &Scenario, seed: u64) -> Self {
        let request = ComparisonRequest { scenario, seeds: &[seed], jobs: 1, series: true };
        let mut comparison = request.run(&TraceStore::at(None), &|| ()).expect("it runs");
        let mut controller = comparison.controllers.remove(0);
        let series = controller.sample.series.take().expect("it was asked for");
        Self { metrics: controller.runs.remove(0), series }
    }

    pub(crate) fn flow(&self, name: &str) -> &FlowMeasures<Value> {
        self.metrics.flows.iter().find(|flow| flow.name == name).expect("a flow of the scenario")
    }

    pub(crate) fn flow_series(&self, name: &str) -> &FlowSeries {
        self.series.flows.iter().find(|flow| flow.name == name).expect("a flow of the scenario")
    }

    pub(crate) fn signal(&self, flow: &str, name: &str) -> &SignalSeries {
        let signals = &self.flow_series(flow).signals;
        signals.iter().find(|signal| signal.name == name).expect("a signal of gcc-2016")
    }

    /// Packets of `flow` lost, of those sent in the measurement window.
    pub(crate) fn lost_packets(&self, flow: &str) -> f64 {
        let flow = self.flow(flow);
        defined(flow.packet_loss_ratio) * defined(flow.sent.packets)
    }

    /// How often the detector of `flow` went over to over-use.
    pub(crate) fn overuses(&self, flow: &str) -> f64 {
        let over = |usage: &f64| *usage == 1.0;
        let bins = &self.signal(flow, "usage").max;
        bins.windows(2).filter(|pair| !over(&pair[0]) && over(&pair[1])).count() as f64
    }

    /// The values of a column from `from` to `to`, in seconds; bins without a value are left out.
    pub(crate) fn between(&self, column: &[f64], from: f64, to: f64) -> Vec<f64> {
        // Half a bin of 100 ms, so that rounding does not decide.
        let inside = |at: f64| (from - 0.05..to - 0.05).contains(&at);
        let values =
            self.series.time_s.iter().zip(column).filter(|&(&at, value)| inside(at) && !value.is_nan());
        values.map(|(_, &value)| value).collect()
    }
}

/// A metric that every run of these experiments has.
pub(crate) fn defined(value: Value) -> f64 {
    value.expect("defined in every run")
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    weir_lab::results::stats::mean(values).expect("at least one value")
}

pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

pub(crate) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
