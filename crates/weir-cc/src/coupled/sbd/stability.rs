//! Filter that decides from the verdicts of single intervals whether two flows are coupled. It is Weir's.

use super::config::{Config, StabilityConfig};

/// Verdict of an interval on a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairVerdict {
    /// Both flows are in one group.
    Together,
    /// The flows pass different bottlenecks, or only one of them passes a bottleneck.
    Apart,
    /// Neither flow passes a bottleneck, two similar flows are on both sides of the threshold, or a flow has no
    /// statistics.
    Unknown,
}

/// Spans of the stability filter in intervals.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilterSpans {
    pub(super) hold: u64,
    pub(super) between_changes: u64,
    pub(super) guard: u64,
    pub(super) block: u64,
}

impl FilterSpans {
    pub(super) fn new(config: &Config) -> Self {
        let interval = config.interval.nanos().max(1);
        let intervals =
            |span: weir_units::TimeDelta| u64::try_from(span.nanos()).unwrap_or(0).div_ceil(interval as u64);
        let StabilityConfig { hold, between_changes, guard_span, block, .. } = config.stability;
        Self {
            hold: intervals(hold),
            between_changes: intervals(between_changes),
            guard: intervals(guard_span).max(1),
            block: intervals(block),
        }
    }
}

/// History of a pair of units.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnitPair {
    /// One bit for each of the last intervals with a verdict, the newest lowest; set if the pair was together.
    together: u64,
    /// Number of known bits.
    known: u32,
    /// The newest interval with a verdict.
    informed: u64,
    joined: bool,
    blocked_until: u64,
    /// Trial after coupling by measurement, during which the guard compares delay and loss.
    pub(super) trial: Option<CouplingTrial>,
    /// Whether they are in one group.
    pub(super) coupled: bool,
}

/// Values before the coupling, with which the guard compares the present ones (RFC 8699 §5.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct CouplingTrial {
    pub(super) since: u64,
    /// Delay and loss of each unit before the coupling.
    pub(super) before: [DelayAndLoss; 2],
    /// Whether the delay has been evaluated; loss is evaluated later.
    pub(super) half_done: bool,
}

/// Queuing delay and loss of a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayAndLoss {
    /// Mean queuing delay in the guard's span, in s. The greatest one so far in the window of a pair, and the
    /// variance of the mean, follow.
    pub(super) queuing: f64,
    pub(super) most_queuing: f64,
    pub(super) variance: f64,
    /// Present ratio of lost packets. Its variance, and its maximum in the window of a pair, follow.
    pub(super) loss: f64,
    pub(super) loss_variance: f64,
    pub(super) most_loss: f64,
    /// Mean rate in the guard's span, in bit/s; 0 if it is not known.
    pub(super) rate: f64,
}

impl UnitPair {
    /// Takes an interval. Returns whether the pair belongs together. `grown` means that both have enough statistics.
    pub(super) fn observe(
        &mut self,
        interval: u64,
        verdict: PairVerdict,
        grown: bool,
        spans: &FilterSpans,
        config: &StabilityConfig,
    ) -> bool {
        if interval - self.informed.min(interval) >= spans.hold.max(1) {
            (self.together, self.known, self.joined) = (0, 0, false);
        }
        if verdict != PairVerdict::Unknown {
            self.remember(interval, verdict == PairVerdict::Together, config.window);
        }
        let (together, known) = (f64::from(self.together.count_ones()), f64::from(self.known));
        if self.joined {
            self.joined = together >= config.part * known;
        } else if grown && interval >= self.blocked_until {
            self.joined = self.known >= config.least && together >= config.join * known;
        }
        self.joined
    }

    /// Blocks the pair until that interval, because coupling has raised delay or loss.
    pub(super) fn block(&mut self, until: u64) {
        self.blocked_until = until;
        self.joined = false;
        self.trial = None;
    }

    fn remember(&mut self, interval: u64, together: bool, window: u32) {
        let kept = u64::MAX >> (64 - window.clamp(1, 64));
        self.together = (self.together << 1 | u64::from(together)) & kept;
        self.known = (self.known + 1).min(window);
        self.informed = interval;
    }
}

impl DelayAndLoss {
    /// Mean of two units.
    fn midpoint([one, other]: &[Self; 2]) -> Self {
        let midpoint_of = |field: fn(&Self) -> f64| field(one).midpoint(field(other));
        Self {
            queuing: midpoint_of(|harm| harm.queuing),
            most_queuing: midpoint_of(|harm| harm.most_queuing),
            variance: midpoint_of(|harm| harm.variance),
            loss: midpoint_of(|harm| harm.loss),
            loss_variance: midpoint_of(|harm| harm.loss_variance),
            most_loss: midpoint_of(|harm| harm.most_loss),
            rate: midpoint_of(|harm| harm.rate),
        }
    }

    /// Whether delay or loss of two units is clearly above its earlier maximum, so that coupling is the cause. The
    /// rise must exceed a part of the earlier value, an absolute minimum, and its own random variation. Loss is a
    /// mean over a longer window than delay, and is evaluated after that window. If neither unit sends more than
    /// before, there is another cause.
    pub(super) fn has_risen(
        now: &[Self; 2],
        before: &[Self; 2],
        judges_loss: bool,
        config: &StabilityConfig,
    ) -> bool {
        let sends_more =
            |(now, before): (&Self, &Self)| before.rate <= 0.0 || now.rate > before.rate * RATE_RISE;
        if !now.iter().zip(before).any(sends_more) {
            return false;
        }
        let (now, before) = (Self::midpoint(now), Self::midpoint(before));
        let rises = |now: f64, before: f64, least: f64| {
            now > before * (1.0 + config.guard_rise) && now - before > least
        };
        let chance = |now: f64, before: f64| DEVIATIONS * libm::sqrt(now + before);
        let delay = config.guard_delay.secs_f64().max(chance(now.variance, before.variance));
        let loss = config.guard_loss.max(chance(now.loss_variance, before.loss_variance));
        rises(now.queuing, before.most_queuing, delay)
            || (judges_loss && rises(now.loss, before.most_loss, loss))
    }
}

/// Ratio to the earlier rate above which a flow may have raised a queue.
const RATE_RISE: f64 = 1.05;

/// Number of standard deviations above which a rise is not random.
const DEVIATIONS: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: StabilityConfig =
        StabilityConfig { least: 30, join: 0.9, part: 0.5, ..StabilityConfig::DEFAULT };

    struct VerdictCourse {
        pair: UnitPair,
        interval: u64,
        spans: FilterSpans,
    }

    impl VerdictCourse {
        fn new() -> Self {
            Self { pair: UnitPair::default(), interval: 0, spans: FilterSpans::new(&Config::default()) }
        }

        /// Observes `intervals` equal verdicts. Returns how many had passed when the pair joined or parted.
        fn observe(&mut self, verdict: PairVerdict, intervals: u64) -> Option<u64> {
            let before = self.pair.joined;
            let mut changed = None;
            for passed in 1..=intervals {
                self.interval += 1;
                let joined = self.pair.observe(self.interval, verdict, true, &self.spans, &CONFIG);
                if joined != before {
                    changed.get_or_insert(passed);
                }
            }
            changed
        }
    }

    #[test]
    fn spans_are_whole_intervals() {
        let FilterSpans { hold, between_changes, guard, block } = FilterSpans::new(&Config::default());
        // 30 s, 10 s, 10 s and 120 s of 350 ms.
        assert_eq!([hold, between_changes, guard, block], [86, 29, 29, 343]);
    }

    #[test]
    fn a_pair_joins_at_nine_tenths_and_parts_below_a_half() {
        let mut course = VerdictCourse::new();
        course.observe(PairVerdict::Apart, 4);
        assert_eq!(course.observe(PairVerdict::Together, 60), Some(36), "4 of 40 are apart");
        // 29 of 60 are together after 31 that are apart.
        assert_eq!(course.observe(PairVerdict::Apart, 40), Some(31));
    }

    #[test]
    fn an_unknown_value_counts_neither_way() {
        let mut course = VerdictCourse::new();
        assert_eq!(course.observe(PairVerdict::Together, 29), None);
        assert_eq!(course.observe(PairVerdict::Unknown, 60), None);
        assert_eq!(course.observe(PairVerdict::Together, 1), Some(1), "30 are known");
        assert_eq!(course.observe(PairVerdict::Apart, 30), None, "30 of 60 are together");
        assert_eq!(course.observe(PairVerdict::Unknown, 60), None);
        assert_eq!(course.observe(PairVerdict::Apart, 1), Some(1), "29 of 60");
    }

    #[test]
    fn unknown_results_hold_a_pair_for_a_time() {
        let mut course = VerdictCourse::new();
        course.observe(PairVerdict::Together, 60);
        assert_eq!(course.observe(PairVerdict::Unknown, 100), Some(86));
        assert_eq!(course.observe(PairVerdict::Together, 29), None, "what was known before is forgotten");
        assert_eq!(course.observe(PairVerdict::Together, 1), Some(1));
    }

    #[test]
    fn a_blocked_pair_does_not_join() {
        let mut course = VerdictCourse::new();
        course.observe(PairVerdict::Together, 60);
        course.pair.block(course.interval + 343);
        assert_eq!(course.observe(PairVerdict::Together, 400), Some(343));
    }

    #[test]
    fn harm_is_a_rise_by_half_and_by_more_than_a_little() {
        let of = |queuing: f64, loss: f64| DelayAndLoss {
            queuing: queuing / 1000.0,
            most_queuing: queuing / 1000.0,
            variance: 0.0,
            loss,
            loss_variance: 0.0,
            most_loss: loss,
            rate: 0.0,
        };
        let risen = |now: DelayAndLoss, before: DelayAndLoss| {
            DelayAndLoss::has_risen(&[now; 2], &[before; 2], true, &CONFIG)
        };
        assert!(risen(of(61.0, 0.0), of(40.0, 0.0)));
        assert!(!risen(of(59.0, 0.0), of(40.0, 0.0)), "less than half");
        assert!(!risen(of(9.0, 0.0), of(0.0, 0.0)), "less than 10 ms");
        // A standard deviation of 6 ms before and 8 ms now is one of 10 ms for the difference.
        let noisy = |harm: DelayAndLoss, ms: f64| DelayAndLoss { variance: ms * ms * 1e-6, ..harm };
        assert!(!risen(noisy(of(59.0, 0.0), 8.0), noisy(of(39.1, 0.0), 6.0)), "by chance");
        assert!(risen(noisy(of(61.0, 0.0), 8.0), noisy(of(40.0, 0.0), 6.0)));
        assert!(
            !risen(of(61.0, 0.0), DelayAndLoss { most_queuing: 0.05, ..of(40.0, 0.0) }),
            "it had been as much before"
        );
        assert!(risen(of(40.0, 0.05), of(40.0, 0.03)));
        assert!(!risen(of(40.0, 0.009), of(40.0, 0.0)));
        assert!(
            !risen(of(40.0, 0.05), DelayAndLoss { most_loss: 0.04, ..of(40.0, 0.03) }),
            "it had been as much before"
        );
        // Of a thousand packets each 0.05 and 0.03 have a standard deviation of 0.009 between them.
        let few = |loss: f64| DelayAndLoss { loss_variance: loss * (1.0 - loss) / 1000.0, ..of(40.0, loss) };
        assert!(risen(few(0.05), few(0.03)) && !risen(few(0.046), few(0.03)), "by chance");
        assert!(!DelayAndLoss::has_risen(&[of(40.0, 0.05); 2], &[of(40.0, 0.03); 2], false, &CONFIG));
        let at = |harm: DelayAndLoss, rate: f64| DelayAndLoss { rate, ..harm };
        assert!(risen(at(of(61.0, 0.05), 1.06e6), at(of(40.0, 0.03), 1e6)));
        assert!(!risen(at(of(61.0, 0.05), 1.04e6), at(of(40.0, 0.03), 1e6)), "others send more");
        assert!(risen(at(of(61.0, 0.0), 0.0), of(40.0, 0.0)), "nothing is known of rates");
    }
}
