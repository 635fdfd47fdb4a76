//! Numbers of groups that persist while groups change: a new group keeps the number of the most similar old one.

/// Assignment of numbers to the groups of a partition.
use alloc::vec::Vec;

#[derive(Clone, Debug)]
pub(super) struct Identifiers {
    next: u32,
    common: Vec<Common>,
    /// Number of the group, by root.
    numbers: Vec<Option<u32>>,
}

/// Units that a new group has in common with an old one.
#[derive(Clone, Copy, Debug)]
struct Common {
    /// The new group, by one of its units.
    root: usize,
    /// The number of the old group.
    number: u32,
    units: u32,
    rate: f64,
}

/// A unit before the change.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedUnit {
    /// Root of its new group.
    pub(super) root: usize,
    /// The number of its old group.
    pub(super) number: u32,
    /// Its sending rate in bit/s.
    pub(super) rate: f64,
}

impl Identifiers {
    /// An assignment that starts at 1.
    pub(super) fn new() -> Self {
        Self { next: 1, common: Vec::new(), numbers: Vec::new() }
    }

    /// A number that no group has had.
    pub(super) fn next_number(&mut self) -> u32 {
        let next_number = self.next;
        self.next = self.next.wrapping_add(1);
        next_number
    }

    /// Finds the numbers of the new groups; `roots` is one more than the greatest root. Each keeps the number of the
    /// old group with which it has most units in common. Of several, the old group with the higher common rate
    /// counts, then the lower number.
    pub(super) fn match_groups(&mut self, roots: usize, units: impl Iterator<Item = PlacedUnit>) {
        self.count_common(units);
        self.common.sort_unstable_by(|a, b| {
            let most = b.units.cmp(&a.units).then(b.rate.total_cmp(&a.rate));
            most.then(a.number.cmp(&b.number)).then(a.root.cmp(&b.root))
        });
        self.numbers.clear();
        self.numbers.resize(roots, None);
        for at in 0..self.common.len() {
            let Common { root, number, .. } = self.common[at];
            let is_given = self.common[..at]
                .iter()
                .any(|before| before.number == number && self.numbers[before.root] == Some(number));
            if self.numbers[root].is_none() && !is_given {
                self.numbers[root] = Some(number);
            }
        }
    }

    /// The number of the new group of `root`, which is new if it continues no old group.
    pub(super) fn number(&mut self, root: usize) -> u32 {
        if let Some(number) = self.numbers.get(root).copied().flatten() {
            return number;
        }
        let next_number = self.next_number();
        if let Some(number) = self.numbers.get_mut(root) {
            *number = Some(next_number);
        }
        next_number
    }

    /// The number of the new group of `root`, if it continues an old group.
    pub(super) fn known(&self, root: usize) -> Option<u32> {
        self.numbers.get(root).copied().flatten()
    }

    fn count_common(&mut self, units: impl Iterator<Item = PlacedUnit>) {
        self.common.clear();
        for PlacedUnit { root, number, rate } in units {
            let known = self.common.iter_mut().find(|common| common.root == root && common.number == number);
            if let Some(common) = known {
                common.units += 1;
                common.rate += rate;
            } else {
                self.common.push(Common { root, number, units: 1, rate });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the groups of units `(root, old number, rate)`.
    fn numbers(units: &[(usize, u32, f64)]) -> Vec<u32> {
        let mut identifiers = Identifiers { next: 100, ..Identifiers::new() };
        let placed = |&(root, number, rate)| PlacedUnit { root, number, rate };
        identifiers.match_groups(units.len(), units.iter().map(placed));
        units.iter().map(|&(root, ..)| identifiers.number(root)).collect()
    }

    #[test]
    fn a_group_keeps_the_number_of_the_one_it_has_most_in_common_with() {
        assert_eq!(numbers(&[(0, 1, 1.0), (0, 2, 1.0), (0, 2, 1.0)]), [2, 2, 2]);
        assert_eq!(numbers(&[(0, 1, 1.0), (0, 1, 1.0), (2, 1, 9.0)]), [1, 1, 100]);
    }

    #[test]
    fn among_equals_the_higher_rate_wins_and_then_the_lower_number() {
        assert_eq!(numbers(&[(0, 1, 1.0), (0, 2, 3.0)]), [2, 2]);
        assert_eq!(numbers(&[(0, 2, 1.0), (0, 1, 1.0)]), [1, 1]);
        assert_eq!(numbers(&[(0, 7, 1.0), (1, 7, 2.0)]), [100, 7]);
    }

    #[test]
    fn groups_that_swap_their_units_take_what_is_left() {
        let swapped = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (0, 2, 1.0), (1, 1, 1.0)];
        assert_eq!(numbers(&swapped), [2, 1, 2, 2, 1]);
    }
}
