//! Events of a log, decoded from its messages. Numbers of fields are those of libwebrtc's `rtc_event_log2.proto`.

use weir_world::recorded::RtpDeparture;

use super::batch::EventBatch;

/// Most bytes of an RTP packet.
const MOST_PACKET_BYTES: u64 = 65_535;
/// Greatest time of an event in ms: three thousand years.
const MOST_MS: u64 = 100_000_000_000_000;

/// The way of a packet, seen from the recording end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketWay {
    /// The recording end sent it.
    Sent,
    /// The recording end received it.
    Received,
}

/// An event of a log.
#[derive(Clone, Debug)]
pub(super) enum LoggedEvent {
    /// An RTP packet, with its absolute send time in units of 2⁻¹⁸ s.
    Rtp { way: PacketWay, packet: RtpDeparture, send_time: Option<u32> },
    /// An RTCP datagram.
    Rtcp { way: PacketWay, datagram: Box<[u8]> },
    /// A decoded frame.
    Decoded { render_us: i64, width: u16, height: u16, quantiser: Option<u8> },
    /// The loss-based estimate, which is the sender's.
    LossEstimate { bps: u64, fraction_lost: u8, packets: u32 },
    /// The delay-based estimate.
    DelayEstimate { bps: u64, state: u8 },
    /// A probe cluster was created.
    ProbeCluster { id: u32, bps: u64, min_packets: u32, min_bytes: u32 },
    /// A probe cluster had a result, or a failure.
    ProbeOutcome { id: u32, bps: Option<u32>, failure: u8 },
    /// The source limits the rate from here on, or no longer.
    ApplicationLimit { limited: bool },
    /// A candidate pair was selected. Its headers of IP and UDP have so many bytes, if they are known.
    SelectedPair { headers: u32 },
    /// The network route changed.
    Route { connected: bool, overhead: u32 },
    /// The receiver's estimate of the greatest rate.
    RemoteCeiling { bps: u64 },
}

/// A stream that the browser set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeclaredStream {
    pub(super) way: PacketWay,
    pub(super) video: bool,
    pub(super) ssrc: u32,
    /// Source of its retransmissions, if it has any.
    pub(super) retransmission: Option<u32>,
}

/// Content of a message.
#[derive(Debug)]
pub(super) enum LogMessage {
    /// Begin of a log.
    Begin,
    /// End of a log.
    End,
    /// Events with their times in µs.
    Events(Vec<(i64, LoggedEvent)>),
    /// A stream.
    Declaration(DeclaredStream),
    /// A message that a recorded call does not use.
    Unused,
    /// Events of a form that browsers wrote before 2019.
    Outdated,
}

/// Decodes the message of the field `number` of a log.
pub(super) fn decode(number: u32, message: &[u8]) -> Result<LogMessage, String> {
    let events = match number {
        1 => return Ok(LogMessage::Outdated),
        2 => rtp(message, PacketWay::Received)?,
        3 => rtp(message, PacketWay::Sent)?,
        4 => rtcp(message, PacketWay::Received)?,
        5 => rtcp(message, PacketWay::Sent)?,
        7 => decoded_frames(message)?,
        16 => return Ok(LogMessage::Begin),
        17 => return Ok(LogMessage::End),
        18 => loss_estimates(message)?,
        19 => delay_estimates(message)?,
        21..=25 | 32 => single(number, message)?,
        33 => remote_estimates(message)?,
        101..=104 => return declaration(number, message),
        _ => return Ok(LogMessage::Unused),
    };
    Ok(LogMessage::Events(events))
}

type DecodedEvents = Result<Vec<(i64, LoggedEvent)>, String>;

/// The time of an event in µs.
fn time_us(ms: Option<u64>) -> Result<i64, String> {
    let ms = ms.ok_or("an event has no time")?.cast_signed();
    if ms.unsigned_abs() > MOST_MS {
        Err(format!("an event has the time {ms} ms, which no clock shows"))
    } else {
        Ok(ms * 1000)
    }
}

/// A value that an event has to have, and that fits into its type.
fn needed<T: TryFrom<u64>>(value: Option<u64>, what: &str) -> Result<T, String> {
    let value = value.ok_or_else(|| format!("an event has no {what}"))?;
    T::try_from(value).map_err(|_| format!("an event has the {what} {value}, which is too large"))
}

fn rtp(message: &[u8], way: PacketWay) -> DecodedEvents {
    let batch = EventBatch::read(message, 11)?;
    let mut time = batch.column(1, 101)?;
    let mut marker = batch.column(2, 102)?;
    let mut sequence = batch.column(4, 104)?;
    let mut timestamp = batch.column(5, 105)?;
    let mut ssrc = batch.column(6, 106)?;
    let mut payload = batch.column(8, 108)?;
    let mut header = batch.column(9, 109)?;
    let mut padding = batch.column(10, 110)?;
    let mut transport = batch.column(15, 115)?;
    let mut send_time = batch.column(17, 117)?;
    let event = |_| {
        let packet = RtpDeparture {
            ssrc: needed(ssrc.next()?, "source")?,
            sequence: needed(sequence.next()?, "sequence number")?,
            timestamp: needed(timestamp.next()?, "timestamp")?,
            marker: marker.next()? == Some(1),
            transport_number: transport
                .next()?
                .map(|number| needed(Some(number), "transport-wide number"))
                .transpose()?,
            header_bytes: needed(header.next()?, "size of a header")?,
            payload_bytes: needed(payload.next()?, "size of a payload")?,
            padding_bytes: needed(padding.next()?, "size of padding")?,
            probe: None,
        };
        let RtpDeparture { header_bytes, payload_bytes, padding_bytes, .. } = packet;
        let bytes = u64::from(header_bytes) + u64::from(payload_bytes) + u64::from(padding_bytes);
        if bytes > MOST_PACKET_BYTES {
            return Err(format!("a packet has {bytes} bytes; UDP carries {MOST_PACKET_BYTES} at most"));
        }
        let send_time = send_time.next()?.map(|time| needed(Some(time), "send time")).transpose()?;
        Ok((time_us(time.next()?)?, LoggedEvent::Rtp { way, packet, send_time }))
    };
    (0..=batch.further).map(event).collect()
}

fn rtcp(message: &[u8], way: PacketWay) -> DecodedEvents {
    let batch = EventBatch::read(message, 3)?;
    let mut time = batch.column(1, 101)?;
    let event =
        |datagram: &[u8]| Ok((time_us(time.next()?)?, LoggedEvent::Rtcp { way, datagram: datagram.into() }));
    batch.blobs(2, 102)?.into_iter().map(event).collect()
}

fn decoded_frames(message: &[u8]) -> DecodedEvents {
    let batch = EventBatch::read(message, 15)?;
    let mut time = batch.column(1, 101)?;
    let mut render = batch.column(3, 103)?;
    let mut width = batch.column(4, 104)?;
    let mut height = batch.column(5, 105)?;
    let mut quantiser = batch.column(7, 107)?;
    let event = |_| {
        let frame = LoggedEvent::Decoded {
            render_us: time_us(render.next()?)?,
            width: needed(width.next()?, "width")?,
            height: needed(height.next()?, "height")?,
            quantiser: quantiser.next()?.map(|value| needed(Some(value), "quantiser")).transpose()?,
        };
        Ok((time_us(time.next()?)?, frame))
    };
    (0..=batch.further).map(event).collect()
}

fn loss_estimates(message: &[u8]) -> DecodedEvents {
    let batch = EventBatch::read(message, 5)?;
    let mut time = batch.column(1, 101)?;
    let mut rate = batch.column(2, 102)?;
    let mut lost = batch.column(3, 103)?;
    let mut packets = batch.column(4, 104)?;
    let event = |_| {
        let estimate = LoggedEvent::LossEstimate {
            bps: needed(rate.next()?, "rate")?,
            fraction_lost: needed(lost.next()?, "share of losses")?,
            packets: needed(packets.next()?, "number of packets")?,
        };
        Ok((time_us(time.next()?)?, estimate))
    };
    (0..=batch.further).map(event).collect()
}

fn delay_estimates(message: &[u8]) -> DecodedEvents {
    let batch = EventBatch::read(message, 4)?;
    let mut time = batch.column(1, 101)?;
    let mut rate = batch.column(2, 102)?;
    let mut state = batch.column(3, 103)?;
    let event = |_| {
        let bps = needed(rate.next()?, "rate")?;
        // 0 unknown, 1 normal, 2 underuse, 3 overuse.
        let state = match state.next()? {
            Some(state @ 1..=3) => state as u8 - 1,
            _ => 0,
        };
        Ok((time_us(time.next()?)?, LoggedEvent::DelayEstimate { bps, state }))
    };
    (0..=batch.further).map(event).collect()
}

fn remote_estimates(message: &[u8]) -> DecodedEvents {
    let batch = EventBatch::read(message, 4)?;
    let mut time = batch.column(1, 101)?;
    let mut upper = batch.column(3, 103)?;
    let mut events = Vec::new();
    for _ in 0..=batch.further {
        let time = time_us(time.next()?)?;
        if let Some(kbps) = upper.next()? {
            let kbps: u32 = needed(Some(kbps), "rate")?;
            events.push((time, LoggedEvent::RemoteCeiling { bps: 1000 * u64::from(kbps) }));
        }
    }
    Ok(events)
}

/// Events that come one a message.
fn single(number: u32, message: &[u8]) -> DecodedEvents {
    let single = EventBatch::single(message)?;
    let value = |field| single.integer(field);
    let event = match number {
        21 => Some(LoggedEvent::ProbeCluster {
            id: needed(value(2), "probe cluster")?,
            bps: needed(value(3), "rate")?,
            min_packets: needed(value(4), "number of packets")?,
            min_bytes: needed(value(5), "number of bytes")?,
        }),
        22 => Some(LoggedEvent::ProbeOutcome {
            id: needed(value(2), "probe cluster")?,
            bps: Some(needed(value(3), "rate")?),
            failure: 0,
        }),
        // Of an unknown reason, 0, nothing can be said.
        23 => match value(3) {
            Some(failure @ 1..=3) => Some(LoggedEvent::ProbeOutcome {
                id: needed(value(2), "probe cluster")?,
                bps: None,
                failure: failure as u8,
            }),
            _ => None,
        },
        24 => Some(LoggedEvent::ApplicationLimit { limited: value(2) == Some(1) }),
        25 => (value(2) == Some(SELECTED)).then(|| LoggedEvent::SelectedPair { headers: headers(&value) }),
        _ => Some(LoggedEvent::Route {
            connected: value(2) == Some(1),
            overhead: needed(value(3).or(Some(0)), "overhead").map(|bytes: u16| bytes.into())?,
        }),
    };
    let Some(event) = event else { return Ok(Vec::new()) };
    Ok(vec![(time_us(value(1))?, event)])
}

/// The event of a candidate pair by which it is selected.
const SELECTED: u64 = 4;

/// Bytes of IP and UDP headers of a candidate pair; 0 where they are not known, as over TCP.
fn headers(value: &impl Fn(u32) -> Option<u64>) -> u32 {
    match (value(10), value(9)) {
        (Some(1), Some(1)) => 28,
        (Some(1), Some(2)) => 48,
        _ => 0,
    }
}

fn declaration(number: u32, message: &[u8]) -> Result<LogMessage, String> {
    let single = EventBatch::single(message)?;
    let sends = number == 102 || number == 104;
    let video = number >= 103;
    let retransmission = match number {
        103 => single.integer(4),
        104 => single.integer(3),
        _ => None,
    };
    let retransmission =
        retransmission.filter(|&ssrc| ssrc != 0).map(|ssrc| needed(Some(ssrc), "source")).transpose()?;
    Ok(LogMessage::Declaration(DeclaredStream {
        way: if sends { PacketWay::Sent } else { PacketWay::Received },
        video,
        ssrc: needed(single.integer(2), "source")?,
        retransmission,
    }))
}
