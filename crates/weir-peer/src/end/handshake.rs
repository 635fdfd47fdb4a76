//! The handshake of an end, and the start of its flows.

use std::net::SocketAddr;

use weir_net::Time;
use weir_units::TimeDelta;

use super::{ANSWER_LIMIT, EXPLAINED_LIMIT, EndMeeting, EndOutcome, EndPhase, PeerEnd};
use crate::handshake::{CallerOutcome, HelloCaller, HelloOutcome, ProvedHello};
use crate::hosts::{ReceivingHosts, SendingHosts};
use crate::message::{ByeReason, CallRefusal};
use crate::offer::{ReceivingHalf, SessionTerms, TermsFault};
use crate::outbox::PacketSealing;
use crate::protection::{PacketOpener, PacketSealer};
use crate::reception::FlowReception;
use crate::session::SealedSession;
use crate::watch::FeedbackWatch;

impl PeerEnd {
    /// Begins a call to the address of the listener.
    pub(super) fn begin_call(&mut self, now: Time) {
        let nonce = self.random.nonce();
        if let EndMeeting::Caller { call, began, .. } = &mut self.meeting {
            *call = Some(Box::new(HelloCaller::new(now, &self.config.keys, nonce, self.terms.clone())));
            *began = now;
        }
    }

    pub(super) fn answer_limit(&self, call: &HelloCaller) -> TimeDelta {
        match self.phase {
            EndPhase::Waiting if call.explanation().is_some() => EXPLAINED_LIMIT,
            _ => ANSWER_LIMIT,
        }
    }

    /// Sends the hello that is due, and gives up a call without answer.
    pub(super) fn serve_call(&mut self, now: Time) {
        let EndMeeting::Caller { to, call: Some(call), began } = &self.meeting else { return };
        let (to, given_up) = (*to, now >= *began + self.answer_limit(call));
        let explanation = call.explanation().cloned();
        if given_up && self.phase == EndPhase::Waiting {
            return self.end(now, EndOutcome::NoAnswer(explanation));
        }
        let EndMeeting::Caller { call, .. } = &mut self.meeting else { return };
        if given_up {
            *call = None;
            return;
        }
        if let Some(call) = call
            && call.poll(now, &mut self.scratch)
        {
            self.world.outbox.push_to(to, &self.scratch, PacketSealing::Finished);
        }
    }

    /// Takes a message of the handshake. The result is whether it meant something.
    pub(super) fn on_handshake(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> bool {
        match &mut self.meeting {
            EndMeeting::Caller { to, call: Some(call), .. } if *to == from => {
                match call.on_datagram(now, datagram) {
                    CallerOutcome::Ignored => return false,
                    CallerOutcome::Progress => self.serve_call(now),
                    CallerOutcome::Accepted(accepted) => {
                        let ends = (accepted.sealer, accepted.opener);
                        let session = SealedSession::new(now, ends, from, accepted.terms, Default::default());
                        self.establish(now, session);
                    }
                    // During a session the old one goes on as long as it can.
                    CallerOutcome::Refused(refusal) if self.phase == EndPhase::Waiting => {
                        self.end(now, EndOutcome::Refused(refusal));
                    }
                    CallerOutcome::Refused(_) => {}
                }
                true
            }
            EndMeeting::Caller { .. } => false,
            EndMeeting::Listener { hellos, .. } => {
                let outcome = hellos.on_datagram(now, from, datagram, &mut self.scratch, &mut *self.random);
                match outcome {
                    HelloOutcome::Ignored => return false,
                    HelloOutcome::Answered => {
                        self.dropped.hellos += 1;
                        self.world.outbox.push_to(from, &self.scratch, PacketSealing::Finished);
                    }
                    HelloOutcome::Proved(hello) => self.on_proved(now, from, &hello),
                }
                true
            }
        }
    }

    /// Answers a hello with a valid cookie.
    fn on_proved(&mut self, now: Time, from: SocketAddr, hello: &ProvedHello) {
        if matches!(self.phase, EndPhase::Farewell | EndPhase::Ended) {
            // The next session takes the caller's next hello.
            return;
        }
        let refusal = self.refusal_of(from, hello);
        if let Some(refusal) = refusal {
            hello.refuse(&refusal, &mut self.scratch);
            return self.world.outbox.push_to(from, &self.scratch, PacketSealing::Finished);
        }
        if self.session.as_ref().is_some_and(|session| session.nonces[0] == hello.nonce) {
            return;
        }
        let EndMeeting::Listener { pending, .. } = &mut self.meeting else { return };
        // The same hello again gets the same answer.
        let known = pending.as_mut().filter(|known| known.nonces[0] == hello.nonce && known.remote == from);
        let session = if let Some(known) = known {
            known
        } else {
            let own = self.random.nonce();
            let keys = hello.session_keys(&own);
            let ends = (PacketSealer::new(keys.listener), PacketOpener::new(keys.caller));
            let session = SealedSession::new(now, ends, from, hello.terms.clone(), [hello.nonce, own]);
            pending.insert(Box::new(session))
        };
        hello.accept(&session.nonces[1], &self.terms, &mut session.sealer, &mut self.scratch);
        self.world.outbox.push_to(from, &self.scratch, PacketSealing::Finished);
    }

    /// The reason to refuse a caller, if there is one.
    fn refusal_of(&self, from: SocketAddr, hello: &ProvedHello) -> Option<CallRefusal> {
        if let Some(session) = &self.session {
            // The caller may have missed all packets of this end, and calls again.
            let again = session.remote == from && session.terms == hello.terms;
            if !again {
                return Some(CallRefusal::Busy);
            }
        }
        let made = self.terms.judge(&hello.terms).and_then(|()| self.halves(&hello.terms, 0).map(drop));
        made.err().map(|fault| CallRefusal::Terms(fault.to_string()))
    }

    /// The receiver halves of the peer's flows, the first of which has the index `base`.
    fn halves(&self, terms: &SessionTerms, base: usize) -> Result<Vec<(usize, ReceivingHalf)>, TermsFault> {
        let halves = terms.flows.iter().zip(base..).map(|(flow, index)| {
            let half = flow.receiver(&self.config.registry)?;
            Ok(half.map(|half| (index, half)))
        });
        halves.filter_map(Result::transpose).collect()
    }

    /// A valid packet of a pending caller has come: its session begins.
    pub(super) fn take_pending(&mut self, now: Time) {
        if let EndMeeting::Listener { pending, .. } = &mut self.meeting
            && let Some(session) = pending.take()
        {
            self.establish(now, *session);
        }
    }

    /// Begins the session, or goes on with new keys.
    fn establish(&mut self, now: Time, session: SealedSession) {
        let again = self.phase == EndPhase::Running;
        let terms = session.terms.clone();
        let former = self.session.replace(Box::new(session));
        self.status_due = now;
        let is_caller = matches!(self.meeting, EndMeeting::Caller { .. });
        if let EndMeeting::Caller { call, .. } = &mut self.meeting {
            *call = None;
        }
        let has_other_flows = again && former.is_some_and(|former| former.terms.flows != terms.flows);
        let judged = if has_other_flows { Err(TermsFault::OtherFlows) } else { self.terms.judge(&terms) };
        if let Err(fault) = judged {
            return self.say_goodbye(now, ByeReason::Terms, EndOutcome::Terms(fault.to_string()));
        }
        let within = terms.ceilings.within(&self.terms.flows);
        if again {
            self.has_new_keys = true;
            let local = self.local(now);
            if let Some(hosts) = &mut self.sending {
                hosts.set_bounds(local, &within, &mut self.world);
            }
            return self.on_route_changed(now);
        }
        // The flows of the caller come first.
        let (own, other) = (self.terms.flows.len(), terms.flows.len());
        (self.sent_base, self.received_base) = if is_caller { (0, own) } else { (other, 0) };
        let halves = match self.halves(&terms, self.received_base) {
            Ok(halves) => halves,
            Err(fault) => {
                return self.say_goodbye(now, ByeReason::Terms, EndOutcome::Terms(fault.to_string()));
            }
        };
        self.phase = EndPhase::Running;
        self.started = now;
        self.watch = FeedbackWatch::new(now);
        if other > 0 {
            let seed = u64::from_le_bytes(self.random.nonce()[..8].try_into().unwrap_or_default());
            self.receiving = Some(ReceivingHosts::start(halves, seed));
            self.reception.resize_with(other, FlowReception::default);
        }
        if let Some(plan) = self.config.plan.take() {
            let headers = if self.peer().is_some_and(|peer| peer.is_ipv6()) { 48 } else { 28 };
            let how = (headers, self.config.record);
            let hosts = SendingHosts::start(plan, self.sent_base, &within, how, &mut self.world);
            self.sending = Some(hosts);
        }
        if is_caller {
            // Its first packet proves that it has the keys. The listener's first status echoes that of the caller.
            self.serve_status(now);
        }
        self.serve_hosts(now);
    }

    /// The path to the peer is another one.
    pub(super) fn on_route_changed(&mut self, now: Time) {
        let local = self.local(now);
        if let Some(hosts) = &mut self.sending {
            hosts.on_route_changed(local, &mut self.world);
        }
        if let Some(hosts) = &mut self.receiving {
            hosts.on_route_changed();
        }
        self.reception.iter_mut().for_each(FlowReception::on_route_changed);
    }
}
