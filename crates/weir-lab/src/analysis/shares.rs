//! Shares by priority: what the couplers divide a total by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::coupled::water_fill::{Claim, Leftover, fill, weigh};
use weir_units::DataRate;

use super::entry::Analysis;
use super::range::{FASTER, check, moving, refused};
use crate::form::Problem;

/// The weighted max-min allocation, by the couplers' own code.
pub(super) struct Shares;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    /// What there is.
    total: DataRate,
    /// Priorities from a millionth to a million, one for each flow, of 1000 at most.
    priorities: Vec<f64>,
    /// The most that each flow can use, in order; 0 and what is not given for no limit.
    desired: Vec<DataRate>,
    /// The least that each flow can live with, in order; what is not given is 0.
    least: Vec<DataRate>,
    /// Whether others share what a flow leaves over.
    shared: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Results {
    /// What each flow gets, in bit/s.
    rate_bps: Vec<f64>,
    /// The same over what there is.
    share: Vec<f64>,
    /// What nobody gets, in bit/s.
    left_bps: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            total: DataRate::from_mbps(10),
            priorities: vec![1.0, 1.0],
            desired: Vec::new(),
            least: Vec::new(),
            shared: true,
        }
    }
}

impl Analysis for Shares {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "priority-shares";
    const SUMMARY: &'static str = "How coupled flows divide a rate by their priorities and wishes";
    const SOURCE: &'static str = "coupled-rtp-2014 fig. 13; RFC 8699 §5.3.1";

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        parameters.check()?;
        let mut claims: Vec<Claim> =
            (0..parameters.priorities.len()).map(|index| parameters.claim(index)).collect();
        claims.sort_by(Claim::order);
        weigh(&mut claims);
        let total = parameters.total.bps_f64();
        let leftover = if parameters.shared { Leftover::Shared } else { Leftover::Kept };
        let given = fill(&mut claims, total, leftover);
        claims.sort_by_key(|claim| claim.of);
        let rate_bps: Vec<f64> = claims.iter().map(|claim| claim.share).collect();
        Ok(Results {
            share: rate_bps.iter().map(|rate| rate / total).collect(),
            left_bps: (total - given).max(0.0),
            rate_bps,
        })
    }
}

impl Parameters {
    fn check(&self) -> Result<(), Problem> {
        check([("total", moving(self.total), FASTER)])?;
        if !(1..=1000).contains(&self.priorities.len()) {
            return Err(refused("priorities", "from one to 1000"));
        }
        for (index, priority) in self.priorities.iter().enumerate() {
            check([(
                format!("priorities.{index}"),
                (1e-6..=1e6).contains(priority),
                "a number from a millionth to a million",
            )])?;
        }
        let flows = self.priorities.len();
        let right = "no more rates than there are `priorities`";
        check([("desired", self.desired.len() <= flows, right), ("least", self.least.len() <= flows, right)])
    }

    fn claim(&self, index: usize) -> Claim {
        let at = |rates: &[DataRate]| rates.get(index).map_or(0.0, |rate| rate.bps_f64());
        let desired = Some(at(&self.desired)).filter(|&most| most > 0.0);
        Claim::new(index as u32, self.priorities[index], at(&self.least), desired.unwrap_or(f64::INFINITY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(parameters: &Parameters) -> Results {
        Shares::run(parameters).unwrap()
    }

    #[test]
    fn shares_are_those_of_figure_13() {
        for (priority, share) in [(1.0, 0.5), (0.66, 0.398), (0.42, 0.296), (0.25, 0.2), (0.11, 0.099)] {
            let results = of(&Parameters { priorities: vec![priority, 1.0], ..Parameters::default() });
            assert!((results.share[0] - share).abs() < 5e-4, "{results:?}");
            assert!((results.share.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn what_a_flow_leaves_over_goes_to_the_others_or_to_nobody() {
        // 12 Mbit/s by 1, 1 and 2, of which the first wants 1 and the last 4.
        let parameters = |shared| Parameters {
            total: DataRate::from_mbps(12),
            priorities: vec![1.0, 1.0, 2.0],
            desired: [1, 0, 4].map(DataRate::from_mbps).to_vec(),
            shared,
            ..Parameters::default()
        };
        assert_eq!(of(&parameters(true)).rate_bps, [1e6, 7e6, 4e6]);
        let kept = of(&parameters(false));
        assert_eq!((kept.rate_bps, kept.left_bps), (vec![1e6, 3e6, 4e6], 4e6));
    }

    #[test]
    fn a_priority_that_is_none_is_refused() {
        for none in [0.0, 1e300, f64::NAN] {
            let parameters = Parameters { priorities: vec![1.0, none], ..Parameters::default() };
            assert_eq!(Shares::run(&parameters).unwrap_err().message, "`priorities.1` is out of range");
        }
    }
}
