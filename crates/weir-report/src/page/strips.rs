//! Strips of a report: each real value beside the simulated ones, on a scale of its own.

use core::fmt::Write;

use maud::{Markup, PreEscaped, html};

use super::table::shown;

/// Length and height of a strip, and its margin, in pixels.
const LENGTH: f64 = 320.0;
const HEIGHT: f64 = 22.0;
const MARGIN: f64 = 8.0;

/// A quantity of real runs beside simulated ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueStrip {
    /// Names of the run, the flow and the quantity.
    pub names: [String; 3],
    /// The real values.
    pub real: Vec<f64>,
    /// The simulated values.
    pub simulated: Vec<f64>,
    /// The range within which a real value agrees, if there is one.
    pub allowed: Option<[f64; 2]>,
    /// The result, in a word or two.
    pub result: String,
}

/// The table of strips; empty without any.
pub(super) fn section(strips: &[ValueStrip]) -> Markup {
    if strips.is_empty() {
        return html! {};
    }
    html! {
        section id="reality" {
            h2 { "Real beside simulated" }
            p.hint {
                "Lines are simulated runs of the same seed, dots are real runs, and the bar is the range within which a real value \
                 agrees. Each strip has a scale of its own, whose ends are at its sides."
            }
            table.strips {
                thead { tr { th { "run" } th { "flow" } th { "quantity" } th { "real" } th { "" } th { "" } th { "" } th { "result" } } }
                tbody { @for strip in strips { (row(strip)) } }
            }
        }
    }
}

fn row(strip: &ValueStrip) -> Markup {
    let ends = ends(strip);
    let number = |value: f64| shown(value, if value.abs() >= 100.0 { 0 } else { 2 });
    let real: Vec<String> = strip.real.iter().take(1).map(|&value| number(value)).collect();
    html! {
        tr {
            @for name in &strip.names { td { (name) } }
            td.n { @if strip.real.len() == 1 { (real.join("")) } @else { (strip.real.len()) " runs" } }
            td.n { (number(ends[0])) }
            td { (PreEscaped(drawn(strip, ends))) }
            td.n { (number(ends[1])) }
            td { (strip.result) }
        }
    }
}

/// The least and the greatest of all that a strip shows.
fn ends(strip: &ValueStrip) -> [f64; 2] {
    let allowed = strip.allowed.iter().flatten();
    let all =
        strip.real.iter().chain(&strip.simulated).chain(allowed).copied().filter(|value| value.is_finite());
    all.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], value| [least.min(value), most.max(value)])
}

fn drawn(strip: &ValueStrip, [from, to]: [f64; 2]) -> String {
    let width = if to > from { to - from } else { 1.0 };
    let place = |value: f64| MARGIN + (value - from) / width * (LENGTH - 2.0 * MARGIN);
    let mut svg = format!(
        "<svg width=\"{LENGTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {LENGTH} {HEIGHT}\" role=\"img\">"
    );
    // Writing to a string does not fail.
    if let Some([low, high]) = strip.allowed.map(|ends| ends.map(place)) {
        let _ = write!(
            svg,
            "<rect class=\"allowed\" x=\"{low:.1}\" y=\"3\" width=\"{:.1}\" height=\"16\"/>",
            high - low
        );
    }
    for value in strip.simulated.iter().copied().filter(|value| value.is_finite()).map(place) {
        let _ = write!(svg, "<path class=\"simulated\" d=\"M{value:.1} 4V18\"/>");
    }
    for value in strip.real.iter().copied().filter(|value| value.is_finite()).map(place) {
        let _ = write!(svg, "<circle class=\"real\" cx=\"{value:.1}\" cy=\"11\" r=\"4\"/>");
    }
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_a_mark_at_its_place() {
        let names = ["steps/gcc/1", "video", "rate (kbit/s)"].map(str::to_owned);
        let (real, simulated) = (vec![150.0], vec![100.0, 200.0, 200.0]);
        let strip =
            ValueStrip { names, real, simulated, allowed: Some([100.0, 300.0]), result: "agrees".to_owned() };
        let text = section(std::slice::from_ref(&strip)).into_string();
        assert_eq!(text.matches("class=\"simulated\"").count(), 3);
        // The scale is from 100 to 300 over 304 pixels: 150 is at a quarter.
        assert!(text.contains("cx=\"84.0\""), "{text}");
        assert!(text.contains("x=\"8.0\" y=\"3\" width=\"304.0\""), "{text}");
        assert!(text.contains("agrees") && text.contains("150"));
        assert!(section(&[]).into_string().is_empty());
        // A single value is drawn, too.
        let alone = ValueStrip { real: vec![5.0], simulated: Vec::new(), allowed: None, ..strip };
        assert!(section(&[alone]).into_string().contains("cx=\"8.0\""));
    }
}
