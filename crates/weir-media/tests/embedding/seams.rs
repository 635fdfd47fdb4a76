//! Numbers from outside, joined results and a foreign pacer: the same decisions as by the endpoint's own way.

use weir_cc::{
    ArrivalTime, Controller, DataRate, Decision, Ecn, ProbeId, Reception, SendTime, Target, TimeDelta,
};
use weir_media::{
    Departure, Endpoint, EndpointConfig, EndpointEvent, JoinedResult, PacketKind, PacketMeta,
    PacketNumbering, PayloadHandle, SentReport, StreamConfig, StreamId,
};
use weir_wire::rtcp::{self, Message};

use super::rig::{CONTROLLERS, Network, PAYLOAD, VIDEO, limits};

/// The way in which a stack uses the endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Seam {
    Own,
    /// Numbers from 65 000 on, of which every tenth is another transport's.
    Given,
    /// Given numbers, and results in place of RTCP.
    Joined,
    /// A pacer of its own: the departures of the endpoint's own way are reported.
    Foreign,
    /// As before, with departures known only with the results.
    Afterwards,
}

/// Number on the wire of the packet `index`.
fn number(seam: Seam, index: u64) -> u16 {
    match seam {
        Seam::Own => index as u16,
        _ => (65_000 + index + index / 9) as u16,
    }
}

/// A packet that left the endpoint's own pacer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PacedPacket {
    at: SendTime,
    length: usize,
    kind: PacketKind,
    probe: Option<ProbeId>,
}

/// A call of 15 s at a rate of 2 Mbit/s; the targets at each report, and the departures.
struct SeamRun {
    seam: Seam,
    endpoint: Endpoint<PayloadHandle>,
    stream: StreamId,
    network: Network,
    targets: Vec<(SendTime, Target)>,
    decisions: Vec<(SendTime, Decision)>,
    departures: Vec<PacedPacket>,
    sent: Vec<SentReport>,
}

impl SeamRun {
    fn new(seam: Seam, controller: Box<dyn Controller>) -> Self {
        let config = EndpointConfig {
            leave_out: None,
            numbering: if seam == Seam::Own { PacketNumbering::Own } else { PacketNumbering::Given },
            foreign_pacer: matches!(seam, Seam::Foreign | Seam::Afterwards),
            ..EndpointConfig::new(limits())
        };
        let mut endpoint = Endpoint::new(controller, config, 7);
        let stream = endpoint.add_stream(StreamConfig::video(VIDEO, 96)).unwrap();
        let network = Network::new(DataRate::from_mbps(2));
        Self {
            seam,
            endpoint,
            stream,
            network,
            targets: Vec::new(),
            decisions: Vec::new(),
            departures: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// Runs for 15 s. `paced` has the departures of a foreign pacer.
    fn run(mut self, paced: &[PacedPacket]) -> Self {
        let mut paced = paced.iter().peekable();
        let mut now = SendTime::ZERO;
        for step in 0..30_000_i64 {
            if step % 66 == 0 && !self.is_foreign() {
                self.queue_frame(now);
            }
            for report in self.network.deliver(now) {
                self.on_report(now, &report);
                self.targets.push((now, *self.endpoint.target()));
            }
            self.endpoint.on_timeout(now).unwrap();
            while !self.is_foreign() && self.send(now) {}
            while let Some(&packet) = paced.next_if(|packet| packet.at <= now) {
                self.depart(packet);
                let sent = *self.sent.last().unwrap();
                if self.seam == Seam::Foreign {
                    self.endpoint.on_sent(now, &sent).unwrap();
                }
            }
            while let Some(event) = self.endpoint.poll_event() {
                if let EndpointEvent::Decision(decision) = event {
                    self.decisions.push((now, decision));
                }
            }
            now += TimeDelta::from_micros(500);
        }
        self
    }

    fn is_foreign(&self) -> bool {
        matches!(self.seam, Seam::Foreign | Seam::Afterwards)
    }

    fn queue_frame(&mut self, now: SendTime) {
        let bytes = self.endpoint.target().media_rate.bps() / 8 / 30;
        let packets = bytes.div_ceil(u64::from(PAYLOAD)).max(1);
        for packet in 0..packets {
            let payload = PayloadHandle { place: 0, size: (bytes / packets) as u16 };
            self.endpoint
                .queue(now, self.stream, payload, PacketMeta::new(0, packet + 1 == packets))
                .unwrap();
        }
    }

    /// Sends the next packet, if one may leave.
    fn send(&mut self, now: SendTime) -> bool {
        let (mut out, index) = ([0; 1500], self.departures.len() as u64);
        let departure = match self.seam {
            Seam::Own => self.endpoint.poll_packet(now, &mut out),
            _ => self.endpoint.poll_packet_as(now, number(self.seam, index), &mut out),
        };
        let Some(departure) = departure.unwrap() else { return false };
        assert_eq!(departure.transport_sequence, number(self.seam, index));
        let Departure { length, kind, probe, .. } = departure;
        self.depart(PacedPacket { at: now, length, kind, probe: probe.map(|probe| probe.id) });
        true
    }

    /// A packet enters the network.
    fn depart(&mut self, packet: PacedPacket) {
        let index = self.departures.len() as u64;
        let PacedPacket { at, length, kind, probe } = packet;
        self.departures.push(packet);
        self.network.send(at, number(self.seam, index), length);
        self.sent.push(SentReport {
            stream: self.stream,
            sequence: (40_000 + index) as u16,
            timestamp: 0,
            number: number(self.seam, index),
            header: 24,
            payload: (length - 24) as u16,
            kind,
            probe,
        });
    }

    fn on_report(&mut self, now: SendTime, report: &[u8]) {
        if matches!(self.seam, Seam::Own | Seam::Given | Seam::Foreign) {
            return self.endpoint.on_rtcp(now, report).unwrap();
        }
        for message in rtcp::messages(report) {
            let Ok(Message::Twcc(feedback)) = message else { panic!("transport-wide feedback alone") };
            let reference = ArrivalTime::from_nanos(feedback.reference_nanos());
            let results: Vec<_> = feedback
                .statuses()
                .filter_map(|(number, status)| {
                    let index = self.sent.iter().rposition(|sent| sent.number == number)?;
                    let reception = match status.nanos() {
                        Some(nanos) => Reception::At(reference + TimeDelta::from_nanos(nanos)),
                        None => Reception::Missing,
                    };
                    let (departure, packet) = (self.departures[index].at, self.sent[index]);
                    Some(JoinedResult { packet, departure, reception, ecn: Ecn::NotEct })
                })
                .collect();
            self.endpoint.on_results(now, &results, None).unwrap();
        }
    }
}

#[test]
fn given_numbers_and_joined_results_lead_to_the_same_decisions() {
    for (name, controller) in CONTROLLERS {
        let own = SeamRun::new(Seam::Own, controller()).run(&[]);
        assert!(own.targets.len() > 200, "{name}: {}", own.targets.len());
        for seam in [Seam::Given, Seam::Joined] {
            let other = SeamRun::new(seam, controller()).run(&[]);
            assert_eq!(other.departures, own.departures, "{name}, {seam:?}");
            assert_eq!(other.targets, own.targets, "{name}, {seam:?}");
        }
    }
}

#[test]
fn a_foreign_pacer_leads_to_the_same_decisions() {
    for (name, controller) in CONTROLLERS {
        let own = SeamRun::new(Seam::Own, controller()).run(&[]);
        let foreign = SeamRun::new(Seam::Foreign, controller()).run(&own.departures);
        assert!(own.decisions.len() > 100, "{name}: {}", own.decisions.len());
        assert_eq!(foreign.decisions, own.decisions, "{name}");
    }
}

#[test]
fn departures_that_come_with_their_results_are_enough() {
    let (name, controller) = CONTROLLERS[2];
    let own = SeamRun::new(Seam::Own, controller()).run(&[]);
    let late = SeamRun::new(Seam::Afterwards, controller()).run(&own.departures);
    let last = |run: &SeamRun| run.targets.last().unwrap().1.media_rate.bps_f64();
    let ratio = last(&late) / last(&own);
    assert!((0.9..1.1).contains(&ratio), "{name}: {ratio}");
}
