//! The frame of a page about a call.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use weir_report::chart::CHART_CSS;

/// The page loads nothing and runs nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// A page with this title and content. Texts are escaped.
pub(crate) fn page(title: &str, body: &Markup) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(CHART_CSS)) (PreEscaped(include_str!("page.css"))) }
            }
            body { main { h1 { (title) } (body) } }
        }
    };
    markup.into_string()
}
