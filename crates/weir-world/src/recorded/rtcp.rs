//! RTCP of a recorded call: reports are joined with the packets that they cover.

use weir_wire::NtpTime;
use weir_wire::ntp::nanos_from_units;
use weir_wire::rtcp::{
    Ccfb, Message, PAYLOAD_FEEDBACK, PacketStatus, ReportBlock, RtcpPacket, Twcc, messages,
};

use super::builder::CallBuilder;
use super::tables::{FeedbackReport, KeyFrameRequest, Nack, RateRow, ReceiverReportRow, RoundTrip};
use super::{ArrivalClock, MOST_BEYOND_US, OptionalInteger};

/// Sender reports that are kept for round-trip times.
const SENDER_REPORTS: usize = 64;
/// Feedback message type of a full intra request (RFC 5104 §4.3.1).
const FULL_INTRA_REQUEST: u8 = 4;

impl CallBuilder {
    /// Takes RTCP that the sender of the media sent at `time_us`: its sender reports date round-trip times.
    pub fn on_rtcp_sent(&mut self, time_us: i64, datagram: &[u8]) {
        self.touch(time_us);
        for message in messages(datagram).flatten() {
            if let Message::SenderReport(report) = message {
                let sent = &mut self.rtcp.sender_reports;
                sent.truncate(SENDER_REPORTS - 1);
                sent.push_front((NtpTime::middle(report.info.ntp), time_us));
            }
        }
    }

    /// Takes RTCP that came to the sender of the media at `time_us`. Messages that cannot be read are skipped.
    pub fn on_rtcp(&mut self, time_us: i64, datagram: &[u8]) {
        self.touch(time_us);
        for message in messages(datagram).flatten() {
            if !self.has_room() {
                return;
            }
            match message {
                Message::Twcc(feedback) => self.on_transport_feedback(time_us, &feedback),
                Message::Ccfb(feedback) => self.on_ccfb(time_us, &feedback),
                other => self.on_report(time_us, &other),
            }
        }
    }

    /// Takes RTCP that the receiver of the media sent at `time_us`, in a recording of the receiver. Per-packet feedback is
    /// skipped: the sender's view of its packets is not known there.
    pub fn on_rtcp_of_receiver(&mut self, time_us: i64, datagram: &[u8]) {
        self.touch(time_us);
        for message in messages(datagram).flatten() {
            if !self.has_room() {
                return;
            }
            self.on_report(time_us, &message);
        }
    }

    /// Takes a report or a request of the receiver other than per-packet feedback.
    fn on_report(&mut self, time_us: i64, message: &Message<'_>) {
        match message {
            Message::ReceiverReport(report) => {
                report.blocks().for_each(|block| self.on_block(time_us, &block));
            }
            Message::SenderReport(report) => {
                report.blocks().for_each(|block| self.on_block(time_us, &block));
            }
            Message::Remb(remb) => {
                self.call.ceilings.push(RateRow { time_us, bps: remb.bitrate });
            }
            Message::Nada(_)
            | Message::NadaDelay(_)
            | Message::Dccc(_)
            | Message::Tfrc(_)
            | Message::Own(_) => {
                self.call.feedback.push(FeedbackReport { time_us, ..FeedbackReport::default() });
            }
            Message::Pli(request) => self.on_key_frame_request(time_us, request.source),
            Message::Nack(request) => {
                let packets = request.sequences().count() as u32;
                if let Some(stream) = self.known_stream(request.source).filter(|_| packets > 0) {
                    self.call.nacks.push(Nack { time_us, stream, packets });
                }
            }
            Message::Other(packet) => self.on_other(time_us, packet),
            _ => {}
        }
    }

    fn on_transport_feedback(&mut self, time_us: i64, feedback: &Twcc<'_>) {
        let reference = self.rtcp.references.unwrap(time_us, feedback.reference_nanos(), Twcc::PERIOD_NANOS);
        let (mut packets, mut lost) = (0, 0);
        for (number, status) in feedback.statuses() {
            packets += 1;
            lost += u32::from(status == PacketStatus::Missing);
            let Some(row) = self.row_of_number(number) else { continue };
            let arrived = status.nanos().map(|nanos| reference.saturating_add(nanos) / 1000);
            self.report(time_us, row, status != PacketStatus::Missing, arrived, 0);
        }
        let (missed, came_late) = self.rtcp.numbers.next(feedback.number, self.call.feedback.len());
        if let Some(row) = came_late {
            self.call.feedback.missed[row] -= 1;
        }
        self.call.feedback.push(FeedbackReport { time_us, packets, lost, missed });
    }

    fn on_ccfb(&mut self, time_us: i64, feedback: &Ccfb<'_>) {
        let made = self.rtcp.report_times.unwrap(time_us, feedback.timestamp_nanos(), Ccfb::PERIOD_NANOS);
        let (mut packets, mut lost) = (0, 0);
        for block in feedback.blocks() {
            for (sequence, metric) in block.metrics() {
                packets += 1;
                lost += u32::from(metric.is_none());
                let Some(row) = self.row_of_sequence(block.source, sequence) else { continue };
                let arrived =
                    metric.and_then(|metric| Some(made.saturating_sub(metric.offset_nanos()?) / 1000));
                self.report(time_us, row, metric.is_some(), arrived, metric.map_or(0, |metric| metric.ecn));
            }
        }
        self.call.feedback.push(FeedbackReport { time_us, packets, lost, missed: 0 });
    }

    /// Enters the fate of a packet. The first report of its arrival counts, and before it the first of its loss.
    fn report(&mut self, time_us: i64, row: usize, received: bool, arrived_us: Option<i64>, ecn: u8) {
        let packets = &mut self.call.packets;
        let known = packets.reported_us[row].is_known();
        if !received {
            if !known && !self.rtcp.received.contains(row) {
                packets.reported_us[row] = OptionalInteger::new(time_us);
            }
            return;
        }
        if self.rtcp.received.insert(row) {
            packets.reported_us[row] = OptionalInteger::new(time_us);
            packets.ecn[row] = ecn;
            // Arrivals that the receiver itself recorded are more exact than those of reports.
            if self.call.arrival_clock == ArrivalClock::Receiver && arrived_us.is_some() {
                packets.arrived_us[row] = arrived_us.into();
            }
        }
    }

    fn on_block(&mut self, time_us: i64, block: &ReportBlock) {
        // A report about a stream without packets says nothing about this direction.
        let Some(stream) = self.known_stream(block.ssrc) else { return };
        self.call.receiver_reports.push(ReceiverReportRow {
            time_us,
            stream,
            fraction_lost: block.fraction_lost,
            cumulative_lost: block.cumulative_lost,
            highest_sequence: block.highest_sequence,
            jitter: block.jitter,
        });
        let reports = &self.rtcp.sender_reports;
        let sent = reports.iter().find(|(middle, _)| *middle == block.last_sender_report && *middle != 0);
        if let Some(&(_, sent_us)) = sent {
            let held_us = nanos_from_units(block.delay_since_last_sender_report) / 1000;
            let rtt_us = (time_us - sent_us - held_us).max(0);
            if rtt_us <= MOST_BEYOND_US {
                self.call.round_trips.push(RoundTrip { time_us, rtt_us });
            }
        }
    }

    fn on_key_frame_request(&mut self, time_us: i64, ssrc: u32) {
        if let Some(stream) = self.known_stream(ssrc) {
            self.call.key_frame_requests.push(KeyFrameRequest { time_us, stream });
        }
    }

    fn on_other(&mut self, time_us: i64, packet: &RtcpPacket<'_>) {
        let (words, _) = packet.padded_body.as_chunks::<4>();
        if let (PAYLOAD_FEEDBACK, FULL_INTRA_REQUEST, [_, _, requests @ ..]) =
            (packet.packet_type, packet.count, words)
        {
            // An entry has a source and a word of its own sequence number.
            for entry in requests.chunks_exact(2) {
                self.on_key_frame_request(time_us, u32::from_be_bytes(entry[0]));
            }
        }
    }
}
