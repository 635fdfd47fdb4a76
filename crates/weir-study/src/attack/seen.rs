//! Packets and reports of a call that an on-path attacker has observed.

use std::collections::VecDeque;

use weir_cc::SendTime;
use weir_media::{MediaPacket, PacketFormat};
use weir_wire::rtcp::{self, Message};

/// Observed packets and reports of a call.
#[derive(Debug)]
pub(super) struct ObservedCall {
    pub(super) format: PacketFormat,
    /// Departure times of the newest packets, with their transport-wide sequence numbers.
    pub(super) packets: VecDeque<(SendTime, u16)>,
    /// Reports of the receiver, with their times.
    pub(super) reports: VecDeque<(SendTime, Vec<u8>)>,
    /// Middle 32 bits of the NTP time in the last sender report; `highest` is the highest RTP sequence number.
    pub(super) sender_report: u32,
    pub(super) highest: u32,
    /// The newest packet.
    pub(super) last: Option<MediaPacket>,
}

/// Greatest number of packets that are remembered.
const MAX_PACKETS: usize = 4096;

impl ObservedCall {
    pub(super) fn new(format: PacketFormat) -> Self {
        let (packets, reports) = (VecDeque::new(), VecDeque::new());
        Self { format, packets, reports, sender_report: 0, highest: 0, last: None }
    }

    pub(super) fn on_packet(&mut self, now: SendTime, packet: &MediaPacket) {
        self.packets.push_back((now, packet.header.transport_sequence));
        self.last = Some(*packet);
        self.highest = u32::from(packet.header.sequence);
        if self.packets.len() > MAX_PACKETS {
            self.packets.pop_front();
        }
    }

    pub(super) fn on_report(&mut self, now: SendTime, bytes: &[u8]) {
        self.reports.push_back((now, bytes.to_vec()));
        if self.reports.len() > MAX_PACKETS {
            self.reports.pop_front();
        }
    }

    pub(super) fn on_sender_report(&mut self, bytes: &[u8]) {
        for message in rtcp::messages(bytes).flatten() {
            if let Message::SenderReport(report) = message {
                self.sender_report = report.info.ntp.middle();
            }
        }
    }
}

/// Transport-wide sequence number of the last packet that left by `until`.
pub(super) fn number_before(seen: &ObservedCall, until: SendTime) -> u16 {
    let place = seen.packets.partition_point(|(at, _)| *at <= until);
    seen.packets.get(place.saturating_sub(1)).map_or(0, |(_, number)| *number)
}
