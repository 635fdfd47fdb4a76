//! From names and options to controllers.

use std::sync::LazyLock;

use serde_json::Value;
use toml::Table;
use weir_cc::{Controller, LimitsOutOfOrder, RateLimits, Receiver, Signal};
use weir_media::PacketFormat;
use weir_units::DataRate;
use weir_world::Side;

mod couplers;
mod law;
mod laws;
mod tcp_profile;
mod windows;
mod yardsticks;

pub(crate) use couplers::coupler_options_shape;
pub use couplers::{CouplerInfo, Setting as CouplerSetting, Steers, coupler, coupler_info, couplers};
pub use tcp_profile::TcpProfile;
pub use windows::{WindowLawInfo, window_law, window_laws, window_laws_of};
pub(crate) use yardsticks::omniscient_point;

use crate::form::Shape;
use crate::form::advice;

/// What is known of a controller, for whoever has to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerInfo {
    /// Its name in scenarios and on the command line.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// The paper or RFC that it implements.
    pub source: &'static str,
    /// Which half computes the rate.
    pub placement: &'static str,
    /// What the receiver tells the sender.
    pub feedback: &'static str,
    /// Named configurations besides the default, for the option `preset`.
    pub presets: Vec<PresetInfo>,
}

/// A named configuration of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetInfo {
    /// Its name.
    pub name: &'static str,
    /// What it is for, in a sentence.
    pub summary: &'static str,
}

/// How a controller answers to marks by ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkResponse {
    /// Marks do not reach it, or it does not heed them: its packets may not ask for any.
    None,
    /// A mark counts as a loss or nearly so, once in a round trip (RFC 3168 §5).
    Classic,
    /// It yields by the share of marks, so that they come no more seldom at a higher rate (RFC 9331 §4.3).
    Scalable,
}

/// The two halves of a controller.
#[derive(Debug)]
pub struct Halves {
    /// The sender half.
    pub controller: Box<dyn Controller>,
    /// The receiver half.
    pub receiver: Box<dyn Receiver>,
    /// The RTCP form in which the receiver half tells the fate of single packets, if it does.
    pub packet_format: PacketFormat,
}

/// Why there is no such controller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The name is not known.
    #[error("there is no {what} `{name}`; {advice}")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// Its name.
        name: String,
        /// What may have been meant.
        advice: String,
    },
    /// The rates are out of order.
    #[error(transparent)]
    Limits(#[from] LimitsOutOfOrder),
    /// The controller or coupler does not take these options.
    #[error("`{name}` does not take these options: {reason}")]
    Options {
        /// The controller or coupler.
        name: &'static str,
        /// Why not.
        reason: String,
    },
}

use law::Entry;

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(laws::entries);
static YARDSTICKS: LazyLock<Vec<Entry>> = LazyLock::new(yardsticks::entries);

/// Every controller.
pub fn controllers() -> &'static [ControllerInfo] {
    static INFOS: LazyLock<Vec<ControllerInfo>> =
        LazyLock::new(|| ENTRIES.iter().map(|entry| entry.info.clone()).collect());
    &INFOS
}

/// The names of all controllers.
pub fn controller_names() -> impl Iterator<Item = &'static str> {
    controllers().iter().map(|info| info.name)
}

/// What laws are measured against: names that a scenario can give as controllers, which are none and stand in no list of
/// all.
pub fn yardsticks() -> impl Iterator<Item = &'static ControllerInfo> {
    YARDSTICKS.iter().map(|entry| &entry.info)
}

/// Whether `name` is that of a yardstick.
pub fn is_yardstick(name: &str) -> bool {
    yardsticks().any(|info| info.name == name)
}

/// The names of all controllers, and behind them those of the yardsticks.
pub fn known_names() -> impl Iterator<Item = &'static str> {
    controller_names().chain(yardsticks().map(|info| info.name))
}

/// What is known of the controller or yardstick `name`.
pub fn controller_info(name: &str) -> Option<&'static ControllerInfo> {
    controllers().iter().chain(yardsticks()).find(|info| info.name == name)
}

/// Whether the controller `name` has a preset of this name.
pub(crate) fn has_preset(name: &str, preset: &str) -> bool {
    controller_info(name).is_some_and(|info| info.presets.iter().any(|own| own.name == preset))
}

/// Both halves of the controller `name`. `options` stand by the names of the controller's `Config`; what they do
/// not name keeps the value of the configuration that `preset` names, or its default. `priority`, above 0 and 1 for
/// the usual one, is that of the flow against others; laws without priorities do not heed it.
///
/// # Errors
/// An unknown name, an unknown preset or option, an option out of its range.
pub fn build(
    name: &str,
    options: Option<&Table>,
    limits: RateLimits,
    priority: f64,
) -> Result<Halves, RegistryError> {
    Ok(Halves {
        controller: build_sender(name, options, limits, priority)?,
        receiver: build_receiver(name, options, limits, priority)?,
        packet_format: entry(name)?.packet_format,
    })
}

/// The sender half of what [`build`] builds, for a process that only sends.
///
/// # Errors
/// As [`build`].
pub fn build_sender(
    name: &str,
    options: Option<&Table>,
    limits: RateLimits,
    priority: f64,
) -> Result<Box<dyn Controller>, RegistryError> {
    let entry = entry(name)?;
    (entry.sender)(options, limits, priority).map_err(|reason| entry.refused(reason))
}

/// The receiver half of what [`build`] builds, for a process that only receives.
///
/// # Errors
/// As [`build`], but for constants of the sender half alone.
pub fn build_receiver(
    name: &str,
    options: Option<&Table>,
    limits: RateLimits,
    priority: f64,
) -> Result<Box<dyn Receiver>, RegistryError> {
    let entry = entry(name)?;
    (entry.receiver)(options, limits, priority).map_err(|reason| entry.refused(reason))
}

/// The RTCP form in which the receiver half of the controller `name` tells the fate of single packets, if it does.
pub fn packet_format(name: &str) -> Option<PacketFormat> {
    entry(name).ok().map(|entry| entry.packet_format)
}

/// How the controller `name` answers to marks by ECN; not at all if there is none of this name.
pub fn mark_response(name: &str) -> MarkResponse {
    entry(name).map_or(MarkResponse::None, |entry| entry.marks)
}

/// Whether the controller `name` steers by a window, once it knows a round-trip time.
pub fn has_window(name: &str) -> bool {
    entry(name).is_ok_and(|entry| entry.has_window)
}

fn entry(name: &str) -> Result<&'static Entry, RegistryError> {
    let mut all = ENTRIES.iter().chain(YARDSTICKS.iter());
    all.find(|entry| entry.info.name == name).ok_or_else(|| unknown_controller(name))
}

impl Entry {
    fn refused(&self, reason: String) -> RegistryError {
        RegistryError::Options { name: self.info.name, reason }
    }
}

/// The signals of a half of the controller `name`, as its paper calls them.
pub fn signals(name: &str, side: Side) -> Option<&'static [Signal]> {
    // Any rates do: the signals of a law do not depend on them.
    let limits =
        RateLimits::new(DataRate::from_kbps(50), DataRate::from_kbps(300), DataRate::from_mbps(2)).ok()?;
    match side {
        Side::Sender => build_sender(name, None, limits, 1.0).ok().map(|half| half.signals()),
        Side::Receiver => build_receiver(name, None, limits, 1.0).ok().map(|half| half.signals()),
    }
}

/// JSON Schema of the options of the controller `name`.
pub fn options_schema(name: &str) -> Option<&'static Value> {
    entry(name).ok().map(|entry| &entry.schema)
}

pub(crate) fn options_shape(name: &str) -> Option<Shape<'static>> {
    options_schema(name).map(Shape::new)
}

fn unknown_controller(name: &str) -> RegistryError {
    let advice = advice(name, controller_names());
    RegistryError::Unknown { what: "controller", name: name.to_owned(), advice }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_cc::DataRate;

    fn limits() -> RateLimits {
        let kbps = DataRate::from_kbps;
        RateLimits::new(kbps(50), kbps(300), kbps(2000)).unwrap()
    }

    #[test]
    fn every_controller_builds_with_its_defaults_and_starts_at_the_start_rate() {
        for info in controllers() {
            let halves = build(info.name, None, limits(), 1.0).unwrap();
            assert_eq!(halves.controller.target().media_rate, limits().start(), "{}", info.name);
            assert!(options_schema(info.name).is_some(), "{}", info.name);
        }
    }

    #[test]
    fn a_yardstick_can_be_built_and_is_in_no_list_of_controllers() {
        for info in yardsticks() {
            let name = info.name;
            let halves = build(name, None, limits(), 1.0).unwrap();
            assert_eq!(halves.controller.target().media_rate, limits().start(), "{name}");
            assert!(
                controller_names().all(|controller| controller != name) && known_names().any(|n| n == name)
            );
            assert!(controller_info(name) == Some(info) && is_yardstick(name));
        }
        assert!(!is_yardstick("gcc") && controller_info("nobody").is_none());
    }

    #[test]
    fn a_half_that_is_built_alone_is_that_of_the_pair() {
        for ControllerInfo { name, presets, .. } in controllers() {
            let preset = presets.first().map(|preset| {
                Table::from_iter([("preset".to_owned(), toml::Value::String(preset.name.to_owned()))])
            });
            for (options, priority) in [(None, 1.0), (preset.as_ref(), 2.0)] {
                let pair = build(name, options, limits(), priority).unwrap();
                let sender = build_sender(name, options, limits(), priority).unwrap();
                let receiver = build_receiver(name, options, limits(), priority).unwrap();
                assert_eq!(sender.target(), pair.controller.target(), "{name}");
                assert_eq!(format!("{sender:?}"), format!("{:?}", pair.controller), "{name}");
                assert_eq!(format!("{receiver:?}"), format!("{:?}", pair.receiver), "{name}");
                assert_eq!(Some(sender.signals()), signals(name, Side::Sender));
                assert_eq!(Some(receiver.signals()), signals(name, Side::Receiver));
                assert_eq!(packet_format(name), Some(pair.packet_format));
            }
        }
        assert!(build_sender("nobody", None, limits(), 1.0).is_err() && packet_format("nobody").is_none());
    }

    #[test]
    fn every_window_law_that_is_listed_can_be_built() {
        for info in window_laws() {
            assert!(window_law(info.name, None, false).is_ok(), "{}", info.name);
        }
    }

    #[test]
    fn laws_with_a_window_are_those_that_say_so() {
        let with: Vec<&str> = controller_names().filter(|name| has_window(name)).collect();
        assert_eq!(with, ["scream", "scream-v2", "ledbat"]);
    }

    #[test]
    fn only_who_yields_by_the_share_of_marks_has_a_scalable_response() {
        let with = |response| -> Vec<&str> {
            controller_names().filter(|name| mark_response(name) == response).collect()
        };
        assert_eq!(with(MarkResponse::Scalable), ["nada", "nada-2016", "nada-dccc", "scream-v2"]);
        assert_eq!(with(MarkResponse::Classic), ["scream", "ledbat", "tfrc", "rap"]);
        assert_eq!(mark_response("nobody"), MarkResponse::None);
        assert_eq!(
            yardsticks().map(|info| mark_response(info.name)).collect::<Vec<_>>(),
            [MarkResponse::None, MarkResponse::Scalable],
            "the omniscient sender is the measure of the half in which those stand"
        );
    }

    #[test]
    fn an_unknown_name_brings_up_the_nearest() {
        let error = build("gcc2016", None, limits(), 1.0).unwrap_err().to_string();
        assert_eq!(error, "there is no controller `gcc2016`; did you mean `gcc-2016`?");
        let error = window_law("bbr", None, false).unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no window law `bbr`; known here are `newreno`, `cubic`, \
             `cubic-hystart`, `highspeed`, `westwood-plus`, `westwood`, `westwood-per-ack` and `dctcp`"
        );
    }

    #[test]
    fn options_reach_the_controller_and_wrong_ones_are_refused() {
        let options: Table = toml::from_str("static_threshold = 38.0").unwrap();
        assert!(build("gcc-2016", Some(&options), limits(), 1.0).is_ok());
        let out_of_range: Table = toml::from_str("decrease = 1.5").unwrap();
        let error = build("gcc-2016", Some(&out_of_range), limits(), 1.0).unwrap_err().to_string();
        assert_eq!(error, "`gcc-2016` does not take these options: `decrease` must be in (0, 1)");
        let unknown: Table = toml::from_str("decreese = 0.5").unwrap();
        assert!(build("gcc-2016", Some(&unknown), limits(), 1.0).is_err());
    }
}
