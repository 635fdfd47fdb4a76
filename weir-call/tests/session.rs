//! Calls in simulated time: another endpoint of `str0m` stands for the browser.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use str0m::change::{SdpAnswer, SdpPendingOffer};
use str0m::media::{Direction, KeyframeRequestKind, MediaKind, Mid};
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, Event, Input, Output, Rtc, RtcConfig};
use weir_call::clips::ClipSet;
use weir_call::controller::ControllerChoice;
use weir_call::path::PathSettings;
use weir_call::session::{CallConfig, CallSession, DecisionRow, SessionError, SessionEvent, SessionOutput};
use weir_call::status::CallStatus;
use weir_cc::{ChangeReason, DataRate};
use weir_registry::Registry;
use weir_units::TimeDelta;

const LOCAL: ([u8; 4], u16) = ([192, 0, 2, 1], 5000);
const FAR: ([u8; 4], u16) = ([192, 0, 2, 7], 6000);

#[expect(clippy::disallowed_methods, reason = "any moment begins a simulated time")]
fn any_moment() -> Instant {
    Instant::now()
}

fn choice(name: &str) -> ControllerChoice {
    ControllerChoice::of(&Registry::standard(), name).unwrap()
}

fn path(kbps: u64) -> PathSettings {
    PathSettings { capacity: DataRate::from_kbps(kbps), ..PathSettings::default() }
}

/// The far end.
struct FarEnd {
    rtc: Rtc,
    video: Mid,
    frames: u64,
    key_frames: u64,
    bytes: u64,
}

impl FarEnd {
    /// An end that wants video, and its offer.
    fn offer(now: Instant) -> (Self, String, SdpPendingOffer) {
        let mut rtc = RtcConfig::new().clear_codecs().enable_vp8(true).build(now);
        rtc.add_local_candidate(Candidate::host(FAR.into(), "udp").unwrap());
        let mut api = rtc.sdp_api();
        let video = api.add_media(MediaKind::Video, Direction::RecvOnly, None, None, None);
        let (offer, pending) = api.apply().unwrap();
        (Self { rtc, video, frames: 0, key_frames: 0, bytes: 0 }, offer.to_sdp_string(), pending)
    }

    fn receive(&mut self, now: Instant, bytes: &[u8]) {
        let received = Receive::new(Protocol::Udp, LOCAL.into(), FAR.into(), bytes).unwrap();
        self.rtc.handle_input(Input::Receive(now, received)).unwrap();
    }

    /// Lets the time pass; returns the datagrams that leave.
    fn poll(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let mut datagrams = Vec::new();
        loop {
            match self.rtc.poll_output().unwrap() {
                Output::Timeout(at) if at <= now => self.rtc.handle_input(Input::Timeout(now)).unwrap(),
                Output::Timeout(_) => return datagrams,
                Output::Transmit(transmit) => datagrams.push(transmit.contents.to_vec()),
                Output::Event(Event::MediaData(data)) => {
                    self.frames += 1;
                    // RFC 6386 §9.1: the first bit of a key frame is 0.
                    self.key_frames += u64::from(data.data[0] & 1 == 0);
                    self.bytes += data.data.len() as u64;
                }
                Output::Event(_) => {}
            }
        }
    }
}

/// A call in simulated time.
struct SimulatedCall {
    session: CallSession,
    far: FarEnd,
    now: Instant,
    decisions: Vec<DecisionRow>,
    waits: usize,
}

impl SimulatedCall {
    fn new(name: &str, kbps: u64) -> Self {
        let now = any_moment();
        let config = CallConfig { path: path(kbps), ..CallConfig::new(choice(name)).unwrap() };
        let session = CallSession::new(config, ClipSet::built_in(), LOCAL.into(), now).unwrap();
        let (far, ..) = FarEnd::offer(now);
        let mut call = Self { session, far, now, decisions: Vec::new(), waits: 0 };
        call.connect();
        call
    }

    /// Another far end takes over.
    fn connect(&mut self) {
        let (mut far, offer, pending) = FarEnd::offer(self.now);
        let answer = self.session.on_offer(self.now, &offer).unwrap();
        far.rtc.sdp_api().accept_answer(pending, SdpAnswer::from_sdp_string(&answer).unwrap()).unwrap();
        self.far = far;
    }

    fn run(&mut self, milliseconds: u64) -> CallStatus {
        self.session.take_status(self.now);
        for _ in 0..milliseconds {
            self.now += Duration::from_millis(1);
            self.step();
        }
        self.session.take_status(self.now)
    }

    fn step(&mut self) {
        loop {
            match self.session.poll(self.now) {
                SessionOutput::Datagram(datagram) => self.far.receive(self.now, &datagram.bytes),
                SessionOutput::Event(SessionEvent::Decision(row)) => self.decisions.push(row),
                SessionOutput::Event(SessionEvent::Waiting) => self.waits += 1,
                SessionOutput::Event(SessionEvent::Connected) => {}
                SessionOutput::Wake(_) => break,
            }
        }
        for bytes in self.far.poll(self.now) {
            self.session.on_datagram(self.now, FAR.into(), &bytes);
        }
    }
}

fn mbps(rate: DataRate) -> f64 {
    rate.bps_f64() / 1e6
}

/// Rates in Mbit/s while the capacity is 1, 2.5 and 0.5 Mbit/s.
#[derive(Debug)]
struct StepRates {
    /// The rate in the last 4 s before the rise.
    before: f64,
    /// The highest rates of a second within 20 and 25 s of the rise.
    risen: [f64; 2],
    /// The rate from 10 s after the fall on.
    fallen: f64,
    /// Pictures in a second but for the fall.
    pictures: f64,
}

/// A call whose capacity rises after `rise` ms.
fn steps(name: &str, rise: u64) -> StepRates {
    let mut call = SimulatedCall::new(name, 1000);
    call.run(rise - 4_000);
    let frames = call.far.frames;
    let before = mbps(call.run(4_000).arrived);
    call.session.set_path(call.now, path(2500)).unwrap();
    let mut most = |seconds| (0..seconds).map(|_| mbps(call.run(1_000).arrived)).fold(0.0, f64::max);
    let soon = most(20);
    let risen = [soon, most(5).max(soon)];
    let pictures = (call.far.frames - frames) as f64 / 29.0;
    call.session.set_path(call.now, path(500)).unwrap();
    call.run(10_000);
    StepRates { before, risen, fallen: mbps(call.run(10_000).arrived), pictures }
}

/// The rate of `gcc` on a full link is a saw of some 8 s. A rise of the capacity just behind a cut adds the time of a whole
/// tooth to the climb: 21 s instead of 11 s. Randomness of the connection that no seed fixes decides at which moment the cuts
/// are. So the capacity rises at three moments, a third of a tooth apart, and the median of the three is judged.
#[test]
fn the_rate_follows_the_capacity() {
    for name in ["gcc", "scream-v2"] {
        let mut all = [20_000, 22_667, 25_333].map(|rise| steps(name, rise));
        all.sort_by(|one, other| one.risen[0].total_cmp(&other.risen[0]));
        println!("{name}: {all:.2?}");
        for rates in &all {
            assert!((0.8..=1.0).contains(&rates.before), "{name}: {rates:?}");
            assert!((2.0..=2.5).contains(&rates.risen[1]), "{name}: {rates:?}");
            assert!((0.33..=0.5).contains(&rates.fallen), "{name}: {rates:?}");
            assert!((29.8..=30.2).contains(&rates.pictures), "{name}: {rates:?}");
        }
        let median = all[1].risen[0];
        assert!(median >= 2.0, "{name}: {median}");
    }
}

#[test]
fn every_controller_at_the_sender_holds_a_call() {
    for choice in ControllerChoice::all(&Registry::standard()) {
        let mut call = SimulatedCall::new(&choice.name, 1000);
        call.run(15_000);
        let frames = call.far.frames;
        let status = call.run(5_000);
        println!("{}: {:.2} Mbit/s, {} frames", choice.name, mbps(status.arrived), call.far.frames - frames);
        assert!((0.3..=1.0).contains(&mbps(status.arrived)), "{}: {status:?}", choice.name);
        assert!(call.far.frames - frames > 100, "{}: {} frames", choice.name, call.far.frames - frames);
        assert!(!call.decisions.is_empty(), "{}", choice.name);
    }
}

#[test]
fn a_fall_of_the_capacity_is_a_decision_with_its_reason() {
    let mut call = SimulatedCall::new("gcc", 2000);
    call.run(15_000);
    call.decisions.clear();
    call.session.set_path(call.now, path(500)).unwrap();
    call.run(5_000);
    assert!(mbps(call.run(1_000).arrived) < 0.6);
    let cut = call.decisions.iter().find(|row| row.to < row.from).expect("the rate falls");
    assert!(matches!(cut.why, ChangeReason::Delay | ChangeReason::Loss), "{cut:?}");
    assert!(!cut.evidence.is_empty(), "{cut:?}");
    let delay = call.run(3_000).frame_delay.expect("frames arrive");
    assert!((25.0..400.0).contains(&delay.millis_f64()), "{delay}");
}

#[test]
fn another_controller_goes_on_at_the_present_rate() {
    let mut call = SimulatedCall::new("gcc", 2000);
    call.run(20_000);
    let before = mbps(call.run(500).arrived);
    call.session.set_controller(call.now, choice("scream-v2")).unwrap();
    let target = mbps(call.session.take_status(call.now).target.expect("a browser is there").0);
    let frames = call.far.frames;
    let after = call.run(2_000);
    assert!((target - before).abs() < 0.4 * before, "{target} after {before}");
    assert!(mbps(after.arrived) > 0.5 * before, "{} after {before}", mbps(after.arrived));
    assert!(call.far.frames - frames > 55, "{}", call.far.frames - frames);
    assert_eq!(call.session.controller().name, "scream-v2");
}

#[test]
fn a_key_frame_comes_when_the_browser_asks_for_it() {
    let mut call = SimulatedCall::new("gcc", 2000);
    call.run(5_000);
    // One comes each second by itself: it asks in between.
    let before = call.far.key_frames;
    while call.far.key_frames == before {
        call.run(1);
    }
    call.run(300);
    let before = call.far.key_frames;
    let mut writer = call.far.rtc.writer(call.far.video).unwrap();
    writer.request_keyframe(None, KeyframeRequestKind::Pli).unwrap();
    let status = call.run(300);
    assert_eq!((status.key_frame_requests, call.far.key_frames - before), (1, 1));
}

#[test]
fn the_end_does_not_wait_for_the_path() {
    let mut call = SimulatedCall::new("gcc", 2000);
    call.run(3_000);
    let delay = TimeDelta::from_secs(2);
    call.session.set_path(call.now, PathSettings { delay, ..path(2000) }).unwrap();
    while !matches!(call.session.poll(call.now), SessionOutput::Wake(_)) {}
    call.session.close();
    assert!(matches!(call.session.poll(call.now), SessionOutput::Datagram(_)));
}

#[test]
fn delay_and_loss_of_the_path_are_those_set() {
    let mut call = SimulatedCall::new("gcc", 3000);
    call.run(5_000);
    let delay = TimeDelta::from_millis(150);
    call.session.set_path(call.now, PathSettings { delay, loss: 0.05, ..path(3000) }).unwrap();
    call.run(1_000);
    let before = call.session.take_status(call.now).counts;
    let frames = call.far.frames;
    let status = call.run(10_000);
    let (lost, delivered) = (status.counts.lost - before.lost, status.counts.delivered - before.delivered);
    let share = lost as f64 / (lost + delivered) as f64;
    assert!((0.03..=0.07).contains(&share), "{share}");
    assert!(status.frame_delay.expect("frames arrive") >= delay, "{status:?}");
    assert!(status.retransmissions > 0 && call.far.frames - frames > 200, "{status:?}");
}

#[test]
fn strangers_do_not_disturb_a_call() {
    let mut call = SimulatedCall::new("gcc", 1000);
    let mut other = SimulatedCall::new("gcc", 1000);
    call.run(5_000);
    other.run(5_000);
    let strangers: Vec<SocketAddr> = (0..50).map(|port| ([198, 51, 100, 7], 1000 + port).into()).collect();
    for round in 0..5_000_u64 {
        let mut noise = Vec::new();
        for place in 0..(round * 37 % 300) {
            noise.push(((round * 2_654_435_761) >> (place % 32)) as u8);
        }
        // All kinds that share the socket (RFC 7983): STUN, DTLS, RTP and RTCP; from strangers and in the name of the browser.
        if let Some(first) = noise.first_mut() {
            *first = [0, 1, 20, 22, 63, 128, 129, 144][round as usize % 8];
        }
        let from = if round % 2 == 0 { strangers[round as usize % 50] } else { FAR.into() };
        call.session.on_datagram(call.now, from, &noise);
        // More than the link back carries.
        for stranger in &strangers[..4] {
            call.session.on_datagram(call.now, *stranger, &[0; 1200]);
        }
        call.run(1);
        other.run(1);
    }
    let (status, undisturbed) = (call.run(3_000), other.run(3_000));
    assert!(status.foreign > 22_000, "{status:?}");
    assert!((mbps(status.arrived) - mbps(undisturbed.arrived)).abs() < 0.1, "{status:?} {undisturbed:?}");
    assert_eq!(call.waits, 0);
}

#[test]
fn another_browser_takes_over_and_a_silent_one_is_waited_for() {
    let mut call = SimulatedCall::new("gcc", 1000);
    call.run(3_000);
    assert!(call.session.is_connected() && call.far.frames > 30);
    call.connect();
    call.run(3_000);
    assert!(call.session.is_connected() && call.far.frames > 30);
    assert_eq!(call.waits, 1);
    // Its datagrams stay away.
    for _ in 0..60_000 {
        call.now += Duration::from_millis(1);
        while !matches!(call.session.poll(call.now), SessionOutput::Wake(_)) {}
    }
    assert!(!call.session.is_connected());
    let status = call.session.take_status(call.now);
    call.connect();
    call.run(3_000);
    assert!(call.session.is_connected() && call.far.frames > 30, "{status:?}");
}

#[test]
fn an_offer_that_is_none_leaves_the_call() {
    let mut call = SimulatedCall::new("gcc", 1000);
    call.run(2_000);
    for wrong in ["", "v=0", "hello\r\n", "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"] {
        let error = call.session.on_offer(call.now, wrong).unwrap_err();
        assert!(matches!(error, SessionError::Offer | SessionError::NoVideo), "{wrong}: {error}");
    }
    let (_, offer, _) = FarEnd::offer(call.now);
    let without = offer.replace("transport-wide-cc-extensions-01", "another");
    assert!(matches!(call.session.on_offer(call.now, &without), Err(SessionError::NoVideo)));
    let audio = offer.replace("m=video", "m=audio");
    assert!(call.session.on_offer(call.now, &audio).is_err());
    let frames = call.far.frames;
    call.run(2_000);
    assert!(call.session.is_connected() && call.far.frames - frames > 50);
}
