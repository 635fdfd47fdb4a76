//! Wi-Fi cells: what their links have in common.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_net::{WifiConfig, WifiLink};
use weir_units::{DataRate, TimeDelta};

use super::topology::{Network, PlannedLink};

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
    /// How often a frame is sent again; 6 unless given.
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

/// Bytes of the packets by which the capacity of a cell without flows is told.
const FULL_SIZE: u32 = 1500;

impl Cell {
    pub(crate) fn config(&self) -> WifiConfig {
        let &Self { rate: _, frames, longest, retries, aifsn, cw_min, cw_max } = self;
        WifiConfig { frames, longest, retries, aifsn, cw_min, cw_max }
    }

    /// What the flows of `network` can carry together through the cell, which is called `name`, if all get the same:
    /// those that send data over its links contend with packets of full size. Audio, reports and acknowledgements
    /// are not counted in.
    pub(crate) fn capacity(&self, name: &str, network: &Network<'_>) -> DataRate {
        let is_in = |link: &&PlannedLink| link.model.cell.as_deref() == Some(name);
        let hops: Vec<(&PlannedLink, u32)> = network
            .flows
            .iter()
            .filter_map(|flow| Some((flow, flow.flow.full_packet()?)))
            .flat_map(|(flow, packet)| flow.forward.iter().map(move |&link| (&network.links[link], packet)))
            .filter(|(link, _)| is_in(link))
            .collect();
        let mut transmitters: Vec<&str> = hops.iter().map(|(link, _)| link.from.as_str()).collect();
        transmitters.sort_unstable();
        transmitters.dedup();
        let rate = |link: &PlannedLink, packet: u32| {
            let link = WifiLink::new(0, link.model.rate.unwrap_or(self.rate));
            self.config().saturation_rate(&link, packet, transmitters.len() as u32)
        };
        if hops.is_empty() {
            return self.config().saturation_rate(&WifiLink::new(0, self.rate), FULL_SIZE, 1);
        }
        // Each takes the air for as long as its own bits need.
        let air: f64 = hops.iter().map(|&(link, packet)| 1.0 / rate(link, packet).bps_f64()).sum();
        DataRate::from_bps((hops.len() as f64 / air) as u64)
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
