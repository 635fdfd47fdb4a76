//! Splits frames into packets of nearly equal size and queues those that the pacer has not sent yet.

use std::collections::VecDeque;

use weir_units::DataSize;

use crate::encoder::Frame;

/// A frame whose packets are queued.
#[derive(Clone, Copy, Debug)]
struct QueuedFrame {
    frame: u32,
    timestamp: u32,
    key: bool,
    /// Whether none of its packets has left.
    whole: bool,
    packets_left: u16,
    bytes_left: u32,
}

/// A queue of packets, held as frames: a packet is made when it leaves.
#[derive(Debug)]
pub struct Packetiser {
    payload_limit: u32,
    frames: VecDeque<QueuedFrame>,
    queued: DataSize,
}

/// A packet's place in the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MediaPosition {
    /// Its frame's number.
    pub frame: u32,
    /// Its frame's RTP timestamp.
    pub timestamp: u32,
    /// Payload bytes.
    pub payload: u16,
    /// Whether its frame is a key frame.
    pub key: bool,
    /// Whether it is the frame's first packet.
    pub first: bool,
    /// Whether it is the frame's last packet.
    pub last: bool,
}

impl Packetiser {
    /// Packets of at most `payload_limit` payload bytes (at least 1).
    pub fn new(payload_limit: u16) -> Self {
        Self {
            payload_limit: u32::from(payload_limit.max(1)),
            frames: VecDeque::new(),
            queued: DataSize::ZERO,
        }
    }

    /// Queues a frame and returns the number of its packets: `⌈size / limit⌉`, whose sizes differ by a byte at most,
    /// the larger ones first.
    pub fn push(&mut self, frame: &Frame, timestamp: u32) -> u16 {
        let bytes = u32::try_from(frame.size.bytes()).unwrap_or(u32::MAX);
        let packets = u16::try_from(bytes.div_ceil(self.payload_limit)).unwrap_or(u16::MAX);
        let bytes = bytes.min(u32::from(packets) * self.payload_limit);
        if packets > 0 {
            self.frames.push_back(QueuedFrame {
                frame: frame.number,
                timestamp,
                key: frame.key,
                whole: true,
                packets_left: packets,
                bytes_left: bytes,
            });
            self.queued += DataSize::from_bytes(u64::from(bytes));
        }
        packets
    }

    /// Payload of the packet that is next to leave.
    pub fn peek(&self) -> Option<u16> {
        self.frames.front().map(|f| f.bytes_left.div_ceil(u32::from(f.packets_left)) as u16)
    }

    /// The packet that leaves next.
    pub fn pop(&mut self) -> Option<MediaPosition> {
        let payload = self.peek()?;
        let front = self.frames.front_mut()?;
        front.packets_left -= 1;
        front.bytes_left -= u32::from(payload);
        let last = front.packets_left == 0;
        let first = std::mem::replace(&mut front.whole, false);
        let piece = MediaPosition {
            frame: front.frame,
            timestamp: front.timestamp,
            payload,
            key: front.key,
            first,
            last,
        };
        if last {
            self.frames.pop_front();
        }
        self.queued = self.queued.saturating_sub(DataSize::from_bytes(u64::from(payload)));
        Some(piece)
    }

    /// Queued payload bytes.
    pub fn queued(&self) -> DataSize {
        self.queued
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Drops all queued packets, as a pause does.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.queued = DataSize::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packet sizes of a frame of `bytes` bytes, after checks of the marks of its packets.
    fn sizes(bytes: u64) -> Vec<u16> {
        let mut packetiser = Packetiser::new(1200);
        let frame = Frame { number: 7, size: DataSize::from_bytes(bytes), key: true };
        let packets = packetiser.push(&frame, 9000);
        let pieces: Vec<MediaPosition> = std::iter::from_fn(|| packetiser.pop()).collect();
        assert_eq!(usize::from(packets), pieces.len());
        assert_eq!(packetiser.queued(), DataSize::ZERO);
        let (marked, rest): (Vec<MediaPosition>, Vec<MediaPosition>) = pieces.iter().partition(|p| p.last);
        assert_eq!(marked.len(), 1);
        let first: Vec<bool> = pieces.iter().map(|p| p.first).collect();
        assert!(first[0] && !first[1..].contains(&true) && pieces.iter().all(|p| p.key));
        assert!(rest.iter().all(|p| p.timestamp == 9000 && p.frame == 7));
        pieces.iter().map(|p| p.payload).collect()
    }

    #[test]
    fn frames_are_split_evenly() {
        assert_eq!(sizes(1), [1]);
        assert_eq!(sizes(1200), [1200]);
        assert_eq!(sizes(1201), [601, 600]);
        // 5000 / 1200 → 5 packets of 1000.
        assert_eq!(sizes(5000), [1000; 5]);
        assert_eq!(sizes(5001), [1001, 1000, 1000, 1000, 1000]);
    }

    #[test]
    fn an_empty_frame_makes_no_packet() {
        let mut packetiser = Packetiser::new(1200);
        let empty = Frame { number: 0, size: DataSize::ZERO, key: false };
        assert_eq!(packetiser.push(&empty, 0), 0);
        assert!(packetiser.is_empty() && packetiser.pop().is_none());
    }
}
