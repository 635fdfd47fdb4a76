//! Flows of fuzzed sessions.

use weir_cc::{DataRate, RateLimits};
use weir_media::{EncoderConfig, MediaConfig};
use weir_peer::end::EndConfig;
use weir_peer::hosts::{PlannedFlow, SendPlan};
use weir_peer::keys::KeyRing;
use weir_peer::offer::{OfferedFlow, OfferedMedia, ReceiveCeilings, SessionTerms};
use weir_registry::Registry;
use weir_units::TimeDelta;
use weir_world::{FlowSpec, MediaSpec, Traffic};

use crate::input::Input;

fn media(input: &mut Input<'_>) -> OfferedMedia {
    let names = ["gcc", "nada", "scream-v2", "tfrc", "gcc-2016"];
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(1500)).expect("in order");
    let config = MediaConfig::new(limits, EncoderConfig::papers());
    OfferedMedia { controller: input.one_of(&names).to_owned(), options: String::new(), limits, config }
}

fn plan(input: &mut Input<'_>) -> SendPlan {
    let registry = Registry::standard();
    let offered = media(input);
    let OfferedMedia { controller, limits, config, .. } = &offered;
    let packet_format = registry.packet_format(controller).unwrap_or_default();
    let config = MediaConfig { packet_format, ..*config };
    let sender = registry.build_sender(controller, None, *limits, 1.0).expect("a controller");
    let media = MediaSpec { sender: Some(sender), receiver: None, config };
    let spec = FlowSpec::new("flow", Traffic::Media(media));
    let flows = vec![PlannedFlow { spec, offered: OfferedFlow::Media(Box::new(offered)) }];
    SendPlan { flows, couplings: Vec::new(), seed: 1 }
}

/// The configuration of an end that sends, receives, or both.
pub(super) fn config(input: &mut Input<'_>, keys: KeyRing) -> EndConfig {
    let sends = input.flag();
    EndConfig {
        keys,
        registry: Registry::standard(),
        plan: sends.then(|| plan(input)),
        receives: !sends || input.flag(),
        ceilings: ReceiveCeilings { unresponsive: input.flag(), ..ReceiveCeilings::default() },
        duration: Some(TimeDelta::from_secs(60)),
        bytes: None,
        record: input.flag(),
    }
}

/// Terms of a peer that receives, and sends to an end that receives.
pub(super) fn terms(input: &mut Input<'_>, end_receives: bool) -> SessionTerms {
    let flows = if end_receives { vec![OfferedFlow::Media(Box::new(media(input)))] } else { Vec::new() };
    SessionTerms { flows, receives: true, ceilings: ReceiveCeilings::default() }
}
