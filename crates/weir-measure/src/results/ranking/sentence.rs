//! A ranking in a sentence or two.

use super::{LEAST_SEEDS, Ranked, Ranking};
use crate::results::over_runs::Value;

/// Wording of a quantity in the sentence.
struct QuantityWording {
    /// Phrase behind the better candidate's name.
    better: &'static str,
    unit: &'static str,
    decimals: usize,
    value: fn(&Ranked) -> Value,
    /// The other leaders that it is better than.
    better_than: fn(&Ranked) -> &[String],
}

const FRAME_DELAY: QuantityWording = QuantityWording {
    better: "has the shorter frame delay",
    unit: " ms",
    decimals: 0,
    value: |ranked| ranked.frame_delay_ms,
    better_than: |ranked| &ranked.shorter_frame_delay_than,
};
const FREEZES: QuantityWording = QuantityWording {
    better: "has fewer freezes",
    unit: "",
    decimals: 1,
    value: |ranked| ranked.freezes,
    better_than: |ranked| &ranked.fewer_freezes_than,
};
const NEIGHBOUR: QuantityWording = QuantityWording {
    better: "leaves its neighbour more",
    unit: " kbit/s",
    decimals: 0,
    value: |ranked| ranked.neighbour_rate_kbps,
    better_than: |ranked| &ranked.leaves_more_than,
};

impl Ranking {
    /// Names the leading and the recommended candidates, and why; `over` names the runs, such as "over 10 runs".
    pub fn sentence(&self, over: &str) -> String {
        let mut text = match (self.candidates.as_slice(), self.can_tell()) {
            ([], _) => "No controller has all of its runs, so that none can be compared.".to_owned(),
            (_, false) => self.too_few(over),
            (_, true) => format!("{} {}", self.leaders(over), self.recommendation()).trim_end().to_owned(),
        };
        if !self.left_out.is_empty() {
            text.extend([" Left out, as runs are missing: ", &listed(&self.left_out), "."]);
        }
        text
    }

    fn too_few(&self, over: &str) -> String {
        let first = self.candidates.first().map_or("", |ranked| ranked.name.as_str());
        let these = if self.runs == 1 { "One run" } else { "These runs" };
        format!(
            "{these} cannot tell which controller leads: that takes {LEAST_SEEDS} seeds, and better 10 (--runs 10). The \
             highest useful rate {over} is that of {first}, {} kbit/s.",
            self.useful_rates(&[first])
        )
    }

    fn leaders(&self, over: &str) -> String {
        let names: Vec<&str> = self.leading.iter().map(String::as_str).collect();
        let rates = self.useful_rates(&names);
        let what = format!("{rates} kbit/s of video within 150 ms {over}");
        match names.as_slice() {
            [one] if self.candidates.len() == 1 => format!("{one} carries {what}."),
            [one] => {
                let others = self.candidates.len() - 1;
                let beaten = if others == 1 {
                    self.candidates
                        .iter()
                        .find(|candidate| candidate.name != *one)
                        .map_or("", |ranked| ranked.name.as_str())
                } else {
                    "every other controller"
                };
                format!("{one} leads with {what}; it beats {beaten}.")
            }
            [_, _] => format!("{} lead with {what}; neither beats the other.", listed(&self.leading)),
            _ => format!("{} lead with {what}; none of them beats another.", listed(&self.leading)),
        }
    }

    /// The recommended leaders, and why. Empty where there is one leader.
    fn recommendation(&self) -> String {
        let differ = |criteria: &[QuantityWording], among: &[String]| -> Vec<String> {
            let reasons = |by| self.recommended.iter().filter_map(move |name| self.why(name, by, among));
            criteria.iter().flat_map(reasons).collect()
        };
        match (self.leading.as_slice(), self.recommended.as_slice()) {
            ([] | [_], _) => String::new(),
            (_, [one]) => {
                format!("Recommended: {one}. {}.", differ(&[FRAME_DELAY, FREEZES], &self.leading).join("; "))
            }
            (_, several) => {
                let differ = differ(&[FRAME_DELAY, FREEZES, NEIGHBOUR], several);
                let neighbour =
                    self.candidates.iter().any(|candidate| candidate.neighbour_rate_kbps.is_some());
                let differ = match (differ.is_empty(), neighbour) {
                    (false, _) => differ.join("; "),
                    (true, false) => "These runs tell no difference in frame delay or freezes".to_owned(),
                    (true, true) => {
                        "These runs tell no difference in frame delay, freezes or what is left to the neighbour".to_owned()
                    }
                };
                format!("Recommended: {}. {differ}.", listed(several))
            }
        }
    }

    /// The advantage of the candidate `name` over some of `among`; for one that beats none of them `None`.
    fn why(&self, name: &str, by: &QuantityWording, among: &[String]) -> Option<String> {
        let ranked = self.candidate(name)?;
        let shown = |ranked: &Ranked| Some(format!("{:.*}{}", by.decimals, (by.value)(ranked)?, by.unit));
        let beaten = (by.better_than)(ranked).iter().filter(|other| among.contains(other));
        let beaten: Vec<String> =
            beaten.filter_map(|other| Some(format!("{other} {}", shown(self.candidate(other)?)?))).collect();
        (!beaten.is_empty()).then(|| {
            format!("{name} {} ({}; {})", by.better, shown(ranked).unwrap_or_default(), beaten.join(", "))
        })
    }

    /// The mean useful rates of the candidates `names` in kbit/s, as a range where there are several.
    fn useful_rates(&self, names: &[&str]) -> String {
        let rates: Vec<f64> =
            names.iter().filter_map(|name| Some(self.candidate(name)?.useful_rate_kbps)).collect();
        ends(&rates).map_or_else(String::new, |(least, most)| range(least, most, 0))
    }
}

fn ends(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().reduce(f64::min)?;
    Some((least, values.iter().copied().fold(least, f64::max)))
}

/// `587 to 596`; a single number where both look alike.
fn range(least: f64, most: f64, decimals: usize) -> String {
    let (least, most) = (format!("{least:.decimals$}"), format!("{most:.decimals$}"));
    if least == most { least } else { format!("{least} to {most}") }
}

/// `a, b and c`.
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
