//! The loss ratio from per-packet feedback, over the packets between the highest number of a report and that of the
//! previous one. Losses are counted as in a receiver report of RFC 3550, or only among reported packets.

use crate::packet::{PacketFate, PacketResult};

/// Packets expected and lost between two reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntervalLoss {
    /// Number of packets from above the highest number of the previous report to that of this one, or of the reported
    /// ones among them; at least one.
    pub expected: u64,
    /// Number of expected packets that have not arrived, less late ones of earlier intervals; at most `expected`.
    pub lost: u64,
}

impl IntervalLoss {
    /// The loss in 1/256, rounded down, at most 255/256. RFC 3550 §6.4.1.
    pub(crate) fn fraction(&self) -> u8 {
        let fraction = u128::from(self.lost) * 256 / u128::from(self.expected.max(1));
        u8::try_from(fraction).unwrap_or(u8::MAX)
    }

    /// The loss as a ratio in [0, 1), in steps of 1/256.
    pub(crate) fn ratio(&self) -> f64 {
        f64::from(self.fraction()) / 256.0
    }
}

/// Definition of a lost packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum LossDefinition {
    /// Packets reported as missing; packets of lost reports are unknown.
    Reported,
    /// Packets not reported as arrived, so also all packets of lost reports. RFC 3550 §6.4.1, where the report
    /// itself counts; the simulation framework of libwebrtc in 2016.
    Unheard,
}

/// Counter of losses from report to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LossCount {
    lost: LossDefinition,
    highest: Option<u64>,
}

impl LossCount {
    /// A count without any report.
    pub(crate) fn new(lost: LossDefinition) -> Self {
        Self { lost, highest: None }
    }

    /// The loss up to a report of `results`, or `None` for the first report and for one without a higher number.
    pub(crate) fn on_results(&mut self, results: &[PacketResult]) -> Option<IntervalLoss> {
        let arrived = results.iter().filter(|result| !matches!(result.fate, PacketFate::Missing));
        let (received, newest) = arrived
            .fold((0_u64, None), |(count, newest), result| (count + 1, newest.max(Some(result.sent.id))));
        let newest = newest?;
        let Some(highest) = self.highest else {
            self.highest = Some(newest);
            return None;
        };
        let span = newest.checked_sub(highest).filter(|&span| span > 0)?;
        self.highest = Some(newest);
        let expected = match self.lost {
            LossDefinition::Unheard => span,
            LossDefinition::Reported => {
                results.iter().filter(|r| (highest + 1..=newest).contains(&r.sent.id)).count() as u64
            }
        };
        Some(IntervalLoss { expected, lost: expected.saturating_sub(received) })
    }
}

#[cfg(test)]
mod tests {
    use weir_units::DataSize;

    use super::*;
    use crate::packet::{Ecn, SentPacket};
    use crate::time::{ArrivalTime, SendTime};

    /// A report: numbers, and whether each of them arrived.
    fn report(packets: &[(u64, bool)]) -> Vec<PacketResult> {
        let size = DataSize::from_bytes(1000);
        let result = |&(id, arrived): &(u64, bool)| PacketResult {
            sent: SentPacket::new(id, SendTime::ZERO, size),
            fate: if arrived {
                PacketFate::Arrived { at: Some(ArrivalTime::ZERO), ecn: Ecn::NotEct }
            } else {
                PacketFate::Missing
            },
        };
        packets.iter().map(result).collect()
    }

    #[test]
    fn the_loss_lies_between_highest_numbers() {
        let mut count = LossCount::new(LossDefinition::Unheard);
        assert_eq!(count.on_results(&report(&[(0, true), (1, false), (2, true)])), None, "the first one");
        // 3 to 7: 3 and 6 are missing.
        let loss = count.on_results(&report(&[(3, false), (4, true), (5, true), (6, false), (7, true)]));
        assert_eq!(loss, Some(IntervalLoss { expected: 5, lost: 2 }));
        // 2·256/5 = 102.4.
        assert_eq!(loss.unwrap().fraction(), 102);
        // 6 comes late with 8: 1 - 2 is no loss.
        assert_eq!(
            count.on_results(&report(&[(6, true), (8, true)])),
            Some(IntervalLoss { expected: 1, lost: 0 })
        );
        assert_eq!(count.on_results(&report(&[(3, true)])), None, "no higher number");
    }

    #[test]
    fn the_highest_number_is_expected_once() {
        let mut count = LossCount::new(LossDefinition::Reported);
        count.on_results(&report(&[(5, true)]));
        let loss = count.on_results(&report(&[(5, false), (6, false), (7, true)]));
        assert_eq!(loss, Some(IntervalLoss { expected: 2, lost: 1 }));
    }

    #[test]
    fn packets_of_a_lost_report_count_as_lost() {
        let mut count = LossCount::new(LossDefinition::Unheard);
        count.on_results(&report(&[(0, true)]));
        // The report on 1 to 4 is lost: 5 expected from 1 to 6 but two.
        assert_eq!(
            count.on_results(&report(&[(5, true), (6, true)])),
            Some(IntervalLoss { expected: 6, lost: 4 })
        );
    }

    #[test]
    fn packets_of_a_lost_report_have_no_fate() {
        let mut count = LossCount::new(LossDefinition::Reported);
        count.on_results(&report(&[(0, true)]));
        // The report on 1 to 4 is lost: of 5 and 6 one is missing.
        let loss = count.on_results(&report(&[(5, false), (6, true)]));
        assert_eq!(loss, Some(IntervalLoss { expected: 2, lost: 1 }));
        // 3 and 4 come late, and 9 has not been reported on before 10.
        let loss = count.on_results(&report(&[(3, true), (4, true), (7, false), (8, false), (10, true)]));
        assert_eq!(loss, Some(IntervalLoss { expected: 3, lost: 0 }), "late ones take losses back");
    }

    #[test]
    fn fractions_stay_below_one() {
        assert_eq!(IntervalLoss { expected: u64::MAX, lost: u64::MAX }.fraction(), 255);
        assert_eq!(IntervalLoss { expected: 4, lost: 1 }.ratio(), 0.25);
    }
}
