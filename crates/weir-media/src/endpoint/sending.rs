//! Packets that leave an endpoint.

use weir_cc::SendTime;
use weir_wire::media::header_len;

use super::event::{Departure, PacketBatch, PacketKind, StreamId};
use super::payload::Payload;
use super::queue::{NextPacket, QueuedPacket, SentPayload};
use super::{Endpoint, EndpointError, PacketNumbering, StreamKind};
use crate::content::{PADDING_PAYLOAD, write_padding};
use crate::path::{DepartedPacket, OutgoingPacket};

/// Most packets of a batch: the limit of Linux.
const MOST_SEGMENTS: usize = 64;

impl<P: Payload> Endpoint<P> {
    /// The next packet that may leave now, written into `out`; call until `None`. A payload without
    /// [bytes](Payload::bytes) is the embedder's to write, behind the header.
    ///
    /// # Errors
    /// If the time ran back, `out` is shorter than the packet, or packets are numbered by the embedder. The packet stays
    /// in the queue.
    pub fn poll_packet(
        &mut self,
        now: SendTime,
        out: &mut [u8],
    ) -> Result<Option<Departure<P>>, EndpointError> {
        if self.config.numbering != PacketNumbering::Own {
            return Err(EndpointError::WrongNumbering);
        }
        self.poll(now, None, out)
    }

    /// The next packet that may leave now, with the transport-wide sequence number `number`: [`Self::poll_packet`] for
    /// [`PacketNumbering::Given`].
    ///
    /// # Errors
    /// As [`Self::poll_packet`], and if the number does not follow the number before it.
    pub fn poll_packet_as(
        &mut self,
        now: SendTime,
        number: u16,
        out: &mut [u8],
    ) -> Result<Option<Departure<P>>, EndpointError> {
        if self.config.numbering != PacketNumbering::Given {
            return Err(EndpointError::WrongNumbering);
        }
        self.poll(now, Some(number), out)
    }

    fn poll(
        &mut self,
        now: SendTime,
        number: Option<u16>,
        out: &mut [u8],
    ) -> Result<Option<Departure<P>>, EndpointError> {
        self.begin(now)?;
        self.path.expire(now);
        if !self.may_send(now) {
            return Ok(None);
        }
        if let Some(number) = number {
            self.path.skip_to(number).map_err(|_| EndpointError::NumberWentBack { number })?;
        }
        let needed = self.next_length();
        if out.len() < needed {
            return Err(EndpointError::BufferTooSmall { needed, available: out.len() });
        }
        let next = match self.path.source.pop_audio() {
            Some(packet) => Some(NextPacket::Media(packet)),
            None => self.path.source.pop(now),
        };
        Ok(next.map(|next| self.send(now, next, out)))
    }

    /// Whether a packet may leave now.
    fn may_send(&self, now: SendTime) -> bool {
        self.path.is_sending() && (self.path.source.next_audio().is_some() || self.path.may_send(now))
    }

    /// The packets that may leave now, one behind the other in `out`, for segmentation offload (`UDP_SEGMENT`): all have
    /// the same length, but the last one may be shorter. Call until `None`. Payloads must have [bytes](Payload::bytes).
    ///
    /// # Errors
    /// As [`Self::poll_packet`].
    pub fn poll_batch(
        &mut self,
        now: SendTime,
        out: &mut [u8],
    ) -> Result<Option<PacketBatch>, EndpointError> {
        let Some(first) = self.poll_packet(now, out)? else { return Ok(None) };
        let mut batch = PacketBatch { segment: first.length, length: first.length, packets: 1 };
        while batch.length.is_multiple_of(batch.segment)
            && batch.packets < MOST_SEGMENTS
            && self.may_send(now)
            && self.next_length() <= batch.segment.min(out.len() - batch.length)
            && let Some(next) = self.poll_packet(now, &mut out[batch.length..])?
        {
            batch.length += next.length;
            batch.packets += 1;
        }
        Ok(Some(batch))
    }

    /// Length of the packet that leaves next.
    fn next_length(&self) -> usize {
        header_len(self.path.stamp(), false) + self.path.source.next_body()
    }

    /// Sends a packet and writes it into `out`.
    fn send(&mut self, now: SendTime, next: NextPacket<P>, out: &mut [u8]) -> Departure<P> {
        let packets = |stream: usize| &self.path.source.streams[stream];
        let (stream, kind, payload, packet) = match next {
            NextPacket::Media(QueuedPacket { stream, payload, meta, queued }) => {
                let config = &packets(stream).config;
                let outgoing = OutgoingPacket {
                    stream: packets(stream).place,
                    payload_type: config.payload_type,
                    timestamp: Some(meta.timestamp),
                    payload: payload.size() as u16,
                    marker: meta.marker,
                    marking: None,
                    original: None,
                    padding: false,
                    paced: config.kind != StreamKind::Audio,
                };
                self.path.source.streams[stream].counts.send_delay += now - queued;
                (stream, PacketKind::Media, Some(payload), outgoing)
            }
            NextPacket::Retransmission { stream, sequence, packet, padding } => {
                let again = packets(stream).config.retransmission;
                let outgoing = OutgoingPacket {
                    stream: packets(stream).retransmission_place.unwrap_or(packets(stream).place),
                    payload_type: again
                        .map_or(packets(stream).config.payload_type, |again| again.payload_type),
                    timestamp: Some(packet.timestamp),
                    payload: packet.payload.size() as u16,
                    marker: packet.marker,
                    marking: None,
                    original: Some(sequence),
                    padding,
                    paced: true,
                };
                (stream, PacketKind::Retransmission { padding }, Some(packet.payload), outgoing)
            }
            NextPacket::Padding { stream } => {
                let outgoing = OutgoingPacket {
                    stream: packets(stream).place,
                    payload_type: packets(stream).config.payload_type,
                    timestamp: None,
                    payload: PADDING_PAYLOAD,
                    marker: false,
                    marking: None,
                    original: None,
                    padding: true,
                    paced: true,
                };
                (stream, PacketKind::Padding, None, outgoing)
            }
        };
        let DepartedPacket { header, probe, sent } = self.path.send(now, &packet);
        let sizes = (header.wire_len() as u16, packet.payload);
        self.count(now, stream, kind, sizes, (sent.id, header.sequence));
        if let (PacketKind::Media, Some(payload)) = (kind, &payload) {
            let sent =
                SentPayload { payload: payload.clone(), timestamp: header.timestamp, marker: header.marker };
            self.path.source.on_media(now, stream, (header.sequence, packet.payload), sent);
        }
        let start = header.write(&self.config.extension_ids, out).unwrap_or_default();
        let length = start + usize::from(packet.payload);
        match &payload {
            Some(payload) => {
                let bytes = payload.bytes();
                out[start..start + bytes.len()].copy_from_slice(bytes);
            }
            None => write_padding(&mut out[..length], start),
        }
        Departure {
            stream: StreamId(stream),
            kind,
            length,
            header: start,
            payload,
            sequence: header.sequence,
            transport_sequence: header.transport_sequence,
            probe,
        }
    }

    /// Counts a packet with these bytes of header and payload that left with this identifier and sequence number.
    pub(super) fn count(
        &mut self,
        now: SendTime,
        stream: usize,
        kind: PacketKind,
        (header, payload): (u16, u16),
        (id, sequence): (u64, u16),
    ) {
        let media = (kind == PacketKind::Media).then_some(stream as u16);
        self.path.source.sent.on_sent(now, id, media, sequence);
        let counts = &mut self.path.source.streams[stream].counts;
        counts.headers += u64::from(header);
        let (packets, bytes) = match kind {
            PacketKind::Media => (&mut counts.packets, &mut counts.payload),
            PacketKind::Retransmission { padding: false } => {
                (&mut counts.repeated_packets, &mut counts.repeated_payload)
            }
            _ => (&mut counts.padding_packets, &mut counts.padding_payload),
        };
        *packets += 1;
        *bytes += u64::from(payload);
    }
}
