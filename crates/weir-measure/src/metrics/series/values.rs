//! The columns of time series as plain values, for operations on all columns.

use weir_cc::LimitingFactor;

use super::columns::{CouplingSeries, FlowSeries, LinkSeries, Series, Share};

/// The values of a column, with the rule that joins them.
pub(super) enum ColumnValues<'a> {
    Numbers(&'a mut Vec<f64>, BinJoin),
    LimitingFactors(&'a mut Vec<Option<LimitingFactor>>),
}

/// Rule that joins the values of several bins into one; missing values are ignored.
#[derive(Clone, Copy)]
pub(super) enum BinJoin {
    First,
    Mean,
    Least,
    Greatest,
    Last,
}

impl BinJoin {
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
    pub(super) fn values(&mut self) -> Vec<ColumnValues<'_>> {
        let mut all = vec![ColumnValues::Numbers(&mut self.time_s, BinJoin::First)];
        all.extend(self.flows.iter_mut().flat_map(of_flow));
        all.extend(self.links.iter_mut().flat_map(of_link));
        all.extend(self.couplings.iter_mut().flat_map(of_coupling));
        all
    }

    /// Joins each `bins` bins into one.
    pub(super) fn join(&mut self, bins: usize) {
        for values in self.values() {
            match values {
                ColumnValues::Numbers(numbers, how) => {
                    *numbers = numbers.chunks(bins).map(|some| how.of(some)).collect();
                }
                ColumnValues::LimitingFactors(factors) => {
                    *factors = factors.chunks(bins).map(most_frequent).collect();
                }
            }
        }
    }

    /// Appends the bins of `later`, which has the same columns.
    pub(super) fn append(&mut self, later: &mut Self) {
        for (own, later) in self.values().into_iter().zip(later.values()) {
            match (own, later) {
                (ColumnValues::Numbers(own, _), ColumnValues::Numbers(later, _)) => own.append(later),
                (ColumnValues::LimitingFactors(own), ColumnValues::LimitingFactors(later)) => {
                    own.append(later);
                }
                _ => {}
            }
        }
    }
}

fn of_flow(flow: &mut FlowSeries) -> impl Iterator<Item = ColumnValues<'_>> {
    let numbers = [
        (&mut flow.send_rate_bps, BinJoin::Mean),
        (&mut flow.receive_rate_bps, BinJoin::Mean),
        (&mut flow.target_rate_bps, BinJoin::Mean),
        (&mut flow.loss_ratio, BinJoin::Mean),
        (&mut flow.owd_excess_mean_ms, BinJoin::Mean),
        (&mut flow.owd_excess_max_ms, BinJoin::Greatest),
        (&mut flow.frame_delay_max_ms, BinJoin::Greatest),
    ];
    let share = flow.share.as_mut().map(|share| match share {
        Share::Rate(values) | Share::Window(values) => ColumnValues::Numbers(values, BinJoin::Last),
    });
    let signals = flow.signals.iter_mut().flat_map(|signal| {
        [(&mut signal.min, BinJoin::Least), (&mut signal.max, BinJoin::Greatest)].map(numbered)
    });
    numbers
        .map(numbered)
        .into_iter()
        .chain([ColumnValues::LimitingFactors(&mut flow.limiting_factor)])
        .chain(share)
        .chain(signals)
}

fn of_link(link: &mut LinkSeries) -> [ColumnValues<'_>; 4] {
    [
        (&mut link.capacity_bps, BinJoin::Mean),
        (&mut link.rate_bps, BinJoin::Mean),
        (&mut link.queue_mean_ms, BinJoin::Mean),
        (&mut link.queue_max_ms, BinJoin::Greatest),
    ]
    .map(numbered)
}

fn of_coupling(coupling: &mut CouplingSeries) -> [ColumnValues<'_>; 4] {
    [
        (&mut coupling.send_rate_bps, BinJoin::Mean),
        (&mut coupling.receive_rate_bps, BinJoin::Mean),
        (&mut coupling.aggregate, BinJoin::Last),
        (&mut coupling.groups, BinJoin::Last),
    ]
    .map(numbered)
}

fn numbered((values, how): (&mut Vec<f64>, BinJoin)) -> ColumnValues<'_> {
    ColumnValues::Numbers(values, how)
}

/// The most frequent factor; the first of equally frequent ones.
fn most_frequent(factors: &[Option<LimitingFactor>]) -> Option<LimitingFactor> {
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
        let joined = [BinJoin::First, BinJoin::Mean, BinJoin::Least, BinJoin::Greatest, BinJoin::Last]
            .map(|how| how.of(&values));
        assert_eq!(joined, [2.0, 3.0, 1.0, 6.0, 6.0]);
        assert!(BinJoin::Mean.of(&[f64::NAN]).is_nan() && BinJoin::Last.of(&[]).is_nan());
        let (delay, loss) = (Some(LimitingFactor::Delay), Some(LimitingFactor::Loss));
        assert_eq!(most_frequent(&[loss, delay, None, None, delay]), delay);
        assert_eq!((most_frequent(&[loss, delay]), most_frequent(&[None])), (loss, None));
    }
}
