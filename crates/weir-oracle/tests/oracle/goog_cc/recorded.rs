//! The same feedback for two controllers: the inputs of one in a call are recorded and replayed to another, whose
//! targets change nothing.

use weir_cc::{
    ArrivalTime, Feedback, PacketResult, Probe, ReceptionReport, SendState, SendTime, SentPacket, Target,
};
use weir_units::TimeDelta;

use super::closed_loop::Loop;
use super::oracle::Sender;
use super::scenarios::{Build, PAIRS, Scenario, gcc_2024, goog_cc_2024, goog_cc_2025, scenarios};

/// Recorded calls of each scenario.
const RECORDED: u64 = 5;

/// An input of a controller, and its time.
#[derive(Debug)]
enum SenderInput {
    Sent(SentPacket),
    Packets {
        results: Vec<PacketResult>,
        at: Option<ArrivalTime>,
        rtt: Option<TimeDelta>,
        missed_reports: u8,
    },
    Reception {
        report: ReceptionReport,
        rtt: Option<TimeDelta>,
    },
}

#[derive(Debug)]
struct Entry {
    now: SendTime,
    input: SenderInput,
    state: SendState,
}

/// Records the inputs of `inner`, and its target after each per-packet feedback.
struct Recorder<'a> {
    inner: &'a mut dyn Sender,
    entries: Vec<Entry>,
    targets: Vec<f64>,
}

impl Sender for Recorder<'_> {
    fn on_sent(&mut self, packet: &SentPacket, state: &SendState) {
        self.entries.push(Entry { now: packet.at, input: SenderInput::Sent(*packet), state: *state });
        self.inner.on_sent(packet, state);
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) {
        self.inner.on_feedback(now, feedback, state);
        let input = match *feedback {
            Feedback::Packets { results, at, rtt, missed_reports } => {
                self.targets.push(self.inner.target().sending_rate.bps_f64());
                SenderInput::Packets { results: results.to_vec(), at, rtt, missed_reports }
            }
            Feedback::Reception { report, rtt } => SenderInput::Reception { report, rtt },
            Feedback::Ceiling(_) | Feedback::Native { .. } => return,
        };
        self.entries.push(Entry { now, input, state: *state });
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) {
        self.inner.on_timeout(now, state);
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.inner.next_timeout()
    }

    fn target(&self) -> Target {
        self.inner.target()
    }

    fn poll_probe(&mut self) -> Option<Probe> {
        self.inner.poll_probe()
    }
}

/// The inputs of a controller in a call, and its targets.
fn record(scenario: &Scenario, build: Build, seed: u64) -> (Vec<Entry>, Vec<f64>) {
    let (mut inner, receiver) = build(scenario.limits);
    let mut recorder = Recorder { inner: &mut *inner, entries: Vec::new(), targets: Vec::new() };
    Loop::new(&mut recorder, receiver, &scenario.path, seed).run();
    (recorder.entries, recorder.targets)
}

/// The targets of `sender` after each per-packet feedback of `entries`.
fn replay(sender: &mut dyn Sender, entries: &[Entry]) -> Vec<f64> {
    let mut targets = Vec::new();
    for Entry { now, input, state } in entries {
        while let Some(due) = sender.next_timeout().filter(|due| due <= now) {
            sender.on_timeout(due, state);
        }
        match input {
            SenderInput::Sent(packet) => sender.on_sent(packet, state),
            &SenderInput::Packets { ref results, at, rtt, missed_reports } => {
                let feedback = Feedback::Packets { results, at, rtt, missed_reports };
                sender.on_feedback(*now, &feedback, state);
                targets.push(sender.target().sending_rate.bps_f64());
            }
            &SenderInput::Reception { report, rtt } => {
                sender.on_feedback(*now, &Feedback::Reception { report, rtt }, state);
            }
        }
        while sender.poll_probe().is_some() {}
    }
    targets
}

/// Feedbacks at which the target fell by 5 % or more. The loss-based controller decreases in steps of just that,
/// which rounding to a bit/s makes a little less: hence the allowance of 1 in 10 000.
fn decreases(targets: &[f64]) -> Vec<usize> {
    (1..targets.len()).filter(|&i| targets[i] <= 0.9501 * targets[i - 1]).collect()
}

/// The share of `these` that has one of `others` within two feedbacks; 1 if there are none.
fn matched(these: &[usize], others: &[usize]) -> f64 {
    let near = |&&at: &&usize| others.iter().any(|&other| other.abs_diff(at) <= 2);
    if these.is_empty() { 1.0 } else { these.iter().filter(near).count() as f64 / these.len() as f64 }
}

/// The share of the feedbacks after which the targets are within 10 % of each other.
fn close(ours: &[f64], theirs: &[f64]) -> f64 {
    let close = ours.iter().zip(theirs).filter(|&(ours, theirs)| (ours / theirs - 1.0).abs() <= 0.1).count();
    close as f64 / theirs.len() as f64
}

/// How two sequences of targets agree over the calls of a scenario.
#[derive(Clone, Copy, Debug, Default)]
struct Agreement {
    theirs: usize,
    ours: usize,
    theirs_matched: f64,
    ours_matched: f64,
    close: f64,
}

/// Agreement of `ours` with the inputs of `theirs`, over the calls of all seeds.
fn agreement(scenario: &Scenario, theirs: Build, ours: Build) -> Agreement {
    let mut sum = Agreement::default();
    for seed in 1..=RECORDED {
        let (entries, recorded) = record(scenario, theirs, seed);
        let replayed = replay(&mut *ours(scenario.limits).0, &entries);
        let (a, b) = (decreases(&recorded), decreases(&replayed));
        sum.theirs += a.len();
        sum.ours += b.len();
        sum.theirs_matched += matched(&a, &b) * a.len() as f64;
        sum.ours_matched += matched(&b, &a) * b.len() as f64;
        sum.close += close(&replayed, &recorded) / RECORDED as f64;
    }
    sum.theirs_matched /= sum.theirs.max(1) as f64;
    sum.ours_matched /= sum.ours.max(1) as f64;
    sum
}

/// The calls, and `steady` with jitter besides, a minute each.
fn calls() -> Vec<Scenario> {
    let mut calls = scenarios();
    for call in &mut calls {
        call.path.duration = TimeDelta::from_secs(60);
    }
    let mut jitter = calls[0].clone();
    jitter.name = "jitter";
    jitter.path.jitter = TimeDelta::from_millis(10);
    calls.push(jitter);
    calls
}

#[test]
fn goog_cc_with_its_recorded_inputs_decides_the_same() {
    for scenario in calls() {
        let (entries, targets) = record(&scenario, goog_cc_2024, 1);
        let again = replay(&mut *goog_cc_2024(scenario.limits).0, &entries);
        assert_eq!(decreases(&again), decreases(&targets), "{}", scenario.name);
        let (matched, close) = (matched(&decreases(&targets), &decreases(&again)), close(&again, &targets));
        assert!(targets.len() > 500 && matched == 1.0 && close == 1.0, "{}: {close}", scenario.name);
    }
}

#[test]
fn gcc_with_the_inputs_of_goog_cc_decides_alike() {
    println!("| call | constants | decreases, goog_cc / gcc | matched, % | within 10 %, % of the time |");
    println!("|---|---|---|---|---|");
    for (constants, theirs, ours) in PAIRS {
        for scenario in calls() {
            let input = agreement(&scenario, theirs, ours);
            let Agreement { theirs, ours, theirs_matched, ours_matched, close } = input;
            println!(
                "| {} | {constants} | {theirs} / {ours} | {:.1} / {:.1} | {:.1} |",
                scenario.name,
                theirs_matched * 100.0,
                ours_matched * 100.0,
                close * 100.0
            );
            assert!(theirs >= 10 && ours >= 10, "too few to say");
            assert!(theirs_matched >= 0.9 && ours_matched >= 0.9, "{}: {input:?}", scenario.name);
            assert!(close >= 0.9, "{}: {input:?}", scenario.name);
        }
    }
}

#[test]
fn other_constants_are_noticed() {
    let input = agreement(&calls()[3], goog_cc_2025, gcc_2024);
    assert!(input.theirs_matched < 0.8, "{input:?}");
}
