//! Controllers, couplers and TCP algorithms by name, with their options as data.
//!
//! ```
//! use serde_json::json;
//! use weir_cc::{DataRate, RateLimits};
//! use weir_registry::Registry;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let kbps = DataRate::from_kbps;
//!     let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500))?;
//!     let options = json!({ "preset": "rfc-literal", "kappa": 0.25 });
//!     let halves = Registry::standard().build("nada", options.as_object(), limits, 1.0)?;
//!     assert_eq!(halves.controller.target().media_rate, kbps(300));
//!     Ok(())
//! }
//! ```

mod advice;
mod controllers;
mod couplers;
mod error;
mod factory;
mod info;
mod kind;
mod options;
mod read;
mod registry;
mod tcp_profile;
#[cfg(test)]
mod tests;
mod window_algorithms;

pub use advice::{advice, advice_of_many, list, nearest};
#[cfg(feature = "schemas")]
pub use couplers::find_coupler;
pub use couplers::{CouplerInfo, CouplerSetting, Steers, coupler, coupler_info, couplers};
pub use error::RegistryError;
pub use factory::{ControllerEdition, ControllerFactory, Half};
pub use info::{ControllerInfo, FeedbackSource, Halves, MarkResponse, PresetInfo};
pub use kind::{ControllerKind, Preset, config};
pub use options::Options;
pub use read::read;
pub use registry::Registry;
pub use tcp_profile::TcpProfile;
pub use weir_cc::PacketFormat;
pub use window_algorithms::{
    WindowAlgorithmInfo, window_algorithm, window_algorithm_factory, window_algorithms,
};

// Re-exports for crates with controllers of their own, in the versions that this crate uses.
#[cfg(feature = "schemas")]
pub use schemars;
pub use {serde, weir_cc};
