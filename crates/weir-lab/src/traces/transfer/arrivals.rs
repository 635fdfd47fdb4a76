//! The packets of a transfer as they arrived, and what their headers tell of the path.

use std::collections::HashMap;
use std::path::Path;

use super::super::asked::Finding;
use super::super::error::FormError;
use super::super::packet::{Content, FlowKey, Packet, Segment};
use super::super::packets::each;
use super::arrival::Arrival;
use super::choice::Chosen;
use super::clocks::Clocks;
use super::copies::Copies;
use super::losses::{Losses, RtpLosses, TcpLosses};

/// Most packets of a transfer: each takes 24 bytes of memory, and again while waits are computed.
const MOST_PACKETS: usize = 20_000_000;
/// Most streams within a flow, and most timestamps whose echo is awaited.
const MOST_STREAMS: usize = 10_000;
const MOST_STAMPS: usize = 1_000_000;
/// So much later than a packet, in ns, is no packet before it in a file whose packets are nearly in order.
const OUT_OF_ORDER: i64 = 1_000_000_000;

/// All of them in order of time.
#[derive(Debug)]
pub(super) struct Arrivals {
    pub(super) all: Vec<Arrival>,
    pub(super) clocks: Clocks,
    /// Least round trip in s.
    pub(super) round_trip: Option<f64>,
    /// Share of what was sent of the largest stream.
    pub(super) loss: Option<f64>,
}

/// A stream that has a clock of its own: a connection of TCP, or a source of RTP.
#[derive(Debug)]
struct Stream {
    packets: u64,
    losses: Option<Losses>,
}

impl Arrivals {
    /// Those of the `chosen` flows.
    pub(super) fn read(path: &Path, chosen: &Chosen, findings: &mut Vec<Finding>) -> Result<Self, FormError> {
        let numbers: HashMap<FlowKey, usize> =
            chosen.flows.iter().enumerate().map(|(n, key)| (*key, n)).collect();
        let mut ids: HashMap<(usize, Option<u32>), usize> = HashMap::new();
        let mut streams: Vec<Stream> = Vec::new();
        let mut clocks = Clocks::default();
        let mut arrivals: Vec<Arrival> = Vec::new();
        let mut round_trips = RoundTrips::default();
        let mut copies = Copies::default();
        let (mut first, mut before) = (None, None);
        each(path, |packet| {
            if chosen.copied.contains(&packet.flow) && copies.is_again(packet) {
                return Ok(());
            }
            let Some(&flow) = numbers.get(&packet.flow) else {
                if chosen.flows[0].answers(&packet.flow) {
                    round_trips.see(packet, false);
                }
                return Ok(());
            };
            if flow == 0 {
                round_trips.see(packet, true);
            }
            let wrong = |problem: String| FormError::Packet { number: packet.number, problem };
            if arrivals.len() >= MOST_PACKETS {
                return Err(wrong(format!("{MOST_PACKETS} packets are the most; cut it with `editcap`")));
            }
            if let Some(back) =
                before.map(|before: i64| before - packet.nanos).filter(|back| *back > OUT_OF_ORDER)
            {
                return Err(wrong(format!(
                    "its time is {:.1} s before that of the packet before it: the clock was set back, or the file is not in order. \
                     Take one part, by `editcap -r IN OUT 1-{}`, or put it in order by `reordercap`",
                    back as f64 / 1e9,
                    packet.number - 1
                )));
            }
            before = Some(packet.nanos);
            let source = if let Content::Rtp(rtp) = packet.content { Some(rtp.source) } else { None };
            let next = ids.len();
            let id = *ids.entry((flow, source)).or_insert(next);
            if id == streams.len() {
                if id >= MOST_STREAMS {
                    return Err(wrong(format!(
                        "there are more than {MOST_STREAMS} streams of RTP; choose one with --flow"
                    )));
                }
                streams.push(Stream { packets: 0, losses: None });
            }
            let nanos = packet.nanos - *first.get_or_insert(packet.nanos);
            let ticks = streams[id].see(packet).map(|told| clocks.ticks(id, nanos, told));
            let stream = if ticks.is_some() { id as u32 } else { u32::MAX };
            arrivals.push(Arrival { nanos, ticks: ticks.unwrap_or_default(), bytes: packet.bytes, stream });
            Ok(())
        })?;
        arrivals.sort_by_key(|arrival| arrival.nanos);
        let begin = arrivals.first().map_or(0, |arrival| arrival.nanos);
        for arrival in &mut arrivals {
            arrival.nanos -= begin;
        }
        let largest = streams.iter().max_by_key(|stream| stream.packets);
        let losses = largest.and_then(|stream| stream.losses.as_ref());
        let loss = losses.and_then(Losses::share);
        if let (Some(losses), Some(loss)) = (losses, loss) {
            let of = if matches!(losses, Losses::Tcp(_)) {
                "bytes, by gaps and repetitions in TCP's"
            } else {
                "packets, by gaps in RTP's"
            };
            let why =
                format!("share of {of} sequence numbers; what this transfer's own queue dropped is in it");
            findings.push(Finding::guess("loss", format!("{:.2} %", 100.0 * loss), why));
        }
        let (round_trip, why) = match (round_trips.handshake(), round_trips.by_stamps()) {
            (Some(nanos), _) => (Some(nanos), "by TCP's handshake"),
            (None, Some(nanos)) => (Some(nanos), "by TCP's timestamps in both directions"),
            (None, None) => (None, ""),
        };
        let round_trip = round_trip.map(|nanos| nanos as f64 / 1e9);
        if let Some(seconds) = round_trip {
            findings.push(Finding::sure("round trip", format!("{:.1} ms", 1e3 * seconds), why));
        }
        Ok(Self { all: arrivals, clocks, round_trip, loss })
    }
}

impl Stream {
    /// Counts the packet; what it says of when it was sent.
    fn see(&mut self, packet: &Packet) -> Option<u32> {
        self.packets += 1;
        match packet.content {
            Content::Tcp(segment) => {
                if let Losses::Tcp(tcp) = self.losses.get_or_insert(Losses::Tcp(TcpLosses::default())) {
                    tcp.see(packet.nanos, segment.sequence, segment.data);
                }
                segment.stamps.filter(|_| segment.data > 0).map(|(own, _)| own)
            }
            Content::Rtp(rtp) => {
                if let Losses::Rtp(losses) = self.losses.get_or_insert(Losses::Rtp(RtpLosses::default())) {
                    losses.see(rtp.sequence);
                }
                Some(rtp.timestamp)
            }
            Content::Udp => None,
        }
    }
}

/// Round trips of a connection of TCP.
#[derive(Debug, Default)]
struct RoundTrips {
    /// Of data and of what answers it.
    ways: [Way; 2],
}

#[derive(Debug, Default)]
struct Way {
    /// When the SYN without ACK passed, and when what came after it.
    syn: Option<i64>,
    after: Option<i64>,
    /// Whether there were several.
    again: bool,
    /// When each timestamp passed first.
    stamps: HashMap<u32, i64>,
    /// The least time from a timestamp of the other way to its echo on this one.
    echo: Option<i64>,
}

impl RoundTrips {
    fn see(&mut self, packet: &Packet, data: bool) {
        let Content::Tcp(segment) = packet.content else { return };
        let [forward, backward] = &mut self.ways;
        let (way, other) = if data { (forward, backward) } else { (backward, forward) };
        way.see(packet.nanos, &segment);
        let Some((own, echoed)) = segment.stamps.filter(|_| !segment.syn) else { return };
        if way.stamps.len() < MOST_STAMPS {
            way.stamps.entry(own).or_insert(packet.nanos);
        }
        if let Some(nanos) =
            other.stamps.get(&echoed).map(|since| packet.nanos - since).filter(|_| echoed != 0)
        {
            way.echo = Some(way.echo.map_or(nanos, |echo| echo.min(nanos)));
        }
    }

    /// From the first packet of who connects to the second: a whole round, wherever it was recorded.
    fn handshake(&self) -> Option<i64> {
        let of = |way: &Way| Some(way.after? - way.syn?).filter(|nanos| *nanos > 0 && !way.again);
        self.ways.iter().find_map(of)
    }

    /// From the place of the recording to either end and back, together.
    fn by_stamps(&self) -> Option<i64> {
        let [forward, backward] = &self.ways;
        Some(forward.echo? + backward.echo?).filter(|nanos| *nanos > 0)
    }
}

impl Way {
    fn see(&mut self, nanos: i64, segment: &Segment) {
        if segment.syn && !segment.ack {
            self.again |= self.syn.is_some();
            self.syn.get_or_insert(nanos);
        } else if self.syn.is_some() {
            self.after.get_or_insert(nanos);
        }
    }
}
