//! The two-state filter, the detector and the threshold against those of aiortc, an independent port of libwebrtc's.
//!
//! Both make up the same path in whole numbers (`tools/aiortc_kalman.py` recorded aiortc's results). aiortc's
//! constants are those of libwebrtc since August 2016; its threshold uses the arrival of the packet that completes
//! a sample, not that of the sample.

use super::bursts::{BurstConfig, Bursts, ReportedPacket};
use super::detector::{BandwidthUsage, DetectorConfig, OveruseDetector};
use super::noise::{Averaging, ByTime, NoiseConfig, Outliers};
use super::threshold::{AdaptiveThreshold, Threshold, gains};
use super::two_state::{TwoStateConfig, TwoStateKalman};
use crate::time::{ArrivalTime, SendTime};
use weir_units::{DataSize, TimeDelta};

const FRAMES: i64 = 1600;
/// 1/512 s in ns: exact as a send time of 2^-18 s and in ns.
const TICK: i64 = 1_953_125;
const TICKS_PER_FRAME: i64 = 16;
const MILLI: i64 = 1_000_000;

fn packets() -> Vec<ReportedPacket> {
    let (mut seed, mut free, mut newest) = (1_u32, 0, 0);
    let mut below = |n: i64| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        i64::from(seed >> 16) % n
    };
    let mut packets = Vec::new();
    for frame in 0..FRAMES {
        let capacity = if (300..350).contains(&(frame % 500)) { 90 } else { 125 };
        let count = 1 + below(4);
        let size = (2400 + below(1601)) / count;
        for n in 0..count {
            let departure = (TICKS_PER_FRAME * frame + n) * TICK;
            free = departure.max(free) + size * MILLI / capacity;
            newest = newest.max((free + 25 * MILLI + below(4 * MILLI)) / MILLI);
            packets.push(ReportedPacket {
                departure: SendTime::from_nanos(departure),
                arrival: ArrivalTime::from_millis(newest),
                size: DataSize::from_bytes(size as u64),
            });
        }
    }
    packets
}

fn filter() -> TwoStateKalman {
    TwoStateKalman::new(TwoStateConfig {
        initial_slope: 1.0 / 64.0,
        initial_error: [100.0, 0.1],
        state_noise: [1e-13, 1e-3],
        turning_noise: 10.0,
        noise: NoiseConfig {
            initial: 50.0,
            floor: 1.0,
            averaging: Averaging::ByTime(ByTime::LIBWEBRTC),
            outliers: Outliers::Clamp,
            about_mean: true,
        },
    })
}

fn threshold() -> Threshold {
    let (gain_up, gain_down) = gains::LIBWEBRTC_2025;
    Threshold::adaptive(AdaptiveThreshold {
        initial: 12.5,
        gain_up,
        gain_down,
        min: 6.0,
        max: 600.0,
        outlier: 15.0,
        max_gap: TimeDelta::from_millis(100),
    })
}

/// Offset, slope, noise variance, threshold and usage after each sample.
fn states() -> Vec<[f64; 5]> {
    let mut bursts = Bursts::new(BurstConfig::DRAFT_02);
    let (mut filter, mut threshold) = (filter(), threshold());
    let mut detector = OveruseDetector::new(DetectorConfig::DRAFT_02);
    let mut states = Vec::new();
    for packet in packets() {
        let Some(sample) = bursts.on_packet(&packet, SendTime::ZERO) else { continue };
        let m = filter.update(&sample, detector.usage());
        let number = states.len() + 1;
        if number >= 2 {
            let scaled = m * number.min(60) as f64;
            detector.update(m, scaled, threshold.gamma(), sample.inter_departure);
            threshold.update(scaled, packet.arrival);
        }
        let usage = match detector.usage() {
            BandwidthUsage::Under => -1.0,
            BandwidthUsage::Normal => 0.0,
            BandwidthUsage::Over => 1.0,
        };
        states.push([filter.estimate(), filter.slope(), filter.noise_variance(), threshold.gamma(), usage]);
    }
    states
}

#[test]
fn the_two_state_filter_and_the_detector_agree_with_aiortc() {
    let states = states();
    let mut compared = 0;
    for line in include_str!("aiortc_kalman.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut values = line.split(' ').map(|value| value.parse::<f64>().unwrap());
        let number = values.next().unwrap() as usize;
        let theirs: Vec<f64> = values.collect();
        for (ours, theirs) in states[number - 1].iter().zip(&theirs) {
            assert!(
                (ours - theirs).abs() < 1e-9 * theirs.abs().max(1.0),
                "sample {number}: {ours}, {theirs}"
            );
        }
        compared += 1;
    }
    assert_eq!(compared, states.len() / 8);
    for usage in [-1.0, 0.0, 1.0] {
        assert!(states.iter().filter(|state| state[4] == usage).count() >= 20, "{usage}");
    }
}
