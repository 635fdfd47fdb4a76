//! Changes of a link during a run, beside those of its rate.

use weir_units::{DataSize, TimeDelta};

use crate::error::{ConfigError, not_negative};
use crate::loss::LossModel;
use crate::schedule::Schedule;
use crate::time::Time;

/// A change of a link: a `None` leaves the value as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkChange {
    /// Time of the change.
    pub at: Time,
    /// Propagation delay of packets that leave the queue from then on.
    pub delay: Option<TimeDelta>,
    /// Random loss of packets that come out from then on.
    pub loss: Option<LossModel>,
    /// All limits of the queue for packets that arrive from then on.
    pub limits: Option<QueueLimits>,
}

/// The limits of a queue, as in [`QueueConfig`](crate::QueueConfig).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLimits {
    /// Limit of the time from arrival to departure.
    pub time: Option<TimeDelta>,
    /// Limit in bytes.
    pub bytes: Option<DataSize>,
    /// Limit in bytes, as the time in which the present rate sends them.
    pub at_rate: Option<TimeDelta>,
    /// Limit in packets.
    pub packets: Option<u32>,
}

/// # Errors
/// Changes that are not in order of time, or a value out of its range.
pub(crate) fn validate(changes: &[LinkChange]) -> Result<(), ConfigError> {
    if let Some(pair) = changes.windows(2).find(|pair| pair[1].at <= pair[0].at) {
        return Err(ConfigError::ChangesNotIncreasing { at: pair[1].at });
    }
    for change in changes {
        not_negative("delay", change.delay)?;
        change.loss.unwrap_or_default().validate()?;
        let limits = change.limits.unwrap_or_default();
        not_negative("queue time limit", limits.time)?;
        not_negative("queue limit at the rate", limits.at_rate)?;
    }
    Ok(())
}

/// The values that `value` finds in `changes`, or `None` if it finds none.
pub(crate) fn schedule<T: Copy>(
    changes: &[LinkChange],
    value: impl Fn(&LinkChange) -> Option<T>,
) -> Option<Schedule<T>> {
    Schedule::new(changes.iter().filter_map(|change| value(change).map(|value| (change.at.nanos(), value))))
}

/// Propagation delay in ns above its least value, by the time at which a packet leaves the queue.
#[derive(Clone, Debug)]
pub(crate) struct ExtraDelay {
    /// Times in ns, the first of them 0, and the excess from then on.
    steps: Vec<(u64, u64)>,
}

impl ExtraDelay {
    /// `least` is the least delay of all, `delay` the first one. The result is `None` where the delay does not
    /// change.
    pub(crate) fn of(least: TimeDelta, delay: TimeDelta, changes: &[LinkChange]) -> Option<Self> {
        let excess = |delay| nanos(delay) - nanos(least);
        let later = changes.iter().filter_map(|change| Some((change.at.nanos(), excess(change.delay?))));
        let steps: Vec<_> = std::iter::once((0, excess(delay))).chain(later).collect();
        (steps.len() > 1).then_some(Self { steps })
    }

    /// The excess for a packet that leaves the queue at `departure` ns.
    pub(crate) fn at(&self, departure: u64) -> u64 {
        let begun = self.steps.partition_point(|&(at, _)| at <= departure);
        begun.checked_sub(1).map_or(0, |last| self.steps[last].1)
    }
}

/// A delay, which is not negative, in ns.
pub(crate) fn nanos(span: TimeDelta) -> u64 {
    span.nanos().max(0) as u64
}

#[cfg(test)]
mod tests {
    use weir_units::DataRate;

    use super::*;
    use crate::packet::{Fate, Packet};
    use crate::{Discipline, Link, LinkConfig, Order, Service};

    #[derive(Debug)]
    struct Bytes(u32);

    impl Packet for Bytes {
        fn wire_size(&self) -> u32 {
            self.0
        }
    }

    fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    /// A link of 1 Mbit/s and 20 ms with these changes; a packet of 125 bytes takes 1 ms.
    fn config(changes: Vec<LinkChange>) -> LinkConfig {
        LinkConfig { changes, ..LinkConfig::new(Service::Constant(DataRate::from_mbps(1)), ms(20)) }
    }

    fn at(ms: u64, change: LinkChange) -> LinkChange {
        LinkChange { at: Time::from_millis(ms), ..change }
    }

    /// The same link behind a drop-tail and behind a drop-head queue.
    fn both(config: LinkConfig) -> [Link<Bytes>; 2] {
        let mut other = config.clone();
        other.queue.discipline = Discipline::DropHead;
        [config, other].map(|config| Link::new(&config, 1).unwrap())
    }

    /// Milliseconds at which packets come out that arrive at these milliseconds; those that come out.
    fn exits(link: &mut Link<Bytes>, arrivals: &[u64]) -> Vec<u64> {
        for &arrival in arrivals {
            let _ = link.enqueue(Time::from_millis(arrival), Bytes(125));
        }
        let mut exits = Vec::new();
        while let Some(next) = link.next_departure() {
            let left = link.pop(next);
            exits.extend(left.filter(|exit| exit.fate == Fate::Arrived).map(|_| next.nanos() / 1_000_000));
        }
        exits
    }

    #[test]
    fn a_delay_is_that_of_the_time_at_which_a_packet_leaves_the_queue() {
        let to = |delay| LinkChange { delay: Some(ms(delay)), ..LinkChange::default() };
        for mut link in both(config(vec![at(11, to(50)), at(100, to(5))])) {
            // The packet that arrives at 10 ms leaves at 11; order is kept when the path becomes shorter.
            assert_eq!(exits(&mut link, &[8, 10, 90, 98, 99, 150]), [29, 61, 141, 149, 149, 156]);
        }
    }

    #[test]
    fn random_loss_begins_and_ends() {
        let share = |loss| LinkChange { loss: Some(loss), ..LinkChange::default() };
        let changes = vec![at(50, share(LossModel::Bernoulli(1.0))), at(100, share(LossModel::None))];
        for mut link in both(config(changes)) {
            // Out at 49, 50, 99 and 100 ms.
            assert_eq!(exits(&mut link, &[28, 29, 78, 79]), [49, 100]);
        }
    }

    #[test]
    fn a_queue_limit_is_that_of_the_time_of_arrival() {
        let packets = |most| QueueLimits { packets: Some(most), ..QueueLimits::default() };
        let to = |limits| LinkChange { limits: Some(limits), ..LinkChange::default() };
        let changes = vec![at(10, to(packets(2))), at(20, to(QueueLimits::default()))];
        let [mut tail, mut head] = both(config(changes));
        // Four at 0 ms; of three at 10 ms two fit into the queue; four at 20 ms.
        let arrivals = [0, 0, 0, 0, 10, 10, 10, 20, 20, 20, 20];
        assert_eq!(exits(&mut tail, &arrivals), [21, 22, 23, 24, 31, 32, 41, 42, 43, 44]);
        assert_eq!(exits(&mut head, &arrivals).len(), 10);
    }

    /// A packet of 125 bytes of this flow.
    #[derive(Debug)]
    struct OfFlow(u32);

    impl Packet for OfFlow {
        fn wire_size(&self) -> u32 {
            125
        }

        fn flow(&self) -> u32 {
            self.0
        }
    }

    #[test]
    fn a_packet_may_overtake_those_of_other_flows_after_a_lower_delay() {
        let mut link = Link::new(&LinkConfig { order: Order::Flow, ..config(Vec::new()) }, 1).unwrap();
        for flow in [1, 1, 1, 2] {
            link.enqueue(Time::ZERO, OfFlow(flow)).unwrap();
        }
        let half = Time::from_nanos(2_500_000);
        link.apply(&LinkChange { at: half, delay: Some(ms(3)), ..LinkChange::default() }).unwrap();
        let mut exits = Vec::new();
        while let Some(next) = link.next_departure() {
            exits.extend(link.pop(next).map(|exit| (next.nanos() / 1_000_000, exit.packet.0)));
        }
        // The third of the first flow stays behind the two on their way.
        assert_eq!(exits, [(7, 2), (21, 1), (22, 1), (22, 1)]);
    }

    /// Compares a link with `config` with one that gets its changes while it runs.
    fn assert_same(config: &LinkConfig, arrivals: &[u64]) {
        let at = |tenth: u64| Time::from_nanos(tenth * 100_000);
        let orders = [Order::Link, Order::Flow, Order::None].into_iter();
        for (discipline, order) in
            orders.flat_map(|order| [Discipline::DropTail, Discipline::DropHead].map(|kind| (kind, order)))
        {
            let mut config = LinkConfig { order, ..config.clone() };
            config.queue.discipline = discipline;
            let without = LinkConfig { changes: Vec::new(), ..config.clone() };
            let mut links = [&config, &without].map(|config| Link::new(config, 1).unwrap());
            let (mut fates, mut changes) = ([Vec::new(), Vec::new()], config.changes.iter().peekable());
            for now in 0..4000 {
                while let Some(change) = changes.next_if(|change| change.at <= at(now)) {
                    links[1].apply(change).unwrap();
                }
                // Packets are fetched late, some of them after a change.
                for (link, fates) in links.iter_mut().zip(&mut fates).filter(|_| now % 7 == 0) {
                    let left = std::iter::from_fn(|| link.pop(at(now)));
                    fates.extend(left.map(|exit| (now, exit.wait, exit.fate)));
                }
                for _ in arrivals.iter().filter(|&&arrival| arrival == now) {
                    let taken = links.each_mut().map(|link| link.enqueue(at(now), Bytes(125)).is_ok());
                    assert_eq!(taken[0], taken[1], "at {now} of 0.1 ms behind {discipline:?}, {order:?}");
                }
            }
            assert!(fates[0].len() > arrivals.len() / 2);
            assert_eq!(fates[0], fates[1], "{discipline:?}, {order:?}");
        }
    }

    #[test]
    fn a_change_while_the_link_runs_is_one_of_its_description() {
        let none = LinkChange::default();
        let limits = |packets| Some(QueueLimits { packets: Some(packets), ..QueueLimits::default() });
        let arrivals: Vec<u64> = (0..200).map(|packet| packet * 8).collect();
        // A packet leaves the queue at each whole millisecond.
        let half = |ms: u64, change| LinkChange { at: Time::from_nanos(ms * 1_000_000 + 500_000), ..change };
        let changes = [
            half(10, LinkChange { delay: Some(ms(60)), ..none }),
            half(45, LinkChange { loss: Some(LossModel::Bernoulli(0.4)), limits: limits(6), ..none }),
            half(70, LinkChange { delay: Some(ms(3)), limits: limits(30), ..none }),
            half(110, LinkChange { loss: Some(LossModel::None), ..none }),
            half(130, LinkChange { delay: Some(ms(20)), limits: Some(QueueLimits::default()), ..none }),
        ];
        assert_same(&config(changes.to_vec()), &arrivals);
        let jitter = crate::Jitter::Uniform { max: ms(5) };
        assert_same(&LinkConfig { jitter, ..config(changes.to_vec()) }, &arrivals);
    }

    #[test]
    fn an_applied_change_ends_scheduled_ones_of_the_same_value() {
        let to = |delay| LinkChange { delay: Some(ms(delay)), ..LinkChange::default() };
        let loss = LinkChange { loss: Some(LossModel::Bernoulli(1.0)), ..LinkChange::default() };
        let changes = vec![at(10, to(50)), at(100, to(70)), at(110, loss)];
        for mut link in both(config(changes)) {
            assert_eq!(exits(&mut link, &[10]), [61]);
            link.apply(&at(62, to(5))).unwrap();
            assert_eq!((link.propagation(), exits(&mut link, &[62, 101, 120])), (ms(5), vec![68, 107]));
        }
    }

    #[test]
    fn packets_that_wait_take_the_new_delay_and_those_on_their_way_keep_theirs() {
        for mut link in both(config(Vec::new())) {
            for _ in 0..4 {
                link.enqueue(Time::ZERO, Bytes(125)).unwrap();
            }
            // Two have left the queue at 1 and 2 ms, with 20 ms before them.
            link.apply(&at(2, LinkChange { delay: Some(ms(40)), ..LinkChange::default() })).unwrap();
            assert_eq!(exits(&mut link, &[]), [21, 22, 43, 44]);
        }
    }

    #[test]
    fn an_impossible_change_changes_nothing() {
        for mut link in both(config(Vec::new())) {
            let wrong = LinkChange {
                delay: Some(ms(5)),
                loss: Some(LossModel::Bernoulli(2.0)),
                ..LinkChange::default()
            };
            assert_eq!(link.apply(&wrong), Err(ConfigError::LossOutOfRange));
            assert_eq!(exits(&mut link, &[0]), [21]);
        }
    }

    #[test]
    fn changes_come_in_order_of_time_and_are_possible() {
        let change =
            |ms, delay: i64| at(ms, LinkChange { delay: Some(self::ms(delay)), ..LinkChange::default() });
        let fails = |changes| Link::<Bytes>::new(&config(changes), 1).err();
        assert_eq!(fails(vec![change(5, 1), change(6, 1)]), None);
        let expected = ConfigError::ChangesNotIncreasing { at: Time::from_millis(5) };
        assert_eq!(fails(vec![change(5, 1), change(5, 2)]), Some(expected));
        assert_eq!(fails(vec![change(5, -1)]), Some(ConfigError::Negative { name: "delay" }));
        let lossy = LinkChange { loss: Some(LossModel::Bernoulli(1.5)), ..LinkChange::default() };
        assert_eq!(fails(vec![lossy]), Some(ConfigError::LossOutOfRange));
    }
}
