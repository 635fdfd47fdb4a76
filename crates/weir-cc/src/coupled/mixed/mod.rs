//! Coupling of media and data flows: the rate controllers of media determine the sum of rates, and windows of data follow.
//!
//! A loss-based data flow beside a delay-based media flow fills the queue until it overflows, and the media flow gives up
//! its rate. Coupled, the media flow's controller changes the sum `S_CR` of both flows according to the delay that it
//! measures. The data flow gets a window that limits it to its share, so that the queue is that of the media flow alone.
//! No source has an algorithm (coupling-2018 names the aim). The following rules are Weir's, after the behaviour of
//! FSE-NG, and hold for LEDBAT beside TCP, too.
//!
//! 1. All flows form one group, by rates. A data flow's window is its share times its round-trip time, and at least two
//!    segments.
//! 2. While a media flow can use more than it has, only media flows' changes affect the sum. Each counts in proportion to
//!    its part of the leading flows' share. An update shows that its flow has a rate controller.
//! 3. A loss, mark or timeout of a data flow halves the sum. The sum is then constant for two round trips.
//! 4. If no media flow leads, data flows change the sum. It grows by one segment per round trip for all of them together
//!    while the queue is short, and shrinks while the queue is long.
//! 5. A rate that a flow gives up goes to the others at once. A media flow's share grows by at most half within 200 ms.
//! 6. A data flow that joins takes its share from the others. Its window opens from its own initial window by three
//!    segments per acknowledgement.
//! 7. A data flow in recovery gets no window.
//! 8. If the retransmission timer of a data flow expires while others are acknowledged, it only retransmits.
//! 9. A flow whose feedback is missing while another flow's data arrives is inactive until it gets feedback again. The same
//!    holds for a flow without messages for 5 s or twenty of its own intervals.
//! 10. A rate that fell without congestion bounds its own flow and reduces no other. A flow that is alone has the rate of
//!     its controller.
//!
//! Divergences from Weir's first plan of these rules, by measurement:
//!
//! 1. With windows by the smallest round-trip time, a queue `q` takes the part `q/(RTT + q)` of the data's share. Media gets
//!    more than its share and lets the queue stand: data beside GCC then has 0.6 to 0.9 of its share. With the smoothed
//!    round-trip time (`Conversion`), up to 25 ms of queue, data has its rate. A window for a longer queue would maintain
//!    it. With a limit of 200 ms, the 95th percentile of the delay beside SCReAM on 2 Mbit/s at weights 1 : 2 was 71 ms. It
//!    is 47 ms for SCReAM alone and 42 ms with 25 ms.
//! 2. A media flow's change counts by `S_CR` over the sum of media shares, not twice, which is right for equal shares only.
//!    The share of a flow that is limited by rule 5 is no measure, and its growth is no sign of free capacity.
//! 3. A window has whole segments, one more or less from one acknowledgement to the next, so that its mean is the limit.
//!    Rounded down, a share of seven segments would lose a fourteenth.
//! 4. The growth by data alone falls linearly to zero at 25 ms of queue, and the decrease rises from there to 50 ms. With
//!    a constant sum in between, the queue reached 110 ms.
//! 5. Above 12 ms of queue data flows reduce the sum even if media leads (`Config::led_queue`). A controller that keeps a
//!    longer queue at a lower rate, as NADA does, then has that queue at its share. A delayed acknowledgement waits
//!    between two segments; that time is no queue. The rule does not apply to LEDBAT, which has a target ([`Config::ledbat`]).
//! 6. Shares below a segment are not paced, and a join is not clocked by others' acknowledgements. There is no protection
//!    against other flows that fill the queue; beside them the group is less than best effort.

mod config;
mod flow;
mod group;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use crate::config_error::ConfigError;
use crate::coupled::coupler::Aggregate;
use crate::coupled::frame::{AlgorithmCoupler, CouplingAlgorithm, MemberDeparture, SoftState};
use crate::coupled::message::{
    CouplerAction, CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, Update,
};
use crate::time::SendTime;

pub use config::{Config, Conversion, DrivingFlow};

use flow::Flow;
use group::MixedGroup;

/// Couples rate controllers with window-based congestion controllers.
pub type Mixed = AlgorithmCoupler<MixedGroup>;

impl Mixed {
    /// A coupler without flows.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self::of(MixedGroup::new(config)))
    }
}

impl CouplingAlgorithm for MixedGroup {
    type Flow = Flow;

    fn admit(frame: &mut AlgorithmCoupler<Self>, now: SendTime, _: FlowId, join: &Join) -> Flow {
        let flow = Flow::new(now, join);
        frame.admit(&flow);
        flow
    }

    fn on_join(frame: &mut AlgorithmCoupler<Self>, now: SendTime, place: usize, _: &Join) {
        frame.seat(now, place);
    }

    fn on_rate(frame: &mut AlgorithmCoupler<Self>, now: SendTime, place: usize, update: &Update) {
        frame.on_update(now, place, update);
    }

    fn on_window(frame: &mut AlgorithmCoupler<Self>, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        frame.on_window(now, place, cwnd_update);
    }

    fn on_parameters(
        frame: &mut AlgorithmCoupler<Self>,
        now: SendTime,
        place: usize,
        parameters: &FlowParameters,
    ) {
        frame.flows[place].parameters = *parameters;
        frame.distribute(now);
    }

    fn on_leaving(frame: &mut AlgorithmCoupler<Self>, _: SendTime, place: usize, departure: MemberDeparture) {
        if departure == MemberDeparture::Withdrawal {
            frame.give_up_share(place);
        }
    }

    fn on_left(frame: &mut AlgorithmCoupler<Self>, now: SendTime, _: FlowId, _: Flow, _: MemberDeparture) {
        if frame.flows.is_empty() {
            frame.algorithm.reset();
        }
        frame.distribute(now);
    }

    fn takes_windows(flow: &Flow) -> bool {
        flow.data().is_some()
    }

    fn answer(frame: &mut AlgorithmCoupler<Self>, place: usize, _: &CouplingMessage) {
        frame.flows[place].answer();
    }

    fn acknowledgement(frame: &AlgorithmCoupler<Self>, place: usize) -> Option<CouplerAction> {
        let absent = !frame.flows.is_present(place);
        frame.flows[place].media().filter(|_| absent).map(flow::MediaFlow::acknowledgement)
    }

    fn settle(frame: &mut AlgorithmCoupler<Self>) {
        frame.order_all();
    }

    fn newest(frame: &mut AlgorithmCoupler<Self>, place: usize) -> Option<CouplerAction> {
        frame.next_order(place)
    }

    /// Rule 9.
    fn soft_state(&self) -> Option<SoftState> {
        Some(SoftState { least: self.config.soft_state, intervals: self.config.soft_intervals })
    }

    fn next_timer(frame: &AlgorithmCoupler<Self>) -> Option<SendTime> {
        frame.next_step()
    }

    fn on_timer(frame: &mut AlgorithmCoupler<Self>, now: SendTime) {
        frame.distribute(now);
    }

    fn aggregate(frame: &AlgorithmCoupler<Self>, _: usize) -> Option<Aggregate> {
        Some(Aggregate { group: 0, sum: frame.algorithm.sum })
    }
}
