//! The leading controllers of a comparison, and the recommended ones, by paired runs of the same seeds.
//!
//! The result does not depend on the number of candidates. Adding or removing a beaten one changes neither set,
//! and no further candidate brings a beaten one back into the leading set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::over_runs::Value;
use super::stats::{Quantiles, mean, sample_sd};

mod sentence;

/// A candidate beats another only by more than this share of its own mean.
pub const MARGIN: f64 = 0.01;
/// Probability at most that one of two equal candidates is found to beat the other.
pub const ERROR: f64 = 0.005;
/// Fewer runs do not suffice to find the leading candidates.
pub const LEAST_SEEDS: usize = 5;

/// A quantity by which candidates are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Payload of the frames that were whole within 150 ms of their capture, in kbit/s.
    UsefulRate,
    /// 95th percentile of the frame delay, in milliseconds.
    FrameDelay,
    /// Number of freezes.
    Freezes,
    /// Rate of the traffic beside the media, in kbit/s.
    NeighbourRate,
}

impl Criterion {
    /// Every criterion, in the order of declaration.
    pub const ALL: [Self; 4] = [Self::UsefulRate, Self::FrameDelay, Self::Freezes, Self::NeighbourRate];
    /// The criteria by which one member of the leading set dominates another.
    pub const DOMINATING: [Self; 3] = [Self::UsefulRate, Self::FrameDelay, Self::Freezes];

    /// Its name in sentences and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UsefulRate => "useful rate",
            Self::FrameDelay => "frame delay p95",
            Self::Freezes => "freezes",
            Self::NeighbourRate => "neighbour rate",
        }
    }

    /// The unit of its values; empty for a pure number.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::UsefulRate | Self::NeighbourRate => "kbit/s",
            Self::FrameDelay => "ms",
            Self::Freezes => "",
        }
    }

    /// Direction in which a value is better.
    pub const fn better(self) -> Better {
        match self {
            Self::UsefulRate | Self::NeighbourRate => Better::Higher,
            Self::FrameDelay | Self::Freezes => Better::Lower,
        }
    }
}

/// Direction in which a value is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The higher one.
    Higher,
    /// The lower one.
    Lower,
}

/// Whether `y` beats `x`, values of runs of the same seeds in the same order.
///
/// The condition is that the mean of the paired differences in favour of `y`, less `margin` times the mean of `y`,
/// exceeds t standard errors. t is the one-sided 99.5 % point of Student's t, 3.25 for ten runs. Never true with
/// fewer than [`LEAST_SEEDS`] runs, with different numbers of runs, or with values that are not finite.
///
/// The relation is transitive over values that are not negative: standard deviations of differences obey the triangle inequality.
pub fn beats(y: &[f64], x: &[f64], better: Better, margin: f64) -> bool {
    static ONE_SIDED: Quantiles = Quantiles::of(1.0 - ERROR);
    if y.len() != x.len() || y.len() < LEAST_SEEDS {
        return false;
    }
    let sign = if better == Better::Higher { 1.0 } else { -1.0 };
    let lead: Vec<f64> = y.iter().zip(x).map(|(y, x)| sign * (y - x)).collect();
    let (Some(mean_lead), Some(sd), Some(mean_y)) = (mean(&lead), sample_sd(&lead), mean(y)) else {
        return false;
    };
    let standard_error = sd / (y.len() as f64).sqrt();
    mean_lead - margin * mean_y.abs() > ONE_SIDED.at(y.len() - 1) * standard_error
}

/// The runs of a controller for the comparison: for each criterion a value per run, in the order of the seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankedController {
    /// The controller's name.
    pub name: String,
    /// Values of [`Criterion::UsefulRate`].
    pub useful_rate_kbps: Vec<Value>,
    /// Values of [`Criterion::FrameDelay`].
    pub frame_delay_ms: Vec<Value>,
    /// Values of [`Criterion::Freezes`].
    pub freezes: Vec<Value>,
    /// Values of [`Criterion::NeighbourRate`]; none where the media are alone.
    pub neighbour_rate_kbps: Vec<Value>,
}

impl RankedController {
    /// The values of the runs, in the order of the seeds.
    pub fn values(&self, criterion: Criterion) -> &[Value] {
        match criterion {
            Criterion::UsefulRate => &self.useful_rate_kbps,
            Criterion::FrameDelay => &self.frame_delay_ms,
            Criterion::Freezes => &self.freezes,
            Criterion::NeighbourRate => &self.neighbour_rate_kbps,
        }
    }

    /// The values of every run, or `None` where one is missing.
    fn whole(&self, criterion: Criterion) -> Option<Vec<f64>> {
        let values = self.values(criterion);
        let whole: Option<Vec<f64>> = values.iter().map(|value| value.filter(|v| v.is_finite())).collect();
        whole.filter(|values| !values.is_empty())
    }

    /// Whether it beats `other`, whose runs are of the same seeds, by `criterion`. Never where a value is missing.
    pub fn beats(&self, other: &Self, criterion: Criterion, margin: f64) -> bool {
        let both = self.whole(criterion).zip(other.whole(criterion));
        both.is_some_and(|(candidate, other)| beats(&candidate, &other, criterion.better(), margin))
    }

    /// The mean over the runs that have a value.
    pub fn mean(&self, criterion: Criterion) -> Value {
        let known: Vec<f64> = self.values(criterion).iter().copied().flatten().collect();
        mean(&known)
    }

    /// Whether it beats `other` by one criterion and is beaten by it in none.
    fn dominates(&self, other: &Self) -> bool {
        Criterion::DOMINATING.iter().any(|&by| self.beats(other, by, MARGIN))
            && !Criterion::DOMINATING.iter().any(|&by| other.beats(self, by, MARGIN))
    }
}

/// The leading controllers, and the recommended ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranking {
    /// Number of runs of each candidate.
    pub runs: usize,
    /// The candidates that no candidate beats in useful rate, the highest mean first. Empty for fewer than five
    /// runs, which do not suffice.
    pub leading: Vec<String>,
    /// The leading candidates that no member dominates. A member dominates another if it beats it in useful rate,
    /// frame delay or freezes, and is beaten by it in none of them. Where members dominate each other in a circle,
    /// the whole circle.
    pub recommended: Vec<String>,
    /// Candidates that lack a run.
    pub left_out: Vec<String>,
    /// The candidates that were compared, the highest mean useful rate first.
    pub candidates: Vec<Ranked>,
}

/// A candidate that was compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranked {
    /// Its name.
    pub name: String,
    /// Mean useful rate in kbit/s.
    pub useful_rate_kbps: f64,
    /// Mean over the runs of the 95th percentile of the frame delay in milliseconds.
    pub frame_delay_ms: Value,
    /// Mean number of freezes.
    pub freezes: Value,
    /// Mean rate of the traffic beside the media in kbit/s.
    pub neighbour_rate_kbps: Value,
    /// Candidates that beat it in useful rate.
    pub beaten_by: Vec<String>,
    /// Members of the leading set that dominate it, if it is one.
    pub dominated_by: Vec<String>,
    /// Members of the leading set that it beats in frame delay, if it is one.
    pub shorter_frame_delay_than: Vec<String>,
    /// Members of the leading set that it beats in freezes, if it is one.
    pub fewer_freezes_than: Vec<String>,
    /// Members of the leading set that leave the traffic beside the media less, if it is one.
    pub leaves_more_than: Vec<String>,
}

impl Ranking {
    /// Gives the candidate `from` the name `to`.
    pub fn rename(&mut self, from: &str, to: &str) {
        let Self { leading, recommended, left_out, candidates, .. } = self;
        let of_candidates = candidates.iter_mut().flat_map(|own| {
            let Ranked { name, beaten_by, dominated_by, .. } = own;
            let lists =
                [beaten_by, dominated_by, &mut own.shorter_frame_delay_than, &mut own.fewer_freezes_than];
            let lists = lists.into_iter().chain([&mut own.leaves_more_than]).flatten();
            std::iter::once(name).chain(lists)
        });
        let names = [leading, recommended, left_out].into_iter().flatten().chain(of_candidates);
        names.filter(|name| *name == from).for_each(|name| to.clone_into(name));
    }

    /// The ranking of `candidates`, whose runs are of the same seeds.
    pub fn of(candidates: &[RankedController]) -> Self {
        let runs = candidates.iter().map(|candidate| candidate.useful_rate_kbps.len()).max().unwrap_or(0);
        let is_whole = |candidate: &&RankedController| {
            candidate.useful_rate_kbps.len() == runs && candidate.whole(Criterion::UsefulRate).is_some()
        };
        let (mut compared, left_out): (Vec<&RankedController>, Vec<&RankedController>) =
            candidates.iter().partition(is_whole);
        let useful = |candidate: &RankedController| candidate.mean(Criterion::UsefulRate).unwrap_or(0.0);
        compared.sort_by(|a, b| useful(b).total_cmp(&useful(a)));
        let beaten_by = |candidate: &RankedController| -> Vec<String> {
            let beat = |other: &&&RankedController| other.beats(candidate, Criterion::UsefulRate, MARGIN);
            compared.iter().filter(beat).map(|other| other.name.clone()).collect()
        };
        // With too few seeds no difference is significant, so no controller leads.
        let leads = |candidate: &&RankedController| runs >= LEAST_SEEDS && beaten_by(candidate).is_empty();
        let leading: Vec<&RankedController> = compared.iter().copied().filter(leads).collect();
        let recommended = undominated(&leading);
        let ranked = |candidate: &&RankedController| {
            let leads = leading.iter().any(|other| core::ptr::eq(*other, *candidate));
            let beaten = |criterion| -> Vec<String> {
                let others =
                    leading.iter().filter(|other| leads && candidate.beats(other, criterion, MARGIN));
                others.map(|other| other.name.clone()).collect()
            };
            let dominating = leading.iter().filter(|other| leads && other.dominates(candidate));
            Ranked {
                name: candidate.name.clone(),
                useful_rate_kbps: useful(candidate),
                frame_delay_ms: candidate.mean(Criterion::FrameDelay),
                freezes: candidate.mean(Criterion::Freezes),
                neighbour_rate_kbps: candidate.mean(Criterion::NeighbourRate),
                beaten_by: beaten_by(candidate),
                dominated_by: dominating.map(|other| other.name.clone()).collect(),
                shorter_frame_delay_than: beaten(Criterion::FrameDelay),
                fewer_freezes_than: beaten(Criterion::Freezes),
                leaves_more_than: beaten(Criterion::NeighbourRate),
            }
        };
        let names = |of: &[&RankedController]| of.iter().map(|candidate| candidate.name.clone()).collect();
        Self {
            runs,
            leading: names(&leading),
            recommended: names(&recommended),
            left_out: names(&left_out),
            candidates: compared.iter().map(ranked).collect(),
        }
    }

    /// Whether the runs suffice to find a leader.
    pub const fn can_tell(&self) -> bool {
        self.runs >= LEAST_SEEDS
    }

    /// The least probability that the candidate that is truly the best in useful rate is in the leading set.
    pub fn confidence(&self) -> f64 {
        let others = self.candidates.len().saturating_sub(1);
        (1.0 - ERROR * others as f64).max(0.0)
    }

    /// The candidate of this name.
    pub fn candidate(&self, name: &str) -> Option<&Ranked> {
        self.candidates.iter().find(|candidate| candidate.name == name)
    }
}

/// The members of `leading` that no member dominates, directly or through others, except those that they dominate
/// so in turn.
fn undominated<'a>(leading: &[&'a RankedController]) -> Vec<&'a RankedController> {
    let count = leading.len();
    let mut over: Vec<Vec<bool>> = leading
        .iter()
        .map(|candidate| leading.iter().map(|other| candidate.dominates(other)).collect())
        .collect();
    // Warshall: the transitive closure of dominance.
    for by in 0..count {
        for from in 0..count {
            for to in 0..count {
                over[from][to] |= over[from][by] && over[by][to];
            }
        }
    }
    let free = |&candidate: &usize| (0..count).all(|other| !over[other][candidate] || over[candidate][other]);
    (0..count).filter(free).map(|candidate| leading[candidate]).collect()
}

#[cfg(test)]
mod tests;
