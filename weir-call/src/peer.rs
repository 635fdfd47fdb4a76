//! The browser, as `str0m` speaks with it: ICE, DTLS, SRTP, and retransmissions.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

use str0m::change::SdpOffer;
use str0m::format::Codec;
use str0m::media::{Mid, Pt};
use str0m::net::{Protocol, Receive};
use str0m::rtp::rtcp::{self, Rtcp};
use str0m::rtp::{Extension, RawPacket, RtpWrite};
use str0m::{Candidate, Event, IceConnectionState, Input, Output, Rtc, RtcConfig};

use crate::session_error::SessionError;
use crate::vp8::VideoPacket;

/// An event of the connection.
#[derive(Debug)]
pub(crate) enum PeerEvent {
    /// Media may flow, for the first time or again.
    Connected,
    /// The browser does not answer; it may come back.
    Interrupted,
    /// The connection is over.
    Ended,
    /// The browser asks for a key frame.
    KeyFrameRequest,
    /// Transport-wide feedback.
    Feedback(rtcp::Twcc),
    /// A receiver report.
    Reception(rtcp::ReceiverReport),
    /// A sender report that leaves.
    SenderReport(rtcp::SenderReport),
}

/// An RTP packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeavingRtp {
    /// The media's sequence number, also in a retransmission.
    pub(crate) sequence: u16,
    /// Whether it is sent again.
    pub(crate) again: bool,
    /// Bytes of the header.
    pub(crate) header: usize,
    /// Bytes of the payload.
    pub(crate) payload: usize,
    /// Its transport-wide number.
    pub(crate) transport: Option<u16>,
}

/// A datagram that leaves.
#[derive(Debug)]
pub(crate) struct LeavingDatagram {
    pub(crate) to: SocketAddr,
    pub(crate) bytes: Vec<u8>,
    pub(crate) rtp: Option<LeavingRtp>,
}

/// The connection with a browser.
#[derive(Debug)]
pub(crate) struct BrowserPeer {
    rtc: Rtc,
    local: SocketAddr,
    mid: Option<Mid>,
    payload_type: Option<Pt>,
    ssrc: u32,
    sequence: u64,
    wake: Option<Instant>,
    ended: bool,
    datagrams: VecDeque<LeavingDatagram>,
    rtp: VecDeque<LeavingRtp>,
    events: VecDeque<PeerEvent>,
}

impl BrowserPeer {
    /// The address of the socket as the browser gets it.
    ///
    /// # Errors
    /// An address that names no host, such as 0.0.0.0.
    pub(crate) fn candidate(local: SocketAddr) -> Result<Candidate, SessionError> {
        Candidate::host(local, "udp").map_err(|_| SessionError::Address(local))
    }

    /// Takes an offer; returns the connection and the answer.
    ///
    /// # Errors
    /// An offer that is none, or without VP8 or transport-wide feedback.
    pub(crate) fn answer(now: Instant, local: SocketAddr, sdp: &str) -> Result<(Self, String), SessionError> {
        let offer = SdpOffer::from_sdp_string(sdp).map_err(|_| SessionError::Offer)?;
        let config = RtcConfig::new().clear_codecs().enable_vp8(true);
        let mut rtc = config.set_rtp_mode(true).enable_raw_packets(true).build(now);
        rtc.add_local_candidate(Self::candidate(local)?);
        let answer = rtc.sdp_api().accept_offer(offer).map_err(|_| SessionError::Offer)?;
        let mut peer = Self {
            rtc,
            local,
            mid: None,
            payload_type: None,
            ssrc: 0,
            sequence: 1,
            wake: Some(now),
            ended: false,
            datagrams: VecDeque::new(),
            rtp: VecDeque::new(),
            events: VecDeque::new(),
        };
        peer.drain();
        let answer = answer.to_sdp_string();
        let (mid, payload_type) = peer.video(&answer).ok_or(SessionError::NoVideo)?;
        let mut api = peer.rtc.direct_api();
        let stream = api.stream_tx_by_mid(mid, None).ok_or(SessionError::NoVideo)?;
        peer.ssrc = *stream.ssrc();
        (peer.mid, peer.payload_type) = (Some(mid), Some(payload_type));
        Ok((peer, answer))
    }

    /// The video that the browser takes by this answer: VP8 with transport-wide feedback.
    fn video(&self, answer: &str) -> Option<(Mid, Pt)> {
        let (_, video) = answer.split_once("m=video ")?;
        let mid: Mid = video.lines().find_map(|line| line.strip_prefix("a=mid:"))?.trim().into();
        let media =
            self.rtc.media(mid).filter(|media| media.kind().is_video() && media.direction().is_sending())?;
        media.remote_extmap().id_of(Extension::TransportSequenceNumber)?;
        let codecs = self.rtc.codec_config();
        let params = codecs.iter().find(|params| params.spec().codec == Codec::Vp8)?;
        media.remote_pts().contains(&params.pt()).then_some((mid, params.pt()))
    }

    /// Identifier of the video's source.
    pub(crate) fn ssrc(&self) -> u32 {
        self.ssrc
    }

    /// When [`Self::on_timeout`] should next be called.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        self.wake
    }

    /// Lets the time pass.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        // An error is of a datagram before: the connection ends by itself where it must.
        let _error = self.rtc.handle_input(Input::Timeout(now));
        self.drain();
    }

    /// Takes a datagram. Returns whether it is one of this connection.
    pub(crate) fn on_datagram(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) -> bool {
        let Some(input) = self.accepted(now, from, bytes) else { return false };
        // Datagrams of strangers cause errors, too.
        let _error = self.rtc.handle_input(input);
        self.drain();
        true
    }

    /// Whether a datagram is one of this connection.
    pub(crate) fn accepts(&self, now: Instant, from: SocketAddr, bytes: &[u8]) -> bool {
        self.accepted(now, from, bytes).is_some()
    }

    fn accepted<'a>(&self, now: Instant, from: SocketAddr, bytes: &'a [u8]) -> Option<Input<'a>> {
        let input = Input::Receive(now, Receive::new(Protocol::Udp, from, self.local, bytes).ok()?);
        self.rtc.accepts(&input).then_some(input)
    }

    /// Sends a packet of the video.
    pub(crate) fn send(&mut self, now: Instant, packet: &VideoPacket) {
        let (Some(mid), Some(payload_type)) = (self.mid, self.payload_type) else { return };
        let mut api = self.rtc.direct_api();
        let Some(stream) = api.stream_tx_by_mid(mid, None) else { return };
        let payload = packet.payload.clone();
        let rtp = RtpWrite::new(payload_type, self.sequence.into(), packet.timestamp, now, payload);
        stream.write_rtp(rtp.marker(packet.marker).nackable(true));
        self.sequence += 1;
        self.drain();
        self.on_timeout(now);
    }

    /// Takes leave of the browser.
    pub(crate) fn close(&mut self) {
        // Without a connection there is nobody to take leave of.
        let _error = self.rtc.close();
        self.drain();
    }

    /// The next datagram to send.
    pub(crate) fn poll_datagram(&mut self) -> Option<LeavingDatagram> {
        self.datagrams.pop_front()
    }

    /// The next event.
    pub(crate) fn poll_event(&mut self) -> Option<PeerEvent> {
        self.events.pop_front()
    }

    fn drain(&mut self) {
        let first = self.datagrams.len();
        loop {
            match self.rtc.poll_output() {
                Ok(Output::Timeout(at)) => {
                    self.wake = self.rtc.is_alive().then_some(at);
                    break;
                }
                Ok(Output::Transmit(transmit)) => {
                    let (to, bytes) = (transmit.destination, transmit.contents.to_vec());
                    self.datagrams.push_back(LeavingDatagram { to, bytes, rtp: None });
                }
                Ok(Output::Event(event)) => self.on_event(event),
                Err(_) => self.rtc.disconnect(),
            }
        }
        for datagram in self.datagrams.range_mut(first..).filter(|datagram| is_rtp(&datagram.bytes)) {
            datagram.rtp = self.rtp.pop_front();
        }
        if !self.rtc.is_alive() && !std::mem::replace(&mut self.ended, true) {
            self.events.push_back(PeerEvent::Ended);
        }
    }

    fn on_event(&mut self, event: Event) {
        let event = match event {
            Event::Connected => PeerEvent::Connected,
            Event::IceConnectionStateChange(IceConnectionState::Disconnected) => PeerEvent::Interrupted,
            Event::IceConnectionStateChange(
                IceConnectionState::Connected | IceConnectionState::Completed,
            ) if self.rtc.is_connected() => PeerEvent::Connected,
            Event::KeyframeRequest(_) => PeerEvent::KeyFrameRequest,
            Event::RawPacket(raw) => match *raw {
                RawPacket::RtcpRx(Rtcp::Twcc(feedback)) => PeerEvent::Feedback(feedback),
                RawPacket::RtcpRx(Rtcp::ReceiverReport(report)) => PeerEvent::Reception(report),
                RawPacket::RtcpTx(Rtcp::SenderReport(report)) => PeerEvent::SenderReport(report),
                RawPacket::RtpTx(header, bytes) => {
                    let payload = bytes.get(header.header_len..).unwrap_or(&[]);
                    let again = *header.ssrc != self.ssrc;
                    let original = payload.first_chunk().map(|first| u16::from_be_bytes(*first));
                    let sequence = original.filter(|_| again).unwrap_or(header.sequence_number);
                    let transport = header.ext_vals.transport_cc;
                    let (header, payload) = (header.header_len, payload.len());
                    self.rtp.push_back(LeavingRtp { sequence, again, header, payload, transport });
                    return;
                }
                _ => return,
            },
            _ => return,
        };
        self.events.push_back(event);
    }
}

/// Whether a datagram is RTP (RFC 7983 §7), and not RTCP (RFC 5761 §4).
fn is_rtp(bytes: &[u8]) -> bool {
    matches!(bytes, [128..=191, kind, ..] if !(192..=223).contains(kind))
}
