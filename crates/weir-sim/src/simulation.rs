//! The event loop of the simulator: the component with the earliest wake-up is woken, acts, and sets its next
//! wake-up.

use core::fmt;

use weir_net::Time;
use weir_world::{FlowSpec, Monitor, RunSpec, Side, Traffic};

use crate::endpoint::HostEndpoint;
use crate::network::{Component, Faulty, Network};
use crate::packet::Ticket;
use weir_world::host::{Couplings, host_owner};

/// A simulation that is ready to run.
#[derive(Debug)]
pub struct Simulation<M> {
    network: Network<M>,
    endpoints: Vec<HostEndpoint>,
    /// The host that sends each flow, by index of the flow.
    senders: Vec<usize>,
    end: Time,
}

/// Reasons for which a spec cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecError {
    /// A link's configuration is out of range.
    Link {
        /// The link's name.
        name: String,
        /// Description of the problem.
        problem: String,
    },
    /// A Wi-Fi cell, or a link in it, is out of range.
    Cell {
        /// The cell's name.
        name: String,
        /// Description of the problem.
        problem: String,
    },
    /// A flow refers to a link that does not exist, or to none.
    Route {
        /// The flow's name.
        flow: String,
    },
    /// A media flow lacks a half of its controller: both of its ends are simulated.
    Half {
        /// The flow's name.
        flow: String,
        /// The end without a controller half.
        side: Side,
    },
    /// A flow of a call carries no media, or has other clocks than the call's first flow.
    Call {
        /// The flow's name.
        flow: String,
    },
    /// A coupled flow has no controller that can be coupled, or no coupler.
    Coupling {
        /// The flow's name.
        flow: String,
    },
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link { name, problem } => write!(f, "link `{name}`: {problem}"),
            Self::Cell { name, problem } => write!(f, "cell `{name}`: {problem}"),
            Self::Route { flow } => {
                write!(f, "flow `{flow}` needs a route over existing links, both ways if it has feedback")
            }
            Self::Half { flow, side } => {
                let half = match side {
                    Side::Sender => "sender",
                    Side::Receiver => "receiver",
                };
                write!(f, "flow `{flow}` has no {half} half of a controller: both of its ends are simulated")
            }
            Self::Call { flow } => {
                write!(
                    f,
                    "flow `{flow}` is in a call: it must carry media, by the clocks of the call's hosts"
                )
            }
            Self::Coupling { flow } => {
                write!(
                    f,
                    "flow `{flow}` is coupled: it must be media or a TCP transfer, and its coupling must exist"
                )
            }
        }
    }
}

impl core::error::Error for SpecError {}

/// The end of a media flow that lacks its controller half.
fn missing_half(flow: &FlowSpec) -> Option<Side> {
    let Traffic::Media(media) = &flow.traffic else { return None };
    match (&media.sender, &media.receiver) {
        (None, _) => Some(Side::Sender),
        (_, None) => Some(Side::Receiver),
        _ => None,
    }
}

/// Whether flow `index` is in no call, or can share the hosts of its call.
fn fits_its_call(flows: &[FlowSpec], index: usize) -> bool {
    let (flow, first) = (&flows[index], &flows[host_owner(flows, index)]);
    let clocks = |flow: &FlowSpec| (flow.sender_clock, flow.receiver_clock);
    flow.call.is_none() || (matches!(flow.traffic, Traffic::Media(_)) && clocks(flow) == clocks(first))
}

/// Whether a flow is uncoupled, or can be coupled.
fn fits_its_coupling(flow: &FlowSpec, couplings: usize) -> bool {
    let takes_orders = matches!(flow.traffic, Traffic::Media(_) | Traffic::Tcp { .. });
    flow.coupled.as_ref().is_none_or(|coupled| takes_orders && coupled.coupling < couplings)
}

/// The hosts, with two places for each flow. The places of a flow that shares the hosts of another flow stay empty.
fn endpoints(seed: u64, flows: Vec<FlowSpec>) -> Vec<HostEndpoint> {
    let owners: Vec<usize> = (0..flows.len()).map(|flow| host_owner(&flows, flow)).collect();
    let mut endpoints: Vec<HostEndpoint> = Vec::with_capacity(2 * flows.len());
    for ((index, flow), owner) in flows.into_iter().enumerate().zip(owners) {
        if owner == index {
            endpoints.extend(HostEndpoint::pair(seed, index, flow));
        } else {
            endpoints.extend([HostEndpoint::Drain, HostEndpoint::Drain]);
            HostEndpoint::join(&mut endpoints[2 * owner..2 * owner + 2], seed, index, flow);
        }
    }
    endpoints
}

impl<M: Monitor> Simulation<M> {
    /// Builds a simulation that reports to `monitor`.
    ///
    /// # Errors
    /// A link out of range; a cell, or a link in it, out of range; a flow without a route over existing links; a media
    /// flow without one of its halves; a flow that cannot be in its call, or not in its coupling.
    pub fn new(spec: RunSpec, monitor: M) -> Result<Self, SpecError> {
        for flow in &spec.flows {
            let needs_reverse = !matches!(flow.traffic, Traffic::Constant { .. } | Traffic::Unresponsive(_));
            let exists = |&link: &usize| link < spec.links.len();
            let routed = !flow.forward.is_empty() && (!flow.reverse.is_empty() || !needs_reverse);
            if !routed || !flow.forward.iter().chain(&flow.reverse).all(exists) {
                return Err(SpecError::Route { flow: flow.name.clone() });
            }
            if let Some(side) = missing_half(flow) {
                return Err(SpecError::Half { flow: flow.name.clone(), side });
            }
        }
        if let Some(flow) = (0..spec.flows.len()).find(|&flow| !fits_its_call(&spec.flows, flow)) {
            return Err(SpecError::Call { flow: spec.flows[flow].name.clone() });
        }
        if let Some(flow) = spec.flows.iter().find(|flow| !fits_its_coupling(flow, spec.couplings.len())) {
            return Err(SpecError::Coupling { flow: flow.name.clone() });
        }
        let couplings = Couplings::new(spec.couplings, &spec.flows);
        let mut network = Network::new(spec.seed, &spec.links, &spec.cells, &spec.flows, couplings, monitor)
            .map_err(|faulty| match faulty {
                Faulty::Link(link, error) => {
                    SpecError::Link { name: spec.links[link].name.clone(), problem: error.to_string() }
                }
                Faulty::Cell(cell, error) => {
                    SpecError::Cell { name: spec.cells[cell].name.clone(), problem: error.to_string() }
                }
            })?;
        let senders = (0..spec.flows.len()).map(|flow| 2 * host_owner(&spec.flows, flow)).collect();
        let endpoints = endpoints(spec.seed, spec.flows);
        for (index, endpoint) in endpoints.iter().enumerate() {
            network.wake_host(Time::ZERO, index, endpoint.first_wake());
        }
        Ok(Self { network, endpoints, senders, end: spec.end })
    }

    /// Runs to the end and returns the monitor.
    pub fn run(mut self) -> M {
        self.run_until(self.end);
        self.network.monitor
    }

    /// Runs all events up to and including `until`, but not past the end of the spec.
    pub fn run_until(&mut self, until: Time) {
        // [`Time::MAX`] stands for no wake-up.
        let until = until.min(self.end).min(Time::from_nanos(u64::MAX - 1));
        let mut latest = Time::ZERO;
        loop {
            let (now, component) = self.network.next();
            debug_assert!(now >= latest, "time runs backwards: from {latest:?} to {now:?}");
            latest = now;
            if now > until {
                return;
            }
            if let Component::Link(link) = component {
                if let Some((host, ticket)) = self.network.pop(now, link) {
                    self.deliver(now, host, ticket);
                }
            } else {
                self.wake(now, component);
            }
        }
    }

    /// Wakes a component other than a link.
    fn wake(&mut self, now: Time, component: Component) {
        match component {
            Component::Link(_) => {}
            Component::Host(host) => {
                let next = self.endpoints[host].wake(now, &mut self.network);
                self.network.wake_host(now, host, next);
                self.apply_immediate(now);
            }
            Component::Cell(cell) => {
                if let Some((host, ticket)) = self.network.pop_cell(now, cell) {
                    self.deliver(now, host, ticket);
                }
            }
            Component::Coupler(coupler) => {
                self.couple(now, coupler);
                self.apply_immediate(now);
            }
        }
    }

    /// Applies the actions of couplers without delay that concern other flows than the sender of the message, before
    /// any other event.
    #[inline]
    fn apply_immediate(&mut self, now: Time) {
        while let Some(coupler) = self.network.couplings.take_immediate() {
            self.couple(now, coupler);
        }
    }

    /// Lets a coupler receive its messages, and applies its actions that have reached their hosts; these hosts are
    /// woken in the same instant.
    fn couple(&mut self, now: Time, coupler: usize) {
        while let Some((flow, action)) = self.network.next_action(now, coupler) {
            let host = self.senders[flow];
            self.endpoints[host].apply(now, flow, &action, &mut self.network);
            self.network.wake_host(now, host, now);
        }
    }

    #[inline]
    fn deliver(&mut self, now: Time, host: usize, ticket: Ticket) {
        let endpoint = &mut self.endpoints[host];
        if matches!(endpoint, HostEndpoint::Drain) {
            self.network.discard(now, ticket);
        } else {
            let packet = self.network.take(ticket);
            let next = endpoint.deliver(now, &packet, &mut self.network);
            self.network.wake_host(now, host, next);
            self.apply_immediate(now);
        }
    }

    /// The monitor, during a run.
    pub fn monitor(&self) -> &M {
        &self.network.monitor
    }
}
