//! The matrix of a suite as a page: cases by controllers, each cell with its verdict and the course of its first run.

use std::fmt::Write;

use super::course::Course;
use super::results::{ControllerResult, Verdict};
use super::run::SuiteRun;
use crate::page::{CAPACITY_EDGE, COMPETITOR, colour_of, escape_html};
use weir_measure::results::FlowKind;

/// Size of a plot, in pixels.
const SIZE: (f64, f64) = (220.0, 70.0);

const STYLE: &str = "\
:root{--ink:#1f2937;--muted:#6b7280;--line:#e5e7eb;--ok:#e7f4ec;--no:#fbeae3;--open:#fdf6dc;--page:#fff}\
body{font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--page);margin:2rem}\
table{border-collapse:collapse}th{text-align:left;font-weight:600;padding:.4rem .6rem;vertical-align:bottom}\
td{border:1px solid var(--line);padding:.35rem .5rem;vertical-align:top}\
td.ok{background:var(--ok)}td.no{background:var(--no)}td.open{background:var(--open)}\
.head{position:sticky;top:0;background:var(--page)}small{color:var(--muted)}\
details summary{cursor:pointer;font-variant-numeric:tabular-nums}\
ul{margin:.3rem 0 0;padding-left:1rem}svg{display:block;margin-top:.2rem}";

/// The page, complete in itself.
pub fn page(title: &str, run: &SuiteRun) -> String {
    let names: Vec<&str> = run.result.controllers().collect();
    let cases = run.result.cases.len();
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title><style>{STYLE}</style><h1>{0}</h1>\
         <p>Runs per case: {1}; {2}. ✓ passed, ✗ missed, ? open: the 95 % interval of the mean holds the limit. Each cell \
         shows the check that decides, the one that is missed by most or kept by least, and the least margin of all checks \
         in per cent of the limit, of the means and of the least run, with the check's name if it is another; open it for all checks (mean ± 95 % interval). The \
         plot is the first run: media in colour, competing flows in grey, the sum of the media flows' fair shares as a \
         line.</p>",
        escape_html(&run.result.titled(title)),
        run.result.seeds.len(),
        escape_html(&run.result.skip_rule)
    );
    let beyond = run.result.beyond_in_words();
    for note in run.result.stand_ins().into_iter().chain(beyond) {
        let _ = write!(page, "<p>{}</p>", escape_html(&note));
    }
    page.push_str("<table><tr class=\"head\"><th>case</th>");
    for (index, name) in names.iter().enumerate() {
        let (passed, open) =
            (run.result.count(index, Verdict::Passed), run.result.count(index, Verdict::Open));
        let _ = write!(
            page,
            "<th class=\"head\">{}<br><small>{passed} of {cases}, {open} open</small></th>",
            escape_html(name)
        );
    }
    page.push_str("</tr>");
    for (case, courses) in run.result.cases.iter().zip(&run.courses) {
        let _ = write!(
            page,
            "<tr><th>{}<br><small>{}</small></th>",
            escape_html(&case.name),
            escape_html(&case.title)
        );
        for (controller, course) in case.controllers.iter().zip(courses) {
            cell(&mut page, controller, course);
        }
        page.push_str("</tr>");
    }
    page.push_str("</table></html>\n");
    page
}

fn cell(page: &mut String, result: &ControllerResult, course: &Course) {
    let verdict = result.verdict();
    let class = match verdict {
        Verdict::Passed => "ok",
        Verdict::Open => "open",
        Verdict::Missed => "no",
    };
    let _ = write!(
        page,
        "<td class=\"{class}\"><details><summary>{} {}</summary><ul>",
        verdict.mark(),
        escape_html(&result.in_words())
    );
    for check in &result.checks {
        let _ = write!(
            page,
            "<li>{} {} <small>({})</small></li>",
            check.mark(),
            escape_html(&check.in_words()),
            check.limit_in_words()
        );
    }
    page.push_str("</ul></details>");
    plot(page, course);
    page.push_str("</td>");
}

fn plot(page: &mut String, course: &Course) {
    let (width, height) = SIZE;
    let media = |kind: FlowKind| kind == FlowKind::Media;
    let share = |piece: &weir_measure::metrics::FairShares| {
        let own = course.flows.iter().zip(&piece.bps).filter(|((_, kind, _), _)| media(*kind));
        own.map(|(_, bps)| bps / 1e6).sum::<f64>()
    };
    let rates = course.flows.iter().flat_map(|(_, _, rates)| rates.iter().copied());
    let top = rates.chain(course.shares.iter().map(share)).filter(|v| v.is_finite()).fold(0.1, f64::max);
    let x = |seconds: f64| width * seconds / course.seconds.max(1e-9);
    let y = |mbps: f64| height - (height - 2.0) * (mbps / top).min(1.0);
    let _ = write!(
        page,
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"received rates, up to {top:.1} Mbit/s\">"
    );
    let mut ideal = String::new();
    for piece in &course.shares {
        let (from, to) = (piece.from.nanos() as f64 / 1e9, piece.to.nanos() as f64 / 1e9);
        let level = y(share(piece));
        let _ = write!(ideal, "{:.1},{level:.1} {:.1},{level:.1} ", x(from), x(to));
    }
    line(page, &ideal, CAPACITY_EDGE, 1.5);
    let mut colours = (0..).map(colour_of);
    for (_, kind, rates) in &course.flows {
        let colour = match kind {
            FlowKind::Media => colours.next().unwrap_or(COMPETITOR),
            FlowKind::Audio => continue,
            FlowKind::Tcp | FlowKind::Downloads | FlowKind::Web | FlowKind::Constant => COMPETITOR,
        };
        let mut points = String::new();
        for (second, &mbps) in rates.iter().enumerate() {
            let _ = write!(points, "{:.1},{:.1} ", x(second as f64 + 0.5), y(mbps));
        }
        line(page, &points, colour, 1.0);
    }
    let _ = write!(page, "</svg><small>0 to {:.0} s, up to {top:.1} Mbit/s</small>", course.seconds);
}

fn line(page: &mut String, points: &str, colour: &str, width: f64) {
    let points = points.trim_end();
    let _ = write!(
        page,
        "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" points=\"{points}\"/>"
    );
}
