//! Sessions between two machines: datagrams of anybody, packets of a peer that lies, terms, and requests for metrics.

use std::net::SocketAddr;

use weir_cc::{DataRate, Ecn, RateLimits};
use weir_media::{EncoderConfig, MediaConfig};
use weir_net::Time;
use weir_peer::end::{EndConfig, EndPhase, IncomingDatagram, PeerEnd};
use weir_peer::handshake::{AcceptedCall, CallerOutcome, HelloCaller};
use weir_peer::hosts::{PlannedFlow, SendPlan};
use weir_peer::key_file;
use weir_peer::keys::KeyRing;
use weir_peer::message::LARGEST_DATAGRAM;
use weir_peer::metrics::request_line;
use weir_peer::offer::{OfferedFlow, OfferedMedia, ReceiveCeilings, SessionTerms};
use weir_peer::protection::PacketSealer;
use weir_peer::random::RepeatableRandom;
use weir_registry::Registry;
use weir_units::TimeDelta;
use weir_world::{FlowSpec, MediaSpec, Traffic};

use crate::input::Input;

/// Most steps of an input.
const MOST_STEPS: usize = 400;
/// Most packets of an end at one moment.
const MOST_PACKETS: usize = 20_000;

/// The end under test, with its peer, which the input plays.
struct FuzzedSession {
    now: Time,
    end: PeerEnd,
    peer: SocketAddr,
    /// The peer's keys, once it has them.
    sealer: Option<PacketSealer>,
    /// The last datagrams of the end.
    seen: Vec<Vec<u8>>,
}

fn media(input: &mut Input<'_>) -> OfferedMedia {
    let names = ["gcc", "nada", "scream-v2", "tfrc", "gcc-2016"];
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(1500)).expect("in order");
    let config = MediaConfig::new(limits, EncoderConfig::papers());
    OfferedMedia { controller: input.one_of(&names).to_owned(), options: String::new(), limits, config }
}

fn plan(input: &mut Input<'_>) -> SendPlan {
    let registry = Registry::standard();
    let offered = media(input);
    let OfferedMedia { controller, limits, config, .. } = &offered;
    let packet_format = registry.packet_format(controller).unwrap_or_default();
    let config = MediaConfig { packet_format, ..*config };
    let sender = registry.build_sender(controller, None, *limits, 1.0).expect("a controller");
    let media = MediaSpec { sender: Some(sender), receiver: None, config };
    let spec = FlowSpec::new("flow", Traffic::Media(media));
    let flows = vec![PlannedFlow { spec, offered: OfferedFlow::Media(Box::new(offered)) }];
    SendPlan { flows, couplings: Vec::new(), seed: 1 }
}

impl FuzzedSession {
    /// A listener, which sends or receives, and a caller of the same keys that has been accepted.
    fn any(input: &mut Input<'_>) -> Self {
        let sends = input.flag();
        let config = EndConfig {
            keys: KeyRing::open(),
            registry: Registry::standard(),
            plan: sends.then(|| plan(input)),
            receives: !sends || input.flag(),
            ceilings: ReceiveCeilings { unresponsive: input.flag(), ..ReceiveCeilings::default() },
            duration: Some(TimeDelta::from_secs(60)),
            bytes: None,
            record: input.flag(),
        };
        let receives = config.receives;
        let end = PeerEnd::listen(Time::ZERO, config, Box::new(RepeatableRandom::new(1)));
        let peer = SocketAddr::from(([192, 0, 2, 1], 4000));
        let mut session = Self { now: Time::ZERO, end, peer, sealer: None, seen: Vec::new() };
        let flows = if receives { vec![OfferedFlow::Media(Box::new(media(input)))] } else { Vec::new() };
        session.call(SessionTerms { flows, receives: true, ceilings: ReceiveCeilings::default() });
        session
    }

    fn call(&mut self, terms: SessionTerms) {
        let mut caller = HelloCaller::new(self.now, &KeyRing::open(), [7; 16], terms);
        let mut hello = Vec::new();
        for _ in 0..2 {
            caller.poll(caller.next_wake(), &mut hello);
            self.put(&hello);
            let answers = core::mem::take(&mut self.seen);
            for answer in answers {
                if let CallerOutcome::Accepted(accepted) = caller.on_datagram(self.now, &answer) {
                    let AcceptedCall { sealer, .. } = *accepted;
                    self.sealer = Some(sealer);
                }
            }
        }
    }

    /// Puts a datagram of the peer into the end's socket.
    fn put(&mut self, bytes: &[u8]) {
        self.put_from(self.peer, bytes);
    }

    fn put_from(&mut self, from: SocketAddr, bytes: &[u8]) {
        let datagram = IncomingDatagram { at: self.now, from, ecn: Ecn::Ce, bytes };
        self.end.on_datagram(self.now, datagram);
        self.drain();
    }

    fn drain(&mut self) {
        let mut packets = 0;
        while let Some(datagram) = self.end.poll() {
            assert!(datagram.bytes.len() <= LARGEST_DATAGRAM, "{} bytes", datagram.bytes.len());
            assert!(datagram.plain <= datagram.bytes.len());
            if self.seen.len() < 64 {
                self.seen.push(datagram.bytes.to_vec());
            }
            packets += 1;
            assert!(packets < MOST_PACKETS, "it sends {packets} packets at once");
        }
    }

    /// Puts a packet under the peer's key into the end's socket.
    fn put_sealed(&mut self, content: &[u8]) {
        let mut packet = content.to_vec();
        let Some(sealer) = &mut self.sealer else { return };
        sealer.seal(&mut packet);
        self.put(&packet);
    }

    fn step(&mut self, input: &mut Input<'_>) {
        match input.below(8) {
            0 | 1 => self.pass(TimeDelta::from_millis(input.below(3000) as i64)),
            2 => {
                let length = usize::from(input.byte());
                self.put(input.bytes(length));
            }
            3 => {
                let length = usize::from(input.byte());
                self.put_sealed(input.bytes(length));
            }
            // A message of this version, of any kind.
            4 | 5 => {
                let mut message = b"Weir\x01".to_vec();
                message.push(input.byte() % 12);
                let length = usize::from(input.byte());
                message.extend_from_slice(input.bytes(length));
                self.put_sealed(&message);
            }
            // RTP and RTCP about its flow.
            6 => {
                let kind = input.one_of(&[96, 200, 201, 205, 206, 111]);
                let mut packet = vec![0x80 | (input.byte() & 0x1f), kind, 0, input.byte()];
                packet.extend_from_slice(&u32::from(input.byte() % 4).to_be_bytes());
                let length = usize::from(input.byte());
                packet.extend_from_slice(input.bytes(length));
                self.put_sealed(&packet);
            }
            _ => {
                // A packet of its own, or one of another address.
                let own = self.seen.last().cloned().unwrap_or_default();
                let from = SocketAddr::from(([192, 0, 2, input.byte() % 3], 4000));
                self.put_from(from, &own);
            }
        }
        if input.seldom(60) {
            self.end.interrupt(self.now);
            self.drain();
        }
    }

    /// Lets time pass; the end is called at its timers.
    fn pass(&mut self, span: TimeDelta) {
        let until = self.now + span;
        let mut calls = 0;
        while self.end.next_wake() <= until {
            self.now = self.now.max(self.end.next_wake());
            self.end.on_timeout(self.now);
            self.drain();
            calls += 1;
            assert!(calls < MOST_PACKETS, "it wants {calls} calls within {span}");
        }
        self.now = until;
    }
}

pub(crate) fn sessions(data: &[u8]) {
    let mut input = Input::new(data);
    let mut session = FuzzedSession::any(&mut input);
    for _ in 0..MOST_STEPS {
        if input.is_empty() || session.end.phase() == EndPhase::Ended {
            break;
        }
        session.step(&mut input);
    }
    let results = session.end.results(session.now);
    for flow in &results.flows {
        assert!(flow.loss_ratio.is_none_or(|loss| (0.0..=1.0).contains(&loss)), "{flow:?}");
    }
}

/// Terms that were read are written and read again, and a receiver half is made of them or refused.
pub(crate) fn terms(data: &[u8]) {
    let registry = Registry::standard();
    if let Some(terms) = SessionTerms::parse(data) {
        let mut written = Vec::new();
        terms.write(&mut written);
        assert_eq!(SessionTerms::parse(&written).as_ref(), Some(&terms));
        let within = terms.ceilings.within(&terms.flows);
        for (flow, within) in terms.flows.iter().zip(within) {
            if let (Some(within), OfferedFlow::Media(media)) = (within, flow) {
                assert!(within.min() == media.limits.min() && within.max() <= media.limits.max());
            }
            // A refusal is a sentence.
            let _refused = flow.receiver(&registry);
        }
    }
}

/// Requests for metrics, and files of keys.
pub(crate) fn requests(data: &[u8]) {
    if let Some((method, path)) = request_line(data) {
        assert!(!method.contains(' ') && !path.contains(' '));
    }
    if let Ok(text) = core::str::from_utf8(data)
        && let Ok(keys) = key_file::parse(text)
    {
        assert!(!keys.is_open());
    }
}
