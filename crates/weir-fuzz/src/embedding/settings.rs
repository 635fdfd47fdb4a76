//! Arguments of an endpoint's calls, from bytes.

use weir_cc::{Controller, RateLimits, SendTime};
use weir_media::allocation::{EncoderStream, LayerCoding, VideoLayer};
use weir_media::{
    EncoderDescription, EndpointConfig, PacketFormat, PacketMeta, PacketNumbering, StreamConfig,
};
use weir_registry::Registry;
use weir_units::{DataRate, TimeDelta};

use crate::input::Input;

/// Most packets that wait.
const MOST_WAITING: usize = 200;

/// Bounds of every endpoint's rate.
pub(super) fn limits() -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(50), kbps(300), kbps(5000)).expect("in order")
}

/// Any controller that takes per-packet feedback.
pub(super) fn controller(input: &mut Input<'_>) -> Box<dyn Controller> {
    let registry = Registry::standard();
    let names: Vec<&str> =
        registry.controller_names().filter_map(|name| registry.by_packets(name).ok()).collect();
    registry.build_by_packets(input.one_of(&names), None, limits(), 1.0).expect("by packets")
}

/// The configuration of an endpoint that numbers its packets so.
pub(super) fn config(
    numbering: PacketNumbering,
    format: PacketFormat,
    input: &mut Input<'_>,
) -> EndpointConfig {
    EndpointConfig {
        numbering,
        packet_format: format,
        remb: input.flag(),
        climb: input.flag(),
        breakers: input.flag(),
        leave_out: input.flag().then(|| 2 + u32::from(input.byte())),
        most_packets: MOST_WAITING,
        ..EndpointConfig::new(limits())
    }
}

/// Streams of all kinds, with source identifiers from `first` on.
pub(super) fn streams(first: u32, input: &mut Input<'_>) -> Vec<StreamConfig> {
    let all = [
        StreamConfig::video(first, 96).with_retransmissions(first + 1, 97),
        StreamConfig::audio(first + 2, 111),
        StreamConfig::video(first + 3, 98),
        StreamConfig::data(first + 4, 99),
    ];
    all[..usize::from(input.byte() % 5)].to_vec()
}

/// A packet that may expire.
pub(super) fn meta(now: SendTime, input: &mut Input<'_>) -> PacketMeta {
    let wait = TimeDelta::from_millis(i64::from(input.byte()));
    let expires = if input.flag() { SendTime::MAX } else { now + wait };
    PacketMeta { expires, ..PacketMeta::new(input.u32(), input.flag()) }
}

/// An encoder of one layer, or with up to six.
pub(super) fn encoder(input: &mut Input<'_>) -> EncoderDescription {
    if input.flag() {
        return EncoderDescription::single(EncoderStream::new(input.rate(), input.rate()));
    }
    let mut layer = |_| {
        let mut bounds = [(); 3].map(|()| DataRate::from_bps(input.below(3_000_000) + 1));
        bounds.sort_unstable();
        let [min, target, max] = bounds;
        VideoLayer { is_active: !input.seldom(8), ..VideoLayer::new(min, target, max) }
    };
    let layers = (0..6).map(&mut layer).collect::<Vec<_>>();
    let layers = layers[..usize::from(input.byte() % 7)].to_vec();
    let coding = if input.flag() { LayerCoding::Simulcast } else { LayerCoding::Svc };
    EncoderDescription { coding, ..EncoderDescription::simulcast(layers) }
}
