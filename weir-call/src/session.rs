//! A call: the browser's connection, the sender, and the path between them and the socket.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use weir_cc::{DataRate, DataSize, LimitsOutOfOrder, RateLimits, SendTime, TimeDelta};
use weir_net::Time;
use weir_registry::Registry;

use crate::clips::ClipSet;
use crate::controller::ControllerChoice;
pub use crate::decisions::{DecisionRow, EvidenceValue};
use crate::feedback::BrowserReports;
use crate::frame_delays::FrameDelays;
use crate::path::{CallPath, PathDatagram, PathSettings};
use crate::peer::{BrowserPeer, LeavingDatagram, PeerEvent};
use crate::sender::VideoSender;
pub use crate::session_error::SessionError;
use crate::status::{CallStatus, StatusMeter};

/// Lowest target of a call.
const LOWEST: DataRate = DataRate::from_kbps(100);
/// Most packets that leave in one call of [`CallSession::poll`] before others have their turn.
const BURST: usize = 64;

/// Description of a call.
#[derive(Clone, Debug)]
pub struct CallConfig {
    /// The controllers that have names.
    pub registry: Registry,
    /// The controller at the begin.
    pub controller: ControllerChoice,
    /// Bounds of the target, and its first value.
    pub limits: RateLimits,
    /// The path at the begin.
    pub path: PathSettings,
}

impl CallConfig {
    /// A call from 300 kbit/s on with at most 5 Mbit/s, over the default path.
    ///
    /// # Errors
    /// Never: the rates are in order.
    pub fn new(controller: ControllerChoice) -> Result<Self, LimitsOutOfOrder> {
        Ok(Self {
            registry: Registry::standard(),
            controller,
            limits: RateLimits::new(LOWEST, DataRate::from_kbps(300), DataRate::from_mbps(5))?,
            path: PathSettings::default(),
        })
    }
}

/// An event of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// Video flows.
    Connected,
    /// The browser does not answer, or has ended the connection. The call waits.
    Waiting,
    /// The controller changed its rate. A row with the number of an earlier one replaces that.
    Decision(DecisionRow),
}

/// An output of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionOutput {
    /// A datagram for the socket.
    Datagram(PathDatagram),
    /// An event.
    Event(SessionEvent),
    /// No more output until this time or the next input; `None` while nothing is to come.
    Wake(Option<Instant>),
}

/// A call without sockets and clock. After each input, and when the time of the last [`SessionOutput::Wake`] has come,
/// [`CallSession::poll`] is called until it returns the next one.
#[derive(Debug)]
pub struct CallSession {
    config: CallConfig,
    clips: ClipSet,
    local: SocketAddr,
    /// Zero of all times inside.
    zero: Instant,
    path: CallPath,
    peer: Option<ConnectedBrowser>,
    /// Datagrams by which browsers get to know the end, beside the path: nobody waits for it then.
    farewells: VecDeque<PathDatagram>,
    events: VecDeque<SessionEvent>,
    meter: StatusMeter,
    /// Datagrams that no browser's connection accepted.
    foreign: u64,
}

/// A browser and what is sent to it.
#[derive(Debug)]
struct ConnectedBrowser {
    peer: BrowserPeer,
    reports: BrowserReports,
    sender: VideoSender,
    delays: FrameDelays,
    is_connected: bool,
}

impl CallSession {
    /// A call that waits for an offer. `local` is the address of its socket, the only one that the browser gets.
    ///
    /// # Errors
    /// A setting out of its range, a controller that does not take the limits, or an address that names no host.
    pub fn new(
        config: CallConfig,
        clips: ClipSet,
        local: SocketAddr,
        now: Instant,
    ) -> Result<Self, SessionError> {
        BrowserPeer::candidate(local)?;
        let path = CallPath::new(config.path)?;
        config.controller.build(&config.registry, config.limits).map_err(SessionError::Controller)?;
        Ok(Self {
            config,
            clips,
            local,
            zero: now,
            path,
            peer: None,
            farewells: VecDeque::new(),
            events: VecDeque::new(),
            meter: StatusMeter::default(),
            foreign: 0,
        })
    }

    /// Takes a browser's offer, as text in SDP; returns the answer. A browser before it is left.
    ///
    /// # Errors
    /// An offer that a call cannot answer. Then a browser before it stays.
    pub fn on_offer(&mut self, now: Instant, sdp: &str) -> Result<String, SessionError> {
        let (peer, answer) = BrowserPeer::answer(now, self.local, sdp)?;
        let CallConfig { registry, controller, limits, .. } = &self.config;
        let controller = controller.build(registry, *limits).map_err(SessionError::Controller)?;
        let sender = VideoSender::new(self.send_time(now), controller, self.clips.clone(), limits.max());
        let reports = BrowserReports::new(now);
        let browser =
            ConnectedBrowser { peer, reports, sender, delays: FrameDelays::default(), is_connected: false };
        self.close();
        self.peer = Some(browser);
        Ok(answer)
    }

    /// Takes a datagram of the socket.
    pub fn on_datagram(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) {
        // Strangers take nothing of the path.
        if self.peer.as_ref().is_some_and(|browser| browser.peer.accepts(now, from, bytes)) {
            self.path.receive(self.time(now), PathDatagram::new(from, bytes.to_vec()));
        } else {
            self.foreign += 1;
        }
    }

    /// Takes leave of the browser: the datagrams that tell it are the next outputs, without the delay of the path.
    pub fn close(&mut self) {
        if let Some(mut browser) = self.peer.take() {
            browser.peer.close();
            let leaving = std::iter::from_fn(|| browser.peer.poll_datagram());
            self.farewells.extend(leaving.map(|leaving| PathDatagram::new(leaving.to, leaving.bytes)));
            self.events.push_back(SessionEvent::Waiting);
        }
    }

    /// Puts another controller in place, which begins at the present target.
    ///
    /// # Errors
    /// A controller that does not take the limits. Then the present one stays.
    pub fn set_controller(&mut self, now: Instant, choice: ControllerChoice) -> Result<(), SessionError> {
        let limits = self.config.limits;
        let present = self.peer.as_ref().map_or(limits.start(), |browser| browser.sender.target().media_rate);
        let begin = RateLimits::new(limits.min(), limits.clamp(present), limits.max()).unwrap_or(limits);
        let controller = choice.build(&self.config.registry, begin).map_err(SessionError::Controller)?;
        self.config.controller = choice;
        let at = self.send_time(now);
        if let Some(browser) = &mut self.peer {
            browser.sender.replace_controller(at, controller, limits.max());
        }
        Ok(())
    }

    /// Changes the path.
    ///
    /// # Errors
    /// A setting out of its range. Then nothing changes.
    pub fn set_path(&mut self, now: Instant, settings: PathSettings) -> Result<(), SessionError> {
        Ok(self.path.change(self.time(now), settings)?)
    }

    /// The present controller.
    pub fn controller(&self) -> &ControllerChoice {
        &self.config.controller
    }

    /// The present settings of the path.
    pub fn path(&self) -> &PathSettings {
        self.path.settings()
    }

    /// Whether video flows.
    pub fn is_connected(&self) -> bool {
        self.peer.as_ref().is_some_and(|browser| browser.is_connected)
    }

    /// The figures since the last call.
    pub fn take_status(&mut self, now: Instant) -> CallStatus {
        let at = self.time(now);
        let sender = self.peer.as_ref().map(|browser| &browser.sender);
        let target = sender.map(|sender| (sender.target().media_rate, sender.target().limiting_factor));
        let waiting = sender.map_or(DataSize::ZERO, VideoSender::waiting);
        let (queued, counts) = (self.path.queued(at), self.path.counts());
        let queue = queued / self.path.settings().capacity;
        self.meter.take(at, target, waiting, queue, counts, self.foreign)
    }

    /// The next output.
    pub fn poll(&mut self, now: Instant) -> SessionOutput {
        if let Some(datagram) = self.farewells.pop_front() {
            return SessionOutput::Datagram(datagram);
        }
        let at = self.time(now);
        while let Some(datagram) = self.path.pop_back(at) {
            let browser = self.peer.as_mut();
            let taken =
                browser.is_some_and(|browser| browser.peer.on_datagram(now, datagram.peer, &datagram.bytes));
            self.foreign += u64::from(!taken);
            self.serve(now);
        }
        self.serve(now);
        if let Some(datagram) = self.path.pop_there(at) {
            self.on_arrived(now, &datagram);
            return SessionOutput::Datagram(datagram);
        }
        if let Some(event) = self.events.pop_front() {
            return SessionOutput::Event(event);
        }
        SessionOutput::Wake(self.next_wake())
    }

    /// Serves timers, events and packets of the browser that are due.
    fn serve(&mut self, now: Instant) {
        let (at, send_at) = (self.time(now), self.send_time(now));
        let Some(browser) = &mut self.peer else { return };
        if browser.peer.next_timeout().is_some_and(|due| due <= now) {
            browser.peer.on_timeout(now);
        }
        let mut ended = false;
        while let Some(event) = browser.peer.poll_event() {
            ended |= matches!(event, PeerEvent::Ended);
            self.events.extend(browser.on_event(send_at, event, &mut self.meter));
        }
        browser.leave(at, send_at, &mut self.path, &mut self.meter);
        if browser.is_connected {
            browser.sender.on_timeout(send_at);
            for _ in 0..BURST {
                let Some(packet) = browser.sender.pop(send_at) else { break };
                let (frame, captured, last) = (packet.frame, packet.captured, packet.marker);
                browser.peer.send(now, &packet);
                if let Some(sequence) = browser.leave(at, send_at, &mut self.path, &mut self.meter) {
                    browser.delays.on_sent(send_at, sequence, frame, captured, last);
                }
            }
            let decisions = std::iter::from_fn(|| browser.sender.take_decision());
            self.events.extend(decisions.map(SessionEvent::Decision));
        }
        if ended {
            self.peer = None;
        }
    }

    /// A datagram has come to the browser's end.
    fn on_arrived(&mut self, now: Instant, datagram: &PathDatagram) {
        let at = self.send_time(now);
        if let (Some(browser), Some(sequence)) = (&mut self.peer, datagram.media) {
            self.meter.on_arrived(datagram.payload, browser.delays.on_arrived(at, sequence));
        }
    }

    fn next_wake(&self) -> Option<Instant> {
        let path = self.path.next_event().map(|at| self.zero + Duration::from_nanos(at.nanos()));
        let browser = self.peer.as_ref();
        let peer = browser.and_then(|browser| browser.peer.next_timeout());
        let sender =
            browser.filter(|browser| browser.is_connected).map(|browser| browser.sender.next_timeout());
        let sender = sender
            .filter(|&at| at < SendTime::MAX)
            .map(|at| self.zero + Duration::from_nanos((at - SendTime::ZERO).nanos().max(0) as u64));
        [path, peer, sender].into_iter().flatten().min()
    }

    fn time(&self, now: Instant) -> Time {
        Time::from_nanos(u64::try_from((now - self.zero).as_nanos()).unwrap_or(u64::MAX))
    }

    fn send_time(&self, now: Instant) -> SendTime {
        let since = i64::try_from((now - self.zero).as_nanos()).unwrap_or(i64::MAX);
        SendTime::ZERO + TimeDelta::from_nanos(since)
    }
}

impl ConnectedBrowser {
    fn on_event(&mut self, at: SendTime, event: PeerEvent, meter: &mut StatusMeter) -> Option<SessionEvent> {
        match event {
            PeerEvent::Connected if !self.is_connected => {
                self.is_connected = true;
                self.sender.request_key_frame();
                return Some(SessionEvent::Connected);
            }
            PeerEvent::Interrupted | PeerEvent::Ended => {
                self.is_connected = false;
                return Some(SessionEvent::Waiting);
            }
            PeerEvent::KeyFrameRequest => {
                meter.key_frame_requests += 1;
                self.sender.request_key_frame();
            }
            PeerEvent::Feedback(feedback) => {
                let report = self.reports.transport_wide(feedback, self.sender.history());
                match report {
                    Some(report) => self.sender.on_report(at, &report),
                    None => meter.refused_reports += 1,
                }
            }
            PeerEvent::Reception(report) => {
                if let Some(report) = self.reports.reception(&report, self.peer.ssrc()) {
                    self.sender.on_report(at, &report);
                }
            }
            PeerEvent::SenderReport(report) => self.reports.on_sender_report(at, &report),
            PeerEvent::Connected => {}
        }
        None
    }

    /// Passes the datagrams that leave to the path. Returns the sequence number of the media that leaves for the first
    /// time among them.
    fn leave(
        &mut self,
        at: Time,
        send_at: SendTime,
        path: &mut CallPath,
        meter: &mut StatusMeter,
    ) -> Option<u16> {
        let mut media = None;
        while let Some(LeavingDatagram { to, bytes, rtp }) = self.peer.poll_datagram() {
            let mut datagram = PathDatagram::new(to, bytes);
            if let Some(rtp) = rtp {
                // Feedback names packets by these numbers: out of step it would be about others.
                if rtp.transport != Some(self.sender.history().next_number() as u16) {
                    self.peer.close();
                    self.is_connected = false;
                }
                let size = |bytes: usize| DataSize::from_bytes(bytes as u64);
                self.sender.on_sent(send_at, size(rtp.header), size(rtp.payload));
                meter.on_sent(rtp.payload, rtp.again);
                datagram.media = Some(rtp.sequence);
                datagram.payload = rtp.payload as u32;
                if !rtp.again {
                    media = Some(rtp.sequence);
                }
            }
            path.send(at, datagram);
        }
        media
    }
}
