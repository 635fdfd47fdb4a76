//! The controller's decisions as rows: those of one reason in a row are one.

use weir_cc::{ChangeReason, Controller, DataRate, Decision, SendTime, TimeDelta};

/// Time after which decisions of the same reason begin another row.
const SAME_ROW: TimeDelta = TimeDelta::from_secs(1);

/// A signal by which the controller decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvidenceValue {
    /// Its name in the controller's paper.
    pub name: &'static str,
    /// Its unit; empty for a pure number.
    pub unit: &'static str,
    /// Its value.
    pub value: f64,
    /// The value that it was compared with, if there is one.
    pub threshold: Option<f64>,
}

/// A change of the rate, with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionRow {
    /// Number of the row; one that grows is given again.
    pub number: u64,
    /// Time of its first decision.
    pub at: SendTime,
    /// The rate before.
    pub from: DataRate,
    /// The rate after.
    pub to: DataRate,
    /// The reason.
    pub why: ChangeReason,
    /// The signals of its last decision.
    pub evidence: Vec<EvidenceValue>,
}

/// Rows of decisions in order of time.
#[derive(Debug, Default)]
pub(crate) struct DecisionLog {
    last: Option<(SendTime, DecisionRow)>,
    rows: u64,
    /// The row before the last one, if it has not been given with its last decision.
    ended: Option<DecisionRow>,
    is_news: bool,
}

impl DecisionLog {
    /// Takes a decision of `controller`. A decision without a change makes no row.
    pub(crate) fn on_decision(&mut self, now: SendTime, decision: &Decision, controller: &dyn Controller) {
        if decision.rate == decision.base {
            return;
        }
        let evidence = evidence_of(controller, decision.why);
        if let Some((at, row)) = &mut self.last
            && row.why == decision.why
            && now - *at <= SAME_ROW
        {
            (*at, row.to, row.evidence) = (now, decision.rate, evidence);
            self.is_news = true;
            return;
        }
        self.rows += 1;
        let Decision { base: from, rate: to, why, .. } = *decision;
        let row = DecisionRow { number: self.rows, at: now, from, to, why, evidence };
        let before = self.last.replace((now, row));
        self.ended = before.map(|(_, row)| row).filter(|_| self.is_news);
        self.is_news = true;
    }

    /// A row that is new or has grown since it was given last.
    pub(crate) fn take(&mut self) -> Option<DecisionRow> {
        if let Some(ended) = self.ended.take() {
            return Some(ended);
        }
        let (_, row) = self.last.as_ref().filter(|_| self.is_news)?;
        self.is_news = false;
        Some(row.clone())
    }
}

fn evidence_of(controller: &dyn Controller, why: ChangeReason) -> Vec<EvidenceValue> {
    if !why.is_measured() {
        return Vec::new();
    }
    let signals = controller.signals();
    let mut values = vec![f64::NAN; signals.len()];
    controller.read_signals(&mut values);
    let found = controller.evidence(why).into_iter().flatten().filter_map(|evidence| {
        let place = signals.iter().position(|signal| signal.name == evidence.signal)?;
        let threshold = Some(evidence.threshold).filter(|threshold| threshold.is_finite());
        let (name, unit, value) = (evidence.signal, signals[place].unit, values[place]);
        value.is_finite().then_some(EvidenceValue { name, unit, value, threshold })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use weir_registry::Registry;

    use super::*;

    fn log() -> (DecisionLog, impl Fn(&mut DecisionLog, i64, u64, u64, ChangeReason)) {
        let kbps = DataRate::from_kbps;
        let limits = weir_cc::RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap();
        let controller = Registry::standard().build_sender("gcc", None, limits, 1.0).unwrap();
        let decide = move |log: &mut DecisionLog, ms, from, to, why| {
            let decision = Decision { rate: kbps(to), base: kbps(from), why, rtt: None };
            log.on_decision(SendTime::from_millis(ms), &decision, &*controller);
        };
        (DecisionLog::default(), decide)
    }

    fn taken(log: &mut DecisionLog) -> Vec<(u64, u64, u64, ChangeReason)> {
        let rows = std::iter::from_fn(|| log.take());
        rows.map(|row| (row.number, row.from.bps() / 1000, row.to.bps() / 1000, row.why)).collect()
    }

    #[test]
    fn decisions_of_one_reason_are_one_row() {
        use ChangeReason::{Delay, Growth};
        let (mut log, decide) = log();
        decide(&mut log, 0, 300, 300, Growth);
        assert_eq!(taken(&mut log), []);
        decide(&mut log, 50, 300, 310, Growth);
        decide(&mut log, 900, 310, 330, Growth);
        assert_eq!(taken(&mut log), [(1, 300, 330, Growth)]);
        assert_eq!(taken(&mut log), []);
        decide(&mut log, 950, 330, 340, Growth);
        decide(&mut log, 1000, 340, 200, Delay);
        assert_eq!(taken(&mut log), [(1, 300, 340, Growth), (2, 340, 200, Delay)]);
        decide(&mut log, 2001, 200, 150, Delay);
        assert_eq!(taken(&mut log), [(3, 200, 150, Delay)]);
    }
}
