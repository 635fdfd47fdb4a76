//! CUBIC of Linux 6 on the acknowledgements that the kernel itself met, recorded on an emulated link.

use weir_cc::SendTime;
use weir_cc::window::{Ack, Cubic, Delivery, HyStart, HyStartConfig, Window, WindowAlgorithm};
use weir_units::TimeDelta;

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../../../../data/kernel-tcp/", $name, ".csv"))
    };
}

/// An acknowledgement as it was recorded.
struct Recorded {
    now: SendTime,
    /// All segments acknowledged so far.
    acknowledged: f64,
    rtt: Option<TimeDelta>,
}

/// The recording, without the SYN-ACK.
fn recording(csv: &str) -> Vec<Recorded> {
    let micros = |ms: &str| ms.parse::<f64>().map(|ms| (ms * 1000.0).round() as i64);
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        Recorded {
            now: SendTime::from_nanos(1000 * micros(fields[0]).unwrap()),
            acknowledged: fields[1].parse().unwrap(),
            rtt: micros(fields[2]).ok().map(TimeDelta::from_micros),
        }
    };
    csv.lines().skip(2).map(line).collect()
}

/// A sender that always has data to send, fed with recorded acknowledgements.
struct Replay {
    algorithm: Cubic,
    window: Window,
    /// Segments sent and acknowledged so far.
    sent: f64,
    acknowledged: f64,
}

impl Replay {
    fn new() -> Self {
        let algorithm = Cubic::linux_6(Some(HyStart::new(HyStartConfig::linux())));
        let window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        Self { algorithm, window, sent: 10.0, acknowledged: 0.0 }
    }

    /// Passes a recorded acknowledgement to the algorithm.
    fn take(&mut self, recorded: &Recorded) {
        let acked = recorded.acknowledged - self.acknowledged;
        self.acknowledged = recorded.acknowledged;
        let Some(rtt) = recorded.rtt else { return };
        let outstanding = self.sent - self.acknowledged;
        let delivery = Delivery {
            now: recorded.now,
            delivered: acked,
            marked: 0.0,
            outstanding,
            rtt: Some(rtt),
            min_rtt: TimeDelta::ZERO, // of the handshake; not to be used
            recovering: false,
        };
        self.algorithm.on_delivery(&mut self.window, &delivery);
        let ack = Ack { now: recorded.now, acked, srtt: rtt, min_rtt: TimeDelta::ZERO, window_limited: true };
        self.algorithm.on_ack(&mut self.window, &ack);
        self.sent = self.sent.max(self.acknowledged + self.window.cwnd);
    }
}

/// The window at which slow start ends, in segments.
fn slow_start_ends_at(csv: &str) -> f64 {
    let mut replay = Replay::new();
    for recorded in recording(csv) {
        replay.take(&recorded);
        if !replay.window.in_slow_start() {
            return replay.window.ssthresh;
        }
    }
    f64::INFINITY
}

#[test]
fn slow_start_ends_where_the_kernel_ended_it() {
    for (csv, kernel) in [
        (recorded!("acks-cubic-a-1"), 56.0),
        (recorded!("acks-cubic-b-1"), 125.0),
        (recorded!("acks-cubic-c-1"), 49.0),
    ] {
        let ours = slow_start_ends_at(csv);
        assert!((ours - kernel).abs() <= 2.0, "{ours} where the kernel ended it at {kernel}");
    }
}

/// A link of the recordings, with a queue that takes all; times in µs.
struct Link {
    round_trip: i64,
    /// How long a segment is on the line.
    service: i64,
    /// Whether the receiver acknowledges a segment by itself, by number from 1 on; others it takes two by two.
    quick: fn(i64) -> bool,
}

/// The window at which slow start ends, in segments, where acknowledgements depend on the segments sent.
fn slow_start_ends_over(link: &Link) -> f64 {
    let mut replay = Replay::new();
    // Of each segment, when it left and when it was on the line.
    let mut sent = Vec::new();
    let mut served: Vec<i64> = Vec::new();
    let (mut now, mut acknowledged) = (0, 0);
    while replay.window.in_slow_start() && acknowledged < 1000 {
        while (sent.len() as f64) < replay.sent {
            sent.push(now);
            served.push(served.last().map_or(now, |&free| now.max(free)) + link.service);
        }
        acknowledged += if (link.quick)(acknowledged + 1) { 1 } else { 2 };
        let last = acknowledged as usize - 1;
        now = served[last] + link.round_trip;
        replay.take(&Recorded {
            now: SendTime::from_nanos(1000 * now),
            acknowledged: acknowledged as f64,
            rtt: Some(TimeDelta::from_micros(now - sent[last])),
        });
    }
    replay.window.ssthresh
}

/// The receiver acknowledged 22 segments one by one, then pairs until its window opened, and again between.
#[test]
fn closed_loop_ends_slow_start_where_the_kernel_did() {
    // After rounds of 10 and 20 segments the third begins with the acknowledgement of the 32nd. Eight samples are taken, and the
    // ninth finds that all were long. On link a they come by pairs up to the 48th, before which 46 had opened the window of 10
    // to 56; on link c one by one from the 33rd up to the 40th: 10 + 39 = 49.
    let a = Link { round_trip: 50_000, service: 4800, quick: |number| !(23..=50).contains(&number) };
    assert_eq!(slow_start_ends_over(&a), 56.0);
    let c = Link { round_trip: 100_000, service: 6000, quick: |number| !(23..=32).contains(&number) };
    assert_eq!(slow_start_ends_over(&c), 49.0);
    // On link b round trips stay short. The fourth round begins with the acknowledgement of the 72nd, and those after it come
    // 0.6 ms apart: the 44th is the first beyond (50.6 + 1) / 2 = 25.8 ms, and before it 10 + 115 were open.
    let quick = |number| !matches!(number, 23..=32 | 65..=72);
    let b = Link { round_trip: 50_000, service: 600, quick };
    assert_eq!(slow_start_ends_over(&b), 125.0);
}
