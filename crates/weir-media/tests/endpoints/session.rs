//! Several flows of one host to one peer.

use weir_cc::gcc::goog_cc::{self, GoogCc};
use weir_cc::{AllocatedRate, ArrivalTime, DataRate, DataSize, Decision, Ecn, SendTime, Target, TimeDelta};
use weir_media::{
    FlowId, MediaConfig, MediaPacket, MediaReceiver, MediaSender, Output, SenderSeeds, SenderTimer, Session,
    Wake,
};
use weir_net::Sent;
use weir_wire::rtcp::{self, Message, Remb};

use crate::rig::{Halves, RECEIVER, RTCP_ROOM, config, gcc_2016, limits, nada, path, send_time, true_time};

const FIRST: u32 = 11;
const SECOND: u32 = 22;

/// A sender of the stream `ssrc`.
fn flow(controller: Halves, ssrc: u32) -> MediaSender {
    MediaSender::new(controller.0, config(), ssrc, SenderSeeds { encoder: 1, rtcp: 2 })
}

/// A session with two flows under the GCC of 2016.
fn session() -> (Session, FlowId, FlowId) {
    let mut session = Session::new();
    let [first, second] = [FIRST, SECOND].map(|ssrc| session.add(flow(gcc_2016(), ssrc)).unwrap());
    session.start(SendTime::ZERO, first);
    session.start(SendTime::ZERO, second);
    (session, first, second)
}

/// All output at `now`, and the next wake-up of the session.
fn drain(session: &mut Session, now: SendTime) -> (Vec<Output>, Option<Wake>) {
    let mut outputs = Vec::new();
    loop {
        match session.poll(now, &mut [0; RTCP_ROOM]) {
            Output::Wake(wake) => return (outputs, wake),
            output => outputs.push(output),
        }
    }
}

/// Sender time of `ms` milliseconds.
fn ms(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

/// The media rates of all flows.
fn rates(session: &Session) -> Vec<DataRate> {
    session.flows().map(|(_, flow)| flow.target().media_rate).collect()
}

/// The targets among `outputs`.
fn targets(outputs: &[Output]) -> Vec<(FlowId, Target)> {
    let target = |output: &Output| match output {
        Output::Target(flow, target) => Some((*flow, *target)),
        _ => None,
    };
    outputs.iter().filter_map(target).collect()
}

/// The decisions among `outputs`.
fn decisions(outputs: &[Output]) -> Vec<(FlowId, Decision)> {
    let decision = |output: &Output| match output {
        Output::Decision(flow, decision) => Some((*flow, *decision)),
        _ => None,
    };
    outputs.iter().filter_map(decision).collect()
}

/// A REMB of `bps` for the stream `ssrc`.
fn remb(bps: u64, ssrc: u32) -> Vec<u8> {
    let mut bytes = [0; 64];
    let len = Remb::write(RECEIVER, bps, &[ssrc], &mut bytes).unwrap();
    bytes[..len].to_vec()
}

#[test]
fn a_report_reaches_the_flow_it_is_about_and_its_decision_comes_out() {
    let (mut session, first, second) = session();
    let (outputs, _) = drain(&mut session, SendTime::ZERO);
    assert_eq!(targets(&outputs).iter().map(|reported| reported.0).collect::<Vec<_>>(), [first, second]);
    // A compound about the second flow, about an unknown one, and about the second again.
    let compound = [remb(450_000, SECOND), remb(60_000, 99), remb(440_000, SECOND)].concat();
    session.on_rtcp(ms(10), &compound);
    let (outputs, _) = drain(&mut session, ms(10));
    let decided = decisions(&outputs);
    let kbps: Vec<_> = decided.iter().map(|(flow, made)| (*flow, made.rate.bps() / 1000)).collect();
    assert_eq!(kbps, [(second, 440)]);
    assert!(matches!(outputs[0], Output::Decision(..)), "before anything else comes out");
    assert_eq!(rates(&session), [DataRate::from_kbps(300), DataRate::from_kbps(440)]);
    assert_eq!(targets(&outputs), [(second, *session.flow(second).unwrap().target())], "output once");
}

#[test]
fn a_remb_bounds_a_controller_of_single_packets_only_where_it_was_agreed_on() {
    for (agreed, kbps, refused) in [(false, 300, 1), (true, 50, 0)] {
        let controller = GoogCc::new(goog_cc::Config::default(), limits()).unwrap();
        let config = MediaConfig { remb: agreed, ..config() };
        let sender =
            MediaSender::new(Box::new(controller), config, FIRST, SenderSeeds { encoder: 1, rtcp: 2 });
        let mut session = Session::new();
        let flow = session.add(sender).unwrap();
        session.start(SendTime::ZERO, flow);
        drain(&mut session, SendTime::ZERO);
        session.on_rtcp(ms(10), &remb(1, FIRST));
        drain(&mut session, ms(10));
        assert_eq!(rates(&session), [DataRate::from_kbps(kbps)]);
        let counted = session.flow(flow).unwrap().refused_reports();
        assert_eq!((counted.kinds, counted.suspicious()), (refused, 0));
    }
}

#[test]
fn decisions_of_one_compound_become_one_output_for_coupling() {
    let (mut session, _, second) = session();
    drain(&mut session, SendTime::ZERO);
    let compound: Vec<u8> = (0..9).flat_map(|n| remb(450_000 - 10_000 * n, SECOND)).collect();
    session.on_rtcp(ms(10), &compound);
    let decided = decisions(&drain(&mut session, ms(10)).0);
    let kbps: Vec<_> =
        decided.iter().map(|(_, made)| (made.base.bps() / 1000, made.rate.bps() / 1000)).collect();
    assert_eq!(kbps, [(300, 370)]);
    let present = decided[0].1.rate;
    assert_eq!(session.apply_allocation(ms(10), second, AllocatedRate { rate: present }), Some(present));
    assert_eq!(
        rates(&session)[second.number()],
        DataRate::from_kbps(370),
        "the present rate changes nothing"
    );
}

#[test]
fn a_flow_with_the_source_identifier_of_another_is_given_back() {
    let (mut session, ..) = session();
    assert!(session.add(flow(gcc_2016(), SECOND)).is_err());
    assert_eq!(session.flows().count(), 2);
}

#[test]
fn a_share_is_the_flows_own_from_then_on_and_no_decision() {
    let (mut session, first, second) = session();
    drain(&mut session, SendTime::ZERO);
    let share = |kbps| AllocatedRate { rate: DataRate::from_kbps(kbps) };
    assert_eq!(session.apply_allocation(SendTime::ZERO, first, share(120)), Some(DataRate::from_kbps(120)));
    assert_eq!(rates(&session), [DataRate::from_kbps(120), DataRate::from_kbps(300)]);
    let (outputs, _) = drain(&mut session, SendTime::ZERO);
    assert_eq!(targets(&outputs).iter().map(|reported| reported.0).collect::<Vec<_>>(), [first]);
    assert_eq!(decisions(&outputs), []);
    session.remove(second);
    assert_eq!(session.apply_allocation(SendTime::ZERO, second, share(999)), None);
}

#[test]
fn changes_of_another_flow_are_output_in_the_same_round() {
    let (mut session, first, _) = session();
    drain(&mut session, SendTime::ZERO);
    session.on_rtcp(ms(10), &remb(450_000, SECOND));
    let Output::Decision(..) = session.poll(ms(10), &mut [0; RTCP_ROOM]) else { panic!("a decision first") };
    session.apply_allocation(ms(10), first, AllocatedRate { rate: DataRate::from_kbps(150) });
    let reported = targets(&drain(&mut session, ms(10)).0);
    assert_eq!(
        reported.iter().map(|reported| reported.1.media_rate.bps() / 1000).collect::<Vec<_>>(),
        [150, 450]
    );
}

#[test]
fn all_flows_are_served_and_each_stops_by_itself() {
    let (mut session, first, second) = session();
    let next = session.next_wake().unwrap();
    assert_eq!((next.at, next.flow, next.timer), (SendTime::ZERO, first, SenderTimer::Capture));
    let (outputs, _) = drain(&mut session, ms(60));
    for (flow, ssrc) in [(first, FIRST), (second, SECOND)] {
        // At 30 frames/s two frames of each flow are due by 60 ms.
        let frames = outputs.iter().filter(|output| matches!(output, Output::Frame(of, _) if *of == flow));
        assert_eq!(frames.count(), 2);
        let own = |output: &Output| matches!(output, Output::Packet(of, packet) if *of == flow && packet.header.ssrc == ssrc);
        assert!(outputs.iter().any(own));
    }
    session.stop(first);
    let (outputs, wake) = drain(&mut session, ms(500));
    assert!(outputs.iter().all(|output| !matches!(output, Output::Packet(flow, _) if *flow == first)));
    assert!(outputs.iter().any(|output| matches!(output, Output::Packet(..))));
    assert_eq!(wake.map(|wake| wake.flow), Some(second));
    session.stop(second);
    assert_eq!(drain(&mut session, ms(900)), (Vec::new(), None));
}

#[test]
fn flows_come_pause_and_go_one_by_one() {
    let (mut session, first, second) = session();
    drain(&mut session, SendTime::ZERO);
    session.pause(ms(10), first);
    let (outputs, _) = drain(&mut session, ms(200));
    let served = |outputs: &[Output], flow| {
        outputs.iter().any(|output| matches!(output, Output::Frame(of, _) if *of == flow))
    };
    assert!(!served(&outputs, first) && served(&outputs, second));
    let third = session.add(flow(gcc_2016(), 33)).unwrap();
    let (outputs, _) = drain(&mut session, ms(250));
    assert!(!served(&outputs, third) && targets(&outputs).is_empty(), "not started yet");
    session.start(ms(300), third);
    session.resume(ms(300), first);
    assert!(session.remove(second).is_some() && session.remove(second).is_none());
    let (outputs, _) = drain(&mut session, ms(300));
    assert!(served(&outputs, first) && !served(&outputs, second) && served(&outputs, third));
    assert_eq!(session.flows().map(|(id, _)| id.number()).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn a_timer_says_whose_it_is_and_its_decision_comes_out() {
    let mut session = Session::new();
    let only = session.add(flow(nada(), FIRST)).unwrap();
    session.start(SendTime::ZERO, only);
    let mut now = SendTime::ZERO;
    let mut timers = Vec::new();
    // Without feedback NADA cuts its rate.
    let mut cuts = Vec::new();
    while now < ms(2000) {
        let (outputs, wake) = drain(&mut session, now);
        let decided = decisions(&outputs);
        cuts.extend(decided.iter().map(|(_, decision)| (timers.last().copied(), *decision)));
        let wake = wake.expect("it goes on");
        timers.push(wake.timer);
        now = now.max(wake.at);
    }
    assert!(!cuts.is_empty());
    assert!(cuts.iter().all(|(timer, _)| *timer == Some(SenderTimer::Controller)), "{cuts:?}");
    assert!(cuts.iter().all(|(_, cut)| cut.rate < cut.base), "{cuts:?}");
    for timer in [SenderTimer::Capture, SenderTimer::Pacer, SenderTimer::Report] {
        assert!(timers.contains(&timer), "{timer:?}");
    }
}

/// The decisions of both flows in 20 s, by a plain loop, and the number of RTCP packets with per-packet reports.
fn two_flows(config: &MediaConfig) -> (Vec<(SendTime, FlowId, Decision)>, usize) {
    let (mut session, mut receivers) = (Session::new(), Vec::new());
    let mut path = path(DataRate::from_mbps(2), TimeDelta::from_secs(60));
    for ssrc in [FIRST, SECOND] {
        let (controller, receiver) = nada();
        let id = session.add(flow((controller, nada().1), ssrc)).unwrap();
        session.start(SendTime::ZERO, id);
        receivers.push(MediaReceiver::new(receiver, *config, 100 + ssrc, ssrc, 3));
    }
    let (mut now, mut decided, mut room) = (SendTime::ZERO, Vec::new(), [0; RTCP_ROOM]);
    let mut reported = 0;
    while now < ms(20_000) {
        let far = ArrivalTime::from_nanos(now.nanos());
        while let Some(arrived) = path.arrival(true_time(now)) {
            let (flow, packet): (usize, MediaPacket) = arrived.packet;
            receivers[flow].on_packet(far, &packet.header, packet.payload, Ecn::NotEct);
        }
        while let Some(bytes) = path.answered(true_time(now)) {
            session.on_rtcp(now, &bytes);
        }
        let wake = loop {
            match session.poll(now, &mut room) {
                Output::Packet(flow, packet) => {
                    let bytes = packet.header.wire_len() as u64 + u64::from(packet.payload);
                    let sent = Sent::new((flow.number(), packet), DataSize::from_bytes(bytes));
                    path.send(true_time(now), sent).unwrap();
                }
                Output::Decision(flow, decision) => decided.push((now, flow, decision)),
                Output::Wake(wake) => break wake,
                _ => {}
            }
        };
        for receiver in &mut receivers {
            while let Some(length) = receiver.poll_rtcp(far, &mut room) {
                let messages = rtcp::messages(&room[..length]);
                reported += messages.filter(|message| matches!(message, Ok(Message::Twcc(_)))).count();
                path.answer(true_time(now), room[..length].to_vec());
            }
        }
        let reports = receivers.iter().filter_map(MediaReceiver::next_timeout).min();
        // The loop jumps to the next event, as an application sleeps until it.
        let next = [
            wake.map(|wake| wake.at),
            reports.map(|at| SendTime::from_nanos(at.nanos())),
            path.next_event().map(send_time),
        ];
        now = now.max(next.into_iter().flatten().min().expect("something goes on"));
    }
    (decided, reported)
}

#[test]
fn a_plain_loop_drives_two_flows_of_one_session() {
    let (decided, reported) = two_flows(&config());
    assert_eq!(reported, 0);
    for number in [0, 1] {
        let own: Vec<_> = decided.iter().filter(|(_, flow, _)| flow.number() == number).collect();
        // Each 100 ms has a report.
        assert!((190..=210).contains(&own.len()), "{}", own.len());
        let rate = own.last().unwrap().2.rate;
        assert!((700..1200).contains(&(rate.bps() / 1000)), "{rate:?}");
        assert!(own.windows(2).all(|two| two[1].2.base == two[0].2.rate), "each goes on from the one before");
    }
    assert_eq!(decided, two_flows(&config()).0, "the same again");
}

#[test]
fn a_witness_reports_single_packets_and_changes_no_decision() {
    let additional_reports = Some(TimeDelta::from_millis(50));
    let (decided, reported) = two_flows(&MediaConfig { additional_reports, ..config() });
    // 20 a second of each flow, for 20 s.
    assert!((780..=800).contains(&reported), "{reported}");
    assert_eq!(decided, two_flows(&config()).0);
}
