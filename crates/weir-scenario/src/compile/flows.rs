//! The flows of a run.

use weir_cc::coupled::sbd;
use weir_media::{BottleneckDetection, DetectionSide, EncoderModel, FrameTraces};
use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::{ClockSpec, CoupledSpec, FlowSpec, MediaSpec, Traffic};

use super::context::{Context, time};
use super::topology::PlannedFlow;
use super::traffic::traffic;
use crate::scenario::{Clocks, Detection as Measured, FlowTraffic, TakenAt};
use weir_form::{KeyPath, Problem};
use weir_import::traces::TraceStoreError;

/// Interval of feedback on single packets for statistics alone, where the controller does not use such feedback.
const ADDITIONAL_REPORTS: TimeDelta = TimeDelta::from_millis(100);
/// Receivers' clocks are off by between one hour and this many.
const MOST_HOURS_OFF: f64 = 12.0;

impl Context<'_> {
    /// The flow as it is simulated.
    pub(super) fn flow_spec(
        &self,
        planned: &PlannedFlow<'_>,
        coupled: Option<CoupledSpec>,
    ) -> Result<FlowSpec, Problem> {
        let (start, stop) = (self.start(planned), self.stop(planned));
        // The coupler applies the weights of coupled flows; a controller that applied them, too, would count them twice.
        let own_weight = if coupled.is_some() { 1.0 } else { planned.flow.weight() };
        let mut traffic = traffic(self.scenario, planned.flow, own_weight).map_err(|error| {
            Problem::value(&planned.path.with("options"), error.to_string())
                .help("see the options of the controller")
        })?;
        if let (FlowTraffic::Media(media), Traffic::Media(MediaSpec { config, .. })) =
            (&planned.flow.carried, &mut traffic)
            && let Some(wanted) = media.encoder.wanted_traces()
        {
            let traces = self.frame_sizes(wanted, &planned.path.with("encoder").with("traces"))?;
            if let EncoderModel::Traces(traced) | EncoderModel::Hybrid(_, traced) = &mut config.encoder.model
            {
                traced.traces = traces;
            }
        }
        if let Traffic::Media(MediaSpec { config, .. }) = &mut traffic {
            let started = (start - Time::ZERO) - planned.copy.shift;
            config.encoder.max_rates = config.encoder.max_rates.counted_from(started);
            if let Some(place) = coupled.as_ref().and_then(|_| self.statistics_of(planned)) {
                config.detection = BottleneckDetection::new(place, &sbd::Config::DEFAULT).ok();
                if place == DetectionSide::Sender {
                    config.additional_reports = config.additional_reports.or(Some(ADDITIONAL_REPORTS));
                }
            }
        }
        Ok(FlowSpec {
            name: planned.copy.name.clone(),
            forward: planned.forward.clone(),
            reverse: planned.reverse.clone(),
            start,
            stop,
            pauses: self.pauses(planned, start, stop),
            sender_clock: ClockSpec::default(),
            receiver_clock: self.receiver_clock(planned),
            call: self.call(planned),
            coupled,
            traffic,
        })
    }

    /// Place at which statistics of the flow are computed, if its coupling uses them.
    fn statistics_of(&self, planned: &PlannedFlow<'_>) -> Option<DetectionSide> {
        let (_, coupling) = self.scenario.coupling_of(planned.path.last())?;
        let place = match coupling.at.unwrap_or_default() {
            TakenAt::Sender => DetectionSide::Sender,
            TakenAt::Receiver => DetectionSide::Receiver,
        };
        (coupling.detection == Measured::Measured).then_some(place)
    }

    /// The number of its call: the index of the first flow in it.
    fn call(&self, planned: &PlannedFlow<'_>) -> Option<usize> {
        let call = planned.flow.call()?;
        self.scenario.flows.iter().position(|(_, flow)| flow.call() == Some(call))
    }

    /// The frame sizes of the name `wanted`, read from a file.
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

    fn start(&self, flow: &PlannedFlow<'_>) -> Time {
        time(flow.copy.start + self.spread(flow, flow.flow.start_spread, "start"))
    }

    /// Time at which the flow stops sending; [`Time::MAX`] for never.
    fn stop(&self, flow: &PlannedFlow<'_>) -> Time {
        let later = self.spread(flow, flow.flow.stop_spread, "stop");
        flow.copy.stop.map_or(Time::MAX, |stop| time(stop + later))
    }

    fn spread(&self, flow: &PlannedFlow<'_>, spread: Option<TimeDelta>, purpose: &str) -> TimeDelta {
        spread.map(|spread| spread.scale(self.unit(&flow.copy.name, purpose))).unwrap_or_default()
    }

    /// The silences of the flow between these times.
    fn pauses(&self, planned: &PlannedFlow<'_>, start: Time, stop: Time) -> Vec<(Time, Time)> {
        let shift = planned.copy.shift;
        let given = planned.flow.pauses.iter().flatten();
        let mut pauses: Vec<_> = given.map(|p| (time(p.from + shift), time(p.to + shift))).collect();
        if let FlowTraffic::Constant(constant) = &planned.flow.carried {
            pauses.extend(constant.silences(start, stop.min(self.end())));
        }
        pauses
    }

    fn receiver_clock(&self, planned: &PlannedFlow<'_>) -> ClockSpec {
        let given = planned.flow.receiver_clock.unwrap_or_default();
        let host = planned.flow.call().unwrap_or(&planned.copy.name);
        let usual = || match self.scenario.clocks {
            Clocks::Synchronised => TimeDelta::ZERO,
            Clocks::Independent => {
                let hours = 1.0 + (MOST_HOURS_OFF - 1.0) * self.unit(host, "clock");
                TimeDelta::from_secs_f64(hours * 3600.0)
            }
        };
        let offset = given.offset.unwrap_or_else(usual);
        let step = given.step.map(|step| (time(step.at), step.by));
        ClockSpec { offset, drift_ppm: given.drift_ppm, resolution: given.resolution, step }
    }
}
