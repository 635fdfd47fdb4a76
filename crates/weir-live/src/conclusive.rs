//! The verdict on a run: whether the machine disturbed it.

use weir_units::TimeDelta;

use crate::lateness::Lateness;

/// Largest lateness of the emulator for 99 % of its deliveries.
pub const EMULATOR_P99: TimeDelta = TimeDelta::from_millis(1);
/// Largest lateness of any delivery.
pub const EMULATOR_MAX: TimeDelta = TimeDelta::from_millis(15);
/// Largest lateness of a sender for 99 % of its wake-ups.
pub const SENDER_P99: TimeDelta = TimeDelta::from_millis(2);

/// The figures on which the verdict rests.
#[derive(Clone, Debug, Default)]
pub struct VerdictFigures {
    /// Lateness of the emulator's deliveries.
    pub emulator: Lateness,
    /// Lateness of the senders' wake-ups.
    pub senders: Lateness,
    /// Packets lost outside of the links: at sockets, at TUN devices, for lack of a buffer.
    pub lost_outside: u64,
}

/// A reason why a run is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// More than 1 % of the deliveries were too late.
    #[error("the emulator was late by {:.1} ms at the 99th percentile (limit {} ms)", .0.millis_f64(), EMULATOR_P99.millis_f64())]
    EmulatorLate(TimeDelta),
    /// The emulator stood still.
    #[error("the emulator was once late by {:.1} ms (limit {} ms)", .0.millis_f64(), EMULATOR_MAX.millis_f64())]
    EmulatorStalled(TimeDelta),
    /// Packets were lost that no link dropped.
    #[error("{0} packets were lost outside of the links")]
    LostOutside(u64),
    /// More than 1 % of the senders' wake-ups were too late.
    #[error("the senders were late by {:.1} ms at the 99th percentile (limit {} ms)", .0.millis_f64(), SENDER_P99.millis_f64())]
    SendersLate(TimeDelta),
}

/// Every reason why the run is inconclusive; a conclusive run has no reason.
pub fn reasons(evidence: &VerdictFigures) -> Vec<Reason> {
    let VerdictFigures { emulator, senders, lost_outside } = evidence;
    let late = emulator.percentile(0.99);
    let late_senders = senders.percentile(0.99);
    let found = [
        (late > EMULATOR_P99).then_some(Reason::EmulatorLate(late)),
        (emulator.max() > EMULATOR_MAX).then_some(Reason::EmulatorStalled(emulator.max())),
        (*lost_outside > 0).then_some(Reason::LostOutside(*lost_outside)),
        (late_senders > SENDER_P99).then_some(Reason::SendersLate(late_senders)),
    ];
    found.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred values: 98 of `most`, two of `worst`.
    fn lateness(most: TimeDelta, worst: TimeDelta) -> Lateness {
        let mut lateness = Lateness::default();
        (0..98).for_each(|_| lateness.record(most));
        (0..2).for_each(|_| lateness.record(worst));
        lateness
    }

    #[test]
    fn a_punctual_run_without_losses_is_conclusive() {
        let punctual = lateness(TimeDelta::from_micros(50), TimeDelta::from_micros(900));
        let evidence = VerdictFigures { emulator: punctual.clone(), senders: punctual, lost_outside: 0 };
        assert_eq!(reasons(&evidence), []);
        assert_eq!(reasons(&VerdictFigures::default()), []);
    }

    #[test]
    fn a_single_stall_counts_even_where_the_percentile_hides_it() {
        let mut emulator = lateness(TimeDelta::from_micros(50), TimeDelta::from_micros(50));
        let stall = TimeDelta::from_millis(31);
        emulator.record(stall);
        assert_eq!(
            reasons(&VerdictFigures { emulator, ..VerdictFigures::default() }),
            [Reason::EmulatorStalled(stall)]
        );
    }

    #[test]
    fn each_limit_has_its_reason() {
        let late = lateness(TimeDelta::from_micros(50), TimeDelta::from_millis(3));
        let evidence = VerdictFigures { emulator: late.clone(), senders: late, lost_outside: 4 };
        let said: Vec<String> = reasons(&evidence).iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "the emulator was late by 3.0 ms at the 99th percentile (limit 1 ms)",
                "4 packets were lost outside of the links",
                "the senders were late by 3.0 ms at the 99th percentile (limit 2 ms)",
            ]
        );
    }
}
