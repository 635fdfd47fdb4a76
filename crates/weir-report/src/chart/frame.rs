//! The frame of a chart: its axes with ticks and labels, and the box in which data is drawn.
//!
//! Classes of `chart.css`: `a` labels of axes, `m` text centred at its place, `e` text that ends at its place, `g` lines
//! of the grid, `f` the edge of the box.

use core::fmt::{self, Write};

use super::escape::html;
use super::scale::AxisScale;

/// Lengths are in half pixels of a chart that is 600 pixels wide.
pub(crate) const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 500.0;
const LEFT: f64 = 130.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 104.0;

/// The box of a chart with its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChartFrame {
    /// Scale of the horizontal axis.
    pub x: AxisScale,
    /// Scale of the vertical axis.
    pub y: AxisScale,
    /// Width of the box, in half pixels.
    pub width: f64,
    /// Height of the box, in half pixels.
    pub height: f64,
    /// The free space to the right of the box, in half pixels.
    right: f64,
    /// The free space below the box, in half pixels.
    bottom: f64,
}

impl ChartFrame {
    /// A frame of the default size around both scales.
    pub fn new(x: AxisScale, y: AxisScale) -> Self {
        Self { x, y, width: WIDTH - LEFT - RIGHT, height: HEIGHT, right: RIGHT, bottom: BOTTOM }
    }

    /// The same frame, with this much free space to the right and this much more below, in half pixels.
    pub fn with_room(self, right: f64, below: f64) -> Self {
        Self { width: WIDTH - LEFT - right, right, bottom: BOTTOM + below, ..self }
    }

    /// The same frame, with a unit as long vertically as horizontally.
    pub fn equal(self) -> Self {
        let ratio = self.y.width() / self.x.width();
        let (most, least) = (1000.0, 360.0);
        let height = self.width * ratio;
        if height > most {
            return Self { width: most / ratio, height: most, ..self };
        }
        let height = height.max(least);
        Self { height, y: self.y.widened(self.x.width() * height / self.width), ..self }
    }

    /// Position of a point in the box, in half pixels, or `None` where a logarithmic axis cannot show it. The position
    /// of a point far outside is clamped.
    pub fn place(&self, x: f64, y: f64) -> Option<(i32, i32)> {
        let near = |share: f64| share.clamp(-2.0, 3.0);
        let across = near(self.x.share(x)?) * self.width;
        let up = (1.0 - near(self.y.share(y)?)) * self.height;
        Some((across.round() as i32, up.round() as i32))
    }

    /// Writes the opening tag of the chart, with its size and with `title` as its label.
    ///
    /// # Errors
    /// `out` refuses text.
    pub fn open(&self, out: &mut String, title: &str) -> fmt::Result {
        let whole = (self.width + LEFT + self.right, self.height + TOP + self.bottom);
        writeln!(
            out,
            "<svg viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-label=\"{}\">",
            whole.0,
            whole.1,
            html(title)
        )
    }

    /// The horizontal axis: ticks with their labels, and the label of the axis.
    ///
    /// # Errors
    /// `out` refuses text.
    pub fn across(&self, out: &mut String, label: &str) -> fmt::Result {
        let (mut grid, mut texts) = (String::new(), String::new());
        let bottom = TOP + self.height;
        for (value, text) in self.x.ticks((self.width / 140.0).max(2.0)) {
            let Some(share) = self.x.share(value) else { continue };
            let at = LEFT + share * self.width;
            write!(grid, "M{at:.0} {TOP:.0}V{:.0}", bottom + 8.0)?;
            write!(texts, "<text x=\"{at:.0}\" y=\"{:.0}\">{text}</text>", bottom + 36.0)?;
        }
        writeln!(out, "<path class=\"g\" d=\"{grid}\"/><g class=\"m\">{texts}</g>")?;
        self.label_across(out, label)
    }

    /// Writes the label of the horizontal axis.
    ///
    /// # Errors
    /// `out` refuses text.
    pub fn label_across(&self, out: &mut String, label: &str) -> fmt::Result {
        let (at, below) = (LEFT + self.width / 2.0, TOP + self.height + self.bottom - 22.0);
        writeln!(out, "<text class=\"m a\" x=\"{at:.0}\" y=\"{below:.0}\">{}</text>", html(label))
    }

    /// The vertical axis.
    ///
    /// # Errors
    /// `out` refuses text.
    pub fn up(&self, out: &mut String, label: &str) -> fmt::Result {
        let (mut grid, mut texts) = (String::new(), String::new());
        for (value, text) in self.y.ticks((self.height / 85.0).max(2.0)) {
            let Some(share) = self.y.share(value) else { continue };
            let at = TOP + (1.0 - share) * self.height;
            write!(grid, "M{:.0} {at:.0}H{:.0}", LEFT - 8.0, LEFT + self.width)?;
            write!(texts, "<text x=\"{:.0}\" y=\"{:.0}\">{text}</text>", LEFT - 14.0, at + 8.0)?;
        }
        let middle = TOP + self.height / 2.0;
        writeln!(out, "<path class=\"g\" d=\"{grid}\"/><g class=\"e\">{texts}</g>")?;
        writeln!(
            out,
            "<text class=\"m a\" transform=\"translate(26 {middle:.0}) rotate(-90)\">{}</text>",
            html(label)
        )
    }

    /// The box: its content is clipped at its edges, and coordinates count from its upper left corner.
    ///
    /// # Errors
    /// `out` refuses text.
    pub fn inside(&self, out: &mut String, drawn: &str) -> fmt::Result {
        let (width, height) = (self.width, self.height);
        writeln!(
            out,
            "<svg x=\"{LEFT:.0}\" y=\"{TOP:.0}\" width=\"{width:.0}\" height=\"{height:.0}\">\n{drawn}</svg>\n\
             <rect class=\"f\" x=\"{LEFT:.0}\" y=\"{TOP:.0}\" width=\"{width:.0}\" height=\"{height:.0}\"/>"
        )
    }

    /// Content beside or below the box; coordinates count from the upper left corner of the box, too.
    ///
    /// # Errors
    /// `out` refuses text.
    pub fn beside(out: &mut String, drawn: &str) -> fmt::Result {
        writeln!(out, "<g transform=\"translate({LEFT:.0} {TOP:.0})\">\n{drawn}</g>")
    }
}
