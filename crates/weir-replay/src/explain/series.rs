//! Series that an explanation rests on: queuing delay, loss and rates of a call, from its packets.

use weir_world::RecordedCall;
use weir_world::recorded::{ArrivalClock, PacketRow, StreamKind};

use super::Citation;
use crate::receiver;

/// Length of a bin, in µs.
pub(super) const BIN_US: i64 = 250_000;
/// Least standing queue that counts as one, in µs.
const LEAST_QUEUE_US: i64 = 20_000;

/// The packets of a quarter second, by their departure (by their arrival where departures are unknown).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CallBin {
    /// Bytes that left, all headers included.
    pub(super) sent_bytes: u64,
    /// Bytes that arrived in it, by the sender's clock less the least delay.
    pub(super) arrived_bytes: u64,
    /// Packets that left; in a recording of the receiver those before whose numbers a gap is, too.
    pub(super) packets: u32,
    /// Packets that did not arrive.
    pub(super) lost: u32,
    /// Least queuing delay of its packets in µs: a frame that waits for itself does not count.
    pub(super) standing_us: Option<i64>,
    /// Largest queuing delay in µs.
    pub(super) largest_us: Option<i64>,
    /// First bin of the queue that stands in this one and in the bins before it; absent where none stands.
    pub(super) queue_begin: Option<u32>,
    /// Largest standing queue from there on in µs.
    pub(super) queue_peak_us: i64,
    /// First row of its packets.
    pub(super) first_row: u32,
    /// Last row.
    pub(super) last_row: u32,
}

/// Series of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct CallSeries {
    pub(super) bins: Vec<CallBin>,
    /// Queuing delay of each packet in µs, by row; absent for lost packets, and without both times.
    pub(super) queue_us: Vec<Option<i64>>,
    /// Standing queue from which it counts as one, in µs.
    pub(super) queue_threshold_us: i64,
    /// Queuing delay that 99 % of the packets do not exceed, in µs.
    pub(super) queue_p99_us: i64,
    /// Share of all packets that meet a delay as lost ones do at a full queue.
    usual_share: f64,
    /// Skew of the receiver's clock; zero where both ends have one clock.
    pub(super) skew: f64,
    /// Rows of lost packets.
    pub(super) lost: Vec<u32>,
    /// Whether the fate of packets is known: without any arrival neither loss nor a received rate is.
    pub(super) knows_arrivals: bool,
    /// Ends of pictures of video by the time of their last packet, in order.
    pub(super) pictures_us: Vec<i64>,
    /// Usual time between two reports, in µs.
    pub(super) usual_gap_us: Option<i64>,
    /// Usual time from a departure to the report on it, in µs.
    usual_report_us: i64,
}

impl CallSeries {
    pub(super) fn of(call: &RecordedCall) -> Self {
        let skew = skew(call);
        let queue_us = queuing_delays(call, skew);
        let count = usize::try_from(call.duration_us / BIN_US + 1).unwrap_or(1);
        let mut bins = vec![CallBin::default(); count];
        let knows_arrivals = call.packets.arrived_us.iter().any(|arrived| arrived.is_known());
        let (mut lost, mut pictures_us) = (Vec::new(), Vec::new());
        let gaps = receiver::gaps(call);
        for (row, packet) in call.packets.rows().enumerate() {
            if packet.arrived_us.is_known() {
                // Queuing delays are above the least delay, without offset and skew of the receiver's clock.
                let place = place_of(packet.order_us() + queue_us[row].unwrap_or(0)).min(count - 1);
                bins[place].arrived_bytes += u64::from(call.wire_bytes(&packet));
            }
            let Some(bin) = bins.get_mut(place_of(packet.order_us())) else { continue };
            if bin.packets == 0 {
                bin.first_row = row as u32;
            }
            bin.last_row = row as u32;
            let gap = gaps.get(row).map_or(0, |&gap| u32::try_from(gap).unwrap_or(u32::MAX));
            bin.packets = bin.packets.saturating_add(1).saturating_add(gap);
            bin.lost = bin.lost.saturating_add(gap);
            bin.sent_bytes += u64::from(call.wire_bytes(&packet));
            if packet.marker != 0 && is_video(call, packet.stream) {
                pictures_us.push(packet.order_us());
            }
            if !knows_arrivals {
                continue;
            }
            if is_lost(call, &packet) {
                bin.lost += 1;
                lost.push(row as u32);
            }
            if let Some(queue) = queue_us[row] {
                bin.standing_us = Some(bin.standing_us.map_or(queue, |least| least.min(queue)));
                bin.largest_us = Some(bin.largest_us.map_or(queue, |most| most.max(queue)));
            }
        }
        let quantile = |values: &mut Vec<i64>, share: f64| {
            values.sort_unstable();
            values
                .get(((values.len() as f64 * share) as usize).min(values.len().saturating_sub(1)))
                .copied()
                .unwrap_or(0)
        };
        let mut standing: Vec<i64> = bins.iter().filter_map(|bin| bin.standing_us).collect();
        let quiet = quantile(&mut standing, 0.25);
        let queue_threshold_us = LEAST_QUEUE_US.max(3 * quiet);
        follow_queues(&mut bins, queue_threshold_us);
        let queue_p99_us = quantile(&mut queue_us.iter().flatten().copied().collect(), 0.99);
        let usual_share = usual_share(&queue_us, queue_p99_us * FULL_OF_10 / 10);
        let mut gaps: Vec<i64> = call.feedback.time_us.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let usual_gap_us = (!gaps.is_empty()).then(|| quantile(&mut gaps, 0.5));
        let report = |packet: PacketRow| Some(packet.reported_us.get()? - packet.sent_us.get()?);
        let usual_report_us = quantile(&mut call.packets.rows().filter_map(report).collect(), 0.5);
        Self {
            bins,
            queue_us,
            queue_threshold_us,
            queue_p99_us,
            usual_share,
            skew,
            lost,
            knows_arrivals,
            pictures_us,
            usual_gap_us,
            usual_report_us,
        }
    }

    /// Pictures per second whose last packet is between two times.
    pub(super) fn pictures_per_second(&self, from_us: i64, to_us: i64) -> f64 {
        let place = |time: i64| self.pictures_us.partition_point(|&end| end < time);
        (place(to_us) - place(from_us)) as f64 * 1e6 / (to_us - from_us).max(1) as f64
    }

    /// The bin of this time.
    pub(super) fn bin(&self, time_us: i64) -> usize {
        place_of(time_us).min(self.bins.len().saturating_sub(1))
    }

    /// The bins between two times.
    pub(super) fn between(&self, from_us: i64, to_us: i64) -> &[CallBin] {
        let (from, to) = (self.bin(from_us.max(0)), self.bin(to_us.max(0)));
        self.bins.get(from..=to.max(from)).unwrap_or_default()
    }

    /// Packets that left between two reports early enough to be reported before the second one.
    pub(super) fn unreported(&self, call: &RecordedCall, first_us: i64, second_us: i64) -> usize {
        let before = |time_us: i64| {
            let (mut low, mut high) = (0, call.packets.len());
            while low < high {
                let middle = low + (high - low) / 2;
                if call.packets.row(middle).order_us() < time_us {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        let end = second_us - self.usual_report_us - self.usual_gap_us.unwrap_or(0);
        before(end).saturating_sub(before(first_us + 1))
    }

    /// The packets of the half second around `time_us`.
    pub(super) fn packets_near(&self, time_us: i64) -> Citation {
        let bins = self.between(time_us - BIN_US, time_us + BIN_US).iter().filter(|bin| bin.packets > 0);
        let first = bins.clone().map(|bin| bin.first_row).min().unwrap_or(0);
        let last = bins.map(|bin| bin.last_row).max().unwrap_or(first);
        Citation::rows("packets", first as usize, last as usize)
    }

    /// Bytes that left, as a rate in bit/s between two times.
    pub(super) fn sent_bps(&self, from_us: i64, to_us: i64) -> f64 {
        rate(self.between(from_us, to_us), |bin| bin.sent_bytes)
    }

    /// Bytes that arrived, as a rate in bit/s between two times.
    pub(super) fn arrived_bps(&self, from_us: i64, to_us: i64) -> f64 {
        rate(self.between(from_us, to_us), |bin| bin.arrived_bytes)
    }

    /// Whether most of the lost packets of `call` in these rows met a queue that was nearly full: the queue stood, or
    /// other packets seldom meet such a delay.
    pub(super) fn met_a_full_queue(&self, call: &RecordedCall, rows: &[u32]) -> bool {
        let full = self.queue_p99_us * FULL_OF_10 / 10;
        if full < LEAST_FULL_US {
            return false;
        }
        let stood = |row: usize| {
            let standing = self.bins[self.bin(call.packets.row(row).order_us())].standing_us;
            standing.is_some_and(|queue| queue >= full && queue >= self.queue_threshold_us)
        };
        let rows = rows.iter().step_by((rows.len() / SAMPLES).max(1)).map(|&row| row as usize);
        let most = |count: usize| 2 * count > rows.clone().count();
        most(rows.clone().filter(|&row| stood(row)).count())
            || self.usual_share < MOST_USUAL
                && most(rows.clone().filter(|&row| met_before(&self.queue_us, row, full)).count())
    }
}

/// Share of all packets that meet a delay of `full_us`, by a sample.
fn usual_share(queue_us: &[Option<i64>], full_us: i64) -> f64 {
    let sampled = (0..queue_us.len()).step_by((queue_us.len() / SAMPLES).max(1));
    let met = sampled.clone().filter(|&row| met_before(queue_us, row, full_us)).count();
    met as f64 / sampled.count().max(1) as f64
}

/// Whether a packet shortly before `row` had a delay of `full_us`.
fn met_before(queue_us: &[Option<i64>], row: usize, full_us: i64) -> bool {
    let before = queue_us[row.saturating_sub(LONGEST_ROW)..row].iter().rev().flatten().take(NEIGHBOURS);
    before.max().is_some_and(|&queue| queue >= full_us)
}

/// Enters into each bin with a standing queue where that began, and how long it became.
fn follow_queues(bins: &mut [CallBin], threshold_us: i64) {
    let mut queue: Option<(u32, i64)> = None;
    for (place, bin) in bins.iter_mut().enumerate() {
        let standing = bin.standing_us.filter(|&standing| standing >= threshold_us);
        queue = standing.map(|standing| {
            queue.map_or((place as u32, standing), |(begin, peak)| (begin, peak.max(standing)))
        });
        bin.queue_begin = queue.map(|(begin, _)| begin);
        bin.queue_peak_us = queue.map_or(0, |(_, peak)| peak);
    }
}

/// Tenths of the delay that 99 % do not exceed from which a queue may be full.
const FULL_OF_10: i64 = 7;
/// Longest row of losses behind which a delay still shows the queue.
const LONGEST_ROW: usize = 1000;

/// Packets before a lost one whose delay shows the queue that it met.
const NEIGHBOURS: usize = 3;
/// Least delay of a queue that may be full, in µs.
const LEAST_FULL_US: i64 = 5_000;
/// Most packets of the call, and most of the losses before a fall, whose delay is looked up.
const SAMPLES: usize = 500;
/// Largest share of all packets that may meet a delay that shows a full queue.
const MOST_USUAL: f64 = 0.35;

fn rate(bins: &[CallBin], bytes: impl Fn(&CallBin) -> u64) -> f64 {
    let total: u64 = bins.iter().map(bytes).sum();
    total as f64 * 8e6 / (BIN_US as f64 * bins.len().max(1) as f64)
}

/// Number of the bin of this time; the first one before the begin.
fn place_of(time_us: i64) -> usize {
    (time_us.max(0) / BIN_US) as usize
}

/// Whether the packet is known to be lost. Without reports a packet that left and has no arrival counts as lost, unless it is among the last
/// seconds, whose arrivals may lie behind the end.
fn is_lost(call: &RecordedCall, packet: &PacketRow) -> bool {
    if call.has_feedback() {
        return packet.is_lost();
    }
    let near_the_end = packet.order_us() > call.duration_us - 1_000_000;
    packet.sent_us.is_known() && !packet.arrived_us.is_known() && !near_the_end
}

/// Skew of the receiver's clock against the sender's.
fn skew(call: &RecordedCall) -> f64 {
    if call.arrival_clock == ArrivalClock::Common {
        return 0.0;
    }
    let delays =
        call.packets.rows().filter_map(|packet| Some((packet.sent_us.get()?, delay_us(&packet, 0.0)?)));
    weir_world::recorded::skew(delays).unwrap_or(0.0)
}

/// Time from departure to arrival without `skew`, by two clocks whose offset is part of it, in µs.
pub(super) fn delay_us(packet: &PacketRow, skew: f64) -> Option<i64> {
    let (sent, arrived) = (packet.sent_us.get()?, packet.arrived_us.get()?);
    Some(arrived - sent - (skew * sent as f64) as i64)
}

/// Delay of each packet above the least of the call, from route to route.
fn queuing_delays(call: &RecordedCall, skew: f64) -> Vec<Option<i64>> {
    let delays: Vec<Option<i64>> = call.packets.rows().map(|packet| delay_us(&packet, skew)).collect();
    let mut queue = vec![None; delays.len()];
    // A route holds until the next begins.
    let begins = call.route_changes.time_us.iter().skip(1).copied();
    let mut from = 0;
    for end in begins.chain(std::iter::once(i64::MAX)) {
        let sent = &call.packets.sent_us;
        let to = from + sent[from..].partition_point(|sent| sent.get().is_none_or(|sent| sent < end));
        let base = delays[from..to].iter().flatten().min().copied().unwrap_or(0);
        for row in from..to {
            queue[row] = delays[row].map(|delay| delay - base);
        }
        from = to;
    }
    queue
}

/// Whether packets of the stream carry pictures.
pub(super) fn is_video(call: &RecordedCall, stream: u16) -> bool {
    call.streams.get(usize::from(stream)).is_some_and(|stream| stream.kind == StreamKind::Video)
}
