//! Couplings of flows.

use weir_cc::coupled::{Coupler, sbd};
use weir_media::DesiredRate;
use weir_net::Time;
use weir_units::TimeDelta;

/// A coupler and its distance. Its members are the flows that name it
/// ([`FlowSpec::coupled`](crate::FlowSpec::coupled)), by their index in the run.
#[derive(Debug)]
pub struct CouplingSpec {
    /// Name.
    pub name: String,
    /// The coupler.
    pub coupler: Box<dyn Coupler>,
    /// Delay of a message from a host to the coupler, and of an action back.
    pub delay: TimeDelta,
}

/// Membership of a flow in a coupling.
#[derive(Clone, Debug, PartialEq)]
pub struct CoupledSpec {
    /// Index of the coupling in the run.
    pub coupling: usize,
    /// `P`, the flow's initial weight; positive and finite.
    pub priority: f64,
    /// Its later weights, each with the time from which on it holds, in order.
    pub later_priorities: Vec<(Time, f64)>,
    /// The desired rate that it reports.
    pub desired: DesiredRate,
    /// Statistics that a TCP flow reports, for a coupler that detects shared bottlenecks. A media flow has them in its
    /// [own configuration](weir_media::MediaConfig::detection).
    pub statistics: Option<&'static sbd::Config>,
}

impl CoupledSpec {
    /// A membership in the coupling of this index, with the usual weight of 1.
    pub const fn new(coupling: usize) -> Self {
        Self {
            coupling,
            priority: 1.0,
            later_priorities: Vec::new(),
            desired: DesiredRate::Limits,
            statistics: None,
        }
    }

    /// Reports statistics with these parameters, such as `&sbd::Config::DEFAULT`.
    pub fn telling(self, config: &'static sbd::Config) -> Self {
        Self { statistics: Some(config), ..self }
    }

    /// Sets the weight.
    pub fn weighing(self, priority: f64) -> Self {
        Self { priority, ..self }
    }
}
