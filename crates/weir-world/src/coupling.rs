//! Who is coupled with whom.

use weir_cc::coupled::{Coupler, sbd};
use weir_media::Desired;
use weir_net::Time;
use weir_units::TimeDelta;

/// A coupler and the way to it. Its members are the flows that name it ([`FlowSpec::coupled`](crate::FlowSpec::coupled)),
/// by their index in the run.
#[derive(Debug)]
pub struct CouplingSpec {
    /// Name.
    pub name: String,
    /// The coupler.
    pub coupler: Box<dyn Coupler>,
    /// How long a word takes from a host to the coupler, and an order back.
    pub delay: TimeDelta,
}

/// A flow's place in a coupling.
#[derive(Clone, Debug, PartialEq)]
pub struct CoupledSpec {
    /// Index of the coupling in the run.
    pub coupling: usize,
    /// `P`, the flow's weight at first; positive and finite.
    pub priority: f64,
    /// Its later weights, each from a time on, in order.
    pub later_priorities: Vec<(Time, f64)>,
    /// What it tells as its desired rate.
    pub desired: Desired,
    /// For a TCP flow whose coupler looks for shared bottlenecks: the statistics that it tells. What a media flow tells
    /// stands in its [own configuration](weir_media::MediaConfig::detection).
    pub statistics: Option<&'static sbd::Config>,
}

impl CoupledSpec {
    /// In the coupling of this index, with the usual weight of 1.
    pub const fn new(coupling: usize) -> Self {
        Self {
            coupling,
            priority: 1.0,
            later_priorities: Vec::new(),
            desired: Desired::Limits,
            statistics: None,
        }
    }

    /// Telling statistics with these parameters; `&sbd::Config::DEFAULT` will do.
    pub fn telling(self, config: &'static sbd::Config) -> Self {
        Self { statistics: Some(config), ..self }
    }

    /// With this weight.
    pub fn weighing(self, priority: f64) -> Self {
        Self { priority, ..self }
    }
}
