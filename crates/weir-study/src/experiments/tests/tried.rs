//! Rows with settings changed.

use super::*;

/// `SMALL` with figures of changed settings.
fn with_tried(tried: &str) -> String {
    format!("{SMALL}\n{tried}")
}

/// Number of runs and results of the trials in `text`.
fn trials(text: &str) -> (usize, Vec<TrialResult>) {
    let experiments = [Experiment::parse("paper/row", "row.toml", text).unwrap()];
    let trials = Trials::of(&experiments);
    let traces = TraceStore::at(None);
    let planned = trials.plan(&traces).unwrap();
    let claims = planned.run(1, &traces, &NoStore, &|| {}).unwrap().claims;
    (planned.runs(), trials.results(claims))
}

#[test]
fn a_figure_that_leaves_its_range_has_moved() {
    // On a link of twice the rate four flows carry twice as much as two; on the row's own link they carry a quarter
    // more.
    let figure = |expected: f64, range: &str| {
        format!(
            "[[tried]]\nset = [\"links.bottleneck.rate=2Mbps\"]\nclaim = \"full\"\nexpected = {expected}\n\
             accept = {range}\nseeds = 2\n"
        )
    };
    let both = figure(2.0, "{ min = 1.9, max = 2.1 }") + &figure(1.25, "{ min = 1.2, max = 1.3 }");
    let (runs, results) = trials(&with_tried(&both));
    assert_eq!(runs, 4, "two variants with two seeds, for both figures");
    let moved: Vec<bool> = results.iter().map(|result| result.moved).collect();
    assert_eq!(moved, [false, true]);
    let first = &results[0];
    assert_eq!((first.number, first.of.as_str(), first.places[0].values.len()), (1, "full", 2));
    assert_eq!(first.of_in_words(), "full at rate = 400");
    assert!((first.measured.unwrap().mean.unwrap() - 2.0).abs() < 0.05);
}

#[test]
fn a_figure_of_the_full_form_has_its_places_and_all_of_them_count() {
    let figure = |form: &str, range: &str| {
        with_tried(&format!(
            "[[tried]]\nof = \"plain:links.bottleneck.utilisation.bits * 1000 / $rate\"\nexpected = 2\n\
             accept = {range}\nseeds = 1\nform = \"{form}\"\n"
        ))
    };
    let (runs, results) = trials(&figure("quick", "{ min = 1.9, max = 2.1 }"));
    assert_eq!((runs, results[0].places.len(), results[0].moved), (2, 2, false));
    let (runs, results) = trials(&figure("full", "{ min = 1.9, max = 2.1 }"));
    assert_eq!((runs, results[0].places.len(), results[0].moved), (4, 4, false));
    // Without the division the value is 0.8 at the last place alone.
    let one_place_less = figure("full", "{ max = 0.7 }")
        .replace(" * 1000 / $rate", "")
        .replace("expected = 2\n", "expected = 0.2\n");
    let (_, results) = trials(&one_place_less);
    assert!(results[0].moved, "{results:?}");
}

#[test]
fn the_error_of_a_figure_has_its_place() {
    let figure = "[[tried]]\nset = [\"links.bottleneck.rate=2Mbps\"]\nclaim = \"full\"\nexpected = 2\naccept = { min = 1.9, max = 2.1 }\n";
    let head = SMALL.lines().count() + 2;
    let refused = |right: &str, wrong: &str| {
        let text = with_tried(&figure.replacen(right, wrong, 1));
        let experiment = Experiment::parse("paper/row", "row.toml", &text);
        let planned = experiment.and_then(|experiment| {
            Trials::of(&[experiment]).plan(&TraceStore::at(None)).map(|planned| planned.runs())
        });
        let error = planned.expect_err(wrong);
        let (line, _) = error.position().unwrap();
        assert!(error.to_string().starts_with("row.toml:"), "{error}");
        (line - head, error.message().to_owned(), error.advice().unwrap_or_default().to_owned())
    };
    let problem = |line: usize, message: &str, help: &str| (line, message.to_owned(), help.to_owned());
    assert_eq!(
        refused("\"full\"", "\"fulll\""),
        problem(2, "there is no claim `fulll`", "did you mean `full`?")
    );
    assert_eq!(
        refused("\"full\"", "\"rises\""),
        problem(2, "`rises` is judged by no figure", "add `of`: a formula")
    );
    let (line, message, _) = refused("claim = \"full\"\n", "");
    assert_eq!((line, message.as_str()), (0, "nothing is measured"));
    let (line, message, _) = refused("accept = { min = 1.9, max = 2.1 }", "accept = {}");
    assert_eq!((line, message.as_str()), (4, "everything is in this range"));
    let (line, message, _) = refused("expected = 2", "expected = 3");
    assert_eq!((line, message.as_str()), (3, "the figure lies outside of its own range"));
    let (line, message, help) = refused("bottleneck.rate=", "botleneck.rate=");
    assert_eq!((line, help.as_str()), (1, "did you mean `bottleneck`?"), "{message}");
    let (line, message, _) = refused("rate=2Mbps", "rate=2Mbit");
    assert_eq!(line, 1, "{message}");
    let (line, message, help) = refused("rate=2Mbps", "rate=<$rat>kbps");
    assert_eq!(line, 1, "{message} {help}");
    let (line, message, help) =
        refused("claim = \"full\"", "of = \"plian:links.bottleneck.utilisation.bits\"");
    assert_eq!((line, help.as_str()), (2, "did you mean `plain`?"), "{message}");
    let (line, message, _) = refused("expected", "where = { rate = [150] }\nexpected");
    assert_eq!((line, message.as_str()), (3, "no value of `rate` is meant"));
}

#[test]
fn the_error_of_a_wrong_setting_of_a_row_has_its_line() {
    let line = SMALL.lines().position(|line| line.contains("flows.flow.count=4")).unwrap() + 1;
    let (at, _, help) = refused("flows.flow.count=4", "flows.flow.cuont=4");
    assert_eq!((at, help.as_str()), (line, "did you mean `count`?"));
}

#[test]
fn overrides_of_a_row_change_every_variant() {
    let experiments = [Experiment::parse("paper/row", "row.toml", SMALL)
        .unwrap()
        .changed(&["links.bottleneck.rate=2Mbps".to_owned()])];
    let traces = TraceStore::at(None);
    let extent = Extent { runs: Some(2), ..Extent::default() };
    let planned = Reproduction::plan(&experiments, extent, &traces).unwrap();
    let claims = planned.run(1, &traces, &NoStore, &|| {}).unwrap().claims;
    assert!(claims.iter().all(|claim| claim.verdict == Verdict::Passed), "{claims:?}");
    assert_eq!(claims[2].places[0].values.len(), 2);
    assert_eq!(planned.seeds().into_iter().collect::<Vec<_>>(), [("paper/row".to_owned(), 2)]);
}

#[test]
fn a_setting_that_no_run_takes_is_refused() {
    let test =
        ROWS.iter().flat_map(|row| shipped(row).row.claims).flat_map(|claim| claim.tests).next().unwrap();
    let text = format!(
        "title = \"A test\"\n[[claims]]\nid = \"shown\"\nclass = \"STRUCT\"\nclaim = \"it is there\"\ntests = [\"{test}\"]\n"
    );
    let changed = |text: &str, set: &str| {
        let experiments =
            [Experiment::parse("paper/row", "row.toml", text).unwrap().changed(&[set.to_owned()])];
        let planned = Reproduction::plan(&experiments, Extent::default(), &TraceStore::at(None));
        planned.map(|planned| planned.runs()).map_err(|error| error.to_string())
    };
    let error = changed(&text, "duration=1s").unwrap_err();
    assert!(error.contains("no run of paper/row has a scenario that takes this"), "{error}");
    // In a row with analyses alone the settings are parameters.
    let theory = "title = \"Theory\"\n[variants.price]\nanalysis = \"dccc-penalty\"\n[[claims]]\nid = \"bound\"\n\
        class = \"THEORY\"\nclaim = \"a bound\"\nof = \"greatest(price:curves.*.price.*)\"\naccept = { max = 1 }\n";
    let error = changed(theory, "bogus=1").unwrap_err();
    assert!(error.contains("bogus"), "{error}");
}

#[test]
fn every_figure_that_ships_can_be_planned() {
    let experiments: Vec<Experiment> = ROWS.iter().map(shipped).collect();
    let trials = Trials::of(&experiments);
    trials.plan(&TraceStore::at(None)).unwrap_or_else(|error| panic!("{error:?}"));
}

/// Rows exempt from the test: their causes have numbers of controllers and papers, or figures of whole sweeps.
const WITHOUT: [&str; 7] = [
    "gcc-2016/fig5",
    "gcc-2016/fig8",
    "nada-vs-gcc-2016/eq9",
    "nada-vs-gcc-2016/fig7",
    "nada-vs-gcc-2016/fig8",
    "nada-vs-gcc-2016/table2",
    "weir/media-and-data",
];

/// Units after which a number is a figure.
const UNITS: [&str; 7] = ["%", "ms", "packets", "points", "kbit/s", "Mbit/s", "degrees"];

/// Whether `cause` has a decimal or a number with a unit outside of code.
fn states_a_figure(cause: &str) -> bool {
    let prose: String = cause.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let words: Vec<&str> = prose.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_ascii_digit() && c != '%').to_owned();
    let is_number = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let has_unit =
        |word: &str| UNITS.contains(&word.trim_end_matches(|c: char| !c.is_alphabetic() && c != '%'));
    words.iter().enumerate().any(|(index, word)| {
        let number = bare(word);
        let is_figure = number.contains('.') || words.get(index + 1).is_some_and(|next| has_unit(next));
        is_number(&number) && is_figure && !word.starts_with(char::is_alphabetic) && !word.contains('§')
    })
}

#[test]
fn a_cause_that_states_a_figure_has_it_in_a_table() {
    assert!(states_a_figure("The queue is 4.9 packets shorter."));
    assert!(states_a_figure("It has 84 % of the link, coupled."));
    assert!(states_a_figure("It waits (two seeds) for 240 ms."));
    assert!(!states_a_figure("With 15 flows it is `delay=2.5ms`, as in fig. 19."));
    let bare = ROWS.iter().filter_map(|shipped| {
        let row = Experiment::shipped(shipped).unwrap().row;
        let of_claims = row.claims.iter().filter_map(|claim| claim.cause.as_deref());
        let states = row.cause.as_deref().into_iter().chain(of_claims).any(states_a_figure);
        (states && row.tried.is_empty()).then_some(shipped.name)
    });
    assert_eq!(bare.collect::<Vec<_>>(), WITHOUT);
}
