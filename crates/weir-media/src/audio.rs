//! Audio beside the video: packets of one size at a fixed interval. The controller counts their bytes and does not
//! set their rate.

use weir_cc::SendTime;
use weir_units::{DataRate, DataSize, TimeDelta};

/// Audio of a constant rate in a stream of its own, one RTP packet per interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct AudioConfig {
    /// Rate of the payload, greater than zero.
    pub rate: DataRate,
    /// Time between packets, greater than zero.
    pub interval: TimeDelta,
}

impl Default for AudioConfig {
    /// 20 kbit/s (RFC 8867 §4.3) in packets of 20 ms.
    fn default() -> Self {
        Self { rate: DataRate::from_kbps(20), interval: TimeDelta::from_millis(20) }
    }
}

impl AudioConfig {
    /// Payload of a packet: the rate times the interval, in whole bytes.
    pub fn payload(&self) -> DataSize {
        let bytes = self.rate.bps_f64() * self.interval.secs_f64() / 8.0;
        DataSize::from_bytes_f64(bytes.round().max(1.0))
    }
}

/// Largest lateness, in intervals, at which a packet is still sent; later packets are skipped.
const MAX_LATE_PACKETS: i64 = 2;

/// Schedule of the audio packets.
#[derive(Debug)]
pub(crate) struct AudioSource {
    config: AudioConfig,
    due: SendTime,
}

impl AudioSource {
    pub(crate) fn new(config: AudioConfig) -> Self {
        Self { config, due: SendTime::MAX }
    }

    pub(crate) fn start(&mut self, now: SendTime) {
        self.due = now;
    }

    pub(crate) fn stop(&mut self) {
        self.due = SendTime::MAX;
    }

    pub(crate) fn due(&self) -> SendTime {
        self.due
    }

    /// Recording time and payload of the packet that is due, if one is due. Packets more than two intervals late were
    /// not recorded.
    pub(crate) fn poll(&mut self, now: SendTime) -> Option<(SendTime, u16)> {
        if self.due > now {
            return None;
        }
        let late = (now - self.due).nanos() / self.config.interval.nanos().max(1);
        if late > MAX_LATE_PACKETS {
            self.due += self.config.interval * late;
        }
        let recorded = self.due;
        self.due += self.config.interval;
        Some((recorded, u16::try_from(self.config.payload().bytes()).unwrap_or(u16::MAX)))
    }

    pub(crate) fn rate(&self) -> DataRate {
        self.config.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_kilobit_per_second_are_fifty_bytes_each_twenty_milliseconds() {
        let mut audio = AudioSource::new(AudioConfig::default());
        assert_eq!(audio.poll(SendTime::ZERO), None, "not started");
        audio.start(SendTime::ZERO);
        assert_eq!(audio.poll(SendTime::ZERO), Some((SendTime::ZERO, 50)));
        assert_eq!(audio.poll(SendTime::from_millis(19)), None);
        assert_eq!(audio.poll(SendTime::from_millis(21)), Some((SendTime::from_millis(20), 50)));
        assert_eq!(audio.due(), SendTime::from_millis(40));
        audio.stop();
        assert_eq!(audio.due(), SendTime::MAX);
    }

    #[test]
    fn audio_of_a_long_gap_is_left_out_and_the_interval_stays() {
        let mut audio = AudioSource::new(AudioConfig::default());
        audio.start(SendTime::ZERO);
        let sent = |audio: &mut AudioSource, now: i64| -> Vec<i64> {
            let poll = || audio.poll(SendTime::from_millis(now)).map(|(at, _)| at.nanos() / 1_000_000);
            core::iter::from_fn(poll).collect()
        };
        assert_eq!(sent(&mut audio, 59), [0, 20, 40], "two late are sent");
        assert_eq!(sent(&mut audio, 60 + 3_600_007), [3_600_060]);
        assert_eq!(sent(&mut audio, 3_600_080), [3_600_080]);
    }
}
