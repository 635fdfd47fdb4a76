//! Traffic without a controller: packets at a given rate, and audio.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_media::AudioConfig;
use weir_net::Time;
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_world::Unresponsive;

use super::link::Step;

/// Bytes of the headers of IPv4 and UDP.
const UDP_HEADERS: u32 = 28;
/// Bytes of the header of RTP without extensions (RFC 3550 §5.1).
const RTP_HEADER: u32 = 12;

/// A time in which a flow is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Its begin.
    pub from: TimeDelta,
    /// Its end.
    pub to: TimeDelta,
}

/// Packets of one size at a constant rate, or at one that changes at given times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Constant {
    /// Rate on the wire; either this or `steps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<DataRate>,
    /// Rate on the wire from each time on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step>>,
    /// Size of a packet on the wire.
    #[serde(default = "default_packet_size")]
    pub packet_size: DataSize,
    /// Length of a period of sending, followed by a silence of `off`, repeated from its start on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<TimeDelta>,
    /// Length of the silences in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<TimeDelta>,
}

fn default_packet_size() -> DataSize {
    DataSize::from_bytes(1000)
}

impl Constant {
    /// The rates, each with its start.
    fn rates(&self) -> Vec<(Time, DataRate)> {
        match &self.steps {
            Some(steps) => steps.iter().map(|step| (Time::ZERO + step.at, step.rate)).collect(),
            None => vec![(Time::ZERO, self.rate.unwrap_or_default())],
        }
    }

    /// The highest rate on the wire.
    pub(crate) fn max_rate(&self) -> DataRate {
        self.rates().into_iter().map(|(_, rate)| rate).max().unwrap_or_default()
    }

    /// The source for the simulator.
    pub(crate) fn source(&self) -> Unresponsive {
        Unresponsive { steps: self.rates(), packet_size: self.packet_size, headers: UDP_HEADERS }
    }

    /// The silences between `start` and `end`.
    pub(crate) fn silences(&self, start: Time, end: Time) -> Vec<(Time, Time)> {
        let (Some(on), Some(off)) = (self.on, self.off) else { return Vec::new() };
        let period = on + off;
        if period <= TimeDelta::ZERO {
            return Vec::new();
        }
        let silence = |begin: Time| (begin + on, begin + period);
        let begins = core::iter::successors(Some(start), |&begin| Some(begin + period));
        begins.map(silence).take_while(|&(from, _)| from < end).collect()
    }
}

/// Audio: RTP packets of one size at a constant interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audio {
    /// Rate of the payload.
    #[serde(default = "default_audio_rate")]
    pub rate: DataRate,
    /// Time between packets.
    #[serde(default = "default_audio_interval")]
    pub interval: TimeDelta,
}

/// Audio in the stream of a media flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AudioStream {
    /// Rate of the payload.
    #[serde(default = "default_audio_rate")]
    pub rate: DataRate,
    /// Time between packets.
    #[serde(default = "default_audio_interval")]
    pub interval: TimeDelta,
}

fn default_audio_rate() -> DataRate {
    AudioConfig::default().rate
}

fn default_audio_interval() -> TimeDelta {
    AudioConfig::default().interval
}

impl AudioStream {
    pub(crate) fn config(self) -> AudioConfig {
        AudioConfig { rate: self.rate, interval: self.interval }
    }
}

impl Audio {
    pub(crate) fn config(self) -> AudioConfig {
        AudioConfig { rate: self.rate, interval: self.interval }
    }

    /// The source for the simulator: RTP over UDP over IPv4.
    pub(crate) fn source(self) -> Unresponsive {
        let headers = UDP_HEADERS + RTP_HEADER;
        let packet_size = self.config().payload() + DataSize::from_bytes(u64::from(headers));
        let rate = packet_size / self.interval;
        Unresponsive { steps: vec![(Time::ZERO, rate)], packet_size, headers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audio_of_twenty_kilobit_per_second_takes_36_on_the_wire() {
        let audio = Audio { rate: default_audio_rate(), interval: default_audio_interval() };
        let source = audio.source();
        // 50 bytes of payload and 12 + 8 + 20 of headers, 50 times a second.
        assert_eq!(source.packet_size, DataSize::from_bytes(90));
        assert_eq!(source.steps, [(Time::ZERO, DataRate::from_kbps(36))]);
    }

    #[test]
    fn silences_come_in_turn_with_sending() {
        let text = "rate = \"1Mbps\"\non = \"2s\"\noff = \"3s\"";
        let constant: Constant = toml::from_str(text).unwrap();
        let s = |s: u64| Time::from_millis(1000 * s);
        assert_eq!(constant.silences(s(1), s(13)), [(s(3), s(6)), (s(8), s(11))]);
        assert_eq!(constant.silences(s(1), s(14))[2], (s(13), s(16)));
    }
}
