//! Reports in DCCC's and TFRC's form, of one receiver with jitter and losses, and of a second sender beside it.

use super::*;

/// A call, and a random number generator.
struct TwoReporters {
    history: SendHistory,
    rng: u64,
    contested: Vec<i64>,
}

impl TwoReporters {
    fn new(seed: u64) -> Self {
        let (rng, contested) = (seed.wrapping_mul(2).wrapping_add(1), vec![]);
        Self { history: SendHistory::new(TimeDelta::from_secs(5)), rng, contested }
    }

    /// A number below `below`.
    fn draw(&mut self, below: i64) -> i64 {
        self.rng = self.rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.rng >> 33) as i64 % below
    }

    fn deliver(&mut self, ms: i64, sequence: i64, report: NativeReport) {
        let echo = Echo { sequence: sequence as u16, held: TimeDelta::ZERO };
        self.history.join(at(ms), &Report::Native { report, echo });
        if self.history.is_contested(at(ms)) {
            self.contested.push(ms);
        }
    }
}

/// DCCC's report of a mean delay.
fn mean_delay(ms: i64) -> NativeReport {
    NativeReport::Dccc(crate::report::DcccReport {
        delay: ApparentDelay::between(SendTime::ZERO, ArrivalTime::from_millis(ms)),
        sending_rate: weir_units::DataRate::from_kbps(800),
        interarrival: TimeDelta::from_millis(10),
        packet_size: SIZE,
        at: ArrivalTime::from_millis(ms),
    })
}

/// When DCCC's reports contradict each other in 30 s of a call. Packets leave each 10 ms and wait as `queue(ms)`, with
/// up to `jitter` ms more. Of the packets one in 20 is lost, of the reports one in 10. A second sender reports `forged`
/// ms each `every` ms.
fn dccc_reports(seed: u64, jitter: i64, forged: Option<(i64, i64)>, queue: impl Fn(i64) -> i64) -> Vec<i64> {
    const CLOCKS: i64 = 7_000_000;
    let mut call = TwoReporters::new(seed);
    let (mut arrivals, mut newest, mut reported): (Vec<(i64, i64, i64)>, i64, i64) = (vec![], 0, 0);
    for ms in 0..30_000 {
        if ms % 10 == 0 {
            call.history.on_media_sent(at(ms), DataSize::ZERO, SIZE);
            let delay = 25 + queue(ms) + if jitter > 0 { call.draw(jitter) } else { 0 };
            if call.draw(20) > 0 {
                arrivals.push((ms + delay, ms / 10, delay));
            }
        }
        // The reverse path takes 25 ms.
        let there = ms - 25;
        let (count, delays) = arrivals.iter().filter(|(arrived, ..)| *arrived <= there).fold(
            (0, 0),
            |(count, delays), &(_, number, delay)| {
                newest = newest.max(number);
                (count + 1, delays + delay)
            },
        );
        if count > 0 && there - reported >= 100 {
            arrivals.retain(|(arrived, ..)| *arrived > there);
            reported = there;
            if call.draw(10) > 0 {
                call.deliver(ms, newest, mean_delay(delays / count + CLOCKS));
            }
        }
        if let Some((every, forged)) = forged
            && ms % every == 30
            && ms >= 5000
        {
            call.deliver(ms, (ms - 50) / 10, mean_delay(forged + CLOCKS));
        }
    }
    call.contested
}

/// A queue of up to `most` ms that fills in two seconds, drains as fast as time passes, and fills again.
fn sawtooth(most: i64) -> impl Fn(i64) -> i64 {
    move |ms| {
        let place = ms % (2000 + most);
        if place < 2000 { place * most / 2000 } else { most - (place - 2000) }
    }
}

#[test]
fn mean_delays_of_one_receiver_are_no_contradiction() {
    for seed in 0..40 {
        for jitter in [0, 15, 60] {
            for most in [0, 300, 2000] {
                assert_eq!(
                    dccc_reports(seed, jitter, None, sawtooth(most)),
                    [0; 0],
                    "{seed} {jitter} {most}"
                );
            }
            // Outages of 700 ms each three seconds, after which everything comes at once.
            let outage = |ms: i64| if ms % 3000 < 700 { 700 - ms % 3000 } else { 0 };
            assert_eq!(dccc_reports(seed, jitter, None, outage), [0; 0], "{seed} {jitter}");
        }
    }
}

#[test]
fn forged_mean_delays_beside_a_receiver_contradict_it() {
    for seed in 0..20 {
        for (forged, queue) in [(3025, 0), (25, 300), (525, 20), (1_000_000_000, 100), (-1_000_000_000, 100)]
        {
            for every in [50, 100] {
                let contested =
                    dccc_reports(seed, 15, Some((every, forged)), |ms| if ms < 3000 { 0 } else { queue });
                let first = contested.first().copied().unwrap_or(i64::MAX);
                assert!((5000..7000).contains(&first), "{seed} {forged} {queue} {every}: {first}");
            }
        }
        // The same value as the receiver's.
        assert_eq!(dccc_reports(seed, 15, Some((100, 60)), |_| 35), [0; 0]);
    }
}

/// When TFRC's reports contradict each other in 60 s of a call whose packets leave each 10 ms, of which one in `one_in`
/// is lost by chance. A second sender reports a loss event rate each `every` ms.
fn tfrc_reports(seed: u64, one_in: i64, forged: Option<(i64, f64)>) -> Vec<i64> {
    let mut call = TwoReporters::new(seed);
    // Packets since each of the last loss events, the newest first; weights of RFC 5348 5.4.
    let (mut intervals, weights) = (vec![0_i64], [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2]);
    let report_loss = |loss_event_rate| {
        NativeReport::Tfrc(crate::report::TfrcReport {
            loss_event_rate,
            receive_rate: weir_units::DataRate::from_kbps(800),
        })
    };
    for ms in 0..60_000 {
        if ms % 10 == 0 {
            call.history.on_media_sent(at(ms), DataSize::ZERO, SIZE);
            intervals[0] += 1;
            // Losses of one round trip are one event.
            if call.draw(one_in) == 0 && (intervals[0] > 5 || intervals.len() == 1) {
                intervals.insert(0, 0);
                intervals.truncate(9);
            }
        }
        if ms % 50 == 20 && ms >= 100 {
            let mean = |intervals: &[i64]| {
                let total: f64 =
                    intervals.iter().zip(weights).map(|(&own, weight)| own as f64 * weight).sum();
                total / weights[..intervals.len().min(8)].iter().sum::<f64>()
            };
            let known = intervals.len() - 1;
            let p = if known == 0 {
                0.0
            } else {
                1.0 / mean(&intervals[1..]).max(mean(&intervals[..known])).max(1.0)
            };
            call.deliver(ms, (ms - 60) / 10, report_loss(p));
        }
        if let Some((every, forged)) = forged
            && ms % every == 30
            && ms >= 30_000
        {
            call.deliver(ms, (ms - 50) / 10, report_loss(forged));
        }
    }
    call.contested
}

#[test]
fn loss_event_rates_contradict_each_other_where_another_reports_and_nowhere_else() {
    for seed in 0..20 {
        for one_in in [2, 5, 20, 100, 1000, 1_000_000] {
            assert_eq!(tfrc_reports(seed, one_in, None), [0; 0], "{seed} {one_in}");
        }
        for (one_in, forged) in [(20, 0.0), (100, 0.0), (100, 1.0), (1_000_000, 1.0), (1_000_000, 0.01)] {
            let first = tfrc_reports(seed, one_in, Some((100, forged))).first().copied().unwrap_or(i64::MAX);
            assert!((30_000..32_000).contains(&first), "{seed} {one_in} {forged}: {first}");
        }
    }
}
