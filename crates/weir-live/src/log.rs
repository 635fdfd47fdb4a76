//! Events of hosts during a run, kept in memory and shown to the observer afterwards.
//!
//! Each thread of hosts has a log of its own, so that no thread waits for another.

use weir_cc::coupled::{Aggregate, CouplerAction, CouplingMessage, Refusal};
use weir_cc::{
    AllocatedRate, ChangeReason, Controller, Decision, Ecn, Evidence, Feedback, PathEvent, SendState,
    SendTime, Signal, Target,
};
use weir_media::{Breaker, MediaPacket};
use weir_net::Time;
use weir_units::{DataRate, TimeDelta};
use weir_wire::media::MediaHeader;
use weir_world::{FrameMeta, Monitor, PacketMeta, Side, TransferMeta};

use crate::report::TcpTrace;

/// Values of signals in the [`HostLog`]: the first, and their number.
type Values = (u32, u16);

/// A controller at one moment, as far as observers read it.
#[derive(Clone, Debug)]
struct Snapshot {
    target: Target,
    signals: &'static [Signal],
    values: Values,
    evidence: [Option<Evidence>; 3],
}

/// An event of a flow at a host.
#[derive(Clone, Debug)]
enum HostEvent {
    Frame(FrameMeta),
    Rtt(TimeDelta),
    Target(Target),
    Decided(Decision, Box<Snapshot>),
    Allocated(DataRate, Box<Snapshot>),
    Stopped(Breaker),
    Signals(Side, Values),
    Message(Box<(CouplingMessage, Option<Refusal>)>),
    Action(CouplerAction, Option<Aggregate>),
    Completed,
    Transferred(TransferMeta),
    RtpSent(Box<MediaPacket>),
    RtpArrived(Box<MediaHeader>, Ecn),
    RtcpArrived(Side, Box<[u8]>),
}

/// The events of the hosts of one thread.
#[derive(Debug, Default)]
pub(crate) struct HostLog {
    wants_signals: bool,
    wants_rtp: bool,
    events: Vec<(Time, u32, HostEvent)>,
    values: Vec<f64>,
    /// Packets that hosts sent, by route, in order.
    sent: Vec<Vec<PacketMeta>>,
    /// Times at which packets arrived at hosts, by route, in order.
    arrived: Vec<Vec<Time>>,
}

impl HostLog {
    /// An empty log for `routes` routes, of what `monitor` wants.
    pub(crate) fn new(monitor: &impl Monitor, routes: usize) -> Self {
        let (sent, arrived) = (vec![Vec::new(); routes], vec![Vec::new(); routes]);
        let (wants_signals, wants_rtp) = (monitor.wants_signals(), monitor.wants_rtp());
        Self { wants_signals, wants_rtp, sent, arrived, ..Self::default() }
    }

    /// A packet arrived at the end of `route`.
    pub(crate) fn arrival(&mut self, now: Time, route: usize) {
        self.arrived[route].push(now);
    }

    /// Packets sent and times of arrival, by route.
    pub(crate) fn take_packets(&mut self) -> (Vec<Vec<PacketMeta>>, Vec<Vec<Time>>) {
        (core::mem::take(&mut self.sent), core::mem::take(&mut self.arrived))
    }

    /// Times of the events, by their index.
    pub(crate) fn times(&self) -> impl Iterator<Item = Time> {
        self.events.iter().map(|event| event.0)
    }

    fn push(&mut self, now: Time, flow: usize, event: HostEvent) {
        self.events.push((now, flow as u32, event));
    }

    /// The controller at a change of its rate for the reason `why`.
    fn snapshot(&mut self, controller: &dyn Controller, why: Option<ChangeReason>) -> Box<Snapshot> {
        let first = self.values.len();
        let signals = controller.signals();
        self.values.resize(first + signals.len(), f64::NAN);
        controller.read_signals(&mut self.values[first..]);
        Box::new(Snapshot {
            target: controller.target(),
            signals,
            values: (first as u32, signals.len() as u16),
            evidence: why.map_or([None; 3], |why| controller.evidence(why)),
        })
    }

    fn values(&self, (first, count): Values) -> &[f64] {
        &self.values[first as usize..][..usize::from(count)]
    }

    fn past<'a>(&'a self, snapshot: &'a Snapshot) -> PastController<'a> {
        PastController { snapshot, values: self.values(snapshot.values) }
    }

    /// Adds the connections of the kernel's TCP: the ends of their transfers, and where a flow has one alone its signals.
    pub(crate) fn add_tcp(&mut self, traces: &[TcpTrace]) {
        for TcpTrace { flow, connection, started, size, states, completed, .. } in traces {
            let single = *connection == 0;
            let states = if single && self.wants_signals { states.as_slice() } else { &[] };
            for (now, info) in states {
                self.signals(*now, *flow, Side::Sender, &info.signals());
            }
            if let (Some(now), Some(size)) = (*completed, *size) {
                if single {
                    self.completed(now, *flow);
                }
                self.transferred(now, *flow, &TransferMeta { started: *started, size });
            }
        }
    }

    /// A host sent a packet on `route`.
    pub(crate) fn sent_on(&mut self, route: usize, packet: PacketMeta) {
        self.sent[route].push(packet);
    }

    /// Shows the event of this index to `monitor`.
    pub(crate) fn show(&self, index: usize, monitor: &mut impl Monitor) {
        let (now, flow, event) = &self.events[index];
        let (now, flow) = (*now, *flow as usize);
        match event {
            HostEvent::Frame(frame) => monitor.frame(now, flow, frame),
            HostEvent::Rtt(rtt) => monitor.rtt(now, flow, *rtt),
            HostEvent::Target(target) => monitor.target(now, flow, target),
            HostEvent::Decided(decision, snapshot) => {
                monitor.decided(now, flow, decision, &self.past(snapshot));
            }
            HostEvent::Allocated(rate, snapshot) => {
                monitor.allocated(now, flow, *rate, &self.past(snapshot));
            }
            HostEvent::Stopped(by) => monitor.stopped(now, flow, by),
            HostEvent::Signals(side, values) => monitor.signals(now, flow, *side, self.values(*values)),
            HostEvent::Message(message) => {
                monitor.coupling_message(now, flow, &message.0, message.1);
            }
            HostEvent::Action(action, aggregate) => {
                monitor.coupler_action(now, flow, action, *aggregate);
            }
            HostEvent::Completed => monitor.completed(now, flow),
            HostEvent::Transferred(transfer) => monitor.transferred(now, flow, transfer),
            HostEvent::RtpSent(packet) => monitor.rtp_sent(now, flow, packet),
            HostEvent::RtpArrived(header, ecn) => monitor.rtp_arrived(now, flow, header, *ecn),
            HostEvent::RtcpArrived(side, bytes) => monitor.rtcp_arrived(now, flow, *side, bytes),
        }
    }
}

impl Monitor for HostLog {
    fn wants_signals(&self) -> bool {
        self.wants_signals
    }

    fn wants_rtp(&self) -> bool {
        self.wants_rtp
    }

    fn rtp_sent(&mut self, now: Time, flow: usize, packet: &MediaPacket) {
        self.push(now, flow, HostEvent::RtpSent(Box::new(*packet)));
    }

    fn rtp_arrived(&mut self, now: Time, flow: usize, header: &MediaHeader, ecn: Ecn) {
        self.push(now, flow, HostEvent::RtpArrived(Box::new(*header), ecn));
    }

    fn rtcp_arrived(&mut self, now: Time, flow: usize, at: Side, bytes: &[u8]) {
        self.push(now, flow, HostEvent::RtcpArrived(at, bytes.into()));
    }

    fn frame(&mut self, now: Time, flow: usize, frame: &FrameMeta) {
        self.push(now, flow, HostEvent::Frame(*frame));
    }

    fn rtt(&mut self, now: Time, flow: usize, rtt: TimeDelta) {
        self.push(now, flow, HostEvent::Rtt(rtt));
    }

    fn target(&mut self, now: Time, flow: usize, target: &Target) {
        self.push(now, flow, HostEvent::Target(*target));
    }

    fn decided(&mut self, now: Time, flow: usize, decision: &Decision, controller: &dyn Controller) {
        let snapshot = self.snapshot(controller, Some(decision.why));
        self.push(now, flow, HostEvent::Decided(*decision, snapshot));
    }

    fn allocated(&mut self, now: Time, flow: usize, rate: DataRate, controller: &dyn Controller) {
        let snapshot = self.snapshot(controller, None);
        self.push(now, flow, HostEvent::Allocated(rate, snapshot));
    }

    fn stopped(&mut self, now: Time, flow: usize, by: &Breaker) {
        self.push(now, flow, HostEvent::Stopped(*by));
    }

    fn signals(&mut self, now: Time, flow: usize, side: Side, values: &[f64]) {
        let at = (self.values.len() as u32, values.len() as u16);
        self.values.extend_from_slice(values);
        self.push(now, flow, HostEvent::Signals(side, at));
    }

    fn coupling_message(
        &mut self,
        now: Time,
        flow: usize,
        message: &CouplingMessage,
        refused: Option<Refusal>,
    ) {
        self.push(now, flow, HostEvent::Message(Box::new((*message, refused))));
    }

    fn coupler_action(
        &mut self,
        now: Time,
        flow: usize,
        action: &CouplerAction,
        aggregate: Option<Aggregate>,
    ) {
        self.push(now, flow, HostEvent::Action(*action, aggregate));
    }

    fn completed(&mut self, now: Time, flow: usize) {
        self.push(now, flow, HostEvent::Completed);
    }

    fn transferred(&mut self, now: Time, flow: usize, transfer: &TransferMeta) {
        self.push(now, flow, HostEvent::Transferred(*transfer));
    }
}

/// A controller as of a past moment, for reading alone.
#[derive(Debug)]
struct PastController<'a> {
    snapshot: &'a Snapshot,
    values: &'a [f64],
}

impl Controller for PastController<'_> {
    fn on_feedback(&mut self, _: SendTime, _: &Feedback<'_>, _: &SendState) -> Option<Decision> {
        None
    }

    fn on_event(&mut self, _: SendTime, _: PathEvent) -> Option<Decision> {
        None
    }

    fn target(&self) -> Target {
        self.snapshot.target
    }

    fn apply_allocation(&mut self, _: SendTime, _: AllocatedRate) -> DataRate {
        self.snapshot.target.media_rate
    }

    fn signals(&self) -> &'static [Signal] {
        self.snapshot.signals
    }

    fn read_signals(&self, out: &mut [f64]) {
        out.copy_from_slice(self.values);
    }

    fn evidence(&self, _: ChangeReason) -> [Option<Evidence>; 3] {
        self.snapshot.evidence
    }
}
