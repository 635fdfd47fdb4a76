//! Datagrams that reach an end.

use std::net::SocketAddr;

use weir_cc::Ecn;
use weir_net::Time;
use weir_wire::AbsSendTime;
use weir_wire::media::{ExtensionIds, MediaHeader};
use weir_wire::rtcp::is_rtcp;

use super::{EndMeeting, EndOutcome, EndPhase, FAREWELL, PeerEnd};
use crate::message::{
    ByeReason, ConstantMessage, MessageHead, MessageKind, ReceivedFigures, StatusMessage, begin,
};
use crate::offer::OfferedFlow;
use crate::outbox::PacketSealing;
use crate::protection::{SealFault, TRAILER_LENGTH};
use crate::reception::PacketArrival;
use crate::session::{PathChallenge, SessionFault};
use crate::watch::LONGEST_SILENCE;
use crate::wire::WireReader;

/// A datagram as it arrived.
#[derive(Clone, Copy, Debug)]
pub struct IncomingDatagram<'a> {
    /// Time of its arrival at the system; not later than that of the call.
    pub at: Time,
    /// Address of its sender.
    pub from: SocketAddr,
    /// ECN field.
    pub ecn: Ecn,
    /// Content.
    pub bytes: &'a [u8],
}

impl PeerEnd {
    /// Takes a datagram at `now`. The result is the length of its content without the trailer, if it is one of the peer's.
    pub fn on_datagram(&mut self, now: Time, datagram: IncomingDatagram<'_>) -> Option<usize> {
        let IncomingDatagram { from, bytes, .. } = datagram;
        if self.phase == EndPhase::Ended {
            return None;
        }
        // Port zero has no receiver, so that no packet of a peer comes from there.
        if from.port() == 0 {
            self.dropped.forged += 1;
            return None;
        }
        let kind = MessageHead::read(bytes).and_then(|head| head.kind);
        if let Some(MessageKind::Hello | MessageKind::Retry | MessageKind::Accept | MessageKind::Refuse) =
            kind
        {
            let known = self.on_handshake(now, from, bytes);
            self.dropped.forged += u64::from(!known);
            return known.then(|| bytes.len().saturating_sub(TRAILER_LENGTH));
        }
        let follows = !self.config.keys.is_open();
        let mut fault = None;
        if let Some(session) = &mut self.session {
            match session.open(now, from, bytes, follows, &mut *self.random) {
                Ok(packet) => {
                    if let Some(challenge) = packet.challenge {
                        self.send_to(from, MessageKind::Challenge, challenge);
                    }
                    self.on_packet(now, &datagram, packet.bytes);
                    return Some(packet.bytes.len());
                }
                Err(reason) => fault = Some(reason),
            }
        }
        if let EndMeeting::Listener { pending: Some(pending), .. } = &mut self.meeting
            && let Ok(packet) = pending.open(now, from, bytes, false, &mut *self.random)
        {
            self.take_pending(now);
            self.on_packet(now, &datagram, packet.bytes);
            return Some(packet.bytes.len());
        }
        match fault {
            Some(SessionFault::Foreign) => self.dropped.foreign += 1,
            Some(SessionFault::Sealed(SealFault::Replayed)) => self.dropped.replayed += 1,
            Some(SessionFault::Sealed(_)) | None => self.dropped.forged += 1,
        }
        None
    }

    /// A status has come that proves that the peer received a recent one of this end.
    fn on_report(&mut self, now: Time) {
        if self.phase != EndPhase::Running {
            return;
        }
        self.watch.on_report(now);
        if let EndMeeting::Caller { call, .. } = &mut self.meeting {
            *call = None;
        }
        self.serve_watch(now);
    }

    fn send_to(&mut self, to: SocketAddr, kind: MessageKind, content: PathChallenge) {
        begin(&mut self.scratch, kind);
        self.scratch.extend_from_slice(&content);
        self.world.outbox.push_to(to, &self.scratch, PacketSealing::Session);
    }

    fn on_packet(&mut self, now: Time, datagram: &IncomingDatagram<'_>, packet: &[u8]) {
        self.arrived = self.arrived.max(datagram.at);
        let understood = match MessageHead::read(packet) {
            Some(head) => self.on_message(now, datagram, head),
            None if is_rtcp(packet) => self.on_rtcp(now, datagram, packet),
            None => self.on_media(datagram, packet),
        };
        self.dropped.unreadable += u64::from(understood.is_none());
    }

    fn on_message(
        &mut self,
        now: Time,
        datagram: &IncomingDatagram<'_>,
        head: MessageHead<'_>,
    ) -> Option<()> {
        let kind = head.kind?;
        let mut body: WireReader<'_> = head.of(kind)?;
        match kind {
            MessageKind::Status => {
                self.on_status(now, StatusMessage::read(body)?);
            }
            MessageKind::Bye => self.on_bye(now, ByeReason::read(body)?),
            MessageKind::Challenge => {
                let challenge = body.array()?;
                self.send_to(datagram.from, MessageKind::Response, challenge);
            }
            MessageKind::Response => {
                let response: PathChallenge = body.array()?;
                if self.session.as_mut()?.on_response(datagram.from, &response) {
                    self.on_route_changed(now);
                }
            }
            MessageKind::Constant => {
                let ConstantMessage { flow, number, departure } = ConstantMessage::read(body)?;
                let flow = self.received_flow(usize::from(flow), true)?;
                let arrival = self.arrival(datagram, datagram.bytes.len() as u64);
                let reception = self.reception.get_mut(flow)?;
                reception.on_packet(arrival, 0, number, AbsSendTime::from_ticks(departure & 0xFF_FFFF));
            }
            MessageKind::Hello | MessageKind::Retry | MessageKind::Accept | MessageKind::Refuse => {
                return None;
            }
        }
        Some(())
    }

    fn on_status(&mut self, now: Time, status: StatusMessage) {
        let is_newer = self.reported.as_ref().is_none_or(|(reported, _)| reported.number <= status.number);
        let begins_anew = !is_newer && core::mem::take(&mut self.has_new_keys);
        if begins_anew && let Some((reported, _)) = self.reported.take() {
            self.reported_before.resize(self.sent().len(), ReceivedFigures::default());
            for (index, figures) in &reported.flows {
                let flow = usize::from(*index).checked_sub(self.sent_base);
                if let Some(before) = flow.and_then(|flow| self.reported_before.get_mut(flow)) {
                    *before = before.and(figures);
                }
            }
        }
        if is_newer || begins_anew {
            if let Some((number, held)) = status.echo {
                let sent = self.status_sent.iter().flatten().find(|(own, _)| *own == number);
                if let Some(age) = sent.map(|&(_, sent)| now - sent).filter(|age| *age < LONGEST_SILENCE) {
                    self.on_report(now);
                    if age >= held {
                        self.rtts.record(age - held);
                        self.rtt = Some(age - held);
                    }
                }
            }
            self.has_new_keys = false;
            self.reported = Some((status, now));
        }
    }

    /// Place of the received flow with this index, if the peer offered it as one without control, or with.
    fn received_flow(&self, index: usize, is_constant: bool) -> Option<usize> {
        let place = index.checked_sub(self.received_base)?;
        let offered = self.session.as_ref()?.terms.flows.get(place)?;
        (matches!(offered, OfferedFlow::Constant(_)) == is_constant).then_some(place)
    }

    fn arrival(&self, datagram: &IncomingDatagram<'_>, payload: u64) -> PacketArrival {
        let headers = if datagram.from.is_ipv6() { 48 } else { 28 };
        PacketArrival {
            at: self.local(datagram.at.max(self.started)),
            ecn: datagram.ecn,
            wire_size: datagram.bytes.len() as u64 + headers,
            payload,
        }
    }

    fn on_media(&mut self, datagram: &IncomingDatagram<'_>, packet: &[u8]) -> Option<()> {
        let header = MediaHeader::parse(packet, &ExtensionIds::default()).ok()?;
        let (flow, is_sender) = flow_of(header.ssrc)?;
        let payload = packet.len().saturating_sub(header.wire_len());
        let arrival = self.arrival(datagram, payload as u64);
        let own = self.received_flow(flow, false).filter(|_| is_sender)?;
        let reception = self.reception.get_mut(own)?;
        reception.on_media(arrival, &header);
        // Late packets after a goodbye count, and are not reported to the sender.
        if let Some(hosts) = &mut self.receiving {
            hosts.on_media(arrival.at, flow, (&header, payload as u16), datagram.ecn, &mut self.world);
        }
        Some(())
    }

    fn on_rtcp(&mut self, now: Time, datagram: &IncomingDatagram<'_>, packet: &[u8]) -> Option<()> {
        let source = u32::from_be_bytes(packet.get(4..8)?.try_into().ok()?);
        let (flow, is_sender) = flow_of(source)?;
        // A reaction cannot leave earlier than the report was read.
        let local = self.local(if is_sender { datagram.at.max(self.started) } else { now });
        match (is_sender, &mut self.receiving, &mut self.sending) {
            (true, Some(hosts), _) => hosts.on_rtcp(local, flow, packet, &mut self.world),
            (false, _, Some(hosts)) => hosts.on_rtcp(local, flow, packet, &mut self.world),
            // Reports on the last packets come after the end.
            _ => return (self.phase == EndPhase::Farewell).then_some(()),
        }
        Some(())
    }

    fn on_bye(&mut self, now: Time, reason: ByeReason) {
        match self.phase {
            EndPhase::Waiting | EndPhase::Ended => {}
            EndPhase::Running => {
                let outcome = match reason {
                    ByeReason::Done | ByeReason::Duration => EndOutcome::Done,
                    ByeReason::Interrupted => EndOutcome::Interrupted,
                    ByeReason::Rate => EndOutcome::AboveCeiling,
                    ByeReason::Terms => EndOutcome::Terms("the other end does not agree".to_owned()),
                };
                self.stop_flows(now, outcome);
                self.phase = EndPhase::Farewell;
                self.farewell_until = now + FAREWELL;
                self.send_bye(now, reason);
            }
            // An answer to the own goodbye, or another one because the answer was lost.
            EndPhase::Farewell if self.bye.is_some() => self.phase = EndPhase::Ended,
            EndPhase::Farewell => self.send_bye(now, reason),
        }
    }
}

/// The flow of a source identifier, and whether it is that of its sending end.
fn flow_of(source: u32) -> Option<(usize, bool)> {
    // Audio and retransmissions have a bit of their own.
    let place = (source & 0x3FFF_FFFF).checked_sub(1)?;
    Some((place as usize / 2, place % 2 == 0))
}

#[cfg(test)]
mod tests {
    use weir_world::Side;
    use weir_world::host::ssrc;

    use super::*;

    #[test]
    fn the_flow_of_an_identifier_is_the_one_that_hosts_give_it() {
        for flow in [0, 1, 7] {
            assert_eq!(flow_of(ssrc(flow, Side::Sender)), Some((flow, true)));
            assert_eq!(flow_of(ssrc(flow, Side::Receiver)), Some((flow, false)));
            assert_eq!(flow_of(ssrc(flow, Side::Sender) ^ (1 << 31)), Some((flow, true)));
            assert_eq!(flow_of(ssrc(flow, Side::Sender) ^ (1 << 30)), Some((flow, true)));
        }
        assert_eq!(flow_of(0), None);
    }
}
