//! The coloured spot that marks a controller wherever it is named.

use maud::{Markup, html};

use super::palette;

/// The spot of the controller with this index.
pub(super) fn chip(index: usize) -> Markup {
    html! { i.chip style=(format!("background:{}", palette::fill(index))) {} }
}
