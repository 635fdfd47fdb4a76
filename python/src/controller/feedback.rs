//! The values that a class gets: limits and feedback.

use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use weir_cc::{
    ArrivalTime, DataRate, Ecn, Feedback as SenderFeedback, PacketFate, PacketResult, RateLimits, SendState,
    TimeDelta,
};

/// The bounds of a rate in bit/s: `min <= start <= max`.
#[pyclass(frozen, get_all, module = "weir", name = "Limits")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The least rate.
    min: f64,
    /// The rate at the start.
    start: f64,
    /// The greatest rate.
    max: f64,
}

impl From<RateLimits> for Limits {
    fn from(limits: RateLimits) -> Self {
        let [min, start, max] = [limits.min(), limits.start(), limits.max()].map(DataRate::bps_f64);
        Self { min, start, max }
    }
}

#[pymethods]
impl Limits {
    fn __repr__(&self) -> String {
        let Self { min, start, max } = self;
        format!("Limits(min={min}, start={start}, max={max})")
    }
}

/// The packets of a report: an array for each property, with an entry per packet in the order of sending.
#[pyclass(frozen, module = "weir", name = "Feedback")]
pub(crate) struct Feedback {
    results: Vec<PacketResult>,
    state: SendState,
    /// The round-trip time in seconds; NaN while unknown.
    #[pyo3(get)]
    rtt: f64,
    /// The reports that were lost before this one.
    #[pyo3(get)]
    missed_reports: u8,
    sent: PyOnceLock<Py<PyArray1<f64>>>,
    arrived: PyOnceLock<Py<PyArray1<f64>>>,
    size: PyOnceLock<Py<PyArray1<i64>>>,
    payload: PyOnceLock<Py<PyArray1<i64>>>,
    number: PyOnceLock<Py<PyArray1<i64>>>,
    ecn: PyOnceLock<Py<PyArray1<u8>>>,
    lost: PyOnceLock<Py<PyArray1<bool>>>,
}

/// The array of `value` over all packets, made at the first call.
fn column<T: Element + Copy>(
    py: Python<'_>,
    cell: &PyOnceLock<Py<PyArray1<T>>>,
    results: &[PacketResult],
    value: impl Fn(&PacketResult) -> T,
) -> Py<PyArray1<T>> {
    let array = cell.get_or_init(py, || PyArray1::from_iter(py, results.iter().map(value)).unbind());
    array.clone_ref(py)
}

impl Feedback {
    /// The feedback on these packets, or `None` for reports of another kind.
    pub(super) fn of(feedback: &SenderFeedback<'_>, state: SendState) -> Option<Self> {
        let SenderFeedback::Packets { results, rtt, missed_reports, .. } = feedback else { return None };
        Some(Self {
            results: results.to_vec(),
            state,
            rtt: rtt.map_or(f64::NAN, TimeDelta::secs_f64),
            missed_reports: *missed_reports,
            sent: PyOnceLock::new(),
            arrived: PyOnceLock::new(),
            size: PyOnceLock::new(),
            payload: PyOnceLock::new(),
            number: PyOnceLock::new(),
            ecn: PyOnceLock::new(),
            lost: PyOnceLock::new(),
        })
    }
}

/// The reported time of arrival.
fn arrival(result: &PacketResult) -> Option<ArrivalTime> {
    match result.fate {
        PacketFate::Arrived { at, .. } | PacketFate::Recovered { at, .. } => at,
        PacketFate::Missing => None,
    }
}

/// The ECN field as RFC 3168 has it on the wire.
fn codepoint(result: &PacketResult) -> u8 {
    match result.fate {
        PacketFate::Missing => 0,
        PacketFate::Arrived { ecn, .. } | PacketFate::Recovered { ecn, .. } => match ecn {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        },
    }
}

#[pymethods]
impl Feedback {
    /// Times of departure in seconds, by the sender's clock.
    #[getter]
    fn sent(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        column(py, &self.sent, &self.results, |result| seconds(result.sent.at.nanos()))
    }

    /// Times of arrival in seconds, by the receiver's clock, which is hours off; NaN for a lost packet, and for one without a time.
    #[getter]
    fn arrived(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        let at = |result: &PacketResult| arrival(result).map_or(f64::NAN, |at| seconds(at.nanos()));
        column(py, &self.arrived, &self.results, at)
    }

    /// Sizes in bytes, RTP header and payload.
    #[getter]
    fn size(&self, py: Python<'_>) -> Py<PyArray1<i64>> {
        column(py, &self.size, &self.results, |result| result.sent.size.bytes() as i64)
    }

    /// Payload in bytes, which rates count.
    #[getter]
    fn payload(&self, py: Python<'_>) -> Py<PyArray1<i64>> {
        column(py, &self.payload, &self.results, |result| result.sent.payload.bytes() as i64)
    }

    /// Numbers of the packets, which grow by one.
    #[getter]
    fn number(&self, py: Python<'_>) -> Py<PyArray1<i64>> {
        column(py, &self.number, &self.results, |result| result.sent.id as i64)
    }

    /// The ECN field on arrival (RFC 3168): 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    #[getter]
    fn ecn(&self, py: Python<'_>) -> Py<PyArray1<u8>> {
        column(py, &self.ecn, &self.results, codepoint)
    }

    /// Whether the packet is missing in the report.
    #[getter]
    fn lost(&self, py: Python<'_>) -> Py<PyArray1<bool>> {
        column(py, &self.lost, &self.results, |result| result.fate == PacketFate::Missing)
    }

    /// Bytes that are sent and not acknowledged.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.state.in_flight.bytes()
    }

    /// Bytes that wait in the pacer.
    #[getter]
    fn queued(&self) -> u64 {
        self.state.queued.bytes()
    }

    /// Whether the source sends less than the rate.
    #[getter]
    fn application_limited(&self) -> bool {
        self.state.application_limited
    }

    fn __len__(&self) -> usize {
        self.results.len()
    }

    fn __repr__(&self) -> String {
        let lost = self.results.iter().filter(|result| result.fate == PacketFate::Missing).count();
        format!("<Feedback on {} packets, {lost} lost>", self.results.len())
    }
}

/// Seconds of a clock.
pub(super) fn seconds(nanos: i64) -> f64 {
    nanos as f64 * 1e-9
}
