//! Distributions of real runs beside those of simulated ones, where one run concludes nothing.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use weir_measure::results::stats::distance;

use super::RunBeside;
use super::agreement::Agreement;

/// Fewest real runs whose distribution is compared.
pub const LEAST_RUNS: usize = 12;
/// Probability below which two distributions differ.
const SIGNIFICANCE: f64 = 0.01;

/// A quantity that is a spread in some run: the values of all real runs beside the simulated ones of the same seeds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DistributionBeside {
    /// The runs: scenario and controller.
    pub runs: String,
    /// Name of the flow.
    pub flow: String,
    /// The quantity, with its unit.
    pub quantity: &'static str,
    /// The real values, in ascending order.
    pub real: Vec<f64>,
    /// The simulated values of all seeds, in ascending order.
    pub simulated: Vec<f64>,
    /// Largest distance of the two distributions (Kolmogorov and Smirnov).
    pub distance: f64,
    /// Probability of such a distance between samples of one distribution.
    pub probability: f64,
    /// *Differs* if the distributions differ at 1 %, else *agrees*.
    pub agreement: Agreement,
}

/// Compares the distributions of the quantities that are a spread in some run, where there are [`LEAST_RUNS`] or more.
pub fn compare_distributions(beside: &[RunBeside]) -> Vec<DistributionBeside> {
    /// Real and simulated values, and whether some run is a spread.
    type GroupValues = (Vec<f64>, Vec<f64>, bool);
    let mut groups: BTreeMap<(String, String, &'static str), GroupValues> = BTreeMap::new();
    for run in beside {
        // The last part is the seed.
        let runs = run.run.rsplit_once('/').map_or(run.run.as_str(), |(runs, _)| runs);
        for one in &run.compared {
            let key = (runs.to_owned(), one.flow.clone(), one.quantity);
            let (real, simulated, is_spread) = groups.entry(key).or_default();
            real.push(one.real);
            simulated.extend(&one.values);
            *is_spread |= one.agreement == Agreement::Spread;
        }
    }
    let wide = groups.into_iter().filter(|(_, (real, _, is_spread))| *is_spread && real.len() >= LEAST_RUNS);
    wide.map(|((runs, flow, quantity), (mut real, mut simulated, _))| {
        real.sort_by(f64::total_cmp);
        simulated.sort_by(f64::total_cmp);
        let distance = distance(&real, &simulated);
        let probability = probability(distance, real.len(), simulated.len());
        let differs = probability < SIGNIFICANCE;
        let agreement = if differs { Agreement::Differs } else { Agreement::Agrees };
        DistributionBeside { runs, flow, quantity, real, simulated, distance, probability, agreement }
    })
    .collect()
}

/// Probability that samples of `a` and `b` values of one distribution are at least `distance` apart: the asymptotic
/// distribution with the correction of Stephens (1970) for small samples.
fn probability(distance: f64, a: usize, b: usize) -> f64 {
    let effective = (a as f64 * b as f64 / (a + b) as f64).sqrt();
    let scaled = (effective + 0.12 + 0.11 / effective) * distance;
    // Below this the series converges slowly, to one.
    if scaled < 0.2 {
        return 1.0;
    }
    let term = |k: i32| {
        let sign = if k % 2 == 0 { -1.0 } else { 1.0 };
        sign * libm::exp(-2.0 * f64::from(k * k) * scaled * scaled)
    };
    (2.0 * (1..=100).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::Compared;
    use super::*;

    /// Twelve runs whose real values are these, each beside twenty values from 0 to 19.
    fn runs(real: impl Fn(usize) -> f64, agreement: Agreement) -> Vec<RunBeside> {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let run = |index: usize| {
            let (simulated, allowed, values) = ([0.0, 10.0, 19.0], [0.0, 19.0], values.clone());
            let (flow, quantity) = ("video".to_owned(), "rate (kbit/s)");
            let compared =
                vec![Compared { flow, quantity, real: real(index), simulated, values, allowed, agreement }];
            RunBeside { run: format!("beside-cubic/nada/{index}"), seed: index as u64, compared }
        };
        (0..12).map(run).collect()
    }

    #[test]
    fn distributions_differ_at_a_low_probability() {
        let alike = compare_distributions(&runs(|index| 1.7 * index as f64, Agreement::Spread));
        let [alike] = alike.as_slice() else { panic!("{alike:?}") };
        assert_eq!((alike.agreement, alike.runs.as_str()), (Agreement::Agrees, "beside-cubic/nada"));
        assert_eq!((alike.real.len(), alike.simulated.len()), (12, 240));
        // All real values are among the lowest fifth of the simulated ones.
        let low = compare_distributions(&runs(|index| 0.3 * index as f64, Agreement::Spread));
        assert_eq!(low[0].agreement, Agreement::Differs);
        assert!(low[0].distance > 0.75 && low[0].probability < 1e-4, "{low:?}");
    }

    #[test]
    fn one_run_more_or_a_conclusion_needs_no_distribution() {
        let all = runs(|index| index as f64, Agreement::Spread);
        assert!(compare_distributions(&all[1..]).is_empty());
        assert!(compare_distributions(&runs(|index| index as f64, Agreement::Agrees)).is_empty());
    }

    #[test]
    fn probabilities_are_those_of_the_tables() {
        // Critical values of the asymptotic distribution: 1.358 at 5 %, 1.628 at 1 %.
        let large = 1_000_000;
        let critical = |scaled: f64| probability(scaled / (large as f64 / 2.0).sqrt(), large, large);
        assert!((critical(1.358) - 0.05).abs() < 1e-3, "{}", critical(1.358));
        assert!((critical(1.628) - 0.01).abs() < 3e-4, "{}", critical(1.628));
        assert!((probability(0.0, 12, 20) - 1.0).abs() < 1e-12);
    }
}
