//! Per-packet reports and stamps through the bytes of the wire.

use std::sync::{Arc, Mutex};

use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{
    AllocatedRate, Arrival, ArrivalTime, Controller, Decision, Ecn, Feedback, LimitingFactor, Pacing,
    PacketFate, PathEvent, Receiver, Report, SendState, SendTime, Stamp, Target,
};
use weir_media::{AudioConfig, MediaConfig, PacketFormat};
use weir_units::{DataRate, TimeDelta};
use weir_wire::MediaHeader;
use weir_wire::rtcp::{self, Message, PacketStatus};

use crate::rig::{Call, Event, PROPAGATION, RTCP_ROOM, SENDER, config, media_receiver};

/// Feedback of a report as a controller received it: the fates by packet number, and the rest.
#[derive(Clone, Debug)]
struct RtcpOutcome {
    fates: Vec<(u64, PacketFate)>,
    at: Option<ArrivalTime>,
    rtt: Option<TimeDelta>,
    missed_reports: u8,
}

/// A controller with a constant target that records its feedback.
#[derive(Debug)]
struct Listener {
    target: Target,
    stamp: Option<Stamp>,
    outcomes: Arc<Mutex<Vec<RtcpOutcome>>>,
}

impl Listener {
    fn new(stamp: Option<Stamp>) -> (Self, Arc<Mutex<Vec<RtcpOutcome>>>) {
        let rate = DataRate::from_mbps(2);
        let target = Target::at(rate, Pacing::Exact(rate.scale(1.5)), LimitingFactor::RampUp);
        let outcomes = Arc::default();
        (Self { target, stamp, outcomes: Arc::clone(&outcomes) }, outcomes)
    }
}

impl Controller for Listener {
    fn on_feedback(&mut self, _: SendTime, feedback: &Feedback<'_>, _: &SendState) -> Option<Decision> {
        if let Feedback::Packets { results, at, rtt, missed_reports } = *feedback {
            let fates = results.iter().map(|result| (result.sent.id, result.fate)).collect();
            self.outcomes.lock().unwrap().push(RtcpOutcome { fates, at, rtt, missed_reports });
        }
        None
    }

    fn on_event(&mut self, _: SendTime, _: PathEvent) -> Option<Decision> {
        None
    }

    fn target(&self) -> Target {
        self.target
    }

    fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    fn apply_allocation(&mut self, _: SendTime, share: AllocatedRate) -> DataRate {
        share.rate
    }
}

/// A receiver half that reports per packet and records the stamps of packets.
#[derive(Debug)]
struct Seeing {
    feedback: PacketFeedback,
    stamps: Arc<Mutex<Vec<Stamp>>>,
}

impl Receiver for Seeing {
    fn on_route_changed(&mut self) {}

    fn on_arrival(&mut self, packet: &Arrival) {
        self.stamps.lock().unwrap().push(packet.stamp);
        self.feedback.on_arrival(packet);
    }

    fn next_timeout(&self) -> Option<ArrivalTime> {
        self.feedback.next_timeout()
    }

    fn poll_report(&mut self, now: ArrivalTime) -> Option<Report<'_>> {
        self.feedback.poll_report(now)
    }
}

const INTERVAL: TimeDelta = TimeDelta::from_millis(100);

/// A call at 2 Mbit/s in small packets over a path without a queue.
fn call(format: PacketFormat) -> (Call, Arc<Mutex<Vec<RtcpOutcome>>>) {
    call_of(&MediaConfig { payload_limit: 240, packet_format: format, ..config() })
}

/// The same, with this configuration.
fn call_of(config: &MediaConfig) -> (Call, Arc<Mutex<Vec<RtcpOutcome>>>) {
    let (listener, outcomes) = Listener::new(None);
    let halves = (Box::new(listener) as _, Box::new(PacketFeedback::new(INTERVAL)) as _);
    (Call::new(halves, config, DataRate::from_mbps(100)), outcomes)
}

/// Some 73 000 packets: their numbers wrap.
const LONG: TimeDelta = TimeDelta::from_secs(70);

/// Arrival time of each packet by its number, if it arrived, on the receiver's clock.
fn arrivals(call: &Call) -> Vec<Option<ArrivalTime>> {
    let mut arrivals = vec![None; call.packets as usize];
    let mut newest = 0_u64;
    for (at, event) in &call.events {
        if let Event::Media(packet) = event {
            let ahead = packet.header.transport_sequence.wrapping_sub(newest as u16);
            newest += u64::from(ahead);
            arrivals[newest as usize] = Some(*at);
        }
    }
    arrivals
}

/// Asserts that each reported fate is the true one, and is reported once. Times are off by no more than `resolution`,
/// all by about the same.
fn fates_are_right(call: &Call, outcomes: &[RtcpOutcome], resolution: TimeDelta) {
    let arrivals = arrivals(call);
    let mut next = 0;
    let mut lost = 0;
    let (mut earliest, mut latest) = (TimeDelta::MAX, -TimeDelta::MAX);
    for &(id, fate) in outcomes.iter().flat_map(|outcome| &outcome.fates) {
        assert_eq!(id, next, "packets come in order and none is left out");
        next += 1;
        match (fate, arrivals[id as usize]) {
            (PacketFate::Arrived { at: Some(at), .. }, Some(arrived)) => {
                earliest = earliest.min(at - arrived);
                latest = latest.max(at - arrived);
            }
            (PacketFate::Missing, None) => lost += 1,
            other => panic!("packet {id}: {other:?}"),
        }
    }
    assert!(next > 1 << 16 && next + 200 > call.packets, "{next} of {} packets", call.packets);
    assert!(lost > next / 25, "{lost} of {next} packets lost");
    assert!(latest - earliest <= resolution, "times are off by {earliest:?} to {latest:?}");
}

/// Numbers of the receiver's messages by format.
fn message_counts(call: &Call) -> (usize, usize) {
    let (mut transport_wide, mut rfc_8888) = (0, 0);
    for (_, event) in &call.events {
        let Event::ReceiverRtcp(bytes, _) = event else { continue };
        match rtcp::messages(bytes).next().unwrap().unwrap() {
            Message::Twcc(_) => transport_wide += 1,
            Message::Ccfb(_) => rfc_8888 += 1,
            Message::ReceiverReport(_) => {}
            other => panic!("{other:?}"),
        }
    }
    (transport_wide, rfc_8888)
}

#[test]
fn the_controller_gets_the_fates_of_transport_wide_feedback() {
    let (mut call, outcomes) = call(PacketFormat::TransportWide);
    call.media_loss = 20;
    call.run(LONG);
    let outcomes = outcomes.lock().unwrap();
    assert_eq!(message_counts(&call), (outcomes.len(), 0));
    assert!(outcomes.len() >= 690, "{} reports", outcomes.len());
    fates_are_right(&call, &outcomes, TimeDelta::from_micros(250));
    assert!(outcomes.iter().all(|outcome| outcome.missed_reports == 0));
    for outcomes in outcomes.iter() {
        assert!(outcomes.at.is_none(), "the format has no such field");
        let waited = outcomes.rtt.expect("the newest packet's, with its wait") - PROPAGATION * 2;
        assert!(!waited.is_negative() && waited <= TimeDelta::from_millis(50), "waited {waited:?}");
    }
}

#[test]
fn the_controller_gets_fates_and_round_trip_time_from_rfc_8888() {
    let (mut call, outcomes) = call(PacketFormat::Rfc8888);
    call.media_loss = 20;
    call.run(LONG);
    let outcomes = outcomes.lock().unwrap();
    assert_eq!(message_counts(&call), (0, outcomes.len()));
    fates_are_right(&call, &outcomes, TimeDelta::from_micros(993));
    for outcomes in outcomes.iter() {
        assert_eq!(outcomes.missed_reports, 0);
        let error = outcomes.rtt.expect("the format tells when the report was made") - PROPAGATION * 2;
        assert!(error.abs() <= TimeDelta::from_micros(1100), "off by {error:?}");
        assert!(outcomes.at.is_some());
    }
}

/// Audio and video have numbers of their own on the wire; the controller gets each packet by the history's number.
#[test]
fn the_controller_gets_the_fates_of_audio_and_video_in_both_formats() {
    for packet_format in [PacketFormat::TransportWide, PacketFormat::Rfc8888] {
        let audio = Some(AudioConfig { interval: TimeDelta::from_millis(5), ..AudioConfig::default() });
        let (mut call, outcomes) =
            call_of(&MediaConfig { audio, payload_limit: 240, packet_format, ..config() });
        call.media_loss = 20;
        call.run(LONG);
        let arrivals = arrivals(&call);
        let mut reported = vec![false; arrivals.len()];
        for &(id, fate) in outcomes.lock().unwrap().iter().flat_map(|outcome| &outcome.fates) {
            assert!(!std::mem::replace(&mut reported[id as usize], true), "{packet_format:?}: {id} twice");
            assert_eq!(matches!(fate, PacketFate::Arrived { .. }), arrivals[id as usize].is_some(), "{id}");
        }
        let open =
            reported.iter().rposition(|reported| *reported).map_or(0, |last| reported.len() - 1 - last);
        let unreported = reported.iter().filter(|reported| !**reported).count() - open;
        // A stream's last packets may still be lost unnoticed; the fate of all others is known.
        assert!(open < 200 && unreported <= 2, "{packet_format:?}: {open}, {unreported}");
        let streams = call.events.iter().filter_map(|(_, event)| match event {
            Event::Media(packet) => Some((packet.header.ssrc, packet.audio)),
            _ => None,
        });
        let of_audio = streams.filter(|&(ssrc, audio)| (ssrc != 1) == audio && audio).count();
        // 200 a second, with a loss of one in 20.
        assert!((12_000..14_000).contains(&of_audio), "{of_audio}");
    }
}

#[test]
fn lost_reports_are_counted_where_the_format_numbers_them() {
    for (format, numbered) in [(PacketFormat::TransportWide, true), (PacketFormat::Rfc8888, false)] {
        let (mut call, outcomes) = call(format);
        call.reports_kept = 4;
        call.run(TimeDelta::from_secs(20));
        let outcomes = outcomes.lock().unwrap();
        // Each fourth RTCP packet arrives; each second has one receiver report.
        assert!(outcomes.len() >= 45, "{} reports", outcomes.len());
        let missed: usize = outcomes.iter().map(|outcome| usize::from(outcome.missed_reports)).sum();
        if numbered {
            // Reports before the first and after the last that arrived are unknown.
            let unknown = message_counts(&call).0 - outcomes.len() - missed;
            assert!(unknown <= 10, "{unknown} reports unaccounted for");
        } else {
            assert_eq!(missed, 0);
        }
    }
}

#[test]
fn the_receiver_sees_the_stamp_that_the_controller_gives() {
    let kbps = DataRate::from_kbps;
    for (rate, header_len) in [(DataRate::ZERO, 28), (kbps(1234), 32), (DataRate::from_mbps(5000), 32)] {
        let stamp = Stamp { rtt: TimeDelta::from_micros(12_300), rate };
        let (listener, _) = Listener::new(Some(stamp));
        let stamps = Arc::default();
        let seeing = Seeing { feedback: PacketFeedback::new(INTERVAL), stamps: Arc::clone(&stamps) };
        let mut call = Call::new((Box::new(listener), Box::new(seeing)), &config(), DataRate::from_mbps(100));
        call.run(TimeDelta::from_secs(1));
        let stamps = stamps.lock().unwrap();
        // 32 bits hold no more.
        let expected = Stamp { rate: rate.min(DataRate::from_bps(u64::from(u32::MAX))), ..stamp };
        assert!(stamps.len() > 100 && stamps.iter().all(|seen| *seen == expected), "{expected:?}");
        let lengths = call.events.iter().filter_map(|(_, event)| match event {
            Event::Media(packet) => Some(packet.header.wire_len()),
            _ => None,
        });
        assert!(lengths.into_iter().all(|length| length == header_len));
    }
}

#[test]
fn the_first_packets_may_come_in_another_order_where_numbers_wrap() {
    let feedback = PacketFeedback::new(TimeDelta::from_millis(50));
    let mut receiver = media_receiver(Box::new(feedback), &config());
    for (at, number) in (0..).zip([0, 65_535, 1, 2, 3]) {
        let header = MediaHeader {
            ssrc: SENDER,
            sequence: number,
            transport_sequence: number,
            ..MediaHeader::default()
        };
        receiver.on_packet(ArrivalTime::from_millis(at), &header, 1000, Ecn::NotEct);
    }
    let mut out = [0; RTCP_ROOM];
    let length = receiver.poll_rtcp(ArrivalTime::from_millis(60), &mut out).unwrap();
    let Some(Ok(Message::Twcc(reported))) = rtcp::messages(&out[..length]).next() else { panic!("feedback") };
    let arrived = |(number, reception): (u16, PacketStatus)| (number, reception != PacketStatus::Missing);
    let statuses: Vec<_> = reported.statuses().map(arrived).collect();
    assert_eq!(statuses, [65_535, 0, 1, 2, 3].map(|number| (number, true)));
}
