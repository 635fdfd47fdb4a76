//! Estimators with AlphaRTC's interface, at the receiver.
//!
//! The estimator gets a dictionary for each packet in the order of arrival, and is asked for an estimate at an interval. The estimate
//! goes to the sender as REMB, and is the sender's rate.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use weir_cc::rate_controller::{Computed, FeedbackOutcome, FlowContext, Rule, SendRates};
use weir_cc::{
    Arrival, ArrivalTime, ChangeReason, DataRate, Feedback, LimitingFactor, Pacing, Receiver, Report,
    ReportKind, SendState, SendTime, Signal, TimeDelta,
};

use super::binding::FlowBinding;
use super::instance::ClassInstance;

/// Interval of the estimates: `AlphaCC`'s 200 ms.
pub(super) const INTERVAL: TimeDelta = TimeDelta::from_millis(200);
/// The payload type of the packets, that of AlphaRTC's examples.
const PAYLOAD_TYPE: u8 = 125;
/// The synchronisation source of the packets.
const SSRC: u32 = 1;
/// RTP header with the extensions of the send time and of the number.
const HEADER: u8 = 24;
/// The pacing rate over the target rate.
const PACING: f64 = 2.5;

/// The receiver half.
#[derive(Debug)]
pub(super) struct EstimatorReceiver {
    instance: ClassInstance,
    report_states: Option<Py<PyAny>>,
    begin: Option<ArrivalTime>,
    due: Option<ArrivalTime>,
}

impl EstimatorReceiver {
    pub(super) fn new(instance: ClassInstance) -> Self {
        Self { instance, report_states: None, begin: None, due: None }
    }

    /// Seconds since the first packet: the receiver's clock is hours off.
    fn at_s(&self, now: ArrivalTime) -> f64 {
        self.begin.map_or(0.0, |begin| (now - begin).secs_f64())
    }
}

/// The dictionary of AlphaRTC on a packet.
fn states<'py>(py: Python<'py>, packet: &Arrival) -> PyResult<Bound<'py, PyDict>> {
    let states = PyDict::new(py);
    states.set_item("send_time_ms", packet.departure.nanos().div_euclid(1_000_000))?;
    states.set_item("arrival_time_ms", packet.at.nanos().div_euclid(1_000_000))?;
    states.set_item("payload_type", PAYLOAD_TYPE)?;
    states.set_item("sequence_number", packet.id as u16)?;
    states.set_item("ssrc", SSRC)?;
    states.set_item("padding_length", 0)?;
    states.set_item("header_length", HEADER)?;
    states.set_item("payload_size", packet.size.bytes())?;
    Ok(states)
}

impl Receiver for EstimatorReceiver {
    fn on_arrival(&mut self, packet: &Arrival) {
        if self.begin.is_none() {
            self.begin = Some(packet.at);
            self.due = Some(packet.at + INTERVAL);
            self.instance.make(0.0, false);
            self.report_states = self.instance.method("report_states");
        }
        let Some(method) = self.report_states.as_ref().filter(|_| !self.instance.has_failed()) else {
            return;
        };
        let called = Python::attach(|py| method.bind(py).call1((states(py, packet)?,)).map(drop));
        if let Err(error) = called {
            self.instance.raised(self.at_s(packet.at), "report_states", error);
        }
    }

    fn next_timeout(&self) -> Option<ArrivalTime> {
        self.due
    }

    fn poll_report(&mut self, now: ArrivalTime) -> Option<Report<'_>> {
        let due = self.due.filter(|&due| due <= now)?;
        self.due = Some((due + INTERVAL).max(now + TimeDelta::from_nanos(1)));
        if self.instance.has_failed() {
            return None;
        }
        let method = self.instance.method("get_estimated_bandwidth")?;
        let at_s = self.at_s(now);
        let rate = Python::attach(|py| match method.bind(py).call0() {
            Ok(value) => self.instance.rate(at_s, "get_estimated_bandwidth", &value),
            Err(error) => {
                self.instance.raised(at_s, "get_estimated_bandwidth", error);
                None
            }
        })?;
        Some(Report::Ceiling(DataRate::from_bps_f64(rate)))
    }

    fn on_route_changed(&mut self) {}
}

/// The sender half: the rate is that of the last REMB.
#[derive(Debug)]
pub(super) struct CeilingRule {
    /// The flow that it shares with the receiver half.
    pub(super) binding: Arc<FlowBinding>,
}

impl Rule for CeilingRule {
    fn accepts(&self, kind: ReportKind) -> bool {
        kind == ReportKind::Ceiling
    }

    fn on_feedback(
        &mut self,
        _: SendTime,
        feedback: &Feedback<'_>,
        _: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome {
        let Feedback::Ceiling(ceiling) = feedback else { return FeedbackOutcome::Ignored };
        frame.end_silence();
        if self.binding.has_failed() {
            return FeedbackOutcome::NoUpdate;
        }
        let rate = ceiling.bps_f64();
        FeedbackOutcome::Rate(Computed {
            rate,
            why: ChangeReason::Ceiling,
            limited_by: (rate < frame.rate()).then_some(LimitingFactor::Receiver),
        })
    }

    fn forget_path(&mut self, _: SendTime, _: &mut FlowContext) {}

    fn scale(&mut self, _: SendTime, _: f64, _: &FlowContext) {}

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        SendRates::at(frame.data_rate(), Pacing::Factor(PACING))
    }

    fn signals(&self) -> &'static [Signal] {
        &[]
    }

    fn read_signals(&self, _: &FlowContext, _: &mut [f64]) {}
}
