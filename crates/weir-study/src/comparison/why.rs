//! Reasons for a controller's rate: its decisions around a moment of a run, and the largest rate decreases.

use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::Side;

use super::decisions::{FlowSignals, change, distance, signals};
use super::panels;
use super::saved::RecordedRun;
use weir_measure::metrics::{BINS_PER_SECOND, DecidingSignal, DecisionReason, RecordedDecision};
use weir_measure::results::FlowKind;
use weir_scenario::registry::Registry;

/// Share of the rate below which a decrease is not listed.
const MIN_DECREASE: f64 = 0.02;

/// A flow of a recorded run.
#[derive(Clone, Debug)]
pub struct RecordedFlow<'a> {
    run: &'a RecordedRun,
    signals: FlowSignals,
    flow: usize,
}

/// Reasons for which a flow cannot be examined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MissingFlow {
    /// There is no flow of this name; these are media flows.
    #[error("there is no media flow `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The names of the media flows.
        known: Vec<String>,
    },
    /// There is no media flow.
    #[error("no flow of this run has a rate controller")]
    NoMedia,
}

/// A moment of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowMoment {
    /// Time of the moment, in seconds of the run.
    pub time_s: f64,
    /// The target rate then, in bit/s; NaN without a target.
    pub target_bps: f64,
    /// The rate sent in the second up to then, in bit/s.
    pub sent_bps: f64,
    /// The rate received in that second, in bit/s.
    pub received_bps: f64,
    /// The capacity of the bottleneck in that second, in bit/s; NaN if it is not known.
    pub capacity_bps: f64,
    /// The mean queuing delay at the bottleneck in that second, in ms.
    pub queue_ms: f64,
    /// Packets lost over packets lost and received in that second.
    pub loss_ratio: f64,
    /// The last decision until then that raised or lowered the rate.
    pub moved: Option<RecordedDecision>,
    /// The last decision until then, which gives the limiting factor.
    pub last: Option<RecordedDecision>,
    /// Time since when the same factor has limited the rate, in seconds.
    pub limited_since_s: Option<f64>,
    /// The next decision.
    pub next: Option<RecordedDecision>,
}

/// Successive decisions that lowered the rate, together by 2 % or more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateDecrease {
    /// Time of the first decision.
    pub begins: Time,
    /// Time of the last decision.
    pub ends: Time,
    /// The decision that lowered the rate most.
    pub decision: RecordedDecision,
    /// All decisions as one, with the rates before and after them.
    pub whole: RecordedDecision,
}

impl<'a> RecordedFlow<'a> {
    /// The flow of this name, or the first media flow; `registry` has the controllers of the run.
    ///
    /// # Errors
    /// The run has no such flow.
    pub fn of(run: &'a RecordedRun, registry: &Registry, name: Option<&str>) -> Result<Self, MissingFlow> {
        let flows = &run.plan.flows;
        let is_media = |flow: usize| flows.get(flow).is_some_and(|own| own.kind == FlowKind::Media);
        let flow = match name {
            None => Some(panels::detailed_flow(&run.plan))
                .filter(|&flow| is_media(flow))
                .ok_or(MissingFlow::NoMedia)?,
            Some(name) => {
                let known = || (0..flows.len()).filter(|&flow| is_media(flow));
                let names = || known().map(|flow| flows[flow].name.clone()).collect();
                let unknown = || MissingFlow::Unknown { name: name.to_owned(), known: names() };
                known().find(|&flow| flows[flow].name == name).ok_or_else(unknown)?
            }
        };
        Ok(Self { run, signals: FlowSignals::of(&run.plan, registry), flow })
    }

    /// Name of the flow.
    pub fn name(&self) -> &str {
        &self.run.plan.flows[self.flow].name
    }

    /// End of the run.
    pub fn end(&self) -> Time {
        self.run.plan.end
    }

    /// The state of the flow at this time.
    ///
    /// # Errors
    /// A part of a long run cannot be read.
    pub fn at(&self, time: Time) -> std::io::Result<FlowMoment> {
        let (mut moved, mut last, mut next): (Option<RecordedDecision>, Option<RecordedDecision>, _) =
            (None, None, None);
        let mut limited_since = None;
        self.each(|decision| {
            if decision.time > time {
                next = next.or(Some(*decision));
                return;
            }
            if last.is_none_or(|last| last.limiting_factor != decision.limiting_factor) {
                limited_since = Some(decision.time.secs_f64());
            }
            moved = if decision.from == decision.to { moved } else { Some(*decision) };
            last = Some(*decision);
        })?;
        let series = &self.run.series;
        let flow = &series.flows[self.flow];
        let after = series.time_s.partition_point(|&begins| begins <= time.secs_f64());
        // Rates are means over the second before, because single bins vary.
        let second = after.saturating_sub(BINS_PER_SECOND)..after;
        let mean = |values: &[f64]| {
            let known =
                values.get(second.clone()).unwrap_or_default().iter().filter(|value| value.is_finite());
            let (sum, count) = known.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
            sum / f64::from(count)
        };
        let link = self.run.plan.flows[self.flow].bottleneck.and_then(|link| series.links.get(link));
        let target = after.checked_sub(1).and_then(|bin| flow.target_rate_bps.get(bin));
        Ok(FlowMoment {
            time_s: time.secs_f64(),
            target_bps: target.copied().unwrap_or(f64::NAN),
            sent_bps: mean(&flow.send_rate_bps),
            received_bps: mean(&flow.receive_rate_bps),
            capacity_bps: link.map_or(f64::NAN, |link| mean(&link.capacity_bps)),
            queue_ms: link.map_or(f64::NAN, |link| mean(&link.queue_mean_ms)),
            loss_ratio: mean(&flow.loss_ratio),
            moved,
            last,
            limited_since_s: limited_since,
            next,
        })
    }

    /// The largest decreases, at most `most`, in descending order.
    ///
    /// # Errors
    /// A part of a long run cannot be read.
    pub fn decreases(&self, most: usize) -> std::io::Result<Vec<RateDecrease>> {
        let mut decreases: Vec<RateDecrease> = Vec::new();
        let mut falling = false;
        self.each(|decision| match decision.to.cmp(&decision.from) {
            core::cmp::Ordering::Greater => falling = false,
            core::cmp::Ordering::Equal => {}
            core::cmp::Ordering::Less => {
                let own = RateDecrease {
                    begins: decision.time,
                    ends: decision.time,
                    decision: *decision,
                    whole: *decision,
                };
                match decreases.last_mut().filter(|_| falling) {
                    Some(fall) => fall.extend(decision),
                    None => decreases.push(own),
                }
                falling = true;
            }
        })?;
        decreases.retain(|fall| fall.share() >= MIN_DECREASE);
        decreases
            .sort_by(|one, other| other.depth().total_cmp(&one.depth()).then(one.begins.cmp(&other.begins)));
        decreases.truncate(most);
        Ok(decreases)
    }

    /// The signals that a decision was based on, each with its meaning.
    pub fn signals(&self, decision: &RecordedDecision) -> Vec<String> {
        let meaning =
            |name: &str| self.signals.find(decision.flow, Side::Sender, name).map_or("", |own| own.meaning);
        let signal_values = self.signal_values(decision);
        let deciding = decision.signals.iter().flatten();
        let with_meaning = |(text, own): (String, &DecidingSignal)| match meaning(
            self.run.decisions.signal(decision.flow, own.signal),
        ) {
            "" => text,
            meaning => format!("{text} ({meaning})"),
        };
        signal_values.into_iter().zip(deciding).map(with_meaning).collect()
    }

    /// The signals that a decision was based on, with their names.
    pub fn deciding(
        &self,
        decision: &'a RecordedDecision,
    ) -> impl Iterator<Item = (&'a str, DecidingSignal)> {
        let run = self.run;
        let named = move |own: &DecidingSignal| (run.decisions.signal(decision.flow, own.signal), *own);
        decision.signals.iter().flatten().map(named)
    }

    /// The signals that a decision was based on, as text without their meanings.
    pub fn signal_values(&self, decision: &RecordedDecision) -> Vec<String> {
        signals(&self.run.decisions, &self.signals, decision)
    }

    fn each(&self, mut take: impl FnMut(&RecordedDecision)) -> std::io::Result<()> {
        self.run.decisions.each(|decision| {
            if decision.flow == self.flow {
                take(decision);
            }
            Ok(())
        })
    }
}

impl RateDecrease {
    fn extend(&mut self, decision: &RecordedDecision) {
        self.ends = decision.time;
        self.whole.to = decision.to;
        if distance(decision) > distance(&self.decision) {
            self.decision = *decision;
        }
    }

    /// Depth of the decrease: the rate before over that after.
    fn depth(&self) -> f64 {
        distance(&self.whole)
    }

    /// Share of the rate by which it decreased.
    fn share(&self) -> f64 {
        1.0 - self.whole.to.bps_f64() / self.whole.from.bps_f64().max(1.0)
    }
}

impl FlowMoment {
    /// The moment in five lines, of `subject`.
    pub fn lines(&self, subject: &RecordedFlow<'_>, under: &str) -> [String; 5] {
        // Values that were not measured are left out of the sentences.
        let known = |value: f64, words: &dyn Fn(f64) -> String| value.is_finite().then(|| words(value));
        let kbps = |rate: f64| format!("{:.0} kbit/s", rate / 1e3);
        let second = [
            known(self.sent_bps, &|rate| format!("{} were sent", kbps(rate))),
            known(self.received_bps, &|rate| format!("{} were received", kbps(rate))),
        ];
        let second: Vec<String> = second.into_iter().flatten().collect();
        let rates = [
            known(self.target_bps, &|rate| format!("the target is {}", kbps(rate))),
            (!second.is_empty()).then(|| format!("in the last second {}", second.join(" and "))),
            known(self.capacity_bps, &|rate| format!("the bottleneck carries {}", kbps(rate))),
        ];
        let rates: Vec<String> = rates.into_iter().flatten().collect();
        let rates = if rates.is_empty() { "no rate is known".to_owned() } else { rates.join("; ") };
        let rates = format!("{:.2} s, {under}: {rates}.", self.time_s);
        let limit = match (self.last, self.limited_since_s) {
            (Some(last), Some(since)) => {
                let factor = last.limiting_factor;
                format!("Limited by {} since {since:.2} s: {}.", factor.name(), factor.meaning())
            }
            _ => "No decision has been recorded yet: this is the start rate.".to_owned(),
        };
        let moved = match self.moved {
            Some(moved) => format!("The last recorded change: {}.", in_words(&moved)),
            None => "No change of the rate has been recorded yet.".to_owned(),
        };
        let signals = self.moved.map_or_else(Vec::new, |moved| subject.signals(&moved));
        let signals = match (signals.is_empty(), self.moved.map(|moved| moved.reason)) {
            (false, _) => format!("By its signals: {}.", signals.join("; ")),
            (true, Some(DecisionReason::Coupling)) => "By the share that coupling gave it.".to_owned(),
            (true, _) => "By no signal of its own.".to_owned(),
        };
        let path = [
            known(self.queue_ms, &|wait| format!("{wait:.0} ms in the queue")),
            known(self.loss_ratio, &|ratio| format!("{:.1} % lost", 100.0 * ratio)),
        ];
        let path: Vec<String> = path.into_iter().flatten().collect();
        let path = if path.is_empty() { String::new() } else { format!("{}; ", path.join(", ")) };
        let next = match self.next {
            Some(next) => {
                let factor = next.limiting_factor.name();
                format!("the next recorded decision: {}, then limited by {factor}", in_words(&next))
            }
            None => "no later decision was recorded".to_owned(),
        };
        [rates, limit, moved, signals, format!("Around it: {path}{next}.")]
    }
}

impl RateDecrease {
    /// The decrease in one line.
    pub fn line(&self, subject: &RecordedFlow<'_>) -> String {
        let length = self.ends - self.begins;
        let within = if length > TimeDelta::ZERO {
            format!(" within {:.2} s", length.secs_f64())
        } else {
            String::new()
        };
        let percent = 100.0 * self.share();
        let signals = subject.signal_values(&self.decision);
        let behind = if signals.is_empty() { String::new() } else { format!(": {}", signals.join(", ")) };
        format!(
            "{:>9.2} s  {} (−{percent:.0} %){within}, {}{behind}",
            self.begins.secs_f64(),
            change(&self.whole),
            self.decision.reason.name(),
        )
    }
}

/// Time, rates before and after, and reason of a decision, as text.
fn in_words(decision: &RecordedDecision) -> String {
    format!("{:.2} s: {}, {}", decision.time.secs_f64(), change(decision), decision.reason.name())
}

#[cfg(test)]
mod tests {
    use weir_measure::metrics::{DECISION_COLUMNS, Decisions, FlowPlan, MeasurePlan, Series};

    use super::*;

    const SERIES: &str = "time_s,video.send_rate_bps,video.receive_rate_bps,video.target_rate_bps,\
        video.limiting_factor,video.loss_ratio,video.owd_excess_mean_ms,video.owd_excess_max_ms,video.frame_delay_max_ms";

    /// A run with these decisions, each as `time,from,to`, in a series of one bin with these cells.
    fn run(decisions: &[&str], bin: &str) -> RecordedRun {
        let plan =
            MeasurePlan::new(Time::from_millis(9000), vec![FlowPlan::new("video", FlowKind::Media)], vec![]);
        let row = |own: &&str| {
            let (time, rates) = own.split_once(',').unwrap();
            format!("{time},video,{rates},delay,delay,,,,,,,,,\n")
        };
        let rows: String = decisions.iter().map(row).collect();
        let table = format!("{}\n{rows}", DECISION_COLUMNS.map(|column| column.name).join(","));
        RecordedRun {
            series: Series::read_csv(&format!("{SERIES}\n{bin}\n"), &plan).unwrap(),
            decisions: Decisions::read_csv(&table, &plan).unwrap(),
            plan,
        }
    }

    #[test]
    fn falls_are_of_two_per_cent_or_more_all_together() {
        // Decreases: by 1 %; in two steps of 1.5 % each; by half.
        let run = run(
            &[
                "1,1000,990",
                "2,990,1000",
                "3,1000,985",
                "3.1,985,970",
                "4,970,1000",
                "5,1000,500",
                "6,500,500",
            ],
            "0,,,,,,,,",
        );
        let subject = RecordedFlow::of(&run, &Registry::default(), None).unwrap();
        let decreases = subject.decreases(9).unwrap();
        let begins: Vec<u64> = decreases.iter().map(|fall| fall.begins.nanos() / 1_000_000).collect();
        assert_eq!(begins, [5000, 3000], "{decreases:?}");
    }

    #[test]
    fn unknown_values_are_left_out() {
        let lines = |run: &RecordedRun| {
            let subject = RecordedFlow::of(run, &Registry::default(), None).unwrap();
            subject.at(Time::from_millis(500)).unwrap().lines(&subject, "video")
        };
        let [rates, limit, change, signals, around] = lines(&run(&["4,1000,500"], "0,,,,,,,,"));
        assert_eq!(rates, "0.50 s, video: no rate is known.");
        assert_eq!(limit, "No decision has been recorded yet: this is the start rate.");
        assert_eq!(change, "No change of the rate has been recorded yet.");
        assert_eq!(signals, "By no signal of its own.");
        assert!(around.starts_with("Around it: the next recorded decision: 4.00 s: "), "{around}");
        let [rates, .., around] = lines(&run(&[], "0,,300000,500000,,0,,,"));
        assert_eq!(
            rates,
            "0.50 s, video: the target is 500 kbit/s; in the last second 300 kbit/s were received."
        );
        assert_eq!(around, "Around it: 0.0 % lost; no later decision was recorded.");
        let [.., change, _, _] = lines(&run(&["0.2,1000000,500000"], "0,,,,,,,,"));
        assert_eq!(change, "The last recorded change: 0.20 s: 1000 → 500 kbit/s, delay.");
    }
}
