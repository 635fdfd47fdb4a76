//! Packets of VP8 frames (RFC 7741), filled up to a wanted size.

use std::collections::VecDeque;
use std::sync::Arc;

use weir_cc::SendTime;

use crate::ivf::ClipFrame;

/// Payload of a packet at most, in bytes: with RTP, SRTP, UDP and IP below 1280.
const PAYLOAD_LIMIT: usize = 1150;
/// RFC 7741 §4.2: X, then I with a picture identifier of 15 bits.
const DESCRIPTOR: usize = 4;
const EXTENDED: u8 = 0x80;
const STARTS: u8 = 0x10;
const HAS_PICTURE_ID: u8 = 0x80;
const LONG_PICTURE_ID: u8 = 0x80;

/// An RTP packet that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VideoPacket {
    /// Payload descriptor and a part of the frame.
    pub(crate) payload: Arc<[u8]>,
    /// RTP timestamp, 90 kHz.
    pub(crate) timestamp: u32,
    /// Whether it is the last of its frame.
    pub(crate) marker: bool,
    /// Number of its frame.
    pub(crate) frame: u32,
    /// When its frame was captured.
    pub(crate) captured: SendTime,
}

/// The packets in front of the pacer.
#[derive(Debug, Default)]
pub(crate) struct VideoQueue {
    packets: VecDeque<VideoPacket>,
    bytes: usize,
    frames: u32,
}

impl VideoQueue {
    /// Queues a frame of `size` bytes or more: zeros follow the last partition, which decoders pass over. Returns the
    /// bytes of all its payloads.
    pub(crate) fn push(
        &mut self,
        frame: &ClipFrame,
        size: usize,
        captured: SendTime,
        timestamp: u32,
    ) -> usize {
        let share = PAYLOAD_LIMIT - DESCRIPTOR;
        let (size, number) = (frame.bytes.len().max(size), self.frames);
        let count = size.div_ceil(share);
        let mut begin = 0;
        for index in 0..count {
            let end = begin + (size - begin).div_ceil(count - index);
            let mut payload = Vec::with_capacity(DESCRIPTOR + end - begin);
            let starts = if index == 0 { STARTS } else { 0 };
            let [high, low] = (number as u16).to_be_bytes();
            payload.extend_from_slice(&[EXTENDED | starts, HAS_PICTURE_ID, LONG_PICTURE_ID | high, low]);
            let of_frame = frame.bytes.len();
            payload.extend_from_slice(&frame.bytes[begin.min(of_frame)..end.min(of_frame)]);
            payload.resize(DESCRIPTOR + end - begin, 0);
            self.bytes += payload.len();
            let (payload, marker) = (payload.into(), index + 1 == count);
            self.packets.push_back(VideoPacket { payload, timestamp, marker, frame: number, captured });
            begin = end;
        }
        self.frames = self.frames.wrapping_add(1);
        size + count * DESCRIPTOR
    }

    /// The packet that leaves next.
    pub(crate) fn front(&self) -> Option<&VideoPacket> {
        self.packets.front()
    }

    /// Takes that packet.
    pub(crate) fn pop(&mut self) -> Option<VideoPacket> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.payload.len();
        Some(packet)
    }

    /// Payload bytes that wait.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(length: usize, size: usize) -> Vec<VideoPacket> {
        let mut queue = VideoQueue::default();
        let frame = ClipFrame { bytes: vec![9; length].into(), key: true };
        let bytes = queue.push(&frame, size, SendTime::ZERO, 7);
        assert_eq!(bytes, queue.bytes());
        let packets: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(queue.bytes(), 0);
        packets
    }

    #[test]
    fn zeros_follow_the_frame() {
        let packets = pushed(1500, 4000);
        let lengths: Vec<usize> = packets.iter().map(|packet| packet.payload.len()).collect();
        assert_eq!(lengths, [1004, 1004, 1004, 1004]);
        let all: Vec<u8> = packets.iter().flat_map(|packet| packet.payload[DESCRIPTOR..].to_vec()).collect();
        assert_eq!(all[..1500], [9; 1500]);
        assert_eq!(all[1500..], [0; 2500]);
        assert_eq!(packets.iter().filter(|packet| packet.marker).count(), 1);
        assert!(packets[3].marker);
    }

    #[test]
    fn a_frame_larger_than_wanted_stays_whole() {
        let packets = pushed(1147, 10);
        assert_eq!(packets.iter().map(|packet| packet.payload.len()).collect::<Vec<_>>(), [578, 577]);
    }

    #[test]
    fn the_descriptor_has_the_start_and_the_picture() {
        let mut queue = VideoQueue { frames: 0x1_7ffe, ..VideoQueue::default() };
        let frame = ClipFrame { bytes: vec![9; 2000].into(), key: false };
        for _ in 0..2 {
            queue.push(&frame, 0, SendTime::ZERO, 0);
        }
        let begins: Vec<[u8; 4]> = std::iter::from_fn(|| queue.pop())
            .map(|packet| packet.payload[..4].try_into().unwrap())
            .collect();
        assert_eq!(
            begins,
            [
                [0x90, 0x80, 0xff, 0xfe],
                [0x80, 0x80, 0xff, 0xfe],
                [0x90, 0x80, 0xff, 0xff],
                [0x80, 0x80, 0xff, 0xff]
            ]
        );
    }
}
