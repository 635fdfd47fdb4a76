//! A flow beside its coupler.

use weir_cc::coupled::Word;
use weir_cc::{Decision, SendTime, Why};
use weir_media::{Alarm, CoupledFlow, Desired, FlowId, Output, Session};
use weir_units::DataRate;

use crate::rig::{config, media_sender, nada};

/// A session with a flow, which has joined.
fn coupled() -> (Session, FlowId, CoupledFlow) {
    let mut session = Session::new();
    let id = session.add(media_sender(nada().0, &config())).unwrap();
    session.start(at(0), id);
    let mut flow = CoupledFlow::new(id, 1.0, Desired::Limits, &config());
    assert!(matches!(flow.begin(at(0), &session), Some(Word::Join(_))));
    (session, id, flow)
}

fn at(s: i64) -> SendTime {
    SendTime::from_millis(1000 * s)
}

/// What the flow tells, in short, when its law decides 700 kbit/s.
fn decides(now: i64, (session, id, flow): &mut (Session, FlowId, CoupledFlow)) -> Option<Word> {
    let (rate, base) = (DataRate::from_kbps(700), DataRate::from_kbps(600));
    let decision = Output::Decision(*id, Decision { rate, base, why: Why::Growth, rtt: None });
    let [first, second] = flow.on_output(at(now), session, &decision);
    first.or(second)
}

fn alarm(now: i64, alarm: Alarm, (session, id, flow): &mut (Session, FlowId, CoupledFlow)) -> Option<Word> {
    flow.on_output(at(now), session, &Output::Alarm(*id, alarm))[0]
}

#[test]
fn a_flow_whose_reports_contradict_each_other_goes_on_by_itself_until_they_have_agreed_for_30_s() {
    let mut call = coupled();
    assert!(matches!(decides(1, &mut call), Some(Word::Update(_))));
    assert_eq!(alarm(2, Alarm::ReportsContradict, &mut call), Some(Word::Withdraw));
    assert_eq!(decides(3, &mut call), None);
    assert_eq!(alarm(10, Alarm::ReportsAgree, &mut call), None);
    assert_eq!(decides(39, &mut call), None);
    // Again, before it has joined.
    assert_eq!(alarm(39, Alarm::ReportsContradict, &mut call), None);
    assert_eq!(alarm(41, Alarm::ReportsAgree, &mut call), None);
    assert_eq!(decides(70, &mut call), None);
    let Some(Word::Join(join)) = decides(71, &mut call) else { panic!("it joins again") };
    assert_eq!(
        (join.start, join.present),
        (DataRate::from_kbps(700), DataRate::from_kbps(700)),
        "as it sends"
    );
    assert!(matches!(decides(72, &mut call), Some(Word::Update(_))));
    assert_eq!(alarm(73, Alarm::ReportsRefused, &mut call), None);
    assert!(matches!(decides(74, &mut call), Some(Word::Update(_))), "refused reports reach nobody");
}

#[test]
fn a_pause_of_a_flow_in_doubt_is_nobodys_affair() {
    let mut call = coupled();
    alarm(2, Alarm::ReportsContradict, &mut call);
    assert_eq!(call.2.pause(), None);
    alarm(4, Alarm::ReportsAgree, &mut call);
    assert_eq!(decides(40, &mut call), None, "it sends nothing");
    assert_eq!(call.2.resume(at(41), &call.0), None);
    assert!(matches!(decides(42, &mut call), Some(Word::Join(_))));
}
