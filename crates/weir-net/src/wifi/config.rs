//! How a cell is described. Sections are those of IEEE Std 802.11-2016.

use weir_units::{DataRate, TimeDelta};

use crate::config::{InService, QueueConfig};
use crate::error::{ConfigError, not_negative};
use crate::loss::LossModel;
use crate::queue::Discipline;

/// aSlotTime of OFDM with 20 MHz (§17.4.4), in ns.
pub(super) const SLOT: u64 = 9_000;
/// aSIFSTime of OFDM with 20 MHz (§17.4.4), in ns.
pub(super) const SIFS: u64 = 16_000;
/// Largest number of frames of a block acknowledgement (§9.3.1.9.3).
pub(super) const BLOCK: usize = 64;
/// aPPDUMaxTime of what an L-SIG can announce (§10.26.4), in ns.
const LONGEST_PPDU: u64 = 5_484_000;
/// Largest configurable number of retries and slots.
const MOST: u32 = 32_767;

/// Parameters common to all links of a cell. The default is 802.11n with 20 MHz in the 5 GHz band, best effort,
/// without aggregation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WifiConfig {
    /// Frames in a transmission, 1 to 64. With 1 each frame is sent alone and gets an ACK; with more, an A-MPDU
    /// gets a block acknowledgement. 1.
    pub frames: u32,
    /// Longest duration of an A-MPDU's transmission with its preamble, above 0; at least one frame always goes. 5.484
    /// ms.
    pub longest: TimeDelta,
    /// How often a frame is sent again; 6, since dot11ShortRetryLimit = 7 counts all transmission attempts (annex C).
    pub retries: u32,
    /// AIFSN: slots after a SIFS in which the air must be idle, at least 1; 3, that of best effort (§9.4.2.29).
    pub aifsn: u32,
    /// aCWmin in slots; 15.
    pub cw_min: u32,
    /// aCWmax in slots, not below `cw_min`; 1023.
    pub cw_max: u32,
}

impl Default for WifiConfig {
    fn default() -> Self {
        Self {
            frames: 1,
            longest: TimeDelta::from_nanos(LONGEST_PPDU as i64),
            retries: 6,
            aifsn: 3,
            cw_min: 15,
            cw_max: 1023,
        }
    }
}

impl WifiConfig {
    /// Whether the values are valid.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] names the value that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let block = BLOCK as u32;
        in_range("number of frames in a transmission", (1..=block).contains(&self.frames), "from 1 to 64")?;
        in_range("longest transmission", self.longest > TimeDelta::ZERO, "longer than 0 s")?;
        in_range("number of retries", self.retries <= MOST, "at most 32767")?;
        in_range("AIFSN", (1..=MOST).contains(&self.aifsn), "from 1 to 32767")?;
        in_range("least contention window", self.cw_min <= self.cw_max, "at most the largest one")?;
        in_range("largest contention window", self.cw_max <= MOST, "at most 32767 slots")
    }

    /// Idle time before the first slot (§10.22.2.4), in ns.
    pub(super) fn aifs(&self) -> u64 {
        SIFS + u64::from(self.aifsn) * SLOT
    }
}

fn in_range(name: &'static str, is: bool, must: &'static str) -> Result<(), ConfigError> {
    if is { Ok(()) } else { Err(ConfigError::OutOfRange { name, must }) }
}

/// A link of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiLink {
    /// The transmitter: its links take turns, and transmitters contend. An index below the number of links.
    pub transmitter: usize,
    /// Its PHY rate, above 0.
    pub rate: DataRate,
    /// Random loss of frames at each attempt.
    pub loss: LossModel,
    /// Drop-tail, without marks and without a limit that follows the rate. `limit_time` is a lifetime.
    pub queue: QueueConfig,
}

impl WifiLink {
    /// The PHY rate of HT MCS 11 with 20 MHz: two streams, 16-QAM, rate 1/2, guard interval 800 ns (§19.5).
    pub const MCS_11: DataRate = DataRate::from_mbps(52);

    /// A link without loss and with an unlimited queue.
    pub fn new(transmitter: usize, rate: DataRate) -> Self {
        Self { transmitter, rate, loss: LossModel::None, queue: QueueConfig::default() }
    }

    pub(super) fn validate(&self, links: usize) -> Result<(), ConfigError> {
        in_range("transmitter", self.transmitter < links, "below the number of links")?;
        in_range("PHY rate", !self.rate.is_zero(), "above 0")?;
        let in_service = self.queue.in_service == InService::Counted;
        in_range("part in service of a cell's queue", in_service, "counted")?;
        in_range("queue in a cell", self.queue.discipline == Discipline::DropTail, "drop-tail")?;
        in_range("marking threshold", self.queue.mark_above.is_none(), "left out in a cell")?;
        in_range("queue limit at the rate", self.queue.limit_at_rate.is_none(), "left out in a cell")?;
        not_negative("queue time limit", self.queue.limit_time)?;
        self.loss.validate()
    }
}
