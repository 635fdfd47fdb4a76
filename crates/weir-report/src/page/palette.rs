//! Colours that stay apart for colour-blind eyes, on light and on dark ground. The page knows them by name, as CSS
//! variables; which of the two it takes is up to the browser.

use core::fmt::Write;

use weir_cc::LimitingFactor;

/// The name of a colour, with its values on light and on dark ground.
type Colour = (&'static str, &'static str, &'static str);

/// Colour of text and thin lines.
pub(super) const INK: &str = "ink";
/// Colour of secondary elements.
pub(super) const MUTED: &str = "muted";
/// Colour of the upper edge of the capacity.
pub(super) const CAPACITY_EDGE: &str = "capacity-edge";
/// Colour of competing flows.
pub const COMPETITOR: &str = "competitor";
/// Colour of fair shares.
pub const IDEAL: &str = "capacity-edge";

const COMMON: [Colour; 11] = [
    (INK, "#1f2937", "#e5e8ee"),
    (MUTED, "#6b7280", "#98a1b0"),
    ("line", "#e3e7ec", "#303744"),
    ("grid", "#eceff3", "#262d39"),
    ("panel", "#ffffff", "#161b24"),
    ("ground", "#f6f7f9", "#0e1219"),
    ("capacity", "#eef0f4", "#232a36"),
    (CAPACITY_EDGE, "#b4bcc8", "#566174"),
    (COMPETITOR, "#a3a9b5", "#7c8595"),
    ("best", "#e4f4ec", "#12402b"),
    ("worse", "#fbe4dc", "#552114"),
];

/// Distinct colours of the qualitative scheme "muted" (Tol, Colour Schemes, SRON/EPS/TN/09-002), dark ones first, and
/// the same hues lighter.
const CONTROLLERS: [(&str, &str); 9] = [
    ("#332288", "#8f84ea"),
    ("#cc6677", "#e27f8f"),
    ("#117733", "#3fb269"),
    ("#882255", "#d4609b"),
    ("#44aa99", "#55c4b2"),
    ("#999933", "#bdbd4d"),
    ("#aa4499", "#b658a8"),
    ("#88ccee", "#88ccee"),
    ("#ddcc77", "#ddcc77"),
];

/// The name of the colour of the controller with this index.
pub fn controller(index: usize) -> String {
    format!("controller-{}", index % CONTROLLERS.len())
}

/// Dash pattern of the controller with this index where all controllers meet: lengths of line and gap in pixels. Lines are solid
/// as long as the colours suffice.
pub(super) fn dash(index: usize) -> &'static [u8] {
    const DASHES: [&[u8]; 3] = [&[], &[8, 4], &[2, 3]];
    DASHES[index / CONTROLLERS.len() % DASHES.len()]
}

/// CSS background of the spot of the controller with this index: its colour, striped where its lines are dashed.
pub(super) fn fill(index: usize) -> String {
    let colour = format!("var(--{})", controller(index));
    let stripes = |width: u32| {
        let next = width + 2;
        format!("repeating-linear-gradient(90deg,{colour} 0 {width}px,transparent {width}px {next}px)")
    };
    match dash(index) {
        [] => colour,
        [8, ..] => stripes(3),
        _ => stripes(1),
    }
}

/// The name of a factor's colour.
pub(super) fn factor(factor: LimitingFactor) -> String {
    format!("factor-{}", factor as usize)
}

/// The colours of factors: those of Okabe and Ito, a brown, and greys for the limits.
const fn of_factor(factor: LimitingFactor) -> (&'static str, &'static str) {
    match factor {
        LimitingFactor::RampUp => ("#009e73", "#14b88a"),
        LimitingFactor::Delay => ("#e69f00", "#e69f00"),
        LimitingFactor::Loss => ("#d55e00", "#f06c14"),
        LimitingFactor::Receiver => ("#cc79a7", "#cc79a7"),
        LimitingFactor::Application => ("#56b4e9", "#56b4e9"),
        LimitingFactor::Coupling => ("#f0e442", "#f0e442"),
        LimitingFactor::Silence => ("#8c564b", "#b98a80"),
        LimitingFactor::Drain => ("#0072b2", "#2c8fd6"),
        LimitingFactor::Minimum => ("#33363d", "#f2f4f7"),
        LimitingFactor::Maximum => ("#c3c7ce", "#4d5564"),
    }
}

/// All colours as CSS variables, for both grounds.
pub fn css() -> String {
    let controllers =
        CONTROLLERS.iter().enumerate().map(|(index, (light, dark))| (controller(index), *light, *dark));
    let factors = LimitingFactor::ALL
        .into_iter()
        .map(|factor| (self::factor(factor), of_factor(factor).0, of_factor(factor).1));
    let common = COMMON.iter().map(|(name, light, dark)| ((*name).to_owned(), *light, *dark));
    let all: Vec<_> = common.chain(controllers).chain(factors).collect();
    let (mut on_light, mut on_dark) = (String::new(), String::new());
    for (name, light, dark) in all {
        // Writing to a string does not fail.
        let _ = write!(on_light, "--{name}:{light};");
        let _ = write!(on_dark, "--{name}:{dark};");
    }
    format!(
        ":root{{{on_light}color-scheme:light dark}}\n@media (prefers-color-scheme:dark){{:root{{{on_dark}}}}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_factors_and_no_two_of_nine_controllers_share_a_colour_on_either_ground() {
        for (i, a) in LimitingFactor::ALL.into_iter().map(of_factor).enumerate() {
            for b in LimitingFactor::ALL.into_iter().map(of_factor).skip(i + 1) {
                assert!(a.0 != b.0 && a.1 != b.1);
            }
        }
        for (i, a) in CONTROLLERS.iter().enumerate() {
            for b in &CONTROLLERS[i + 1..] {
                assert!(a.0 != b.0 && a.1 != b.1);
            }
        }
        assert_ne!((controller(2), dash(2)), (controller(11), dash(11)));
    }

    #[test]
    fn no_two_of_twenty_seven_controllers_share_a_spot() {
        let fills: std::collections::BTreeSet<String> = (0..27).map(fill).collect();
        assert_eq!(fills.len(), 27);
        assert_eq!(fill(8), "var(--controller-8)");
    }

    #[test]
    fn every_colour_stands_in_the_sheet_once_for_each_ground() {
        let sheet = css();
        for name in [
            controller(0),
            controller(8),
            factor(LimitingFactor::Maximum),
            INK.to_owned(),
            COMPETITOR.to_owned(),
        ] {
            assert_eq!(sheet.matches(&format!("--{name}:")).count(), 2, "{name}");
        }
        assert!(sheet.contains("--controller-0:#332288;") && sheet.contains("--controller-0:#8f84ea;"));
    }
}
