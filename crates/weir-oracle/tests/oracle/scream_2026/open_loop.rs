//! The recorded feedback for Weir's sender half, whose rates change nothing.
//!
//! The C++ got no RTP timestamps, and no call of its check whether it may send. So it found a loss only when 512
//! more packets were acknowledged, and not all of them ([`Replay::losses`]). Its `MSS` is the largest packet ever,
//! and it measured no acknowledged rate. Weir's sender half gets the same inputs here.

use weir_cc::scream::v2::{Config, ScreamV2};
use weir_cc::{
    ArrivalTime, Controller, Ecn, Feedback, PacketFate, PacketResult, RateLimits, SendState, SendTime,
    SentPacket,
};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::FOLDER;
use crate::recorded::records::{Agreement, Answer, Recording, recordings};

/// The limits of the C++.
fn limits() -> RateLimits {
    let [min, start, max] = [50, 300, 5000].map(DataRate::from_kbps);
    RateLimits::new(min, start, max).expect("in order")
}

/// Configuration of the replay: without the inputs that the C++ lacked, with its rule for losses beside delay
/// (divergence 17), and without a rule for longer paths (19).
fn as_fed() -> Config {
    Config {
        mss_span: TimeDelta::from_secs(1000),
        yielded_below: 0.0,
        delay_puts_off_loss: true,
        believes_steps: false,
        ..Config::default()
    }
}

/// Packets that the C++ looks back from the highest acknowledged one to find losses.
const LOOK_BACK: usize = 512;
/// Packets of which it looks at most at each feedback.
const MOST_LOOKED_AT: usize = 32;

/// A sender half in place of the C++ of a recording.
struct Replay<'a> {
    recording: &'a Recording,
    sender: ScreamV2,
    /// The first packet that has not left.
    next: usize,
    /// The highest packet that has been acknowledged.
    highest: usize,
    /// Whether the C++ has found a packet lost.
    lost: Vec<bool>,
}

impl<'a> Replay<'a> {
    fn new(recording: &'a Recording) -> Self {
        let sender = ScreamV2::new(as_fed(), limits()).expect("constants within their ranges");
        Self { recording, sender, next: 0, highest: 0, lost: vec![false; recording.packets.len()] }
    }

    fn packet(&self, number: usize) -> SentPacket {
        let packet = &self.recording.packets[number];
        SentPacket::new(number as u64, departure(packet.sent), DataSize::from_bytes(packet.bytes))
    }

    /// The result of packet `number`, which arrived.
    fn arrival(&self, number: usize) -> PacketResult {
        let packet = &self.recording.packets[number];
        let ecn = match (packet.marked, self.recording.name.contains("l4s")) {
            (true, _) => Ecn::Ce,
            (false, true) => Ecn::Ect1,
            (false, false) => Ecn::NotEct,
        };
        let at = Some(ArrivalTime::ZERO + packet.arrived.expect("it arrived"));
        PacketResult { sent: self.packet(number), fate: PacketFate::Arrived { at, ecn } }
    }

    /// Losses that the C++ finds when `newest` is acknowledged. The C++ examines as many packets as are newly
    /// acknowledged, from 512 below the highest before. If these are fewer than the time before, it skips some for
    /// ever.
    fn losses(&mut self, newest: usize) -> Vec<PacketResult> {
        let edge = self.highest.saturating_sub(LOOK_BACK);
        let looked_at = (newest - self.highest).min(MOST_LOOKED_AT);
        self.highest = newest;
        let mut found = Vec::new();
        for number in edge.saturating_sub(looked_at)..edge {
            if self.recording.packets[number].arrived.is_none() && !self.lost[number] {
                self.lost[number] = true;
                found.push(PacketResult { sent: self.packet(number), fate: PacketFate::Missing });
            }
        }
        found
    }

    /// Target rate in bit/s after the feedback message of `answer`.
    fn rate_after(&mut self, answer: &Answer) -> f64 {
        while self.recording.packets.get(self.next).is_some_and(|packet| packet.sent <= answer.at) {
            let sent = self.packet(self.next);
            self.sender.on_sent(&sent, &SendState::default());
            self.next += 1;
        }
        let arrived = |&number: &usize| self.recording.packets[number].arrived.is_some();
        let Some(newest) = (answer.first..answer.end).rev().find(arrived) else {
            return self.sender.target().sending_rate.bps_f64();
        };
        let mut results = self.losses(newest);
        results.extend((answer.first..answer.end).filter(arrived).map(|number| self.arrival(number)));
        // The C++ counts the time at the receiver as part of the round trip.
        let feedback = Feedback::packets(&results, None);
        self.sender.on_feedback(departure(answer.at), &feedback, &SendState::default());
        self.sender.target().sending_rate.bps_f64()
    }
}

fn departure(at: TimeDelta) -> SendTime {
    SendTime::ZERO + at
}

fn agreement(recording: &Recording) -> Agreement {
    let mut replay = Replay::new(recording);
    Agreement::of(recording, |answer| replay.rate_after(answer))
}

#[test]
fn it_computes_the_rates_of_the_cpp() {
    println!("| record | mean rate | within 10 % |");
    println!("|---|---|---|");
    for recording in recordings(FOLDER) {
        let Agreement { near, ratio } = agreement(&recording);
        println!("| {} | {ratio:.3} | {:.1} % |", recording.name, near * 100.0);
        // A step of 3 ms is a packet's serialisation: there `l4s_alpha`, 0.1 at first in the C++, matters longest.
        let least = if recording.name == "sched-l4s-527" { 0.8 } else { 0.94 };
        assert!(near >= least, "{}: {near}", recording.name);
        assert!((0.97..1.03).contains(&ratio), "{}: {ratio}", recording.name);
    }
}
