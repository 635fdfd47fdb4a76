//! For any load: each packet that enters a cell leaves it, once, in order, and the air carries one transmission at
//! a time.

use proptest::prelude::*;
use weir_net::{LossModel, QueueConfig};
use weir_units::{DataSize, TimeDelta};

use super::*;

fn queues() -> impl Strategy<Value = QueueConfig> {
    let some = |range| prop::option::of(range);
    (some(1..20_000_u64), some(1..40), some(0..20)).prop_map(|(bytes, packets, ms)| QueueConfig {
        limit_bytes: bytes.map(DataSize::from_bytes),
        limit_packets: packets.map(|packets| packets as u32),
        limit_time: ms.map(|ms| TimeDelta::from_millis(ms as i64)),
        ..QueueConfig::default()
    })
}

fn links() -> impl Strategy<Value = Vec<WifiLink>> {
    let link = (0..4_usize, 1..300_u64, 0.0..=1.0, queues());
    prop::collection::vec(link, 1..7).prop_map(|links| {
        let count = links.len();
        let link = |(transmitter, mbps, loss, queue)| WifiLink {
            transmitter: transmitter % count,
            rate: DataRate::from_mbps(mbps),
            loss: LossModel::Bernoulli(loss),
            queue,
        };
        links.into_iter().map(link).collect()
    })
}

fn configs() -> impl Strategy<Value = WifiConfig> {
    (1..=64_u32, 1..6000_i64, 0..8_u32, 1..8_u32, 0..64_u32).prop_map(
        |(frames, longest, retries, aifsn, cw_min)| WifiConfig {
            frames,
            longest: TimeDelta::from_micros(longest),
            retries,
            aifsn,
            cw_min,
            ..WifiConfig::default()
        },
    )
}

/// Fate of each packet of each link, and its time.
type Fates = Vec<Vec<(Time, u64, Fate)>>;

/// The fates of the packets of each link, and the packets that each link accepted.
fn run(
    config: &WifiConfig,
    links: &[WifiLink],
    loads: &[(u64, usize, u32)],
    seed: u64,
) -> (Fates, Vec<Vec<u64>>) {
    let mut cell = WifiCell::new(config, links, seed).unwrap();
    let (mut fates, mut taken) = (vec![Vec::new(); links.len()], vec![Vec::new(); links.len()]);
    let mut note = |now, popped: Option<(usize, Exit<Numbered>)>| {
        popped.map(|(link, exit)| fates[link].push((now, exit.packet.number, exit.fate))).is_some()
    };
    let mut now = Time::ZERO;
    for (number, &(gap, link, size)) in loads.iter().enumerate() {
        let arrival = now + TimeDelta::from_micros(gap as i64);
        while let Some(wake) = cell.next_wake().filter(|&wake| wake <= arrival) {
            assert!(wake >= now, "time runs backwards");
            now = wake;
            while note(now, cell.pop(now)) {}
        }
        now = arrival;
        let (link, number) = (link % links.len(), number as u64);
        if cell.enqueue(now, link, Numbered { number, size }).is_ok() {
            taken[link].push(number);
        }
    }
    let mut wakes = 0;
    while let Some(wake) = cell.next_wake() {
        wakes += 1;
        assert!(wakes < 1_000_000, "it never ends");
        while note(wake, cell.pop(wake)) {}
    }
    assert!(cell.is_empty());
    (fates, taken)
}

proptest! {
    #[test]
    fn packets_leave_once_and_in_order(
        config in configs(),
        links in links(),
        loads in prop::collection::vec((0..3000_u64, 0..7_usize, 0..9000_u32), 0..200),
        seed: u64,
    ) {
        let (fates, taken) = run(&config, &links, &loads, seed);
        for (fates, taken) in fates.iter().zip(&taken) {
            let left: Vec<u64> = fates.iter().map(|&(_, number, _)| number).collect();
            prop_assert_eq!(&left, taken);
        }
        // The same seed, the same run.
        prop_assert_eq!(&run(&config, &links, &loads, seed).0, &fates);
    }

    #[test]
    fn the_air_carries_no_more_than_its_exchanges_let_it(
        config in configs(),
        sizes in prop::collection::vec(1..2000_u32, 1..5),
        seed: u64,
    ) {
        let links: Vec<WifiLink> = (0..sizes.len()).map(link).collect();
        let mut cell = WifiCell::new(&config, &links, seed).unwrap();
        let carried = saturated(&mut cell, &sizes, 1);
        // An exchange takes AIFS, preamble, its frames' bits, SIFS and at least an ACK, without any backoff: in 1 s of
        // 10⁹ ns, with as many frames as fit.
        let aifs = 16_000 + u64::from(config.aifsn) * 9_000;
        let exchange = aifs + 40_000 + 16_000 + 28_000;
        let busy: u64 = carried
            .iter()
            .zip(&sizes)
            .map(|(link, &size)| link.arrived * (u64::from(size) * 8 * 1000 / 52 + exchange / u64::from(config.frames)))
            .sum();
        prop_assert!(busy < 1_001_000_000, "{busy} ns of air in a second");
    }
}
