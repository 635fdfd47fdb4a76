//! Seams for stacks that pace, number or acknowledge packets themselves: departures and results are reported to the
//! endpoint.

use weir_cc::history::NumberError;
use weir_cc::{ArrivalTime, Burst, Ecn, Pacing, Probe, ProbeId, Reception, Record, SendTime};
use weir_units::{DataRate, DataSize};

use super::event::{PacketKind, StreamId};
use super::payload::Payload;
use super::{Endpoint, EndpointError, PacketNumbering};
use crate::path::ReportedPacket;

/// A packet that the embedder's own pacer sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SentReport {
    /// Its stream.
    pub stream: StreamId,
    /// Its RTP sequence number.
    pub sequence: u16,
    /// Its RTP timestamp.
    pub timestamp: u32,
    /// Its transport-wide sequence number; without effect for [`PacketNumbering::Own`].
    pub number: u16,
    /// Bytes of its RTP header with extensions.
    pub header: u16,
    /// Bytes of its payload, or of padding.
    pub payload: u16,
    /// Its content.
    pub kind: PacketKind,
    /// The probe that it belongs to.
    pub probe: Option<ProbeId>,
}

/// Fate of a packet, from a stack that joins feedback with departures itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JoinedResult {
    /// The packet, with its transport-wide number. It is recorded now, at its departure, unless it was reported before
    /// ([`Endpoint::on_sent`]).
    pub packet: SentReport,
    /// Time at which it left, not after the time of the call.
    pub departure: SendTime,
    /// Its arrival, or that it is missing.
    pub reception: Reception,
    /// ECN field on arrival.
    pub ecn: Ecn,
}

/// Rates for the embedder's own pacer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PacerRates {
    /// Rate at which packets leave, or `None` for at once.
    pub rate: Option<DataRate>,
    /// Burst that may leave ahead of that rate.
    pub burst: Burst,
    /// Rate up to which padding fills what media leaves.
    pub padding: DataRate,
    /// Bytes that may leave before the next feedback, or `None` without a window.
    pub window_left: Option<DataSize>,
}

impl<P: Payload> Endpoint<P> {
    /// A packet of the embedder's own pacer left. Its number is [`Self::next_number`] for [`PacketNumbering::Own`].
    ///
    /// # Errors
    /// If the time ran back, there is no such stream, or the number does not follow the number before it.
    pub fn on_sent(&mut self, now: SendTime, packet: &SentReport) -> Result<(), EndpointError> {
        self.begin(now)?;
        self.record(now, packet)
    }

    /// The transport-wide number of the next packet; the lower 16 bits travel with it.
    pub fn next_number(&self) -> u64 {
        self.path.next_number()
    }

    /// Records a packet that left at `at`.
    fn record(&mut self, at: SendTime, packet: &SentReport) -> Result<(), EndpointError> {
        let streams = self.stream_mut(packet.stream)?;
        let repeats = matches!(packet.kind, PacketKind::Retransmission { .. });
        let place = streams.retransmission_place.filter(|_| repeats).unwrap_or(streams.place);
        if self.config.numbering == PacketNumbering::Given {
            let number = packet.number;
            self.path.skip_to(number).map_err(|_| EndpointError::NumberWentBack { number })?;
        }
        if at < self.recorded {
            return Err(EndpointError::TimeWentBack { now: at, latest: self.recorded });
        }
        self.recorded = at;
        let &SentReport { sequence, timestamp, header, payload, probe, .. } = packet;
        let padding =
            matches!(packet.kind, PacketKind::Padding | PacketKind::Retransmission { padding: true });
        let reported = ReportedPacket { stream: place, sequence, timestamp, header, payload, padding, probe };
        let sent = self.path.record(at, &reported);
        self.count(at, packet.stream.0, packet.kind, (header, payload), (sent.id, sequence));
        Ok(())
    }

    /// Takes a report that the stack has joined with its departures: the fates of packets in the order of their numbers.
    /// `made` is the receiver's time of the report, where it is known. Packets that were not reported as sent are
    /// recorded first.
    ///
    /// # Errors
    /// If the time ran back, a packet is of no stream or left in the future, a packet that was not reported left before
    /// those of lower numbers, or the endpoint numbers packets itself. The report then has no effect.
    pub fn on_results(
        &mut self,
        now: SendTime,
        results: &[JoinedResult],
        made: Option<ArrivalTime>,
    ) -> Result<(), EndpointError> {
        if self.config.numbering != PacketNumbering::Given {
            return Err(EndpointError::WrongNumbering);
        }
        let (mut newest, mut recorded) = (self.path.next_number().checked_sub(1), self.recorded);
        for &JoinedResult { packet, departure, .. } in results {
            if packet.stream.0 >= self.path.source.streams.len() {
                return Err(EndpointError::UnknownStream);
            }
            if departure > now {
                return Err(EndpointError::TimeWentBack { now, latest: departure });
            }
            if newest.is_none_or(|newest| NumberError::check(newest as u16, packet.number).is_ok()) {
                if departure < recorded {
                    return Err(EndpointError::TimeWentBack { now: departure, latest: recorded });
                }
                (newest, recorded) = (Some(packet.number.into()), departure);
            }
        }
        self.begin(now)?;
        let mut records = std::mem::take(&mut self.records);
        records.clear();
        for result in results {
            match self.record(result.departure, &result.packet) {
                // The packet was reported before.
                Ok(()) | Err(EndpointError::NumberWentBack { .. }) => {}
                Err(error) => return Err(error),
            }
            records.push(Record {
                sequence: result.packet.number,
                reception: result.reception,
                ecn: result.ecn,
            });
        }
        let outcome = self.path.on_records(now, &records, made);
        self.records = records;
        self.on_outcome(outcome);
        Ok(())
    }

    /// The next probe for the embedder's own pacer, where [`EndpointConfig::foreign_pacer`] is set.
    ///
    /// [`EndpointConfig::foreign_pacer`]: crate::EndpointConfig::foreign_pacer
    pub fn poll_probe(&mut self) -> Option<Probe> {
        self.path.source.poll_probe()
    }

    /// Rates for the embedder's own pacer.
    pub fn pacer_rates(&self) -> PacerRates {
        let (target, state) = (self.path.target(), self.path.state());
        PacerRates {
            rate: match target.pacing {
                Pacing::Unpaced => None,
                Pacing::Factor(factor) => Some(target.sending_rate.scale(factor)),
                Pacing::Exact(rate) => Some(rate),
            },
            burst: target.burst,
            padding: self.path.padding(),
            window_left: target.window.map(|window| window.saturating_sub(state.in_flight)),
        }
    }
}
