//! Cases drawn by a seed (`suite::drawn`), by the distribution in `docs/suites.md`.

use super::*;
use weir_import::traces::{TraceStatistics, TraceStore};
use weir_scenario::compile::RunOptions;
use weir_scenario::registry::Registry;

const MANY: u32 = 4000;

fn many() -> Vec<CaseParameters> {
    (1..=MANY).map(|number| CaseParameters::new(1, number)).collect()
}

/// Asserts that the share of `all` for which `is` holds lies within four standard deviations of `expected`.
fn assert_share(all: &[CaseParameters], expected: f64, is: impl Fn(&CaseParameters) -> bool) {
    let count = all.iter().filter(|parameters| is(parameters)).count() as f64;
    let (n, deviation) = (all.len() as f64, (expected * (1.0 - expected) / all.len() as f64).sqrt());
    assert!((count / n - expected).abs() < 4.0 * deviation, "{} instead of {expected}", count / n);
}

/// Asserts that each quarter of the logarithmic range from `least` to `most` holds as many of the values.
fn assert_log_uniform(values: &[u64], least: f64, most: f64) {
    let place = |value: u64| libm::log(value as f64 / least) / libm::log(most / least);
    for quarter in 0..4 {
        let (from, to) = (f64::from(quarter) / 4.0, f64::from(quarter + 1) / 4.0);
        let share = values.iter().filter(|&&value| (from..to).contains(&place(value))).count() as f64
            / values.len() as f64;
        assert!((share - 0.25).abs() < 0.04, "{share} from {from} to {to}");
    }
    assert!(values.iter().all(|&value| (least.round() as u64..=most.round() as u64).contains(&value)));
}

#[test]
fn the_distribution_is_that_of_its_description() {
    let all = many();
    let rates = all.iter().filter_map(|parameters| match &parameters.capacity {
        Capacity::Steps(steps) => Some(steps[0].1),
        Capacity::Trace(..) => None,
    });
    assert_log_uniform(&rates.collect::<Vec<_>>(), 200.0, 50_000.0);
    assert_log_uniform(
        &all.iter().map(|parameters| parameters.round_trip_ms).collect::<Vec<_>>(),
        10.0,
        600.0,
    );
    assert_log_uniform(&all.iter().map(|parameters| parameters.queue_ms).collect::<Vec<_>>(), 50.0, 1000.0);
    assert_log_uniform(
        &all.iter().map(|parameters| parameters.max_kbps).collect::<Vec<_>>(),
        1000.0,
        25_000.0,
    );
    let steps = |parameters: &CaseParameters| match &parameters.capacity {
        Capacity::Steps(steps) => steps.len(),
        Capacity::Trace(..) => 0,
    };
    assert_share(&all, 0.4, |parameters| steps(parameters) == 1);
    assert_share(&all, 0.3, |parameters| steps(parameters) > 1);
    for (name, _) in RECORDED {
        assert_share(
            &all,
            0.05,
            |parameters| matches!(parameters.capacity, Capacity::Trace(trace, _) if trace == name),
        );
    }
    for (name, _) in GENERATED {
        assert_share(
            &all,
            0.05,
            |parameters| matches!(parameters.capacity, Capacity::Trace(trace, _) if trace == name),
        );
    }
    assert_share(&all, 0.6, |parameters| parameters.discipline == DrawnDiscipline::DropTail);
    assert_share(&all, 0.2, |parameters| parameters.discipline == DrawnDiscipline::CoDel);
    assert_share(&all, 0.5, |parameters| parameters.loss == DrawnLoss::None);
    assert_share(
        &all,
        0.25,
        |parameters| matches!(parameters.loss, DrawnLoss::Random(mille) if (1..=50).contains(&mille)),
    );
    assert_share(&all, 0.4, |parameters| parameters.beside == CompetingTraffic::Nothing);
    for name in ["gcc", "nada", "scream-v2"] {
        assert_share(&all, 0.1, |parameters| parameters.beside == CompetingTraffic::Call(name));
    }
    assert_share(&all, 0.1, |parameters| matches!(parameters.beside, CompetingTraffic::Tcp(_)));
    assert_share(&all, 0.1, |parameters| matches!(parameters.beside, CompetingTraffic::Web(_)));
    assert_share(&all, 0.1, |parameters| matches!(parameters.beside, CompetingTraffic::Constant(_)));
    assert!(
        all.iter().all(|parameters| (1..=10).contains(&parameters.calls) && parameters.beside_from_s <= 30)
    );
    // Several calls are drawn only where a constant capacity leaves 200 kbit/s for each.
    let wide: Vec<CaseParameters> = all
        .iter()
        .filter(|parameters| steps(parameters) == 1 && rate_of(parameters) >= 2000)
        .cloned()
        .collect();
    assert_share(&wide, 0.5, |parameters| parameters.calls == 1);
    assert_share(&wide, 0.5 / 9.0, |parameters| parameters.calls == 10);
    assert!(
        all.iter()
            .filter(|parameters| steps(parameters) == 1)
            .all(|parameters| parameters.calls == 1 || rate_of(parameters) / parameters.calls >= 200)
    );
}

/// First capacity in kbit/s, or 0 for a trace.
fn rate_of(parameters: &CaseParameters) -> u64 {
    match &parameters.capacity {
        Capacity::Steps(steps) => steps[0].1,
        Capacity::Trace(..) => 0,
    }
}

#[test]
fn a_seed_gives_the_same_bytes_everywhere_and_a_case_does_not_depend_on_their_number() {
    let suite = drawn(1, 40);
    let texts = |suite: &Suite| suite.cases.iter().filter_map(|case| case.text.clone()).collect::<String>();
    assert_eq!(seed_of(&[texts(&suite)]), EXPECTED, "the draws of every released version stay");
    assert_eq!(drawn(1, 7).cases, suite.cases[..7]);
    assert_ne!(texts(&drawn(2, 40)), texts(&suite));
}

/// Hash of the forty scenarios of seed 1.
const EXPECTED: u64 = 234_515_302_836_892_657;

#[test]
fn the_seed_of_files_is_that_of_all_their_bytes_in_order() {
    let seed = |texts: &[&str]| seed_of(&texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>());
    assert_eq!(seed(&["ab", "c"]), seed(&["abc"]));
    assert_ne!(seed(&["ba"]), seed(&["ab"]));
    // FNV-1a of "a" is 0xaf63dc4c8601ec8c.
    assert_eq!(seed(&["a"]), 0x2f63_dc4c_8601_ec8c);
}

#[test]
fn every_case_can_be_built() {
    let registry = Registry::standard();
    for case in drawn(3, 300).cases {
        let scenario = case.open(&registry, &[]).unwrap_or_else(|error| panic!("{}: {error}", case.title));
        let built = scenario.build(&RunOptions::new(1), &TraceStore::find(&[]));
        built.unwrap_or_else(|error| panic!("{}: {error}\n{:?}", case.title, case.text));
    }
}

#[test]
fn the_means_of_recorded_traces_are_those_of_the_files() {
    let store = TraceStore::find(&[]);
    for (name, kbps) in RECORDED {
        let mean = TraceStatistics::of(&store.load(name).unwrap()).mean_mbps * 1e3;
        assert!((mean - kbps as f64).abs() < 1.0, "{name}: {mean}");
    }
}
