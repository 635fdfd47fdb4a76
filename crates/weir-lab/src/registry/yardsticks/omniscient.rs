//! The omniscient sender, by name.

use toml::Table;
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{Controller, RateLimits, Receiver, TimeDelta};

use crate::omniscient::{CAREFUL, CAUTIOUS, NAME, Omniscient, Point, STEADY};
use crate::registry::law::{Half, Law, Preset, config};
use crate::registry::{ControllerInfo, MarkResponse, RegistryError};

/// How often the receiver tells of packets, which nobody heeds.
const REPORTS: TimeDelta = TimeDelta::from_millis(50);

/// The point that these options make.
///
/// # Errors
/// Unknown options, or one out of its range.
pub(crate) fn omniscient_point(options: Option<&Table>) -> Result<Point, RegistryError> {
    let point = config::<OmniscientSender>(options, 1.0).and_then(Point::checked);
    point.map_err(|reason| RegistryError::Options { name: NAME, reason })
}

pub(super) struct OmniscientSender;

impl Law for OmniscientSender {
    type Config = Point;
    /// It hears no marks, but it is what laws are held against in either half of an L4S queue: it goes where they go that a
    /// mark each round trip slows down.
    const MARKS: MarkResponse = MarkResponse::Scalable;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: NAME,
            summary: "sends its share of the network as it was one round trip ago, which no controller knows: about what is possible",
            source: "a yardstick, no law",
            placement: "sender",
            feedback: "heeded by nobody",
            presets: Vec::new(),
        }
    }

    fn presets() -> Vec<Preset<Self::Config>> {
        let preset = |name, summary, config| Preset { name, summary, config };
        vec![
            preset(CAUTIOUS, "with more room", Point::cautious()),
            preset(CAREFUL, "with much room, for short queues", Point::careful()),
            preset(STEADY, "so slow that an encoder can follow", Point::steady()),
        ]
    }

    /// A run puts one that sees in its place.
    fn sender(point: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(Omniscient::blind(point.checked()?, limits)))
    }

    fn receiver(_: Self::Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(PacketFeedback::new(REPORTS)))
    }
}
