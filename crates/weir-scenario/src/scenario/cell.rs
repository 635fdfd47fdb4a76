//! Wi-Fi cells: the common properties of their links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_net::{WifiConfig, WifiLink};
use weir_units::{DataRate, TimeDelta};

/// A Wi-Fi cell (802.11n, 20 MHz, 5 GHz): links with `cell` share its air. Each node that sends over them contends for
/// it; the links that begin at the same node take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// PHY rate of its links; 52 Mbit/s (MCS 11) unless given.
    #[serde(default = "mcs_11")]
    pub rate: DataRate,
    /// Frames in a transmission, the largest A-MPDU; 1, no aggregation, unless given.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 64))]
    pub frames: u32,
    /// Longest duration of an A-MPDU; 5.484 ms unless given.
    #[serde(default = "longest")]
    pub longest: TimeDelta,
    /// Number of retransmissions of a frame; 6 unless given.
    #[serde(default = "retries")]
    #[schemars(range(min = 0, max = 32767))]
    pub retries: u32,
    /// AIFSN, slots of idle air before the first that counts; 3 unless given.
    #[serde(default = "aifsn")]
    #[schemars(range(min = 1, max = 32767))]
    pub aifsn: u32,
    /// Least contention window; 15 unless given.
    #[serde(default = "cw_min")]
    #[schemars(range(min = 0, max = 32767))]
    pub cw_min: u32,
    /// Largest contention window; 1023 unless given.
    #[serde(default = "cw_max")]
    #[schemars(range(min = 0, max = 32767))]
    pub cw_max: u32,
}

impl Cell {
    pub(crate) fn config(&self) -> WifiConfig {
        let &Self { rate: _, frames, longest, retries, aifsn, cw_min, cw_max } = self;
        WifiConfig { frames, longest, retries, aifsn, cw_min, cw_max }
    }
}

const fn mcs_11() -> DataRate {
    WifiLink::MCS_11
}

const fn one() -> u32 {
    1
}

fn longest() -> TimeDelta {
    WifiConfig::default().longest
}

fn retries() -> u32 {
    WifiConfig::default().retries
}

fn aifsn() -> u32 {
    WifiConfig::default().aifsn
}

fn cw_min() -> u32 {
    WifiConfig::default().cw_min
}

fn cw_max() -> u32 {
    WifiConfig::default().cw_max
}
