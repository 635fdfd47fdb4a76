//! Single packets: when they arrive, what is lost, dropped and held back.

use weir_net::{DropReason, LossModel, QueueConfig};
use weir_units::{DataSize, TimeDelta};

use super::*;

fn send(cell: &mut WifiCell<Numbered>, now: Time, link: usize, number: u64) -> Result<(), Dropped<Numbered>> {
    cell.enqueue(now, link, Numbered { number, size: 1500 })
}

fn with_queue(queue: QueueConfig) -> WifiLink {
    WifiLink { queue, ..link(0) }
}

#[test]
fn a_packet_that_meets_idle_air_goes_in_the_next_slot() {
    // Slots begin 43 µs after the start, every 9 µs: at 97 µs the seventh. 280 µs of transmission, 230.77 of them bits.
    let mut cell = cell(&WifiConfig::default(), &[link(0)]);
    send(&mut cell, micros(95), 0, 1).unwrap();
    let out = drain(&mut cell, micros(10_000));
    assert_eq!(out.len(), 1);
    let (at, _, exit) = out[0];
    assert_eq!((at, exit.fate), (micros(97 + 280), Fate::Arrived));
    assert_eq!(exit.wait, TimeDelta::from_nanos(282_000 - 230_769));
    assert!(cell.is_empty() && cell.next_wake().is_none());
}

#[test]
fn a_packet_that_comes_on_a_busy_channel_draws_a_backoff() {
    // The first leaves the air at 323 µs and is acknowledged at 367; the second draws up to 15 slots after 43 µs more.
    let mut starts = Vec::new();
    for seed in 0..200 {
        let mut cell = WifiCell::new(&WifiConfig::default(), &[link(0), link(1)], seed).unwrap();
        send(&mut cell, Time::ZERO, 0, 1).unwrap();
        assert!(cell.pop(micros(100)).is_none());
        send(&mut cell, micros(100), 1, 2).unwrap();
        let out = drain(&mut cell, micros(10_000));
        assert_eq!(out[0].0, micros(323));
        starts.push((out[1].0 - micros(367 + 43 + 280)).nanos() / 9000);
    }
    assert_eq!((starts.iter().min(), starts.iter().max()), (Some(&0), Some(&15)));
    assert_within(starts.iter().sum::<i64>() as f64 / 200.0, 7.5, 0.1);
}

#[test]
fn two_that_begin_in_the_same_slot_collide_and_try_again() {
    let mut cell = cell(&WifiConfig::default(), &[link(0), link(1)]);
    send(&mut cell, Time::ZERO, 0, 1).unwrap();
    send(&mut cell, Time::ZERO, 1, 2).unwrap();
    let out = drain(&mut cell, micros(20_000));
    assert!(out.iter().all(|(_, _, exit)| exit.fate == Fate::Arrived));
    // Not the exchange at 43 µs: the next one begins after 367 + 43 µs at the earliest.
    assert!(out.len() == 2 && out[0].0 >= micros(410 + 280), "{out:?}");
}

#[test]
fn lost_frames_are_sent_again_and_given_up_at_last() {
    // Three in ten attempts fail: with 2 retries 0.3³ = 2.7 % are given up.
    let config = WifiConfig { retries: 2, ..WifiConfig::default() };
    let lossy = WifiLink { loss: LossModel::Bernoulli(0.3), ..link(0) };
    let carried = saturated(&mut cell(&config, &[lossy]), &[1500], 60);
    let all = carried[0].arrived + carried[0].lost;
    assert_within(carried[0].lost as f64 / all as f64, 0.027, 0.05);
    // Attempts per packet: 1 + 0.3 + 0.09 = 1.39, with windows of 15, 31 and 63 slots: 67.5, 139.5 and 283.5 µs before
    // the first, second and third. 1.39 · 367 + 67.5 + 0.3 · 139.5 + 0.09 · 283.5 = 645.0 µs.
    assert_within(60e6 / all as f64, 645.0, 0.01);
}

#[test]
fn every_attempt_in_vain_ends_after_the_last_retry() {
    let config = WifiConfig { retries: 4, ..WifiConfig::default() };
    let dead = WifiLink { loss: LossModel::Bernoulli(1.0), ..link(0) };
    let mut cell = cell(&config, &[dead]);
    send(&mut cell, Time::ZERO, 0, 1).unwrap();
    let mut wakes = 0;
    let mut exits = Vec::new();
    while let Some(now) = cell.next_wake() {
        wakes += 1;
        exits.extend(cell.pop(now));
    }
    // Five attempts of a beginning and an end, the last of which yields the packet.
    assert_eq!((wakes, exits.len(), exits[0].1.fate), (10, 1, Fate::Lost));
}

#[test]
fn the_receiver_hands_over_in_order_what_arrives_in_disorder() {
    let config = WifiConfig { frames: 16, ..WifiConfig::default() };
    let lossy = WifiLink { loss: LossModel::Bernoulli(0.2), ..link(0) };
    let mut cell = cell(&config, &[lossy]);
    (0..500).for_each(|number| send(&mut cell, Time::ZERO, 0, number).unwrap());
    let out = drain(&mut cell, micros(10_000_000));
    let numbers: Vec<u64> = out.iter().map(|(_, _, exit)| exit.packet.number).collect();
    assert_eq!(numbers, (0..500).collect::<Vec<_>>());
    assert!(out.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    // Some were held back: a transmission brings more than its 16 frames at once.
    let most = out.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max();
    assert!(most > Some(16), "{most:?}");
}

#[test]
fn a_full_queue_drops_at_its_tail() {
    let by_packets = with_queue(QueueConfig { limit_packets: Some(3), ..QueueConfig::default() });
    let by_bytes = WifiLink {
        transmitter: 1,
        ..with_queue(QueueConfig { limit_bytes: Some(DataSize::from_bytes(3100)), ..QueueConfig::default() })
    };
    let mut cell = cell(&WifiConfig::default(), &[by_packets, by_bytes]);
    let mut reasons = |link| -> Vec<_> {
        (0..4).map(|number| send(&mut cell, Time::ZERO, link, number).err().map(|d| d.reason)).collect()
    };
    assert_eq!(reasons(0), [None, None, None, Some(DropReason::QueuePackets)]);
    assert_eq!(reasons(1), [None, None, Some(DropReason::QueueBytes), Some(DropReason::QueueBytes)]);
    assert_eq!((cell.len(0), cell.len(1)), (3, 2));
}

#[test]
fn a_packet_past_its_lifetime_is_dropped_at_its_turn() {
    let lifetime = TimeDelta::from_millis(5);
    let mut cell = cell(
        &WifiConfig::default(),
        &[with_queue(QueueConfig { limit_time: Some(lifetime), ..QueueConfig::default() })],
    );
    (0..100).for_each(|number| send(&mut cell, Time::ZERO, 0, number).unwrap());
    let out = drain(&mut cell, micros(1_000_000));
    let (arrived, dropped): (Vec<&Left>, Vec<&Left>) =
        out.iter().partition(|(_, _, exit)| exit.fate == Fate::Arrived);
    // About 434.5 µs each: 12 begin within 5 ms.
    assert!((9..=15).contains(&arrived.len()) && arrived.len() + dropped.len() == 100, "{}", arrived.len());
    assert!(arrived.iter().all(|(at, ..)| *at <= micros(5280)));
    assert!(
        dropped
            .iter()
            .all(|(.., exit)| exit.fate == Fate::Dropped(DropReason::QueueTime) && exit.wait > lifetime)
    );
    assert!(cell.is_empty() && cell.next_wake().is_none());
}

#[test]
fn an_impossible_cell_is_refused() {
    let good = WifiConfig::default();
    let refused = |config: WifiConfig, link: WifiLink| {
        WifiCell::<Numbered>::new(&config, &[link], 1).map(|_| ()).map_err(|error| error.to_string())
    };
    let cases = [
        (
            refused(WifiConfig { frames: 65, ..good }, link(0)),
            "the number of frames in a transmission must be from 1 to 64",
        ),
        (
            refused(WifiConfig { frames: 0, ..good }, link(0)),
            "the number of frames in a transmission must be from 1 to 64",
        ),
        (
            refused(WifiConfig { longest: TimeDelta::ZERO, ..good }, link(0)),
            "the longest transmission must be longer than 0 s",
        ),
        (refused(WifiConfig { aifsn: 0, ..good }, link(0)), "the AIFSN must be from 1 to 32767"),
        (
            refused(WifiConfig { cw_min: 1024, ..good }, link(0)),
            "the least contention window must be at most the largest one",
        ),
        (refused(good, WifiLink::new(0, DataRate::ZERO)), "the PHY rate must be above 0"),
        (refused(good, link(1)), "the transmitter must be below the number of links"),
        (
            refused(
                good,
                with_queue(QueueConfig { mark_above: Some(TimeDelta::ZERO), ..QueueConfig::default() }),
            ),
            "the marking threshold must be left out in a cell",
        ),
        (
            refused(good, WifiLink { loss: LossModel::Bernoulli(2.0), ..link(0) }),
            "the loss probability must lie between 0 and 1",
        ),
    ];
    for (result, message) in cases {
        assert_eq!(result, Err(message.to_owned()));
    }
}
