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

use alloc::collections::VecDeque;

use crate::config_error::ConfigError;
use crate::coupled::coupler::{Aggregate, Coupler, Refusal};
use crate::coupled::message::{
    CouplerAction, CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, Update, WindowEvent,
};
use crate::time::SendTime;

pub use config::{Config, Conversion, DrivingFlow};

use flow::{Flow, Kind};
use group::Group;

/// Couples rate controllers with window-based congestion controllers.
#[derive(Debug)]
pub struct Mixed {
    group: Group,
    /// Flows whose timeout waits for an answer that no action of the group gives.
    timers: VecDeque<FlowId>,
}

impl Mixed {
    /// A coupler without flows.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self { group: Group::new(config), timers: VecDeque::new() })
    }

    fn join(&mut self, now: SendTime, member: FlowId, join: &Join) -> Result<(), Refusal> {
        let Err(place) = self.group.place(member) else { return Err(Refusal::JoinedAlready(member)) };
        check_parameters(member, &join.parameters)?;
        let window =
            join.window.is_none_or(|windowed| is_amount(windowed.window.cwnd) && !windowed.segment.is_zero());
        if join.start.is_zero() || !window {
            return Err(Refusal::Amount(member));
        }
        self.group.join(now, place, Flow::new(now, member, join));
        Ok(())
    }

    fn update(
        &mut self,
        now: SendTime,
        place: usize,
        member: FlowId,
        update: &Update,
    ) -> Result<(), Refusal> {
        if update.decision.rate.is_zero() || update.decision.base.is_zero() {
            return Err(Refusal::Amount(member));
        }
        self.group.on_update(now, place, update);
        Ok(())
    }

    fn window(
        &mut self,
        now: SendTime,
        place: usize,
        member: FlowId,
        cwnd_update: &CwndUpdate,
    ) -> Result<(), Refusal> {
        if matches!(self.group.flow(place).kind, Kind::Media(_)) {
            return Err(Refusal::Kind(member));
        }
        let amounts =
            [cwnd_update.before.cwnd, cwnd_update.after.cwnd, cwnd_update.acked, cwnd_update.flight];
        if !amounts.into_iter().all(is_amount) {
            return Err(Refusal::Amount(member));
        }
        self.group.on_window(now, place, cwnd_update);
        Ok(())
    }
}

impl Mixed {
    fn take_message(
        &mut self,
        now: SendTime,
        member: FlowId,
        message: &CouplingMessage,
    ) -> Result<(), Refusal> {
        if let CouplingMessage::Join(join) = message {
            return self.join(now, member, join);
        }
        let place = self.group.place(member).map_err(|_| Refusal::UnknownFlow(member))?;
        self.group.note_message(now, place);
        match message {
            CouplingMessage::Update(update) => self.update(now, place, member, update)?,
            CouplingMessage::Window(cwnd_update) => self.window(now, place, member, cwnd_update)?,
            CouplingMessage::FlowParameters(parameters) => {
                check_parameters(member, parameters)?;
                self.group.set_parameters(now, place, *parameters);
            }
            CouplingMessage::Withdraw => self.group.withdraw(now, place),
            CouplingMessage::Pause | CouplingMessage::Leave => self.group.leave(now, place),
            CouplingMessage::Join(_) | CouplingMessage::Statistics(_) => {}
        }
        Ok(())
    }

    /// Answers a message that makes no sense: with the flow's rate, or with a reduction for a timeout.
    fn answer_refused(&mut self, member: FlowId, message: &CouplingMessage) {
        if let CouplingMessage::Window(cwnd_update) = message
            && cwnd_update.event == WindowEvent::TimedOut
        {
            self.timers.push_back(member);
        } else if let Ok(place) = self.group.place(member) {
            self.group.answer(place);
        }
    }
}

impl Coupler for Mixed {
    fn on_message(
        &mut self,
        now: SendTime,
        member: FlowId,
        message: &CouplingMessage,
    ) -> Result<(), Refusal> {
        let taken = self.take_message(now, member, message);
        if taken.is_err() {
            self.answer_refused(member, message);
        }
        taken
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        let timer = self.timers.pop_front().map(|member| (member, CouplerAction::Reduce));
        timer.or_else(|| self.group.poll_action())
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.group.next_timeout()
    }

    fn on_timeout(&mut self, now: SendTime) {
        if self.next_timeout().is_some_and(|due| now >= due) {
            self.group.on_timeout(now);
        }
    }

    fn aggregate(&self, member: FlowId) -> Option<Aggregate> {
        self.group.place(member).ok().map(|_| Aggregate { group: 0, sum: self.group.sum() })
    }
}

fn check_parameters(member: FlowId, parameters: &FlowParameters) -> Result<(), Refusal> {
    if parameters.priority > 0.0 && parameters.priority.is_finite() {
        Ok(())
    } else {
        Err(Refusal::Priority(member))
    }
}

fn is_amount(value: f64) -> bool {
    value >= 0.0 && value.is_finite()
}
