//! A flow with its coupler.

use std::collections::VecDeque;

use weir_cc::coupled::CouplingMessage;
use weir_cc::coupled::fse::{Config, Fse, InitialGrouping};
use weir_cc::{ArrivalTime, ChangeReason, Decision, Ecn, SendTime};
use weir_media::{
    Alarm, CoupledFlow, CoupledFlows, DesiredRate, FlowId, MediaPacket, MediaReceiver, MediaSender,
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

fn at(s: i64) -> SendTime {
    SendTime::from_millis(1000 * s)
}

/// The flow's message when its controller decides 700 kbit/s.
fn decides(now: i64, (session, id, flow): &mut (Session, FlowId, CoupledFlow)) -> Option<CouplingMessage> {
    let (rate, base) = (DataRate::from_kbps(700), DataRate::from_kbps(600));
    let decision = Output::Decision(*id, Decision { rate, base, why: ChangeReason::Growth, rtt: None });
    let [first, second] = flow.on_output(at(now), session, &decision);
    first.or(second)
}

fn alarm(
    now: i64,
    alarm: Alarm,
    (session, id, flow): &mut (Session, FlowId, CoupledFlow),
) -> Option<CouplingMessage> {
    flow.on_output(at(now), session, &Output::Alarm(*id, alarm))[0]
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
        "refused reports reach nobody"
    );
}

#[test]
fn a_pause_of_a_flow_in_doubt_is_nobodys_affair() {
    let mut call = coupled();
    alarm(2, Alarm::ReportsContradict, &mut call);
    assert_eq!(call.2.pause(), None);
    alarm(4, Alarm::ReportsAgree, &mut call);
    assert_eq!(decides(40, &mut call), None, "it sends nothing");
    assert_eq!(call.2.resume(at(41), &call.0), None);
    assert!(matches!(decides(42, &mut call), Some(CouplingMessage::Join(_))));
}

/// The next element that arrives by `now`.
fn due<T>(way: &mut VecDeque<(SendTime, T)>, now: SendTime) -> Option<T> {
    way.front().is_some_and(|(at, _)| *at <= now).then(|| way.pop_front())?.map(|(_, what)| what)
}

/// The rates of `gcc` and `nada` in kbit/s from 25 to 60 s on a path of 2 Mbit/s with a queue of 300 ms. From 20 s on reports of the
/// greatest congestion on `nada` come each `every` ms, on packets that left 40 ms before.
fn pair(coupled: Option<Config>, every: i64) -> [f64; 2] {
    let (mut session, mut receivers) = (Session::new(), vec![]);
    let fse = |config| CoupledFlows::new(Fse::new(config, InitialGrouping::Together).unwrap());
    let mut flows = coupled.map(fse);
    for (place, (law, receiver)) in (0..).zip([gcc(), nada()]) {
        let seeds = SenderSeeds { encoder: u64::from(place), rtcp: 9 };
        let id = session.add(MediaSender::new(law, config(), 10 + place, seeds)).unwrap();
        session.start(at(0), id);
        if let Some(flows) = &mut flows {
            let flow = CoupledFlow::new(id, 1.0, DesiredRate::Limits, &config());
            flows.add(at(0), flow, &mut session).unwrap();
        }
        receivers.push(MediaReceiver::new(receiver, config(), 20 + place, 10 + place, 3));
    }
    let mut there = VecDeque::<(SendTime, (usize, MediaPacket))>::new();
    let (mut back, mut free) = (VecDeque::new(), at(0));
    let (mut newest, mut bytes, mut room) = (VecDeque::new(), [0; 2], [0; RTCP_ROOM]);
    for ms in 0..60_000 {
        let now = SendTime::from_millis(ms);
        let clock = ArrivalTime::from_millis(ms + 7_200_000);
        while let Some((place, packet)) = due(&mut there, now) {
            receivers[place].on_packet(clock, &packet.header, packet.payload, Ecn::NotEct);
        }
        for receiver in &mut receivers {
            while let Some(length) = receiver.poll_rtcp(clock, &mut room) {
                back.push_back((now + PROPAGATION, room[..length].to_vec()));
            }
        }
        while let Some(report) = due(&mut back, now) {
            session.on_rtcp(now, &report);
        }
        if ms >= 20_000 && ms % every == 0 {
            let named = newest.iter().rev().find(|(left, _)| left + 40 <= ms).map(|(_, number)| *number);
            let report = NadaFeedback {
                ssrc: 21,
                source: 11,
                ramp_up: false,
                congestion: (1 << 15) - 1,
                transport_sequence: named.unwrap_or(0),
                receive_rate: 0,
                held: 0,
            };
            let length = report.write(&mut room).unwrap();
            session.on_rtcp(now, &room[..length]);
        }
        if let Some(flows) = &mut flows {
            flows.on_timeout(now, &mut session);
        }
        loop {
            let output = session.poll(now, &mut room);
            if let Some(flows) = &mut flows {
                flows.on_output(now, &mut session, &output).unwrap();
            }
            match output {
                Output::Packet(id, packet) => {
                    let begin = free.max(now);
                    if begin - now <= TimeDelta::from_millis(300) {
                        let size = u64::from(packet.payload) + packet.header.wire_len() as u64 + 28;
                        free = begin + DataSize::from_bytes(size) / DataRate::from_kbps(2000);
                        there.push_back((free + PROPAGATION, (id.number(), packet)));
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
    for every in [100, 1000, 5000] {
        let alone: f64 = pair(None, every).iter().sum();
        for config in [Config::rfc8699_active(), Config::rfc8699_conservative()] {
            let [gcc, nada] = pair(Some(config), every);
            assert!(gcc + nada >= 0.8 * alone, "each {every} ms: {gcc} and {nada} kbit/s, uncoupled {alone}");
        }
    }
}
