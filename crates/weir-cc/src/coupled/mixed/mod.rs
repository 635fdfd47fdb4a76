//! Coupling of media and data: rate controllers lead, windows follow.
//!
//! A loss-based data flow beside a delay-based media flow fills the queue until it overflows, and the media flow yields
//! all. Coupled, the media flow's controller moves the sum `S_CR` of both by the delay it measures, on behalf of both.
//! The data flow gets a window as the limit of its share: the queue is that of the media flow alone. No source has an
//! algorithm (coupling-2018 names the target). The following rules are Weir's, after the behaviour of FSE-NG, and hold
//! for LEDBAT beside TCP too.
//!
//! 1. All flows form one group, by rates. A data flow's window is its share times its round-trip time, and at least two
//!    segments.
//! 2. While a media flow can use more than it has, only media flows' changes move the sum. Each counts in proportion to
//!    its part of the leading flows' share. An update marks its flow as one with a rate controller.
//! 3. A loss, mark or timeout of a data flow halves the sum; then nothing changes it for two round trips.
//! 4. With no media flow that leads, data flows move the sum. The sum grows by one segment per round trip for all of
//!    them together while the queue is short, and shrinks while it is long.
//! 5. A rate that a flow gives up goes to the others at once; a media flow's share grows by half within 200 ms at most.
//! 6. A data flow that joins takes its share from the others; its window opens from its own initial window by three
//!    segments per acknowledgement.
//! 7. A data flow in recovery gets no window.
//! 8. A timer of a data flow that runs out while others are acknowledged only retransmits.
//! 9. A flow whose feedback is missing while the path delivers to another takes no part until it gets feedback again.
//!    The same holds for a flow without messages for 5 s or twenty of its own intervals.
//! 10. A rate that fell without congestion bounds its own flow and cuts no other. Alone, a flow has the rate of its
//!     controller.
//!
//! Divergences from Weir's own first plan, by measurement:
//!
//! 1. Windows by the smallest round-trip time make a queue `q` take `q/(RTT + q)` of the data's share, and media, left with
//!    more than its own, lets the queue stand: beside GCC data then has 0.6 to 0.9 of its part. The smoothed one gives the
//!    data its rate (`Conversion`), up to 25 ms of queue: a window that follows a longer one keeps it up. With 200 ms the
//!    95th percentile beside SCReAM on 2 Mbit/s at 1 : 2 was 71 ms, where it is 47 ms alone and 42 ms so.
//! 2. A media flow's change counts by `S_CR` over what is media's, not twice: that is right for equal shares only. What a
//!    flow has that is held back from a jump is no measure, and its growth tells nothing of the path.
//! 3. A window is of whole segments, one more or less from acknowledgement to acknowledgement, so that its mean is the
//!    limit: rounded down, a share of seven segments loses a fourteenth.
//! 4. What data alone lets the sum grow by falls linearly to nothing at 25 ms of queue, and what it takes rises from there
//!    to 50 ms: with nothing in between the queue went up to 110 ms.
//! 5. Above 12 ms of queue data flows let the sum shrink although media leads (`Config::led_queue`): a law that keeps a
//!    longer queue at a lower rate, as NADA, does so at its share. Between two segments a delayed acknowledgement waits;
//!    that is no queue. Not for LEDBAT, which has a target of its own ([`Config::ledbat`]).
//! 6. Shares below a segment are not paced, a join is not clocked by others' acknowledgements, and there is no guard
//!    against outside flows that fill the queue: beside them the group is less than best effort.

mod config;
mod flow;
mod group;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use crate::config_error::ConfigError;
use crate::coupled::coupler::Aggregate;
use crate::coupled::frame::{AlgorithmCoupler, CouplingAlgorithm, Departure, SoftState};
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

    fn on_leaving(frame: &mut AlgorithmCoupler<Self>, _: SendTime, place: usize, departure: Departure) {
        if departure == Departure::Withdrawal {
            frame.give_up_share(place);
        }
    }

    fn on_left(frame: &mut AlgorithmCoupler<Self>, now: SendTime, _: FlowId, _: Flow, _: Departure) {
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
