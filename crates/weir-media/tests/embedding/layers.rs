//! Encoders that share the target, and their layers.

use weir_cc::{DataRate, PathEvent, RateLimits, SendTime};
use weir_media::allocation::{EncoderStream, VideoLayer};
use weir_media::{
    EncoderDescription, Endpoint, EndpointConfig, EndpointError, EndpointEvent, LayerAllocation,
};

use super::rig::{at, gcc, limits};

fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

/// The allocations since the last call.
fn allocations(endpoint: &mut Endpoint<Vec<u8>>) -> Vec<LayerAllocation> {
    std::iter::from_fn(|| endpoint.poll_event())
        .filter_map(|event| match event {
            EndpointEvent::Allocation(allocation) => Some(allocation),
            _ => None,
        })
        .collect()
}

/// Bounds the rate of the endpoint's controller to exactly `rate`.
fn hold(endpoint: &mut Endpoint<Vec<u8>>, now: SendTime, rate: DataRate) {
    let limits = RateLimits::new(rate, rate, rate).unwrap();
    endpoint.on_event(now, PathEvent::Limits(limits)).unwrap();
}

#[test]
fn layers_of_a_camera_are_switched_beside_audio() {
    let mut endpoint = Endpoint::new(gcc(), EndpointConfig::new(limits()), 7);
    let audio = EncoderStream { is_min_enforced: true, ..EncoderStream::new(kbps(32), kbps(32)) };
    let audio = endpoint.add_encoder(at(0), EncoderDescription::single(audio)).unwrap();
    let layers = [(50, 150, 200), (200, 500, 700), (600, 1500, 2500)]
        .map(|(min, target, max)| VideoLayer::new(kbps(min), kbps(target), kbps(max)));
    let camera = endpoint.add_encoder(at(0), EncoderDescription::simulcast(layers.to_vec())).unwrap();
    // 1000 less 32 of audio: 150 and 700, of which the third layer would need 150 + 500 + 1.2 * 600 = 1370.
    let first = allocations(&mut endpoint);
    assert_eq!((first[0].encoder, first[0].rate), (audio, kbps(32)));
    let video = first.last().unwrap();
    assert_eq!((video.encoder, video.rate), (camera, kbps(968)));
    let rates = |allocation: &LayerAllocation| {
        let layers = allocation.layers.unwrap();
        [0, 1, 2].map(|layer| layers.rate(layer).map_or(0, |rate| rate.bps() / 1000))
    };
    assert_eq!(rates(video), [150, 700, 0]);
    hold(&mut endpoint, at(10), kbps(1401));
    assert_eq!(rates(allocations(&mut endpoint).last().unwrap()), [150, 700, 0]);
    hold(&mut endpoint, at(20), kbps(1402));
    assert_eq!(rates(allocations(&mut endpoint).last().unwrap()), [150, 500, 720]);
    // Without hysteresis on the way down: 150 + 500 + 600.
    hold(&mut endpoint, at(30), kbps(1282));
    assert_eq!(rates(allocations(&mut endpoint).last().unwrap()), [150, 500, 600]);
    hold(&mut endpoint, at(40), kbps(1281));
    assert_eq!(rates(allocations(&mut endpoint).last().unwrap()), [150, 700, 0]);
    hold(&mut endpoint, at(50), kbps(60));
    let paused = allocations(&mut endpoint);
    assert_eq!((paused.last().unwrap().rate, paused.last().unwrap().layers), (DataRate::ZERO, None));
    // A paused stream needs its least rate and 20 kbit/s.
    let one = EncoderDescription::single(EncoderStream::new(kbps(5), kbps(1000)));
    endpoint.replace_encoder(at(60), camera, one.clone()).unwrap();
    assert_eq!(allocations(&mut endpoint).last().unwrap().rate, kbps(28));
    let mut other = Endpoint::<Vec<u8>>::new(gcc(), EndpointConfig::new(limits()), 7);
    assert_eq!(other.replace_encoder(at(0), camera, one), Err(EndpointError::UnknownEncoder));
}
