//! Flows: two hosts, their clocks, and the path between them.

use weir_net::Time;
use weir_units::TimeDelta;

use crate::coupling::CoupledSpec;
use crate::traffic::Traffic;

/// An end of a flow, and the half of a controller at that end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The sender half.
    Sender,
    /// The receiver half.
    Receiver,
}

/// A host's clock: its reading as a function of true time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClockSpec {
    /// Its reading at the start of the run.
    pub offset: TimeDelta,
    /// Drift in parts per million; positive if it runs fast.
    pub drift_ppm: f64,
    /// Readings are multiples of this; zero for nanoseconds.
    pub resolution: TimeDelta,
    /// Time at which it is set, and the step forward; backward if negative.
    pub step: Option<(Time, TimeDelta)>,
}

/// A flow: two hosts, its own or those of its call, and the path between them.
#[derive(Debug)]
pub struct FlowSpec {
    /// Name, also the name of its random streams.
    pub name: String,
    /// Indices of the links from the sender to the receiver, at least one.
    pub forward: Vec<usize>,
    /// Indices of the links back; empty only for flows without feedback.
    pub reverse: Vec<usize>,
    /// Start time.
    pub start: Time,
    /// Time at which it stops sending; [`Time::MAX`] if it never does.
    pub stop: Time,
    /// Pauses, each from the first time, included, to the second, excluded. TCP does not pause.
    pub pauses: Vec<(Time, Time)>,
    /// The sender's clock.
    pub sender_clock: ClockSpec,
    /// The receiver's clock.
    pub receiver_clock: ClockSpec,
    /// The call it belongs to, if any: the media flows of one call share a host at either end, and its clock. Any other
    /// flow has hosts of its own.
    pub call: Option<usize>,
    /// Its membership in a coupling, if it is coupled.
    pub coupled: Option<CoupledSpec>,
    /// Traffic of the flow.
    pub traffic: Traffic,
}

impl FlowSpec {
    /// A flow from the beginning to the end, over link 0 forward and link 1 back, with hosts on true time.
    pub fn new(name: &str, traffic: Traffic) -> Self {
        Self {
            name: name.to_owned(),
            forward: vec![0],
            reverse: vec![1],
            start: Time::ZERO,
            stop: Time::MAX,
            pauses: Vec::new(),
            sender_clock: ClockSpec::default(),
            receiver_clock: ClockSpec::default(),
            call: None,
            coupled: None,
            traffic,
        }
    }

    /// Sets the routes by the indices of their links: forward, and back.
    pub fn over(self, forward: impl Into<Vec<usize>>, reverse: impl Into<Vec<usize>>) -> Self {
        Self { forward: forward.into(), reverse: reverse.into(), ..self }
    }

    /// Starts the flow at `start`.
    pub fn from(self, start: Time) -> Self {
        Self { start, ..self }
    }

    /// Stops the flow at `stop`.
    pub fn until(self, stop: Time) -> Self {
        Self { stop, ..self }
    }

    /// Adds a pause from the first time, included, to the second, excluded.
    pub fn pausing(mut self, from: Time, to: Time) -> Self {
        self.pauses.push((from, to));
        self
    }

    /// Puts the flow into the call of this number.
    pub fn in_call(self, call: usize) -> Self {
        Self { call: Some(call), ..self }
    }

    /// Couples the flow with others.
    pub fn coupled(self, coupled: CoupledSpec) -> Self {
        Self { coupled: Some(coupled), ..self }
    }

    /// Sets the clocks of the sender and of the receiver.
    pub fn clocks(self, sender_clock: ClockSpec, receiver_clock: ClockSpec) -> Self {
        Self { sender_clock, receiver_clock, ..self }
    }
}
