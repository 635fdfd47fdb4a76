//! The picture that the viewer got: rate, delay, freezes.

use std::collections::BTreeMap;

use weir_world::RecordedCall;

use super::series::{CallSeries, is_video};
use super::{CallQuality, Citation, Freeze};

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
    whole: bool,
    last_row: u32,
}

pub(super) fn quality(call: &RecordedCall, series: &CallSeries) -> CallQuality {
    let pictures = pictures(call);
    let whole: Vec<&PictureArrival> = pictures.iter().filter(|picture| picture.whole).collect();
    let mut complete: Vec<(i64, u32)> =
        whole.iter().filter_map(|picture| Some((picture.last_arrived_us?, picture.last_row))).collect();
    complete.sort_unstable();
    let offset = offset_us(call);
    let freezes = freezes(&complete, offset);
    let mut delays: Vec<i64> = whole
        .iter()
        .filter_map(|picture| Some(picture.last_arrived_us? - picture.first_sent_us?))
        .map(|delay| delay - offset)
        .collect();
    delays.sort_unstable();
    let quantile = |share: f64| {
        let place = (delays.len() as f64 * share) as usize;
        delays.get(place.min(delays.len().saturating_sub(1))).map(|&us| us as f64 / 1e3)
    };
    let packets: u32 = series.bins.iter().map(|bin| bin.packets).sum();
    CallQuality {
        received_bps: series.arrived_bps(0, call.duration_us),
        pictures_per_second: (!pictures.is_empty())
            .then(|| complete.len() as f64 * 1e6 / call.duration_us.max(1) as f64),
        freezes,
        picture_delay_p50_ms: quantile(0.5),
        picture_delay_p95_ms: quantile(0.95),
        lost_share: series.lost.len() as f64 / f64::from(packets.max(1)),
    }
}

/// The offset of the receiver's clock and the least delay: delays count above it where the clocks differ.
fn offset_us(call: &RecordedCall) -> i64 {
    use weir_world::recorded::ArrivalClock;
    if call.arrival_clock == ArrivalClock::Common {
        return 0;
    }
    let delays =
        call.packets.rows().filter_map(|packet| Some(packet.arrived_us.get()? - packet.sent_us.get()?));
    delays.min().unwrap_or(0)
}

/// Pictures in order of their first packet: packets of a video stream with one RTP timestamp.
fn pictures(call: &RecordedCall) -> Vec<PictureArrival> {
    let mut open: BTreeMap<(u16, u32), (usize, i64)> = BTreeMap::new();
    let mut found: Vec<PictureArrival> = Vec::new();
    for (row, packet) in call.packets.rows().enumerate() {
        if !is_video(call, packet.stream) || packet.payload_bytes == 0 {
            continue;
        }
        let key = (packet.stream, packet.timestamp);
        let (place, newest) = *open.entry(key).or_insert_with(|| {
            found.push(PictureArrival {
                first_sent_us: packet.sent_us.get(),
                last_arrived_us: None,
                whole: true,
                last_row: row as u32,
            });
            (found.len() - 1, packet.sequence - 1)
        });
        let picture = &mut found[place];
        // A hole in the numbers is a packet that the recording does not have.
        let follows = packet.sequence == newest + 1;
        picture.whole &= packet.arrived_us.is_known() && follows;
        picture.last_arrived_us = picture.last_arrived_us.max(packet.arrived_us.get());
        picture.last_row = row as u32;
        open.insert(key, (place, packet.sequence));
        if open.len() > OPEN_PICTURES {
            open.clear();
        }
    }
    found
}

fn freezes(complete: &[(i64, u32)], offset_us: i64) -> Vec<Freeze> {
    let mut found = Vec::new();
    let mut gaps: std::collections::VecDeque<i64> = std::collections::VecDeque::new();
    for pair in complete.windows(2) {
        let gap = pair[1].0 - pair[0].0;
        let mean = gaps.iter().sum::<i64>() / gaps.len().max(1) as i64;
        if !gaps.is_empty() && gap > (3 * mean).max(mean + FREEZE_ABOVE_US) {
            found.push(Freeze {
                from_us: pair[0].0 - offset_us,
                length_us: gap,
                cites: Citation::rows("packets", pair[0].1 as usize, pair[1].1 as usize),
            });
        }
        gaps.push_back(gap);
        if gaps.len() > GAPS {
            gaps.pop_front();
        }
    }
    found
}
