//! A call over a path: a link with drop-tail in one direction, only a delay in the other.

use weir_cc::coupled::Statistics;
use weir_cc::dccc::{self, Dccc, DcccObserver};
use weir_cc::gcc::goog_cc::{self, GoogCc};
use weir_cc::gcc::remb::{self, GccReceiver, GccSender};
use weir_cc::ledbat::{self, Ledbat};
use weir_cc::nada::{self, Nada, NadaObserver};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::scream::{self, v2::ScreamV2};
use weir_cc::tfrc::{self, Tfrc, TfrcObserver};
use weir_cc::{ArrivalTime, AtReceiver, Controller, Ecn, PathEvent, RateLimits, Receiver, SendTime};
use weir_media::{EncoderConfig, MediaConfig, MediaPacket, MediaReceiver, MediaSender, SenderSeeds};
use weir_net::{LinkConfig, Path, QueueConfig, Sent, Service, Time};
use weir_units::{DataRate, DataSize, TimeDelta};

pub(crate) const SENDER: u32 = 1;
pub(crate) const RECEIVER: u32 = 2;
/// Propagation delay of either direction.
pub(crate) const PROPAGATION: TimeDelta = TimeDelta::from_millis(25);
/// Capacity of the queue, as a delay.
const QUEUE: TimeDelta = TimeDelta::from_millis(300);
/// Offset between the clocks of the hosts.
const OFFSET: TimeDelta = TimeDelta::from_secs(7200);
pub(crate) const RTCP_ROOM: usize = 1472;

pub(crate) type Halves = (Box<dyn Controller>, Box<dyn Receiver>);

/// Rates of 50 to 2500 kbit/s, from 300 kbit/s.
pub(crate) fn limits() -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap()
}

pub(crate) fn config() -> MediaConfig {
    // Senders that are fed by hand in the tests have no receiver.
    MediaConfig { breakers: false, leave_out: None, ..MediaConfig::new(limits(), EncoderConfig::papers()) }
}

pub(crate) fn gcc() -> Halves {
    let controller = GoogCc::new(goog_cc::Config::default(), limits()).unwrap();
    (Box::new(controller), Box::new(PacketFeedback::new(TimeDelta::from_millis(50))))
}

/// Both halves of the GCC of 2016.
pub(crate) fn gcc_2016() -> Halves {
    let config = remb::Config::default();
    (
        Box::new(GccSender::new(config, limits()).unwrap()),
        Box::new(GccReceiver::new(config, limits()).unwrap()),
    )
}

/// Both halves of NADA.
pub(crate) fn nada() -> Halves {
    let config = nada::Config::default();
    let observer = NadaObserver::new(config).unwrap();
    (Box::new(Nada::new(config, limits()).unwrap()), Box::new(AtReceiver::new(observer)))
}

pub(crate) fn nada_at_sender() -> Halves {
    let controller = nada::at_sender(nada::Config::default(), limits()).unwrap();
    (Box::new(controller), Box::new(PacketFeedback::new(TimeDelta::from_millis(50))))
}

pub(crate) fn scream_v2() -> Halves {
    let controller = ScreamV2::new(scream::v2::Config::default(), limits()).unwrap();
    (Box::new(controller), Box::new(PacketFeedback::new(TimeDelta::from_millis(50))))
}

pub(crate) fn ledbat() -> Halves {
    let controller = Ledbat::new(ledbat::Config::default(), limits()).unwrap();
    (Box::new(controller), Box::new(PacketFeedback::new(TimeDelta::from_millis(50))))
}

/// A controller whose packets carry the round-trip time and the rate.
pub(crate) fn dccc() -> Halves {
    let config = dccc::Config::default();
    let observer = DcccObserver::new(config).unwrap();
    (Box::new(Dccc::new(config, limits()).unwrap()), Box::new(AtReceiver::new(observer)))
}

/// A controller whose packets carry the round-trip time.
pub(crate) fn tfrc() -> Halves {
    let config = tfrc::Config::default();
    let observer = TfrcObserver::new(config).unwrap();
    (Box::new(Tfrc::new(config, limits()).unwrap()), Box::new(AtReceiver::new(observer)))
}

pub(crate) fn media_sender(controller: Box<dyn Controller>, config: &MediaConfig) -> MediaSender {
    MediaSender::new(controller, *config, SENDER, SenderSeeds { encoder: 1, rtcp: 2 })
}

pub(crate) fn media_receiver(receiver: Box<dyn Receiver>, config: &MediaConfig) -> MediaReceiver {
    MediaReceiver::new(receiver, *config, RECEIVER, SENDER, 3)
}

/// An event at the receiver, at a time of its clock.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Media(MediaPacket),
    SenderRtcp(Vec<u8>),
    /// RTCP of the receiver, and the signals of its controller's half at that time.
    ReceiverRtcp(Vec<u8>, Vec<f64>),
}

/// Results of a report at the sender: the round-trip time, and the signals of its controller afterwards.
#[derive(Clone, Debug)]
pub(crate) struct RtcpOutcome {
    pub(crate) rtt: Option<TimeDelta>,
    pub(crate) signals: Vec<f64>,
}

#[derive(Debug)]
enum OnWire {
    Media(MediaPacket),
    Rtcp(Vec<u8>),
}

/// A call with its link. Every packet that leaves is counted, and every event at the receiver is recorded.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) sender: MediaSender,
    receiver: MediaReceiver,
    /// The path, whose packets carry the number of their route.
    path: Path<(u32, OnWire), Vec<u8>>,
    /// Additional delay of the present route over the first one; the number of routes before it, and the number of
    /// those that the receiver knows.
    longer: TimeDelta,
    routes: u32,
    routes_known: u32,
    now: SendTime,
    /// Distance of lost media packets; 0 for no loss.
    pub(crate) media_loss: u64,
    /// Distance of the receiver's RTCP packets that arrive; 0 if none does.
    pub(crate) reports_kept: u64,
    pub(crate) packets: u64,
    reports: u64,
    pub(crate) events: Vec<(ArrivalTime, Event)>,
    pub(crate) outcomes: Vec<RtcpOutcome>,
    pub(crate) statistics: Vec<Statistics>,
}

impl Call {
    pub(crate) fn new((controller, receiver): Halves, config: &MediaConfig, capacity: DataRate) -> Self {
        let mut sender = media_sender(controller, config);
        sender.start(SendTime::ZERO);
        Self {
            sender,
            receiver: media_receiver(receiver, config),
            path: path(capacity, QUEUE),
            longer: TimeDelta::ZERO,
            routes: 0,
            routes_known: 0,
            now: SendTime::ZERO,
            media_loss: 0,
            reports_kept: 1,
            packets: 0,
            reports: 0,
            events: Vec::new(),
            outcomes: Vec::new(),
            statistics: Vec::new(),
        }
    }

    /// Advances by `span`, from event to event.
    pub(crate) fn run(&mut self, span: TimeDelta) {
        let end = self.now + span;
        while let Some(due) = self.next_event().filter(|&due| due <= end) {
            self.now = self.now.max(due);
            self.deliver_forward();
            self.deliver_backward();
            self.drain_sender();
            self.drain_receiver();
        }
        self.now = end;
    }

    /// Switches to a route that takes `longer` than the first one; both ends know.
    pub(crate) fn change_route(&mut self, longer: TimeDelta) {
        self.longer = longer;
        self.routes += 1;
        self.sender.on_event(self.now, PathEvent::RouteChanged);
    }

    pub(crate) fn target_kbps(&self) -> f64 {
        self.sender.target().sending_rate.bps_f64() / 1e3
    }

    fn next_event(&self) -> Option<SendTime> {
        let receiver =
            self.receiver.next_timeout().map(|due| SendTime::ZERO + (due - receiver_clock(SendTime::ZERO)));
        let path = self.path.next_event().map(send_time);
        [self.sender.next_timeout(), receiver, path].into_iter().flatten().min()
    }

    /// Delivers the packets that arrive at the receiver by now.
    fn deliver_forward(&mut self) {
        while let Some(arrived) = self.path.arrival(true_time(self.now)) {
            let (route, what) = arrived.packet;
            let at = receiver_clock(self.now);
            if route > self.routes_known {
                self.routes_known = route;
                self.receiver.on_route_changed();
            }
            let event = match what {
                OnWire::Media(packet) => {
                    self.receiver.on_packet(at, &packet.header, packet.payload, Ecn::NotEct);
                    Event::Media(packet)
                }
                OnWire::Rtcp(bytes) => {
                    self.receiver.on_rtcp(at, &bytes);
                    Event::SenderRtcp(bytes)
                }
            };
            self.events.push((at, event));
        }
    }

    /// Delivers the RTCP packets that arrive at the sender by now.
    fn deliver_backward(&mut self) {
        while let Some(bytes) = self.path.answered(true_time(self.now)) {
            let outcome = self.sender.on_rtcp(self.now, &bytes);
            self.statistics.extend(outcome.statistics);
            let rtt = outcome.rtt;
            let controller = self.sender.controller();
            let mut signals = vec![0.0; controller.signals().len()];
            controller.read_signals(&mut signals);
            self.outcomes.push(RtcpOutcome { rtt, signals });
        }
    }

    /// Puts the sender's packets on the path, except each `media_loss`th.
    fn drain_sender(&mut self) {
        while self.sender.poll_frame(self.now).is_some() {}
        self.sender.on_timeout(self.now);
        while let Some(packet) = self.sender.poll_packet(self.now) {
            self.packets += 1;
            if !every(self.media_loss, self.packets) {
                let size = packet.header.wire_len() as u64 + u64::from(packet.payload);
                self.transmit(size, OnWire::Media(packet));
            }
        }
        let mut out = [0; RTCP_ROOM];
        while let Some(length) = self.sender.poll_rtcp(self.now, &mut out) {
            self.transmit(length as u64, OnWire::Rtcp(out[..length].to_vec()));
        }
    }

    /// Puts a packet on the path to the receiver.
    fn transmit(&mut self, bytes: u64, what: OnWire) {
        let sent = Sent::new((self.routes, what), DataSize::from_bytes(bytes));
        // A full queue drops it.
        let _ = self.path.send(true_time(self.now), Sent { extra_delay: self.longer, ..sent });
    }

    /// Puts the receiver's RTCP packets on the reverse path, and records all of them.
    fn drain_receiver(&mut self) {
        let at = receiver_clock(self.now);
        for bytes in poll_all(&mut self.receiver, at) {
            self.reports += 1;
            if every(self.reports_kept, self.reports) {
                self.path.answer(true_time(self.now), bytes.clone());
            }
            let controller = self.receiver.receiver();
            let mut signals = vec![0.0; controller.signals().len()];
            controller.read_signals(&mut signals);
            self.events.push((at, Event::ReceiverRtcp(bytes, signals)));
        }
    }
}

/// The RTCP of the receiver that is due at `at`.
fn poll_all(receiver: &mut MediaReceiver, at: ArrivalTime) -> Vec<Vec<u8>> {
    let mut out = [0; RTCP_ROOM];
    let mut packets = Vec::new();
    while let Some(length) = receiver.poll_rtcp(at, &mut out) {
        packets.push(out[..length].to_vec());
    }
    packets
}

fn receiver_clock(at: SendTime) -> ArrivalTime {
    ArrivalTime::ZERO + OFFSET + (at - SendTime::ZERO)
}

/// A path with a queue of this length, and the propagation delay in either direction.
pub(crate) fn path<P>(capacity: DataRate, queue: TimeDelta) -> Path<P, Vec<u8>> {
    let queue = QueueConfig { limit_time: Some(queue), ..QueueConfig::default() };
    let link = LinkConfig { queue, ..LinkConfig::new(Service::Constant(capacity), PROPAGATION) };
    Path::new(&link, 0, PROPAGATION).unwrap()
}

/// The sender's clock shows the true time.
pub(crate) fn true_time(at: SendTime) -> Time {
    Time::from_nanos(at.nanos() as u64)
}

pub(crate) fn send_time(at: Time) -> SendTime {
    SendTime::from_nanos(at.nanos() as i64)
}

fn every(one_of: u64, number: u64) -> bool {
    one_of > 0 && number.is_multiple_of(one_of)
}
