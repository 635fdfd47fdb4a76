//! The recorded feedback for Weir's sender half, whose rates change nothing.

use weir_cc::history::SendHistory;
use weir_cc::nada::{self, Config, LossAverage, Nada, NadaObserver};
use weir_cc::{ArrivalTime, AtSender, Controller, RateLimits, Record, Report, SendState, SendTime};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::FOLDER;
use crate::recorded::records::{Agreement, Answer, Recording, recordings};

/// The limits of the C++.
fn limits() -> RateLimits {
    let [min, start, max] = [150, 300, 5000].map(DataRate::from_kbps);
    RateLimits::new(min, start, max).expect("in order")
}

/// A sender half with its history, in place of the C++ of a recording.
struct Replay<'a> {
    recording: &'a Recording,
    sender: AtSender<NadaObserver, Nada>,
    history: SendHistory,
    /// The first packet that has not left.
    next: usize,
    /// Reports that have arrived.
    reports: u8,
}

impl<'a> Replay<'a> {
    fn new(recording: &'a Recording, config: &Config) -> Self {
        let sender = nada::at_sender(*config, limits()).expect("constants within their ranges");
        let history = SendHistory::new(TimeDelta::from_secs(10));
        Self { recording, sender, history, next: 0, reports: 0 }
    }

    fn state(&self) -> SendState {
        SendState { in_flight: self.history.in_flight(), ..SendState::default() }
    }

    /// Packets leave, and timers expire, until `until`.
    fn send(&mut self, until: SendTime) {
        while let Some(packet) = self.recording.packets.get(self.next)
            && departure(packet.sent) <= until
        {
            let at = departure(packet.sent);
            self.expire(at);
            let size = DataSize::from_bytes(packet.bytes);
            let sent = self.history.on_media_sent(at, DataSize::ZERO, size);
            self.sender.on_sent(&sent, &self.state());
            self.next += 1;
        }
        self.expire(until);
    }

    /// Calls the timeouts that are due by `now`.
    fn expire(&mut self, now: SendTime) {
        while let Some(due) = self.sender.next_timeout().filter(|&due| due <= now) {
            self.sender.on_timeout(due, &self.state());
        }
    }

    /// `r_ref` in bit/s after the feedback message of `answer`.
    fn rate_after(&mut self, answer: &Answer) -> f64 {
        let now = departure(answer.at);
        self.send(now);
        let record = |number: usize| {
            Record::new(
                number as u16,
                self.recording.packets[number].arrived.map(|at| ArrivalTime::ZERO + at),
            )
        };
        let records: Vec<Record> = (answer.first..answer.end).map(record).collect();
        let at = Some(ArrivalTime::ZERO + answer.made);
        let state = self.state();
        let report = Report::Packets { records: &records, number: self.reports, at };
        self.reports = self.reports.wrapping_add(1);
        let feedback = self.history.join(now, &report).expect("a report of packets that have left");
        self.sender.on_feedback(now, &feedback, &state);
        // No packet waits for the pacer: the shaping buffer adds nothing to the reference rate.
        self.sender.target().sending_rate.bps_f64()
    }
}

fn departure(at: TimeDelta) -> SendTime {
    SendTime::ZERO + at
}

fn agreement(recording: &Recording, config: &Config) -> Agreement {
    let mut replay = Replay::new(recording, config);
    Agreement::of(recording, |answer| replay.rate_after(answer))
}

#[test]
fn the_preset_computes_the_rates_of_the_authors_code() {
    println!("| record | `ns3-rmcat`: mean rate, within 10 % | default: mean rate, within 10 % |");
    println!("|---|---|---|");
    for recording in recordings(FOLDER) {
        let preset = agreement(&recording, &Config::ns3_rmcat());
        let default = agreement(&recording, &Config::default());
        println!(
            "| {} | {:.3}, {:.1} % | {:.3}, {:.1} % |",
            recording.name,
            preset.ratio,
            preset.near * 100.0,
            default.ratio,
            default.near * 100.0
        );
        assert!(preset.near >= 0.85, "{}: {preset:?}", recording.name);
        // 0.94 to 1.08 in whole hundredths.
        assert!((0.935..1.085).contains(&preset.ratio), "{}: {preset:?}", recording.name);
    }
}

#[test]
fn losses_that_expire_make_the_difference() {
    let recording = Recording::read(FOLDER, "open-706");
    let closed = Config { loss_average: LossAverage::Closed, ..Config::ns3_rmcat() };
    let (preset, closed) = (agreement(&recording, &Config::ns3_rmcat()), agreement(&recording, &closed));
    assert!(preset.near > 0.95 && (preset.ratio - 1.0).abs() < 0.01, "{preset:?}");
    assert!(closed.near < 0.5 && closed.ratio < 0.85, "{closed:?}");
}
