//! Real values beside simulated ones, for the report.

use weir_report::page::ValueStrip;
use weir_study::testbed::{Compared, DistributionBeside, RunBeside};

/// A strip for each compared quantity, those of whole distributions first.
pub(super) fn of(beside: &[RunBeside], distributions: &[DistributionBeside]) -> Vec<ValueStrip> {
    let of_all = |one: &DistributionBeside| {
        let names = [one.runs.clone(), one.flow.clone(), one.quantity.to_owned()];
        let (real, simulated) = (one.real.clone(), one.simulated.clone());
        let result = format!("{}, probability {:.3}", one.agreement.name(), one.probability);
        ValueStrip { names, real, simulated, allowed: None, result }
    };
    let of_run = |run: &RunBeside, one: &Compared| {
        let names = [run.run.clone(), one.flow.clone(), one.quantity.to_owned()];
        let (real, simulated) = (vec![one.real], one.values.clone());
        ValueStrip {
            names,
            real,
            simulated,
            allowed: Some(one.allowed),
            result: one.agreement.name().to_owned(),
        }
    };
    let single = beside.iter().flat_map(|run| run.compared.iter().map(move |one| of_run(run, one)));
    distributions.iter().map(of_all).chain(single).collect()
}
