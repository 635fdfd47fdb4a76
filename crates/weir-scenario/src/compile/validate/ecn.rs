//! ECN fields that a controller does not respond to.

use crate::registry::MarkResponse;
use crate::scenario::{EcnField, FlowTraffic, Media, Scenario};
use weir_form::{KeyPath, Problem, list};

/// Warnings: ECN fields that can be simulated and should not be sent into a network.
pub(super) fn warnings(scenario: &Scenario) -> Vec<Problem> {
    let flows = scenario.flows.iter();
    let media = flows.filter_map(|(name, flow)| match &flow.carried {
        FlowTraffic::Media(media) => Some((name, media)),
        _ => None,
    });
    media
        .filter_map(|(name, media)| warning(scenario, media, &KeyPath::of(&["flows", name, "ecn"])))
        .collect()
}

fn warning(scenario: &Scenario, media: &Media, path: &KeyPath) -> Option<Problem> {
    let without = |enough: fn(MarkResponse) -> bool| {
        let own = scenario.controllers.is_empty().then_some(media.controller.as_str());
        let all = scenario.controllers.iter().map(String::as_str).chain(own);
        let without: Vec<&str> = all
            .filter(|controller| !enough(scenario.registry.mark_response(scenario.controller_of(controller))))
            .collect();
        (!without.is_empty()).then(|| list(&without))
    };
    let message = match media.ecn {
        EcnField::NotEct | EcnField::ByController => return None,
        EcnField::Ect1 => {
            let controllers = without(|response| response == MarkResponse::Scalable)?;
            format!("ECT(1) promises a scalable response to marks (RFC 9331 §4.3); not so {controllers}")
        }
        EcnField::Ect0 => {
            let controllers = without(|response| response != MarkResponse::None)?;
            format!("ECT(0) promises to yield to marks (RFC 3168 §5); not so {controllers}")
        }
    };
    let advice = "write `\"by-controller\"`: each controller then sends what it can answer for";
    Some(Problem::value(path, message).help(advice).warning())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"title = "A game"
duration = "5s"
[links.there]
from = "a"
to = "b"
rate = "10Mbps"
queue = { discipline = "dualpi2" }
[links.back]
from = "b"
to = "a"
rate = "10Mbps"
[flows.video]
kind = "media"
from = "a"
to = "b"
controller = "scream-v2"
ecn = "ect1"
"#;

    /// The warnings of a scenario with `overrides`, and their places.
    fn warned(overrides: &[&str]) -> Vec<(String, Option<(usize, usize)>)> {
        let overrides: Vec<String> = overrides.iter().map(|&each| each.to_owned()).collect();
        let scenario = Scenario::parse("game.toml", TEXT, &overrides).unwrap();
        scenario.warnings().iter().map(|warning| (warning.message().to_owned(), warning.position())).collect()
    }

    #[test]
    fn ect_1_without_a_scalable_response_is_named_with_its_place() {
        assert!(warned(&[]).is_empty());
        let warnings = warned(&["controllers=['scream-v2', 'rap', 'gcc']"]);
        let [(message, place)] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(message.ends_with("not so `rap` and `gcc`"), "{message}");
        assert_eq!(*place, Some((17, 7)));
        assert_eq!(warned(&["flows.video.controller=scream"]).len(), 1);
    }

    #[test]
    fn ect_0_gives_a_warning_for_a_controller_that_ignores_marks() {
        assert!(warned(&["flows.video.ecn=ect0", "flows.video.controller=rap"]).is_empty());
        assert_eq!(warned(&["flows.video.ecn=ect0", "flows.video.controller=gcc"]).len(), 1);
        assert!(
            warned(&["flows.video.ecn=by-controller", "controllers=['scream-v2', 'rap', 'gcc']"]).is_empty()
        );
    }
}
