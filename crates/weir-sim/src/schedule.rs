//! Who wakes next: one wake-up per component.

use weir_net::Time;

/// The next wake-up of each component; among equal times the component with the lowest index is first.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// Few components are scanned.
    Few(Scan),
    /// Many compete.
    Many(Tournament),
}

impl Schedule {
    pub(crate) fn new(components: usize) -> Self {
        if components <= Scan::MOST {
            Self::Few(Scan::new())
        } else {
            Self::Many(Tournament::new(components))
        }
    }

    /// The earliest wake-up and its component; [`Time::MAX`] if nobody wakes.
    #[inline]
    pub(crate) fn first(&self) -> (Time, usize) {
        match self {
            Self::Few(scan) => scan.first(),
            Self::Many(tournament) => tournament.first(),
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, component: usize, at: Time) {
        match self {
            Self::Few(scan) => scan.set(component, at),
            Self::Many(tournament) => tournament.set(component, at),
        }
    }
}

/// Wake-ups side by side, each with the component in its lowest bits, so that one comparison decides. Setting one is
/// a single store; all are compared when the first is asked for, once per event.
#[derive(Debug)]
pub(crate) struct Scan {
    wakes: [u64; Self::MOST],
}

impl Scan {
    const BITS: u32 = 4;
    const MOST: usize = 1 << Self::BITS;
    /// No wake-up; 2^60 ns are 36 years.
    const NEVER: u64 = u64::MAX >> Self::BITS;

    fn new() -> Self {
        Self { wakes: core::array::from_fn(|component| Self::pack(component, Time::MAX)) }
    }

    #[inline]
    fn pack(component: usize, at: Time) -> u64 {
        at.nanos().min(Self::NEVER) << Self::BITS | component as u64
    }

    #[inline]
    fn unpack(wake: u64) -> (Time, usize) {
        let at = match wake >> Self::BITS {
            Self::NEVER => Time::MAX,
            nanos => Time::from_nanos(nanos),
        };
        (at, wake as usize & (Self::MOST - 1))
    }

    /// Halves the field until one is left: four comparisons deep instead of fifteen in a row.
    #[inline]
    fn first(&self) -> (Time, usize) {
        let w = &self.wakes;
        let eight: [u64; 8] = core::array::from_fn(|i| w[i].min(w[i + 8]));
        let four: [u64; 4] = core::array::from_fn(|i| eight[i].min(eight[i + 4]));
        Self::unpack(four[0].min(four[2]).min(four[1].min(four[3])))
    }

    #[inline]
    fn set(&mut self, component: usize, at: Time) {
        self.wakes[component % Self::MOST] = Self::pack(component, at);
    }
}

/// A heap-shaped tree: node `i` has the earlier of its children `2i` and `2i + 1`, node 1 is the root, and the second
/// half are the leaves, one per component.
#[derive(Debug)]
pub(crate) struct Tournament {
    nodes: Vec<Wake>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wake {
    at: u64,
    component: u32,
}

impl Tournament {
    pub(crate) fn new(components: usize) -> Self {
        let leaves = components.next_power_of_two();
        let never = |component| Wake { at: u64::MAX, component: component as u32 };
        let mut nodes = vec![never(0); leaves];
        nodes.extend((0..leaves).map(never));
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        Self { nodes }
    }

    /// The earliest wake-up and its component; [`Time::MAX`] if nobody wakes.
    #[inline]
    pub(crate) fn first(&self) -> (Time, usize) {
        let Wake { at, component } = self.nodes[1];
        (Time::from_nanos(at), component as usize)
    }

    /// Makes room for so many components; those that are new never wake.
    pub(crate) fn grow(&mut self, components: usize) {
        let leaves = self.nodes.len() / 2;
        if components <= leaves {
            return;
        }
        let before = core::mem::replace(self, Self::new(components));
        for wake in &before.nodes[leaves..] {
            self.set(wake.component as usize, Time::from_nanos(wake.at));
        }
    }

    /// Settles the new wake-up along the path to the root, as far as it matters.
    pub(crate) fn set(&mut self, component: usize, at: Time) {
        let mut node = self.nodes.len() / 2 + component;
        self.nodes[node].at = at.nanos();
        while node > 1 {
            // The left sibling has the even index.
            let (left, right) = (self.nodes[node & !1], self.nodes[node | 1]);
            let earlier = if right.at < left.at { right } else { left };
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

    #[test]
    fn a_tournament_takes_more_components_as_they_come() {
        let mut tournament = Tournament::new(1);
        assert_eq!(tournament.first(), (Time::MAX, 0));
        for component in 0..40 {
            tournament.grow(component + 1);
            tournament.set(component, Time::from_nanos(1000 - component as u64));
            assert_eq!(tournament.first(), (Time::from_nanos(1000 - component as u64), component));
        }
        tournament.set(39, Time::MAX);
        tournament.set(7, Time::MAX);
        for component in (0..39).rev().filter(|&component| component != 7) {
            assert_eq!(tournament.first().1, component);
            tournament.set(component, Time::MAX);
        }
        assert_eq!(tournament.first().0, Time::MAX);
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
