//! RTCP that no honest receiver of the flow sends.

use std::sync::{Arc, Mutex};

use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{ArrivalTime, Ecn, PathEvent, ProbeId, RateLimits, Record, Report, SendTime, Target};
use weir_media::feedback::FeedbackWriter;
use weir_media::{
    Alarm, AudioConfig, Breaker, EncoderConfig, MediaConfig, MediaReceiver, MediaSender, Output,
    PacketFormat, Session,
};
use weir_units::{DataRate, TimeDelta};
use weir_wire::rtcp::{ControllerReport, ReceiverReport, Remb, ReportBlock};

use crate::probing::{Probing, probe};
use crate::rig::{
    Halves, RECEIVER, RTCP_ROOM, SENDER, config, gcc, ledbat, limits, media_receiver, media_sender, nada,
    nada_at_sender, scream_v2,
};
use crate::sender::Fixed;

const WAY: TimeDelta = TimeDelta::from_millis(25);

/// A call without a queue, in steps of a ms. After each, `forge` may return forged RTCP, given the time and the number
/// of the newest packet.
struct AttackedCall {
    sender: MediaSender,
    receiver: MediaReceiver,
    ms: i64,
    newest: u16,
    /// Transport-wide numbers of the packets that left.
    numbers: Vec<u16>,
    there: Vec<(i64, weir_media::MediaPacket)>,
    back: Vec<(i64, Vec<u8>)>,
    /// Whether the receiver's reports arrive.
    answered: bool,
    /// Whether its receiver reports, which are first in a compound, have the greatest loss.
    loses: bool,
    alarms: Vec<Alarm>,
}

impl AttackedCall {
    fn new((controller, receiver): Halves, config: &MediaConfig) -> Self {
        let mut sender = media_sender(controller, config);
        sender.believe_only(&[RECEIVER]);
        sender.start(SendTime::ZERO);
        Self {
            sender,
            receiver: media_receiver(receiver, config),
            ms: 0,
            newest: 0,
            numbers: vec![],
            there: vec![],
            back: vec![],
            answered: true,
            loses: false,
            alarms: vec![],
        }
    }

    /// Advances by `ms` ms. `forge` gives the forged RTCP packet of a millisecond, from the time and the newest
    /// number. Returns the mean rate.
    fn run(&mut self, ms: i64, mut forge: impl FnMut(i64, u16) -> Option<Vec<u8>>) -> f64 {
        let way = WAY.micros() / 1000;
        for _ in 0..ms {
            let (now, there) =
                (SendTime::from_millis(self.ms), ArrivalTime::from_millis(self.ms + 7_200_000));
            let mut room = [0; RTCP_ROOM];
            self.sender.on_timeout(now);
            while self.sender.poll_frame(now).is_some() {}
            while let Some(packet) = self.sender.poll_packet(now) {
                self.newest = packet.header.transport_sequence;
                self.numbers.push(self.newest);
                self.there.push((self.ms + way, packet));
            }
            let ms = self.ms;
            for (_, packet) in self.there.extract_if(.., |(at, _)| *at <= ms) {
                self.receiver.on_packet(there, &packet.header, packet.payload, Ecn::NotEct);
            }
            while let Some(length) = self.receiver.poll_rtcp(there, &mut room) {
                self.back.push((ms + way, room[..length].to_vec()));
            }
            for (_, mut bytes) in self.back.extract_if(.., |(at, _)| *at <= ms) {
                if self.loses && bytes[1] == 201 && bytes[0] & 0x1F > 0 {
                    bytes[12] = 255;
                }
                if self.answered {
                    self.sender.on_rtcp(now, &bytes);
                }
            }
            if let Some(bytes) = forge(ms, self.newest) {
                self.sender.on_rtcp(now, &bytes);
            }
            self.alarms.extend(self.sender.take_alarm());
            self.ms += 1;
        }
        self.sender.target().media_rate.bps_f64() / 1e3
    }
}

fn nothing(_: i64, _: u16) -> Option<Vec<u8>> {
    None
}

/// The RTCP packet that `write` writes.
fn written(write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Option<Vec<u8>> {
    let mut room = [0; RTCP_ROOM];
    let length = write(&mut room)?;
    Some(room[..length].to_vec())
}

/// Transport-wide feedback by `reporter` in which these numbers have just arrived, one one-way delay ago.
fn arrived(reporter: u32, ms: i64, numbers: impl Iterator<Item = u16>) -> Option<Vec<u8>> {
    let at = Some(ArrivalTime::from_millis(ms + 7_200_000));
    let records: Vec<Record> = numbers.map(|number| Record::new(number, at)).collect();
    let mut writer = FeedbackWriter::transport_wide(reporter, SENDER);
    written(|room| writer.write(&Report::packets(&records, 0), room))
}

#[test]
fn only_who_was_named_reports_on_a_flow() {
    let mut call = AttackedCall::new(gcc(), &config());
    call.run(3000, nothing);
    let before = call.sender.refused_reports();
    call.run(2500, |ms, newest| {
        (ms % 10 == 0).then(|| arrived(RECEIVER + 1, ms, core::iter::once(newest))).flatten()
    });
    let now = call.sender.refused_reports();
    assert_eq!((now.reporters - before.reporters, now.history), (250, before.history));
    assert_eq!(call.alarms, [Alarm::ReportsRefused; 3], "once a second at most");
}

#[test]
fn a_kind_that_the_controller_does_not_use_changes_nothing() {
    let course = |forged: bool| {
        let mut call = AttackedCall::new(gcc(), &config());
        call.run(3000, nothing);
        let echo = |ms: i64, newest| {
            let report = ControllerReport {
                ssrc: RECEIVER,
                source: SENDER,
                name: *b"NONE",
                held: 0,
                transport_sequence: newest,
                data: &[],
            };
            (forged && ms % 20 == 0).then(|| written(|room| report.write(room).ok())).flatten()
        };
        let rates: Vec<f64> = (0..20).map(|_| call.run(100, echo)).collect();
        (rates, call.sender.refused_reports().kinds)
    };
    let (honest, forged) = (course(false), course(true));
    assert_eq!((honest.0, honest.1, forged.1), (forged.0, 0, 100));
}

#[test]
fn the_other_form_of_per_packet_reports_is_not_read() {
    let mut call = AttackedCall::new(gcc(), &config());
    call.run(1000, nothing);
    let mut writer = FeedbackWriter::rfc_8888(RECEIVER, SENDER);
    let at = Some(ArrivalTime::from_millis(7_201_000));
    let records = [Record::new(0, at)];
    let report = Report::Packets { records: &records, number: 0, at };
    let bytes = written(|room| writer.write(&report, room)).unwrap();
    call.sender.on_rtcp(SendTime::from_millis(1000), &bytes);
    assert_eq!(call.sender.refused_reports().kinds, 1);
}

#[test]
fn packets_of_rfc_8888_that_have_not_left_are_counted() {
    let refused = |audio| {
        let with = MediaConfig { packet_format: PacketFormat::Rfc8888, audio, ..config() };
        let mut call = AttackedCall::new(gcc(), &with);
        call.run(3000, nothing);
        let honest = call.sender.refused_reports().total();
        let at = Some(ArrivalTime::from_millis(7_202_990));
        let mut writer = FeedbackWriter::rfc_8888(RECEIVER, SENDER);
        for ahead in [300, 301] {
            let records = [Record::new(call.newest.wrapping_add(ahead), at)];
            let report = Report::Packets { records: &records, number: 0, at };
            let bytes = written(|room| writer.write(&report, room)).unwrap();
            call.sender.on_rtcp(SendTime::from_millis(3000), &bytes);
        }
        (honest, call.sender.refused_reports().numbers, call.sender.refused_reports().total())
    };
    assert_eq!([refused(None), refused(Some(AudioConfig::default()))], [(0, 2, 2); 2]);
}

#[test]
fn forty_bytes_on_65_535_packets_are_not_expanded() {
    let mut call = AttackedCall::new(gcc(), &config());
    call.run(1000, nothing);
    let mut bomb = vec![0x8F, 205, 0, 9];
    bomb.extend([RECEIVER, SENDER].map(u32::to_be_bytes).concat());
    // From number 0 on 65 535 statuses, in nine runs of up to 8191 that were not received.
    bomb.extend([0, 0, 0xFF, 0xFF, 0, 0, 0, 0]);
    bomb.extend([0x1F, 0xFF].repeat(9));
    bomb.extend([0, 0]);
    assert_eq!(bomb.len(), 40);
    call.sender.on_rtcp(SendTime::from_millis(1000), &bomb.repeat(36));
    assert_eq!(call.sender.refused_reports().counts, 36);
}

#[test]
fn a_breaker_stops_media_and_the_application_resumes_it() {
    let with = MediaConfig { breakers: true, ..config() };
    let mut call = AttackedCall::new(nada(), &with);
    call.run(3000, nothing);
    call.answered = false;
    call.run(16_000, nothing);
    let [Alarm::Stopped(Breaker::RtcpTimeout { silence })] = call.alarms[..] else {
        panic!("{:?}", call.alarms);
    };
    assert!(silence >= TimeDelta::from_secs(15), "{silence}");
    let sent = call.numbers.len();
    call.answered = true;
    call.run(5000, nothing);
    assert_eq!((call.numbers.len(), call.alarms.len()), (sent, 1), "nothing leaves");
    call.sender.resume(SendTime::from_millis(call.ms));
    call.run(20_000, nothing);
    assert!(call.numbers.len() > sent + 500 && call.alarms.len() == 1);
}

#[test]
fn a_frame_each_twenty_seconds_needs_no_answer_in_between() {
    let encoder =
        EncoderConfig { frame_rate: 0.05, min_rate: DataRate::from_bps(400), ..EncoderConfig::papers() };
    let with = MediaConfig { breakers: true, encoder, ..config() };
    let receiver = PacketFeedback::new(TimeDelta::from_millis(50));
    let controller = Fixed(Target::rate(DataRate::from_bps(400)));
    let mut call = AttackedCall::new((Box::new(controller), Box::new(receiver)), &with);
    call.run(130_000, nothing);
    assert_eq!((call.alarms.as_slice(), call.numbers.len()), (&[][..], 7), "a packet each");
    call.answered = false;
    call.run(60_000, nothing);
    assert!(matches!(call.alarms[..], [Alarm::Stopped(Breaker::RtcpTimeout { .. })]), "{:?}", call.alarms);
}

#[test]
fn a_session_raises_an_alarm_when_media_has_stopped() {
    let with = MediaConfig { breakers: true, ..config() };
    let mut session = Session::new();
    let flow = session.add(media_sender(nada().0, &with)).unwrap();
    session.start(SendTime::ZERO, flow);
    let (mut now, mut room, mut stopped) = (SendTime::ZERO, [0; RTCP_ROOM], None);
    while stopped.is_none() {
        match session.poll(now, &mut room) {
            Output::Alarm(of, Alarm::Stopped(why)) => stopped = Some((of, why)),
            Output::Wake(Some(wake)) => now = wake.at,
            Output::Wake(None) => panic!("it waits for nothing"),
            _ => {}
        }
    }
    let silence = TimeDelta::from_secs(15);
    assert_eq!((stopped, now), (Some((flow, Breaker::RtcpTimeout { silence })), SendTime::ZERO + silence));
}

#[test]
fn forged_losses_do_not_trip_a_breaker_that_an_honest_report_denies() {
    let stopped = |loses: bool| {
        let with = MediaConfig { breakers: true, ..config() };
        let mut call = AttackedCall::new(nada(), &with);
        call.run(3000, nothing);
        call.loses = loses;
        call.run(20_000, |ms, newest| {
            let block = ReportBlock {
                ssrc: SENDER,
                fraction_lost: 255,
                highest_sequence: u32::from(newest),
                ..ReportBlock::default()
            };
            let report = || written(|room| ReceiverReport::write(RECEIVER, &[block], room).ok());
            (ms % 20 == 0).then(report).flatten()
        });
        call.alarms.iter().any(|alarm| matches!(alarm, Alarm::Stopped(_)))
    };
    assert!(!stopped(false) && stopped(true));
}

#[test]
fn numbers_are_left_out_where_no_receiver_takes_a_gap_for_a_loss() {
    let with = MediaConfig { leave_out: Some(20), ..config() };
    let gaps = |halves: Halves, config: &MediaConfig| {
        let mut call = AttackedCall::new(halves, config);
        call.run(5000, nothing);
        let gaps = call.numbers.windows(2).filter(|pair| pair[1].wrapping_sub(pair[0]) != 1).count();
        (gaps > 0, call.sender.refused_reports().total(), call.sender.target().media_rate)
    };
    let (left_out, refused, rate) = gaps(gcc(), &with);
    assert!(left_out && refused == 0);
    // To the controller it is as if no number had been skipped.
    assert_eq!(gaps(gcc(), &config()), (false, 0, rate));
    assert!(!gaps(nada(), &with).0, "its receiver half counts losses by these numbers");
    assert!(!gaps(gcc(), &MediaConfig { packet_format: PacketFormat::Rfc8888, ..with }).0);
}

#[test]
fn a_forger_that_claims_skipped_numbers_is_detected_beside_an_honest_receiver() {
    let with = MediaConfig { leave_out: Some(50), ..config() };
    let course = |answered: bool| {
        let mut call = AttackedCall::new(gcc(), &with);
        call.run(3000, nothing);
        let honest = call.sender.target().media_rate.bps_f64() / 1e3;
        call.answered = answered;
        // All numbers up to the newest, skipped ones included, each 50 ms.
        let mut next_claimed = call.newest.wrapping_add(1);
        let lied = call.run(20_000, |ms, newest| {
            let count = newest.wrapping_sub(next_claimed).wrapping_add(1);
            if ms % 50 != 0 || count == 0 || count > 1000 {
                return None;
            }
            let numbers = (0..count).map(|n| next_claimed.wrapping_add(n)).collect::<Vec<_>>();
            next_claimed = newest.wrapping_add(1);
            arrived(RECEIVER, ms + 25, numbers.into_iter())
        });
        (call.alarms.contains(&Alarm::ReceiverLies), honest, lied)
    };
    let (found, _, rate) = course(false);
    assert!(found && rate <= limits().min().bps_f64() / 1e3, "{found}, {rate}");
    let (found, honest, rate) = course(true);
    assert!(!found && rate >= honest, "{found}, {honest}, {rate}");
}

/// Reports that each packet arrived 20 ms before it does. They come more than a round trip after its departure, but
/// before the receiver's own.
fn too_early() -> impl FnMut(i64, u16) -> Option<Vec<u8>> {
    let mut recent: Vec<(i64, u16)> = vec![];
    move |ms, newest| {
        recent.push((ms, newest));
        recent.retain(|(at, _)| *at + 51 > ms);
        let (at, number) = recent[0];
        arrived(RECEIVER, at + 5, core::iter::once(number))
    }
}

#[test]
fn while_reports_contradict_each_other_no_rate_rises() {
    let mut call = AttackedCall::new(gcc(), &config());
    call.run(2000, nothing);
    let before = call.sender.target().media_rate.bps_f64() / 1e3;
    let during = call.run(5000, too_early());
    assert!(call.alarms.contains(&Alarm::ReportsContradict), "{:?}", call.alarms);
    assert!(during <= before, "{during} after {before}");
    let after = call.run(5000, nothing);
    assert!(call.alarms.ends_with(&[Alarm::ReportsAgree]) && after > during, "{after}");
}

#[test]
fn a_doubt_has_no_probe_leave_and_neither_has_its_end_unless_the_maximum_was_raised_meanwhile() {
    let left = |raised_meanwhile: bool| {
        let sent = Arc::new(Mutex::new(vec![]));
        let controller =
            Probing { probes: vec![], on_event: Some(probe(1, 900, 5, 1700)), sent: Arc::clone(&sent) };
        let receiver = PacketFeedback::new(TimeDelta::from_millis(50));
        let mut call = AttackedCall::new((Box::new(controller), Box::new(receiver)), &config());
        call.run(2000, nothing);
        call.run(3000, too_early());
        let disputed =
            |alarms: &[Alarm]| alarms.iter().rfind(|&&alarm| alarm != Alarm::ReportsRefused).copied();
        assert_eq!(disputed(&call.alarms), Some(Alarm::ReportsContradict));
        let most = limits().max().scale(if raised_meanwhile { 2.0 } else { 1.0 });
        let raised = RateLimits::new(limits().min(), limits().start(), most).unwrap();
        if raised_meanwhile {
            call.sender.on_event(SendTime::from_millis(call.ms), PathEvent::Limits(raised));
        }
        call.run(5000, nothing);
        assert_eq!(disputed(&call.alarms), Some(Alarm::ReportsAgree));
        let sent = sent.lock().unwrap();
        let mut left: Vec<u16> = sent.iter().filter_map(|packet| packet.probe.map(ProbeId::get)).collect();
        left.dedup();
        left
    };
    // The first is requested when the doubt begins, the last when it ends.
    assert_eq!(left(false), Vec::<u16>::new());
    assert_eq!(left(true), [2, 3]);
}

#[test]
fn a_ceiling_of_another_source_is_none() {
    let mut call = AttackedCall::new(crate::rig::gcc_2016(), &config());
    let honest = call.run(4000, nothing);
    let forged = call.run(200, |_, _| {
        written(|room| Remb::write(RECEIVER + 1, DataRate::from_kbps(50).bps(), &[SENDER], room).ok())
    });
    assert!(forged >= honest * 0.9, "{forged} after {honest}");
}

#[test]
fn one_arrival_too_early_in_the_first_second_costs_little() {
    let controllers: [fn() -> Halves; 3] = [nada_at_sender, scream_v2, ledbat];
    for (place, controller) in controllers.into_iter().enumerate() {
        let rate = |early: bool| {
            let mut call = AttackedCall::new(controller(), &config());
            // At 200 ms the newest packet has arrived some 250 ms before it left.
            let forge = |ms: i64, newest: u16| {
                (early && ms == 200).then(|| arrived(RECEIVER, ms - 300, core::iter::once(newest)))?
            };
            call.run(1000, forge);
            call.run(14_000, nothing)
        };
        let (honest, attacked) = (rate(false), rate(true));
        assert!(attacked >= 0.9 * honest, "controller {place}: {attacked:.0} of {honest:.0} kbit/s");
    }
}
