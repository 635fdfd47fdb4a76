//! Several flows of one host to one peer.

use weir_cc::{DataRate, SendTime, Share};
use weir_media::{MediaSender, SenderSeeds, Session};
use weir_wire::rtcp::Remb;

use crate::rig::{RECEIVER, config, gcc_2016};

const FIRST: u32 = 11;
const SECOND: u32 = 22;

fn session() -> Session {
    let flow = |ssrc| MediaSender::new(gcc_2016().0, config(), ssrc, SenderSeeds { encoder: 1, rtcp: 2 });
    let mut session = Session::new(vec![flow(FIRST), flow(SECOND)]);
    session.start(SendTime::ZERO);
    session
}

fn targets(session: &Session) -> Vec<DataRate> {
    session.flows().iter().map(|flow| flow.target().media_rate).collect()
}

#[test]
fn a_report_reaches_the_flow_it_is_about() {
    let mut session = session();
    session.take_target_changes().for_each(drop);
    let mut bytes = [0; 64];
    let len = Remb::write(RECEIVER, 450_000, &[SECOND], &mut bytes).unwrap();
    session.on_rtcp(SendTime::from_millis(100), &bytes[..len], |_, rtt| panic!("a REMB measures no {rtt}"));
    assert_eq!(targets(&session), [DataRate::from_kbps(300), DataRate::from_kbps(450)]);
    let changed: Vec<usize> = session.take_target_changes().map(|(flow, _)| flow).collect();
    assert_eq!(changed, [1]);
    assert_eq!(session.take_target_changes().count(), 0, "told once");
}

#[test]
fn a_share_is_the_flows_own_from_then_on() {
    let mut session = session();
    session.adopt(SendTime::ZERO, 0, Share { rate: DataRate::from_kbps(120) });
    session.adopt(SendTime::ZERO, 7, Share { rate: DataRate::from_kbps(999) });
    assert_eq!(targets(&session), [DataRate::from_kbps(120), DataRate::from_kbps(300)]);
}

#[test]
fn all_flows_are_served_and_all_stop() {
    let mut session = session();
    let now = SendTime::from_millis(100);
    assert_eq!(session.next_timeout(), Some(SendTime::ZERO));
    let frames: Vec<usize> = std::iter::from_fn(|| session.poll_frame(now)).map(|(flow, _)| flow).collect();
    // At 30 frames a second four are due by 100 ms, of each flow.
    assert_eq!(frames.iter().filter(|&&flow| flow == 0).count(), 4);
    assert_eq!(frames.iter().filter(|&&flow| flow == 1).count(), 4);
    let packets: Vec<_> = std::iter::from_fn(|| session.poll_packet(now)).collect();
    for (flow, ssrc) in [(0, FIRST), (1, SECOND)] {
        assert!(packets.iter().any(|(index, packet)| *index == flow && packet.header.ssrc == ssrc));
    }
    session.stop();
    assert_eq!(session.next_timeout(), None);
    assert!(session.poll_packet(SendTime::from_millis(500)).is_none());
}
