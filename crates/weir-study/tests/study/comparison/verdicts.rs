//! The verdict's sentence claims no more than the runs support.

use weir_measure::results::{FlowKind, RunMetrics, Summary};
use weir_scenario::compile::TraceUse;
use weir_study::comparison::Comparison;
use weir_study::comparison::demo;

use super::hand_made::{call, calls, comparison, empty_run, flow};

/// Six runs: `b` is 100 kbit/s behind `a` in each, though both scatter widely.
const A: [f64; 6] = [500.0, 620.0, 680.0, 540.0, 560.0, 700.0];
const B: [f64; 6] = [400.0, 520.0, 580.0, 440.0, 460.0, 600.0];

fn of_demo(comparison: &Comparison) -> String {
    demo::verdict(comparison, demo::ranking(comparison, comparison).as_ref())
}

#[test]
fn a_controller_that_beats_the_others_leads() {
    let comparison = calls(&[("nada", &B), ("gcc-2016", &A)]);
    let ranking = comparison.summary.ranking.as_ref().unwrap();
    assert_eq!((&ranking.leading, &ranking.recommended), (&vec!["gcc-2016".to_owned()], &ranking.leading));
    assert_eq!(
        of_demo(&comparison),
        "gcc-2016 leads with 600 kbit/s of video within 150 ms over 6 drives; it beats nada."
    );
    assert_eq!(
        comparison.verdict(),
        "gcc-2016 leads with 600 kbit/s of video within 150 ms over 6 runs; it beats nada."
    );
}

#[test]
fn a_further_candidate_turns_no_verdict_round() {
    // c is a's equal, run by run 30 above or below it; a's twin is 2 kbit/s below a.
    let c = [530.0, 590.0, 710.0, 510.0, 590.0, 670.0];
    let twin = A.map(|rate| rate - 2.0);
    let leading = |candidates: &[(&str, &[f64])]| {
        let ranking = calls(candidates).summary.ranking.unwrap();
        (ranking.leading, ranking.recommended)
    };
    let both = leading(&[("a", &A), ("c", &c)]);
    assert_eq!(both.0, ["a", "c"]);
    assert_eq!(leading(&[("a", &A), ("twin", &twin), ("c", &c)]).0, ["a", "c", "twin"]);
    assert_eq!(leading(&[("a", &A), ("b", &B), ("c", &c)]), both, "who is beaten changes nothing");
}

#[test]
fn equal_controllers_lead_together() {
    let sentence = of_demo(&calls(&[("a", &B), ("b", &B)]));
    assert!(sentence.starts_with("a and b lead with 500 kbit/s"), "{sentence}");
    assert!(sentence.ends_with("These runs tell no difference in frame delay or freezes."), "{sentence}");
}

#[test]
fn few_runs_decide_nothing() {
    let comparison = calls(&[("a", &[600.0]), ("b", &[100.0])]);
    assert_eq!(
        of_demo(&comparison),
        "One run cannot tell which controller leads: that takes 5 seeds, and better 10 (--runs 10). The highest \
         useful rate in one drive is that of a, 600 kbit/s."
    );
    let four = calls(&[("a", &A[..4]), ("b", &B[..4])]);
    assert!(four.verdict().starts_with("These runs cannot tell"), "{}", four.verdict());
}

#[test]
fn a_controller_without_deliveries_is_named() {
    let mut runs = vec![measured(900.0, 20.0, 0.01); 5];
    for run in &mut runs {
        flow(run, "video").useful_rate_bps = Some(8e5);
    }
    let idle = vec![measured(0.0, 0.0, 0.0); 5];
    let sentence = comparison(&[("gcc", runs), ("silent", idle)]).verdict();
    assert!(sentence.ends_with("it beats silent. Nothing was delivered by silent."), "{sentence}");
}

#[test]
fn the_sentence_gives_the_neighbours_rate_beside_recommended_controllers() {
    let beside = |name: &'static str, call: f64, tcp: f64| {
        let run = |seed: u32| {
            let mut run = empty_run(&[("video", FlowKind::Media), ("bulk", FlowKind::Tcp)]);
            run.media.rate_bps = Some(call);
            flow(&mut run, "video").useful_rate_bps = Some(call + f64::from(seed));
            flow(&mut run, "bulk").rate_bps = Some(tcp);
            run
        };
        (name, (0..5).map(run).collect::<Vec<_>>())
    };
    let sentence = comparison(&[beside("kind", 1e6, 2e6), beside("greedy", 1e6, 1e6)]).verdict();
    let expected =
        "Recommended: kind and greedy. kind leaves its neighbour more (2000 kbit/s; greedy 1000 kbit/s).";
    assert!(sentence.ends_with(expected), "{sentence}");
}

/// A call at this rate, queuing delay and loss.
fn measured(kbps: f64, delay_ms: f64, loss: f64) -> RunMetrics {
    let mut run = call(0.0);
    run.media.rate_bps = Some(kbps * 1e3);
    run.media.owd_excess_ms.p95 = Some(delay_ms);
    run.media.loss_ratio = Some(loss);
    run
}

#[test]
fn the_sentence_on_a_single_controller_has_its_numbers() {
    // Rates 900, 1000 and 1100: s = 100, half width 248.4; delays 20, 30, 40: 24.8; losses 1, 2 and 3 %: 2.48.
    let runs = vec![measured(900.0, 20.0, 0.01), measured(1000.0, 30.0, 0.02), measured(1100.0, 40.0, 0.03)];
    let one = comparison(&[("nada", runs[1..2].to_vec())]);
    assert_eq!(
        one.verdict(),
        "nada carried 1000 kbit/s at a queuing delay of 30 ms (95th percentile) and a loss of 2.00 % in one run."
    );
    assert_eq!(
        comparison(&[("nada", runs)]).verdict(),
        "nada carried 1000 ± 248 kbit/s at a queuing delay of 30 ± 25 ms (95th percentile) and a loss of \
         2.00 ± 2.48 % over 3 runs (mean ± 95 % interval)."
    );
    assert_eq!(calls(&[("nada", &[0.0])]).verdict(), "nada delivered nothing in one run.");
}

#[test]
fn without_media_the_sentence_describes_the_bottleneck() {
    let mut run = empty_run(&[("bulk", FlowKind::Tcp)]);
    run.links[0].utilisation.time_mean = Some(0.987);
    run.links[0].loss_ratio = Some(0.012_34);
    assert_eq!(
        comparison(&[("none", vec![run])]).verdict(),
        "The link `forward` was used to 98.7 % and lost 1.23 % of its packets in one run."
    );
    let mut idle = empty_run(&[("bulk", FlowKind::Tcp)]);
    idle.links.clear();
    assert_eq!(comparison(&[("none", vec![idle])]).verdict(), "No packet came to a bottleneck.");
}

#[test]
fn an_empty_comparison_has_a_sentence() {
    let summary = Summary {
        scenario: String::new(),
        runs: 0,
        seeds: Vec::new(),
        ranking: None,
        controllers: Vec::new(),
    };
    let nothing = Comparison { summary, controllers: Vec::new(), traces: Vec::new() };
    assert_eq!(nothing.verdict(), "Nothing was compared.");
    assert_eq!(of_demo(&nothing), "Nothing was compared.");
}

#[test]
fn the_notice_on_a_substituted_trace_appears_once() {
    let using = |link: &str, wanted: &str, used: &str| TraceUse {
        link: link.to_owned(),
        wanted: wanted.to_owned(),
        used: used.to_owned(),
    };
    let mut comparison = calls(&[("a", &[1.0])]);
    comparison.traces = vec![
        using("one", "train", "synthetic-lte"),
        using("two", "train", "synthetic-lte"),
        using("three", "car", "car"),
    ];
    let notes = comparison.fallback_notes();
    assert_eq!(notes.len(), 1);
    assert!(
        notes[0].starts_with("The trace `train` was not found; `synthetic-lte` stood in for it."),
        "{notes:?}"
    );
    assert_eq!(comparison.titled("A ride"), "A ride (on the stand-in `synthetic-lte`)");
    let verdict = comparison.verdict();
    assert!(
        verdict.starts_with("On the stand-in `synthetic-lte`, not on the recorded link: a "),
        "{verdict}"
    );
    comparison.traces = vec![using("three", "car", "car")];
    assert_eq!(comparison.titled("A ride"), "A ride");
    assert!(comparison.verdict().starts_with("a "), "{}", comparison.verdict());
}

#[test]
fn a_reference_sender_is_no_candidate() {
    let comparison = calls(&[("gcc", &A), ("nada", &B), ("fixed", &[900.0; 6])]);
    let sentence = of_demo(&comparison);
    assert!(sentence.starts_with("gcc leads") && !sentence.contains("fixed"), "{sentence}");
}

#[test]
fn runs_that_are_alike_are_said_to_be() {
    let one = comparison(&[("nada", vec![measured(1000.0, 30.0, 0.02); 3])]);
    assert!(one.runs_are_alike());
    assert_eq!(
        one.verdict(),
        "nada carried 1000 kbit/s at a queuing delay of 30 ms (95th percentile) and a loss of 2.00 % over 3 runs, all of them \
         alike."
    );
    assert!(!calls(&[("a", &A), ("b", &[5.0; 6])]).runs_are_alike());
    assert!(!calls(&[("a", &[1.0])]).runs_are_alike(), "one run is too few");
}
