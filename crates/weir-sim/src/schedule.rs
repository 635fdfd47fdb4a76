//! Who wakes next: a tournament tree over one wake-up per component.

use weir_net::Time;

/// The next wake-up of each component. Finding the earliest is O(1), changing one O(log n); among equal times the
/// component with the lowest index is first.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// A heap-shaped tree: node `i` has the earlier of its children `2i` and `2i + 1`, node 1 is the root, and the
    /// second half are the leaves, one per component.
    nodes: Vec<Wake>,
    leaves: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wake {
    at: u64,
    component: u32,
}

impl Schedule {
    pub(crate) fn new(components: usize) -> Self {
        let leaves = components.next_power_of_two().max(2);
        let never = |component| Wake { at: u64::MAX, component };
        let mut nodes = vec![never(0); 2 * leaves];
        for (component, leaf) in nodes[leaves..].iter_mut().enumerate() {
            *leaf = never(component as u32);
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        Self { nodes, leaves }
    }

    /// The earliest wake-up and its component; [`Time::MAX`] if nobody wakes.
    #[inline]
    pub(crate) fn first(&self) -> (Time, usize) {
        let Wake { at, component } = self.nodes[1];
        (Time::from_nanos(at), component as usize)
    }

    #[inline]
    pub(crate) fn get(&self, component: usize) -> Time {
        Time::from_nanos(self.nodes[self.leaves + component].at)
    }

    #[inline]
    pub(crate) fn set(&mut self, component: usize, at: Time) {
        let mut node = self.leaves + component;
        self.nodes[node].at = at.nanos();
        while node > 1 {
            // `left` is even, its sibling the next odd index.
            let (left, right) = (self.nodes[node & !1], self.nodes[node | 1]);
            let earlier = if right.at < left.at { right } else { left };
            node /= 2;
            if std::mem::replace(&mut self.nodes[node], earlier) == earlier {
                return;
            }
        }
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
