//! Channel access: backoffs, the air, and the next link of a transmitter.

use weir_net::QueueConfig;
use weir_units::{DataSize, TimeDelta};

use super::*;

fn send(cell: &mut WifiCell<Numbered>, now: Time, link: usize, number: u64) {
    cell.enqueue(now, link, Numbered { number, size: 1500 }).unwrap();
}

/// When a second transmitter's packet is through, in µs, that comes so many µs after the start, for each seed.
fn second_through(comes: u64) -> Vec<u64> {
    let through = |seed| {
        let mut cell = WifiCell::new(&WifiConfig::default(), &[link(0), link(1)], seed).unwrap();
        send(&mut cell, Time::ZERO, 0, 1);
        let first = drain(&mut cell, micros(comes));
        send(&mut cell, micros(comes), 1, 2);
        let out = drain(&mut cell, micros(10_000));
        assert_eq!(first.len() + out.len(), 2);
        out.last().unwrap().0.nanos() / 1000
    };
    (0..100).map(through).collect()
}

#[test]
fn the_air_is_busy_until_the_acknowledgement_is_over() {
    // The first leaves the air at 323 µs and is acknowledged at 367. A transmitter that comes before draws up to
    // 15 slots; one that comes then transmits in the first slot, after 43 µs.
    for busy in [323, 340, 366] {
        let through = second_through(busy);
        let slots = through.iter().map(|at| (at - (367 + 43 + 280)) / 9);
        assert_eq!((slots.clone().min(), slots.max()), (Some(0), Some(15)), "{busy}");
    }
    assert!(second_through(367).iter().all(|at| *at == 367 + 43 + 280));
}

#[test]
fn a_station_resumes_its_backoff_where_it_stopped() {
    // The transmitter draws again after its packet at 367 µs, and counts although it has nothing to send: a packet that comes 16
    // slots later finds it ready, whatever it has drawn.
    for seed in 0..50 {
        let mut cell = WifiCell::new(&WifiConfig::default(), &[link(0)], seed).unwrap();
        send(&mut cell, Time::ZERO, 0, 1);
        assert_eq!(drain(&mut cell, micros(1000)).len(), 1);
        let slot = 367 + 43 + 16 * 9;
        send(&mut cell, micros(slot), 0, 2);
        assert_eq!(drain(&mut cell, micros(10_000))[0].0, micros(slot + 280), "seed {seed}");
    }
    // One that comes at once waits for what was drawn.
    let starts = (0..100).map(|seed| {
        let mut cell = WifiCell::new(&WifiConfig::default(), &[link(0)], seed).unwrap();
        send(&mut cell, Time::ZERO, 0, 1);
        assert_eq!(drain(&mut cell, micros(367)).len(), 1);
        send(&mut cell, micros(367), 0, 2);
        (drain(&mut cell, micros(10_000))[0].0 - micros(367 + 43 + 280)).nanos() / 9000
    });
    let starts: Vec<i64> = starts.collect();
    assert_eq!((starts.iter().min(), starts.iter().max()), (Some(&0), Some(&15)));
}

#[test]
fn links_of_one_transmitter_take_turns() {
    let mut cell = cell(&WifiConfig::default(), &[link(0), link(0), link(0)]);
    for number in 0..4 {
        (0..3).for_each(|link| send(&mut cell, Time::ZERO, link, number));
    }
    let order: Vec<usize> = drain(&mut cell, micros(20_000)).iter().map(|(_, link, _)| *link).collect();
    assert_eq!(order, [0, 1, 2].repeat(4));
}

#[test]
fn arrived_packets_stay_until_they_are_taken() {
    let config = WifiConfig { frames: 16, ..WifiConfig::default() };
    let mut cell = cell(&config, &[link(0), link(1)]);
    send(&mut cell, Time::ZERO, 0, 1);
    send(&mut cell, Time::ZERO, 0, 2);
    assert!(!cell.is_empty());
    while cell.pop(cell.next_wake().unwrap()).is_none() {}
    // Both came in one aggregate; the second one can be taken at the same time.
    assert!(!cell.is_empty());
    assert_eq!((cell.len(0), cell.len(1)), (1, 0));
    let wake = cell.next_wake().unwrap();
    assert_eq!(cell.pop(wake).unwrap().1.packet.number, 2);
    assert!(cell.is_empty() && cell.next_wake().is_none());
}

#[test]
fn exactly_at_the_limit_of_bytes_a_packet_is_taken() {
    let with_queue_of = |bytes| WifiLink {
        queue: QueueConfig { limit_bytes: Some(DataSize::from_bytes(bytes)), ..QueueConfig::default() },
        ..link(0)
    };
    let taken = |bytes| {
        let mut cell = cell(&WifiConfig::default(), &[with_queue_of(bytes)]);
        let offer = |number| cell.enqueue(Time::ZERO, 0, Numbered { number, size: 1500 }).is_ok();
        (0..4).map(offer).filter(|taken| *taken).count()
    };
    assert_eq!([2999, 3000, 4499, 4500].map(taken), [1, 2, 2, 3]);
}

#[test]
fn a_lifetime_is_over_only_after_it() {
    // The first begins at 43 µs; the second may not before 367 + 43 µs.
    let arrived = |lifetime: i64| {
        let queue =
            QueueConfig { limit_time: Some(TimeDelta::from_micros(lifetime)), ..QueueConfig::default() };
        let mut cell = cell(&WifiConfig::default(), &[WifiLink { queue, ..link(0) }]);
        (0..2).for_each(|number| send(&mut cell, Time::ZERO, 0, number));
        let out = drain(&mut cell, micros(10_000));
        out.iter().filter(|(.., exit)| exit.fate == Fate::Arrived).count()
    };
    assert_eq!([42, 43, 409, 10_000].map(arrived), [0, 1, 1, 2]);
}

#[test]
fn numbers_of_slots_and_retries_have_a_largest_value() {
    let good = WifiConfig::default();
    let most = WifiConfig { retries: 32_767, aifsn: 32_767, cw_min: 32_767, cw_max: 32_767, ..good };
    assert_eq!(most.validate(), Ok(()));
    let wrong = [
        WifiConfig { retries: 32_768, ..good },
        WifiConfig { aifsn: 32_768, ..good },
        WifiConfig { cw_max: 32_768, ..good },
    ];
    assert!(wrong.iter().all(|config| config.validate().is_err()));
    assert!(WifiConfig { frames: 64, aifsn: 1, cw_min: 1023, ..good }.validate().is_ok());
}
