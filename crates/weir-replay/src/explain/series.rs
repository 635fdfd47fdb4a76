//! Series that an explanation rests on: queuing delay, loss and rates of a call, from its packets.

use weir_world::RecordedCall;
use weir_world::recorded::{ArrivalClock, PacketRow, StreamKind};

use super::Citation;

/// Length of a bin, in µs.
pub(super) const BIN_US: i64 = 250_000;
/// Least standing queue that counts as one, in µs.
const LEAST_QUEUE_US: i64 = 20_000;

/// The packets of a quarter second, by their departure (by their arrival where departures are unknown).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CallBin {
    /// Bytes that left, all headers included.
    pub(super) sent_bytes: u64,
    /// Bytes that arrived.
    pub(super) arrived_bytes: u64,
    /// Packets that left.
    pub(super) packets: u32,
    /// Packets that did not arrive.
    pub(super) lost: u32,
    /// Least queuing delay of its packets in µs: a frame that waits for itself does not count.
    pub(super) standing_us: Option<i64>,
    /// Largest queuing delay in µs.
    pub(super) largest_us: Option<i64>,
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
}

impl CallSeries {
    pub(super) fn of(call: &RecordedCall) -> Self {
        let skew = skew(call);
        let queue_us = queuing_delays(call, skew);
        let count = usize::try_from(call.duration_us / BIN_US + 1).unwrap_or(1);
        let mut bins = vec![CallBin::default(); count];
        let knows_arrivals = call.packets.arrived_us.iter().any(|arrived| arrived.is_known());
        let (mut lost, mut pictures_us) = (Vec::new(), Vec::new());
        for (row, packet) in call.packets.rows().enumerate() {
            let Some(bin) = bin_of(&mut bins, packet.order_us()) else { continue };
            if bin.packets == 0 {
                bin.first_row = row as u32;
            }
            bin.last_row = row as u32;
            bin.packets += 1;
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
            } else {
                bin.arrived_bytes += u64::from(call.wire_bytes(&packet));
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
        let queue_p99_us = quantile(&mut queue_us.iter().flatten().copied().collect(), 0.99);
        let mut gaps: Vec<i64> = call.feedback.time_us.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let usual_gap_us = (!gaps.is_empty()).then(|| quantile(&mut gaps, 0.5));
        Self {
            bins,
            queue_us,
            queue_threshold_us: LEAST_QUEUE_US.max(3 * quiet),
            queue_p99_us,
            skew,
            lost,
            knows_arrivals,
            pictures_us,
            usual_gap_us,
        }
    }

    /// Pictures per second whose last packet is between two times.
    pub(super) fn pictures_per_second(&self, from_us: i64, to_us: i64) -> f64 {
        let place = |time: i64| self.pictures_us.partition_point(|&end| end < time);
        (place(to_us) - place(from_us)) as f64 * 1e6 / (to_us - from_us).max(1) as f64
    }

    /// The bin of this time.
    pub(super) fn bin(&self, time_us: i64) -> usize {
        usize::try_from(time_us / BIN_US).unwrap_or(0).min(self.bins.len().saturating_sub(1))
    }

    /// The bins between two times.
    pub(super) fn between(&self, from_us: i64, to_us: i64) -> &[CallBin] {
        let (from, to) = (self.bin(from_us.max(0)), self.bin(to_us.max(0)));
        self.bins.get(from..=to.max(from)).unwrap_or_default()
    }

    /// The packets of the half second around `time_us`.
    pub(super) fn packets_near(&self, time_us: i64) -> Citation {
        let bins = self.between(time_us - BIN_US, time_us + BIN_US).iter().filter(|bin| bin.packets > 0);
        let first = bins.clone().map(|bin| bin.first_row).min().unwrap_or(0);
        let last = bins.map(|bin| bin.last_row).max().unwrap_or(first);
        Citation::rows("packets", first as usize, last as usize)
    }

    /// Whether the bin has a standing queue.
    pub(super) fn queues(&self, bin: &CallBin) -> bool {
        bin.standing_us.is_some_and(|queue| queue >= self.queue_threshold_us)
    }

    /// Bytes that left, as a rate in bit/s between two times.
    pub(super) fn sent_bps(&self, from_us: i64, to_us: i64) -> f64 {
        rate(self.between(from_us, to_us), |bin| bin.sent_bytes)
    }

    /// Bytes that arrived, as a rate in bit/s between two times.
    pub(super) fn arrived_bps(&self, from_us: i64, to_us: i64) -> f64 {
        rate(self.between(from_us, to_us), |bin| bin.arrived_bytes)
    }

    /// Whether most of the lost packets met a queue that was nearly full: the queue stood, or other packets seldom meet such a delay.
    pub(super) fn met_a_full_queue(&self, rows: &[u32]) -> bool {
        let full = self.queue_p99_us * 7 / 10;
        if full < LEAST_FULL_US {
            return false;
        }
        let met = |row: usize| {
            let before = self.queue_us[..row].iter().rev().flatten().take(NEIGHBOURS);
            before.max().is_some_and(|&queue| queue >= full)
        };
        let stood = |row: usize| {
            let place = self.bins.partition_point(|bin| (bin.last_row as usize) < row || bin.packets == 0);
            let standing = self.bins.get(place).and_then(|bin| bin.standing_us);
            standing.is_some_and(|queue| queue >= full && queue >= self.queue_threshold_us)
        };
        let most = |count: usize| 2 * count > rows.len();
        if most(rows.iter().filter(|&&row| stood(row as usize)).count()) {
            return true;
        }
        let every = (self.queue_us.len() / SAMPLES).max(1);
        let sampled = (0..self.queue_us.len()).step_by(every);
        let usual = sampled.clone().filter(|&row| met(row)).count() as f64 / sampled.count().max(1) as f64;
        usual < MOST_USUAL && most(rows.iter().filter(|&&row| met(row as usize)).count())
    }
}

/// Packets before a lost one whose delay shows the queue that it met.
const NEIGHBOURS: usize = 3;
/// Least delay of a queue that may be full, in µs.
const LEAST_FULL_US: i64 = 5_000;
/// Packets of the call among which the usual delay is looked up.
const SAMPLES: usize = 500;
/// Largest share of all packets that may meet a delay which tells a full queue.
const MOST_USUAL: f64 = 0.35;

fn rate(bins: &[CallBin], bytes: impl Fn(&CallBin) -> u64) -> f64 {
    let total: u64 = bins.iter().map(bytes).sum();
    total as f64 * 8e6 / (BIN_US as f64 * bins.len().max(1) as f64)
}

fn bin_of(bins: &mut [CallBin], time_us: i64) -> Option<&mut CallBin> {
    bins.get_mut(usize::try_from(time_us / BIN_US).ok()?)
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
