//! The traffic of a flow, and its controller.

use weir_cc::Ecn;
use weir_media::{CountedBytes, MediaConfig};
use weir_world::{MediaSpec, Traffic};

use crate::registry::{self, MarkResponse, Registry, RegistryError, TcpProfile};
use crate::scenario::{
    AudioStream, EcnField, Flow, FlowTraffic, Media, OnOrOff, Scenario, SenderChoice, Tcp,
};

/// The traffic of `flow` of `scenario`, with a controller of its own, which gives it this weight.
pub(super) fn traffic(scenario: &Scenario, flow: &Flow, weight: f64) -> Result<Traffic, RegistryError> {
    match &flow.carried {
        FlowTraffic::Media(media) => media_traffic(scenario, media, weight),
        FlowTraffic::Constant(constant) => Ok(Traffic::Unresponsive(constant.source())),
        FlowTraffic::Audio(audio) => Ok(Traffic::Unresponsive(audio.source())),
        FlowTraffic::Tcp(tcp) => tcp_traffic(tcp),
        FlowTraffic::Web(web) => {
            let config = web.config();
            let algorithms = registry::window_algorithms_of(&web.algorithm, web.profile, config.pacing)?;
            Ok(Traffic::Web { algorithms, config, web: web.traffic() })
        }
    }
}

/// Whether a congestion window controls the traffic.
pub(super) fn has_window(registry: &Registry, carried: &FlowTraffic) -> bool {
    match carried {
        FlowTraffic::Tcp(_) => true,
        FlowTraffic::Media(media) => registry.has_window(&media.controller),
        FlowTraffic::Constant(_) | FlowTraffic::Audio(_) | FlowTraffic::Web(_) => false,
    }
}

fn media_traffic(scenario: &Scenario, media: &Media, weight: f64) -> Result<Traffic, RegistryError> {
    let registry = &scenario.registry;
    let limits = media.limits()?;
    let options = media.options.as_ref().map(|options| &options.0);
    let halves = registry.build(&media.controller, options, limits, weight)?;
    let config = MediaConfig {
        packet_format: halves.packet_format,
        leave_out: None,
        breakers: scenario.breakers,
        chromium: media.sender.map(SenderChoice::config),
        climb: media.climb.unwrap_or(true),
        counted: media.sender.map_or(CountedBytes::Payload, SenderChoice::counted),
        audio: media.audio.map(AudioStream::config),
        key_frame_requests: media.key_frame_requests,
        payload_limit: u16::try_from(media.payload_limit.bytes()).unwrap_or(u16::MAX),
        rtcp_interval: media.rtcp_interval,
        ecn: ecn(registry, media),
        ..MediaConfig::new(limits, media.encoder.config())
    };
    Ok(Traffic::Media(MediaSpec::new(halves.controller, halves.receiver, config)))
}

/// The ECN field of its packets.
fn ecn(registry: &Registry, media: &Media) -> Ecn {
    match (media.ecn, registry.mark_response(&media.controller)) {
        (EcnField::Ect1, _) | (EcnField::ByController, MarkResponse::Scalable) => Ecn::Ect1,
        (EcnField::Ect0, _) | (EcnField::ByController, MarkResponse::Classic) => Ecn::Ect0,
        (EcnField::NotEct, _) | (EcnField::ByController, MarkResponse::None) => Ecn::NotEct,
    }
}

fn tcp_traffic(tcp: &Tcp) -> Result<Traffic, RegistryError> {
    let (config, size) = (tcp.config(), tcp.size);
    if tcp.profile == TcpProfile::Chromium2015 {
        return Ok(Traffic::ChromiumTcp { config, size });
    }
    let Some(downloads) = &tcp.downloads else {
        let algorithm = registry::window_algorithm(tcp.algorithm(), tcp.profile, config.pacing)?;
        return Ok(Traffic::Tcp { name: tcp.algorithm().to_owned(), algorithm, config, size });
    };
    let downloads = weir_world::DownloadTraffic {
        smallest: downloads.size.min,
        largest: downloads.size.max,
        idle: downloads.idle,
        begins_idle: downloads.begin == OnOrOff::Off,
    };
    let algorithms = registry::window_algorithms_of(tcp.algorithm(), tcp.profile, config.pacing)?;
    Ok(Traffic::Downloads { algorithms, config, downloads })
}
