//! The margin above a rate that keeps a stream or layer from being switched on and off in turn.

use weir_units::DataRate;

/// Margin above a rate at which a stream or layer of that rate is switched on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SwitchMargin {
    /// Margin as a share of the rate; negative and NaN count as zero.
    pub share: f64,
    /// Least margin.
    pub least: DataRate,
}

impl Default for SwitchMargin {
    /// 10 %, at least 20 kbit/s (`kToggleFactor` and `kMinToggleBitrateBps` of libwebrtc's `BitrateAllocator`).
    fn default() -> Self {
        Self { share: 0.1, least: DataRate::from_kbps(20) }
    }
}

impl SwitchMargin {
    /// The rate with its margin.
    pub fn above(&self, rate: DataRate) -> DataRate {
        let share = DataRate::from_bps((rate.bps_f64() * self.share) as u64);
        rate + share.max(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_is_a_share_and_at_least_a_rate() {
        let above = |kbps| SwitchMargin::default().above(DataRate::from_kbps(kbps)).bps();
        // 10 % of 300 are 30, of 200 are 20, of 100 only 10.
        assert_eq!([0, 100, 200, 300].map(above), [20_000, 120_000, 220_000, 330_000]);
        let odd = |share| SwitchMargin { share, least: DataRate::ZERO }.above(DataRate::from_bps(7)).bps();
        assert_eq!([f64::NAN, -1.0, 0.5, f64::INFINITY].map(odd), [7, 7, 10, u64::MAX]);
    }
}
