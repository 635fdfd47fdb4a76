//! Colours that stay apart for colour-blind eyes.

use weir_cc::Cause;

/// Of text and thin lines.
pub(super) const INK: &str = "#1f2937";
/// Of secondary text.
pub(super) const MUTED: &str = "#6b7280";
/// Of grid lines.
pub(super) const GRID: &str = "#eceff3";
/// The area below the capacity.
pub(super) const CAPACITY: &str = "#eef0f4";
/// Its upper edge.
pub(crate) const CAPACITY_EDGE: &str = "#b4bcc8";
/// Competing flows.
pub(crate) const COMPETITOR: &str = "#a3a9b5";
/// Losses.
pub(super) const LOSS: &str = "#d55e00";

/// Distinct colours of the qualitative scheme "muted" (Tol, Colour Schemes, SRON/EPS/TN/09-002), dark ones first.
const CONTROLLERS: [&str; 9] =
    ["#332288", "#cc6677", "#117733", "#882255", "#44aa99", "#999933", "#aa4499", "#88ccee", "#ddcc77"];

/// The colour of the controller with this index.
pub(crate) fn controller(index: usize) -> &'static str {
    CONTROLLERS[index % CONTROLLERS.len()]
}

/// How the lines of the controller with this index are drawn where all controllers meet: solid as long as the
/// colours suffice.
pub(super) fn dash(index: usize) -> &'static str {
    ["solid", "dash", "dot"][index / CONTROLLERS.len() % 3]
}

/// What fills a spot that stands for the controller with this index, in CSS: its colour, in stripes where its lines are
/// dashed.
pub(super) fn fill(index: usize) -> String {
    let colour = controller(index);
    let stripes = |width: u32| {
        let next = width + 2;
        format!("repeating-linear-gradient(90deg,{colour} 0 {width}px,#fff {width}px {next}px)")
    };
    match dash(index) {
        "solid" => colour.to_owned(),
        "dash" => stripes(3),
        _ => stripes(1),
    }
}

/// The colour of a cause: those of Okabe and Ito, and grey for the maximum.
pub(super) const fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::RampUp => "#009e73",
        Cause::Delay => "#e69f00",
        Cause::Loss => LOSS,
        Cause::Receiver => "#cc79a7",
        Cause::Application => "#56b4e9",
        Cause::Coupling => "#f0e442",
        Cause::Probe => "#0072b2",
        Cause::Minimum => "#33363d",
        Cause::Maximum => "#c3c7ce",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_causes_and_no_two_of_nine_controllers_share_a_colour() {
        for (i, a) in Cause::ALL.into_iter().enumerate() {
            for b in &Cause::ALL[i + 1..] {
                assert_ne!(cause(a), cause(*b));
            }
        }
        for i in 0..9 {
            for j in i + 1..9 {
                assert_ne!(controller(i), controller(j));
            }
        }
        assert_ne!((controller(2), dash(2)), (controller(11), dash(11)));
    }

    #[test]
    fn no_two_of_twenty_seven_controllers_share_a_spot() {
        let fills: std::collections::BTreeSet<String> = (0..27).map(fill).collect();
        assert_eq!(fills.len(), 27);
        assert_eq!(fill(8), "#ddcc77");
    }
}
