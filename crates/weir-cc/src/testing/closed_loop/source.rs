//! Sources of a loop.

use alloc::collections::VecDeque;

use weir_units::{DataRate, DataSize};

use super::TICK;
use crate::time::SendTime;

const PAYLOAD_LIMIT: u64 = 1200;
const FRAMES_PER_SECOND: u64 = 30;

/// A source of packets at the media rate.
#[derive(Debug)]
pub enum PacketSource {
    /// 30 frames a second, each split evenly into packets of at most 1200 bytes.
    Video {
        /// Frames captured.
        frames: u64,
    },
    /// A packet of full size as soon as there are enough bits.
    Steady {
        /// Bits that do not fill a packet yet.
        bits: f64,
    },
}

impl PacketSource {
    /// Frames, from the first one on.
    pub const VIDEO: Self = Self::Video { frames: 0 };
    /// Packets of full size, starting empty.
    pub const STEADY: Self = Self::Steady { bits: 0.0 };

    /// Adds the packets that are made at `now`, a tick after the time before.
    pub(super) fn offer(&mut self, now: SendTime, rate: DataRate, waiting: &mut VecDeque<Packet>) {
        match self {
            Self::Video { frames } => {
                let due = weir_units::TimeDelta::from_secs(*frames as i64) / FRAMES_PER_SECOND as i64;
                if now - SendTime::ZERO >= due {
                    let media_time = *frames * 90_000 / FRAMES_PER_SECOND;
                    let bytes = rate.bps() / 8 / FRAMES_PER_SECOND;
                    let packets = bytes.div_ceil(PAYLOAD_LIMIT);
                    let size = DataSize::from_bytes(bytes / packets);
                    waiting.extend((1..=packets).map(|n| Packet { media_time, size, last: n == packets }));
                    *frames += 1;
                }
            }
            Self::Steady { bits } => {
                let size = DataSize::from_bytes(PAYLOAD_LIMIT);
                *bits += rate.bps_f64() * TICK.secs_f64();
                while *bits >= size.bits_f64() {
                    *bits -= size.bits_f64();
                    // Each packet is a frame of its own, for controllers that use frames.
                    let media_time = (now - SendTime::ZERO).millis_f64() as u64 * 90;
                    waiting.push_back(Packet { media_time, size, last: true });
                }
            }
        }
    }
}

/// A packet that waits to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) media_time: u64,
    pub(super) size: DataSize,
    pub(super) last: bool,
}
