//! CUBIC of Linux 6 on the acknowledgements that the kernel itself met, recorded on an emulated link.

use weir_cc::SendTime;
use weir_cc::window::hystart::{Config, HyStart};
use weir_cc::window::{Ack, Cubic, Delivery, Window, WindowLaw};
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

/// A sender that always has something to send, fed with recorded acknowledgements.
struct Replay {
    law: Cubic,
    window: Window,
    /// Segments sent and acknowledged so far.
    sent: f64,
    acknowledged: f64,
}

impl Replay {
    fn new() -> Self {
        let law = Cubic::linux_6(Some(HyStart::new(Config::linux())));
        let window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        Self { law, window, sent: 10.0, acknowledged: 0.0 }
    }

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
        self.law.on_delivery(&mut self.window, &delivery);
        let ack = Ack { now: recorded.now, acked, srtt: rtt, min_rtt: TimeDelta::ZERO, window_limited: true };
        self.law.on_ack(&mut self.window, &ack);
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
