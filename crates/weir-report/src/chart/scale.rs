//! Scales: from values to positions along an axis, and the positions of its ticks.

use core::fmt::Write;

/// The fixed properties of an axis; the others follow from its values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Fixed begin of the axis.
    pub from: Option<f64>,
    /// Fixed end of the axis.
    pub to: Option<f64>,
    /// Whether it is logarithmic.
    pub log: bool,
}

/// An axis from its first value to its last one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisScale {
    /// The value at the start of the axis.
    pub from: f64,
    /// The value at the end of the axis.
    pub to: f64,
    log: bool,
}

/// The ends of an axis that has no fixed ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// At the least and the greatest value.
    Tight,
    /// A little beyond the values.
    Loose,
    /// At the ticks beyond the values; at zero where that is not far.
    Round,
    /// As [`Ends::Round`], and always with zero.
    Zero,
}

impl AxisScale {
    /// The axis that shows `values`, between its own ends where it has them.
    pub fn of(axis: Bounds, values: impl Iterator<Item = f64>, ends: Ends) -> Self {
        let shown = values.filter(|value| value.is_finite() && (!axis.log || *value > 0.0));
        let (least, most) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let empty = if axis.log { (1.0, 10.0) } else { (0.0, 1.0) };
        let (least, most) = if least <= most { (least, most) } else { empty };
        let own = Self::beyond(least, most, axis.log, ends);
        let (from, to) = (axis.from.unwrap_or(own.from), axis.to.unwrap_or(own.to));
        // A fixed and an automatic end may be in the wrong order.
        let to = if from < to {
            to
        } else if axis.log {
            from * 10.0
        } else {
            from + 1.0
        };
        Self { from, to, log: axis.log }
    }

    fn beyond(least: f64, most: f64, log: bool, ends: Ends) -> Self {
        if log {
            let margin = if ends == Ends::Tight && least < most { 1.0 } else { 1.15 };
            return Self { from: least / margin, to: most * margin, log };
        }
        let flat = if most == 0.0 { 1.0 } else { most.abs() * 0.1 };
        let width = if least < most { most - least } else { flat };
        let (from, to) = match ends {
            Ends::Tight if least < most => (least, most),
            Ends::Tight | Ends::Loose => (least - 0.04 * width, most + 0.04 * width),
            Ends::Round | Ends::Zero => {
                let with_zero = ends == Ends::Zero || (least >= 0.0 && least < 0.5 * most);
                let (least, most) = if with_zero {
                    (least.min(0.0), most.max(0.0))
                } else {
                    (least - 0.05 * width, most + 0.05 * width)
                };
                let most = if least < most { most } else { least + 1.0 };
                let step = step(most - least, 6.0);
                ((least / step + 1e-9).floor() * step, (most / step - 1e-9).ceil() * step)
            }
        };
        Self { from, to, log }
    }

    /// Position of `value` along the axis, from 0 to 1, or `None` where a logarithmic axis cannot show it.
    pub fn share(self, value: f64) -> Option<f64> {
        let on = |value: f64| if self.log { libm::log10(value) } else { value };
        let share = (on(value) - on(self.from)) / (on(self.to) - on(self.from));
        share.is_finite().then_some(share)
    }

    /// Width of the range.
    pub fn width(self) -> f64 {
        self.to - self.from
    }

    /// The same axis with a range of this width, about the same middle.
    pub(crate) fn widened(self, width: f64) -> Self {
        let more = (width - self.width()) / 2.0;
        Self { from: self.from - more, to: self.to + more, ..self }
    }

    /// About `about` values with their labels.
    pub fn ticks(self, about: f64) -> Vec<(f64, String)> {
        let decades = if self.log { libm::log10(self.to / self.from) } else { 0.0 };
        if decades >= 1.0 { self.logarithmic(decades) } else { self.linear(about) }
    }

    fn linear(self, about: f64) -> Vec<(f64, String)> {
        let step = step(self.width(), about);
        let decimals = (-(libm::log10(step) + 1e-9).floor()).clamp(0.0, 9.0) as usize;
        let first = (self.from / step - 1e-6).ceil() as i64;
        let last = (self.to / step + 1e-6).floor() as i64;
        let tick = |index: i64| (index as f64 * step, text(index as f64 * step, decimals));
        (first..=last).map(tick).collect()
    }

    fn logarithmic(self, decades: f64) -> Vec<(f64, String)> {
        let digits: &[f64] = if decades > 3.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let (first, last) = (libm::log10(self.from).floor() as i32, libm::log10(self.to).ceil() as i32);
        let of_decade = |decade: i32| {
            let unit = libm::pow(10.0, f64::from(decade));
            digits.iter().map(move |digit| (digit * unit, text(digit * unit, (-decade).max(0) as usize)))
        };
        let inside = |(value, _): &(f64, String)| {
            self.share(*value).is_some_and(|share| (-1e-6..=1.0 + 1e-6).contains(&share))
        };
        (first..=last).flat_map(of_decade).filter(inside).collect()
    }
}

/// 1, 2 or 5 times a power of ten that divides `width` into about this many parts.
pub fn step(width: f64, about: f64) -> f64 {
    let least = (width / about).max(1e-12);
    let unit = libm::pow(10.0, libm::log10(least).floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * unit >= least * 0.999);
    digit.unwrap_or(10.0) * unit
}

/// A number with a true minus sign, and none before a zero; large ones with their power of ten.
fn text(value: f64, decimals: usize) -> String {
    let mut text = if value.abs() >= 1e6 { format!("{value:e}") } else { format!("{value:.decimals$}") };
    if text.chars().all(|c| "-0.".contains(c)) {
        "0".clone_into(&mut text);
    }
    text.replace('-', "−")
}

/// A value as text with four digits.
pub fn said(value: f64) -> String {
    let mut said = String::new();
    let size = value.abs();
    let digits = if size < 1e-12 { 0 } else { 3 - libm::log10(size).floor().clamp(-9.0, 9.0) as i32 };
    let _ = write!(said, "{value:.*}", digits.max(0) as usize);
    if said.contains('.') {
        said.truncate(said.trim_end_matches('0').trim_end_matches('.').len());
    }
    said.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: AxisScale, about: f64) -> Vec<String> {
        scale.ticks(about).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_numbers_within_the_axis() {
        let axis = |from, to| AxisScale { from, to, log: false };
        assert_eq!(
            texts(axis(0.0, 1.0), 6.0),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"].map(|t| t.replace("0.0", "0"))
        );
        assert_eq!(texts(axis(-30.0, 110.0), 6.0), ["0", "50", "100"]);
        assert_eq!(texts(axis(-0.02, 0.02), 4.0), ["−0.02", "−0.01", "0", "0.01", "0.02"]);
        assert_eq!(texts(axis(0.0, 4e6), 4.0), ["0", "1e6", "2e6", "3e6", "4e6"]);
    }

    #[test]
    fn a_logarithmic_axis_has_powers_of_ten_and_between_them_twos_and_fives() {
        let axis = |from, to| AxisScale { from, to, log: true };
        assert_eq!(texts(axis(0.5, 20.0), 6.0), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(texts(axis(0.01, 1000.0), 6.0), ["0.01", "0.1", "1", "10", "100", "1000"]);
        let scale = axis(1.0, 100.0);
        assert_eq!(scale.share(10.0), Some(0.5));
        assert_eq!(scale.share(0.0), None);
    }

    #[test]
    fn an_axis_without_ends_has_those_of_its_values() {
        let of = |values: &[f64], ends| {
            let scale = AxisScale::of(Bounds::default(), values.iter().copied(), ends);
            (scale.from, scale.to)
        };
        assert_eq!(of(&[3.0, 297.0, f64::NAN], Ends::Tight), (3.0, 297.0));
        assert_eq!(of(&[13.0, 97.0], Ends::Round), (0.0, 100.0));
        assert_eq!(of(&[-3.0, 5.0], Ends::Zero), (-4.0, 6.0));
        // Zero is far: 0.90 to 1.00 with a twentieth on each side.
        let (from, to) = of(&[0.9, 1.0], Ends::Round);
        assert!((from - 0.88).abs() < 1e-9 && (to - 1.02).abs() < 1e-9, "{from} {to}");
        assert_eq!(of(&[], Ends::Round), (0.0, 1.0));
        let (from, to) = of(&[5.0, 5.0], Ends::Tight);
        assert!(from < 5.0 && to > 5.0);
    }

    #[test]
    fn the_ends_that_a_file_gives_hold() {
        let axis = Bounds { from: Some(0.0), to: Some(120.0), log: false };
        let scale = AxisScale::of(axis, [3.0, 500.0].into_iter(), Ends::Round);
        assert_eq!((scale.from, scale.to), (0.0, 120.0));
        assert_eq!(scale.share(30.0), Some(0.25));
    }

    #[test]
    fn a_value_is_said_with_four_digits() {
        let said = [0.0, 0.123_456, -12.0, 1234.56, 99_999.9, 0.9996].map(said);
        assert_eq!(said, ["0", "0.1235", "−12", "1235", "100000", "0.9996"]);
    }
}
