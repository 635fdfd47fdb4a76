//! Signs and figures of an explanation, by calls that are made for one of them.

use weir_world::RecordedCall;
use weir_world::recorded::{
    ApplicationLimit, FORMAT_VERSION, FeedbackReport, OptionalInteger, PacketRow, RateRow, RecordedStream,
    RecordingSource,
};

use super::series::CallSeries;
use super::*;

/// Time between two packets, in µs.
const STEP_US: i64 = 10_000;
/// Bytes of each packet: 800 kbit/s.
const BYTES: u32 = 1000;

/// A packet each 10 ms for `seconds`: its delay in ms by its departure in s; −1 for a lost packet, `None` for none.
/// Reports come each 50 ms.
fn made(seconds: i64, delay_ms: impl Fn(f64) -> Option<i64>) -> RecordedCall {
    let mut call = RecordedCall { version: FORMAT_VERSION, ..RecordedCall::default() };
    call.streams.push(RecordedStream::default());
    call.duration_us = seconds * 1_000_000;
    for number in 0..call.duration_us / STEP_US {
        let sent_us = number * STEP_US;
        let Some(delay) = delay_ms(sent_us as f64 / 1e6) else { continue };
        let reported_us = (sent_us + 149_999) / 50_000 * 50_000;
        call.packets.push(PacketRow {
            sequence: number,
            sent_us: OptionalInteger::new(sent_us),
            arrived_us: (delay >= 0).then_some(sent_us + 1000 * delay).into(),
            reported_us: OptionalInteger::new(reported_us),
            payload_bytes: BYTES,
            ..PacketRow::default()
        });
        if call.feedback.time_us.last().is_none_or(|&last| last < reported_us) {
            call.feedback.push(FeedbackReport { time_us: reported_us, packets: 5, lost: 0, missed: 0 });
        }
    }
    call
}

/// `call` with targets in kbit/s by their time in s.
fn with_targets(mut call: RecordedCall, targets: &[(f64, u64)]) -> RecordedCall {
    for &(at, kbps) in targets {
        call.targets.push(RateRow { time_us: (at * 1e6) as i64, bps: 1000 * kbps });
    }
    call
}

fn explained(call: &RecordedCall) -> Explanation {
    call.check().unwrap();
    explain(call).unwrap()
}

#[test]
fn a_queue_is_followed_back_to_its_begin() {
    let queue = |at: f64| match at {
        12.0..14.0 => 280,
        14.0..20.5 => 230,
        30.0..30.5 => 60,
        30.5..31.0 => 90,
        _ => 30,
    };
    let targets = [(0.0, 1000), (20.0, 500), (25.0, 1000), (31.0, 500)];
    let call = with_targets(made(40, |at| Some(queue(at))), &targets);
    let falls = explained(&call).falls;
    let sentences: Vec<&str> = falls.iter().map(|fall| fall.evidence[0].0.as_str()).collect();
    assert_eq!(
        sentences,
        [
            "A queue stood from 12.0 s on, of 250 ms at most, and of 200 ms before the fall.",
            "A queue stood from 30.0 s on and grew to 60 ms."
        ]
    );
    assert_eq!((falls[0].since_us, falls[0].evidence[0].1.first_row), (12_000_000, 1200));
}

#[test]
fn a_queue_of_long_ago_does_not_come_before_a_later_sign() {
    // The bound of a receiver counts three seconds back, as the queue does.
    let queue = |at: f64| if (8.0..20.5).contains(&at) { 80 } else { 30 };
    let mut call = with_targets(made(40, |at| Some(queue(at))), &[(0.0, 1000), (20.0, 500)]);
    call.ceilings.push(RateRow { time_us: 17_000_000, bps: 500_000 });
    assert_eq!(explained(&call).falls[0].cause, Some(FallCause::ReceiverLimit));
}

#[test]
fn a_paused_sender_is_no_lost_feedback() {
    let paused = made(60, |at| (!(15.0..50.0).contains(&at)).then_some(30));
    let found = explained(&paused);
    assert!(!found.falls.is_empty() && found.main_cause.is_none(), "{found}");

    let mut silent = with_targets(made(40, |_| Some(30)), &[(0.0, 1000), (22.0, 500)]);
    let is_silent = |time: i64| (20_000_000..23_000_000).contains(&time);
    for reported in &mut silent.packets.reported_us {
        *reported = reported.get().map(|time| if is_silent(time) { 23_000_000 } else { time }).into();
    }
    let mut kept = weir_world::recorded::FeedbackReports::default();
    silent.feedback.rows().filter(|row| !is_silent(row.time_us)).for_each(|row| kept.push(row));
    silent.feedback = kept;
    assert_eq!(explained(&silent).main_cause, Some(FallCause::FeedbackLost));
}

#[test]
fn a_source_limits_the_rate_only_where_the_record_allows_it() {
    // A third of the packets from 20 s on, under a target that stays.
    let call = with_targets(
        made(40, |at| (at < 20.0 || (at * 100.0).round() as i64 % 3 == 0).then_some(30)),
        &[(0.0, 1000)],
    );
    let cause = |limits: &[(i64, u8)], source: RecordingSource| {
        let mut call = RecordedCall { source, ..call.clone() };
        for &(second, limited) in limits {
            call.application_limits.push(ApplicationLimit { time_us: second * 1_000_000, limited });
        }
        explained(&call).main_cause
    };
    let limited = Some(FallCause::ApplicationLimited);
    assert_eq!(cause(&[], RecordingSource::Weir), limited);
    assert_eq!(cause(&[(19, 0), (21, 1)], RecordingSource::EventLogOfSender), limited);
    assert_eq!(cause(&[(5, 1), (6, 0)], RecordingSource::EventLogOfSender), None);
    assert_eq!(cause(&[], RecordingSource::EventLogOfSender), None);
}

#[test]
fn the_rate_that_arrived_is_that_of_the_arrivals() {
    // What leaves in the sixth second arrives in the eighth one.
    let call = made(12, |at| Some(if (5.0..6.0).contains(&at) { 2030 } else { 30 }));
    let series = CallSeries::of(&call);
    let rates: Vec<f64> =
        (4..9).map(|second| series.arrived_bps(second * 1_000_000, second * 1_000_000 + 999_999)).collect();
    assert_eq!(rates, [800e3, 0.0, 800e3, 1600e3, 800e3]);
}

#[test]
fn unrecorded_quantities_are_not_claimed() {
    // Packets of unknown content tell no pictures apart.
    let mut call = made(20, |_| Some(30));
    let found = explained(&call);
    assert!(found.quality.as_ref().unwrap().freezes.is_none() && !found.to_string().contains("freeze"));
    assert!(!explanation_page("t", &call, &found).contains("<th>freezes"));
    call.packets.arrived_us.fill(OptionalInteger::UNKNOWN);
    call.packets.reported_us.fill(OptionalInteger::UNKNOWN);
    let page = explanation_page("t", &call, &explained(&call));
    assert!(!page.contains("<figure>") && !page.contains("Over time"), "{page}");

    // Freezes by arrivals are not those of the decoder.
    let mut video = made(20, |at| (!(10.0..11.0).contains(&at)).then_some(30));
    video.streams[0].kind = weir_world::recorded::StreamKind::Video;
    for (row, timestamp) in video.packets.timestamp.iter_mut().enumerate() {
        *timestamp = row as u32 / 3;
    }
    for row in 0..video.packets.len() {
        video.packets.sequence[row] = row as i64;
    }
    let found = explained(&video);
    assert!(found.to_string().contains("1 freeze, 1.0 s together, by arrivals of whole pictures"), "{found}");
    let frame = weir_world::recorded::DecodedFrame { time_us: 1_000_000, ..Default::default() };
    video.decoded_frames.push(frame);
    assert!(!explained(&video).to_string().contains("by arrivals"));
}

#[test]
fn a_stamped_recording_of_the_receiver_has_its_loss_by_gaps() {
    let whole = made(20, |_| Some(0));
    let mut call = RecordedCall {
        source: RecordingSource::EventLogOfReceiver,
        packets: weir_world::recorded::Packets::default(),
        ..whole.clone()
    };
    let kept = whole.packets.rows().filter(|row| row.sequence % 10 != 5);
    kept.for_each(|row| call.packets.push(PacketRow { reported_us: OptionalInteger::UNKNOWN, ..row }));
    let found = explained(&call);
    assert!((found.quality.unwrap().lost_share.unwrap() - 0.1).abs() < 1e-9);
    assert!(CallSeries::of(&call).bins[8].lost > 1);
}

#[test]
fn a_pause_after_a_loss_hides_no_full_queue() {
    // A queue of 100 ms for half of the packets, with a loss in it; then a long pause.
    let call = made(101, |at| match at {
        4.995..5.075 => Some(-1),
        3.0..8.0 => Some(130),
        10.0..100.0 => None,
        _ => Some(30),
    });
    let series = CallSeries::of(&call);
    assert_eq!(series.lost.len(), 8);
    assert!(series.met_a_full_queue(&call, &series.lost));
}
