//! Number over two sweeps: bands between contour lines, with a bar of the colours' values.

use core::fmt::{self, Write};

use super::super::super::plots::{Drawn, PlotResult};

use weir_measure::results::Value;
use weir_report::chart::{AxisScale, Bounds, ChartFrame, Ends, escape_html as html, tick_step as step};

/// Numbers of blocks of which the bands are made, horizontally and vertically.
const BLOCKS: (usize, usize) = (220, 125);
/// Approximate greatest number of bands, with round steps.
const BANDS: f64 = 14.0;
/// Width of the colour bar to the right of the box.
const BAR_ROOM: f64 = 190.0;
/// Stops of the colour map viridis (Smith and van der Walt), which is also readable without colours.
const VIRIDIS: [(f64, f64, f64); 6] = [
    (68.0, 1.0, 84.0),
    (65.0, 68.0, 135.0),
    (42.0, 120.0, 142.0),
    (34.0, 168.0, 132.0),
    (122.0, 209.0, 81.0),
    (253.0, 231.0, 37.0),
];

/// Grid of values on two scales.
struct ValueGrid<'p> {
    x: &'p [f64],
    y: &'p [f64],
    z: &'p [Vec<Value>],
}

/// Limits of the bands, which all have the same width.
struct Levels {
    from: f64,
    step: f64,
    bands: usize,
}

pub(super) fn draw(out: &mut String, plot: &PlotResult) -> fmt::Result {
    let Some((name, grid)) = plot.lines.iter().find_map(|line| match &line.drawn {
        Drawn::Grid { x, y, z } => Some((&line.name, ValueGrid { x, y, z })),
        _ => None,
    }) else {
        return Ok(());
    };
    let x = AxisScale::of(plot.x.bounds(), grid.x.iter().copied(), Ends::Tight);
    let y = AxisScale::of(plot.y.bounds(), grid.y.iter().copied(), Ends::Tight);
    let frame = ChartFrame::new(x, y).with_room(BAR_ROOM, 0.0);
    let levels = Levels::of(&grid);
    frame.open(out, &plot.title)?;
    frame.up(out, &plot.y.label)?;
    frame.across(out, &plot.x.label)?;
    frame.inside(out, &bands(&grid, &levels, &frame))?;
    ChartFrame::beside(out, &bar(name, &levels, &frame)?)
}

impl Levels {
    fn of(grid: &ValueGrid<'_>) -> Self {
        let values = || grid.z.iter().flatten().flatten().copied();
        let (least, most) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let width = if most > least { most - least } else { most.abs().max(1e-9) };
        let step = step(width, BANDS);
        let from = (least / step + 1e-9).floor() * step;
        let bands = ((most - from) / step - 1e-9).ceil().max(1.0) as usize;
        Self { from, step, bands }
    }

    fn band(&self, value: f64) -> usize {
        (((value - self.from) / self.step).floor().max(0.0) as usize).min(self.bands - 1)
    }

    fn colour(&self, band: usize) -> String {
        let share = (band as f64 + 0.5) / self.bands as f64 * (VIRIDIS.len() - 1) as f64;
        let stop = (share as usize).min(VIRIDIS.len() - 2);
        let (from, to) = (VIRIDIS[stop], VIRIDIS[stop + 1]);
        let mixed = |a: f64, b: f64| (a + (b - a) * (share - stop as f64)).round() as u8;
        format!("#{:02x}{:02x}{:02x}", mixed(from.0, to.0), mixed(from.1, to.1), mixed(from.2, to.2))
    }
}

impl ValueGrid<'_> {
    /// Value between the places, by shares of the axes; absent outside of them and beside a place without a value.
    fn value(&self, across: f64, up: f64, frame: &ChartFrame) -> Value {
        let (column, right) = between(self.x, across, frame.x)?;
        let (row, above) = between(self.y, up, frame.y)?;
        let cell_at = |row: usize, column: usize| self.z.get(row)?.get(column).copied().flatten();
        let in_row = |row: usize| mixed(cell_at(row, column), cell_at(row, column + 1), right);
        mixed(in_row(row), in_row(row + 1), above)
    }
}

/// Linear interpolation from one value to another.
fn mixed(from: Value, to: Value, part: f64) -> Value {
    match part {
        0.0 => from,
        1.0 => to,
        _ => Some(from? * (1.0 - part) + to? * part),
    }
}

/// Index of the place before a share of an axis, and the part of the distance to the next one.
fn between(places: &[f64], share: f64, scale: AxisScale) -> Option<(usize, f64)> {
    let shares: Vec<f64> = places.iter().filter_map(|&place| scale.share(place)).collect();
    if let [only] = shares.as_slice() {
        // A single place covers the whole axis.
        return only.is_finite().then_some((0, 0.0));
    }
    let index = shares.windows(2).position(|pair| pair[0] <= share && share <= pair[1])?;
    Some((index, (share - shares[index]) / (shares[index + 1] - shares[index])))
}

/// Each band as one path of horizontal stretches of blocks.
fn bands(grid: &ValueGrid<'_>, levels: &Levels, frame: &ChartFrame) -> String {
    let (columns, rows) = BLOCKS;
    let mut paths = vec![String::new(); levels.bands];
    let edge =
        |index: usize, count: usize, length: f64| (index as f64 / count as f64 * length).round() as i32;
    for row in 0..rows {
        let (top, bottom) = (edge(row, rows, frame.height), edge(row + 1, rows, frame.height));
        let up = 1.0 - (row as f64 + 0.5) / rows as f64;
        let own = |column: usize| {
            let value = grid.value((column as f64 + 0.5) / columns as f64, up, frame);
            value.map(|value| levels.band(value))
        };
        let own: Vec<Option<usize>> = (0..columns).map(own).collect();
        let mut column = 0;
        for stretch in own.chunk_by(|a, b| a == b) {
            let (left, right) =
                (edge(column, columns, frame.width), edge(column + stretch.len(), columns, frame.width));
            if let Some(band) = stretch[0] {
                // Writing to a string does not fail.
                let (wide, high) = (right - left, bottom - top);
                let _ = write!(paths[band], "M{left} {top}h{wide}v{high}h-{wide}z");
            }
            column += stretch.len();
        }
    }
    let mut drawn = String::new();
    for (band, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        let colour = levels.colour(band);
        let _ = writeln!(drawn, "<path fill=\"{colour}\" stroke=\"{colour}\" d=\"{path}\"/>");
    }
    drawn
}

/// Colour bar beside the box.
fn bar(name: &str, levels: &Levels, frame: &ChartFrame) -> Result<String, fmt::Error> {
    let mut drawn = String::new();
    let (left, wide) = (frame.width + 30.0, 34.0);
    let high = frame.height / levels.bands as f64;
    for band in 0..levels.bands {
        let top = frame.height - (band + 1) as f64 * high;
        write!(
            drawn,
            "<path fill=\"{}\" d=\"M{left:.0} {top:.1}h{wide:.0}v{high:.1}h-{wide:.0}z\"/>",
            levels.colour(band)
        )?;
    }
    let to = levels.from + levels.step * levels.bands as f64;
    let ends = Bounds { from: Some(levels.from), to: Some(to), ..Default::default() };
    let scale = AxisScale::of(ends, core::iter::empty(), Ends::Tight);
    drawn.push_str("<g>");
    for (value, text) in scale.ticks(levels.bands.min(8) as f64) {
        let Some(share) = scale.share(value) else { continue };
        let y = (1.0 - share) * frame.height + 8.0;
        write!(drawn, "<text x=\"{:.0}\" y=\"{y:.0}\">{text}</text>", left + wide + 10.0)?;
    }
    let (x, y) = (left + 150.0, frame.height / 2.0);
    writeln!(
        drawn,
        "</g><text class=\"m a\" transform=\"translate({x:.0} {y:.0}) rotate(-90)\">{}</text>",
        html(name)
    )?;
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_places_a_value_is_between_theirs_and_beside_a_gap_there_is_none() {
        let z = vec![vec![Some(0.0), Some(10.0), None], vec![Some(20.0), Some(30.0), Some(0.0)]];
        let grid = ValueGrid { x: &[0.0, 1.0, 2.0], y: &[0.0, 1.0], z: &z };
        let axis = |to| Bounds { from: Some(0.0), to: Some(to), log: false };
        let scale = |to| AxisScale::of(axis(to), core::iter::empty(), Ends::Tight);
        let frame = ChartFrame::new(scale(2.0), scale(1.0));
        // A quarter of the distance to the right and half of it upwards: 5 of 10, and 10 of 20 more.
        assert_eq!(grid.value(0.25, 0.5, &frame), Some(15.0));
        assert_eq!(grid.value(0.25, 0.0, &frame), Some(5.0));
        assert_eq!(grid.value(0.75, 0.5, &frame), None);
        assert_eq!(grid.value(0.75, 1.0, &frame), Some(15.0));
    }

    #[test]
    fn bands_begin_at_round_numbers() {
        let z = vec![vec![Some(0.03), Some(0.88)]];
        let levels = Levels::of(&ValueGrid { x: &[0.0, 1.0], y: &[0.0], z: &z });
        assert_eq!((levels.from, levels.step, levels.bands), (0.0, 0.1, 9));
        assert_eq!((levels.band(0.05), levels.band(0.88), levels.band(9.0)), (0, 8, 8));
        // Band 8.5 of 9 is at 0.7222 between the fifth stop and the last.
        assert_eq!(levels.colour(8), "#d9e131");
    }
}
