//! Which decisions are recorded, and with what.

use weir_cc::{Controller, Decision, Evidence, Feedback, PathEvent, SendState, SendTime, Share, Signal, Why};
use weir_measure::metrics::{Decisions, Reason, RecordedDecision};

use super::*;

/// A controller that is as the test says.
#[derive(Clone, Copy, Debug)]
struct Puppet {
    factor: LimitingFactor,
    delay: f64,
}

impl Controller for Puppet {
    fn on_feedback(&mut self, _: SendTime, _: &Feedback<'_>, _: &SendState) -> Option<Decision> {
        None
    }

    fn on_event(&mut self, _: SendTime, _: PathEvent) -> Option<Decision> {
        None
    }

    fn target(&self) -> Target {
        Target::at(DataRate::from_kbps(1), Pacing::Unpaced, self.factor)
    }

    fn adopt(&mut self, _: SendTime, share: Share) -> DataRate {
        share.rate
    }

    fn signals(&self) -> &'static [Signal] {
        &[
            Signal { name: "loss", unit: "", meaning: "" },
            Signal { name: "queue, mean", unit: "ms", meaning: "" },
        ]
    }

    fn read_signals(&self, out: &mut [f64]) {
        out.copy_from_slice(&[f64::NAN, self.delay]);
    }

    fn evidence(&self, _: Why) -> [Option<Evidence>; 3] {
        [Evidence::of("loss"), Evidence::against("queue, mean", 20.0), None]
    }
}

impl Run {
    /// A decision that takes the rate from `base` to `rate` (kbit/s).
    fn decides(&mut self, at_us: u64, base: u64, rate: u64, why: Why, puppet: Puppet) {
        let [base, rate] = [base, rate].map(DataRate::from_kbps);
        let decision = Decision { rate, base, why, rtt: None };
        self.0.decided(Time::from_nanos(1000 * at_us), 0, &decision, &puppet);
    }
}

fn recorded() -> MeasurePlan {
    let mut plan = plan(10_000, vec![media("a")]);
    plan.flows[0].sender_signals = ["loss", "queue, mean"].map(str::to_owned).to_vec();
    plan.series = true;
    plan
}

fn rows(decisions: &Decisions) -> Vec<RecordedDecision> {
    let mut rows = Vec::new();
    decisions
        .each(|row| {
            rows.push(*row);
            std::io::Result::Ok(())
        })
        .unwrap();
    rows
}

/// A run with six decisions and an allocation.
fn run() -> Run {
    let mut run = Run::new(recorded());
    let climbing = Puppet { factor: LimitingFactor::RampUp, delay: 12.345_67 };
    run.decides(100_400, 1000, 1000, Why::Growth, climbing);
    // One per cent is nothing, and one more makes two since what was recorded.
    run.decides(200_000, 1000, 1010, Why::Growth, climbing);
    run.decides(300_000, 1010, 1020, Why::Growth, climbing);
    // The rate stays, and something else limits it.
    let limited = Puppet { factor: LimitingFactor::Delay, delay: 25.0 };
    run.decides(400_000, 1020, 1020, Why::Growth, limited);
    run.decides(500_000, 1020, 1025, Why::Growth, limited);
    run.0.allocated(Time::from_millis(600), 0, DataRate::from_kbps(510), &limited);
    run.decides(700_600, 510, 255, Why::Delay, limited);
    run
}

#[test]
fn a_row_is_a_move_of_two_per_cent_or_another_factor_and_starts_where_the_one_before_ended() {
    let measured = run().0.finish();
    assert_eq!(measured.metrics.flows[0].decisions, Some(6.0));
    let series = measured.series.unwrap();
    let rows = rows(series.decisions());
    let short = |row: &RecordedDecision| {
        let [from, to] = [row.from, row.to].map(|rate| rate.bps() / 1000);
        (row.time.nanos() / 1_000_000, from, to, row.reason, row.limiting_factor)
    };
    let (growth, delay) = (Reason::Decision(Why::Growth), Reason::Decision(Why::Delay));
    let expected = [
        (100, 1000, 1000, growth, LimitingFactor::RampUp),
        (300, 1000, 1020, growth, LimitingFactor::RampUp),
        (400, 1020, 1020, growth, LimitingFactor::Delay),
        (600, 1020, 510, Reason::Coupling, LimitingFactor::Delay),
        (701, 510, 255, delay, LimitingFactor::Delay),
    ];
    assert_eq!(rows.iter().map(short).collect::<Vec<_>>(), expected);
    // A signal without a value is left out, one with a value has four digits of it.
    let of = |row: usize| rows[row].signals.map(|own| own.map(|own| (own.signal, own.value, own.threshold)));
    assert_eq!(of(0), [None, Some((1, 12.35, Some(20.0))), None]);
    assert_eq!(of(3), [None; 3], "the coupler decided");
}

#[test]
fn the_table_has_a_line_per_row_and_is_read_back() {
    let series = run().0.finish().series.unwrap();
    let mut csv = Vec::new();
    series.decisions().write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("time,flow,from,to,reason,limiting_factor,signal,value,threshold,signal_2"));
    assert_eq!(lines[1], "0.1,a,1000000,1000000,growth,ramp-up,,,,\"queue, mean\",12.35,20,,,");
    assert_eq!(lines[4], "0.6,a,1020000,510000,coupling,delay,,,,,,,,,");
    assert_eq!(lines.len(), 6);
    let plan = recorded();
    assert_eq!(&Decisions::read_csv(&csv, &plan).unwrap(), series.decisions());
    for (text, problem) in [
        ("time,flow\n".to_owned(), "there is no column `from`"),
        (csv.replace("coupling", "magic"), "line 5: `magic` is no value of its column"),
        (csv.replace("0.6,a,", "0.6,b,"), "line 5: `b` is no value of its column"),
        (csv.replace("0.6,a,", "-1,a,"), "line 5: `-1` is no value of its column"),
        (csv.replace("\"queue, mean\"", "queue"), "line 2: `queue` is no value of its column"),
        (format!("{csv}1,a\n"), "line 7 has more or fewer cells than the first"),
    ] {
        assert_eq!(Decisions::read_csv(&text, &plan).unwrap_err().to_string(), problem);
    }
}

#[test]
fn parquet_has_the_same_rows() {
    let series = run().0.finish().series.unwrap();
    let (mut csv, mut file) = (Vec::new(), tempfile::tempfile().unwrap());
    series.decisions().write_csv(&mut csv).unwrap();
    series.decisions().write_parquet(&mut file).unwrap();
    assert_eq!(super::series::rows_that_agree(csv, file), 5);
}

#[test]
fn what_is_on_the_disk_comes_back() {
    let mut run = Run::new(recorded());
    let puppet = Puppet { factor: LimitingFactor::Delay, delay: 1.0 };
    let rates = [1000, 500];
    for number in 0..70_000_usize {
        let (base, rate) = (rates[number % 2], rates[(number + 1) % 2]);
        run.decides(1000 * number as u64 / 10, base, rate, Why::Delay, puppet);
    }
    let series = run.0.finish().series.unwrap();
    let rows = rows(series.decisions());
    assert_eq!(rows.len(), 70_000);
    let there = |(at, row): (usize, &RecordedDecision)| {
        row.to.bps() == 1000 * rates[(at + 1) % 2]
            && row.time == Time::from_nanos(rounded_ns(at))
            && row.flow == 0
    };
    assert!(rows.iter().enumerate().all(there));
    assert_eq!(rows[0].signals[1], rows[69_999].signals[1]);
}

/// When the decision of this number is recorded: at a tenth of a millisecond, rounded to one.
fn rounded_ns(number: usize) -> u64 {
    (number as u64 * 100_000 + 500_000) / 1_000_000 * 1_000_000
}
