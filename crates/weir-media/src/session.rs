//! A session: the flows that one host sends to one peer, driven together.

use weir_cc::coupled::{FlowId, Statistics};
use weir_cc::{AllocatedRate, Decision, PathEvent, SendTime, Target};
use weir_units::{DataRate, TimeDelta};

use crate::content::{MediaPacket, SentFrame};
use crate::guard::Alarm;
use crate::rtcp_outcome::RtcpOutcome;
use crate::sender::MediaSender;
use crate::timer::SenderTimer;

/// An output of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output {
    /// A report measured a round-trip time.
    Rtt(FlowId, TimeDelta),
    /// Statistics of the newest interval that reports ended ([`MediaConfig::detection`](crate::MediaConfig::detection)).
    Statistics(FlowId, Statistics),
    /// A controller computed a rate: because of feedback, of its timer or of an event. Several decisions since the last
    /// output are merged to one. Its base is the rate before the first, also where coupling has assigned another
    /// allocation since.
    Decision(FlowId, Decision),
    /// A frame was captured or skipped.
    Frame(FlowId, SentFrame),
    /// A packet to send.
    Packet(FlowId, MediaPacket),
    /// An RTCP packet to send: its length in the caller's buffer.
    Rtcp(FlowId, usize),
    /// An event that the embedder should act on or log: media has stopped by itself, or a receiver cannot be believed.
    Alarm(FlowId, Alarm),
    /// A new target of the flow, or its first.
    Target(FlowId, Target),
    /// No more output until this time, or until input comes; no time while no flow has a timer. The time may be the
    /// present: input is processed before timers that have expired meanwhile.
    Wake(Option<Wake>),
}

/// Time of the next call of a session, and its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wake {
    /// Time of the call.
    pub at: SendTime,
    /// The flow of the timer; of several the one that was added first.
    pub flow: FlowId,
    /// The timer.
    pub timer: SenderTimer,
}

/// The flows that one host sends to one peer, behind one pair of ports: they share a clock and the return path of their
/// reports. Only the session assigns allocations of a common rate ([`Session::apply_allocation`]): controllers never
/// see each other.
///
/// A session does no IO. Whenever RTCP comes, a decision is made, or the time of the last [`Wake`] has come, call
/// [`Session::poll`] until it returns [`Output::Wake`]:
///
/// ```
/// # use weir_cc::SendTime;
/// # use weir_media::{Output, Session};
/// # let (mut session, now) = (Session::new(), SendTime::ZERO);
/// let mut room = [0; 1472];
/// let wake = loop {
///     match session.poll(now, &mut room) {
///         Output::Packet(_, packet) => { /* its header and `packet.payload` bytes of media go out */ }
///         Output::Rtcp(_, length) => { /* `&room[..length]` goes out */ }
///         Output::Wake(wake) => break wake,
///         Output::Rtt(..) | Output::Statistics(..) | Output::Decision(..) => {}
///         Output::Alarm(_, alarm) => eprintln!("{alarm:?}"),
///         Output::Frame(..) | Output::Target(..) => {}
///     }
/// };
/// assert_eq!(wake, None);
/// ```
#[derive(Debug, Default)]
pub struct Session {
    /// Flows in the order of their numbers.
    flows: Vec<Flow>,
    added: u32,
    step: RoundStep,
    /// Index of the flow that is polled next in this step.
    turn: usize,
}

/// Steps of a round; in each of them all flows are polled in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum RoundStep {
    #[default]
    Timers,
    PendingOutputs,
    Frames,
    Packets,
    Rtcp,
    Targets,
}

impl RoundStep {
    fn next(self) -> Self {
        match self {
            Self::Timers => Self::PendingOutputs,
            Self::PendingOutputs => Self::Frames,
            Self::Frames => Self::Packets,
            Self::Packets => Self::Rtcp,
            Self::Rtcp => Self::Targets,
            Self::Targets => Self::Timers,
        }
    }
}

impl Session {
    /// A session without flows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a flow.
    ///
    /// # Errors
    /// Returns the flow if one of its source identifiers is that of another flow: reports would be about both.
    pub fn add(&mut self, sender: MediaSender) -> Result<FlowId, Box<MediaSender>> {
        if self.flows.iter().any(|flow| flow.sender.shares_a_source_with(&sender)) {
            return Err(Box::new(sender));
        }
        let id = FlowId(self.added);
        self.added += 1;
        if self.flows.is_empty() {
            self.flows.reserve_exact(1); // most have one flow
        }
        self.flows.push(Flow { id, sender, pending: PendingOutputs::default() });
        Ok(id)
    }

    /// Removes a flow; its queued packets are dropped.
    pub fn remove(&mut self, flow: FlowId) -> Option<MediaSender> {
        let place = self.place(flow)?;
        self.ask_again();
        Some(self.flows.remove(place).sender)
    }

    /// A flow, unless it was removed.
    pub fn flow(&self, flow: FlowId) -> Option<&MediaSender> {
        self.place(flow).map(|place| &self.flows[place].sender)
    }

    /// The flows, in the order in which they were added.
    pub fn flows(&self) -> impl Iterator<Item = (FlowId, &MediaSender)> {
        self.flows.iter().map(|flow| (flow.id, &flow.sender))
    }

    /// Starts the flow, which captures its first frame. An unknown flow is ignored, here and below.
    pub fn start(&mut self, now: SendTime, flow: FlowId) {
        self.with(flow, |sender| {
            sender.start(now);
            None
        });
    }

    /// Stops the flow; packets waiting in its pacer are dropped.
    pub fn stop(&mut self, flow: FlowId) {
        self.with(flow, |sender| {
            sender.stop();
            None
        });
    }

    /// The application stops sending the flow on purpose ([`MediaSender::pause`]).
    pub fn pause(&mut self, now: SendTime, flow: FlowId) {
        self.with(flow, |sender| sender.pause(now));
    }

    /// The application sends the flow again.
    pub fn resume(&mut self, now: SendTime, flow: FlowId) {
        self.with(flow, |sender| sender.resume(now));
    }

    /// Takes an event outside the flow's controller.
    pub fn on_event(&mut self, now: SendTime, flow: FlowId, event: PathEvent) {
        self.with(flow, |sender| sender.on_event(now, event));
    }

    /// Applies an allocation to the flow. Returns the rate that its controller took; this is no decision.
    pub fn apply_allocation(
        &mut self,
        now: SendTime,
        flow: FlowId,
        share: AllocatedRate,
    ) -> Option<DataRate> {
        let place = self.place(flow)?;
        self.ask_again();
        Some(self.flows[place].sender.apply_allocation(now, share))
    }

    /// Takes an RTCP compound packet: each flow takes the parts about it, and parts about no flow are ignored. Timers
    /// that expire meanwhile wait until [`Self::poll`] has returned a [`Wake`]. If its time has come, call it again at
    /// once, before more RTCP is read.
    pub fn on_rtcp(&mut self, now: SendTime, bytes: &[u8]) {
        for Flow { sender, pending, .. } in &mut self.flows {
            pending.put(sender.on_rtcp(now, bytes));
        }
        (self.step, self.turn) = (RoundStep::PendingOutputs, 0);
    }

    /// The next output. RTCP is written into `out`, which should hold a packet of the path.
    pub fn poll(&mut self, now: SendTime, out: &mut [u8]) -> Output {
        if self.step == RoundStep::Timers {
            self.flows.iter_mut().for_each(|flow| flow.serve_timers(now));
            self.step = RoundStep::PendingOutputs;
        }
        if let Some(output) = self.poll_step(RoundStep::PendingOutputs, |flow| flow.pending.take(flow.id)) {
            return output;
        }
        let frame = |flow: &mut Flow| Some(Output::Frame(flow.id, flow.sender.poll_frame(now)?));
        if let Some(output) = self.poll_step(RoundStep::Frames, frame) {
            return output;
        }
        let packet = |flow: &mut Flow| Some(Output::Packet(flow.id, flow.sender.poll_packet(now)?));
        if let Some(output) = self.poll_step(RoundStep::Packets, packet) {
            return output;
        }
        let rtcp = |flow: &mut Flow| Some(Output::Rtcp(flow.id, flow.sender.poll_rtcp(now, out)?));
        if let Some(output) = self.poll_step(RoundStep::Rtcp, rtcp) {
            return output;
        }
        let target = self.poll_step(RoundStep::Targets, Flow::poll_target);
        target.unwrap_or_else(|| Output::Wake(self.next_wake()))
    }

    /// The next output of `step`, in which the flows are polled in order; the next step follows. There is no output in
    /// another step.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "an output, which is large, is made in its place")]
    fn poll_step(
        &mut self,
        step: RoundStep,
        mut poll: impl FnMut(&mut Flow) -> Option<Output>,
    ) -> Option<Output> {
        if self.step != step {
            return None;
        }
        while let Some(flow) = self.flows.get_mut(self.turn) {
            if let Some(output) = poll(flow) {
                return Some(output);
            }
            self.turn += 1;
        }
        (self.step, self.turn) = (step.next(), 0);
        None
    }

    /// Time of the next call of [`Self::poll`], with its timer.
    pub fn next_wake(&self) -> Option<Wake> {
        let wake = |flow: &Flow| {
            let (at, timer) = flow.sender.next_timer()?;
            Some(Wake { at, flow: flow.id, timer })
        };
        self.flows.iter().filter_map(wake).min_by_key(|wake| wake.at)
    }

    fn place(&self, flow: FlowId) -> Option<usize> {
        self.flows.binary_search_by_key(&flow, |flow| flow.id).ok()
    }

    fn with(&mut self, flow: FlowId, act: impl FnOnce(&mut MediaSender) -> Option<Decision>) {
        if let Some(place) = self.place(flow) {
            self.ask_again();
            let Flow { sender, pending, .. } = &mut self.flows[place];
            pending.put_decision(act(sender));
        }
    }

    /// Polls all flows again, without their timers if these were served in this round.
    fn ask_again(&mut self) {
        self.step = self.step.min(RoundStep::PendingOutputs);
        self.turn = 0;
    }
}

#[derive(Debug)]
struct Flow {
    id: FlowId,
    sender: MediaSender,
    pending: PendingOutputs,
}

impl Flow {
    /// Serves the timers that are due.
    fn serve_timers(&mut self, now: SendTime) {
        self.pending.put_decision(self.sender.on_timeout(now));
    }

    /// An alarm, or a changed target.
    fn poll_target(&mut self) -> Option<Output> {
        let Self { id, sender, .. } = self;
        if let Some(alarm) = sender.take_alarm() {
            return Some(Output::Alarm(*id, alarm));
        }
        let changed = sender.has_started() && sender.take_target_change();
        changed.then(|| Output::Target(*id, *sender.target()))
    }
}

/// Outputs that are due for a flow; successive decisions are merged to one.
#[derive(Debug, Default)]
struct PendingOutputs {
    rtt: Option<TimeDelta>,
    decision: Option<Decision>,
    statistics: Option<Statistics>,
}

impl PendingOutputs {
    fn put(&mut self, outcome: RtcpOutcome) {
        self.rtt = outcome.rtt.or(self.rtt);
        self.put_decision(outcome.decision);
        self.statistics = outcome.statistics.or(self.statistics);
    }

    fn put_decision(&mut self, decision: Option<Decision>) {
        if decision.is_some() {
            self.decision = Decision::merged(self.decision, decision);
        }
    }

    fn take(&mut self, flow: FlowId) -> Option<Output> {
        if let Some(rtt) = self.rtt.take() {
            return Some(Output::Rtt(flow, rtt));
        }
        if let Some(statistics) = self.statistics.take() {
            return Some(Output::Statistics(flow, statistics));
        }
        self.decision.take().map(|decision| Output::Decision(flow, decision))
    }
}
