//! What a comparison amounts to, in a sentence.

use super::outcome::{Comparison, ControllerRuns};
use super::tables::media_sum;
use crate::registry;
use weir_measure::results::RunMetrics;
use weir_measure::results::stats::{Estimate, mean, paired_difference};

impl Comparison {
    /// What the runs amount to, in a sentence: which of several controllers delivered most video in time, by how
    /// much, and how sure that is; of a single one rate, queuing delay and loss; without media how the bottleneck was
    /// used.
    pub fn verdict(&self) -> String {
        let over = self.over();
        self.verdict_as(&Wording { best: "delivered most video in time", alike: "deliver alike", over })
    }

    /// [`Self::verdict`] in the words of an occasion.
    pub(crate) fn verdict_as(&self, wording: &Wording<'_>) -> String {
        let ranking = self.by_useful_rate();
        let sentence = match ranking.as_slice() {
            [] => return "Nothing was compared.".to_owned(),
            _ if !self.has_media() => self.bottleneck_in_words(),
            [_] => self.media_in_words(),
            [best, second, ..] => wording.contest(best, second),
        };
        match self.names_of_stand_ins() {
            None => sentence,
            Some(names) => format!("On the stand-in {names}, not on the recorded link: {sentence}"),
        }
    }

    /// The controllers; where there are none, the yardsticks.
    fn contestants(&self) -> impl Iterator<Item = &ControllerRuns> {
        let is_law = |c: &&ControllerRuns| !registry::is_yardstick(&c.law);
        let some = self.controllers.iter().any(|c| is_law(&c));
        self.controllers.iter().filter(move |c| !some || is_law(c))
    }

    /// The contestants by the rate of video that came in time, best first, each with its rate in each run in kbit/s.
    fn by_useful_rate(&self) -> Vec<(&str, Vec<f64>)> {
        let useful =
            |run: &RunMetrics| media_sum(run, |flow| flow.useful_rate_bps).map_or(0.0, |bps| bps / 1e3);
        let rates = |c: &ControllerRuns| c.runs.iter().map(useful).collect();
        let mut ranking: Vec<(&str, Vec<f64>)> =
            self.contestants().map(|c| (c.name.as_str(), rates(c))).collect();
        ranking.sort_by(|(_, a), (_, b)| mean_or_zero(b).total_cmp(&mean_or_zero(a)));
        ranking
    }

    fn media_in_words(&self) -> String {
        let media = |value: fn(&RunMetrics) -> Option<f64>| self.first_estimate(value);
        let rate = media(|run| run.media.rate_bps.map(|bps| bps / 1e3));
        let delay = media(|run| run.media.owd_excess_ms.p95);
        let loss = media(|run| run.media.loss_ratio.map(|ratio| 100.0 * ratio));
        let name = self.contestants().next().map_or("", |c| c.name.as_str());
        let (Some(rate), Some(delay), Some(loss)) = (rate, delay, loss) else {
            return format!("{name} delivered nothing {}.", self.over());
        };
        format!(
            "{name} carried {} kbit/s at a queuing delay of {} ms (95th percentile) and a loss of {} % {}.",
            in_words(&rate, 0),
            in_words(&delay, 0),
            in_words(&loss, 2),
            self.over_with_interval()
        )
    }

    fn bottleneck_in_words(&self) -> String {
        let bottleneck = |run: &RunMetrics| run.links.iter().find(|link| link.bottleneck).cloned();
        let name = self.controllers.iter().flat_map(|c| &c.runs).find_map(bottleneck).map(|link| link.name);
        let used =
            self.first_estimate(|run| bottleneck(run)?.utilisation.time_mean.map(|share| 100.0 * share));
        let loss = self.first_estimate(|run| bottleneck(run)?.loss_ratio.map(|ratio| 100.0 * ratio));
        let (Some(name), Some(used), Some(loss)) = (name, used, loss) else {
            return "No packet came to a bottleneck.".to_owned();
        };
        format!(
            "The link `{name}` was used to {} % and lost {} % of its packets {}.",
            in_words(&used, 1),
            in_words(&loss, 2),
            self.over_with_interval()
        )
    }

    /// A metric over the runs of the first contestant.
    fn first_estimate(&self, value: impl Fn(&RunMetrics) -> Option<f64>) -> Option<Estimate> {
        let values: Vec<f64> = self.contestants().next()?.runs.iter().filter_map(value).collect();
        Estimate::of(&values)
    }

    fn over(&self) -> String {
        match self.summary.runs {
            1 => "in one run".to_owned(),
            runs => format!("over {runs} runs"),
        }
    }

    fn over_with_interval(&self) -> String {
        match self.summary.runs {
            1 => self.over(),
            _ => format!("{} (mean ± 95 % interval)", self.over()),
        }
    }
}

/// How a contest of controllers is told.
#[derive(Clone, Debug)]
pub(crate) struct Wording<'a> {
    /// What the best does where it leads for sure.
    pub(crate) best: &'a str,
    /// What the first two do where it does not.
    pub(crate) alike: &'a str,
    /// Over which runs.
    pub(crate) over: String,
}

impl Wording<'_> {
    fn contest(&self, (best, rates): &(&str, Vec<f64>), (second, others): &(&str, Vec<f64>)) -> String {
        let over = &self.over;
        let amount = format!("{:.0} kbit/s of video within 150 ms", mean_or_zero(rates));
        match paired_difference(rates, others) {
            Some(lead) if lead.excludes_zero() => format!(
                "{best} {}: {amount} {over}, {} kbit/s (95 % interval) more than {second}.",
                self.best,
                in_words(&lead, 0)
            ),
            Some(lead) if lead.half_width.is_some() => format!(
                "{best} and {second} {}: {amount} by {best} {over}, and its lead of {} kbit/s (95 % interval) includes \
                 zero.",
                self.alike,
                in_words(&lead, 0)
            ),
            _ => format!(
                "{best} delivered {amount} {over}, which says nothing about its difference to {second}."
            ),
        }
    }
}

/// `26 ± 3`, or `26` where there is no interval.
pub(super) fn in_words(estimate: &Estimate, decimals: usize) -> String {
    match estimate.half_width {
        Some(half) => format!("{:.decimals$} ± {half:.decimals$}", estimate.mean),
        None => format!("{:.decimals$}", estimate.mean),
    }
}

/// The mean; of nothing zero.
fn mean_or_zero(values: &[f64]) -> f64 {
    mean(values).unwrap_or(0.0)
}
