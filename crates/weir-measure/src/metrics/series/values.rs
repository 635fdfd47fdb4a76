//! The columns of a series as plain values, for operations on all of them alike.

use weir_cc::LimitingFactor;

use super::columns::{CouplingSeries, FlowSeries, LinkSeries, Series, Share};

/// A column.
pub(super) enum Values<'a> {
    Numbers(&'a mut Vec<f64>, Join),
    LimitingFactors(&'a mut Vec<Option<LimitingFactor>>),
}

/// Rule that joins the values of several bins; missing ones are ignored.
#[derive(Clone, Copy)]
pub(super) enum Join {
    First,
    Mean,
    Least,
    Greatest,
    Last,
}

impl Join {
    fn of(self, values: &[f64]) -> f64 {
        let mut there = values.iter().copied().filter(|value| !value.is_nan());
        let one = match self {
            Self::First => there.next(),
            Self::Last => there.next_back(),
            Self::Least => there.reduce(f64::min),
            Self::Greatest => there.reduce(f64::max),
            Self::Mean => {
                let (sum, count) = there.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
                return sum / f64::from(count);
            }
        };
        one.unwrap_or(f64::NAN)
    }
}

impl Series {
    /// Every column, in an order that depends only on the flows, links and couplings.
    pub(super) fn values(&mut self) -> Vec<Values<'_>> {
        let mut all = vec![Values::Numbers(&mut self.time_s, Join::First)];
        all.extend(self.flows.iter_mut().flat_map(of_flow));
        all.extend(self.links.iter_mut().flat_map(of_link));
        all.extend(self.couplings.iter_mut().flat_map(of_coupling));
        all
    }

    /// Joins groups of `bins` into one each.
    pub(super) fn join(&mut self, bins: usize) {
        for values in self.values() {
            match values {
                Values::Numbers(numbers, how) => {
                    *numbers = numbers.chunks(bins).map(|some| how.of(some)).collect();
                }
                Values::LimitingFactors(factors) => *factors = factors.chunks(bins).map(most).collect(),
            }
        }
    }

    /// Appends the bins of `later`, which has the same columns.
    pub(super) fn append(&mut self, later: &mut Self) {
        for (own, later) in self.values().into_iter().zip(later.values()) {
            match (own, later) {
                (Values::Numbers(own, _), Values::Numbers(later, _)) => own.append(later),
                (Values::LimitingFactors(own), Values::LimitingFactors(later)) => own.append(later),
                _ => {}
            }
        }
    }
}

fn of_flow(flow: &mut FlowSeries) -> impl Iterator<Item = Values<'_>> {
    let numbers = [
        (&mut flow.send_rate_bps, Join::Mean),
        (&mut flow.receive_rate_bps, Join::Mean),
        (&mut flow.target_rate_bps, Join::Mean),
        (&mut flow.loss_ratio, Join::Mean),
        (&mut flow.owd_excess_mean_ms, Join::Mean),
        (&mut flow.owd_excess_max_ms, Join::Greatest),
        (&mut flow.frame_delay_max_ms, Join::Greatest),
    ];
    let share = flow.share.as_mut().map(|share| match share {
        Share::Rate(values) | Share::Window(values) => Values::Numbers(values, Join::Last),
    });
    let signals = flow
        .signals
        .iter_mut()
        .flat_map(|signal| [(&mut signal.min, Join::Least), (&mut signal.max, Join::Greatest)].map(numbered));
    numbers
        .map(numbered)
        .into_iter()
        .chain([Values::LimitingFactors(&mut flow.limiting_factor)])
        .chain(share)
        .chain(signals)
}

fn of_link(link: &mut LinkSeries) -> [Values<'_>; 4] {
    [
        (&mut link.capacity_bps, Join::Mean),
        (&mut link.rate_bps, Join::Mean),
        (&mut link.queue_mean_ms, Join::Mean),
        (&mut link.queue_max_ms, Join::Greatest),
    ]
    .map(numbered)
}

fn of_coupling(coupling: &mut CouplingSeries) -> [Values<'_>; 4] {
    [
        (&mut coupling.send_rate_bps, Join::Mean),
        (&mut coupling.receive_rate_bps, Join::Mean),
        (&mut coupling.aggregate, Join::Last),
        (&mut coupling.groups, Join::Last),
    ]
    .map(numbered)
}

fn numbered((values, how): (&mut Vec<f64>, Join)) -> Values<'_> {
    Values::Numbers(values, how)
}

/// The most frequent factor of the bins; of several, the first.
fn most(factors: &[Option<LimitingFactor>]) -> Option<LimitingFactor> {
    let times = |factor: LimitingFactor| factors.iter().filter(|own| **own == Some(factor)).count();
    let known = factors.iter().copied().flatten();
    known.rev().max_by_key(|&factor| times(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_that_are_joined_keep_what_a_plot_shows_of_them() {
        let values = [2.0, f64::NAN, 1.0, 6.0];
        let joined =
            [Join::First, Join::Mean, Join::Least, Join::Greatest, Join::Last].map(|how| how.of(&values));
        assert_eq!(joined, [2.0, 3.0, 1.0, 6.0, 6.0]);
        assert!(Join::Mean.of(&[f64::NAN]).is_nan() && Join::Last.of(&[]).is_nan());
        let (delay, loss) = (Some(LimitingFactor::Delay), Some(LimitingFactor::Loss));
        assert_eq!(most(&[loss, delay, None, None, delay]), delay);
        assert_eq!((most(&[loss, delay]), most(&[None])), (loss, None));
    }
}
