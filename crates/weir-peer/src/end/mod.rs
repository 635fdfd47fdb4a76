//! One end of a session without IO: datagrams and times go in, datagrams and figures come out.

mod handshake;
mod packets;
mod report;
mod state;

use std::net::SocketAddr;

use weir_live::lateness::Lateness;
use weir_net::Time;
use weir_registry::Registry;
use weir_units::TimeDelta;
use weir_world::RecordedCall;

use crate::handshake::{HelloCaller, HelloListener};
use crate::hosts::{HostSurroundings, ReceivingHosts, SendPlan, SendingHosts};
use crate::keys::KeyRing;
use crate::message::{ByeReason, ReceivedFigures, StatusMessage};
use crate::monitor::SentFigures;
use crate::offer::{ReceiveCeilings, SessionTerms};
use crate::outbox::PacketSealing;
use crate::random::RandomBytes;
use crate::reception::FlowReception;
use crate::session::SealedSession;
use crate::watch::{FeedbackWatch, LONGEST_SILENCE, REPORT_INTERVAL, WatchVerdict};

pub use packets::IncomingDatagram;
pub use state::{DroppedDatagrams, EndOutcome, EndPhase, OutgoingDatagram};

/// Time in which a listener must answer a caller.
pub const ANSWER_LIMIT: TimeDelta = TimeDelta::from_secs(5);
/// The same once an answer has explained the refusal.
const EXPLAINED_LIMIT: TimeDelta = TimeDelta::from_secs(1);
/// Time after the last valid packet at which a receiver ends the session. A sender may be suspended for a while.
const RECEIVER_LIMIT: TimeDelta = TimeDelta::from_secs(15);
/// Shortest time between the beginnings of two calls during a session.
const CALL_INTERVAL: TimeDelta = TimeDelta::from_secs(1);
/// Time for which an end says goodbye, or answers goodbyes.
const FAREWELL: TimeDelta = TimeDelta::from_secs(1);
const BYE_INTERVAL: TimeDelta = TimeDelta::from_millis(100);
/// Status messages over which a receiver compares the rate with its ceiling.
const RATE_STATUSES: usize = 4;
/// Status messages whose echo measures a round-trip time.
const ECHOED_STATUSES: usize = 16;

/// The configuration of an end.
#[derive(Debug)]
pub struct EndConfig {
    /// Keys.
    pub keys: KeyRing,
    /// Controllers by name.
    pub registry: Registry,
    /// The flows that this end sends.
    pub plan: Option<SendPlan>,
    /// Whether it receives flows.
    pub receives: bool,
    /// Its ceilings.
    pub ceilings: ReceiveCeilings,
    /// Time for which its flows are sent; without end if there is none.
    pub duration: Option<TimeDelta>,
    /// Bytes of its flows, headers included, after which the session ends.
    pub bytes: Option<u64>,
    /// Whether the media flows that it sends are recorded.
    pub record: bool,
}

/// How an end meets its peer.
#[derive(Debug)]
enum EndMeeting {
    /// It calls this address; the call is open until it is accepted, and again when no report comes.
    Caller { to: SocketAddr, call: Option<Box<HelloCaller>>, began: Time },
    /// It waits for a call.
    Listener { hellos: Box<HelloListener>, pending: Option<Box<SealedSession>> },
}

/// One end of a session, sans IO. After each call of [`Self::on_datagram`] and [`Self::on_timeout`], send what
/// [`Self::poll`] returns.
#[derive(Debug)]
pub struct PeerEnd {
    config: EndConfig,
    /// Terms of this end.
    terms: SessionTerms,
    random: Box<dyn RandomBytes>,
    meeting: EndMeeting,
    session: Option<Box<SealedSession>>,
    phase: EndPhase,
    outcome: Option<EndOutcome>,
    /// Start of the flows, from which hosts count their time.
    started: Time,
    /// End of the flows.
    ended: Option<Time>,
    world: HostSurroundings,
    sending: Option<SendingHosts>,
    receiving: Option<ReceivingHosts>,
    /// Received flows by their index without those before the first.
    reception: Vec<FlowReception>,
    received_base: usize,
    sent_base: usize,
    watch: FeedbackWatch,
    status_due: Time,
    statuses: u32,
    /// Times at which the last status messages were sent, each with its number.
    status_sent: [Option<(u32, Time)>; ECHOED_STATUSES],
    rtts: Lateness,
    /// The last round-trip time.
    rtt: Option<TimeDelta>,
    /// At the last status messages: bytes received, arrival of the last packet, and time of the message.
    received_before: [(u64, [Time; 2]); RATE_STATUSES],
    /// Arrival of the last valid packet.
    arrived: Time,
    /// The peer's latest status, and when it came.
    reported: Option<(StatusMessage, Time)>,
    /// Figures of former receivers, where the receiver began anew, by flow.
    reported_before: Vec<ReceivedFigures>,
    /// Whether the session has new keys since the latest status.
    has_new_keys: bool,
    bye: Option<(ByeReason, Time)>,
    farewell_until: Time,
    dropped: DroppedDatagrams,
    scratch: Vec<u8>,
    outgoing: Vec<u8>,
}

impl PeerEnd {
    /// An end that calls the listener at `to`.
    pub fn call(now: Time, to: SocketAddr, config: EndConfig, random: Box<dyn RandomBytes>) -> Self {
        let mut end = Self::new(now, config, random, EndMeeting::Caller { to, call: None, began: now });
        end.begin_call(now);
        end
    }

    /// An end that waits for a call.
    pub fn listen(now: Time, config: EndConfig, mut random: Box<dyn RandomBytes>) -> Self {
        let hellos = Box::new(HelloListener::new(now, config.keys.clone(), &mut *random));
        Self::new(now, config, random, EndMeeting::Listener { hellos, pending: None })
    }

    fn new(now: Time, config: EndConfig, random: Box<dyn RandomBytes>, meeting: EndMeeting) -> Self {
        let flows =
            config.plan.iter().flat_map(|plan| &plan.flows).map(|flow| flow.offered.clone()).collect();
        let terms = SessionTerms { flows, receives: config.receives, ceilings: config.ceilings };
        Self {
            config,
            terms,
            random,
            meeting,
            session: None,
            phase: EndPhase::Waiting,
            outcome: None,
            started: now,
            ended: None,
            world: HostSurroundings::new(),
            sending: None,
            receiving: None,
            reception: Vec::new(),
            received_base: 0,
            sent_base: 0,
            watch: FeedbackWatch::new(now),
            status_due: Time::MAX,
            statuses: 0,
            status_sent: [None; ECHOED_STATUSES],
            rtts: Lateness::default(),
            rtt: None,
            received_before: [(0, [now; 2]); RATE_STATUSES],
            arrived: now,
            reported: None,
            reported_before: Vec::new(),
            has_new_keys: false,
            bye: None,
            farewell_until: Time::MAX,
            dropped: DroppedDatagrams::default(),
            scratch: Vec::new(),
            outgoing: Vec::new(),
        }
    }

    /// The present state.
    pub fn phase(&self) -> EndPhase {
        self.phase
    }

    /// The cause of the end, once there is one.
    pub fn outcome(&self) -> Option<&EndOutcome> {
        self.outcome.as_ref()
    }

    /// The address of the peer, in a session.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.session.as_ref().map(|session| session.remote)
    }

    /// Datagrams that were dropped.
    pub fn dropped(&self) -> DroppedDatagrams {
        self.dropped
    }

    /// Figures of the flows that this end sends.
    pub fn sent(&self) -> &[SentFigures] {
        &self.world.monitor.sent
    }

    /// The recorded calls, with the index of their flow; only the first call returns them.
    pub fn take_calls(&mut self) -> Vec<(usize, RecordedCall)> {
        self.world.monitor.take_calls()
    }

    /// The configuration of this end. Its plan is there unless a session has begun.
    pub fn into_config(self) -> EndConfig {
        self.config
    }

    /// Time of the next call of [`Self::on_timeout`].
    pub fn next_wake(&self) -> Time {
        match self.phase {
            EndPhase::Ended => Time::MAX,
            EndPhase::Farewell => self.bye.map_or(Time::MAX, |(_, due)| due).min(self.farewell_until),
            EndPhase::Waiting | EndPhase::Running => {
                let call = if let EndMeeting::Caller { call: Some(call), began, .. } = &self.meeting {
                    call.next_wake().min(*began + self.answer_limit(call))
                } else {
                    Time::MAX
                };
                if self.phase == EndPhase::Waiting {
                    return call;
                }
                let sending = self.sending.as_ref().map_or(Time::MAX, |hosts| hosts.next_wake(&self.world));
                let receiving = self.receiving.as_ref().map_or(Time::MAX, ReceivingHosts::next_wake);
                let hosts = self.true_time(sending.min(receiving));
                let watch = if self.sending.is_some() { self.watch.next_wake() } else { Time::MAX };
                let end = self.sending_end().min(self.receiving_end());
                call.min(hosts).min(watch).min(end).min(self.status_due)
            }
        }
    }

    /// Serves what is due at `now`.
    pub fn on_timeout(&mut self, now: Time) {
        match self.phase {
            EndPhase::Ended => {}
            EndPhase::Waiting => self.serve_call(now),
            EndPhase::Running => {
                self.serve_watch(now);
                self.serve_call(now);
                if self.phase == EndPhase::Running {
                    self.serve_hosts(now);
                    self.serve_status(now);
                    self.serve_ends(now);
                }
            }
            EndPhase::Farewell => self.serve_farewell(now),
        }
    }

    /// The next datagram to send; call until `None`.
    pub fn poll(&mut self) -> Option<OutgoingDatagram<'_>> {
        loop {
            let packet = self.world.outbox.pop(&mut self.outgoing)?;
            let plain = self.outgoing.len();
            if packet.sealing == PacketSealing::Finished {
                let to = packet.to?;
                let plain = plain.saturating_sub(crate::protection::TRAILER_LENGTH);
                return Some(OutgoingDatagram { to, ecn: packet.ecn, bytes: &self.outgoing, plain });
            }
            // Packets of a session that has just ended have no keys any more.
            let Some(session) = &mut self.session else { continue };
            session.sealer.seal(&mut self.outgoing);
            let to = packet.to.unwrap_or(session.remote);
            return Some(OutgoingDatagram { to, ecn: packet.ecn, bytes: &self.outgoing, plain });
        }
    }

    /// Ends the session at the user's wish. The peer gets a goodbye.
    pub fn interrupt(&mut self, now: Time) {
        match self.phase {
            EndPhase::Waiting => {
                self.outcome = Some(EndOutcome::Interrupted);
                self.phase = EndPhase::Ended;
            }
            EndPhase::Running => self.say_goodbye(now, ByeReason::Interrupted, EndOutcome::Interrupted),
            EndPhase::Farewell | EndPhase::Ended => {}
        }
    }

    /// The time of the hosts.
    fn local(&self, now: Time) -> Time {
        Time::from_nanos(now.nanos().saturating_sub(self.started.nanos()))
    }

    /// The time at which the hosts' clock reads `local`.
    fn true_time(&self, local: Time) -> Time {
        Time::from_nanos(local.nanos().saturating_add(self.started.nanos()))
    }

    fn sending_end(&self) -> Time {
        let granted = self.session.as_ref().and_then(|session| session.terms.ceilings.duration);
        let duration = self.config.duration.into_iter().chain(granted).min();
        let duration = duration.filter(|_| self.sending.is_some());
        duration.map_or(Time::MAX, |duration| self.started + duration)
    }

    /// The time at which a receiver ends a session by itself.
    fn receiving_end(&self) -> Time {
        let duration = self.config.ceilings.duration.filter(|_| self.receiving.is_some());
        let ceiling = duration.map_or(Time::MAX, |duration| self.started + duration + FAREWELL);
        let silent = self.session.as_ref().map_or(Time::MAX, |session| session.last_valid + RECEIVER_LIMIT);
        ceiling.min(silent)
    }

    fn serve_hosts(&mut self, now: Time) {
        let local = self.local(now);
        if let Some(hosts) = &mut self.sending {
            hosts.wake(local, &mut self.world);
        }
        if let Some(hosts) = &mut self.receiving {
            hosts.wake(local, &mut self.world);
        }
    }

    /// Protects the network while no reports come.
    fn serve_watch(&mut self, now: Time) {
        if self.sending.is_none() {
            return;
        }
        let local = self.local(now);
        let verdict = self.watch.poll(now);
        let times = match verdict {
            WatchVerdict::Reported => 0,
            WatchVerdict::Halved(times) => times,
            WatchVerdict::Silent => return self.end(now, EndOutcome::Silent),
        };
        if let Some(hosts) = &mut self.sending {
            hosts.halve(local, times, &mut self.world);
        }
        if times > 0
            && let EndMeeting::Caller { call: None, began, .. } = self.meeting
            && now - began >= CALL_INTERVAL
        {
            // The receiver may have begun anew.
            self.begin_call(now);
        }
    }

    fn serve_status(&mut self, now: Time) {
        if now < self.status_due {
            return;
        }
        // After a suspension no messages are sent for the past.
        self.status_due = (self.status_due + self.status_interval()).max(now);
        self.send_status(now);
        let bytes: u64 = self.reception.iter().map(FlowReception::bytes).sum();
        let place = self.statuses as usize % RATE_STATUSES;
        let times = [self.arrived, now];
        let (before, [arrived, sent]) = core::mem::replace(&mut self.received_before[place], (bytes, times));
        // Packets that waited while this process was suspended arrived before they were read.
        let span = (self.arrived - arrived).max(now - sent).secs_f64();
        let rate = bytes.saturating_sub(before) as f64 * 8.0 / span;
        let complete = self.statuses as usize > RATE_STATUSES;
        // Probes and bursts are above the target for a while.
        if complete && self.config.ceilings.rate.is_some_and(|ceiling| rate > 2.0 * ceiling.bps_f64()) {
            self.say_goodbye(now, ByeReason::Rate, EndOutcome::AboveCeiling);
        }
    }

    /// Time until the next status message, up to a tenth from [`REPORT_INTERVAL`]: they do not keep step with frames.
    fn status_interval(&mut self) -> TimeDelta {
        let mut random = [0];
        self.random.fill(&mut random);
        REPORT_INTERVAL.scale(0.9 + 0.2 * f64::from(random[0]) / 255.0)
    }

    /// Sends a status message.
    fn send_status(&mut self, now: Time) {
        let base = self.received_base;
        let flows =
            self.reception.iter_mut().zip(base..).map(|(flow, index)| (index as u8, flow.take_figures()));
        let flows = flows.collect();
        let echo = self.reported.as_ref().map(|(reported, at)| (reported.number, now - *at));
        let status = StatusMessage { number: self.statuses, echo, flows };
        self.status_sent[self.statuses as usize % ECHOED_STATUSES] = Some((self.statuses, now));
        self.statuses += 1;
        status.write(&mut self.scratch);
        self.world.outbox.push(&self.scratch);
    }

    fn serve_ends(&mut self, now: Time) {
        if self.session.as_ref().is_some_and(|session| now >= session.last_valid + RECEIVER_LIMIT) {
            return self.end(now, EndOutcome::Silent);
        }
        let sent: u64 = self.sent().iter().map(|flow| flow.bytes).sum();
        if now >= self.sending_end() || self.config.bytes.is_some_and(|most| sent >= most) {
            return self.say_goodbye(now, ByeReason::Done, EndOutcome::Done);
        }
        if now >= self.receiving_end() {
            self.say_goodbye(now, ByeReason::Duration, EndOutcome::Done);
        }
    }

    /// Stops all flows and says goodbye until the peer answers.
    fn say_goodbye(&mut self, now: Time, reason: ByeReason, outcome: EndOutcome) {
        self.stop_flows(now, outcome);
        self.phase = EndPhase::Farewell;
        self.farewell_until = now + FAREWELL;
        self.bye = Some((reason, now));
        self.serve_farewell(now);
    }

    fn serve_farewell(&mut self, now: Time) {
        if now >= self.farewell_until {
            self.phase = EndPhase::Ended;
            return;
        }
        if let Some((reason, due)) = self.bye
            && due <= now
        {
            self.bye = Some((reason, now + BYE_INTERVAL));
            self.send_bye(now, reason);
        }
    }

    fn send_bye(&mut self, now: Time, reason: ByeReason) {
        // The last figures go before.
        self.send_status(now);
        reason.write(&mut self.scratch);
        self.world.outbox.push(&self.scratch);
    }

    /// Ends without a goodbye.
    fn end(&mut self, now: Time, outcome: EndOutcome) {
        self.stop_flows(now, outcome);
        self.phase = EndPhase::Ended;
    }

    fn stop_flows(&mut self, now: Time, outcome: EndOutcome) {
        self.outcome.get_or_insert(outcome);
        self.ended.get_or_insert(now);
        (self.sending, self.receiving) = (None, None);
        if let EndMeeting::Caller { call, .. } = &mut self.meeting {
            *call = None;
        }
    }

    /// The start of the flows, and their end or the present.
    fn span(&self, now: Time) -> TimeDelta {
        if self.phase == EndPhase::Waiting {
            TimeDelta::ZERO
        } else {
            self.ended.unwrap_or(now) - self.started
        }
    }

    /// Time since the last report on the flows that this end sends; `None` without such flows.
    pub fn silence(&self, now: Time) -> Option<TimeDelta> {
        self.sending.as_ref().map(|_| self.watch.silence(now).min(LONGEST_SILENCE))
    }
}
