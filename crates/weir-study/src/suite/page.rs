//! Page of a suite: a matrix of verdicts, cases by controllers. Below it each case has its checks, the time series of
//! the first run and the command that repeats it.

use std::fmt::Write;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::course::RateSeries;
use super::curves;
use super::results::{CaseResult, ControllerResult, SuiteResult};
use super::run::SuiteRun;
use crate::experiments::figure;
use crate::judge::Verdict;
use crate::shell::command_line;
use weir_measure::metrics::FairShares;
use weir_measure::results::FlowKind;
use weir_report::chart::CHART_CSS;
use weir_report::page::{COMPETITOR, IDEAL, PLACED_CSS, PlacedTable, colour_of, palette_css, placed};

/// Size of a plot, in pixels.
const SIZE: (f64, f64) = (320.0, 110.0);
/// Share of the time in which rates fit into the plots of a case, and the margin above them.
const USUAL: f64 = 0.99;
const AXIS_MARGIN: f64 = 1.1;

/// Page without external parts. `begun` has the first words of the command that repeats a cell: the program, the name
/// of the suite, and the options for traces.
pub fn page(title: &str, run: &SuiteRun, begun: &[String]) -> String {
    let result = &run.result;
    let title = &result.titled(title);
    let names: Vec<&str> = result.controllers().collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(palette_css())) (PreEscaped(include_str!("page.css"))) (PreEscaped(CHART_CSS)) (PreEscaped(PLACED_CSS)) }
            }
            body {
                h1 { (title) }
                p {
                    "Runs per case: " (result.seeds.len()) "; " (result.skip_rule) ". ✓ passed, ✗ missed, ? open: the 95 % interval \
                     of the mean holds the limit, · not judged. Each cell shows the margin of the case, value \
                     over limit or limit over value of its worst check and at most 1, the check that decides, the one that is missed by \
                     most or kept by least, and every missed one with its points from the limit. It leads to all checks, the plot and the command that \
                     repeats it."
                }
                @for note in result.notes() { p { (note) } }
                (matrix(result, &names))
                (leaders(result))
                @for (case, plots) in curves::plots(&result.cases) {
                    section {
                        h2 { (case) " " small { "each check over the sweep" } }
                        div.curves { @for plot in &plots { (PreEscaped(figure(plot))) } }
                    }
                }
                p.keys {
                    "The plots show the run of the first seed, all of a case on one scale: media in colour, competing flows in \
                     grey, the sum of the media flows' fair shares as a line."
                }
                @for (place, (case, courses)) in result.cases.iter().zip(&run.courses).enumerate() {
                    (one_case(result, place, case, courses, begun))
                }
            }
        }
    };
    let mut page = page.into_string();
    page.push('\n');
    page
}

fn matrix(result: &SuiteResult, names: &[&str]) -> Markup {
    let cases = result.cases.len();
    html! {
        div.matrix id="matrix" {
            table {
                thead {
                    tr {
                        th { "case" }
                        @for (index, name) in names.iter().enumerate() {
                            @let (passed, open) = (result.count(index, Verdict::Passed), result.count(index, Verdict::Open));
                            @let margin = result.margin(index).map_or_else(String::new, |margin| format!(", margin {margin:.3}"));
                            @let overhead = result.overhead(index).map_or_else(String::new, |own| format!(", overhead {own:.1} %"));
                            th { (name) br; small { (passed) " of " (cases) ", " (open) " open" (margin) (overhead) } }
                        }
                    }
                }
                tbody {
                    @for (place, case) in result.cases.iter().enumerate() {
                        tr {
                            th { a href=(format!("#case-{place}")) { (case.name) } br; small { (case.title) } }
                            @for (index, own) in case.controllers.iter().enumerate() {
                                td class=(class(own.verdict())) {
                                    a href=(format!("#plot-{place}-{index}")) { (own.verdict().mark()) " " (own.in_words()) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Leaders of each case.
fn leaders(result: &SuiteResult) -> Markup {
    let leaders = result.leaders();
    html! {
        @if !leaders.is_empty() {
            section {
                h2 { "Leaders" " " small { "in useful rate, from 20 s on; recommended: no other leader dominates it by frame delay and freezes" } }
                div.matrix {
                    table {
                        thead { tr { th { "case" } th { "leading" } th { "recommended" } } }
                        tbody { @for [case, leading, recommended] in &leaders { tr { th { (case) } td { (leading) } td { (recommended) } } } }
                    }
                }
            }
        }
    }
}

const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Open => "open",
        Verdict::TwoKinds | Verdict::Missed => "no",
        verdict if verdict.is_met() => "ok",
        _ => "void",
    }
}

/// Details of a case.
fn one_case(
    result: &SuiteResult,
    place: usize,
    case: &CaseResult,
    courses: &[RateSeries],
    begun: &[String],
) -> Markup {
    let top = top(courses);
    html! {
        section id=(format!("case-{place}")) {
            h2 { (case.name) " " small { (case.title) } " " a.up href="#matrix" { "matrix" } }
            div.plots {
                @for (index, (own, course)) in case.controllers.iter().zip(courses).enumerate() {
                    div class=(format!("plot {}", class(own.verdict()))) id=(format!("plot-{place}-{index}")) {
                        h3 { (own.verdict().mark()) " " (own.name) }
                        (PreEscaped(plot(course, top)))
                        small { "0 to " (format!("{:.0}", course.seconds)) " s, up to " (format!("{top:.1}")) " Mbit/s" }
                        ul {
                            @for check in &own.checks {
                                li { (check.mark()) " " (check.in_words()) " " small { "(" (check.limit_in_words()) ")" } }
                            }
                        }
                        code { (command(begun, result, case, own)) }
                    }
                }
            }
            (placed(&case.differences().iter().map(PlacedTable::from).collect::<Vec<_>>()))
        }
    }
}

/// Command that repeats a cell, quoted for a shell.
fn command(begun: &[String], result: &SuiteResult, case: &CaseResult, own: &ControllerResult) -> String {
    let mut words = begun.to_vec();
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    option("--case", case.of_suite().to_owned());
    for (path, value) in case.swept.iter().flat_map(|swept| &swept.at) {
        option("--sweep", format!("{path}={value}"));
    }
    option("--controller", own.name.clone());
    option("--runs", result.seeds.len().to_string());
    if let Some(first) = result.seeds.first().filter(|&&first| first != 1) {
        option("--seed", first.to_string());
    }
    command_line(&words)
}

/// Sum of the media flows' shares, in Mbit/s.
fn share(course: &RateSeries, piece: &FairShares) -> f64 {
    let own = course.flows.iter().zip(&piece.bps).filter(|((_, kind, _), _)| *kind == FlowKind::Media);
    own.map(|(_, bps)| bps / 1e6).sum()
}

/// Upper end of the plots of a case, in Mbit/s, above the shares and the usual rates.
fn top(courses: &[RateSeries]) -> f64 {
    let usual = |rates: &Vec<f64>| {
        let mut rates: Vec<f64> = rates.iter().copied().filter(|rate| rate.is_finite()).collect();
        rates.sort_unstable_by(f64::total_cmp);
        rates.get(((rates.len() as f64 * USUAL) as usize).min(rates.len().saturating_sub(1))).copied()
    };
    let rates = courses.iter().flat_map(|course| &course.flows).filter_map(|(_, _, rates)| usual(rates));
    let shares = courses.iter().flat_map(|course| course.shares.iter().map(|piece| share(course, piece)));
    AXIS_MARGIN * rates.chain(shares).filter(|rate| rate.is_finite()).fold(0.1, f64::max)
}

/// Time series as SVG, without any text of other files.
fn plot(course: &RateSeries, top: f64) -> String {
    let (width, height) = SIZE;
    let x = |seconds: f64| width * seconds / course.seconds.max(1e-9);
    let y = |mbps: f64| height - (height - 2.0) * (mbps / top).min(1.0);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"received rates, up to \
         {top:.1} Mbit/s\">"
    );
    let mut ideal = String::new();
    for piece in &course.shares {
        let (from, to) = (piece.from.nanos() as f64 / 1e9, piece.to.nanos() as f64 / 1e9);
        let level = y(share(course, piece));
        let _ = write!(ideal, "{:.1},{level:.1} {:.1},{level:.1} ", x(from), x(to));
    }
    line(&mut svg, &ideal, IDEAL, 1.5);
    let mut colours = (0..).map(colour_of);
    for (_, kind, rates) in &course.flows {
        let colour = match kind {
            FlowKind::Media => colours.next().unwrap_or_default(),
            FlowKind::Audio => continue,
            FlowKind::Tcp | FlowKind::Downloads | FlowKind::Web | FlowKind::Constant => COMPETITOR.to_owned(),
        };
        let mut points = String::new();
        for (second, &mbps) in rates.iter().enumerate() {
            let _ = write!(points, "{:.1},{:.1} ", x(second as f64 + 0.5), y(mbps));
        }
        line(&mut svg, &points, &colour, 1.2);
    }
    svg.push_str("</svg>");
    svg
}

fn line(svg: &mut String, points: &str, colour: &str, width: f64) {
    let points = points.trim_end();
    let _ =
        write!(svg, "<polyline style=\"stroke:var(--{colour});stroke-width:{width}\" points=\"{points}\"/>");
}

#[cfg(test)]
mod tests {
    use super::super::suite_runs::SuiteRuns;
    use super::*;

    fn course(rates: Vec<f64>) -> RateSeries {
        let flows = vec![("video".to_owned(), FlowKind::Media, rates)];
        RateSeries { seconds: 200.0, flows, shares: Vec::new() }
    }

    #[test]
    fn the_plots_of_a_case_have_one_scale_and_a_burst_does_not_flatten_them() {
        let mut bursty = vec![1.0; 199];
        bursty.push(9.0);
        let courses = [course(bursty), course(vec![2.0; 200])];
        assert!((top(&courses) - 2.2).abs() < 1e-9, "{}", top(&courses));
        assert!((top(&[]) - 0.11).abs() < 1e-9);
    }

    #[test]
    fn a_page_is_read_on_a_phone_and_says_what_repeats_each_cell() {
        let own = |name: &str| ControllerResult {
            name: name.to_owned(),
            controller: name.to_owned(),
            checks: Vec::new(),
            viewed: Vec::new(),
        };
        let case = CaseResult {
            swept: None,
            name: "5.<1".to_owned(),
            title: "<b>".to_owned(),
            traces: Vec::new(),
            controllers: vec![own("gcc"), own("nada")],
            ranking: None,
            omniscient: None,
        };
        let result = SuiteResult {
            suite: "rfc8867".to_owned(),
            seeds: vec![7, 8],
            skip_rule: String::new(),
            cases: vec![case],
        };
        let courses = vec![vec![course(vec![1.0]), course(vec![2.0])]];
        let begun = ["weir", "suite", "rfc8867"].map(str::to_owned);
        let page = page("RFC <8867>", &SuiteRun { result, courses, runs: SuiteRuns::default() }, &begun);
        assert!(page.contains("<meta name=\"viewport\""));
        assert!(page.contains("weir suite rfc8867 --case '5.&lt;1' --controller nada --runs 2 --seed 7"));
        for link in ["#case-0", "#plot-0-0", "#plot-0-1", "#matrix"] {
            assert!(page.contains(&format!("href=\"{link}\"")), "{link}");
            assert_eq!(page.matches(&format!("id=\"{}\"", &link[1..])).count(), 1, "{link}");
        }
        assert!(!page.contains("<b>") && !page.contains("://"));
        assert_eq!(page.matches("<div class=\"plot void\" id=").count(), 2);
        assert_eq!(page.matches("up to 2.2 Mbit/s</small>").count(), 2, "one scale for both");
    }
}
