//! The encoder's target of the `chromium` sender, in an open loop: fed with the estimates, packets and resolutions of recorded
//! calls, it is compared with the target that the browser's statistics have.

use std::collections::HashSet;

use weir_cc::SendTime;
use weir_import::calls::{CallOptions, event_log};
use weir_media::chromium::{EncoderTarget, EncoderTargetParts};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_world::RecordedCall;
use weir_world::recorded::{PacketRow, StreamKind};

/// Largest packet of Chromium's video with UDP and IP headers.
const PACKET: DataSize = DataSize::from_bytes(1228);
/// RTP header with two extensions, UDP and IP.
const HEADERS: DataSize = DataSize::from_bytes(24 + 28);
/// VP8's payload descriptor with a picture number of 15 bits, an index of the base layer and a temporal layer (RFC 7741 §4.2).
const DESCRIPTOR: u32 = 6;
/// Highest rate of the calls.
const MOST: DataRate = DataRate::from_kbps(2900);
/// Frames per second of the camera.
const FRAME_RATE: f64 = 30.0;
/// Time within which libwebrtc computes the target again.
const REFRESH: TimeDelta = TimeDelta::from_secs(1);
/// Samples before this time, 10 s after the begin of the schedule, do not count.
const SAMPLED_FROM: SendTime = SendTime::from_millis(11_000);
/// The constant that stands for the adjuster in comparison: the median of what it divides by.
const CONSTANT: f64 = 1.08;

/// A sample of the browser's statistics.
#[derive(Clone, Copy, Debug)]
struct StatsSample {
    at: SendTime,
    target: f64,
    width: u32,
}

/// An input of the sender.
#[derive(Clone, Copy, Debug)]
enum SenderInput {
    Estimate(DataRate),
    Feedback,
    Frame(DataSize),
    Media(DataSize),
    Protection(DataSize),
    LayoutChange,
    Sample(f64),
}

/// A call as inputs in order of time, which counts from a second before the begin of the link's schedule.
/// `first_estimate_us` is the time of the first estimate after that begin.
fn inputs(name: &str, first_estimate_us: i64) -> Vec<(SendTime, SenderInput)> {
    let path = format!("{}/../../data/calls/{name}", env!("CARGO_MANIFEST_DIR"));
    let log = std::fs::read(format!("{path}.rtclog")).unwrap();
    let call = event_log::read(&log[..], &CallOptions::default()).unwrap();
    let zero = call.loss_estimates.time_us[0] - first_estimate_us;
    let at = |us: i64| SendTime::from_nanos((us - zero + 1_000_000) * 1000);
    let mut inputs = Vec::new();
    for row in 0..call.loss_estimates.len() {
        let bps = DataRate::from_bps(call.loss_estimates.bps[row]);
        inputs.push((at(call.loss_estimates.time_us[row]), SenderInput::Estimate(bps)));
    }
    inputs.extend(call.feedback.time_us.iter().map(|&us| (at(us), SenderInput::Feedback)));
    let frames = frames(&call);
    inputs.extend(frames.iter().map(|&(us, size)| (at(us), SenderInput::Frame(size))));
    inputs.extend(packets(&call).map(|(us, packet)| (at(us), packet)));
    let samples = samples(&std::fs::read_to_string(format!("{path}-stats.csv")).unwrap());
    for pair in samples.windows(2) {
        if pair[0].width != pair[1].width && pair[0].width > 0 {
            // The first frame of a size is a key frame, the largest of its second.
            let within = frames.iter().filter(|(us, _)| (pair[0].at..pair[1].at).contains(&at(*us)));
            let key = within.max_by_key(|(_, size)| *size).unwrap();
            inputs.push((at(key.0), SenderInput::LayoutChange));
        }
    }
    inputs.extend(samples.iter().map(|sample| (sample.at, SenderInput::Sample(sample.target))));
    inputs.sort_by_key(|(at, input)| (*at, !matches!(input, SenderInput::LayoutChange)));
    inputs
}

/// Whether each packet of `call` is redundant (RFC 5109): of the video's stream, after the last packet of its frame.
fn redundant(call: &RecordedCall) -> Vec<bool> {
    let mut ended = HashSet::new();
    let is_redundant = |packet: PacketRow| {
        if call.streams[usize::from(packet.stream)].kind != StreamKind::Video || packet.payload_bytes == 0 {
            return false;
        }
        let redundant = ended.contains(&packet.timestamp);
        if packet.marker == 1 {
            ended.insert(packet.timestamp);
        }
        redundant
    };
    call.packets.rows().map(is_redundant).collect()
}

/// The packets of the video, redundant ones and retransmissions of `call`, with their departures in µs.
fn packets(call: &RecordedCall) -> impl Iterator<Item = (i64, SenderInput)> + '_ {
    call.packets.rows().zip(redundant(call)).filter_map(|(packet, redundant)| {
        let size = DataSize::from_bytes(u64::from(packet.rtp_bytes()));
        let input = match call.streams[usize::from(packet.stream)].kind {
            StreamKind::Video if redundant => SenderInput::Protection(size),
            StreamKind::Video => SenderInput::Media(size),
            StreamKind::Retransmission if packet.payload_bytes > 0 => SenderInput::Protection(size),
            _ => return None,
        };
        Some((packet.sent_us.get()?, input))
    })
}

/// Time and size of each frame, as the encoder made it: at its RTP timestamp, later by the least wait for the departure.
fn frames(call: &RecordedCall) -> Vec<(i64, DataSize)> {
    let mut frames: Vec<(i64, u32, u64)> = Vec::new();
    for (packet, redundant) in call.packets.rows().zip(redundant(call)) {
        let Some(sent) = packet.sent_us.get() else { continue };
        let video = call.streams[usize::from(packet.stream)].kind == StreamKind::Video;
        if !video || redundant || packet.payload_bytes == 0 {
            continue;
        }
        let media = u64::from(packet.payload_bytes.saturating_sub(DESCRIPTOR));
        match frames.last_mut() {
            Some(frame) if frame.1 == packet.timestamp => frame.2 += media,
            _ => frames.push((sent, packet.timestamp, media)),
        }
    }
    let first = frames[0].1;
    let recorded = |timestamp: u32| i64::from(timestamp.wrapping_sub(first)) * 100 / 9;
    let wait = frames.iter().map(|&(sent, timestamp, _)| sent - recorded(timestamp)).min().unwrap();
    let at_encoder = |(_, timestamp, bytes)| (recorded(timestamp) + wait, DataSize::from_bytes(bytes));
    frames.into_iter().map(at_encoder).collect()
}

/// The samples of the browser's statistics in a CSV file.
fn samples(csv: &str) -> Vec<StatsSample> {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let column = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let (time, target, width) = (column("t_s"), column("A.out.targetBitrate"), column("A.out.frameWidth"));
    let sample = |line: Vec<&str>| {
        Some(StatsSample {
            at: SendTime::from_millis((line[time].parse::<f64>().ok()? * 1000.0) as i64 + 1000),
            target: line[target].parse().ok()?,
            width: line[width].parse().ok()?,
        })
    };
    lines.filter_map(sample).collect()
}

/// Share of the samples, in per cent, in which the computed target divided by `constant` is within 5 % of the browser's.
fn share_within(inputs: &[(SendTime, SenderInput)], parts: EncoderTargetParts, constant: f64) -> f64 {
    let mut sender = EncoderTarget::new(parts, PACKET, HEADERS);
    let (mut estimate, mut target, mut computed) = (None, DataRate::ZERO, SendTime::ZERO);
    let (mut within, mut samples) = (0, 0);
    for &(now, input) in inputs {
        let mut compute = false;
        match input {
            SenderInput::Estimate(rate) => (estimate, compute) = (Some(rate), true),
            SenderInput::Feedback => compute = true,
            SenderInput::Frame(size) => {
                compute = now - computed >= REFRESH;
                sender.on_frame(now, size);
            }
            SenderInput::Media(size) => sender.on_media(now, size, u64::from(DESCRIPTOR)),
            SenderInput::Protection(size) => sender.on_protection(now, size),
            SenderInput::LayoutChange => {
                sender.on_layout_change();
                compute = true;
            }
            SenderInput::Sample(browser) if now >= SAMPLED_FROM => {
                let ratio = target.bps_f64() / constant / browser;
                samples += 1;
                within += u32::from((ratio - 1.0).abs() <= 0.05);
            }
            SenderInput::Sample(_) => {}
        }
        if let Some(rate) = estimate.filter(|_| compute) {
            (target, computed) = (sender.compute(now, rate, MOST, FRAME_RATE), now);
        }
    }
    100.0 * f64::from(within) / f64::from(samples)
}

/// Shares of all parts, of all but one, and of the constant in place of the adjuster.
fn shares(inputs: &[(SendTime, SenderInput)]) -> [(&'static str, f64); 6] {
    let all = EncoderTargetParts::ALL;
    let cases = [
        ("all", all, 1.0),
        ("without headers", EncoderTargetParts { headers: false, ..all }, 1.0),
        ("without adjuster", EncoderTargetParts { adjuster: false, ..all }, 1.0),
        ("without protection", EncoderTargetParts { protection: false, ..all }, 1.0),
        ("constant", EncoderTargetParts { adjuster: false, ..all }, CONSTANT),
        ("none", EncoderTargetParts::NONE, 1.0),
    ];
    cases.map(|(name, parts, constant)| (name, share_within(inputs, parts, constant)))
}

fn check(name: &str, first_estimate_us: i64, least: f64) {
    let shares = shares(&inputs(name, first_estimate_us));
    println!("{name}: {shares:.1?}");
    let [(_, all), without @ ..] = shares;
    assert!(all >= least, "{name}: {all:.1} % of the samples within 5 %");
    for (part, share) in without {
        assert!(share < all, "{name}, {part}: {share:.1} %, all parts {all:.1} %");
    }
}

#[test]
fn the_encoders_target_is_the_browsers_on_a_link_with_steps() {
    check("c1-steps", -18_422, 85.0);
    check("c3-steps", 120_999, 85.0);
}

#[test]
fn the_encoders_target_is_the_browsers_beside_cubic() {
    check("c2-beside-cubic", -52_316, 85.0);
    check("c4-beside-cubic", 111_999, 65.0);
}
