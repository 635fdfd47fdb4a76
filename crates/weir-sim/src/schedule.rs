//! Who wakes next: a tournament tree over one wake-up per component.

use weir_net::Time;

/// The next wake-up of each component. Finding the earliest is O(1), changing one O(log n); among equal times the
/// component with the lowest index is first.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// Wake-up per component, padded to a power of two.
    times: Vec<u64>,
    /// `winners[i]` is the winner of node `i` of a heap-shaped tree; the leaves are implicit.
    winners: Vec<u32>,
}

impl Schedule {
    pub(crate) fn new(components: usize) -> Self {
        let leaves = components.next_power_of_two().max(2);
        let mut schedule = Self { times: vec![u64::MAX; leaves], winners: vec![0; leaves] };
        for node in (1..leaves).rev() {
            schedule.winners[node] = schedule.winner_of(node);
        }
        schedule
    }

    /// The earliest wake-up and its component; [`Time::MAX`] if nobody wakes.
    pub(crate) fn first(&self) -> (Time, usize) {
        let winner = self.winners[1] as usize;
        (Time::from_nanos(self.times[winner]), winner)
    }

    pub(crate) fn get(&self, component: usize) -> Time {
        Time::from_nanos(self.times[component])
    }

    pub(crate) fn set(&mut self, component: usize, at: Time) {
        let at = at.nanos();
        if std::mem::replace(&mut self.times[component], at) == at {
            return;
        }
        let mut node = (component + self.times.len()) / 2;
        while node >= 1 {
            let winner = self.winner_of(node);
            // A node whose winner stays another component is settled, and so is everything above it.
            if self.winners[node] == winner && winner as usize != component {
                return;
            }
            self.winners[node] = winner;
            node /= 2;
        }
    }

    fn winner_of(&self, node: usize) -> u32 {
        let leaves = self.times.len();
        let child = |index: usize| {
            if index >= leaves { (index - leaves) as u32 } else { self.winners[index] }
        };
        let (left, right) = (child(2 * node), child(2 * node + 1));
        if self.times[right as usize] < self.times[left as usize] { right } else { left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_wakes_first_and_ties_go_by_index() {
        let mut schedule = Schedule::new(5);
        assert_eq!(schedule.first().0, Time::MAX);
        for (component, at) in [(3, 30), (1, 10), (4, 10), (0, 20)] {
            schedule.set(component, Time::from_nanos(at));
        }
        assert_eq!(schedule.first(), (Time::from_nanos(10), 1));
        schedule.set(1, Time::MAX);
        assert_eq!(schedule.first(), (Time::from_nanos(10), 4));
        schedule.set(0, Time::from_nanos(10));
        assert_eq!(schedule.first(), (Time::from_nanos(10), 0));
        assert_eq!(schedule.get(3), Time::from_nanos(30));
    }

    #[test]
    fn it_agrees_with_a_scan_over_a_long_walk() {
        let mut schedule = Schedule::new(37);
        let mut times = [u64::MAX; 37];
        let mut state = 12_345u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let component = (state >> 33) as usize % 37;
            let at = if state & 0x700 == 0 { u64::MAX } else { (state >> 40) % 500 };
            times[component] = at;
            schedule.set(component, Time::from_nanos(at));
            let scan = (0..37).min_by_key(|&i| (times[i], i)).unwrap();
            assert_eq!(schedule.first().0.nanos(), times[scan]);
            if times[scan] != u64::MAX {
                assert_eq!(schedule.first().1, scan);
            }
        }
    }
}
