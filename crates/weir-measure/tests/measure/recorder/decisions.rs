//! The decisions that are recorded, and their fields.

use weir_cc::{
    AllocatedRate, ChangeReason, Controller, Decision, Evidence, Feedback, PathEvent, SendState, SendTime,
    Signal,
};
use weir_measure::metrics::{DecisionReason, Decisions, RecordedDecision};

use super::*;

/// A controller whose values the test sets.
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

    fn apply_allocation(&mut self, _: SendTime, share: AllocatedRate) -> DataRate {
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

    fn evidence(&self, _: ChangeReason) -> [Option<Evidence>; 3] {
        [Evidence::of("loss"), Evidence::against("queue, mean", 20.0), None]
    }
}

impl Run {
    /// A decision that takes the rate from `base` to `rate` (kbit/s).
    fn decides(&mut self, at_us: u64, base: u64, rate: u64, why: ChangeReason, puppet: Puppet) {
        let [base, rate] = [base, rate].map(DataRate::from_kbps);
        let decision = Decision { rate, base, why, rtt: None };
        self.0.decided(Time::from_nanos(1000 * at_us), 0, &decision, &puppet);
    }
}

/// The plan of 10 s with one flow, its signals and time series.
fn recorded() -> MeasurePlan {
    let mut plan = plan(10_000, vec![media("a")]);
    plan.flows[0].sender_signals = ["loss", "queue, mean"].map(str::to_owned).to_vec();
    plan.series = true;
    plan
}

/// All decisions, in order of time.
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
    run.decides(100_400, 1000, 1000, ChangeReason::Growth, climbing);
    // A move of 1 % has no row, and another one makes 2 % since the last row.
    run.decides(200_000, 1000, 1010, ChangeReason::Growth, climbing);
    run.decides(300_000, 1010, 1020, ChangeReason::Growth, climbing);
    // The rate stays, and another factor limits it.
    let limited = Puppet { factor: LimitingFactor::Delay, delay: 25.0 };
    run.decides(400_000, 1020, 1020, ChangeReason::Growth, limited);
    run.decides(500_000, 1020, 1025, ChangeReason::Growth, limited);
    run.0.allocated(Time::from_millis(600), 0, DataRate::from_kbps(510), &limited);
    run.decides(700_600, 510, 255, ChangeReason::Delay, limited);
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
    let (growth, delay) =
        (DecisionReason::Decision(ChangeReason::Growth), DecisionReason::Decision(ChangeReason::Delay));
    let expected = [
        (100, 1000, 1000, growth, LimitingFactor::RampUp),
        (300, 1000, 1020, growth, LimitingFactor::RampUp),
        (400, 1020, 1020, growth, LimitingFactor::Delay),
        (600, 1020, 510, DecisionReason::Coupling, LimitingFactor::Delay),
        (701, 510, 255, delay, LimitingFactor::Delay),
    ];
    assert_eq!(rows.iter().map(short).collect::<Vec<_>>(), expected);
    // A signal without a value is left out, one with a value has four digits of it.
    let signals_of =
        |row: usize| rows[row].signals.map(|own| own.map(|own| (own.signal, own.value, own.threshold)));
    assert_eq!(signals_of(0), [None, Some((1, 12.35, Some(20.0))), None]);
    assert_eq!(signals_of(3), [None; 3], "the coupler decided");
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
        (csv.replace("0.6,a,", "2e10,a,"), "line 5: `2e10` is no value of its column"),
        (csv.replace("12.35", "NaN"), "line 2: `NaN` is no value of its column"),
        (csv.replace(",20,", ",inf,"), "line 2: `inf` is no value of its column"),
        (csv.replace("\"queue, mean\"", "queue"), "line 2: `queue` is no value of its column"),
        (format!("{csv}1,a\n"), "line 7 has more or fewer cells than the first"),
    ] {
        assert_eq!(Decisions::read_csv(&text, &plan).unwrap_err().to_string(), problem);
    }
}

#[test]
fn earlier_blocks_come_back() {
    let mut run = Run::new(recorded());
    let puppet = Puppet { factor: LimitingFactor::Delay, delay: 1.0 };
    let rates = [1000, 500];
    for number in 0..70_000_usize {
        let (base, rate) = (rates[number % 2], rates[(number + 1) % 2]);
        run.decides(1000 * number as u64 / 10, base, rate, ChangeReason::Delay, puppet);
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

/// A controller with three signals of long names, each with a value and a threshold.
#[derive(Clone, Copy, Debug)]
struct Verbose(LimitingFactor);

impl Controller for Verbose {
    fn on_feedback(&mut self, _: SendTime, _: &Feedback<'_>, _: &SendState) -> Option<Decision> {
        None
    }

    fn on_event(&mut self, _: SendTime, _: PathEvent) -> Option<Decision> {
        None
    }

    fn target(&self) -> Target {
        Target::at(DataRate::from_kbps(1), Pacing::Unpaced, self.0)
    }

    fn apply_allocation(&mut self, _: SendTime, share: AllocatedRate) -> DataRate {
        share.rate
    }

    fn signals(&self) -> &'static [Signal] {
        const fn signal(name: &'static str) -> Signal {
            Signal { name, unit: "ms", meaning: "" }
        }
        &const { [signal("queue_delay_average"), signal("receive_rate_trend"), signal("loss_event_rate")] }
    }

    fn read_signals(&self, out: &mut [f64]) {
        out.copy_from_slice(&[123.456_7, 1_234_567.8, 0.000_123_456]);
    }

    fn evidence(&self, _: ChangeReason) -> [Option<Evidence>; 3] {
        let [one, two, three] = [0, 1, 2].map(|at| self.signals()[at].name);
        [Evidence::against(one, 106.66), Evidence::against(two, 12.345), Evidence::against(three, 0.01)]
    }
}

/// A day of two calls with a decision each 40 ms; `what` gives the rate in kbit/s and the factor of a decision by
/// its number. The second call has one decision in ten seconds, which moves the rate by 3 %.
fn day(what: impl Fn(u64) -> (u64, LimitingFactor)) -> (Vec<RecordedDecision>, usize) {
    const DAY_MS: u64 = 86_400_000;
    let mut plan = plan(DAY_MS, vec![media("video"), media("screen")]);
    for flow in &mut plan.flows {
        flow.sender_signals =
            Verbose(LimitingFactor::Delay).signals().iter().map(|s| s.name.to_owned()).collect();
    }
    plan.series = true;
    let mut run = Run::new(plan);
    for number in 0..DAY_MS / 40 {
        let at = Time::from_millis(40 * number);
        let (kbps, factor) = what(number);
        let rate = DataRate::from_kbps(kbps);
        let decision = Decision { rate, base: rate, why: ChangeReason::Application, rtt: None };
        run.0.decided(at, 0, &decision, &Verbose(factor));
        if number % 250 == 0 {
            let rate = DataRate::from_kbps([1000, 1030][(number / 250 % 2) as usize]);
            let decision = Decision { rate, base: rate, why: ChangeReason::Growth, rtt: None };
            run.0.decided(at, 1, &decision, &Verbose(LimitingFactor::Delay));
        }
    }
    let series = run.0.finish().series.unwrap();
    let mut written = Vec::new();
    series.decisions().write_csv(&mut written).unwrap();
    (rows(series.decisions()), written.len())
}

#[test]
fn a_day_of_any_decisions_stays_below_a_hundred_megabytes_and_no_flow_takes_the_rows_of_another() {
    let (application, delay) = (LimitingFactor::Application, LimitingFactor::Delay);
    // Moves of 2 to 32 %; and only the factor changes, each time.
    let moves = day(|number| (1_000 * [100, 102, 106, 98, 114, 77][number as usize % 6], application));
    let factors = day(|number| (100_000, if number % 2 == 0 { application } else { delay }));
    for (rows, bytes) in [moves, factors] {
        assert!(bytes < 100_000_000, "{bytes} bytes");
        let of = |flow: usize| rows.iter().filter(move |row| row.flow == flow);
        assert!(of(0).count() > 200_000, "{} rows", of(0).count());
        assert_eq!(of(1).count(), 8640, "every decision of the second call");
        let hour = of(0).filter(|row| row.time < Time::from_millis(3_600_000)).count();
        assert!(hour > 25_000, "{hour} rows in the first hour");
    }
}

#[test]
fn small_moves_are_recorded_again_when_a_flood_is_over() {
    // Two hours in which the rate halves and doubles, then one in which it moves by 3 %.
    let flood = 2 * 3600 * 25;
    let (rows, _) = day(|number| {
        let kbps = match number {
            n if n < flood => [500, 1000][n as usize % 2],
            // Each ten minutes.
            n => [1000, 1030][(n / 15_000) as usize % 2],
        };
        (kbps, LimitingFactor::Delay)
    });
    let last_hour = Time::from_millis(23 * 3_600_000);
    let late = rows.iter().filter(|row| row.flow == 0 && row.time >= last_hour);
    assert_eq!(late.count(), 6);
}

/// When the decision of this number is recorded: at a tenth of a millisecond, rounded to one.
fn rounded_ns(number: usize) -> u64 {
    (number as u64 * 100_000 + 500_000) / 1_000_000 * 1_000_000
}
