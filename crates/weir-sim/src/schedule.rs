//! Schedule of the components: one wake-up per component.

use core::hint::select_unpredictable;

use weir_net::Time;

/// The next wake-up of each component; among equal times the component with the lowest index is first.
///
/// Up to sixteen components are one group. More are a tree of groups, laid out as a heap is: group 0 is the root, below
/// group `i` are the groups from `16 i + 1` on, and below those of the last floor the components. A wake-up is
/// propagated to the root, whether it changes the earliest of a group or not: a check would take as long.
#[derive(Debug)]
pub(crate) struct WakeUpSchedule {
    root: WakeUpGroup,
    /// All groups except the root.
    below: Vec<WakeUpGroup>,
    /// Index of the first group of the last floor, the root included in the count.
    last_floor: usize,
}

impl WakeUpSchedule {
    pub(crate) fn new(components: usize) -> Self {
        let groups = components.div_ceil(WakeUpGroup::SIZE);
        let (mut last_floor, mut floor) = (0, 1);
        while floor < groups {
            last_floor += floor;
            floor *= WakeUpGroup::SIZE;
        }
        let all = if last_floor == 0 { 1 } else { last_floor + groups };
        Self { root: WakeUpGroup::new(), below: vec![WakeUpGroup::new(); all - 1], last_floor }
    }

    /// The earliest wake-up and its component; [`Time::MAX`] if there is none.
    #[inline]
    pub(crate) fn first(&self) -> (Time, usize) {
        let (at, place) = unpack(self.root.first());
        (at, if self.last_floor == 0 { place } else { self.first_below(place) })
    }

    /// The component with the earliest wake-up in the subtree at this place of the root.
    fn first_below(&self, mut place: usize) -> usize {
        let mut group = 0;
        while group < self.last_floor {
            group = group * WakeUpGroup::SIZE + 1 + place;
            place = unpack(self.below[group - 1].first()).1;
        }
        (group - self.last_floor) * WakeUpGroup::SIZE + place
    }

    /// Wakes the component at `at`, or earlier. An existing wake-up between `now` and `at` stays, so that a timer
    /// that each packet postpones, such as TCP's, is not set again for each.
    #[inline]
    pub(crate) fn set_by(&mut self, now: Time, component: usize, at: Time) {
        let group = match (self.last_floor + component / WakeUpGroup::SIZE).checked_sub(1) {
            None => &self.root,
            Some(before) => &self.below[before],
        };
        let (standing, _) = unpack(group.wakes[component % WakeUpGroup::SIZE]);
        if standing <= now || at < standing {
            self.set(component, at);
        }
    }

    /// Wakes the component at `at`, and not earlier.
    #[inline(never)]
    pub(crate) fn set(&mut self, component: usize, at: Time) {
        let mut number = self.last_floor + component / WakeUpGroup::SIZE;
        let mut wake = pack(component % WakeUpGroup::SIZE, at);
        while let Some(before) = number.checked_sub(1) {
            let group = &mut self.below[before];
            let first = group.set(wake);
            wake = first & !PLACES | (before % WakeUpGroup::SIZE) as u64;
            number = before / WakeUpGroup::SIZE;
        }
        self.root.set(wake);
    }

    /// Extends the schedule to `components`; new ones have no wake-up.
    pub(crate) fn grow(&mut self, components: usize) {
        let floor = self.below.len() + 1 - self.last_floor;
        if components <= floor * WakeUpGroup::SIZE {
            return;
        }
        let before = core::mem::replace(self, Self::new(2 * components));
        for (number, group) in
            core::iter::once(&before.root).chain(&before.below).skip(before.last_floor).enumerate()
        {
            for wake in group.wakes {
                let (at, place) = unpack(wake);
                self.set(number * WakeUpGroup::SIZE + place, at);
            }
        }
    }
}

/// Sixteen wake-ups side by side, each with its place in the lowest bits, so that one comparison decides. The code
/// avoids branches here, as the earliest component changes with every event.
#[derive(Clone, Debug)]
struct WakeUpGroup {
    wakes: [u64; 16],
    /// The earliest of each four wake-ups.
    earliest: [u64; 4],
}

/// Number of bits of a wake-up for its place.
const PLACE_BITS: u32 = 4;
const PLACES: u64 = (1 << PLACE_BITS) - 1;
/// Time of a component without a wake-up; 2^60 ns are 36 years.
const NEVER: u64 = u64::MAX >> PLACE_BITS;

#[inline]
fn pack(place: usize, at: Time) -> u64 {
    at.nanos().min(NEVER) << PLACE_BITS | place as u64
}

#[inline]
fn unpack(wake: u64) -> (Time, usize) {
    let at = match wake >> PLACE_BITS {
        NEVER => Time::MAX,
        nanos => Time::from_nanos(nanos),
    };
    (at, wake as usize % WakeUpGroup::SIZE)
}

#[inline]
fn least(a: u64, b: u64, c: u64, d: u64) -> u64 {
    a.min(b).min(c.min(d))
}

/// `values` with `new` at `place`. The selection has no branch, because the place is unpredictable.
#[inline]
fn replaced(values: [u64; 4], place: usize, new: u64) -> [u64; 4] {
    [0, 1, 2, 3].map(|i| select_unpredictable(i == place, new, values[i]))
}

impl WakeUpGroup {
    const SIZE: usize = 1 << PLACE_BITS;

    fn new() -> Self {
        let wakes: [u64; 16] = core::array::from_fn(|place| pack(place, Time::MAX));
        Self { wakes, earliest: core::array::from_fn(|four| wakes[4 * four]) }
    }

    #[inline]
    fn first(&self) -> u64 {
        let [a, b, c, d] = self.earliest;
        least(a, b, c, d)
    }

    /// Sets a wake-up; returns the earliest from now on. The values just written are not read back, because each floor
    /// would wait for them twice.
    #[inline]
    fn set(&mut self, wake: u64) -> u64 {
        let place = (wake & PLACES) as usize;
        let four = place & 0b1100;
        let before = [0, 1, 2, 3].map(|i| self.wakes[four + i]);
        let [a, b, c, d] = replaced(before, place % 4, wake);
        let earliest = least(a, b, c, d);
        let [a, b, c, d] = replaced(self.earliest, place / 4, earliest);
        self.wakes[place] = wake;
        self.earliest[place / 4] = earliest;
        least(a, b, c, d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_wakes_first_and_ties_go_by_index() {
        let mut schedule = WakeUpSchedule::new(5);
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
    fn a_wake_up_before_its_time_is_kept_until_it_has_come() {
        let at = Time::from_nanos;
        for components in [3, 40] {
            let mut schedule = WakeUpSchedule::new(components);
            schedule.set_by(at(0), 2, at(50));
            schedule.set_by(at(10), 2, at(90));
            assert_eq!(schedule.first(), (at(50), 2), "put off");
            schedule.set_by(at(20), 2, at(30));
            assert_eq!(schedule.first(), (at(30), 2), "sooner");
            schedule.set_by(at(25), 2, Time::MAX);
            assert_eq!(schedule.first(), (at(30), 2), "not at all");
            schedule.set_by(at(30), 2, at(90));
            assert_eq!(schedule.first(), (at(90), 2), "it has come");
            schedule.set_by(at(90), 2, Time::MAX);
            assert_eq!(schedule.first().0, Time::MAX);
        }
    }

    #[test]
    fn a_schedule_takes_more_components_as_they_come() {
        let mut schedule = WakeUpSchedule::new(1);
        assert_eq!(schedule.first(), (Time::MAX, 0));
        for component in 0..40 {
            schedule.grow(component + 1);
            schedule.set(component, Time::from_nanos(1000 - component as u64));
            assert_eq!(schedule.first(), (Time::from_nanos(1000 - component as u64), component));
        }
        schedule.set(39, Time::MAX);
        schedule.set(7, Time::MAX);
        for component in (0..39).rev().filter(|&component| component != 7) {
            assert_eq!(schedule.first().1, component);
            schedule.set(component, Time::MAX);
        }
        assert_eq!(schedule.first().0, Time::MAX);
    }

    /// Compares the schedule with a scan over all components in 20 000 random steps.
    fn walk(components: usize) {
        let mut schedule = WakeUpSchedule::new(components);
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
        for components in [1, 2, 13, 16, 17, 37, 64, 257, 600] {
            walk(components);
        }
    }
}
