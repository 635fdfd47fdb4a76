//! The verdict of a comparison: the leading controllers, and a sentence that names them.

use super::outcome::{Comparison, ControllerRuns};
use super::tables::media_sum;
use weir_measure::results::ranking::{RankedController, Ranking};
use weir_measure::results::stats::Estimate;
use weir_measure::results::{FlowKind, RunMetrics, Value};
use weir_scenario::registry;

impl Comparison {
    /// The verdict in a few sentences. Of several controllers it names the leading and the recommended ones. Of a single one it
    /// gives rate, queuing delay and loss; without media, the use of the bottleneck.
    pub fn verdict(&self) -> String {
        self.verdict_by(self.summary.ranking.as_ref(), &self.runs_in_words())
    }

    /// [`Self::verdict`] by this ranking. `runs_in_words` names the runs.
    pub(crate) fn verdict_by(&self, ranking: Option<&Ranking>, runs_in_words: &str) -> String {
        let sentence = match (self.candidates().next(), ranking) {
            (None, _) => return "Nothing was compared.".to_owned(),
            (Some(_), Some(ranking)) => self.ranked_in_words(ranking, runs_in_words),
            (Some(_), None) if self.has_media() => self.media_in_words(),
            (Some(_), None) => self.bottleneck_in_words(),
        };
        match self.names_of_fallbacks() {
            None => sentence,
            Some(names) => format!("On the stand-in {names}, not on the recorded link: {sentence}"),
        }
    }

    /// The ranking of the controllers, or `None` for fewer than two, and where there is no media. `neighbours` are the runs of
    /// the same controllers in which the media flows compete with another flow.
    pub(crate) fn ranking_beside(&self, neighbours: &Self) -> Option<Ranking> {
        let candidates: Vec<RankedController> =
            self.candidates_beside(neighbours).map(|(_, controller_runs)| controller_runs).collect();
        (candidates.len() > 1 && self.has_media()).then(|| Ranking::of(&candidates))
    }

    /// The candidates, each with its index among the controllers.
    pub(crate) fn candidates_beside<'a>(
        &'a self,
        neighbours: &'a Self,
    ) -> impl Iterator<Item = (usize, RankedController)> + 'a {
        let candidate = |(place, controller_runs): (usize, &ControllerRuns)| {
            let beside = neighbours.controllers.get(place).map_or(&[][..], |other| other.runs.as_slice());
            (place, candidate(controller_runs, beside))
        };
        self.candidates().map(candidate)
    }

    /// The controllers, each with its index, or the reference senders where there are no others.
    fn candidates(&self) -> impl Iterator<Item = (usize, &ControllerRuns)> {
        let is_controller = |c: &ControllerRuns| !registry::is_reference(&c.controller);
        let some = self.controllers.iter().any(is_controller);
        self.controllers.iter().enumerate().filter(move |(_, c)| !some || is_controller(c))
    }

    /// The ranking in a sentence, and one on controllers that delivered no data in any run, if there are any.
    fn ranked_in_words(&self, ranking: &Ranking, runs_in_words: &str) -> String {
        let nothing = |run: &RunMetrics| run.media.rate_bps.is_none_or(|rate| rate == 0.0);
        let idle = self.candidates().filter(|(_, c)| c.runs.iter().all(nothing));
        let names: Vec<&str> = idle.map(|(_, c)| c.name.as_str()).collect();
        if names.is_empty() {
            ranking.sentence(runs_in_words)
        } else if names.len() == self.candidates().count() {
            format!("No controller delivered anything {runs_in_words}.")
        } else {
            format!("{} Nothing was delivered by {}.", ranking.sentence(runs_in_words), names.join(", "))
        }
    }

    fn media_in_words(&self) -> String {
        let media = |value: fn(&RunMetrics) -> Option<f64>| self.first_estimate(value);
        let rate = media(|run| run.media.rate_bps.map(|bps| bps / 1e3));
        let delay = media(|run| run.media.owd_excess_ms.p95);
        let loss = media(|run| run.media.loss_ratio.map(|ratio| 100.0 * ratio));
        let name = self.candidates().next().map_or("", |(_, c)| c.name.as_str());
        let (Some(rate), Some(delay), Some(loss)) = (rate, delay, loss) else {
            return format!("{name} delivered nothing {}.", self.runs_in_words());
        };
        format!(
            "{name} carried {} kbit/s at a queuing delay of {} ms (95th percentile) and a loss of {} % {}.",
            in_words(&rate, 0),
            in_words(&delay, 0),
            in_words(&loss, 2),
            self.runs_with_interval()
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
            self.runs_with_interval()
        )
    }

    /// A metric over the runs of the first candidate.
    fn first_estimate(&self, value: impl Fn(&RunMetrics) -> Option<f64>) -> Option<Estimate> {
        let values: Vec<f64> = self.candidates().next()?.1.runs.iter().filter_map(value).collect();
        let estimate = Estimate::of(&values)?;
        let random = !self.runs_are_alike();
        Some(Estimate { half_width: estimate.half_width.filter(|_| random), ..estimate })
    }

    pub(super) fn runs_in_words(&self) -> String {
        match self.summary.runs {
            1 => "in one run".to_owned(),
            runs => format!("over {runs} runs"),
        }
    }

    fn runs_with_interval(&self) -> String {
        match self.summary.runs {
            1 => self.runs_in_words(),
            _ if self.runs_are_alike() => format!("{}, all of them alike", self.runs_in_words()),
            _ => format!("{} (mean ± 95 % interval)", self.runs_in_words()),
        }
    }
}

/// A candidate for the ranking, with its runs `beside` a competing flow.
fn candidate(controller_runs: &ControllerRuns, beside: &[RunMetrics]) -> RankedController {
    let values_of =
        |runs: &[RunMetrics], value: &dyn Fn(&RunMetrics) -> Value| runs.iter().map(value).collect();
    let neighbours: Vec<Value> = values_of(beside, &neighbour_rate);
    RankedController {
        name: controller_runs.name.clone(),
        useful_rate_kbps: values_of(&controller_runs.runs, &|run| {
            media_sum(run, |flow| flow.useful_rate_bps).map(|bps| bps / 1e3)
        }),
        frame_delay_ms: values_of(&controller_runs.runs, &|run| run.media.frame_delay_ms.p95),
        freezes: values_of(&controller_runs.runs, &|run| media_sum(run, |flow| flow.freezes)),
        neighbour_rate_kbps: if neighbours.iter().all(Option::is_some) { neighbours } else { Vec::new() },
    }
}

/// Sum of the rates of the flows that are not media, in kbit/s, or `None` where there are none.
fn neighbour_rate(run: &RunMetrics) -> Value {
    let mut others = run.flows.iter().filter(|flow| flow.kind != FlowKind::Media).peekable();
    others.peek()?;
    Some(others.filter_map(|flow| flow.rate_bps).sum::<f64>() / 1e3)
}

/// `26 ± 3`, or `26` where there is no interval.
pub(super) fn in_words(estimate: &Estimate, decimals: usize) -> String {
    match estimate.half_width {
        Some(half) => format!("{:.decimals$} ± {half:.decimals$}", estimate.mean),
        None => format!("{:.decimals$}", estimate.mean),
    }
}
