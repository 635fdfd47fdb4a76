//! A pacer of the embedder's own: departures that it reports at once, or with their results.

use std::collections::VecDeque;

use weir_cc::{ArrivalTime, Ecn, Probe, ProbeId, Reception, SendTime};
use weir_media::{JoinedResult, PacketKind, SentReport, StreamId};
use weir_units::TimeDelta;

use crate::input::Input;

/// Most packets that are remembered.
const MOST_KEPT: usize = 300;
/// Most probes at a time: an endpoint keeps eight.
const MOST_PROBES: usize = 8;

/// Packets that left without the endpoint.
#[derive(Debug, Default)]
pub(super) struct ForeignPacer {
    /// Number of the newest packet.
    pub(super) number: u16,
    /// Sequence number of the newest packet of each stream.
    sequences: Vec<u16>,
    /// In the order of their numbers.
    kept: VecDeque<(SendTime, SentReport)>,
    probe: Option<ProbeId>,
    probes: usize,
}

impl ForeignPacer {
    /// A pacer whose first packet follows the number `number`.
    pub(super) fn after(number: u16) -> Self {
        Self { number, ..Self::default() }
    }

    /// The endpoint requests a probe.
    pub(super) fn on_probe(&mut self, probe: &Probe) {
        self.probes += 1;
        assert!(self.probes <= MOST_PROBES, "probes without end");
        self.probe = Some(probe.id);
    }

    /// All probes of the moment were taken.
    pub(super) fn on_probes_polled(&mut self) {
        self.probes = 0;
    }

    /// A packet leaves now; its number follows the one before, with a gap now and then if `gaps` says so.
    pub(super) fn depart(
        &mut self,
        now: SendTime,
        stream: StreamId,
        gaps: bool,
        input: &mut Input<'_>,
    ) -> SentReport {
        let gap = if gaps && input.seldom(8) { input.u16() % 0x7FFE } else { 0 };
        self.number = self.number.wrapping_add(1 + gap);
        let place = stream.index();
        if self.sequences.len() <= place {
            self.sequences.resize(place + 1, u16::MAX - 3);
        }
        self.sequences[place] = self.sequences[place].wrapping_add(1);
        let probe = if input.flag() { self.probe } else { None };
        let packet = SentReport { probe, number: self.number, ..any(stream, self.sequences[place], input) };
        self.kept.push_back((now, packet));
        if self.kept.len() > MOST_KEPT {
            self.kept.pop_front();
        }
        packet
    }

    /// Results on packets that have left, in the order of their numbers.
    pub(super) fn results(&self, now: SendTime, input: &mut Input<'_>) -> Vec<JoinedResult> {
        let (back, count) = (usize::from(input.byte()), usize::from(input.byte()));
        let begin = self.kept.len().saturating_sub(back + 1);
        let delay = TimeDelta::from_millis(i64::from(input.byte()));
        let missing = input.byte();
        let results = self.kept.iter().skip(begin).take(count).enumerate();
        let results = results.map(|(place, &(departure, packet))| {
            let arrival = ArrivalTime::from_nanos((departure + delay).nanos());
            let is_missing = missing > 0 && (place + 1) % usize::from(missing) == 0;
            let reception = if is_missing { Reception::Missing } else { Reception::At(arrival) };
            JoinedResult { packet, departure: departure.min(now), reception, ecn: Ecn::NotEct }
        });
        results.collect()
    }
}

/// A report of any packet.
pub(super) fn any(stream: StreamId, sequence: u16, input: &mut Input<'_>) -> SentReport {
    SentReport {
        stream,
        sequence,
        timestamp: input.u32(),
        number: 0,
        header: u16::from(input.byte()),
        payload: input.u16(),
        kind: match input.byte() % 3 {
            0 => PacketKind::Media,
            1 => PacketKind::Retransmission { padding: input.flag() },
            _ => PacketKind::Padding,
        },
        probe: None,
    }
}
