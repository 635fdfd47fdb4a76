//! A flow with its coupler: when it joins and withdraws, and forged reports on one of two coupled flows.

use std::collections::VecDeque;

use weir_cc::coupled::CouplingMessage;
use weir_cc::coupled::fse::{Config, Fse, InitialGrouping};
use weir_cc::{ArrivalTime, ChangeReason, Decision, Ecn, SendTime};
use weir_media::{
    Alarm, CoupledFlow, CoupledFlows, CoupledOutput, DesiredRate, FlowId, MediaPacket, MediaReceiver,
    MediaSender,
};
use weir_media::{Output, SenderSeeds, Session};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::rtcp::NadaFeedback;

use crate::rig::{PROPAGATION, RTCP_ROOM, config, gcc, media_sender, nada};

/// A session with a flow, which has joined.
fn coupled() -> (Session, FlowId, CoupledFlow) {
    let mut session = Session::new();
    let id = session.add(media_sender(nada().0, &config())).unwrap();
    session.start(at(0), id);
    let mut flow = CoupledFlow::new(id, 1.0, DesiredRate::Limits, &config());
    assert!(matches!(flow.begin(at(0), &session), Some(CouplingMessage::Join(_))));
    (session, id, flow)
}

/// Sender time of `s` seconds.
fn at(s: i64) -> SendTime {
    SendTime::from_millis(1000 * s)
}

/// The flow's message when its controller decides 700 kbit/s at `now`, in seconds.
fn decides(now: i64, (session, _, flow): &mut (Session, FlowId, CoupledFlow)) -> Option<CouplingMessage> {
    let (rate, base) = (DataRate::from_kbps(700), DataRate::from_kbps(600));
    let decision = CoupledOutput::Decision(Decision { rate, base, why: ChangeReason::Growth, rtt: None });
    let [first, second] = flow.on_output(at(now), session, &decision);
    first.or(second)
}

/// The flow's message when its reports raise `alarm` at `now`, in seconds.
fn alarm(
    now: i64,
    alarm: Alarm,
    (session, _, flow): &mut (Session, FlowId, CoupledFlow),
) -> Option<CouplingMessage> {
    flow.on_output(at(now), session, &CoupledOutput::Alarm(alarm))[0]
}

#[test]
fn a_flow_whose_reports_contradict_each_other_goes_on_by_itself_until_they_have_agreed_for_30_s() {
    let mut call = coupled();
    assert!(matches!(decides(1, &mut call), Some(CouplingMessage::Update(_))));
    assert_eq!(alarm(2, Alarm::ReportsContradict, &mut call), Some(CouplingMessage::Withdraw));
    assert_eq!(decides(3, &mut call), None);
    assert_eq!(alarm(10, Alarm::ReportsAgree, &mut call), None);
    assert_eq!(decides(39, &mut call), None);
    // Again, before it has joined.
    assert_eq!(alarm(39, Alarm::ReportsContradict, &mut call), None);
    assert_eq!(alarm(41, Alarm::ReportsAgree, &mut call), None);
    assert_eq!(decides(70, &mut call), None);
    let Some(CouplingMessage::Join(join)) = decides(71, &mut call) else { panic!("it joins again") };
    assert_eq!(
        (join.start, join.present),
        (DataRate::from_kbps(700), DataRate::from_kbps(700)),
        "as it sends"
    );
    assert!(matches!(decides(72, &mut call), Some(CouplingMessage::Update(_))));
    assert_eq!(alarm(73, Alarm::ReportsRefused, &mut call), None);
    assert!(
        matches!(decides(74, &mut call), Some(CouplingMessage::Update(_))),
        "refused reports do not reach the controller"
    );
}

#[test]
fn a_pause_of_a_withdrawn_flow_sends_no_message() {
    let mut call = coupled();
    alarm(2, Alarm::ReportsContradict, &mut call);
    assert_eq!(call.2.pause(), None);
    alarm(4, Alarm::ReportsAgree, &mut call);
    assert_eq!(decides(40, &mut call), None, "it sends nothing");
    assert_eq!(call.2.resume(at(41), &call.0), None);
    assert!(matches!(decides(42, &mut call), Some(CouplingMessage::Join(_))));
}

/// Length of the headers of IPv4 and UDP.
const IP_AND_UDP_BYTES: u64 = 28;

/// The next element of `on_the_way` that arrives by `now`.
fn due<T>(on_the_way: &mut VecDeque<(SendTime, T)>, now: SendTime) -> Option<T> {
    on_the_way
        .front()
        .is_some_and(|(at, _)| *at <= now)
        .then(|| on_the_way.pop_front())?
        .map(|(_, element)| element)
}

/// Payload rates of `gcc` and `nada` in kbit/s, from 25 to 60 s, over 2 Mbit/s with a queue of 300 ms. From 20 s on a
/// forged report of the greatest congestion reaches the sender of `nada` every `every_ms`.
fn rates_of_pair(coupled: Option<Config>, every_ms: i64) -> [f64; 2] {
    let (mut session, mut receivers) = (Session::new(), vec![]);
    let fse = |config| CoupledFlows::new(Fse::new(config, InitialGrouping::Together).unwrap());
    let mut flows = coupled.map(fse);
    // Sources 10 and 11 are the senders of `gcc` and `nada`, 20 and 21 their receivers.
    for (place, (controller, receiver)) in (0..).zip([gcc(), nada()]) {
        let seeds = SenderSeeds { encoder: u64::from(place), rtcp: 9 };
        let id = session.add(MediaSender::new(controller, config(), 10 + place, seeds)).unwrap();
        session.start(at(0), id);
        if let Some(flows) = &mut flows {
            let flow = CoupledFlow::new(id, 1.0, DesiredRate::Limits, &config());
            flows.add(at(0), flow, &mut session).unwrap();
        }
        receivers.push(MediaReceiver::new(receiver, config(), 20 + place, 10 + place, 3));
    }
    let mut to_receivers = VecDeque::<(SendTime, (usize, MediaPacket))>::new();
    let (mut to_senders, mut link_free) = (VecDeque::new(), at(0));
    let (mut newest, mut bytes, mut buffer) = (VecDeque::new(), [0; 2], [0; RTCP_ROOM]);
    for ms in 0..60_000 {
        let now = SendTime::from_millis(ms);
        // The clocks of the receivers are two hours ahead.
        let clock = ArrivalTime::from_millis(ms + 7_200_000);
        while let Some((place, packet)) = due(&mut to_receivers, now) {
            receivers[place].on_packet(clock, &packet.header, packet.payload, Ecn::NotEct);
        }
        for receiver in &mut receivers {
            while let Some(length) = receiver.poll_rtcp(clock, &mut buffer) {
                to_senders.push_back((now + PROPAGATION, buffer[..length].to_vec()));
            }
        }
        while let Some(report) = due(&mut to_senders, now) {
            session.on_rtcp(now, &report);
        }
        if ms >= 20_000 && ms % every_ms == 0 {
            // The attacker names a packet that has left one propagation delay ago, as the receiver would.
            let echoed = newest.iter().rev().find(|(left, _)| left + 40 <= ms).map(|(_, number)| *number);
            let report = NadaFeedback {
                ssrc: 21,
                source: 11,
                ramp_up: false,
                congestion: (1 << 15) - 1,
                transport_sequence: echoed.unwrap_or(0),
                receive_rate: 0,
                held: 0,
            };
            let length = report.write(&mut buffer).unwrap();
            session.on_rtcp(now, &buffer[..length]);
        }
        if let Some(flows) = &mut flows {
            flows.on_timeout(now, &mut session);
        }
        loop {
            let output = session.poll(now, &mut buffer);
            if let Some(flows) = &mut flows {
                flows.on_output(now, &mut session, &output).unwrap();
            }
            match output {
                Output::Packet(id, packet) => {
                    // Drop-tail: a packet that would wait for more than 300 ms is lost.
                    let begin = link_free.max(now);
                    if begin - now <= TimeDelta::from_millis(300) {
                        let size =
                            u64::from(packet.payload) + packet.header.wire_len() as u64 + IP_AND_UDP_BYTES;
                        link_free = begin + DataSize::from_bytes(size) / DataRate::from_kbps(2000);
                        to_receivers.push_back((link_free + PROPAGATION, (id.number(), packet)));
                    }
                    if ms >= 25_000 {
                        bytes[id.number()] += u64::from(packet.payload);
                    }
                    if id.number() == 1 {
                        newest.push_back((ms, packet.header.transport_sequence));
                    }
                }
                Output::Wake(_) => break,
                _ => {}
            }
        }
    }
    bytes.map(|bytes| bytes as f64 * 8e-3 / 35.0)
}

#[test]
fn forged_reports_on_one_flow_leave_a_coupled_pair_four_fifths_of_what_it_has_uncoupled() {
    for every_ms in [100, 1000, 5000] {
        let alone: f64 = rates_of_pair(None, every_ms).iter().sum();
        for config in [Config::rfc8699_active(), Config::rfc8699_conservative()] {
            let [gcc, nada] = rates_of_pair(Some(config), every_ms);
            assert!(
                gcc + nada >= 0.8 * alone,
                "each {every_ms} ms: {gcc} and {nada} kbit/s, uncoupled {alone}"
            );
        }
    }
}
