//! The registry of controllers, couplers and TCP algorithms (`Registry`).

use std::iter;
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use weir_cc::{Controller, DataRate, RateLimits, Receiver};

use super::*;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::standard);

fn limits() -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(50), kbps(300), kbps(2000)).unwrap()
}

#[test]
fn every_controller_builds_with_its_defaults_and_starts_at_the_start_rate() {
    for info in REGISTRY.controllers() {
        let halves = REGISTRY.build(&info.name, None, limits(), 1.0).unwrap();
        assert_eq!(halves.controller.target().media_rate, limits().start(), "{}", info.name);
        #[cfg(feature = "schemas")]
        assert!(REGISTRY.options_schema(&info.name).is_some(), "{}", info.name);
    }
}

/// A sender that is a copy of `gcc` under another name.
struct Reference;

impl ControllerKind for Reference {
    type Config = weir_cc::gcc::goog_cc::Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "reference".into(),
            marks: MarkResponse::Scalable,
            ..ControllerInfo::default()
        }
    }

    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        let sender = weir_cc::gcc::goog_cc::GoogCc::new(config, limits);
        Ok(Box::new(sender.map_err(|error| error.to_string())?))
    }

    fn receiver(config: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(weir_cc::packet_feedback::PacketFeedback::new(config.feedback_interval)))
    }
}

#[test]
fn a_reference_sender_can_be_built_and_is_in_no_list_of_controllers() {
    let registry = Registry::standard().with_reference::<Reference>();
    let halves = registry.build("reference", None, limits(), 1.0).unwrap();
    assert_eq!(halves.controller.target().media_rate, limits().start());
    assert!(registry.controller_names().all(|name| name != "reference"));
    assert!(registry.known_names().any(|name| name == "reference"));
    assert_eq!(registry.references().count(), 1);
    assert_eq!(registry.mark_response("reference"), MarkResponse::Scalable);
    assert!(Registry::standard().find("reference").is_err());
    let twice = registry.with::<Reference>().check();
    assert_eq!(twice, Err(RegistryError::Twice { name: "reference".to_owned() }));
}

/// A factory with a name that is made at run time.
struct Renamed {
    info: ControllerInfo,
    schema: Value,
}

impl ControllerFactory for Renamed {
    fn info(&self) -> &ControllerInfo {
        &self.info
    }

    fn sender(&self, options: Option<&Options>, limits: RateLimits, _: f64) -> Half<dyn Controller> {
        let sender = REGISTRY.build_sender("gcc", options, limits, 1.0);
        sender.map_err(|error| error.to_string())
    }

    fn receiver(&self, options: Option<&Options>, limits: RateLimits, _: f64) -> Half<dyn Receiver> {
        REGISTRY.build_receiver("gcc", options, limits, 1.0).map_err(|error| error.to_string())
    }

    fn schema(&self) -> Option<&Value> {
        Some(&self.schema)
    }
}

#[test]
fn a_factory_adds_a_controller_whose_name_is_made_at_run_time() {
    let name = format!("gcc-{}", REGISTRY.controllers().count());
    let info = ControllerInfo { name: name.clone().into(), ..ControllerInfo::default() };
    let schema = json!({ "type": "object" });
    let registry = Registry::standard().with_factory(Arc::new(Renamed { info, schema: schema.clone() }));
    assert_eq!(registry.check(), Ok(()));
    assert_eq!(registry.controller_names().last(), Some(name.as_str()));
    assert_eq!(registry.options_schema(&name), Some(&schema));
    let own = registry.build_sender(&name, None, limits(), 1.0).unwrap();
    let shipped = REGISTRY.build_sender("gcc", None, limits(), 1.0).unwrap();
    assert_eq!(format!("{own:?}"), format!("{shipped:?}"));
    assert_ne!(registry, Registry::standard());
}

#[test]
fn a_controller_goes_by_the_reports_that_its_sender_half_accepts() {
    let of = |source| -> Vec<&str> {
        REGISTRY.controller_names().filter(|name| REGISTRY.feedback_source(name) == Some(source)).collect()
    };
    assert_eq!(of(FeedbackSource::Remb), ["gcc-2016", "gcc-dccc"]);
    assert_eq!(of(FeedbackSource::OwnReport), ["nada", "nada-2016", "nada-dccc", "dccc", "tfrc"]);
    let per_packet =
        ["gcc", "gcc-send-side", "nada-at-sender", "scream", "scream-v2", "dccc-at-sender", "ledbat", "rap"];
    assert_eq!(of(FeedbackSource::Packets), per_packet);
}

#[test]
fn a_sender_side_twin_goes_by_packets() {
    let twins: Vec<(&str, &str)> = REGISTRY
        .controllers()
        .filter_map(|info| Some((&*info.name, info.sender_side_twin.as_deref()?)))
        .collect();
    assert_eq!(twins, [("nada", "nada-at-sender"), ("dccc", "dccc-at-sender")]);
    for (_, twin) in twins {
        assert_eq!(REGISTRY.feedback_source(twin), Some(FeedbackSource::Packets));
    }
}

#[test]
fn a_controller_at_the_receiver_is_refused_by_the_name_of_its_twin() {
    let refused = |name| REGISTRY.build_by_packets(name, None, limits(), 1.0).unwrap_err().to_string();
    assert!(refused("nada").ends_with("use its twin `nada-at-sender`"), "{}", refused("nada"));
    assert!(refused("tfrc").contains("it has no twin at the sender; use one of"), "{}", refused("tfrc"));
    assert!(refused("tfrc").contains("`gcc`"), "{}", refused("tfrc"));
    assert_eq!(REGISTRY.by_packets("dccc"), Ok("dccc-at-sender"));
    assert!(REGISTRY.build_by_packets("scream-v2", None, limits(), 1.0).is_ok());
}

#[test]
fn a_half_that_is_built_alone_is_that_of_the_pair() {
    for ControllerInfo { name, presets, .. } in REGISTRY.controllers() {
        let presets: Vec<Options> = presets
            .iter()
            .map(|preset| Options::from_iter([("preset".to_owned(), json!(preset.name))]))
            .collect();
        let prioritised = presets.iter().map(|preset| (Some(preset), 2.0));
        for (options, priority) in iter::once((None, 1.0)).chain(prioritised) {
            let pair = REGISTRY.build(name, options, limits(), priority).unwrap();
            let sender = REGISTRY.build_sender(name, options, limits(), priority).unwrap();
            let receiver = REGISTRY.build_receiver(name, options, limits(), priority).unwrap();
            assert_eq!(sender.target(), pair.controller.target(), "{name}");
            assert_eq!(format!("{sender:?}"), format!("{:?}", pair.controller), "{name}");
            assert_eq!(format!("{receiver:?}"), format!("{:?}", pair.receiver), "{name}");
            assert_eq!(Some(sender.signals()), REGISTRY.sender_signals(name));
            assert_eq!(Some(receiver.signals()), REGISTRY.receiver_signals(name));
            assert_eq!(REGISTRY.packet_format(name), Some(pair.packet_format));
        }
    }
    assert!(
        REGISTRY.build_sender("nobody", None, limits(), 1.0).is_err()
            && REGISTRY.packet_format("nobody").is_none()
    );
}

#[test]
fn every_window_algorithm_that_is_listed_can_be_built() {
    for info in window_algorithms() {
        assert!(window_algorithm(info.name, TcpProfile::Plain, false).is_ok(), "{}", info.name);
    }
}

#[test]
fn controllers_with_a_window_are_those_that_say_so() {
    let with: Vec<&str> = REGISTRY.controller_names().filter(|name| REGISTRY.has_window(name)).collect();
    assert_eq!(with, ["scream", "scream-v2", "ledbat"]);
}

#[test]
fn only_who_yields_by_the_share_of_marks_has_a_scalable_response() {
    let with = |response| -> Vec<&str> {
        REGISTRY.controller_names().filter(|name| REGISTRY.mark_response(name) == response).collect()
    };
    assert_eq!(with(MarkResponse::Scalable), ["nada", "nada-2016", "nada-dccc", "scream-v2"]);
    assert_eq!(with(MarkResponse::Classic), ["scream", "ledbat", "tfrc", "rap"]);
    assert_eq!(REGISTRY.mark_response("nobody"), MarkResponse::None);
}

#[test]
fn an_unknown_name_brings_up_the_nearest() {
    let error = REGISTRY.build("gcc2016", None, limits(), 1.0).unwrap_err().to_string();
    assert_eq!(error, "there is no controller `gcc2016`; did you mean `gcc-2016`?");
    let error = window_algorithm("bbr", TcpProfile::Plain, false).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no TCP algorithm `bbr`; known here are `newreno`, `cubic`, \
         `cubic-hystart`, `highspeed`, `westwood-plus`, `westwood`, `westwood-per-ack` and `dctcp`"
    );
}

#[test]
fn options_reach_the_controller_and_wrong_ones_are_refused() {
    let options = json!({ "static_threshold": 38.0 });
    assert!(REGISTRY.build("gcc-2016", options.as_object(), limits(), 1.0).is_ok());
    let out_of_range = json!({ "decrease": 1.5 });
    let error = REGISTRY.build("gcc-2016", out_of_range.as_object(), limits(), 1.0).unwrap_err().to_string();
    assert_eq!(error, "`gcc-2016` does not take these options: `decrease` must be in (0, 1)");
    let unknown = json!({ "decreese": 0.5 });
    assert!(REGISTRY.build("gcc-2016", unknown.as_object(), limits(), 1.0).is_err());
}

#[test]
fn a_priority_is_given_once() {
    let twice = json!({ "priority": 2.0 });
    assert!(REGISTRY.build("nada", twice.as_object(), limits(), 1.0).is_ok());
    let error = REGISTRY.build("nada", twice.as_object(), limits(), 2.0).unwrap_err().to_string();
    assert_eq!(
        error,
        "`nada` does not take these options: `priority` stands beside the flow's own, 2: leave out one of them"
    );
}
