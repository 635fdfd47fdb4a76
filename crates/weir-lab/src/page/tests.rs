use weir_cc::Cause;

use super::*;
use weir_measure::results::stats::Kind;

/// A made-up comparison: `controllers` panels of `bins` bins of 100 ms with `signals` signals each.
fn example(controllers: usize, bins: usize, signals: usize) -> PageInput {
    PageInput {
        title: "One video call against one TCP flow".to_owned(),
        source: "scenario tcp-competition, 30 runs, seeds 1 to 30".to_owned(),
        verdict: "GCC keeps the queue short; NADA takes more of the link.".to_owned(),
        scenario: "[link]\nrate = \"1Mbps\"\n".to_owned(),
        summary: table(controllers),
        controllers: (0..controllers).map(|index| panel(index, bins, signals)).collect(),
        notes: vec!["Simulated.".to_owned()],
    }
}

fn table(controllers: usize) -> SummaryTable {
    let column = |label: &str, unit: &str, decimals, best| Column {
        label: label.to_owned(),
        unit: unit.to_owned(),
        definition: format!("The {label}."),
        decimals,
        best,
    };
    let row = |index: usize| {
        let rate = Cell { ci95: Some(0.125), ..Cell::new(1.5 + index as f64 / 4.0) };
        Row::of(&format!("controller {index}"), vec![Some(rate), Some(Cell::new(40.0 + index as f64)), None])
    };
    SummaryTable {
        columns: vec![
            column("rate", "Mbit/s", 2, Best::Highest),
            column("delay", "ms", 1, Best::Lowest),
            column("loss", "%", 1, Best::Lowest),
        ],
        rows: (0..controllers).map(row).collect(),
    }
}

/// Values without a pattern that compression could use.
fn noise(count: usize, seed: usize) -> Vec<f64> {
    let mut state = seed as u64 * 2 + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    (0..count).map(|_| next()).collect()
}

fn panel(index: usize, bins: usize, signals: usize) -> ControllerPanel {
    let rates = |seed| noise(bins, seed).into_iter().map(|value| value * 2e6).collect::<Vec<_>>();
    let flow = |name: &str, role, seed| FlowCurves {
        name: name.to_owned(),
        role,
        send_rate_bps: rates(seed),
        receive_rate_bps: rates(seed + 1),
        target_rate_bps: rates(seed + 2),
    };
    let signal = |row: usize| SignalBand {
        name: format!("signal {row}"),
        unit: "ms".to_owned(),
        meaning: "made up".to_owned(),
        min: noise(bins, row),
        max: noise(bins, row + 1).into_iter().map(|value| value + 1.0).collect(),
    };
    ControllerPanel {
        name: format!("controller {index}"),
        description: "made up".to_owned(),
        time_s: (0..bins).map(|bin| bin as f64 / 10.0).collect(),
        capacity_bps: vec![2e6; bins],
        flows: vec![flow("video", FlowRole::Media, index), flow("tcp", FlowRole::Competitor, index + 7)],
        cause: (0..bins).map(|bin| Some(Cause::ALL[bin / 3 % 9])).collect(),
        frame_delay_ms: noise(bins, index + 3).into_iter().map(|value| value * 300.0).collect(),
        loss_ratio: noise(bins, index + 5),
        queuing_delay: (1..=bins)
            .map(|i| CdfStep { delay_ms: i as f64, share: i as f64 / bins as f64 })
            .collect(),
        signals: (0..signals).map(signal).collect(),
        couplings: Vec::new(),
    }
}

/// The content of the script element `id`, inflated.
fn embedded(html: &str, id: &str) -> String {
    let (_, rest) = html.split_once(&format!("id=\"{id}\">")).unwrap();
    embed::decompress(rest.split_once("</script>").unwrap().0)
}

fn figures(html: &str) -> Vec<serde_json::Value> {
    serde_json::from_str(&embedded(html, "figures")).unwrap()
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert!(render(&example(2, 300, 2)) == render(&example(2, 300, 2)));
}

#[test]
fn an_ordinary_report_stays_small() {
    let size = render(&example(4, 2_000, 6)).len();
    assert!(size < 2_700_000, "{size}");
}

#[test]
fn a_report_of_a_day_of_noise_under_many_controllers_stays_within_four_megabytes() {
    let size = render(&example(20, 30_000, 12)).len();
    assert!(size < 4_000_000, "{size}");
}

#[test]
fn each_controller_has_its_figures_and_each_figure_its_place() {
    let html = render(&example(3, 50, 1));
    let figures = figures(&html);
    let ids: Vec<&str> = figures.iter().map(|figure| figure["id"].as_str().unwrap()).collect();
    let expected =
        ["timeline-0", "timeline-1", "timeline-2", "queuing-delay", "signals-0", "signals-1", "signals-2"];
    assert_eq!(ids, expected);
    for id in ids {
        assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
}

#[test]
fn a_figure_that_is_not_drawn_has_no_place() {
    let mut input = example(2, 50, 0);
    for panel in &mut input.controllers {
        panel.queuing_delay.clear();
    }
    let html = render(&input);
    let ids: Vec<_> = figures(&html).iter().map(|figure| figure["id"].clone()).collect();
    assert_eq!(ids, ["timeline-0", "timeline-1"]);
}

#[test]
fn no_curve_has_more_than_two_thousand_points() {
    let mut curves = 0;
    for figure in figures(&render(&example(2, 9_000, 2))) {
        for trace in figure["data"].as_array().unwrap() {
            let points = trace["x"].as_array().unwrap().len();
            // The ribbon has one edge more than stretches.
            assert!(
                points <= 2_000 + usize::from(trace["type"] == "heatmap"),
                "{} has {points}",
                trace["name"]
            );
            curves += 1;
        }
    }
    // Per controller: capacity, competitor, three of the video, ribbon, two of the frame delay, loss, distribution and
    // two signals.
    assert_eq!(curves, 2 * 12);
}

#[test]
fn the_page_loads_nothing() {
    let html = render(&example(2, 50, 1));
    for tag in
        ["src=", "href=", "<link", "<img", "<iframe", "@import", "url(", "fetch(", "XMLHttpRequest", "://"]
    {
        assert!(!html.contains(tag), "{tag}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn markup_in_any_text_stays_text() {
    let evil = "</script></pre></title></style><script>alert('1')</script><img onerror=\"x\" src=x>";
    let text = || evil.to_owned();
    let mut input = example(1, 20, 1);
    let harmless = render(&input);
    (input.title, input.source, input.verdict, input.scenario) = (text(), text(), text(), text());
    input.notes = vec![text()];
    let column = &mut input.summary.columns[0];
    (column.label, column.unit, column.definition) = (text(), text(), text());
    input.summary.rows[0].name = text();
    let panel = &mut input.controllers[0];
    (panel.name, panel.description, panel.flows[0].name) = (text(), text(), text());
    let signal = &mut panel.signals[0];
    (signal.name, signal.unit, signal.meaning) = (text(), text(), text());
    let html = render(&input);
    for tag in ["<script", "</script", "<img", "</pre", "</title", "</style"] {
        assert_eq!(html.matches(tag).count(), harmless.matches(tag).count(), "{tag}");
    }
    let figures = embedded(&html, "figures");
    assert!(!figures.contains("<img") && !figures.contains("<script"));
    assert!(html.contains("&lt;/script&gt;") && figures.contains("&lt;/script&gt;"));
}

#[test]
fn runs_of_two_kinds_are_told_in_their_cell() {
    let mut input = example(2, 20, 0);
    let kind = |mean, runs| Kind { mean, runs };
    let cell = input.summary.rows[0].cells[0].as_mut().unwrap();
    cell.kinds = Some([kind(0.5, 3), kind(2.5, 7)]);
    let html = render(&input);
    assert!(html.contains("<span class=\"interval\">two kinds: 0.50 (3), 2.50 (7)</span>"));
}

#[test]
fn the_best_value_of_a_column_is_emphasised_and_undefined_ones_are_dashes() {
    // Rates 1.50 and 1.75, the higher is better; delays 40.0 and 41.0, the lower is better; no losses known.
    let html = render(&example(2, 20, 0));
    let emphasised: Vec<&str> =
        html.split("<td class=\"best\"><span class=\"value\">").skip(1).map(|cell| &cell[..4]).collect();
    assert_eq!(emphasised, ["40.0", "1.75"]);
    let mut with_yardstick = example(3, 20, 0);
    with_yardstick.summary.rows[2].is_yardstick = true;
    let emphasised = render(&with_yardstick).matches("class=\"best\"").count();
    assert_eq!(emphasised, 2, "the yardstick's 2.00 is the best of nobody");
    assert!(html.contains("<span class=\"interval\">± 0.12</span>"));
    assert_eq!(html.matches("<span class=\"none\">–</span>").count(), 2);
}

#[test]
fn a_single_controller_is_not_its_own_best() {
    assert!(!render(&example(1, 20, 0)).contains("class=\"best\""));
}

#[test]
fn the_legend_names_the_causes_that_occur() {
    let mut input = example(1, 4, 0);
    input.controllers[0].cause = vec![Some(Cause::Loss), None, Some(Cause::Application)];
    let html = render(&input);
    let legend = html.split_once("class=\"legend").unwrap().1.split_once("</div>").unwrap().0;
    assert!(legend.contains("</i>loss</span>") && legend.contains("</i>application</span>"));
    assert!(!legend.contains("ramp-up") && !legend.contains("probe"));
}

#[test]
fn an_empty_comparison_is_a_page_all_the_same() {
    let html = render(&PageInput::default());
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    assert!(!html.contains("class=\"plot\""));
}

#[test]
fn a_report_is_written_whole_and_nothing_is_left_beside_it() {
    let folder = std::env::temp_dir().join(format!("weir-report-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("report.html");
    let input = example(1, 20, 0);
    write(&path, &input).unwrap();
    write(&path, &input).unwrap();
    assert!(fs::read_to_string(&path).unwrap() == render(&input));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert!(write(&folder.join("missing/report.html"), &input).is_err());
    fs::remove_dir_all(&folder).unwrap();
}
