//! The picture that the viewer got: rate, delay, freezes.

use std::collections::BTreeMap;

use weir_world::RecordedCall;
use weir_world::recorded::{ArrivalClock, StreamKind};

use super::series::{CallBin, CallSeries, delay_us, is_video};
use super::{CallFreezes, CallQuality, Citation, Freeze};

/// A gap between two pictures is a freeze from this much above the mean gap on, in µs (W3C webrtc-stats, `freezeCount`).
const FREEZE_ABOVE_US: i64 = 150_000;
/// Gaps whose mean counts.
const GAPS: usize = 30;
/// Pictures of which no packet arrived later than this count as lost.
const OPEN_PICTURES: usize = 600;

/// A picture by its packets.
#[derive(Clone, Copy, Debug)]
struct PictureArrival {
    first_sent_us: Option<i64>,
    last_arrived_us: Option<i64>,
    /// Packets that did not arrive, or that the recording does not have.
    missing: u32,
    last_row: u32,
}

impl PictureArrival {
    /// Whether all of its packets arrived, or as many retransmissions as were missing.
    const fn is_whole(&self) -> bool {
        self.missing == 0
    }
}

pub(super) fn quality(call: &RecordedCall, series: &CallSeries) -> CallQuality {
    let pictures = pictures(call);
    let whole: Vec<&PictureArrival> = pictures.iter().filter(|picture| picture.is_whole()).collect();
    let mut complete: Vec<(i64, u32)> =
        whole.iter().filter_map(|picture| Some((picture.last_arrived_us?, picture.last_row))).collect();
    complete.sort_unstable();
    let offset = offset_us(call, series.skew);
    let knows_pictures = series.knows_arrivals && !pictures.is_empty();
    // A log of the receiver has the pictures that it decoded.
    let of_the_decoder = !call.decoded_frames.is_empty();
    let freezes = if of_the_decoder {
        let decoded = call.decoded_frames.time_us.iter().enumerate().map(|(row, &time)| (time, row as u32));
        freezes("decoded_frames", &decoded.collect::<Vec<_>>(), 0)
    } else {
        freezes("packets", &complete, offset)
    };
    let freezes = CallFreezes { found: freezes, of_the_decoder };
    let mut delays: Vec<i64> = whole
        .iter()
        .filter_map(|picture| Some((picture.first_sent_us?, picture.last_arrived_us?)))
        .map(|(sent, arrived)| arrived - sent - (series.skew * sent as f64) as i64 - offset)
        .collect();
    delays.sort_unstable();
    let quantile = |share: f64| {
        let place = (delays.len() as f64 * share) as usize;
        delays.get(place.min(delays.len().saturating_sub(1))).map(|&us| us as f64 / 1e3)
    };
    CallQuality {
        sent_bps: call.has_departures().then(|| series.sent_bps(0, call.duration_us)),
        received_bps: series.knows_arrivals.then(|| series.arrived_bps(0, call.duration_us)),
        pictures_per_second: knows_pictures
            .then(|| complete.len() as f64 * 1e6 / call.duration_us.max(1) as f64),
        freezes: (of_the_decoder || knows_pictures).then_some(freezes),
        picture_delay_p50_ms: quantile(0.5),
        picture_delay_p95_ms: quantile(0.95),
        lost_share: lost_share(call, series),
    }
}

/// Loss by arrivals, or by gaps of the numbers in a recording of the receiver; without arrivals by receiver reports.
fn lost_share(call: &RecordedCall, series: &CallSeries) -> Option<f64> {
    let sum = |of: fn(&CallBin) -> u32| series.bins.iter().map(|bin| u64::from(of(bin))).sum::<u64>();
    let packets = sum(|bin| bin.packets);
    // Receiver reports may count more than the recording has.
    let share = |lost: u64| (lost as f64 / packets.max(1) as f64).min(1.0);
    if series.knows_arrivals {
        return Some(share(sum(|bin| bin.lost)));
    }
    let mut last: BTreeMap<u16, i32> = BTreeMap::new();
    last.extend(call.receiver_reports.rows().map(|report| (report.stream, report.cumulative_lost)));
    let lost: u64 = last.values().map(|&lost| u64::from(lost.max(0).unsigned_abs())).sum();
    (!last.is_empty()).then(|| share(lost))
}

/// The offset of the receiver's clock and the least delay: delays count above it where the clocks differ.
fn offset_us(call: &RecordedCall, skew: f64) -> i64 {
    if call.arrival_clock == ArrivalClock::Common {
        return 0;
    }
    call.packets.rows().filter_map(|packet| delay_us(&packet, skew)).min().unwrap_or(0)
}

/// Pictures in order of their first packet: packets of a video stream with one RTP timestamp. A retransmission has the timestamp of
/// the packet that it repairs (RFC 4588 §4).
fn pictures(call: &RecordedCall) -> Vec<PictureArrival> {
    let mut open: BTreeMap<(u16, u32), (usize, i64)> = BTreeMap::new();
    let mut by_timestamp: BTreeMap<u32, usize> = BTreeMap::new();
    let mut found: Vec<PictureArrival> = Vec::new();
    for (row, packet) in call.packets.rows().enumerate() {
        let kind = call.streams.get(usize::from(packet.stream)).map(|stream| stream.kind);
        if kind == Some(StreamKind::Retransmission) {
            let place = by_timestamp.get(&packet.timestamp).filter(|_| packet.arrived_us.is_known());
            if let Some(picture) = place.map(|&place| &mut found[place])
                && picture.missing > 0
            {
                picture.missing -= 1;
                picture.last_arrived_us = picture.last_arrived_us.max(packet.arrived_us.get());
                picture.last_row = row as u32;
            }
            continue;
        }
        if !is_video(call, packet.stream) || packet.payload_bytes == 0 {
            continue;
        }
        let key = (packet.stream, packet.timestamp);
        let (place, newest) = *open.entry(key).or_insert_with(|| {
            found.push(PictureArrival {
                first_sent_us: packet.sent_us.get(),
                last_arrived_us: None,
                missing: 0,
                last_row: row as u32,
            });
            (found.len() - 1, packet.sequence.saturating_sub(1))
        });
        by_timestamp.insert(packet.timestamp, place);
        let picture = &mut found[place];
        // A hole in the numbers is a packet that the recording does not have.
        let hole = packet.sequence.saturating_sub(newest).saturating_sub(1).clamp(0, 1000) as u32;
        picture.missing += hole + u32::from(!packet.arrived_us.is_known());
        picture.last_arrived_us = picture.last_arrived_us.max(packet.arrived_us.get());
        picture.last_row = row as u32;
        open.insert(key, (place, packet.sequence.max(newest)));
        if open.len() > OPEN_PICTURES {
            open.clear();
            by_timestamp.clear();
        }
    }
    found
}

fn freezes(table: &str, complete: &[(i64, u32)], offset_us: i64) -> Vec<Freeze> {
    let mut found = Vec::new();
    let mut gaps: std::collections::VecDeque<i64> = std::collections::VecDeque::new();
    for pair in complete.windows(2) {
        let gap = pair[1].0 - pair[0].0;
        let mean = gaps.iter().sum::<i64>() / gaps.len().max(1) as i64;
        if !gaps.is_empty() && gap > (3 * mean).max(mean + FREEZE_ABOVE_US) {
            found.push(Freeze {
                from_us: pair[0].0 - offset_us,
                length_us: gap,
                cites: Citation::rows(table, pair[0].1 as usize, pair[1].1 as usize),
            });
        }
        gaps.push_back(gap);
        if gaps.len() > GAPS {
            gaps.pop_front();
        }
    }
    found
}
