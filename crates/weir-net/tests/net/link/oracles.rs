//! Links against slower, simpler implementations of the same rules.

use std::collections::VecDeque;

use proptest::prelude::*;
use weir_net::{Service, Time};
use weir_units::{DataRate, TimeDelta};

use super::{bare, constant, exits, exits_and_waits, packet, trace};

/// Serves packets `(arrival in µs, bytes)` opportunity by opportunity, as a queue would that is woken at each of them.
fn serve_by_hand(millis: &[u32], packets: &[(u64, u32)]) -> Vec<Time> {
    let period = u64::from(*millis.last().unwrap());
    let mut arriving: VecDeque<_> = packets.iter().map(|&(us, size)| (us * 1000, u64::from(size))).collect();
    let mut queue = VecDeque::new();
    let mut exits = Vec::new();
    for cycle in 0.. {
        for &milli in millis {
            let now = (cycle * period + u64::from(milli)) * 1_000_000;
            while arriving.front().is_some_and(|&(arrival, _)| arrival < now) {
                queue.extend(arriving.pop_front().map(|(_, size)| size));
            }
            let mut budget = 1500;
            while let Some(left) = queue.front_mut() {
                let served = budget.min(*left);
                budget -= served;
                *left -= served;
                if *left > 0 {
                    break;
                }
                queue.pop_front();
                exits.push(Time::from_nanos(now));
            }
            if exits.len() == packets.len() {
                return exits;
            }
        }
    }
    exits
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((prop_oneof![Just(0), 0..3_u64, 0..5000_u64, Just(1000)], 1..5000_u32), 1..60)
        .prop_map(|gaps| {
            let mut now = 0;
            let later = |(gap, size)| {
                now += gap;
                (now, size)
            };
            gaps.into_iter().map(later).collect()
        })
}

fn rates() -> impl Strategy<Value = Vec<(Time, DataRate)>> {
    let rate = prop_oneof![Just(0), 1..100_000_u64, 1..100_000_000_u64];
    prop::collection::vec((1..30_000_000_u64, rate), 1..12).prop_map(|pieces| {
        let mut now = 0;
        let mut steps: Vec<_> = pieces
            .into_iter()
            .map(|(span, rate)| {
                let step = (Time::from_nanos(now), DataRate::from_bps(rate));
                now += span;
                step
            })
            .collect();
        // The last rate serves everything that is left.
        steps.push((Time::from_nanos(now), DataRate::from_kbps(1234)));
        steps
    })
}

proptest! {
    #[test]
    fn a_trace_serves_as_if_opportunity_by_opportunity(
        mut millis in prop::collection::vec(0..20_u32, 1..12),
        last in 1..5_u32,
        packets in arrivals(),
    ) {
        millis.sort_unstable();
        millis.push(millis.last().unwrap() + last);
        let lines: Vec<String> = millis.iter().map(u32::to_string).collect();
        let mut link = bare(trace(&lines.join("\n"), TimeDelta::ZERO, true));
        for (number, &(us, size)) in packets.iter().enumerate() {
            link.enqueue(Time::from_nanos(us * 1000), packet(number as u64, size)).unwrap();
        }
        prop_assert_eq!(exits(&mut link), serve_by_hand(&millis, &packets));
    }

    #[test]
    fn steps_known_in_advance_serve_as_rates_set_when_their_time_comes(
        steps in rates(),
        packets in arrivals(),
    ) {
        let mut known = bare(Service::Steps(steps.clone()));
        // Only the rate of time zero differs from the one that is set at once.
        let mut stepwise = bare(constant(DataRate::from_bps(1)));
        let mut steps = steps.into_iter().peekable();
        for (number, &(us, size)) in packets.iter().enumerate() {
            let now = Time::from_nanos(us * 1000);
            while let Some((when, rate)) = steps.next_if(|&(when, _)| when <= now) {
                stepwise.set_rate(when, rate);
            }
            known.enqueue(now, packet(number as u64, size)).unwrap();
            stepwise.enqueue(now, packet(number as u64, size)).unwrap();
            prop_assert_eq!(known.backlog(now), stepwise.backlog(now));
        }
        for (when, rate) in steps {
            stepwise.set_rate(when, rate);
        }
        prop_assert_eq!(exits_and_waits(&mut known), exits_and_waits(&mut stepwise));
    }
}
