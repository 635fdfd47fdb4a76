//! The controllers of a page by number.

use super::input::{ControllerPanel, PageInput};

/// The names of all controllers of a page. A controller's place among them is its number everywhere: of its colour, its mark, its
/// row and its panel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names<'a>(Vec<&'a str>);

impl<'a> Names<'a> {
    /// The names in the table in the order of its rows, then names that only a panel or a mark has.
    pub(crate) fn of(input: &'a PageInput) -> Self {
        let rows = input.summary.rows.iter().map(|row| row.name.as_str());
        let panels = input.controllers.iter().map(|panel| panel.name.as_str());
        let marks = input.scatter.iter().flat_map(|scatter| &scatter.points).map(|point| point.name.as_str());
        let mut names: Vec<&str> = Vec::new();
        for name in rows.chain(panels).chain(marks) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Self(names)
    }

    /// Each name with its number.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (usize, &'a str)> {
        self.0.iter().copied().enumerate()
    }

    /// The number of this name.
    pub(super) fn number(&self, name: &str) -> usize {
        self.0.iter().position(|own| *own == name).unwrap_or(self.0.len())
    }

    /// The panels, each with its controller's number.
    pub(super) fn panels(&self, input: &'a PageInput) -> Vec<(usize, &'a ControllerPanel)> {
        input.controllers.iter().map(|panel| (self.number(&panel.name), panel)).collect()
    }
}
