//! Controllers, couplers and TCP algorithms by name, and the reference senders that they are compared with.

use std::sync::LazyLock;

use weir_world::WindowAlgorithms;
use weir_world::tcp::TcpConfig;

mod fixed;
mod omniscient;

pub(crate) use omniscient::omniscient_point;
pub use weir_registry::{
    ControllerEdition, ControllerFactory, ControllerInfo, ControllerKind, CouplerInfo, CouplerSetting,
    FeedbackSource, Half, Halves, MarkResponse, Options, Preset, PresetInfo, Registry, RegistryError, Steers,
    TcpProfile, WindowAlgorithmInfo, coupler, coupler_info, couplers, find_coupler, window_algorithm,
    window_algorithms,
};
pub use weir_world::Side;

use fixed::Fixed;
use omniscient::OmniscientSender;

static REFERENCES: LazyLock<Registry> = LazyLock::new(|| with_references(Registry::standard()));

/// `registry` with the reference senders of Weir that it lacks, in the order in which tables show them.
pub fn with_references(mut registry: Registry) -> Registry {
    if !registry.references().any(|info| info.name == Fixed::info().name) {
        registry = registry.with_reference::<Fixed>();
    }
    if !registry.references().any(|info| info.name == OmniscientSender::info().name) {
        registry = registry.with_reference::<OmniscientSender>();
    }
    registry
}

/// Descriptions of Weir's reference senders. Scenarios can name them as controllers; they are not in the list of all controllers.
pub fn references() -> impl Iterator<Item = &'static ControllerInfo> {
    REFERENCES.references()
}

/// Whether the controller `name` is one of Weir's reference senders. A variant counts by the name of its controller, which need not be part of
/// the variant's name.
pub fn is_reference(name: &str) -> bool {
    references().any(|info| info.name == name)
}

/// A factory of TCP congestion control algorithms as those of [`window_algorithm`], for flows of many connections.
///
/// # Errors
/// An unknown name.
pub fn window_algorithms_of(
    name: &str,
    profile: TcpProfile,
    pacing: bool,
) -> Result<WindowAlgorithms, RegistryError> {
    Ok(WindowAlgorithms::new(name, weir_registry::window_algorithm_factory(name, profile, pacing)?))
}

/// The endpoints of a TCP stack, with segments of `mss` bytes, or of the profile's own size.
pub(crate) fn tcp_config(profile: TcpProfile, mss: Option<u16>) -> TcpConfig {
    let config = match profile {
        TcpProfile::Plain => TcpConfig::default(),
        TcpProfile::Rfc => TcpConfig::rfc(),
        TcpProfile::Linux316 => TcpConfig::linux_3_16(),
        TcpProfile::Linux6 => TcpConfig::linux_6(),
        TcpProfile::Ns326 => TcpConfig::ns3_26(mss.unwrap_or(536)),
        TcpProfile::Chromium2015 => TcpConfig { mss: 1148, ..TcpConfig::default() },
    };
    TcpConfig { mss: mss.unwrap_or(config.mss), ..config }
}

#[cfg(test)]
mod tests {
    use weir_cc::{DataRate, RateLimits};

    use super::*;

    #[test]
    fn reference_senders_can_be_built_and_are_in_no_list_of_controllers() {
        let registry = with_references(Registry::standard());
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(50), kbps(300), kbps(2000)).unwrap();
        for info in references() {
            let halves = registry.build(&info.name, None, limits, 1.0).unwrap();
            assert_eq!(halves.controller.target().media_rate, limits.start(), "{}", info.name);
            assert!(registry.controller_names().all(|controller| controller != info.name));
            assert!(registry.find(&info.name) == Ok(info) && is_reference(&info.name));
        }
        assert!(!is_reference("gcc"));
        assert_eq!(with_references(registry).references().count(), 2, "they are added once");
        assert_eq!(
            references().map(|info| info.marks).collect::<Vec<_>>(),
            [MarkResponse::None, MarkResponse::Scalable],
            "the omniscient sender shares the half of an L4S queue with the controllers that it is compared with"
        );
    }
}
