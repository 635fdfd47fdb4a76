//! What holds whatever is told, in whatever order.

use proptest::prelude::*;

use super::tests::{data, media, news, update, wishes};
use super::{Config, Mixed};
use crate::coupled::coupler::Coupler;
use crate::coupled::word::{Member, Order, Told, Word};
use crate::decision::Why;
use crate::time::SendTime;

fn word() -> impl Strategy<Value = Word> {
    let wish = (0.01..100.0, prop::option::of(1..5_000u64)).prop_map(|(p, desired)| wishes(p, desired));
    let rate = || prop_oneof![4 => 1..5_000u64, 1 => Just(1), 1 => Just(u64::MAX / 2000)];
    let window = || prop_oneof![6 => 0.0..100.0, 1 => Just(0.0), 1 => Just(1e300), 1 => Just(f64::NAN)];
    let told = prop::sample::select(vec![
        Told::Acknowledged,
        Told::Acknowledged,
        Told::Repairing,
        Told::RecoveryEntered,
        Told::RecoveryLeft,
        Told::TimedOut,
        Told::Reduced,
        Told::Marked,
        Told::Idle,
    ]);
    let rtt = prop_oneof![6 => 50..500i64, 1 => Just(0), 1 => Just(-5), 1 => Just(i64::MAX / 1_000_000)];
    prop_oneof![
        2 => (rate(), wish.clone()).prop_map(|(start, wishes)| media(start, wishes)),
        2 => (window(), wish.clone()).prop_map(|(cwnd, wishes)| data(cwnd, wishes)),
        6 => (rate(), rate(), prop::sample::select(Why::ALL.to_vec()))
            .prop_map(|(base, rate, why)| update(base, rate, why)),
        8 => (told, window(), window(), rtt)
            .prop_map(|(told, before, after, rtt)| news(told, before, after, rtt)),
        1 => wish.prop_map(Word::Wishes),
        1 => prop::sample::select(vec![Word::Pause, Word::Withdraw, Word::Leave]),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    let partial = Config { partial_loss: true, ..Config::default() };
    prop::sample::select(vec![
        Config::default(),
        Config::by_base_rtt(),
        Config::ledbat(),
        Config::ledbat_sum_all(),
        partial,
    ])
}

proptest! {
    #[test]
    fn orders_are_sound_few_and_numbered(
        config in config(),
        words in prop::collection::vec((0..400i64, 0..5u32, word()), 1..200),
    ) {
        let mut mixed = Mixed::new(config).unwrap();
        let mut now = 0;
        let mut epochs = [0; 5];
        for (later, member, word) in words {
            now += later;
            let at = SendTime::from_millis(now);
            let _ = mixed.on_word(at, Member(member), &word);
            let sum = mixed.aggregate(Member(member)).map_or(1.0, |aggregate| aggregate.sum);
            prop_assert!(sum.is_finite() && sum > 0.0, "{sum}");
            mixed.on_timeout(at);
            let mut orders = 0;
            while let Some((Member(member), order)) = mixed.poll_order() {
                orders += 1;
                prop_assert!(orders <= 15, "three for each of five");
                match order {
                    Order::Rate { epoch: 0, .. } | Order::Reduce => {}
                    Order::Rate { epoch, .. } => {
                        prop_assert!(epoch > epochs[member as usize], "numbers never begin anew");
                        epochs[member as usize] = epoch;
                    }
                    Order::Window(window) => {
                        prop_assert!(window.cwnd.is_finite() && window.cwnd >= config.least_window);
                        prop_assert!(window.ssthresh > 0.0);
                    }
                    other => prop_assert!(false, "{other:?}"),
                }
            }
        }
    }

    #[test]
    fn shares_are_by_priority_and_together_the_sum(
        sum in 200..20_000u64,
        priorities in prop::collection::vec(0.1..10.0, 2..5),
    ) {
        let mut mixed = Mixed::new(Config::default()).unwrap();
        mixed.on_word(SendTime::from_millis(0), Member(0), &media(sum, wishes(priorities[0], None))).unwrap();
        for (member, priority) in priorities.iter().enumerate().skip(1) {
            mixed.on_word(SendTime::from_millis(0), Member(member as u32), &data(2.0, wishes(*priority, None))).unwrap();
        }
        let total = mixed.aggregate(Member(0)).unwrap().sum;
        let rate = core::iter::from_fn(|| mixed.poll_order())
            .filter_map(|(_, order)| if let Order::Rate { rate, .. } = order { Some(rate.bps_f64()) } else { None })
            .last()
            .unwrap();
        let part = priorities[0] / priorities.iter().sum::<f64>();
        prop_assert!((rate - total * part).abs() <= 1.0, "{rate} of {total}, for {part}");
    }
}
