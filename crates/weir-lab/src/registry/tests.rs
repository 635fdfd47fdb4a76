use std::iter;
use std::sync::LazyLock;

use toml::Table;
use weir_cc::{DataRate, RateLimits};
use weir_world::Side;

use super::*;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::standard);

fn limits() -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(50), kbps(300), kbps(2000)).unwrap()
}

#[test]
fn every_controller_builds_with_its_defaults_and_starts_at_the_start_rate() {
    for info in REGISTRY.controllers() {
        let halves = REGISTRY.build(info.name, None, limits(), 1.0).unwrap();
        assert_eq!(halves.controller.target().media_rate, limits().start(), "{}", info.name);
        assert!(REGISTRY.options_schema(info.name).is_some(), "{}", info.name);
    }
}

#[test]
fn a_yardstick_can_be_built_and_is_in_no_list_of_controllers() {
    for info in yardsticks() {
        let name = info.name;
        let halves = REGISTRY.build(name, None, limits(), 1.0).unwrap();
        assert_eq!(halves.controller.target().media_rate, limits().start(), "{name}");
        assert!(
            REGISTRY.controller_names().all(|controller| controller != name)
                && REGISTRY.known_names().any(|n| n == name)
        );
        assert!(REGISTRY.find(name) == Ok(info) && is_yardstick(name));
    }
    assert!(!is_yardstick("gcc") && REGISTRY.find("nobody").is_err());
}

#[test]
fn a_half_that_is_built_alone_is_that_of_the_pair() {
    for ControllerInfo { name, presets, .. } in REGISTRY.controllers() {
        let presets: Vec<Table> = presets
            .iter()
            .map(|preset| {
                Table::from_iter([("preset".to_owned(), toml::Value::String(preset.name.to_owned()))])
            })
            .collect();
        let prioritised = presets.iter().map(|preset| (Some(preset), 2.0));
        for (options, priority) in iter::once((None, 1.0)).chain(prioritised) {
            let pair = REGISTRY.build(name, options, limits(), priority).unwrap();
            let sender = REGISTRY.build_sender(name, options, limits(), priority).unwrap();
            let receiver = REGISTRY.build_receiver(name, options, limits(), priority).unwrap();
            assert_eq!(sender.target(), pair.controller.target(), "{name}");
            assert_eq!(format!("{sender:?}"), format!("{:?}", pair.controller), "{name}");
            assert_eq!(format!("{receiver:?}"), format!("{:?}", pair.receiver), "{name}");
            assert_eq!(Some(sender.signals()), REGISTRY.signals(name, Side::Sender));
            assert_eq!(Some(receiver.signals()), REGISTRY.signals(name, Side::Receiver));
            assert_eq!(REGISTRY.packet_format(name), Some(pair.packet_format));
        }
    }
    assert!(
        REGISTRY.build_sender("nobody", None, limits(), 1.0).is_err()
            && REGISTRY.packet_format("nobody").is_none()
    );
}

#[test]
fn every_window_law_that_is_listed_can_be_built() {
    for info in window_laws() {
        assert!(window_law(info.name, TcpProfile::Plain, false).is_ok(), "{}", info.name);
    }
}

#[test]
fn laws_with_a_window_are_those_that_say_so() {
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
    assert_eq!(
        yardsticks().map(|info| REGISTRY.mark_response(info.name)).collect::<Vec<_>>(),
        [MarkResponse::None, MarkResponse::Scalable],
        "the omniscient sender is the measure of the half in which those stand"
    );
}

#[test]
fn an_unknown_name_brings_up_the_nearest() {
    let error = REGISTRY.build("gcc2016", None, limits(), 1.0).unwrap_err().to_string();
    assert_eq!(error, "there is no controller `gcc2016`; did you mean `gcc-2016`?");
    let error = window_law("bbr", TcpProfile::Plain, false).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no window law `bbr`; known here are `newreno`, `cubic`, \
         `cubic-hystart`, `highspeed`, `westwood-plus`, `westwood`, `westwood-per-ack` and `dctcp`"
    );
}

#[test]
fn options_reach_the_controller_and_wrong_ones_are_refused() {
    let options: Table = toml::from_str("static_threshold = 38.0").unwrap();
    assert!(REGISTRY.build("gcc-2016", Some(&options), limits(), 1.0).is_ok());
    let out_of_range: Table = toml::from_str("decrease = 1.5").unwrap();
    let error = REGISTRY.build("gcc-2016", Some(&out_of_range), limits(), 1.0).unwrap_err().to_string();
    assert_eq!(error, "`gcc-2016` does not take these options: `decrease` must be in (0, 1)");
    let unknown: Table = toml::from_str("decreese = 0.5").unwrap();
    assert!(REGISTRY.build("gcc-2016", Some(&unknown), limits(), 1.0).is_err());
}

#[test]
fn a_priority_is_given_once() {
    let twice: Table = toml::from_str("priority = 2.0").unwrap();
    assert!(REGISTRY.build("nada", Some(&twice), limits(), 1.0).is_ok());
    let error = REGISTRY.build("nada", Some(&twice), limits(), 2.0).unwrap_err().to_string();
    assert_eq!(
        error,
        "`nada` does not take these options: `priority` stands beside the flow's own, 2: leave out one of them"
    );
}
