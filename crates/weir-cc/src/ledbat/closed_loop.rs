//! LEDBAT over a bottleneck.

use weir_units::{DataRate, TimeDelta};

use super::{Config, Ledbat, receiver};
use crate::testing::{Loop, PacketSource, usual_limits as limits};

const CAPACITY: DataRate = DataRate::from_mbps(1);

fn path(config: Config, source: PacketSource, capacity: DataRate) -> Loop {
    let controller = Ledbat::new(config, limits()).unwrap();
    Loop::new(controller, receiver(&config).unwrap(), source, capacity)
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

#[test]
fn alone_it_takes_the_link_and_keeps_the_queue_at_the_target() {
    for (config, target) in [
        (Config::default(), 100.0),
        (Config::dccc_2017(), 100.0),
        (Config::with_target(TimeDelta::from_millis(60)), 60.0),
        (Config::with_target(TimeDelta::from_millis(25)), 25.0),
    ] {
        let mut path = path(config, PacketSource::STEADY, CAPACITY);
        let seen = path
            .run(TimeDelta::from_secs(60), |path| (path.target_rate(), path.queuing_delay().millis_f64()));
        let rate = mean(seen[40_000..].iter().map(|seen| seen.0)) / CAPACITY.bps_f64();
        let queue = mean(seen[40_000..].iter().map(|seen| seen.1));
        // Whole packets leave up to one of them of the window empty: 9600 bits per 75 to 150 ms.
        assert!((0.95..1.13).contains(&rate), "{rate} of the capacity at {target} ms");
        // A packet of 1200 bytes takes 9.6 ms; the smallest of four samples is kept at the target.
        assert!((queue - target).abs() < 15.0, "{queue} ms, not {target}");
    }
}

#[test]
fn a_video_takes_the_link_too() {
    let mut path = path(Config::default(), PacketSource::VIDEO, CAPACITY);
    let rates = path.run(TimeDelta::from_secs(60), Loop::target_rate);
    let rate = mean(rates[40_000..].iter().copied()) / CAPACITY.bps_f64();
    assert!((0.85..1.13).contains(&rate), "{rate} of the capacity");
}

#[test]
fn an_empty_path_opens_the_window_by_its_gain() {
    let config = Config::dccc_2017();
    let mut path = path(config, PacketSource::STEADY, DataRate::from_mbps(100));
    path.run(TimeDelta::from_millis(500), |_| ());
    let before = path.sender_signal("cwnd");
    path.run(TimeDelta::from_millis(500), |_| ());
    let opened = path.sender_signal("cwnd") - before;
    // Half a packet of 1094 bytes per round trip of 50 ms, less the wait for feedback: 10 · 547 = 5470 bytes.
    assert!((4000.0..5600.0).contains(&opened), "{opened} bytes");
}

#[test]
fn after_five_seconds_without_feedback_the_rate_is_low_and_comes_back() {
    let mut path = path(Config::default(), PacketSource::STEADY, CAPACITY);
    path.run(TimeDelta::from_secs(20), |_| ());
    let before = path.target_rate();
    path.feedback_cut = true;
    path.run(TimeDelta::from_secs(5), |_| ());
    assert!(path.target_rate() < before / 4.0, "{} of {before} bit/s", path.target_rate());
    path.feedback_cut = false;
    path.run(TimeDelta::from_secs(20), |_| ());
    assert!(path.target_rate() > 0.85 * before, "{} of {before} bit/s", path.target_rate());
}

#[test]
fn after_a_capacity_drop_the_queue_comes_back_to_the_target() {
    let mut path = path(Config::default(), PacketSource::STEADY, DataRate::from_kbps(2000));
    path.run(TimeDelta::from_secs(20), |_| ());
    path.set_capacity(DataRate::from_kbps(600));
    let seen =
        path.run(TimeDelta::from_secs(30), |path| (path.target_rate(), path.queuing_delay().millis_f64()));
    let above = seen.iter().rposition(|seen| seen.0 > 1.2 * 600e3).unwrap_or(0);
    assert!(above < 3000, "above 1.2 × capacity until {above} ms");
    let queue = mean(seen[20_000..].iter().map(|seen| seen.1));
    assert!((80.0..130.0).contains(&queue), "{queue} ms");
}
