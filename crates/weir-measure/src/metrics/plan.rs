//! The plan of the measurements of a run, fixed before it starts.

use weir_net::{Service, Time};
use weir_units::{DataRate, TimeDelta};

use crate::results::FlowKind;

/// Plan of the measurements of a run. Flows and links are in the order of the simulation.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct MeasurePlan {
    /// End of the run.
    pub end: Time,
    /// The measurement window: its start, included, and its end, excluded; limited to the run.
    pub window: (Time, Time),
    /// The flows.
    pub flows: Vec<FlowPlan>,
    /// The links.
    pub links: Vec<LinkPlan>,
    /// Whether time series are recorded.
    pub series: bool,
    /// Whether the media flows are recorded as [calls](weir_world::recorded) too.
    pub record: bool,
    /// Further windows, each with all measurements.
    pub windows: Vec<ExtraWindow>,
    /// Groups of flows that are measured as coupled.
    pub couplings: Vec<CouplingPlan>,
    /// Whether the queues of bottlenecks are recorded at each arrival.
    pub queues: bool,
    /// Time of capture from which on frames count in the flows' [views](super::View); [`Time::MAX`] for no frame.
    pub viewed_from: Time,
    /// Whether received media payload is counted over time, without padding, headers and audio.
    pub media_receipts: bool,
}

impl MeasurePlan {
    /// Metrics of `flows` and `links` from the start of the run to its `end`, without any option.
    pub fn new(end: Time, flows: Vec<FlowPlan>, links: Vec<LinkPlan>) -> Self {
        Self {
            end,
            window: (Time::ZERO, end),
            flows,
            links,
            series: false,
            record: false,
            windows: Vec::new(),
            couplings: Vec::new(),
            queues: false,
            viewed_from: Time::MAX,
            media_receipts: false,
        }
    }
}

/// Flows that are measured as coupled, with or without a coupler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CouplingPlan {
    /// Its name.
    pub name: String,
    /// The flows, by index.
    pub flows: Vec<usize>,
    /// Whether the aggregate is a sum of windows in bytes and not of rates in bit/s.
    pub windows: bool,
}

/// A window besides that of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraWindow {
    /// Its unique name.
    pub name: String,
    /// Spans of time in order and apart from each other, each with its start, included, and its end, excluded. They
    /// are limited to the run; empty ones are ignored.
    pub spans: Vec<(Time, Time)>,
    /// Whether only the delays of packets are recorded, without frames and metrics, which saves time.
    pub delays_only: bool,
}

/// Properties of a flow for its measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPlan {
    /// Its name.
    pub name: String,
    /// Kind of its traffic.
    pub kind: FlowKind,
    /// Start of the flow.
    pub start: Time,
    /// Time at which it stops sending; [`Time::MAX`] if it does not stop.
    pub stop: Time,
    /// Pauses, each from its first time, included, to its second, excluded.
    pub pauses: Vec<(Time, Time)>,
    /// Propagation delay from the sender to the receiver, all links together, without serialisation.
    pub propagation: TimeDelta,
    /// The links on its forward path, by index.
    pub route: Vec<usize>,
    /// The bottleneck of its forward path, by index; flows with the same bottleneck share it.
    pub bottleneck: Option<usize>,
    /// The highest rate it can use, on the wire, or `None` for no limit.
    pub max_rate: Option<DataRate>,
    /// Later values of that rate, each with the time from which on it holds, in order.
    pub max_rates: Vec<(Time, DataRate)>,
    /// Sending rates on the wire, each with the time from which on it holds, in order; empty for an adaptive flow.
    pub sends: Vec<(Time, DataRate)>,
    /// Weight in the sharing of a bottleneck, above 0.
    pub weight: f64,
    /// Later weights, each with the time from which on it holds, in order.
    pub later_weights: Vec<(Time, f64)>,
    /// Whether it competes with the evaluated flows: the scenario determines its controller, whatever controller is
    /// tested.
    pub competes: bool,
    /// The controller of a media flow, by its name in the scenario; empty for others.
    pub controller: String,
    /// Names of the signals of its controller's sender half, or of its TCP sender; empty for none.
    pub sender_signals: Vec<String>,
    /// Names of the signals of its controller's receiver half; empty for none.
    pub receiver_signals: Vec<String>,
}

impl FlowPlan {
    /// A flow over link 0 from the start of the run to its end, without delay, limits or signals.
    pub fn new(name: &str, kind: FlowKind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            start: Time::ZERO,
            stop: Time::MAX,
            pauses: Vec::new(),
            propagation: TimeDelta::ZERO,
            route: vec![0],
            bottleneck: Some(0),
            max_rate: None,
            max_rates: Vec::new(),
            weight: 1.0,
            later_weights: Vec::new(),
            sends: Vec::new(),
            competes: false,
            controller: String::new(),
            sender_signals: Vec::new(),
            receiver_signals: Vec::new(),
        }
    }

    /// Whether it is media under the tested controller.
    pub fn is_judged(&self) -> bool {
        self.kind == FlowKind::Media && !self.competes
    }

    /// Whether it may send at `at`.
    pub fn may_send_at(&self, at: Time) -> bool {
        let pauses = self.pauses.iter().any(|&(from, to)| from <= at && at < to);
        self.start <= at && at < self.stop && !pauses
    }

    /// The highest rate it can use at `at`, on the wire, or `None` for no limit.
    pub fn max_rate_at(&self, at: Time) -> Option<DataRate> {
        let begun = self.max_rates.partition_point(|&(from, _)| from <= at);
        begun.checked_sub(1).map_or(self.max_rate, |step| Some(self.max_rates[step].1))
    }

    /// Its weight at `at`.
    pub fn weight_at(&self, at: Time) -> f64 {
        let begun = self.later_weights.partition_point(|&(from, _)| from <= at);
        begun.checked_sub(1).map_or(self.weight, |step| self.later_weights[step].1)
    }
}

/// Properties of a link for its measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPlan {
    /// Its name.
    pub name: String,
    /// Its service over time.
    pub service: Service,
    /// Propagation delay. A packet that leaves the link used the capacity of this much earlier.
    pub delay: TimeDelta,
    /// Whether it is the bottleneck of a flow.
    pub bottleneck: bool,
}

impl LinkPlan {
    /// A bottleneck without propagation delay.
    pub fn bottleneck(name: &str, service: Service) -> Self {
        Self { name: name.to_owned(), service, delay: TimeDelta::ZERO, bottleneck: true }
    }
}
