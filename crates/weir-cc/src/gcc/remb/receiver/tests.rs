//! The receiver half on a path of frames, in simulated time.

use weir_units::{DataRate, DataSize, TimeDelta};

use super::GccReceiver;
use crate::controller::{RateLimits, Receiver};
use crate::gcc::remb::Config;
use crate::packet::{Arrival, Ecn, Stamp};
use crate::report::Report;
use crate::time::{ArrivalTime, SendTime};

/// 25 frames a second.
const FRAME: TimeDelta = TimeDelta::from_millis(40);
const STEADY: TimeDelta = TimeDelta::ZERO;
/// Growth of the one-way delay with each frame: an overload of a tenth.
const GROWING: TimeDelta = TimeDelta::from_millis(4);

/// State of the receiver after a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ReceiverResults {
    m: f64,
    gamma: f64,
    usage: f64,
    /// `R` in bit/s, NaN while unknown.
    received: f64,
    /// `A_r` in bit/s.
    rate: f64,
}

/// A REMB: its time, by the receiver's clock since the path began, and its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Remb {
    at: TimeDelta,
    rate: DataRate,
}

/// Frames of two packets, 5 ms apart, every 40 ms.
struct Path {
    receiver: GccReceiver,
    now: SendTime,
    delay: TimeDelta,
    rate: DataRate,
    frame: u64,
    packet: u64,
    /// Offset of the receiver's clock, and the share by which it runs too fast.
    offset: TimeDelta,
    skew: f64,
    rembs: Vec<Remb>,
}

impl Path {
    fn new(config: Config) -> Self {
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap();
        Self {
            receiver: GccReceiver::new(config, limits).unwrap(),
            now: SendTime::ZERO,
            delay: TimeDelta::from_millis(25),
            rate: kbps(1000),
            frame: 0,
            packet: 0,
            offset: TimeDelta::from_secs(7200),
            skew: 0.0,
            rembs: Vec::new(),
        }
    }

    /// A path on which frames came for 30 s with a delay that stood still.
    fn settled() -> Self {
        let mut path = Self::new(Config::default());
        path.run(750, STEADY);
        path
    }

    /// `frames` frames; with each the delay grows by `growth`.
    fn run(&mut self, frames: usize, growth: TimeDelta) -> Vec<ReceiverResults> {
        (0..frames).map(|_| self.frame(growth, 0..2)).collect()
    }

    /// A frame; only its packets in `arriving` arrive.
    fn frame(&mut self, growth: TimeDelta, arriving: core::ops::Range<i64>) -> ReceiverResults {
        self.delay += growth;
        for n in arriving {
            let departure = self.now + TimeDelta::from_millis(5) * n;
            let at = self.receiver_clock(departure + self.delay);
            self.poll_until(at);
            self.receiver.on_arrival(&Arrival {
                id: self.packet + n as u64,
                departure,
                at,
                size: DataSize::from_bytes((self.rate * FRAME).bytes() / 2),
                ecn: Ecn::NotEct,
                media_time: self.frame * 3600,
                marker: n == 1,
                stamp: Stamp::default(),
            });
            self.poll_until(at);
        }
        self.packet += 2;
        self.frame += 1;
        self.now += FRAME;
        self.seen()
    }

    /// A time without packets.
    fn silence(&mut self, span: TimeDelta) {
        self.now += span;
        self.poll_until(self.receiver_clock(self.now));
    }

    fn receiver_clock(&self, at: SendTime) -> ArrivalTime {
        ArrivalTime::ZERO + self.offset + (at - SendTime::ZERO).scale(1.0 + self.skew)
    }

    /// Stores the REMBs that are due by `until`.
    fn poll_until(&mut self, until: ArrivalTime) {
        while let Some(due) = self.receiver.next_timeout().filter(|&due| due <= until) {
            let Some(report) = self.receiver.poll_report(due) else { continue };
            let Report::Ceiling(rate) = report else { panic!("{report:?}") };
            self.rembs.push(Remb { at: due - (ArrivalTime::ZERO + self.offset), rate });
        }
    }

    /// The present signals.
    fn seen(&self) -> ReceiverResults {
        let mut out = [0.0; 7];
        self.receiver.read_signals(&mut out);
        let [m, gamma, _, usage, _, received, rate] = out;
        ReceiverResults { m, gamma, usage, received, rate }
    }

    /// Frames whose delay grows, until the receiver signals over-use.
    fn overuse(&mut self) -> Vec<ReceiverResults> {
        let mut seen = vec![self.seen()];
        while seen[seen.len() - 1].usage < 1.0 {
            assert!(seen.len() < 250, "no over-use in 10 s");
            seen.extend(self.run(1, GROWING));
        }
        seen
    }
}

#[test]
fn a_remb_comes_every_second_until_two_seconds_after_the_last_packet() {
    let mut path = Path::settled();
    let first = path.rembs[0].at;
    assert_eq!(first, TimeDelta::from_millis(1025), "a second after the first packet");
    for (n, remb) in path.rembs.iter().enumerate() {
        assert_eq!(remb.at, first + TimeDelta::from_secs(n as i64));
    }
    assert_eq!(path.rembs.len(), 29);
    path.silence(TimeDelta::from_secs(10));
    // The last packet came at 29.99 s: 30.025 and 31.025 s.
    assert_eq!(path.rembs.len(), 31);
    assert_eq!(path.receiver.next_timeout(), None);
    path.run(50, STEADY);
    assert_eq!(path.rembs.len(), 32, "a second after the first packet of two seconds more");
}

#[test]
fn the_rate_grows_by_a_twentieth_per_frame_and_stays_below_one_and_a_half_times_the_receive_rate() {
    let mut path = Path::new(Config::default());
    let seen = path.run(250, STEADY);
    // 300 · 1.05 = 315 with the first sample, which the third frame's first packet completes.
    assert_eq!((seen[1].rate, seen[2].rate, seen[3].rate), (300e3, 315e3, 330_750.0));
    // ln 5 / ln 1.05 = 33 samples later it stands at 1.5 · 1000.
    assert!(seen[40].rate > 1.3e6 && seen[100..].iter().all(|seen| (1.4e6..=1.6e6).contains(&seen.rate)));
    for kbps in [400, 900, 100, 1600] {
        path.rate = DataRate::from_kbps(kbps);
        for seen in path.run(100, STEADY) {
            assert!(seen.rate <= 1.5 * seen.received + 1.0, "{seen:?}");
        }
    }
}

#[test]
fn a_fall_by_more_than_three_per_cent_is_reported_at_once() {
    let mut path = Path::settled();
    let seen = path.overuse();
    let reported = path.rembs[path.rembs.len() - 1];
    let before = path.rembs[path.rembs.len() - 2];
    assert!(reported.at - before.at < TimeDelta::from_secs(1), "{before:?}, {reported:?}");
    // α·R: 0.85 · 1000 · 10/11 as the delay grows by a tenth.
    let (rate, last) = (reported.rate.bps_f64(), seen[seen.len() - 1]);
    assert!((rate - 0.85 * last.received).abs() < 1.0 && (740e3..860e3).contains(&rate), "{rate} bit/s");
    path.run(25, STEADY);
    let next = path.rembs[path.rembs.len() - 1];
    assert_eq!(next.at, reported.at + TimeDelta::from_secs(1), "the second counts anew");
}

#[test]
fn a_fall_by_less_waits_for_its_second() {
    for (kbps, at_once) in [(980, false), (940, true)] {
        let mut path = Path::settled();
        path.run(3, STEADY);
        let before = path.rembs[path.rembs.len() - 1];
        // A_r falls with 1.5 R, by 2 or by 6 %; the window of R is half a second.
        path.rate = DataRate::from_kbps(kbps);
        path.run(25, STEADY);
        let next = path.rembs[path.rembs.iter().position(|remb| remb == &before).unwrap() + 1];
        assert_eq!(next.at - before.at < TimeDelta::from_secs(1), at_once, "at {kbps} kbit/s");
    }
}

#[test]
fn overuse_takes_more_than_100_ms_above_the_threshold() {
    let mut path = Path::settled();
    let seen = path.overuse();
    // A sample is compared with the threshold after the sample before.
    let above = seen.windows(2).position(|pair| pair[1].m > pair[0].gamma).unwrap() + 1;
    // Frames come every 40 ms: 40 and 80 ms are not enough, 120 ms are.
    assert_eq!(seen.len() - 1, above + 2);
    assert!(seen[..above + 2].iter().all(|seen| seen.usage < 1.0 && seen.rate > 1.3e6));
    assert!(seen[above + 2].rate < 1e6, "{:?}", seen[above + 2]);
}

#[test]
fn a_short_burst_is_not_overuse() {
    let mut path = Path::settled();
    // 40 ms of queue that come and go within 80 ms.
    for growth in [20, 20, -20, -20] {
        path.run(1, TimeDelta::from_millis(growth));
    }
    assert!(path.run(50, STEADY).iter().all(|seen| seen.usage < 1.0 && seen.rate > 1.3e6));
}

#[test]
fn silence_restarts_grouping_and_keeps_the_threshold_and_the_rate() {
    let mut path = Path::settled();
    path.overuse();
    path.run(10, STEADY);
    let before = path.seen();
    path.silence(TimeDelta::from_millis(2500));
    // Meanwhile the path has become 300 ms longer: no gradient spans the gap.
    let step = TimeDelta::from_millis(300);
    let after = [path.run(1, step)[0], path.run(1, STEADY)[0]];
    for seen in after {
        assert_eq!((seen.gamma, seen.rate, seen.usage), (before.gamma, before.rate, 0.0));
    }
    let later = path.run(5, STEADY);
    assert!(later.iter().all(|seen| seen.m == 0.0 && seen.usage == 0.0), "{later:?}");
}

#[test]
fn a_shorter_silence_restarts_nothing() {
    let mut path = Path::settled();
    path.silence(TimeDelta::from_millis(1500));
    path.run(2, TimeDelta::from_millis(150));
    assert!(path.run(1, STEADY)[0].m > 0.1, "the gradient spans the silence");
}

#[test]
fn a_receivers_clock_set_back_neither_silences_nor_blinds_it() {
    let mut path = Path::settled();
    path.offset -= TimeDelta::from_secs(3600);
    let before = path.rembs.len();
    let seen = path.run(55, STEADY);
    assert!(seen.iter().all(|seen| seen.m == 0.0 && seen.usage == 0.0), "no gradient spans the step");
    assert_eq!(path.rembs.len() - before, 2, "in two seconds");
    assert!(path.overuse().len() < 25, "over-use is seen within a second");
}

/// A minute with two episodes of over-use, by a receiver's clock that runs too fast by `skew`.
fn episodes(skew: f64) -> Vec<ReceiverResults> {
    let mut path = Path { skew, ..Path::new(Config::default()) };
    let mut seen = Vec::new();
    for _ in 0..2 {
        seen.extend(path.run(600, STEADY));
        seen.extend(path.run(25, GROWING));
        seen.extend(path.run(25, -GROWING));
        seen.extend(path.run(100, STEADY));
    }
    seen
}

fn mean_rate(seen: &[ReceiverResults]) -> f64 {
    seen.iter().map(|seen| seen.rate).sum::<f64>() / seen.len() as f64
}

#[test]
fn clocks_that_drift_apart_by_100_ppm_do_not_change_the_behaviour() {
    let straight = episodes(0.0);
    assert!(straight.iter().filter(|seen| seen.usage == 1.0).count() > 20, "no over-use");
    for skew in [100e-6, -100e-6] {
        let skewed = episodes(skew);
        let differing = straight.iter().zip(&skewed).filter(|(a, b)| a.usage != b.usage).count();
        assert!(differing <= 4, "{differing} of {} frames", straight.len());
        let ratio = mean_rate(&skewed) / mean_rate(&straight);
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    }
}

#[test]
fn a_lost_frame_or_the_loss_of_its_end_is_no_congestion() {
    let mut path = Path::settled();
    let mut seen = Vec::new();
    for n in 0..200 {
        seen.push(match n % 10 {
            3 => path.frame(STEADY, 0..0),
            7 => path.frame(STEADY, 0..1),
            _ => path.frame(STEADY, 0..2),
        });
    }
    assert!(seen.iter().all(|seen| seen.usage < 1.0), "over-use on a path that only loses");
    // An eighth of the bytes is missing: 1.5 · R and no less.
    assert!(seen.iter().all(|seen| seen.rate > 1.5 * 600e3), "a decrease on a path that only loses");
}

#[test]
fn a_static_threshold_stays_where_it_is() {
    let mut path = Path::new(Config { static_threshold: Some(25.0), ..Config::default() });
    path.run(250, STEADY);
    let seen = path.overuse();
    assert!(seen.iter().all(|seen| seen.gamma == 25.0));
    assert!(seen[seen.len() - 1].m > 25.0);
}

/// `k` of γ' = γ + Δt·k·(|m| − γ), per ms, for each of `seen` by the one before; frames arrive `interval` ms apart.
fn gains(seen: &[ReceiverResults], interval: f64) -> impl Iterator<Item = f64> {
    seen.windows(2).map(move |pair| {
        let distance = pair[1].m.abs() - pair[0].gamma;
        (pair[1].gamma - pair[0].gamma) / (interval * distance)
    })
}

#[test]
fn the_threshold_rises_faster_than_it_falls() {
    let mut path = Path::settled();
    path.overuse();
    // While the delay grows, frames arrive 44 ms apart and m is above γ: k_u.
    let rising = path.run(20, GROWING);
    assert!(gains(&rising, 44.0).all(|k| (k - 0.01).abs() < 1e-9), "{rising:?}");
    // The delay stands still; 4 s later m is far below γ: k_d.
    path.run(100, STEADY);
    let falling = path.run(20, STEADY);
    assert!(gains(&falling, 40.0).all(|k| (k - 0.000_18).abs() < 1e-9), "{falling:?}");
    let (up, down) = (rising[19].gamma - rising[0].gamma, falling[0].gamma - falling[19].gamma);
    assert!(up > 1.5 * down && down > 0.0, "{up} ms up, {down} ms down");
}
