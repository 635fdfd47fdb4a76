//! Jitter and loss as a link applies them.

use weir_net::{ConfigError, Fate, Jitter, Link, LinkConfig, LossModel, Time};
use weir_units::{DataRate, TimeDelta};

use super::{at, constant, drain, ms, packet};

const HALF_NORMAL: Jitter =
    Jitter::HalfNormal { sd: TimeDelta::from_millis(5), max: TimeDelta::from_millis(15) };

/// 125 bytes take 1 ms at 1 Mbit/s.
fn config(jitter: Jitter, loss: f64) -> LinkConfig {
    LinkConfig {
        jitter,
        loss: LossModel::Bernoulli(loss),
        ..LinkConfig::new(constant(DataRate::from_mbps(1)), ms(20))
    }
}

/// Delays beyond 1 ms of serialisation and 20 ms of propagation, for packets `gap` ms apart.
fn extra_delays(jitter: Jitter, gap: u64, count: u64) -> Vec<(Time, TimeDelta)> {
    let mut link = Link::new(&config(jitter, 0.0), 11).unwrap();
    let mut extras = Vec::new();
    for number in 0..count {
        link.enqueue(at(gap * number), packet(number, 125)).unwrap();
    }
    for (number, (due, exit)) in drain(&mut link).into_iter().enumerate() {
        assert_eq!(exit.packet.number, number as u64);
        extras.push((due, due - at(gap * number as u64 + 21)));
    }
    extras
}

fn mean_ms(extras: &[(Time, TimeDelta)]) -> f64 {
    extras.iter().map(|(_, extra)| extra.millis_f64()).sum::<f64>() / extras.len() as f64
}

#[test]
fn packets_far_apart_get_the_jitter_as_it_is_drawn() {
    // Mean of min(|N(0, 5²)|, 15) in ms: 3.9856; standard error for 200 000 packets 0.007.
    let extras = extra_delays(HALF_NORMAL, 100, 200_000);
    assert!((mean_ms(&extras) - 3.9856).abs() < 0.03, "{}", mean_ms(&extras));
    assert_eq!(extras.iter().map(|&(_, extra)| extra).max(), Some(ms(15)));
    assert!(extras.iter().all(|&(_, extra)| !extra.is_negative()));
}

#[test]
fn packets_close_together_keep_their_order_and_so_are_delayed_more() {
    let extras = extra_delays(HALF_NORMAL, 1, 100_000);
    assert!(extras.is_sorted_by_key(|&(due, _)| due));
    assert!(extras.iter().all(|&(_, extra)| !extra.is_negative() && extra <= ms(15)));
    assert!(mean_ms(&extras) > 6.0, "{}", mean_ms(&extras));
}

#[test]
fn uniform_and_clipped_jitter_stay_in_their_range() {
    for jitter in
        [Jitter::Uniform { max: ms(30) }, Jitter::ClippedNormal { mean: ms(10), sd: ms(20), max: ms(30) }]
    {
        let extras = extra_delays(jitter, 100, 10_000);
        assert!(extras.iter().all(|&(_, extra)| !extra.is_negative() && extra <= ms(30)));
        let (low, high) = (ms(1), ms(29));
        assert!(
            extras.iter().any(|&(_, extra)| extra < low) && extras.iter().any(|&(_, extra)| extra > high)
        );
    }
}

#[test]
fn without_jitter_every_packet_takes_the_same_way() {
    assert!(extra_delays(Jitter::None, 1, 1000).iter().all(|&(_, extra)| extra == TimeDelta::ZERO));
}

#[test]
fn lost_packets_use_capacity_and_come_out_as_lost() {
    // Binomial, p = 0.1, n = 100 000: standard error 0.00095.
    let mut link = Link::new(&config(Jitter::None, 0.1), 5).unwrap();
    for number in 0..100_000 {
        link.enqueue(at(0), packet(number, 125)).unwrap();
    }
    let exits = drain(&mut link);
    assert_eq!(exits.len(), 100_000);
    assert_eq!(exits[99_999].0, at(100_020));
    let ratio = exits.iter().filter(|(_, exit)| exit.fate == Fate::Lost).count() as f64 / 1e5;
    assert!((ratio - 0.1).abs() < 0.004, "{ratio}");
}

#[test]
fn the_same_seed_gives_the_same_link_and_loss_does_not_disturb_jitter() {
    let run = |seed, loss| {
        let mut link = Link::new(&config(HALF_NORMAL, loss), seed).unwrap();
        for number in 0..1000 {
            link.enqueue(at(10 * number), packet(number, 125)).unwrap();
        }
        let exits = drain(&mut link);
        let times: Vec<Time> = exits.iter().map(|&(due, _)| due).collect();
        let lost: Vec<bool> = exits.iter().map(|(_, exit)| exit.fate == Fate::Lost).collect();
        (times, lost)
    };
    assert_eq!(run(1, 0.5), run(1, 0.5));
    assert_ne!(run(1, 0.5).0, run(2, 0.5).0);
    assert_ne!(run(1, 0.5).1, run(2, 0.5).1);
    assert_eq!(run(1, 0.5).0, run(1, 0.0).0);
}

#[test]
fn a_link_refuses_a_description_that_makes_none() {
    let link = Link::<super::Numbered>::new(&config(Jitter::None, 1.5), 1);
    assert_eq!(link.map(|_| ()), Err(ConfigError::LossOutOfRange));
}
