//! The HTML page of a comparison (`page`).

use weir_cc::LimitingFactor;

use super::*;
use weir_measure::results::stats::Kind;

/// A made-up comparison: `controllers` panels of `bins` bins of 100 ms with `signals` signals each.
fn example(controllers: usize, bins: usize, signals: usize) -> PageInput {
    PageInput {
        title: "One video call against one TCP flow".to_owned(),
        source: "scenario tcp-competition, 30 runs, seeds 1 to 30".to_owned(),
        verdict: "GCC keeps the queue short; NADA takes more of the link.".to_owned(),
        scenario: "[link]\nrate = \"1Mbps\"\n".to_owned(),
        scatter: None,
        summary: table(controllers),
        differences: Vec::new(),
        controllers: (0..controllers).map(|index| panel(index, bins, signals)).collect(),
        notes: vec!["Simulated.".to_owned()],
        seed: Some(1),
        runs: None,
        strips: Vec::new(),
    }
}

/// A summary table of so many controllers.
fn table(controllers: usize) -> SummaryTable {
    let column = |label: &str, unit: &str, decimals, best| SummaryColumn {
        label: label.to_owned(),
        unit: unit.to_owned(),
        definition: format!("The {label}."),
        decimals,
        best,
    };
    let row = |index: usize| {
        let rate = SummaryCell { ci95: Some(0.125), ..SummaryCell::new(1.5 + index as f64 / 4.0) };
        Row::of(
            &format!("controller {index}"),
            vec![Some(rate), Some(SummaryCell::new(40.0 + index as f64)), None],
        )
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

/// The panel of controller `index`, with random values.
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
        max_rate_bps: Some(2.5e6),
        subject: "video".to_owned(),
        flows: vec![flow("video", FlowRole::Media, index), flow("tcp", FlowRole::Competitor, index + 7)],
        decisions: Vec::new(),
        limiting_factor: (0..bins).map(|bin| Some(LimitingFactor::ALL[bin / 3 % 10])).collect(),
        frame_delay_ms: noise(bins, index + 3).into_iter().map(|value| value * 300.0).collect(),
        loss_ratio: noise(bins, index + 5),
        queuing_delay: (1..=bins)
            .map(|i| CdfStep { delay_ms: i as f64, share: i as f64 / bins as f64 })
            .collect(),
        signals: (0..signals).map(signal).collect(),
        couplings: Vec::new(),
        other: None,
    }
}

/// The content of the script element `id`, inflated.
fn embedded(html: &str, id: &str) -> String {
    let (_, rest) = html.split_once(&format!("id=\"{id}\">")).unwrap();
    embed::decompress(rest.split_once("</script>").unwrap().0)
}

fn figures(html: &str) -> Vec<serde_json::Value> {
    let shared: serde_json::Value = serde_json::from_str(&embedded(html, "figures")).unwrap();
    shared["figures"].as_array().unwrap().clone()
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert!(render(&example(2, 300, 2)) == render(&example(2, 300, 2)));
}

#[test]
fn an_ordinary_report_stays_small() {
    let size = render(&example(4, 2_000, 6)).len();
    assert!(size < 600_000, "{size}");
}

#[test]
fn a_report_of_a_day_of_noise_under_many_controllers_stays_within_two_and_a_half_megabytes() {
    let size = render(&example(20, 30_000, 12)).len();
    assert!(size < 2_500_000, "{size}");
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
fn no_curve_has_more_than_two_thousand_points_and_all_have_those_of_their_axis() {
    let mut curves = 0;
    for figure in figures(&render(&example(2, 9_000, 2))) {
        let places = figure["x"].as_array().unwrap().len();
        assert!(places <= 2_000, "{} has {places}", figure["id"]);
        for plot in figure["plots"].as_array().unwrap() {
            for curve in plot["curves"].as_array().unwrap() {
                assert_eq!(curve["y"].as_array().unwrap().len(), places, "{}", curve["name"]);
                curves += 1;
            }
            for lane in plot["lanes"].as_array().into_iter().flatten() {
                assert!(lane["edges"].as_array().unwrap().len() <= 2_001);
            }
        }
    }
    // Per controller: capacity, competitor, three of the video, frame delay, loss, distribution and two of each of two
    // signals.
    assert_eq!(curves, 2 * 12);
}

#[test]
fn every_plot_says_which_flow_and_which_seed_it_shows() {
    let html = render(&example(3, 50, 1));
    assert_eq!(
        html.matches("Seed 1. What limited it, delay and loss are those of the flow video.").count(),
        3
    );
    assert_eq!(html.matches("Seed 1, flow video.").count(), 3);
    let single = render(&PageInput { seed: None, ..example(3, 50, 1) });
    assert!(!single.contains("Seed ") && single.contains("are those of the flow video."));
}

#[test]
fn rows_lead_to_plots_and_back_and_every_link_has_its_place() {
    let html = render(&example(3, 50, 1));
    for place in html.split("href=\"#").skip(1).map(|rest| rest.split_once('"').unwrap().0) {
        assert_eq!(html.matches(&format!("id=\"{place}\"")).count(), 1, "{place}");
    }
    for index in 0..3 {
        assert_eq!(html.matches(&format!("href=\"#controller-{index}\"")).count(), 1, "{index}");
        // Its row, its plot, its distribution, its signals.
        assert_eq!(html.matches(&format!("data-controller=\"{index}\"")).count(), 4, "{index}");
        assert_eq!(html.matches(&format!("data-pick=\"{index}\" checked")).count(), 1, "{index}");
    }
    assert!(
        html.contains("data-column=\"2\" data-first=\"ascending\">delay</button>"),
        "less delay is better"
    );
    let alone = render(&example(1, 50, 1));
    assert!(!alone.contains("data-pick=\"0\""), "of one there is nothing to pick");
}

#[test]
fn the_page_has_colours_for_both_grounds_and_fits_a_phone() {
    let html = render(&example(1, 20, 0));
    assert!(
        html.contains("@media (prefers-color-scheme:dark)") && html.contains("@media (max-width: 700px)")
    );
    assert!(html.contains("name=\"viewport\" content=\"width=device-width, initial-scale=1\""));
}

#[test]
fn the_page_loads_nothing() {
    let html = render(&example(2, 50, 1));
    for tag in
        ["src=", "href=\"h", "<link", "<img", "<iframe", "@import", "url(", "fetch(", "XMLHttpRequest", "://"]
    {
        assert!(!html.contains(tag), "{tag}");
    }
    assert!(html.split("href=").skip(1).all(|rest| rest.starts_with("\"#")), "links within the page alone");
    assert!(html.contains("content=\"default-src 'none'; script-src 'unsafe-inline';"));
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
    panel.subject = text();
    let signal = &mut panel.signals[0];
    (signal.name, signal.unit, signal.meaning) = (text(), text(), text());
    let html = render(&input);
    for tag in ["<script", "</script", "<img", "</pre", "</title", "</style"] {
        assert_eq!(html.matches(tag).count(), harmless.matches(tag).count(), "{tag}");
    }
    assert!(html.contains("&lt;/script&gt;"));
    // The figures are compressed, and their script writes names as text alone.
    assert!(embedded(&html, "figures").contains("<img") && !html.contains("<img"));
    for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
        assert!(!html.contains(way), "{way}");
    }
}

#[test]
fn a_note_below_the_table_names_runs_of_two_kinds() {
    let mut input = example(2, 20, 0);
    let kind = |mean, runs| Kind { mean, runs };
    let cell = input.summary.rows[0].cells[0].as_mut().unwrap();
    cell.kinds = Some([kind(0.5, 3), kind(2.5, 7)]);
    let html = render(&input);
    let (_, below) = html.split_once("</table>").unwrap();
    assert!(below.contains(
        "and how many of each kind:</p><ul class=\"hint\"><li>controller 0: rate 0.50 (3), 2.50 (7)</li></ul>"
    ));
}

#[test]
fn spreads_stand_with_both_ends_below_the_table() {
    let mut input = example(2, 20, 0);
    let greatest = input.summary.rows.iter().map(|row| row.cells[0].unwrap().mean).fold(0.0, f64::max);
    let mut spread =
        |row: usize, ends| input.summary.rows[row].cells[0].as_mut().unwrap().spread = Some(ends);
    spread(0, [0.5, 2.75]);
    // Narrow beside the greatest mean of the column.
    spread(1, [1.0, 1.0 + 0.04 * greatest]);
    let html = render(&input);
    let (_, below) = html.split_once("</table>").unwrap();
    let list = "Spread over the runs, from the least value to the largest:</p><ul class=\"hint\"><li>controller 0: rate 0.50 to 2.75</li></ul>";
    assert!(below.contains(list), "{below}");
}

/// Two controllers of which the first leads, one that is behind both, and a reference sender.
fn scatter() -> Scatter {
    let point = |name: &str, rate: f64, delay: f64, standing| {
        let cell = |mean: f64, half: f64| SummaryCell { ci95: Some(half), ..SummaryCell::new(mean) };
        ScatterPoint {
            name: name.to_owned(),
            is_second: false,
            rate: cell(rate, 20.0),
            delay: cell(delay, 40.0),
            standing,
        }
    };
    let points = vec![
        point("quick <b>", 590.0, 960.0, ControllerRank::Recommended),
        point("slow", 596.0, 2056.0, ControllerRank::Leading),
        point("behind", 400.0, 2300.0, ControllerRank::Behind),
        point("fixed", 245.0, 1668.0, ControllerRank::ReferenceSender),
    ];
    Scatter { points, note: "How sure that is.".to_owned() }
}

#[test]
fn the_report_opens_with_the_scatter_and_then_the_sentence_and_the_table() {
    let input = PageInput { scatter: Some(scatter()), ..example(3, 20, 0) };
    let html = render(&input);
    let place = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(place("id=\"scatter\"") < place("class=\"verdict\""));
    assert!(place("class=\"verdict\"") < place("id=\"table\""));
    let svg = &html[place("id=\"scatter\"")..place("class=\"verdict\"")];
    assert!(svg.contains("<title>quick &lt;b&gt;: 590 ± 20 kbit/s, 960 ± 40 ms</title>"), "{svg}");
    assert_eq!(svg.matches("<circle class=\"o\"").count(), 2, "both leaders are ringed");
    assert_eq!(svg.matches("<circle class=\"q\"").count(), 1, "a reference is hollow");
    assert!(svg.contains("<text class=\"t\"") && svg.contains("How sure that is."));
    // From the shortest delay to the highest rate: to the right, then up.
    let frontier = svg.split("class=\"frontier\" d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!((frontier.matches('h').count(), frontier.matches('v').count()), (1, 1), "{frontier}");
    assert!(!render(&example(1, 20, 0)).contains("id=\"scatter\""));
}

#[test]
fn a_controller_has_one_number_whatever_the_page_has_of_it() {
    // The table has four controllers, of which the second has no panel; the marks come in another order.
    let mut input = example(4, 20, 1);
    let removed = input.controllers.remove(1).name;
    let mut points = scatter().points;
    for (point, number) in points.iter_mut().zip([3, 1, 0, 2]) {
        point.name = format!("controller {number}");
    }
    input.scatter = Some(Scatter { points, note: String::new() });
    let html = render(&input);
    for number in 0..4 {
        let name = format!("controller {number}");
        let title = html
            .split("<g data-controller=\"")
            .skip(1)
            .find(|mark| mark.contains(&format!("<title>{name}:")));
        assert!(title.unwrap().starts_with(&format!("{number}\"")), "{name}");
        let label =
            html.split("data-pick=\"").find(|label| label.starts_with(&format!("{number}\" checked")));
        assert!(label.unwrap().contains(&name), "{name}");
        let row = html.split("<tbody data-controller=\"").nth(number + 1).unwrap();
        assert!(row.starts_with(&format!("{number}\"")) && row.contains(&name), "{name}");
        assert_eq!(html.contains(&format!("id=\"controller-{number}\"")), name != removed);
        assert_eq!(html.contains(&format!("href=\"#controller-{number}\"")), name != removed);
    }
    assert!(html.contains("4 of 4 shown"));
    let of_figures: Vec<serde_json::Value> =
        figures(&html).iter().map(|figure| figure["id"].clone()).collect();
    let ids =
        ["timeline-0", "timeline-2", "timeline-3", "queuing-delay", "signals-0", "signals-2", "signals-3"];
    assert_eq!(of_figures, ids);
}

#[test]
fn marks_of_the_second_of_two_runs_are_squares_of_the_same_colour() {
    let mut points = scatter().points;
    let second = ScatterPoint { is_second: true, rate: SummaryCell::new(610.0), ..points[0].clone() };
    points.push(second);
    let html =
        render(&PageInput { scatter: Some(Scatter { points, note: String::new() }), ..example(1, 20, 0) });
    let marks: Vec<&str> =
        html.split("<g data-controller=\"").filter(|mark| mark.contains("<title>quick")).collect();
    let [first, other] = marks.as_slice() else { panic!("two marks: {marks:?}") };
    assert!(first.contains("<circle class=\"p\"") && other.contains("<rect class=\"p\""));
    assert_eq!(first.split('"').next(), other.split('"').next(), "one number");
}

#[test]
fn names_in_the_scatter_stand_apart() {
    let all: Vec<ScatterPoint> = (0..6)
        .map(|index| {
            let near = |value: f64| SummaryCell::new(value + f64::from(index));
            let standing = ControllerRank::Behind;
            ScatterPoint {
                name: format!("controller {index}"),
                is_second: false,
                rate: near(500.0),
                delay: near(1000.0),
                standing,
            }
        })
        .chain(scatter().points)
        .collect();
    let html = render(&PageInput {
        scatter: Some(Scatter { points: all, note: String::new() }),
        ..example(1, 20, 0)
    });
    let svg = html.split("id=\"scatter\"").nth(1).unwrap().split("</figure>").next().unwrap();
    let places: std::collections::BTreeSet<&str> = svg
        .split("</title>")
        .skip(1)
        .filter_map(|mark| mark.split("<text ").nth(1)?.split('>').next())
        .collect();
    assert_eq!(places.len(), 10, "{places:?}");
}

#[test]
fn marked_cells_are_emphasised_and_explained_and_undefined_ones_are_dashes() {
    let mut input = example(2, 20, 0);
    assert!(!render(&input).contains("Marked"), "nothing is marked");
    input.summary.rows[1].cells[0].as_mut().unwrap().best = true;
    let html = render(&input);
    let emphasised: Vec<&str> = html
        .split("<td class=\"best\" data-value=\"1.75\"><span class=\"value\">")
        .skip(1)
        .map(|cell| &cell[..4])
        .collect();
    assert_eq!(emphasised, ["1.75"]);
    let (_, below) = html.split_once("</table>").unwrap();
    assert!(below.contains("unbeaten: no other"));
    assert!(html.contains("<span class=\"interval\">± 0.12</span>"));
    assert_eq!(html.matches("<span class=\"none\">–</span>").count(), 2);
}

#[test]
fn two_runs_have_their_rows_together_and_their_names_stay_text() {
    let mut input = example(2, 20, 0);
    let evil = "</style><script>".to_owned();
    input.runs = Some(["main".to_owned(), evil.clone()]);
    let mut rows = Vec::new();
    for row in &input.summary.rows {
        let sure = SummaryCell { best: true, ..SummaryCell::new(1.0) };
        let worse = SummaryCell { worse: true, ..SummaryCell::new(-2.0) };
        rows.push(Row { kind: RowKind::Of("main".to_owned()), ..row.clone() });
        rows.push(Row { kind: RowKind::Of(evil.clone()), ..row.clone() });
        let cells = vec![Some(sure), Some(worse), None];
        rows.push(Row { kind: RowKind::Difference, cells, ..row.clone() });
    }
    input.summary.rows = rows;
    let other = input.controllers[0].clone();
    input.controllers[0].other = Some(Box::new(other));
    let html = render(&input);
    assert_eq!((html.matches("<tbody").count(), html.matches("<tr class=\"difference\">").count()), (2, 2));
    assert_eq!(
        html.matches("<td class=\"worse\" data-value=\"-2\"><span class=\"value\">−2.0</span>").count(),
        2
    );
    assert!(html.contains("Differences are those of runs of the same seed"));
    assert!(html.contains("In colour: main; dashed: &lt;/style&gt;&lt;script&gt;, what it received."));
    assert_eq!(html.matches("<script").count(), render(&example(2, 20, 0)).matches("<script").count());
    assert!(embedded(&html, "figures").contains("video received, second run"));
}

#[test]
fn the_legend_names_the_causes_that_occur() {
    let mut input = example(1, 4, 0);
    input.controllers[0].limiting_factor =
        vec![Some(LimitingFactor::Loss), None, Some(LimitingFactor::Application)];
    let html = render(&input);
    let legend = html.split_once("class=\"legend").unwrap().1.split_once("</div>").unwrap().0;
    assert!(legend.contains("</i>loss</span>") && legend.contains("</i>application</span>"), "{legend}");
    assert!(!legend.contains("ramp-up") && !legend.contains("probe"));
}

#[test]
fn an_empty_comparison_is_a_page_all_the_same() {
    let html = render(&PageInput::default());
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
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
