//! The fluid model of DCCC: the delay differential equations of dccc-2017, eqs (2), (4), (15) and (16), integrated on
//! any number of links and routes. It is a reference for packet runs, which must agree with it as far as packets
//! behave like a fluid.
//!
//! Delays depend on the state. A bit that leaves its source at `s` meets the first queue of its route in its state at
//! arrival, and so on for the next queues. Its report reaches the source one return delay after its arrival. At time
//! `t` the source knows the fate of the last reported bit. Links do not shape the rates of flows relative to each
//! other. At a link, bits arrive at the rate at which they left their source (eq. (1)).
//!
//! Steps are explicit Euler steps of at most half a millisecond. Memory grows with time, so that the model suits
//! minutes and not hours.

mod integrate;

pub use integrate::{Integration, integrate};

use core::fmt;

/// A link: a queue with a capacity, and a propagation path behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FluidLink {
    /// `c`, bit/s.
    pub capacity: f64,
    /// `u`, cross traffic that does not respond, bit/s.
    pub cross_traffic: f64,
    /// `q_max`, the longest queue, s.
    pub queue_limit: f64,
    /// `p`, propagation delay behind the queue, s.
    pub propagation: f64,
}

/// A flow under the control law of eq. (15) with `U = h·ln x`.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidFlow {
    /// The links of its path, by index.
    pub route: Vec<usize>,
    /// `e_b`, one-way delay of the return path, s.
    pub return_delay: f64,
    /// Start and stop of the flow, s.
    pub active: (f64, f64),
    /// Rate until the first report, bit/s.
    pub start_rate: f64,
    /// `h`, bit/s.
    pub utility_weight: f64,
    /// `β`.
    pub price_scale: f64,
    /// `η = k_r·RTT`.
    pub gain: f64,
    /// `T`, s.
    pub threshold: f64,
}

/// Reasons for which a model cannot be integrated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FluidError {
    /// A step or a duration is not a positive time, or the step is longer than half a millisecond.
    Time,
    /// A number of a link is out of range.
    Link {
        /// Index of the link.
        index: usize,
    },
    /// A number of a flow is out of range, or its route is empty or names a link that is not there.
    Flow {
        /// Index of the flow.
        index: usize,
    },
}

impl fmt::Display for FluidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("step and duration must be above 0, and the step at most 0.5 ms"),
            Self::Link { index } => write!(f, "link {index}: capacity must be above 0, all else 0 or more"),
            Self::Flow { index } => write!(
                f,
                "flow {index}: needs a route over existing links, a round trip, weight, price and gain above 0"
            ),
        }
    }
}

impl core::error::Error for FluidError {}

impl FluidLink {
    fn is_valid(&self) -> bool {
        let not_negative = [self.cross_traffic, self.queue_limit, self.propagation];
        self.capacity > 0.0 && self.capacity.is_finite() && not_negative.iter().all(|v| *v >= 0.0)
    }
}

impl FluidFlow {
    fn is_valid(&self, links: &[FluidLink]) -> bool {
        let positive = [self.start_rate, self.utility_weight, self.price_scale, self.gain];
        let routed = !self.route.is_empty() && self.route.iter().all(|&link| link < links.len());
        routed
            && positive.iter().all(|v| *v > 0.0 && v.is_finite())
            && self.threshold >= 0.0
            && self.return_delay >= 0.0
            && self.return_delay + self.route.iter().map(|&link| links[link].propagation).sum::<f64>() > 0.0
    }
}

#[cfg(test)]
mod tests;
