//! Delays of frames: from the capture to the moment at which the last packet has come to the browser's end.

use std::collections::VecDeque;

use weir_cc::SendTime;
use weir_units::TimeDelta;

/// Time for which a frame is waited for.
const PATIENCE: TimeDelta = TimeDelta::from_secs(3);

/// A frame on its way.
#[derive(Clone, Copy, Debug)]
struct FrameOnWay {
    number: u32,
    captured: SendTime,
    /// Packets that have left and not arrived.
    missing: u32,
    /// Whether all its packets have left.
    whole: bool,
}

/// A packet of a frame on its way.
#[derive(Clone, Copy, Debug)]
struct PacketOnWay {
    sequence: u16,
    frame: u32,
    arrived: bool,
}

/// Frames on their way.
#[derive(Debug, Default)]
pub(crate) struct FrameDelays {
    frames: VecDeque<FrameOnWay>,
    packets: VecDeque<PacketOnWay>,
}

impl FrameDelays {
    /// Takes a packet of a frame that has left; `last` for the last one of its frame.
    pub(crate) fn on_sent(
        &mut self,
        now: SendTime,
        sequence: u16,
        frame: u32,
        captured: SendTime,
        last: bool,
    ) {
        while self.frames.front().is_some_and(|oldest| now - oldest.captured > PATIENCE) {
            self.frames.pop_front();
        }
        let oldest = self.frames.front().map_or(frame, |oldest| oldest.number);
        while self.packets.front().is_some_and(|packet| packet.frame < oldest) {
            self.packets.pop_front();
        }
        self.packets.push_back(PacketOnWay { sequence, frame, arrived: false });
        match self.frames.back_mut().filter(|newest| newest.number == frame) {
            Some(newest) => {
                newest.missing += 1;
                newest.whole = last;
            }
            None => self.frames.push_back(FrameOnWay { number: frame, captured, missing: 1, whole: last }),
        }
    }

    /// Takes a packet that has come to the browser's end, for the first time or again. Returns the delay of a frame that
    /// is whole with it.
    pub(crate) fn on_arrived(&mut self, now: SendTime, sequence: u16) -> Option<TimeDelta> {
        let first = self.packets.front()?.sequence;
        // Numbers that have not left are missing among them.
        let place = |sequence: u16| sequence.wrapping_sub(first);
        let found =
            self.packets.binary_search_by_key(&place(sequence), |packet| place(packet.sequence)).ok()?;
        let packet = self.packets.get_mut(found).filter(|packet| !packet.arrived)?;
        packet.arrived = true;
        let number = packet.frame;
        let place = self.frames.binary_search_by_key(&number, |frame| frame.number).ok()?;
        let frame = &mut self.frames[place];
        frame.missing -= 1;
        (frame.whole && frame.missing == 0).then(|| now - frame.captured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn a_frame_is_whole_with_its_last_packet_even_if_that_is_sent_again() {
        let mut delays = FrameDelays::default();
        delays.on_sent(ms(0), 65_535, 0, ms(0), false);
        assert_eq!(delays.on_arrived(ms(25), 65_535), None, "its last packet has not left");
        delays.on_sent(ms(5), 0, 0, ms(0), true);
        delays.on_sent(ms(33), 1, 1, ms(33), true);
        assert_eq!(delays.on_arrived(ms(60), 1), Some(TimeDelta::from_millis(27)));
        assert_eq!(delays.on_arrived(ms(90), 0), Some(TimeDelta::from_millis(90)));
        assert_eq!(delays.on_arrived(ms(95), 0), None);
    }

    #[test]
    fn a_number_that_has_not_left_is_no_packet() {
        let mut delays = FrameDelays::default();
        for (number, sequence) in [(0, 65_534), (1, 0), (2, 1)] {
            delays.on_sent(ms(0), sequence, number, ms(i64::from(number)), true);
        }
        assert_eq!(delays.on_arrived(ms(25), 0), Some(TimeDelta::from_millis(24)));
        assert_eq!(delays.on_arrived(ms(25), 65_535), None);
        assert_eq!(delays.on_arrived(ms(25), 1), Some(TimeDelta::from_millis(23)));
    }

    #[test]
    fn frames_are_forgotten() {
        let mut delays = FrameDelays::default();
        for number in 0..10_000 {
            let now = ms(33 * i64::from(number));
            delays.on_sent(now, number as u16, number, now, true);
        }
        assert!(delays.frames.len() < 100 && delays.packets.len() < 100);
        assert_eq!(delays.on_arrived(ms(330_000), 5), None);
    }
}
