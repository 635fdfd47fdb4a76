//! A session with its receivers, its events, and its invariants.

use weir_cc::{AllocatedRate, ArrivalTime, PathEvent, SendTime};
use weir_media::{Output, Session};
use weir_wire::AbsSendTime;
use weir_wire::media::MediaHeader;
use weir_wire::rtcp::messages;

use super::flow::{Flow, SENDER, limits};
use super::forge;
use super::path::{FuzzedPacket, Path};
use crate::input::Input;

const ROOM: usize = 1472;
/// Most outputs of a session or a receiver before it waits: a frame has 5000 packets at most, of megabytes.
const MOST_OUTPUTS: usize = 20_000;
/// Most rounds in which a session may wait for a time that is over: received packets are answered first, timers
/// follow.
const MOST_ROUNDS: usize = 3;
/// Events of one step.
const MOST_EVENTS: usize = 300;
const YEAR: i64 = 365 * 86_400_000_000_000;

pub(super) struct FuzzedCall {
    session: Session,
    flows: Vec<Flow>,
    path: Path,
    /// True time.
    now: i64,
    /// Offsets of the sender's clock and of the receiver's ahead of it.
    ahead: [i64; 2],
    /// The newest number on the transport of each flow.
    newest: Vec<u16>,
    wake: Option<SendTime>,
}

impl FuzzedCall {
    pub(super) fn any(input: &mut Input<'_>) -> Self {
        let mut session = Session::new();
        let flows: Vec<Flow> =
            (0..=u32::from(input.seldom(4))).map(|number| Flow::any(number, &mut session, input)).collect();
        let newest = vec![0; flows.len()];
        let (ahead, path) = ([0, 7_200_000_000_000], Path::default());
        let mut call = Self { session, flows, path, now: 0, ahead, newest, wake: None };
        for flow in &call.flows {
            call.session.start(SendTime::ZERO, flow.id);
        }
        call.poll();
        call
    }

    /// The reading of the sender's clock.
    const fn here(&self) -> SendTime {
        SendTime::from_nanos(self.now + self.ahead[0])
    }

    /// The reading of the receiver's clock.
    const fn there(&self) -> ArrivalTime {
        ArrivalTime::from_nanos(self.now + self.ahead[1])
    }

    /// Time passes, or an event occurs.
    pub(super) fn step(&mut self, input: &mut Input<'_>) {
        let (now, place) = (self.here(), input.below(self.flows.len() as u64) as usize);
        let id = self.flows[place].id;
        match input.below(16) {
            // Time passes in most steps, so that packets and reports get to their ends.
            0..5 => self.pass(input.below(256) as i64 * 1_000_000),
            5 => self.pass(input.below(10_000) as i64 * 1_000_000),
            6 => self.sleep(input),
            7 => {
                let clock = usize::from(input.flag());
                let by = if input.seldom(4) {
                    input.u64() as i64 % (50 * YEAR)
                } else {
                    input.span().nanos() % YEAR
                };
                self.ahead[clock] = (self.ahead[clock] + by).clamp(-50 * YEAR, 50 * YEAR);
            }
            8 | 9 => self.path.impair(input),
            10 => self.session.on_rtcp(now, input.bytes(64)),
            11 => {
                let bytes = forge::message(place as u32, self.newest[place], self.there(), input);
                self.session.on_rtcp(now, &bytes);
            }
            12 => match input.below(8) {
                0..3 => self.session.pause(now, id),
                3..7 => self.session.resume(now, id),
                _ => self.session.stop(id),
            },
            13 => {
                if input.flag() {
                    self.flows[place].receiver.on_route_changed();
                }
                self.session.on_event(now, id, PathEvent::RouteChanged);
            }
            14 => {
                let limits = limits(input);
                self.flows[place].limits = limits;
                self.session.on_event(now, id, PathEvent::Limits(limits));
            }
            _ if input.flag() => {
                let taken = self.session.apply_allocation(now, id, AllocatedRate { rate: input.rate() });
                self.flows[place].check_rate(taken.expect("the flow is there"));
            }
            _ => self.arrive(place, input),
        }
        self.poll();
    }

    /// Lets `span` nanoseconds pass; each end is called at its timeouts.
    fn pass(&mut self, span: i64) {
        let end = self.now + span;
        for _ in 0..MOST_EVENTS {
            let sender = self.wake.map(|at| at.nanos().saturating_sub(self.ahead[0]));
            let receivers = self.flows.iter().filter_map(|flow| flow.receiver.next_timeout());
            let receivers = receivers.map(|at| at.nanos().saturating_sub(self.ahead[1]));
            let next = receivers.chain(sender).chain(self.path.next()).min();
            let Some(next) = next.filter(|&next| next < end) else { break };
            self.now = self.now.max(next);
            self.deliver();
            self.poll();
        }
        self.now = end;
        self.deliver();
    }

    /// No end is called for a while; packets due by then arrive at once.
    fn sleep(&mut self, input: &mut Input<'_>) {
        let days = 86_400_000_000_000 * i64::from(input.seldom(4));
        self.now += input.below(4_000_000_000) as i64 * 1000 + days * input.below(30) as i64;
        self.now = self.now.min(100 * YEAR);
        self.deliver();
    }

    /// Delivers the packets and reports that have arrived.
    fn deliver(&mut self) {
        let (here, there) = (self.here(), self.there());
        while let Some(arrived) = self.path.arrival(self.now) {
            match arrived {
                FuzzedPacket::Media(place, packet) => {
                    let flow = &mut self.flows[place];
                    flow.receiver.on_packet(there, &packet.header, packet.payload, flow.ecn);
                }
                FuzzedPacket::SenderReport(bytes) => {
                    self.flows.iter_mut().for_each(|flow| flow.receiver.on_rtcp(there, &bytes));
                }
            }
        }
        while let Some(bytes) = self.path.answer(self.now) {
            self.session.on_rtcp(here, &bytes);
        }
    }

    /// A packet that its sender did not send reaches a receiver.
    fn arrive(&mut self, place: usize, input: &mut Input<'_>) {
        let there = self.there();
        let flow = &mut self.flows[place];
        if input.flag() {
            flow.receiver.on_rtcp(there, input.bytes(64));
            return;
        }
        // The highest bit distinguishes audio from video.
        let ssrc = (SENDER + place as u32) ^ (u32::from(input.seldom(4)) << 31);
        let header = MediaHeader {
            payload_type: input.byte() & 0x7F,
            marker: input.flag(),
            sequence: input.u16(),
            timestamp: input.u32(),
            ssrc,
            abs_send_time: AbsSendTime::from_ticks(input.u32() & 0xFF_FFFF),
            transport_sequence: if input.flag() { input.u16() } else { self.newest[place] },
            stamp: input.flag().then(|| weir_wire::StampExtension { rtt: input.u16(), rate: input.u32() }),
            frame_marking: input.flag().then(|| weir_wire::FrameMarking::from_byte(input.byte())),
            original: input.seldom(4).then(|| input.u16()),
        };
        flow.receiver.on_packet(there, &header, input.u16(), flow.ecn);
    }

    /// Takes all outputs of both ends.
    fn poll(&mut self) {
        self.poll_receivers();
        let (now, mut room) = (self.here(), [0; ROOM]);
        let (mut outputs, mut rounds) = (0, 0);
        self.wake = loop {
            match self.session.poll(now, &mut room) {
                Output::Packet(id, packet) => {
                    let place = id.number();
                    self.flows[place].check_payload(packet.payload);
                    self.newest[place] = packet.header.transport_sequence;
                    self.path.send(self.now, place, packet);
                }
                Output::Rtcp(_, length) => {
                    check_rtcp(&room[..length]);
                    self.path.report_of_sender(self.now, &room[..length]);
                }
                Output::Decision(id, decision) => self.flows[id.number()].check_rate(decision.rate),
                Output::Target(id, target) => self.flows[id.number()].check_target(&target),
                Output::Rtt(_, rtt) => assert!(!rtt.is_negative(), "{rtt:?}"),
                Output::Wake(wake) => {
                    let at = wake.map(|wake| wake.at);
                    rounds += 1;
                    if at.is_none_or(|at| at > now) {
                        break at;
                    }
                    assert!(rounds < MOST_ROUNDS, "it waits for {wake:?} at {now:?}");
                }
                Output::Statistics(..) | Output::Alarm(..) | Output::Frame(..) => {}
            }
            outputs += 1;
            assert!(outputs < MOST_OUTPUTS, "it gives out {outputs} at once");
        };
        for flow in &self.flows {
            let sender = self.session.flow(flow.id).expect("it is there");
            flow.check_target(sender.target());
            let signals = sender.controller().signals().len();
            check_signals(&mut [f64::INFINITY; 64][..signals], |out| sender.controller().read_signals(out));
        }
    }

    fn poll_receivers(&mut self) {
        let (there, mut room) = (self.there(), [0; ROOM]);
        for flow in &mut self.flows {
            let mut outputs = 0;
            while let Some(length) = flow.receiver.poll_rtcp(there, &mut room) {
                check_rtcp(&room[..length]);
                self.path.report(self.now, &room[..length]);
                outputs += 1;
                assert!(outputs < MOST_OUTPUTS, "it reports {outputs} times at once");
            }
            let next = flow.receiver.next_timeout();
            assert!(next.is_none_or(|next| next > there), "it waits for {next:?} at {there:?}");
            let signals = flow.receiver.receiver().signals().len();
            check_signals(&mut [f64::INFINITY; 64][..signals], |out| {
                flow.receiver.receiver().read_signals(out);
            });
        }
    }
}

/// Checks that RTCP written by an endpoint can be read, all of it.
fn check_rtcp(bytes: &[u8]) {
    let mut message_count = 0;
    for message in messages(bytes) {
        message.expect("what an endpoint writes can be read");
        message_count += 1;
    }
    assert!(message_count > 0, "it says something");
}

fn check_signals(values: &mut [f64], read: impl FnOnce(&mut [f64])) {
    read(values);
    assert!(values.iter().all(|value| !value.is_infinite()), "{values:?}");
}
