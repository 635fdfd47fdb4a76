//! Assembly of a recorded call from packets and RTCP, in order of time.

use std::collections::BTreeMap;

use weir_wire::seq::Unwrapper;

use super::rtcp_state::{RtcpState, nearest};
use super::tables::PacketRow;
use super::{
    ArrivalClock, FORMAT_VERSION, MOST_EVENTS, MOST_PACKETS, MOST_STREAMS, OptionalInteger, RecordedCall,
    RecordedStream, RecordingSource, RemarkSentence, StreamKind,
};

/// An RTP packet that left the sender, or reached the receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RtpDeparture {
    /// Synchronisation source.
    pub ssrc: u32,
    /// RTP sequence number.
    pub sequence: u16,
    /// RTP timestamp.
    pub timestamp: u32,
    /// RTP marker.
    pub marker: bool,
    /// Transport-wide number, if the packet has one.
    pub transport_number: Option<u16>,
    /// Bytes of the RTP header with its extensions.
    pub header_bytes: u16,
    /// Bytes of media.
    pub payload_bytes: u32,
    /// Bytes of padding.
    pub padding_bytes: u16,
    /// Its probe cluster, if it is known.
    pub probe: Option<u32>,
}

/// A call under assembly. Packets and RTCP come in order of time; packets of one millisecond may come in any order.
#[derive(Debug, Default)]
pub struct CallBuilder {
    pub(super) call: RecordedCall,
    /// Numbers of streams by source identifier.
    streams: BTreeMap<u32, StreamState>,
    /// Unwrapping of transport-wide numbers of packets.
    numbers: NearestUnwrapper,
    /// Rows of recent packets by transport-wide number.
    by_number: RecentRows<65_536>,
    pub(super) rtcp: RtcpState,
    /// Departures by absolute send time.
    send_times: SendTimes,
    left_out: u64,
    /// Packets of streams that are not kept.
    of_further_streams: u64,
    /// Whether rows of other tables than packets were left out.
    events_left_out: bool,
    first_us: Option<i64>,
    last_us: i64,
}

/// Departures that packets carry as absolute send time, by the sender's clock.
#[derive(Debug, Default)]
struct SendTimes {
    /// Arrival and departure of the last packet.
    last: Option<(i64, i64)>,
    /// Least of arrival minus departure.
    least_delay: Option<i64>,
}

/// Time after which absolute send time begins anew.
const SEND_TIME_PERIOD_US: i64 = 64_000_000;

impl SendTimes {
    /// The departure in µs of a packet with the send time `stamp`, in units of 2⁻¹⁸ s. Of the times that the stamp may
    /// stand for, that is the one nearest to the last departure plus the time since.
    fn departure(&mut self, arrived_us: i64, stamp: u32) -> i64 {
        let stamp_us = (i64::from(stamp & 0xFF_FFFF) * 1_000_000) >> 18;
        let sent_us = self.last.map_or(stamp_us, |(arrived, sent)| {
            nearest(sent + (arrived_us - arrived), stamp_us, SEND_TIME_PERIOD_US)
        });
        self.last = Some((arrived_us, sent_us));
        let delay = arrived_us - sent_us;
        self.least_delay = Some(self.least_delay.map_or(delay, |least| least.min(delay)));
        sent_us
    }
}

#[derive(Debug)]
struct StreamState {
    number: u16,
    unwrapper: NearestUnwrapper,
    /// Rows of recent packets by sequence number.
    rows: RecentRows<8192>,
}

/// Rows of the last `N` packets by their number. Memory does not grow with the call.
#[derive(Debug, Default)]
struct RecentRows<const N: usize>(Vec<(i64, u32)>);

impl<const N: usize> RecentRows<N> {
    fn insert(&mut self, number: i64, row: u32) {
        if self.0.is_empty() {
            self.0.resize(N, (i64::MIN, 0));
        }
        self.0[number.rem_euclid(N as i64) as usize] = (number, row);
    }

    fn get(&self, number: i64) -> Option<usize> {
        let &(held, row) = self.0.get(number.rem_euclid(N as i64) as usize)?;
        (held == number).then_some(row as usize)
    }
}

/// Unwraps 16-bit numbers to the value nearest to the last one.
#[derive(Debug, Default)]
pub(super) struct NearestUnwrapper(Unwrapper);

impl NearestUnwrapper {
    pub(super) fn unwrap(&mut self, value: u16) -> i64 {
        self.0.unwrap(value) as i64
    }

    /// The unwrapped number that `value` stands for in a report, which covers packets of the past.
    pub(super) fn resolve(&self, value: u16) -> Option<i64> {
        let newest = self.0.newest()? as i64;
        Some(newest + i64::from(value.wrapping_sub(newest as u16) as i16))
    }
}

impl CallBuilder {
    /// An empty call of this source.
    pub fn new(source: RecordingSource) -> Self {
        let call = RecordedCall { version: FORMAT_VERSION, source, ..RecordedCall::default() };
        Self { call, ..Self::default() }
    }

    /// The call so far. Its times are those given.
    pub fn call_mut(&mut self) -> &mut RecordedCall {
        &mut self.call
    }

    /// Whether the tables other than packets take another row. A reader of a file asks before it adds one, so that no file
    /// fills the memory.
    pub fn has_room(&mut self) -> bool {
        let rows: usize = self.call.time_columns().iter().map(|(_, column)| column.len()).sum();
        self.events_left_out |= rows >= MOST_EVENTS;
        rows < MOST_EVENTS
    }

    /// Says what clock the arrivals are of.
    pub fn set_arrival_clock(&mut self, clock: ArrivalClock) {
        self.call.arrival_clock = clock;
    }

    /// Declares a stream; returns whether it is kept. A stream that is not declared is of unknown content.
    pub fn declare_stream(&mut self, ssrc: u32, kind: StreamKind, clock_hz: u32) -> bool {
        let number = self.stream(ssrc);
        if let Some(number) = number {
            self.call.streams[usize::from(number)] = RecordedStream { kind, clock_hz };
        }
        number.is_some()
    }

    /// Whether the stream is known, by declaration or by a packet.
    pub fn knows_stream(&self, ssrc: u32) -> bool {
        self.streams.contains_key(&ssrc)
    }

    /// The place of the stream of this source identifier, if it is known.
    pub(super) fn known_stream(&self, ssrc: u32) -> Option<u16> {
        Some(self.streams.get(&ssrc)?.number)
    }

    /// The place of the stream of this source identifier, known or new; `None` beyond the most streams.
    fn stream(&mut self, ssrc: u32) -> Option<u16> {
        let known = self.known_stream(ssrc);
        if known.is_some() || self.streams.len() >= MOST_STREAMS {
            return known;
        }
        let number = self.streams.len() as u16;
        let state =
            StreamState { number, unwrapper: NearestUnwrapper::default(), rows: RecentRows::default() };
        self.streams.insert(ssrc, state);
        self.call.streams.push(RecordedStream::default());
        Some(number)
    }

    /// Adds a sentence about a gap of the recording.
    pub fn remark(&mut self, sentence: String) {
        if !self.call.remarks.contains(&sentence) {
            self.call.remarks.push(sentence);
        }
    }

    /// Notes an event at `time_us`, from which the length of the call is computed.
    pub fn touch(&mut self, time_us: i64) {
        let first = *self.first_us.get_or_insert(time_us);
        self.first_us = Some(first.min(time_us));
        self.last_us = self.last_us.max(time_us);
    }

    /// Adds a packet that left the sender at `time_us`.
    pub fn on_sent(&mut self, time_us: i64, packet: &RtpDeparture) {
        self.touch(time_us);
        self.add(packet, |row| row.sent_us = OptionalInteger::new(time_us));
    }

    /// Adds a packet that reached the receiver at `arrived_us`, in a recording without departures.
    pub fn on_received(&mut self, arrived_us: i64, packet: &RtpDeparture) {
        self.touch(arrived_us);
        self.add(packet, |row| row.arrived_us = OptionalInteger::new(arrived_us));
    }

    /// The same of a packet that carries its absolute send time `stamp`, in units of 2⁻¹⁸ s, modulo 64 s.
    pub fn on_received_stamped(&mut self, arrived_us: i64, packet: &RtpDeparture, stamp: u32) {
        self.touch(arrived_us);
        let sent_us = self.send_times.departure(arrived_us, stamp);
        self.add(packet, |row| {
            row.arrived_us = OptionalInteger::new(arrived_us);
            row.sent_us = OptionalInteger::new(sent_us);
        });
    }

    /// Adds the arrival of a packet whose departure is known, as the receiver saw it.
    pub fn on_arrival(&mut self, arrived_us: i64, ssrc: u32, sequence: u16, ecn: u8) {
        self.touch(arrived_us);
        let Some(row) = self.row_of_sequence(ssrc, sequence) else { return };
        let packets = &mut self.call.packets;
        if !packets.arrived_us[row].is_known() {
            packets.arrived_us[row] = OptionalInteger::new(arrived_us);
            packets.ecn[row] = ecn;
        }
    }

    fn add(&mut self, packet: &RtpDeparture, set_time: impl Fn(&mut PacketRow)) {
        if self.call.packets.len() >= MOST_PACKETS {
            self.left_out += 1;
            return;
        }
        let number = packet.transport_number.map(|number| self.numbers.unwrap(number));
        let stream = self.stream(packet.ssrc);
        let (Some(stream), Some(state)) = (stream, self.streams.get_mut(&packet.ssrc)) else {
            self.of_further_streams += 1;
            return;
        };
        let sequence = state.unwrapper.unwrap(packet.sequence);
        let index = self.call.packets.len() as u32;
        if let Some(number) = number {
            self.by_number.insert(number, index);
        }
        state.rows.insert(sequence, index);
        let mut row = PacketRow {
            number: number.into(),
            stream,
            sequence,
            timestamp: packet.timestamp,
            payload_bytes: packet.payload_bytes,
            header_bytes: packet.header_bytes,
            padding_bytes: packet.padding_bytes,
            marker: u8::from(packet.marker),
            probe: packet.probe.map(i64::from).into(),
            ..PacketRow::default()
        };
        set_time(&mut row);
        self.call.packets.push(row);
    }

    /// The row that a transport-wide number in a report stands for.
    pub(super) fn row_of_number(&self, number: u16) -> Option<usize> {
        self.by_number.get(self.numbers.resolve(number)?)
    }

    /// The row of a sequence number of a stream in a report.
    pub(super) fn row_of_sequence(&self, ssrc: u32, sequence: u16) -> Option<usize> {
        let state = self.streams.get(&ssrc)?;
        state.rows.get(state.unwrapper.resolve(sequence)?)
    }

    /// The call: its packets are in order, and its times count from its first event.
    pub fn finish(mut self) -> RecordedCall {
        if self.left_out > 0 {
            self.remark(RemarkSentence::MORE_PACKETS.with(&[&self.left_out, &MOST_PACKETS]));
        }
        if self.of_further_streams > 0 {
            self.remark(RemarkSentence::MORE_STREAMS.with(&[&MOST_STREAMS, &self.of_further_streams]));
        }
        if self.events_left_out {
            self.remark(RemarkSentence::MORE_EVENTS.with(&[&MOST_EVENTS]));
        }
        // Whole milliseconds: controllers round times to them, and must do so as in the call.
        let origin = self.first_us.unwrap_or(0).div_euclid(1000) * 1000;
        let mut call = self.call;
        call.duration_us = (self.last_us - origin).max(0);
        if let Some(least_delay) = self.send_times.least_delay {
            // Send times are of the sender's clock: moved so, the fastest packet takes no time.
            shift(&mut call.packets.sent_us, -least_delay);
        }
        // A clock of milliseconds gives packets of a burst one time: their numbers have the order of departure.
        call.packets.sort_by_key(|packet| (packet.order_us(), packet.number.get().unwrap_or(0)));
        let shift_arrivals = call.arrival_clock == ArrivalClock::Common;
        shift(&mut call.packets.sent_us, origin);
        shift(&mut call.packets.reported_us, origin);
        if shift_arrivals {
            shift(&mut call.packets.arrived_us, origin);
        }
        let columns: [&mut Vec<i64>; 16] = [
            &mut call.feedback.time_us,
            &mut call.receiver_reports.time_us,
            &mut call.round_trips.time_us,
            &mut call.targets.time_us,
            &mut call.encoder_targets.time_us,
            &mut call.ceilings.time_us,
            &mut call.delay_estimates.time_us,
            &mut call.loss_estimates.time_us,
            &mut call.probe_clusters.time_us,
            &mut call.probe_outcomes.time_us,
            &mut call.application_limits.time_us,
            &mut call.route_changes.time_us,
            &mut call.frames.time_us,
            &mut call.decoded_frames.time_us,
            &mut call.key_frame_requests.time_us,
            &mut call.nacks.time_us,
        ];
        let counters = call.counters.iter_mut().map(|series| &mut series.time_us);
        let labels = call.labels.iter_mut().map(|series| &mut series.time_us);
        for column in columns.into_iter().chain(counters).chain(labels) {
            for time in column {
                *time -= origin;
            }
        }
        call
    }
}

fn shift(column: &mut [OptionalInteger], origin: i64) {
    for time in column {
        *time = time.get().map(|time| time - origin).into();
    }
}
