//! Scale of coupling's allocation relative to a controller's own rate, for controllers that compute their rate again
//! from each report.

use crate::controller::RateLimits;

/// Ratio of coupling's allocation to the rate that the controller would have by itself. It is a factor on the
/// computed rate, kept until the next decrease for congestion. Without an allocation it is exactly 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relative {
    factor: f64,
    /// The controller's own rate as last computed.
    own_rate: Option<f64>,
}

/// Meaning of a decrease of the controller's own rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FallMeaning {
    /// Share of the last value up to which a lower own rate lowers the flow's rate, but only where it is below the
    /// present rate. The receiver measures what it receives, so that an allocation below its ceiling lowers that,
    /// too.
    pub(crate) yields_at: f64,
    /// Share of the last value up to which a lower own rate is a decrease for congestion.
    pub(crate) cut_at: f64,
    /// Whether growth first makes up for the factor. The decreases of a controller by the receive rate have no effect
    /// while its own rate is far below that.
    pub(crate) pays_back: bool,
    /// Factor by which coupling has scaled the flow since the departure of the packets on which the decrease depends.
    /// Above 1 it remains as the factor after the decrease.
    pub(crate) rescaled: f64,
}

impl Relative {
    pub(crate) const NONE: Self = Self { factor: 1.0, own_rate: None };

    /// Scales the flow by `factor` for coupling.
    pub(crate) fn on_allocation(&mut self, factor: f64) {
        self.factor *= factor;
    }

    /// Applies coupling's allocation `share`, which changes the present one by `factor`; `limits` bound the
    /// controller's own rate, too.
    pub(crate) fn on_share(&mut self, share: f64, factor: f64, limits: &RateLimits) {
        let own_rate = self.own_rate.map(|own_rate| limits.clamp_bps(own_rate));
        self.factor = own_rate.map_or(self.factor * factor, |own_rate| share / own_rate);
    }

    pub(crate) fn factor(&self) -> f64 {
        self.factor
    }

    /// Removes the factor after a decrease for congestion.
    pub(crate) fn drop_factor(&mut self) {
        self.factor = 1.0;
    }

    /// The rate if the controller's own rate is `own_rate` and the present one is `present`.
    pub(crate) fn follow(&mut self, own_rate: f64, present: f64, fall: &FallMeaning) -> f64 {
        if own_rate <= 0.0 {
            *self = Self::NONE;
            return own_rate;
        }
        let before = self.own_rate.replace(own_rate);
        let fell_to =
            |share: f64| before.is_some_and(|before| own_rate < before && own_rate <= share * before);
        if self.factor < 1.0 && fell_to(fall.yields_at) {
            let rate = own_rate.min(present);
            self.factor = rate / own_rate;
            return rate;
        }
        if fell_to(fall.cut_at) {
            self.factor = fall.rescaled.max(1.0);
        } else if fall.pays_back && self.factor > 1.0 && before.is_some_and(|before| own_rate > before) {
            self.factor = (present / own_rate).max(1.0);
        }
        self.factor * own_rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FALL: FallMeaning = FallMeaning { yields_at: 1.0, cut_at: 0.85, pays_back: false, rescaled: 1.0 };

    #[test]
    fn without_an_allocation_the_controllers_own_rate_holds() {
        let mut relative = Relative::NONE;
        for own_rate in [1e6, 0.3e6, 0.1, 7e6 / 3.0] {
            assert_eq!(relative.follow(own_rate, 5.0, &FALL), own_rate);
        }
    }

    #[test]
    fn a_greater_share_lasts_until_a_cut() {
        let mut relative = Relative::NONE;
        relative.follow(1000.0, 1000.0, &FALL);
        relative.on_allocation(2.0);
        assert_eq!(relative.follow(1050.0, 2000.0, &FALL), 2100.0);
        assert_eq!(relative.follow(1000.0, 2100.0, &FALL), 2000.0, "noise");
        assert_eq!(relative.follow(850.0, 2000.0, &FALL), 850.0);
        assert_eq!(relative.follow(900.0, 850.0, &FALL), 900.0);
    }

    #[test]
    fn a_cut_by_an_older_receive_rate_is_scaled_to_the_new_allocation() {
        let mut relative = Relative::NONE;
        relative.follow(1000.0, 1000.0, &FALL);
        relative.on_allocation(2.0);
        assert_eq!(relative.follow(850.0, 2000.0, &FallMeaning { rescaled: 2.0, ..FALL }), 1700.0);
        assert_eq!(relative.follow(860.0, 1700.0, &FALL), 1720.0);
    }

    #[test]
    fn a_ceiling_that_comes_down_to_a_lesser_share_is_no_cut() {
        let mut relative = Relative::NONE;
        relative.follow(1000.0, 1000.0, &FALL);
        relative.on_allocation(0.5);
        // 1.5 times the rate received now.
        assert_eq!(relative.follow(750.0, 500.0, &FALL), 500.0);
        assert!((relative.follow(780.0, 500.0, &FALL) - 520.0).abs() < 1e-9);
        assert_eq!(relative.follow(425.0, 520.0, &FALL), 425.0);
        assert_eq!(relative.follow(500.0, 425.0, &FALL), 500.0);
    }

    #[test]
    fn growth_may_make_up_for_the_factor_first() {
        let mut relative = Relative::NONE;
        let fall = FallMeaning { pays_back: true, ..FALL };
        relative.follow(1000.0, 1000.0, &fall);
        relative.on_allocation(2.0);
        assert_eq!(relative.follow(1200.0, 2000.0, &fall), 2000.0);
        assert_eq!(relative.follow(1900.0, 2000.0, &fall), 2000.0);
        assert_eq!(relative.follow(2100.0, 2000.0, &fall), 2100.0);
    }

    #[test]
    fn a_share_is_one_of_the_controllers_own_rate_within_the_limits() {
        let kbps = weir_units::DataRate::from_kbps;
        let limits = RateLimits::new(kbps(100), kbps(100), kbps(1000)).unwrap();
        let mut relative = Relative::NONE;
        relative.follow(2e6, 2e6, &FALL);
        // The rate is at the maximum of 1 Mbit/s, or has been halved since.
        relative.on_share(0.5e6, 0.5, &limits);
        assert_eq!(relative.follow(1e6, 0.5e6, &FallMeaning { yields_at: 0.0, cut_at: 0.0, ..FALL }), 0.5e6);
    }

    #[test]
    fn an_own_rate_of_nothing_leaves_no_factor() {
        let mut relative = Relative::NONE;
        relative.follow(1000.0, 1000.0, &FALL);
        relative.on_allocation(0.5);
        assert_eq!(relative.follow(0.0, 500.0, &FALL), 0.0);
        assert_eq!(relative.follow(800.0, 100.0, &FALL), 800.0);
    }
}
