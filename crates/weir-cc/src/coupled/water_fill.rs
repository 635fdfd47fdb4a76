//! Weighted max-min allocation of one total among claims with a least and a most for each.
//!
//! The passes of RFC 8699 §5.3.1 step (c) converge to this allocation, but as printed they do not always end. A flow
//! that can use no rate keeps its weight in the sum, and the leftover may stay an ulp above the amount given. Here
//! claims are sorted by the share at which they are satisfied, most over weight. A single pass in that order finds the
//! satisfied claims; the weights of the others are summed from the end, never subtracted. A claim's least goes first: a
//! claim that would get less is given its least, and the others share the rest.
//!
//! The order changes only with the claims. A caller keeps it between fillings, which then allocate nothing and take a
//! time proportional to the number of claims. Each least that has to be given first, and was not found by the passes
//! before, costs another pass.

use core::cmp::Ordering;

/// Least and greatest weight, which keep a sum of weights above zero and finite.
const WEIGHT_RANGE: (f64, f64) = (1e-9, 1e9);
/// Greatest amount, in bit/s or bytes.
const MAX_AMOUNT: f64 = 1e30;

/// A claim on the total, and its share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ShareClaim {
    /// Number of the claimant, which orders equal claims.
    pub of: u32,
    /// The share allocated, within the claim's least and its most.
    pub share: f64,
    weight: f64,
    least: f64,
    most: f64,
    /// The share per unit of weight that satisfies the claim.
    level: f64,
    /// Sum of the weights of this claim and of all claims after it.
    rest: f64,
    /// Whether the claim gets its least, because its share by weight would be less.
    held: bool,
}

/// Use of the amount that satisfied claims leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Leftover {
    /// The other claims share it.
    Shared,
    /// It is not allocated.
    Kept,
}

impl ShareClaim {
    /// A claim of claimant `of` with a weight above 0, and a share from `least` to `most`, which may be infinite. A
    /// most below the least counts as the least.
    pub(super) fn new(of: u32, weight: f64, least: f64, most: f64) -> Self {
        let weight = within(weight, WEIGHT_RANGE.0, WEIGHT_RANGE.1);
        let least = within(least, 0.0, MAX_AMOUNT);
        let most = most.max(least);
        Self { of, share: 0.0, weight, least, most, level: most / weight, rest: weight, held: false }
    }

    /// The weight of the claim.
    pub(super) const fn weight(&self) -> f64 {
        self.weight
    }

    /// The least share of the claim.
    pub(super) const fn least(&self) -> f64 {
        self.least
    }

    /// The greatest share of the claim.
    pub(super) const fn most(&self) -> f64 {
        self.most
    }

    /// The order in which claims are satisfied, for sorting.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        self.level.total_cmp(&other.level).then(self.of.cmp(&other.of))
    }
}

/// Limits a value to a range; NaN becomes the least.
fn within(value: f64, least: f64, most: f64) -> f64 {
    value.max(least).min(most)
}

/// Sums the weights for [`fill`]; call it when a claim was added, removed or changed. The claims must be in their
/// [order](ShareClaim::order).
pub(super) fn weigh(claims: &mut [ShareClaim]) {
    let mut rest = 0.0;
    for claim in claims.iter_mut().rev() {
        rest += claim.weight;
        claim.rest = rest;
    }
}

/// The sum of all weights of claims that were [weighed](weigh).
pub(super) fn weights(claims: &[ShareClaim]) -> f64 {
    claims.first().map_or(0.0, |claim| claim.rest)
}

/// Divides `total` among claims that were [weighed](weigh). Returns the sum of their shares. It is `total`, unless
/// all claims are satisfied with less, or their least shares add up to more.
pub(super) fn fill(claims: &mut [ShareClaim], total: f64, leftover: Leftover) -> f64 {
    let total = within(total, 0.0, MAX_AMOUNT);
    let least: f64 = claims.iter().map(|claim| claim.least).sum();
    // The total is at most the sum of the least amounts: each claim gets exactly its least.
    if total <= least {
        for claim in claims.iter_mut() {
            claim.share = claim.least;
        }
        return least;
    }
    if by_weight(claims, total, leftover) {
        hold_and_divide(claims, total, leftover);
    }
    claims.iter().map(|claim| claim.share).sum()
}

/// Divides by weight. Returns whether a claim got less than its least.
fn by_weight(claims: &mut [ShareClaim], total: f64, leftover: Leftover) -> bool {
    let (satisfied, left) = satisfy(claims, total, leftover);
    let Some(rest) = claims.get(satisfied).map(|claim| claim.rest) else { return false };
    let mut too_little = false;
    for claim in claims.iter_mut().skip(satisfied) {
        let share = left * (claim.weight / rest);
        too_little |= share < claim.least;
        claim.share = share.min(claim.most);
    }
    too_little
}

/// Gives each claim its most, while that is at most its share by weight. Returns the number of satisfied claims, and
/// the remaining amount.
fn satisfy(claims: &mut [ShareClaim], total: f64, leftover: Leftover) -> (usize, f64) {
    let mut left = total;
    if leftover == Leftover::Kept {
        return (0, left);
    }
    for (place, claim) in claims.iter_mut().enumerate() {
        if claim.most > left * (claim.weight / claim.rest) {
            return (place, left);
        }
        claim.share = claim.most;
        left = (left - claim.most).max(0.0);
    }
    (claims.len(), left)
}

/// Gives its least to each claim that got less, and divides the remainder among the others, until no claim gets less.
/// There are at most as many passes as claims, because the level of the others only falls.
fn hold_and_divide(claims: &mut [ShareClaim], total: f64, leftover: Leftover) {
    while hold(claims) {
        let held: f64 = claims.iter().filter(|claim| claim.held).map(|claim| claim.least).sum();
        divide_rest(claims, (total - held).max(0.0), leftover);
    }
    for claim in claims.iter_mut() {
        claim.held = false;
        claim.share = within(claim.share, claim.least, claim.most);
    }
}

fn hold(claims: &mut [ShareClaim]) -> bool {
    let mut any = false;
    for claim in claims.iter_mut().filter(|claim| !claim.held && claim.share < claim.least) {
        (claim.held, claim.share) = (true, claim.least);
        any = true;
    }
    any
}

/// As [`by_weight`], for the claims that do not get their least. `share` holds sums of weights from there on.
fn divide_rest(claims: &mut [ShareClaim], total: f64, leftover: Leftover) {
    let mut weights = 0.0;
    for claim in claims.iter_mut().rev().filter(|claim| !claim.held) {
        weights += claim.weight;
        claim.share = weights;
    }
    let (mut left, mut rest) = (total, None);
    for claim in claims.iter_mut().filter(|claim| !claim.held) {
        let by = rest.unwrap_or(claim.share);
        let share = left * (claim.weight / by);
        let satisfied = rest.is_none() && leftover == Leftover::Shared && claim.most <= share;
        if satisfied {
            left = (left - claim.most).max(0.0);
        } else {
            rest = Some(by);
        }
        claim.share = share.min(claim.most);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Shares of `total` in the order of `claims`, each a weight, a least and a most.
    fn shares(claims: &[(f64, f64, f64)], total: f64, leftover: Leftover) -> Vec<f64> {
        let numbered = claims.iter().zip(0..);
        let mut claims: Vec<_> =
            numbered.map(|(&(weight, least, most), of)| ShareClaim::new(of, weight, least, most)).collect();
        claims.sort_by(ShareClaim::order);
        weigh(&mut claims);
        let sum = fill(&mut claims, total, leftover);
        assert_eq!(sum, claims.iter().map(|claim| claim.share).sum::<f64>());
        claims.sort_by_key(|claim| claim.of);
        claims.iter().map(|claim| claim.share).collect()
    }

    fn of(weights_and_most: &[(f64, f64)], total: f64, leftover: Leftover) -> Vec<f64> {
        let claims: Vec<_> = weights_and_most.iter().map(|&(weight, most)| (weight, 0.0, most)).collect();
        shares(&claims, total, leftover)
    }

    const GREEDY: f64 = f64::INFINITY;

    #[test]
    fn the_rest_of_satisfied_claims_goes_to_the_others() {
        let claims = [(1.0, 1.0), (1.0, GREEDY), (2.0, 4.0)];
        assert_eq!(of(&claims, 12.0, Leftover::Shared), [1.0, 7.0, 4.0]);
        assert_eq!(of(&claims, 12.0, Leftover::Kept), [1.0, 3.0, 4.0]);
        // One pass of redistribution, as an earlier draft had it, gives the second 17.
        assert_eq!(of(&[(1.0, 2.0), (1.0, 15.0), (1.0, 11.0)], 30.0, Leftover::Shared), [2.0, 15.0, 11.0]);
        assert_eq!(of(&[(1.0, 2.0), (1.0, 3.0)], 10.0, Leftover::Shared), [2.0, 3.0]);
        assert_eq!(of(&[(1.0, GREEDY), (0.2, GREEDY)], 6.0, Leftover::Shared), [5.0, 1.0]);
    }

    #[test]
    fn it_ends_where_the_printed_passes_do_not() {
        assert_eq!(of(&[(1.0, 0.0), (1.0, GREEDY)], 6.0, Leftover::Shared), [0.0, 6.0]);
        assert_eq!(of(&[(0.1, 1.0), (0.2, 1.0), (0.3, 1.0)], 10.0, Leftover::Shared), [1.0; 3]);
        assert!(of(&[], 10.0, Leftover::Shared).is_empty());
    }

    #[test]
    fn a_least_goes_first_and_the_rest_is_shared_by_weight() {
        // By weight (1, 9, 90): two are held at 10 each.
        let claims = [(1.0, 10.0, GREEDY), (9.0, 10.0, GREEDY), (90.0, 10.0, GREEDY)];
        assert_eq!(shares(&claims, 100.0, Leftover::Shared), [10.0, 10.0, 80.0]);
        assert_eq!(shares(&claims, 30.0, Leftover::Shared), [10.0; 3]);
        assert_eq!(shares(&claims, 3.0, Leftover::Kept), [10.0; 3], "more than there is");
        // Held claims take from those that were satisfied.
        let claims = [(1.0, 60.0, GREEDY), (1.0, 0.0, 45.0), (1.0, 0.0, GREEDY)];
        assert_eq!(shares(&claims, 100.0, Leftover::Shared), [60.0, 20.0, 20.0]);
        assert_eq!(shares(&[(1.0, 9.0, 4.0), (1.0, 0.0, GREEDY)], 10.0, Leftover::Shared), [9.0, 1.0]);
        // By weight (7.5, 7.5, 15): the first is held at 10, and only then the second would get less than 7.
        let claims = [(1.0, 10.0, GREEDY), (1.0, 7.0, GREEDY), (2.0, 0.0, GREEDY)];
        assert_eq!(shares(&claims, 30.0, Leftover::Shared), [10.0, 7.0, 13.0]);
    }

    #[test]
    fn one_claim_gets_exactly_what_there_is() {
        for total in [1.0, 300_000.0, 1_234_567.0, 0.1 + 0.2] {
            for weight in [0.11, 0.42, 1.0, 3.0] {
                assert_eq!(of(&[(weight, GREEDY)], total, Leftover::Shared), [total]);
            }
        }
    }

    #[test]
    fn values_that_are_no_numbers_change_nothing() {
        let claims = [(f64::NAN, f64::NAN, f64::NAN), (1.0, -1.0, GREEDY), (f64::INFINITY, 1.0, GREEDY)];
        for total in [f64::NAN, f64::INFINITY, -1.0, 0.0, 10.0] {
            for leftover in [Leftover::Shared, Leftover::Kept] {
                let shares = shares(&claims, total, leftover);
                assert!(shares.iter().all(|share| share.is_finite() && *share >= 0.0), "{shares:?}");
            }
        }
    }

    /// A level by which all claims are `within(level · weight)`, found by halving.
    fn by_halving(claims: &[(f64, f64, f64)], total: f64) -> Vec<f64> {
        let at = |level: f64| -> Vec<f64> {
            claims.iter().map(|&(weight, least, most)| (level * weight).min(most).max(least)).collect()
        };
        let (mut low, mut high) = (0.0, 1e12);
        for _ in 0..200 {
            let level = f64::midpoint(low, high);
            if at(level).iter().sum::<f64>() < total { low = level } else { high = level }
        }
        at(high)
    }

    fn claim() -> impl Strategy<Value = (f64, f64, f64)> {
        let least = prop_oneof![Just(0.0), 0.0..2e6];
        let most = prop_oneof![Just(GREEDY), 0.0..5e6, Just(0.0)];
        (0.05..10.0, least, most).prop_map(|(weight, least, most)| (weight, least, most.max(least)))
    }

    proptest! {
        #[test]
        fn it_is_the_weighted_max_min_allocation(
            claims in prop::collection::vec(claim(), 1..12),
            total in 0.0..2e7,
        ) {
            let shares = shares(&claims, total, Leftover::Shared);
            let (least, most) = claims.iter().fold((0.0, 0.0), |(l, m), claim| (l + claim.1, m + claim.2));
            let expected = by_halving(&claims, total.min(most).max(least));
            for (share, expected) in shares.iter().zip(&expected) {
                prop_assert!((share - expected).abs() < 0.01, "{shares:?} for {expected:?}");
            }
        }

        #[test]
        fn without_sharing_no_flow_gets_more_than_its_share_or_maximum(
            claims in prop::collection::vec(claim(), 1..12),
            total in 0.0..2e7,
        ) {
            let shares = shares(&claims, total, Leftover::Kept);
            let weights: f64 = claims.iter().map(|claim| claim.0).sum();
            for (share, (weight, least, most)) in shares.iter().zip(&claims) {
                let by_weight = total * weight / weights;
                prop_assert!(*share >= *least && *share <= most.min(by_weight.max(*least)) + 1e-6);
            }
        }
    }
}
