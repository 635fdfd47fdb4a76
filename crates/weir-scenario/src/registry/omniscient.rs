//! The omniscient sender, by name.

use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{Controller, RateLimits, Receiver, TimeDelta};
use weir_registry::{
    ControllerInfo, ControllerKind, Half, MarkResponse, Options, Preset, RegistryError, config,
};

use crate::omniscient::{CAREFUL, CAUTIOUS, NAME, Omniscient, OperatingPoint, STEADY};

/// The interval of the receiver's reports, which the sender ignores.
const REPORTS: TimeDelta = TimeDelta::from_millis(50);

/// The point of these options.
///
/// # Errors
/// Unknown options, or one out of its range.
pub(crate) fn omniscient_point(options: Option<&Options>) -> Result<OperatingPoint, RegistryError> {
    let point = config::<OmniscientSender>(options, 1.0).and_then(OperatingPoint::checked);
    point.map_err(|reason| RegistryError::Options { name: NAME.to_owned(), reason })
}

pub(super) struct OmniscientSender;

impl ControllerKind for OmniscientSender {
    type Config = OperatingPoint;
    fn info() -> ControllerInfo {
        ControllerInfo {
            name: NAME.into(),
            summary: "sends its share of the network as it was one round trip ago, which no controller knows: about what is possible".into(),
            source: "a reference sender, no controller".into(),
            placement: "sender".into(),
            feedback: "ignored".into(),
            // Marks do not reach it. It shares the half of an L4S queue with the controllers that it is compared with.
            marks: MarkResponse::Scalable,
            ..ControllerInfo::default()
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        let preset = |name, summary, config| Preset { name, summary, config };
        vec![
            preset(CAUTIOUS, "with more room", OperatingPoint::cautious()),
            preset(CAREFUL, "with much room, for short queues", OperatingPoint::careful()),
            preset(STEADY, "so slow that an encoder can follow", OperatingPoint::steady()),
        ]
    }

    /// A run replaces it by a sender with a view of the network.
    fn sender(point: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(Omniscient::without_view(point.checked()?, limits)))
    }

    fn receiver(_: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(PacketFeedback::new(REPORTS)))
    }
}
