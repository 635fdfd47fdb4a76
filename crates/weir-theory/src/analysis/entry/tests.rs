//! The run of an analysis from named parameters (`analysis::entry`).

use serde::Deserialize;
use weir_units::{DataRate, TimeDelta};

use super::*;
use weir_form::KeyPath;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Parameters {
    rate: DataRate,
    #[schemars(range(min = 1, max = 9))]
    count: u32,
    seed: u64,
    times: Vec<TimeDelta>,
}

#[derive(Serialize, JsonSchema)]
struct Results {
    product_bps: f64,
    seed: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { rate: DataRate::from_kbps(100), count: 2, seed: 1, times: vec![TimeDelta::from_millis(5)] }
    }
}

struct Product;

impl Analysis for Product {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "product";
    const SUMMARY: &'static str = "";
    const SOURCE: &'static str = "";

    fn presets() -> Vec<ParameterPreset<Parameters>> {
        let fast = Parameters { rate: DataRate::from_mbps(5), ..Parameters::default() };
        vec![ParameterPreset { name: "fast", summary: "5 Mbit/s", parameters: fast }]
    }

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        if parameters.rate.is_zero() {
            return Err(Problem::value(&KeyPath::of(&["rate"]), "too slow").help("write a rate above 0"));
        }
        let product_bps = parameters.rate.bps_f64() * f64::from(parameters.count);
        Ok(Results { product_bps, seed: parameters.seed })
    }
}

fn run(set: &[&str], seed: Option<u64>) -> Result<Value, ScenarioError> {
    static ENTRY: std::sync::LazyLock<Entry> = std::sync::LazyLock::new(Entry::of::<Product>);
    let set: Vec<String> = set.iter().map(|&one| one.to_owned()).collect();
    ENTRY.run(&set, seed)
}

fn product(set: &[&str]) -> f64 {
    run(set, None).unwrap()["product_bps"].as_f64().unwrap()
}

#[test]
fn values_are_laid_over_the_defaults_and_over_a_preset_wherever_it_stands() {
    assert_eq!(product(&[]), 200e3);
    assert_eq!(product(&["rate=1Mbps", "count=3"]), 3e6);
    assert_eq!(product(&["count=3", "preset=fast"]), 15e6);
}

#[test]
fn a_seed_that_is_set_counts_more_than_that_of_the_run() {
    assert_eq!(run(&[], Some(7)).unwrap()["seed"], 7);
    assert_eq!(run(&["seed=3"], Some(7)).unwrap()["seed"], 3);
    assert_eq!(run(&[], None).unwrap()["seed"], 1);
}

#[test]
fn errors_name_the_key_and_what_would_be_right() {
    for (set, message, advice) in [
        ("rat=1Mbps", "`rat` is not a key", "did you mean `rate`?"),
        ("rate=fast", "`rate`", "write a rate such as \"2.5Mbps\""),
        ("rate=0bps", "too slow", "write a rate above 0"),
        ("count=10", "`count`: 10 is out of range", "write a whole number from 1 to 9"),
        ("preset=fats", "`preset` cannot be \"fats\"", "did you mean `fast`?"),
        ("times.3=1s", "`times` has no item `3`", "it has 1, counted from 0"),
    ] {
        let error = run(&[set], None).unwrap_err();
        assert!(error.to_string().starts_with("--set:1:"), "{error}");
        assert!(error.message().contains(message), "{set}: {error}");
        assert!(error.advice().unwrap_or_default().contains(advice), "{set}: {:?}", error.advice());
    }
}
