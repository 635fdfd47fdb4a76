//! Tables of a run that was recorded: decisions and series, as `weir why` and a report drawn again read them.

use std::sync::LazyLock;

use weir_import::traces::TraceStore;
use weir_measure::metrics::{Decisions, MeasurePlan, Series};
use weir_net::Time;
use weir_scenario::compile::RunOptions;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::Scenario;
use weir_scenario::shipped;
use weir_study::comparison::saved::RecordedRun;
use weir_study::comparison::why::RecordedFlow;

use super::{refused, text};

/// Two coupled flows, under `gcc` and `nada`.
static PLAN: LazyLock<MeasurePlan> = LazyLock::new(|| {
    let shipped = shipped::find("coupling/pair").expect("it ships");
    let scenario = Scenario::parse("pair.toml", shipped.text, &[]).expect("it is a scenario");
    let run = scenario.build(&RunOptions { series: true, ..RunOptions::default() }, &TraceStore::at(None));
    run.expect("it has no trace").plan
});

/// The table of decisions of a run by [`PLAN`], an empty line, and that of its series.
pub(crate) fn run(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let (decisions, series) = read(text);
    match &decisions {
        Ok(decisions) => written(decisions),
        Err(error) => refused(error),
    }
    match &series {
        Ok(series) => joined(series),
        Err(error) => refused(error),
    }
    if let (Ok(decisions), Ok(series)) = (decisions, series) {
        why(&RecordedRun { plan: PLAN.clone(), series, decisions });
    }
}

type Read<T> = Result<T, weir_measure::metrics::ReadSeriesError>;

fn read(text: &str) -> (Read<Decisions>, Read<Series>) {
    let (decisions, series) = text.split_once("\n\n").unwrap_or((text, text));
    (Decisions::read_csv(decisions, &PLAN), Series::read_csv(series, &PLAN))
}

/// Checks that decisions that were read are written and read the same.
fn written(decisions: &Decisions) {
    let mut csv = Vec::new();
    decisions.write_csv(&mut csv).expect("there is room in memory");
    let csv = String::from_utf8(csv).expect("a table is text");
    assert_eq!(Decisions::read_csv(&csv, &PLAN).as_ref(), Ok(decisions), "{csv}");
}

/// All columns are as long as the time, those of the whole run and those of a page.
fn joined(series: &Series) {
    let even = |series: &Series| {
        let bins = series.time_s.len();
        let flows = series.flows.iter().all(|flow| {
            let signals = flow.signals.iter().flat_map(|signal| [&signal.min, &signal.max]);
            flow.limiting_factor.len() == bins
                && [&flow.target_rate_bps, &flow.loss_ratio]
                    .into_iter()
                    .chain(signals)
                    .all(|own| own.len() == bins)
        });
        flows && series.links.iter().all(|link| link.capacity_bps.len() == bins)
    };
    assert!(even(series));
    let (page, _) = series.clone().for_a_page();
    assert!(even(&page) && page.time_s.len() <= series.time_s.len());
}

/// Each moment of each flow has its lines, and no fall is a rise.
fn why(run: &RecordedRun) {
    for flow in &PLAN.flows {
        let subject =
            RecordedFlow::of(run, &Registry::default(), Some(&flow.name)).expect("both are media flows");
        for at in [0, 500, 5_000, 120_000] {
            let moment = subject.at(Time::from_millis(at)).expect("nothing is on the disk");
            for line in moment.lines(&subject, &flow.name) {
                assert!(line.ends_with('.') && !line.contains("NaN"), "{line}");
            }
        }
        let decreases = subject.decreases(4).expect("nothing is on the disk");
        for fall in &decreases {
            assert!(fall.whole.to < fall.whole.from && !fall.line(&subject).is_empty(), "{fall:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_that_is_kept_is_read() {
        let (decisions, series) = read(include_str!("../../../../fuzz/corpus/recordings/pair.csv"));
        let (mut rows, series) = (0, series.unwrap());
        decisions
            .unwrap()
            .each(|_| {
                rows += 1;
                std::io::Result::Ok(())
            })
            .unwrap();
        assert!(rows > 5 && series.time_s.len() > 5);
    }
}
