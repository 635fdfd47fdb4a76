//! From names and options to controllers.

use std::sync::LazyLock;

use schemars::schema_for;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::Table;
use weir_cc::gcc::remb::{self, GccReceiver, GccSender};
use weir_cc::nada::{self, Nada, NadaObserver};
use weir_cc::tfrc::{self, Tfrc, TfrcObserver};
use weir_cc::window::{Cubic, NewReno, WindowLaw};
use weir_cc::{AtReceiver, Controller, LimitsOutOfOrder, RateLimits, Receiver, Signal};
use weir_sim::Side;
use weir_units::DataRate;

use crate::error::advice;
use crate::scenario::Shape;

/// What is known of a controller, for whoever has to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// The two halves of a controller.
#[derive(Debug)]
pub struct Halves {
    /// The sender half.
    pub controller: Box<dyn Controller>,
    /// The receiver half.
    pub receiver: Box<dyn Receiver>,
}

/// What is known of a window law of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLawInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// The RFC that it implements.
    pub source: &'static str,
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
    /// The controller does not take these options.
    #[error("`{controller}` does not take these options: {reason}")]
    Options {
        /// The controller.
        controller: &'static str,
        /// Why not.
        reason: String,
    },
}

type Build = fn(Option<&Table>, RateLimits) -> Result<Halves, String>;

struct Entry {
    info: ControllerInfo,
    build: Build,
    schema: fn() -> Value,
}

const GCC_2016: Entry = Entry {
    info: ControllerInfo {
        name: "gcc-2016",
        summary: "Google Congestion Control: a delay gradient filter at the receiver, loss at the sender",
        source: "Carlucci, De Cicco, Holmer, Mascolo, MMSys 2016",
        placement: "receiver (delay) and sender (loss)",
        feedback: "REMB each second or on a drop, RTCP receiver reports",
    },
    build: gcc_2016,
    schema: || schema_for!(remb::Config).to_value(),
};

const NADA: Entry = Entry {
    info: ControllerInfo {
        name: "nada",
        summary: "Network-Assisted Dynamic Adaptation: one congestion signal from delay, loss and marks",
        source: "RFC 8698",
        placement: "receiver (signal) and sender (rate)",
        feedback: "the law's own report each 100 ms",
    },
    build: nada,
    schema: || schema_for!(nada::Config).to_value(),
};

const TFRC: Entry = Entry {
    info: ControllerInfo {
        name: "tfrc",
        summary: "TCP-friendly rate control: what TCP would send at this loss event rate and round-trip time",
        source: "RFC 5348",
        placement: "receiver (loss event rate) and sender (rate)",
        feedback: "the law's own report once per round trip and at a loss event",
    },
    build: tfrc,
    schema: || schema_for!(tfrc::Config).to_value(),
};

const ENTRIES: [Entry; 3] = [GCC_2016, NADA, TFRC];

/// Every controller.
pub fn controllers() -> &'static [ControllerInfo] {
    const INFOS: [ControllerInfo; ENTRIES.len()] = [GCC_2016.info, NADA.info, TFRC.info];
    &INFOS
}

/// The names of all controllers.
pub fn controller_names() -> impl Iterator<Item = &'static str> {
    controllers().iter().map(|info| info.name)
}

/// Both halves of the controller `name`. `options` stand by the names of the controller's `Config`; what they do
/// not name keeps its default.
///
/// # Errors
/// An unknown name, an unknown option, an option out of its range.
pub fn build(name: &str, options: Option<&Table>, limits: RateLimits) -> Result<Halves, RegistryError> {
    let entry =
        ENTRIES.iter().find(|entry| entry.info.name == name).ok_or_else(|| unknown_controller(name))?;
    (entry.build)(options, limits)
        .map_err(|reason| RegistryError::Options { controller: entry.info.name, reason })
}

/// The signals of a half of the controller `name`, as its paper calls them.
pub fn signals(name: &str, side: Side) -> Option<&'static [Signal]> {
    // Any rates do: the signals of a law do not depend on them.
    let limits =
        RateLimits::new(DataRate::from_kbps(50), DataRate::from_kbps(300), DataRate::from_mbps(2)).ok()?;
    let halves = build(name, None, limits).ok()?;
    Some(match side {
        Side::Sender => halves.controller.signals(),
        Side::Receiver => halves.receiver.signals(),
    })
}

/// JSON Schema of the options of the controller `name`.
pub fn options_schema(name: &str) -> Option<&'static Value> {
    static SCHEMAS: LazyLock<Vec<(&'static str, Value)>> =
        LazyLock::new(|| ENTRIES.iter().map(|entry| (entry.info.name, (entry.schema)())).collect());
    SCHEMAS.iter().find(|(known, _)| *known == name).map(|(_, schema)| schema)
}

pub(crate) fn options_shape(name: &str) -> Option<Shape<'static>> {
    options_schema(name).map(Shape::new)
}

fn unknown_controller(name: &str) -> RegistryError {
    let advice = advice(name, controller_names());
    RegistryError::Unknown { what: "controller", name: name.to_owned(), advice }
}

fn config<C: DeserializeOwned + Default>(options: Option<&Table>) -> Result<C, String> {
    let Some(options) = options else { return Ok(C::default()) };
    options.clone().try_into().map_err(|error: toml::de::Error| error.message().to_owned())
}

fn gcc_2016(options: Option<&Table>, limits: RateLimits) -> Result<Halves, String> {
    let config: remb::Config = config(options)?;
    let controller = GccSender::new(config, limits).map_err(|e| e.to_string())?;
    let receiver = GccReceiver::new(config, limits).map_err(|e| e.to_string())?;
    Ok(Halves { controller: Box::new(controller), receiver: Box::new(receiver) })
}

fn nada(options: Option<&Table>, limits: RateLimits) -> Result<Halves, String> {
    let config: nada::Config = config(options)?;
    let controller = Nada::new(config, limits).map_err(|e| e.to_string())?;
    let observer = NadaObserver::new(config).map_err(|e| e.to_string())?;
    Ok(Halves { controller: Box::new(controller), receiver: Box::new(AtReceiver::new(observer)) })
}

fn tfrc(options: Option<&Table>, limits: RateLimits) -> Result<Halves, String> {
    let config: tfrc::Config = config(options)?;
    let controller = Tfrc::new(config, limits).map_err(|e| e.to_string())?;
    let observer = TfrcObserver::new(config).map_err(|e| e.to_string())?;
    Ok(Halves { controller: Box::new(controller), receiver: Box::new(AtReceiver::new(observer)) })
}

/// Every window law of TCP.
pub fn window_laws() -> &'static [WindowLawInfo] {
    const INFOS: [WindowLawInfo; 2] = [
        WindowLawInfo {
            name: "newreno",
            summary: "one segment more per round trip, half after a loss",
            source: "RFC 5681, RFC 6582",
        },
        WindowLawInfo {
            name: "cubic",
            summary: "growth by the cube of the time since the last loss, 70 % after a loss",
            source: "RFC 9438",
        },
    ];
    &INFOS
}

/// The window law `name`.
///
/// # Errors
/// An unknown name.
pub fn window_law(name: &str) -> Result<Box<dyn WindowLaw>, RegistryError> {
    match name {
        "newreno" => Ok(Box::new(NewReno::new())),
        "cubic" => Ok(Box::new(Cubic::new())),
        _ => {
            let advice = advice(name, window_laws().iter().map(|law| law.name));
            Err(RegistryError::Unknown { what: "window law", name: name.to_owned(), advice })
        }
    }
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
            let halves = build(info.name, None, limits()).unwrap();
            assert_eq!(halves.controller.target().media_rate, limits().start(), "{}", info.name);
            assert!(options_schema(info.name).is_some(), "{}", info.name);
        }
    }

    #[test]
    fn every_window_law_that_is_listed_can_be_built() {
        for info in window_laws() {
            assert!(window_law(info.name).is_ok(), "{}", info.name);
        }
    }

    #[test]
    fn an_unknown_name_brings_up_the_nearest() {
        let error = build("gcc2016", None, limits()).unwrap_err().to_string();
        assert_eq!(error, "there is no controller `gcc2016`; did you mean `gcc-2016`?");
        let error = window_law("bbr").unwrap_err().to_string();
        assert_eq!(error, "there is no window law `bbr`; known here are `newreno` and `cubic`");
    }

    #[test]
    fn options_reach_the_controller_and_wrong_ones_are_refused() {
        let options: Table = toml::from_str("static_threshold = 38.0").unwrap();
        assert!(build("gcc-2016", Some(&options), limits()).is_ok());
        let out_of_range: Table = toml::from_str("decrease = 1.5").unwrap();
        let error = build("gcc-2016", Some(&out_of_range), limits()).unwrap_err().to_string();
        assert_eq!(error, "`gcc-2016` does not take these options: `decrease` must be in (0, 1)");
        let unknown: Table = toml::from_str("decreese = 0.5").unwrap();
        assert!(build("gcc-2016", Some(&unknown), limits()).is_err());
    }
}
