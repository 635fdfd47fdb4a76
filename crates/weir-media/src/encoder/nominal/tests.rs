//! The encoder of the papers, by its frame sizes.

use weir_units::DataRate;

use crate::encoder::*;

fn encoder(config: EncoderConfig) -> Encoder {
    Encoder::new(config, DataRate::from_kbps(300), 1)
}

#[test]
fn clean_frames_have_the_size_of_the_target_and_do_not_drift() {
    let mut e = encoder(EncoderConfig::papers());
    // 1.2 Mbit/s at 30 frames/s: 1.2e6 / 8 / 30 = 5000 bytes.
    for _ in 0..3000 {
        assert_eq!(e.capture(DataRate::from_kbps(1200)).size.bytes(), 5000);
    }
    assert_eq!(e.next_capture(), TimeDelta::from_secs(100));
}

#[test]
fn the_rate_stays_within_what_the_encoder_can_do() {
    let mut e = encoder(EncoderConfig::papers());
    // 50 kbit/s: 208.3 bytes; 2.5 Mbit/s: 10416.7 bytes.
    assert_eq!(e.capture(DataRate::from_kbps(1)).size.bytes(), 208);
    assert_eq!(e.capture(DataRate::from_kbps(9000)).size.bytes(), 10_417);
}

#[test]
fn a_slow_encoder_takes_over_a_target_every_half_second() {
    let config = EncoderConfig { reaction: TimeDelta::from_millis(500), ..EncoderConfig::papers() };
    let mut e = encoder(config);
    e.capture(DataRate::from_kbps(1200));
    let sizes: Vec<u64> = (1..=15).map(|_| e.capture(DataRate::from_kbps(600)).size.bytes()).collect();
    assert_eq!(&sizes[..14], [5000; 14]);
    assert_eq!(sizes[14], 2500, "frame 15 is captured at 0.5 s");
}

#[test]
fn key_frames_are_paid_back_within_a_second() {
    let config =
        EncoderConfig { key_frames: Some(KeyFrames { every: 300, size: 4.0 }), ..EncoderConfig::papers() };
    let mut e = encoder(config);
    let sizes: Vec<u64> = (0..31).map(|_| e.capture(DataRate::from_kbps(1200)).size.bytes()).collect();
    // Key frame 4 · 5000; the excess of 15 000 bytes is repaid as 500 bytes by each of the next 30.
    assert_eq!(sizes[0], 20_000);
    assert!(sizes[1..].iter().all(|&s| s == 4500));
    assert_eq!(e.capture(DataRate::from_kbps(1200)).size.bytes(), 5000);
}

#[test]
fn after_a_pause_the_clock_goes_on_and_the_first_frame_is_a_key_frame_at_the_new_target() {
    let config = EncoderConfig {
        reaction: TimeDelta::from_millis(500),
        key_frames: Some(KeyFrames { every: 300, size: 4.0 }),
        ..EncoderConfig::papers()
    };
    let mut e = encoder(config);
    for _ in 0..10 {
        e.capture(DataRate::from_kbps(1200));
    }
    e.resume(TimeDelta::from_millis(20_000));
    assert_eq!(e.next_capture(), TimeDelta::from_secs(20));
    let first = e.capture(DataRate::from_kbps(600));
    // 600 kbit/s: 2500 bytes, as a key frame four times that; the debt of the first one is gone.
    assert_eq!((first.number, first.key, first.size.bytes()), (10, true, 10_000));
    assert_eq!(e.next_capture(), TimeDelta::from_secs_f64(20.0 + 1.0 / 30.0));
    assert_eq!(e.capture(DataRate::from_kbps(600)).size.bytes(), 2250);
}

#[test]
fn noise_keeps_the_mean_and_has_the_configured_size() {
    let mut e = encoder(EncoderConfig { size_noise: 0.1, ..EncoderConfig::papers() });
    let n = 20_000;
    let sizes: Vec<f64> = (0..n).map(|_| e.capture(DataRate::from_kbps(1200)).size.bytes_f64()).collect();
    let mean = sizes.iter().sum::<f64>() / f64::from(n);
    let sd = (sizes.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / f64::from(n)).sqrt();
    assert!((mean - 5000.0).abs() < 15.0, "mean {mean}");
    assert!((sd - 493.0).abs() < 15.0, "standard deviation {sd}; 500 before the cut at 3 sigma");
}
