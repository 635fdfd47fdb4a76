//! The flows that one host sends to one peer.

use weir_cc::{Decision, PathEvent, SendTime, Share};
use weir_units::TimeDelta;

use crate::sender::{MediaPacket, MediaSender, SentFrame};

/// The flows that one host sends to one peer, behind one pair of ports: they share a wake-up and the way back, on which
/// reports of all of them come. The session alone assigns shares of a common rate ([`Session::adopt`]): a controller
/// never sees another.
///
/// Drive it as a single [`MediaSender`]; what it gives out carries the flow's index.
#[derive(Debug)]
pub struct Session {
    flows: Vec<MediaSender>,
}

impl Session {
    /// A session of these flows, which must differ in their source identifiers.
    pub fn new(flows: Vec<MediaSender>) -> Self {
        Self { flows }
    }

    /// The flows.
    pub fn flows(&self) -> &[MediaSender] {
        &self.flows
    }

    /// All flows start.
    pub fn start(&mut self, now: SendTime) {
        self.flows.iter_mut().for_each(|flow| flow.start(now));
    }

    /// All flows stop.
    pub fn stop(&mut self) {
        self.flows.iter_mut().for_each(MediaSender::stop);
    }

    /// All flows pause.
    pub fn pause(&mut self, now: SendTime) {
        self.flows.iter_mut().for_each(|flow| flow.pause(now));
    }

    /// All flows go on.
    pub fn resume(&mut self, now: SendTime) {
        self.flows.iter_mut().for_each(|flow| flow.resume(now));
    }

    /// When something is to be done next; `None` while all are stopped.
    pub fn next_timeout(&self) -> Option<SendTime> {
        self.flows.iter().filter_map(MediaSender::next_timeout).min()
    }

    /// Calls the controllers whose time has come, and hands each decision to `decided`.
    pub fn on_timeout(&mut self, now: SendTime, mut decided: impl FnMut(usize, Decision)) {
        for (index, flow) in self.flows.iter_mut().enumerate() {
            if let Some(decision) = flow.on_timeout(now) {
                decided(index, decision);
            }
        }
    }

    /// Captures the next frame that is due; call until `None`.
    pub fn poll_frame(&mut self, now: SendTime) -> Option<(usize, SentFrame)> {
        self.first(|flow| flow.poll_frame(now))
    }

    /// The next packet that may leave now; call until `None`.
    pub fn poll_packet(&mut self, now: SendTime) -> Option<(usize, MediaPacket)> {
        self.first(|flow| flow.poll_packet(now))
    }

    /// Writes the RTCP packet that is due into `out` and returns its length; call until `None`.
    pub fn poll_rtcp(&mut self, now: SendTime, out: &mut [u8]) -> Option<usize> {
        self.first(|flow| flow.poll_rtcp(now, out)).map(|(_, len)| len)
    }

    /// An RTCP compound packet has come: each flow takes what is about it. The round-trip times that it measured go to
    /// `measured`.
    pub fn on_rtcp(&mut self, now: SendTime, bytes: &[u8], mut measured: impl FnMut(usize, TimeDelta)) {
        for (index, flow) in self.flows.iter_mut().enumerate() {
            if let Some(rtt) = flow.on_rtcp(now, bytes) {
                measured(index, rtt);
            }
        }
    }

    /// Something changed outside the controllers.
    pub fn on_event(&mut self, now: SendTime, event: PathEvent) {
        for flow in &mut self.flows {
            flow.on_event(now, event);
        }
    }

    /// The flow `flow` gets a share of the session's rate.
    pub fn adopt(&mut self, now: SendTime, flow: usize, share: Share) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.adopt(now, share);
        }
    }

    /// The flows whose target changed since this was last asked.
    pub fn take_target_changes(&mut self) -> impl Iterator<Item = (usize, &MediaSender)> {
        self.flows.iter_mut().enumerate().filter_map(|(index, flow)| {
            let changed = flow.take_target_change();
            changed.then_some((index, &*flow))
        })
    }

    /// What the first flow that has something gives.
    fn first<T>(&mut self, mut poll: impl FnMut(&mut MediaSender) -> Option<T>) -> Option<(usize, T)> {
        self.flows.iter_mut().enumerate().find_map(|(index, flow)| poll(flow).map(|out| (index, out)))
    }
}
