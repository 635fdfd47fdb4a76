//! Who wakes next: a tournament tree over one wake-up per component.

use weir_net::Time;

/// Up to so many components are scanned; more compete in a tree.
const SCANNED: usize = 16;

/// The next wake-up of each component; among equal times the component with the lowest index is first.
///
/// The earliest is always known. A change costs a comparison, unless it concerns the earliest itself: then the few
/// are scanned, or the many settle it along one path of a tournament tree.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// A heap-shaped tree: node `i` has the earlier of its children `2i` and `2i + 1`, node 1 is the root, and the
    /// leaves, one per component, begin at `leaves`. Without a tree only the leaves are there.
    nodes: Vec<Wake>,
    leaves: usize,
    first: Wake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wake {
    at: u64,
    component: u32,
}

impl Wake {
    #[inline]
    fn earlier(self, other: Self) -> Self {
        if other.at < self.at { other } else { self }
    }
}

impl Schedule {
    pub(crate) fn new(components: usize) -> Self {
        let never = |component| Wake { at: u64::MAX, component: component as u32 };
        let (leaves, room) = match components {
            0..=SCANNED => (0, components.max(1)),
            _ => (components.next_power_of_two(), components.next_power_of_two()),
        };
        let mut nodes = vec![never(0); leaves];
        nodes.extend((0..room).map(never));
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        Self { first: never(0), nodes, leaves }
    }

    /// The earliest wake-up and its component; [`Time::MAX`] if nobody wakes.
    #[inline]
    pub(crate) fn first(&self) -> (Time, usize) {
        (Time::from_nanos(self.first.at), self.first.component as usize)
    }

    #[inline]
    pub(crate) fn set(&mut self, component: usize, at: Time) {
        let wake = Wake { at: at.nanos(), component: component as u32 };
        if self.leaves > 0 {
            self.climb(wake);
            self.first = self.nodes[1];
            return;
        }
        self.nodes[component] = wake;
        if wake.component == self.first.component {
            self.first = self.nodes[1..].iter().fold(self.nodes[0], |first, &other| first.earlier(other));
        } else if (wake.at, wake.component) < (self.first.at, self.first.component) {
            self.first = wake;
        }
    }

    fn climb(&mut self, wake: Wake) {
        let mut node = self.leaves + wake.component as usize;
        self.nodes[node] = wake;
        while node > 1 {
            // The left sibling has the even index.
            let earlier = self.nodes[node & !1].earlier(self.nodes[node | 1]);
            node /= 2;
            if self.nodes[node] == earlier {
                return;
            }
            self.nodes[node] = earlier;
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
    }

    fn walk(components: usize) {
        let mut schedule = Schedule::new(components);
        let mut times = vec![u64::MAX; components];
        let mut state = 12_345u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let component = (state >> 33) as usize % components;
            let at = if state & 0x700 == 0 { u64::MAX } else { (state >> 40) % 500 };
            times[component] = at;
            schedule.set(component, Time::from_nanos(at));
            let scan = (0..components).min_by_key(|&i| (times[i], i)).unwrap();
            assert_eq!(schedule.first(), (Time::from_nanos(times[scan]), scan));
        }
    }

    #[test]
    fn few_and_many_components_agree_with_a_plain_search() {
        for components in [1, 2, 13, 16, 17, 37, 64] {
            walk(components);
        }
    }
}
