//! The choice of a direction among the flows of a file, and the contents of its streams.

use std::collections::{BTreeMap, HashSet};

use weir_world::recorded::{MOST_STREAMS, RemarkSentence, StreamKind};

use super::datagram::{FileDatagram, FormFacts};
use super::rtp::{RtpRecord, is_clear};
use crate::calls::{CallImportError, CallOptions, EndSelection};

/// Most streams that are surveyed.
const MOST_SURVEYED: usize = 4096;
/// Fewest packets of a stream: random bytes of other protocols look like a packet or two.
const FEWEST_PACKETS: u64 = 3;
/// Fewest packets of a video stream for each packet of a stream that repeats some of its frames.
const FEWER: u64 = 4;
/// Pairs of ports that are listed.
const LISTED: usize = 8;
/// Clocks of RTP streams in Hz, with their contents.
const CLOCKS: [(u32, StreamKind); 4] = [
    (90_000, StreamKind::Video),
    (48_000, StreamKind::Audio),
    (16_000, StreamKind::Audio),
    (8000, StreamKind::Audio),
];
/// TTL of packets that no router has passed on.
const FIRST_HOPS: [u8; 3] = [64, 128, 255];

/// A direction of a pair of ports.
pub(super) type FlowDirection = (u32, bool);

/// The direction that becomes the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FlowChoice {
    pub(super) flow: FlowDirection,
    /// Whether times are departures, and not arrivals.
    pub(super) departures: bool,
    /// Whether RTCP and payloads are encrypted.
    pub(super) encrypted: bool,
    /// Source identifier, contents and clock rate of each stream.
    pub(super) streams: Vec<(u32, StreamKind, u32)>,
    pub(super) remarks: Vec<RemarkSentence>,
    /// Remaining hops of its packets; 0 where unknown.
    pub(super) hops: u8,
}

/// Extents of the flows and streams of the first part of a file.
#[derive(Debug, Default)]
pub(super) struct FlowSurvey {
    streams: BTreeMap<(FlowDirection, u32), StreamExtent>,
    /// Remaining hops of the last packet.
    hops: BTreeMap<FlowDirection, u8>,
    /// Clear and other datagrams of RTCP of each pair.
    rtcp: BTreeMap<u32, [u64; 2]>,
}

#[derive(Debug)]
struct StreamExtent {
    packets: u64,
    bytes: u64,
    first_us: i64,
    last_us: i64,
    last_timestamp: u32,
    ticks: i64,
    timestamps: HashSet<u32>,
}

/// The greatest common divisor.
fn greatest_divisor(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { greatest_divisor(other, one % other) }
}

impl StreamExtent {
    /// Clock rate and contents by the advance of the timestamps.
    fn clock(&self) -> (StreamKind, u32) {
        let elapsed_us = self.last_us - self.first_us;
        if self.packets < 5 || elapsed_us < 500_000 {
            return (StreamKind::Unknown, 0);
        }
        let rate = self.ticks as f64 * 1e6 / elapsed_us as f64;
        let near = |hz: u32| (rate / f64::from(hz) - 1.0).abs() < 0.1;
        let clock = CLOCKS.into_iter().find(|(hz, _)| near(*hz));
        clock.map_or((StreamKind::Unknown, 0), |(hz, kind)| (kind, hz))
    }

    /// Whether it repeats packets of `media`: a retransmission has the timestamp of its packet (RFC 4588 §4).
    fn repeats(&self, media: &Self) -> bool {
        let known = self.timestamps.iter().filter(|own| media.timestamps.contains(own)).count();
        if media.packets > self.packets && 10 * known >= 9 * self.timestamps.len() {
            return true;
        }
        // A receiver got frames of a packet or two by their repetition only.
        let is_video = media.clock().0 == StreamKind::Video && self.clock().0 != StreamKind::Audio;
        if !is_video || media.packets < FEWER * self.packets {
            return false;
        }
        let ticks = |timestamp: &u32| i64::from(timestamp.wrapping_sub(media.last_timestamp) as i32);
        let of_media = || media.timestamps.iter().map(ticks);
        let (first, last) = (of_media().min().unwrap_or(0), of_media().max().unwrap_or(0));
        let grid = of_media().fold(0, |grid, tick| greatest_divisor(grid, tick - first));
        let on_grid =
            |tick: i64| (first..=last).contains(&tick) && (tick - first).checked_rem(grid) == Some(0);
        self.timestamps.iter().map(ticks).all(on_grid)
    }
}

impl FlowSurvey {
    pub(super) fn note_rtp(&mut self, datagram: &FileDatagram<'_>, record: &RtpRecord) {
        let flow = (datagram.pair, datagram.forward);
        self.note_hops(datagram);
        let key = (flow, record.ssrc);
        if self.streams.len() >= MOST_SURVEYED && !self.streams.contains_key(&key) {
            return;
        }
        let stream = self.streams.entry(key).or_insert_with(|| StreamExtent {
            packets: 0,
            bytes: 0,
            first_us: datagram.time_us,
            last_us: datagram.time_us,
            last_timestamp: record.timestamp,
            ticks: 0,
            timestamps: HashSet::new(),
        });
        stream.packets += 1;
        stream.bytes += u64::from(record.behind);
        stream.last_us = datagram.time_us;
        stream.ticks += i64::from(record.timestamp.wrapping_sub(stream.last_timestamp) as i32);
        stream.last_timestamp = record.timestamp;
        stream.timestamps.insert(record.timestamp);
    }

    pub(super) fn note_rtcp(&mut self, datagram: &FileDatagram<'_>) {
        self.note_hops(datagram);
        let counts = self.rtcp.entry(datagram.pair).or_default();
        counts[usize::from(!is_clear(datagram.bytes))] += 1;
    }

    fn note_hops(&mut self, datagram: &FileDatagram<'_>) {
        self.hops.insert((datagram.pair, datagram.forward), datagram.hops);
    }

    /// Streams of a direction by source identifier.
    fn streams_of(&self, flow: FlowDirection) -> impl Iterator<Item = (u32, &StreamExtent)> {
        let all = self.streams.range((flow, 0)..=(flow, u32::MAX));
        all.filter(|(_, stream)| stream.packets >= FEWEST_PACKETS).map(|((_, ssrc), stream)| (*ssrc, stream))
    }

    fn bytes(&self, flow: FlowDirection) -> u64 {
        self.streams_of(flow).map(|(_, stream)| stream.bytes).sum()
    }

    /// The direction that `options` mean. `sender` says that the file is of the sender's end.
    ///
    /// # Errors
    /// There is no RTP, or several calls could be meant.
    pub(super) fn choose(
        &self,
        facts: FormFacts,
        sender: bool,
        options: &CallOptions,
    ) -> Result<FlowChoice, CallImportError> {
        let (pair, by_ssrc) = self.pair(options)?;
        let larger = self.bytes((pair, true)) >= self.bytes((pair, false));
        let own = if facts.knows_end { Some(true) } else { self.own_direction(pair) };
        let (forward, departures) = match (by_ssrc, options.direction, own) {
            (Some(forward), ..) if sender => (forward, true),
            (None, ..) if sender => (larger, true),
            (Some(forward), EndSelection::Larger, own) => (forward, own.is_none_or(|own| own == forward)),
            (Some(forward), direction, _) => (forward, direction == EndSelection::Sent),
            (None, EndSelection::Larger, own) => (larger, own.is_none_or(|own| own == larger)),
            (None, EndSelection::Sent, own) => (own.unwrap_or(larger), true),
            (None, EndSelection::Received, own) => (own.map_or(larger, |own| !own), false),
        };
        let flow = (pair, forward);
        let [clear, unclear] = self.rtcp.get(&pair).copied().unwrap_or_default();
        let encrypted = !facts.decrypted && (clear == 0 || clear < unclear);
        let mut choice = FlowChoice { flow, departures, encrypted, ..FlowChoice::default() };
        if self.streams_of(flow).next().is_none() {
            let asked = if departures { "sent" } else { "received" };
            let problem = format!("the file has no RTP in this direction (--direction {asked})");
            return Err(CallImportError::Lacking(problem));
        }
        if sender && own.is_some_and(|own| own != forward) {
            let problem = "the media came to the end that recorded this file, by the hops that packets have left \
                           (TTL); name the sender's file first, or choose a stream that it sends by --ssrc";
            return Err(CallImportError::Lacking(problem.to_owned()));
        }
        choice.hops = self.hops.get(&flow).copied().unwrap_or(0);
        choice.streams = self.contents(flow);
        if !sender && own.is_none() && options.direction == EndSelection::Larger {
            choice.remarks.push(RemarkSentence::UNKNOWN_END);
        }
        choice.remarks.extend(match (encrypted, clear + unclear, departures) {
            (true, 0, true) => Some(RemarkSentence::DEPARTURES_ALONE),
            (true, 0, false) => Some(RemarkSentence::ARRIVALS_ALONE),
            (true, _, true) => Some(RemarkSentence::ENCRYPTED_DEPARTURES),
            (true, _, false) => Some(RemarkSentence::ENCRYPTED_ARRIVALS),
            (false, _, false) => Some(RemarkSentence::RECEIVERS_END),
            (false, _, true) => None,
        });
        Ok(choice)
    }

    /// The pair of ports, and the direction of the stream of `--ssrc`.
    fn pair(&self, options: &CallOptions) -> Result<(u32, Option<bool>), CallImportError> {
        let mut pairs: BTreeMap<u32, u64> = BTreeMap::new();
        for ((flow, _), stream) in &self.streams {
            if stream.packets >= FEWEST_PACKETS {
                *pairs.entry(flow.0).or_default() += stream.bytes;
            }
        }
        let mut pairs: Vec<(u32, u64)> = pairs.into_iter().collect();
        pairs.sort_by_key(|&(pair, bytes)| (std::cmp::Reverse(bytes), pair));
        if pairs.is_empty() {
            let problem = "the file has no RTP stream of three or more packets";
            return Err(CallImportError::Lacking(problem.to_owned()));
        }
        if let Some(ssrc) = options.ssrc {
            let found = self.streams.keys().find(|(_, own)| *own == ssrc);
            let problem = || {
                let listed = self.listed(&pairs);
                format!("no stream has the source identifier {ssrc} of --ssrc; the file has {listed}")
            };
            let ((pair, forward), _) = found.ok_or_else(|| CallImportError::Lacking(problem()))?;
            return Ok((*pair, Some(*forward)));
        }
        match *pairs {
            [(_, largest), (_, second), ..] if 2 * second >= largest => {
                Err(CallImportError::Ambiguous { option: "--ssrc", choices: self.listed(&pairs) })
            }
            _ => Ok((pairs[0].0, None)),
        }
    }

    fn listed(&self, pairs: &[(u32, u64)]) -> String {
        let of_pair = |&(pair, bytes): &(u32, u64)| {
            let streams = [true, false].into_iter().flat_map(|forward| self.streams_of((pair, forward)));
            let largest = streams.max_by_key(|(_, stream)| stream.bytes);
            let (ssrc, seconds) =
                largest.map_or((0, 0.0), |(ssrc, own)| (ssrc, (own.last_us - own.first_us) as f64 / 1e6));
            format!("{:.1} MB in {seconds:.0} s, --ssrc {ssrc}", bytes as f64 / 1e6)
        };
        let listed = pairs.iter().take(LISTED).enumerate();
        let mut listed: Vec<String> =
            listed.map(|(place, pair)| format!("{}: {}", place + 1, of_pair(pair))).collect();
        if pairs.len() > LISTED {
            listed.push(format!("{} more", pairs.len() - LISTED));
        }
        listed.join("; ")
    }

    /// The direction from the recording end, where only its packets have a TTL that no router has lowered.
    fn own_direction(&self, pair: u32) -> Option<bool> {
        let own = |forward| FIRST_HOPS.contains(self.hops.get(&(pair, forward)).unwrap_or(&0));
        let other = |forward| self.hops.get(&(pair, forward)).is_some_and(|hops| *hops > 0) && !own(forward);
        match (own(true), own(false)) {
            (true, false) if other(false) => Some(true),
            (false, true) if other(true) => Some(false),
            _ => None,
        }
    }

    /// Source identifier, contents and clock rate of the streams with the most packets, as many as a call keeps.
    fn contents(&self, flow: FlowDirection) -> Vec<(u32, StreamKind, u32)> {
        let mut all: Vec<(u32, &StreamExtent)> = self.streams_of(flow).collect();
        all.sort_by_key(|(_, stream)| core::cmp::Reverse(stream.packets));
        all.truncate(MOST_STREAMS);
        all.sort_by_key(|&(ssrc, _)| ssrc);
        let kinds = all.iter().map(|&(ssrc, stream)| {
            let repeats = |other: &StreamExtent| stream.repeats(other);
            let media = all.iter().find(|(other, own)| *other != ssrc && repeats(own));
            let own = || stream.clock();
            let (kind, hz) =
                media.map_or_else(own, |(_, media)| (StreamKind::Retransmission, media.clock().1));
            (ssrc, kind, hz)
        });
        kinds.collect()
    }
}
