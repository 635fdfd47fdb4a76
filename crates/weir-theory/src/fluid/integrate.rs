//! Integration of DCCC's fluid model by explicit Euler steps.

use super::{FluidError, FluidFlow, FluidLink};

/// Longest step, s.
const MAX_STEP: f64 = 0.5e-3;
/// The projection of eq. (15) keeps rates above this, bit/s.
const MIN_RATE: f64 = 1000.0;

/// Rates and queues over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Integration {
    /// Time between values, s; the first ones are those at time 0.
    pub step: f64,
    /// Sending rate of each flow, bit/s; zero while it is not active.
    pub rates: Vec<Vec<f64>>,
    /// Queuing delay of each link, s.
    pub queues: Vec<Vec<f64>>,
}

impl Integration {
    /// The rate of `flow` at `time` (s), in bit/s.
    pub fn rate(&self, flow: usize, time: f64) -> f64 {
        self.rates[flow][self.index(time)]
    }

    /// The queuing delay of `link` at `time` (s), in s.
    pub fn queue(&self, link: usize, time: f64) -> f64 {
        self.queues[link][self.index(time)]
    }

    fn index(&self, time: f64) -> usize {
        let values = self.rates.iter().chain(&self.queues).next().map_or(1, Vec::len);
        ((time / self.step).round() as usize).min(values - 1)
    }
}

/// A link's state.
struct LinkState {
    queue: f64,
    /// `dq/dt` of eq. (2).
    growth: f64,
    /// `π/(1 − π)` of eq. (4): the lost over the carried rate.
    loss: f64,
}

/// A bit in flight, with the sums over the queues that it has passed.
#[derive(Clone, Copy)]
struct Bit {
    /// Departure of the bit.
    left: f64,
    next: f64,
    rate: f64,
    /// Sums over the links: `de/dt` and `π/(1 − π)`.
    price: f64,
    delay: f64,
}

/// State of a flow: the bits before each link of its route in order, and the last reported bit.
struct FlowState {
    rate: f64,
    stages: Vec<std::collections::VecDeque<Bit>>,
    /// The rate that arrives at each link of the route.
    arriving: Vec<f64>,
    reported: Option<Bit>,
}

/// Integrates `flows` over `links` for `duration` in steps of `step`, both in s.
///
/// # Errors
/// Numbers out of range.
pub fn integrate(
    links: &[FluidLink],
    flows: &[FluidFlow],
    duration: f64,
    step: f64,
) -> Result<Integration, FluidError> {
    let times = step > 0.0 && step <= MAX_STEP && duration > 0.0 && duration.is_finite();
    if !times {
        return Err(FluidError::Time);
    }
    if let Some(index) = links.iter().position(|link| !link.is_valid()) {
        return Err(FluidError::Link { index });
    }
    if let Some(index) = flows.iter().position(|flow| !flow.is_valid(links)) {
        return Err(FluidError::Flow { index });
    }
    let mut link_states: Vec<LinkState> =
        links.iter().map(|_| LinkState { queue: 0.0, growth: 0.0, loss: 0.0 }).collect();
    let mut flow_states: Vec<FlowState> = flows
        .iter()
        .map(|flow| FlowState {
            rate: flow.start_rate,
            stages: vec![std::collections::VecDeque::new(); flow.route.len() + 1],
            arriving: vec![0.0; flow.route.len()],
            reported: None,
        })
        .collect();
    let steps = (duration / step).round() as usize;
    let mut result = Integration {
        step,
        rates: vec![Vec::with_capacity(steps + 1); flows.len()],
        queues: vec![Vec::with_capacity(steps + 1); links.len()],
    };
    for n in 0..=steps {
        let now = n as f64 * step;
        for (flow, state) in flows.iter().zip(&mut flow_states) {
            state.arrive(flow, now);
        }
        for (index, (link, state)) in links.iter().zip(&mut link_states).enumerate() {
            // The rates of all flows and the cross traffic `u` add up at a link.
            let arriving = flows.iter().zip(&flow_states).map(|(flow, own)| own.arriving_at(flow, index));
            state.update(link, link.cross_traffic + arriving.sum::<f64>());
        }
        for (flow, state) in flows.iter().zip(&mut flow_states) {
            state.pass(flow, links, &link_states, now);
        }
        for (rates, (flow, state)) in result.rates.iter_mut().zip(flows.iter().zip(&flow_states)) {
            rates.push(if flow.is_active(now) { state.rate } else { 0.0 });
        }
        for (queues, state) in result.queues.iter_mut().zip(&link_states) {
            queues.push(state.queue);
        }
        for (flow, state) in flows.iter().zip(&mut flow_states) {
            state.control(flow, now, step);
        }
        for (link, state) in links.iter().zip(&mut link_states) {
            // Euler step of eq. (2), projected onto [0, `q_max`].
            state.queue = (state.queue + state.growth * step).clamp(0.0, link.queue_limit);
        }
    }
    Ok(result)
}

impl LinkState {
    /// Eqs (2) and (4), with `arriving` bit/s.
    fn update(&mut self, link: &FluidLink, arriving: f64) {
        let growth = (arriving - link.capacity) / link.capacity;
        // An empty queue cannot shrink, and a full one cannot grow: it loses the excess instead.
        let empty = self.queue <= 0.0 && growth < 0.0;
        let full = self.queue >= link.queue_limit && growth > 0.0;
        self.growth = if empty || full { 0.0 } else { growth };
        self.loss = if full { growth } else { 0.0 };
    }
}

impl FluidFlow {
    fn is_active(&self, now: f64) -> bool {
        self.active.0 <= now && now < self.active.1
    }
}

impl FlowState {
    /// Sends a bit, and updates the arriving rate at each link from the bits that have arrived by now.
    fn arrive(&mut self, flow: &FluidFlow, now: f64) {
        let rate = if flow.is_active(now) { self.rate } else { 0.0 };
        if rate > 0.0 || self.arriving.iter().any(|&arriving| arriving > 0.0) {
            self.stages[0].push_back(Bit { left: now, next: now, rate, price: 0.0, delay: 0.0 });
        }
        for (arriving, stage) in self.arriving.iter_mut().zip(&self.stages) {
            let there = stage.iter().take_while(|bit| bit.next <= now).last();
            if let Some(bit) = there {
                *arriving = bit.rate;
            }
        }
    }

    fn arriving_at(&self, flow: &FluidFlow, link: usize) -> f64 {
        let here = flow.route.iter().zip(&self.arriving).filter(|(own, _)| **own == link);
        here.map(|(_, &rate)| rate).sum()
    }

    /// Moves the bits that have arrived at a link into its queue in its present state. Links are handled from the
    /// last to the first, so that each bit is counted at every link, however short the path between two of them.
    fn pass(&mut self, flow: &FluidFlow, links: &[FluidLink], states: &[LinkState], now: f64) {
        for (hop, &link) in flow.route.iter().enumerate().rev() {
            let (before, behind) = self.stages.split_at_mut(hop + 1);
            let state = &states[link];
            while before[hop].front().is_some_and(|bit| bit.next <= now) {
                let Some(mut bit) = before[hop].pop_front() else { break };
                // `de/dt` is the sum of the queues' growth, and the loss price adds up over the route, too.
                bit.price += state.growth + state.loss;
                bit.next += state.queue + links[link].propagation;
                if hop + 1 == flow.route.len() {
                    bit.delay = bit.next - bit.left;
                    bit.next += flow.return_delay;
                }
                behind[0].push_back(bit);
            }
        }
        let reports = &mut self.stages[flow.route.len()];
        while reports.front().is_some_and(|bit| bit.next <= now) {
            // A bit of rate 0 belongs to a silent flow and carries no report.
            let bit = reports.pop_front().filter(|bit| bit.rate > 0.0);
            self.reported = bit.or(self.reported);
        }
    }

    /// Eq. (15) with the price of eq. (16).
    fn control(&mut self, flow: &FluidFlow, now: f64, step: f64) {
        let Some(bit) = self.reported.filter(|_| flow.is_active(now)) else { return };
        let rtt = bit.delay + flow.return_delay;
        let delay_price = flow.price_scale * (bit.delay - flow.threshold).max(0.0) / rtt;
        let excess = flow.utility_weight / self.rate - delay_price - bit.price;
        // Euler step of `ẋ = k_r·x·excess` with `k_r = η/RTT`.
        self.rate = (self.rate * (1.0 + step * flow.gain / rtt * excess)).max(MIN_RATE);
    }
}
