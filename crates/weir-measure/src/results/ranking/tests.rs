//! The leading and the recommended controllers of a comparison (`results::ranking`).

use proptest::prelude::*;

use super::*;

/// A candidate with these useful rates and frame delays, and as many freezes as given.
fn candidate(name: &str, useful: &[f64], delay: &[f64], freezes: &[f64]) -> RankedController {
    let some = |values: &[f64]| values.iter().copied().map(Some).collect();
    RankedController {
        name: name.to_owned(),
        useful_rate_kbps: some(useful),
        frame_delay_ms: some(delay),
        freezes: some(freezes),
        neighbour_rate_kbps: Vec::new(),
    }
}

/// Ten runs around `mean`, whose deviations have the standard deviation `sd` and come in another order for each `turn`.
fn runs(mean: f64, sd: f64, turn: usize) -> Vec<f64> {
    // Sum 0, squares 9 · 1: 2·(1.5² + 1.0² + 0.75² + 0.6² + 0.573²) = 9.0.
    let unit = [1.5, -1.5, 1.0, -1.0, 0.75, -0.75, 0.6, -0.6, 0.573, -0.573];
    (0..10).map(|run| mean + sd * unit[(run + turn) % 10]).collect()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_lead_counts_beyond_the_margin_and_three_and_a_quarter_standard_errors() {
    // Ten runs: t = 3.2498. Differences of mean 10 and standard deviation 9.0: a standard error of 2.846, times t 9.249. One
    // per cent of 60 leaves 9.4, of 80 only 9.2.
    let base = runs(50.0, 0.0, 0);
    let ahead: Vec<f64> = runs(60.0, 9.0, 0);
    assert!(beats(&ahead, &base, Better::Higher, MARGIN));
    let far = |by: f64| -> Vec<f64> { base.iter().map(|value| value + by).collect() };
    assert!(!beats(&runs(80.0, 9.0, 0), &far(20.0), Better::Higher, MARGIN));
    assert!(beats(&base, &ahead, Better::Lower, MARGIN), "less is better");
    assert!(!beats(&base, &ahead, Better::Higher, MARGIN));
    // Without any noise the margin alone decides.
    assert!(!beats(&far(0.5), &base, Better::Higher, MARGIN), "less than 1 % of 50.5");
    assert!(beats(&far(0.6), &base, Better::Higher, MARGIN));
    assert!(!beats(&far(0.6)[..4], &base[..4], Better::Higher, MARGIN), "four runs are too few");
    assert!(beats(&far(0.6)[..5], &base[..5], Better::Higher, MARGIN));
    assert!(!beats(&far(0.6), &base[..9], Better::Higher, MARGIN), "not the same seeds");
    assert!(!beats(&[f64::NAN; 6], &base[..6], Better::Higher, MARGIN));
    assert!(!beats(&[0.0; 6], &[0.0; 6], Better::Lower, MARGIN), "no controller beats itself");
}

#[test]
fn unbeaten_controllers_lead_and_dominated_ones_are_not_recommended() {
    // Twins a and a2 differ by a hair in each run; b scatters otherwise and has half of their delay; c is far behind.
    let all = [
        candidate("a", &runs(596.0, 30.0, 0), &runs(2000.0, 100.0, 0), &[5.0; 10]),
        candidate("a2", &runs(587.0, 30.0, 0), &runs(1990.0, 100.0, 0), &[5.0; 10]),
        candidate("b", &runs(590.0, 20.0, 1), &runs(960.0, 15.0, 0), &[5.0; 10]),
        candidate("c", &runs(200.0, 20.0, 3), &runs(100.0, 15.0, 0), &[0.0; 10]),
    ];
    let ranking = Ranking::of(&all);
    // a leads a2 by 9 in each run, beyond the margin of 6: a2 does not lead, although it is b's equal.
    assert_eq!(ranking.leading, names(&["a", "b"]));
    assert_eq!(ranking.recommended, names(&["b"]));
    assert_eq!(ranking.candidate("a").unwrap().dominated_by, names(&["b"]));
    assert_eq!(ranking.candidate("c").unwrap().beaten_by, names(&["a", "b", "a2"]));
    assert_eq!(ranking.candidate("c").unwrap().dominated_by, names(&[]), "only members dominate");
    assert!((ranking.confidence() - 0.985).abs() < 1e-12);
    assert_eq!(
        ranking.sentence("over 10 runs"),
        "a and b lead with 590 to 596 kbit/s of video within 150 ms over 10 runs; neither beats the other. \
         Recommended: b. b has the shorter frame delay (960 ms; a 2000 ms)."
    );
    assert_eq!(
        Ranking::of(&all[2..]).sentence("over 10 runs"),
        "b leads with 590 kbit/s of video within 150 ms over 10 runs; it beats c."
    );
}

#[test]
fn with_several_recommended_the_sentence_names_the_advantage_of_each() {
    let mut all = [
        candidate("quick", &runs(500.0, 5.0, 0), &runs(100.0, 5.0, 0), &runs(9.0, 0.5, 0)),
        candidate("smooth", &runs(501.0, 5.0, 1), &runs(300.0, 5.0, 0), &runs(3.0, 0.5, 0)),
    ];
    let sentence = |all: &[RankedController]| Ranking::of(all).sentence("over 10 runs");
    assert_eq!(
        sentence(&all),
        "smooth and quick lead with 500 to 501 kbit/s of video within 150 ms over 10 runs; neither beats the other. \
         Recommended: smooth and quick. quick has the shorter frame delay (100 ms; smooth 300 ms); smooth has fewer \
         freezes (3.0; quick 9.0)."
    );
    all[0].neighbour_rate_kbps = runs(700.0, 5.0, 0).into_iter().map(Some).collect();
    all[1].neighbour_rate_kbps = runs(400.0, 5.0, 0).into_iter().map(Some).collect();
    assert!(sentence(&all).ends_with("; quick leaves its neighbour more (700 kbit/s; smooth 400 kbit/s)."));
    let twins = [all[0].clone(), RankedController { name: "quicker".to_owned(), ..all[0].clone() }];
    assert!(sentence(&twins).ends_with(
        "Recommended: quick and quicker. These runs tell no difference in frame delay, freezes or what is left to the \
         neighbour."
    ));
}

#[test]
fn fewer_than_five_runs_give_no_verdict() {
    let few = |count: usize| {
        let of = |name, mean| {
            candidate(name, &runs(mean, 0.0, 0)[..count], &[1.0; 10][..count], &[0.0; 10][..count])
        };
        Ranking::of(&[of("a", 100.0), of("b", 900.0)])
    };
    assert_eq!((few(4).leading, few(4).recommended), (names(&[]), names(&[])));
    let ranked: Vec<String> = few(4).candidates.iter().map(|candidate| candidate.name.clone()).collect();
    assert_eq!(ranked, names(&["b", "a"]), "by their means");
    assert_eq!(
        few(4).sentence("over 4 runs"),
        "These runs cannot tell which controller leads: that takes 5 seeds, and better 10 (--runs 10). The highest useful \
         rate over 4 runs is that of b, 900 kbit/s."
    );
    assert_eq!(few(5).leading, names(&["b"]));
}

#[test]
fn a_candidate_without_all_of_its_runs_is_left_out_by_name() {
    let whole = candidate("whole", &runs(100.0, 1.0, 0), &[1.0; 10], &[0.0; 10]);
    let mut torn = candidate("torn", &runs(900.0, 1.0, 0), &[1.0; 10], &[0.0; 10]);
    torn.useful_rate_kbps[3] = None;
    let short = candidate("short", &runs(900.0, 1.0, 0)[..9], &[1.0; 9], &[0.0; 9]);
    let ranking = Ranking::of(&[torn, whole, short]);
    assert_eq!(
        (ranking.leading.clone(), ranking.left_out.clone()),
        (names(&["whole"]), names(&["torn", "short"]))
    );
    let sentence = ranking.sentence("over 10 runs");
    assert!(sentence.ends_with(" Left out, as runs are missing: torn and short."), "{sentence}");
    assert_eq!(
        Ranking::of(&[]).sentence("over no run"),
        "No controller has all of its runs, so that none can be compared."
    );
}

/// Random tables: noise of its own or of the seed for each candidate, some without any, and twins of others.
fn tables() -> impl Strategy<Value = Vec<RankedController>> {
    let level = || prop_oneof![Just(100.0), Just(100.5), 90.0..110.0f64, 1.0..1000.0f64];
    let noise = || prop_oneof![Just(0.0), Just(0.001), 0.0..30.0f64];
    let own = proptest::collection::vec(-1.0..1.0f64, 10);
    let criterion = (level(), noise(), noise(), own);
    let drawn = (proptest::collection::vec(criterion, 3), proptest::option::of(0..8_usize));
    let common = proptest::collection::vec(-1.0..1.0f64, 10);
    (proptest::collection::vec(drawn, 3..=8), common).prop_map(|(drawn, common)| {
        let mut all: Vec<RankedController> = Vec::new();
        for (number, (criteria, twin)) in drawn.into_iter().enumerate() {
            let values: Vec<Vec<f64>> = criteria
                .iter()
                .map(|(level, own, shared, deviations)| {
                    let value = |run: usize| (level + own * deviations[run] + shared * common[run]).max(0.0);
                    (0..10).map(value).collect()
                })
                .collect();
            let mut own = candidate(&format!("c{number}"), &values[0], &values[1], &values[2]);
            if let Some(twin) = twin.and_then(|twin| all.get(twin)) {
                // In each run a little more than its twin.
                let more = |values: &[Value]| values.iter().map(|value| value.map(|v| 1.002 * v)).collect();
                own.useful_rate_kbps = more(&twin.useful_rate_kbps);
                own.frame_delay_ms = more(&twin.frame_delay_ms);
            }
            all.push(own);
        }
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn beating_is_transitive(all in tables()) {
        for criterion in Criterion::DOMINATING {
            let beats = |a: &RankedController, b: &RankedController| a.beats(b, criterion, MARGIN);
            for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))).filter(|(a, b)| beats(a, b)) {
                for c in all.iter().filter(|c| beats(b, c)) {
                    prop_assert!(beats(a, c), "{} {} {}", a.name, b.name, c.name);
                }
            }
        }
    }

    #[test]
    fn a_beaten_candidate_changes_nothing_and_no_other_brings_one_back(all in tables()) {
        let whole = Ranking::of(&all);
        prop_assert!(!whole.recommended.is_empty());
        for (index, own) in all.iter().enumerate() {
            let mut others = all.clone();
            others.remove(index);
            let without = Ranking::of(&others);
            if !whole.leading.contains(&own.name) {
                prop_assert_eq!(&whole.leading, &without.leading);
                prop_assert_eq!(&whole.recommended, &without.recommended);
            }
            for other in &others {
                let (name, beaten) = (&other.name, own.beats(other, Criterion::UsefulRate, MARGIN));
                let (before, after) = (without.leading.contains(name), whole.leading.contains(name));
                prop_assert_eq!(after, before && !beaten, "{} with {}", name, own.name);
                // No candidate becomes recommended, unless the newcomer beats one that dominated it or is itself
                // one of a circle.
                if whole.recommended.contains(name) && !without.recommended.contains(name) {
                    let dominated_by = |ranking: &Ranking| ranking.candidate(name).unwrap().dominated_by.clone();
                    let freed = dominated_by(&without).iter().any(|by| !whole.leading.contains(by));
                    let circle = !dominated_by(&whole).is_empty();
                    prop_assert!(freed || circle, "{} comes back with {}", name, own.name);
                }
            }
        }
    }
}
