//! Columns over time.

use super::*;
use std::io;
use weir_measure::metrics::{Column, Histogram, Measured, Recording, Series, write_cdf_csv};
use weir_world::{Loss, Side};

/// The plan of 300 ms with one flow and its signals, with time series.
fn recorded() -> MeasurePlan {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let flow = FlowPlan {
        sender_signals: names(&["A_hat", "m, filtered"]),
        receiver_signals: names(&["x"]),
        ..media("video")
    };
    MeasurePlan { series: true, ..plan(300, vec![flow]) }
}

/// The measurements of three bins of 100 ms with packets, a loss and decisions.
fn measured() -> Measured {
    let mut run = Run::new(recorded());
    assert!(run.0.wants_signals());
    // Bin 0: two packets with excess 5 and 15 ms; bin 1: one lost, one received; bin 2: nothing.
    run.passes(0, 10, 40, 1250);
    run.passes(0, 20, 60, 1250);
    run.passes(0, 110, 145, 2500);
    let lost = run.sends(0, 120, 500);
    run.0.dropped(Time::from_millis(130), 0, 0, &lost, Loss::Random);
    run.captures(0, 10, 1, 1000);
    run.brings(0, 190);
    // 1000 kbit/s for 150 ms, then 400 kbit/s: bin 1 has half of each, and delay for the longer part of it.
    run.aims(0, 1000, LimitingFactor::RampUp);
    run.aims(130, 1000, LimitingFactor::Delay);
    run.aims(150, 400, LimitingFactor::Delay);
    for (at, wait) in [(40, 6), (60, 2)] {
        run.0.link_exit(Time::from_millis(at), 0, 1250, TimeDelta::from_millis(wait));
    }
    for (at, value) in [(10, 3.0), (50, f64::NAN), (90, 1.0), (100, 7.0)] {
        run.0.signals(Time::from_millis(at), 0, Side::Sender, &[value, -value]);
    }
    run.0.signals(Time::from_millis(250), 0, Side::Receiver, &[0.5]);
    run.0.finish()
}

fn recording() -> Recording {
    measured().series.expect("the plan asks for series")
}

fn series() -> Series {
    recording().whole().unwrap()
}

/// NaN is equal to NaN here.
#[track_caller]
fn column(actual: &[f64], expected: [f64; 3]) {
    assert_eq!(format!("{actual:?}"), format!("{expected:?}"));
}

const NONE: f64 = f64::NAN;

#[test]
fn rates_delays_and_losses_fall_into_bins_of_100_ms() {
    let series = series();
    let flow = &series.flows[0];
    column(&series.time_s, [0.0, 0.1, 0.2]);
    // 2500 bytes in 100 ms are 200 kbit/s; 1000 bytes of the frame's packet come on top in bin 1.
    column(&flow.send_rate_bps, [200e3, 240e3, 0.0]);
    column(&flow.receive_rate_bps, [200e3, 280e3, 0.0]);
    // One of three: the frame's packet arrives in bin 1 too, with an excess of 50 − 25 = 25 ms.
    column(&flow.loss_ratio, [0.0, 1.0 / 3.0, NONE]);
    column(&flow.owd_excess_mean_ms, [10.0, 17.5, NONE]);
    column(&flow.owd_excess_max_ms, [15.0, 25.0, NONE]);
    column(&flow.frame_delay_max_ms, [NONE, 180.0, NONE]);
}

#[test]
fn the_target_is_averaged_and_the_cause_is_the_longest() {
    let series = series();
    let flow = &series.flows[0];
    column(&flow.target_rate_bps, [1e6, 7e5, 4e5]);
    assert_eq!(
        flow.limiting_factor,
        [Some(LimitingFactor::RampUp), Some(LimitingFactor::Delay), Some(LimitingFactor::Delay)]
    );
}

#[test]
fn signals_keep_their_extremes() {
    let series = series();
    let [gain, filtered, share] = &series.flows[0].signals[..] else { panic!("three signals") };
    column(&gain.min, [1.0, 7.0, NONE]);
    column(&gain.max, [3.0, 7.0, NONE]);
    column(&filtered.min, [-3.0, -7.0, NONE]);
    column(&share.max, [NONE, NONE, 0.5]);
    assert_eq!((share.name.as_str(), share.side), ("x", Side::Receiver));
}

#[test]
fn links_show_capacity_and_queue() {
    let series = series();
    let link = &series.links[0];
    column(&link.capacity_bps, [1e6, 1e6, 1e6]);
    column(&link.rate_bps, [200e3, 0.0, 0.0]);
    column(&link.queue_mean_ms, [4.0, NONE, NONE]);
    column(&link.queue_max_ms, [6.0, NONE, NONE]);
}

#[test]
fn a_file_has_a_line_per_bin_and_a_column_per_quantity() {
    let mut out = Vec::new();
    recording().write_csv(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "time_s,video.send_rate_bps,video.receive_rate_bps,video.target_rate_bps,video.loss_ratio,\
         video.owd_excess_mean_ms,video.owd_excess_max_ms,video.frame_delay_max_ms,video.limiting_factor,\
         video.sender.A_hat.min,video.sender.A_hat.max,\"video.sender.m, filtered.min\",\
         \"video.sender.m, filtered.max\",video.receiver.x.min,video.receiver.x.max,\
         bottleneck.capacity_bps,bottleneck.rate_bps,bottleneck.queue_mean_ms,bottleneck.queue_max_ms"
    );
    assert_eq!(lines[1], "0,200000,200000,1000000,0,10,15,,ramp-up,1,3,-3,-1,,,1000000,200000,4,6");
    assert_eq!(lines[3], "0.2,0,0,400000,,,,,delay,,,,,0.5,0.5,1000000,0,,");
    assert_eq!(lines.len(), 4);
}

#[test]
fn a_written_series_is_read_back() {
    let mut out = Vec::new();
    recording().write_csv(&mut out).unwrap();
    let read = Series::read_csv(&String::from_utf8(out).unwrap(), &recorded()).unwrap();
    // NaN is equal to NaN here, too.
    assert_eq!(format!("{read:?}"), format!("{:?}", series()));
}

#[test]
fn recordings_are_the_same_where_their_values_are() {
    let one = || {
        let mut run = Run::new(MeasurePlan { series: true, ..plan(300, vec![media("a")]) });
        for at in [10, 110, 210] {
            run.passes(0, at, at + 30, 1250);
            run.captures(at as u32, at, 1, 1000);
            run.brings(at as u32, at + 30);
            run.aims(at, 1000, LimitingFactor::RampUp);
            run.0.link_exit(Time::from_millis(at), 0, 1250, TimeDelta::ZERO);
        }
        run
    };
    let same = one().0.finish().series;
    let mut other = one();
    other.passes(0, 250, 280, 1250);
    assert_eq!(one().0.finish().series, same);
    assert_ne!(other.0.finish().series, same);
}

#[test]
fn a_distribution_is_written_step_by_step() {
    let mut delays = Histogram::new();
    for ms in [1, 1, 1, 2] {
        delays.record(TimeDelta::from_millis(ms));
    }
    let mut out = Vec::new();
    write_cdf_csv(&mut out, [("a", &delays)], 100).unwrap();
    // 1 ms lies in the bin that ends at 489 · 2^11 ns = 1.001472 ms: 1 ms = 488.28 · 2^11 ns.
    assert_eq!(String::from_utf8(out).unwrap(), "name,delay_ms,share\na,1.001472,0.75\na,2,1\n");
}

#[test]
fn series_are_recorded_on_request_only() {
    let mut run = Run::new(plan(300, vec![media("a")]));
    assert!(!run.0.wants_signals());
    run.passes(0, 10, 40, 1250);
    assert_eq!(run.0.finish().series, None);
}

#[test]
fn bins_begin_with_the_window() {
    let mut plan = plan(300, vec![media("a")]);
    plan.series = true;
    let mut run = Run::within(plan, 50, 250);
    run.passes(0, 20, 49, 1250);
    run.passes(0, 60, 149, 1250);
    let series = run.0.finish().series.unwrap().whole().unwrap();
    // The first bin is only 50 ms long: 10 000 bits in it are 200 kbit/s.
    assert_eq!(series.time_s, [0.0, 0.05, 0.15, 0.25]);
    assert_eq!(series.flows[0].receive_rate_bps, [200e3, 100e3, 0.0, 0.0]);
}

#[test]
fn the_delays_of_each_flow_are_kept_in_full() {
    let measured = measured();
    assert_eq!(measured.delays[0].owd_excess.count(), 4);
    assert_eq!(measured.delays[0].frame_delay.max(), Some(TimeDelta::from_millis(180)));
}

#[test]
fn a_run_of_hours_is_recorded_as_a_short_one() {
    // Two blocks and a bit of 32 768 bins of 100 ms: something happens in the first bin, on both sides of the ends of blocks, in
    // the last one and long before it.
    let ends = [0, 3_276_800, 6_553_600];
    let last = 6_600_000;
    let names = vec!["x".to_owned()];
    let mut run = Run::new(MeasurePlan {
        series: true,
        ..plan(last, vec![FlowPlan { sender_signals: names, ..media("video") }])
    });
    run.aims(0, 1000, LimitingFactor::RampUp);
    for (number, &end) in (1..).zip(&ends) {
        for at in [end - 20.min(end), end + 30] {
            run.passes(0, at, at + 15, 1250);
            run.0.signals(Time::from_millis(at + 15), 0, Side::Sender, &[number as f64]);
        }
        // Half of the bin before the end of the block, and all of the next ones.
        run.aims(end + 50, 1000 + 100 * number, LimitingFactor::Delay);
    }
    let recording = run.0.finish().series.unwrap();
    let series = recording.clone().whole().unwrap();
    assert_eq!(series.time_s.len(), 66_000);
    let bins = |column: &[f64], bins: [usize; 3]| bins.map(|bin| column[bin]);
    let flow = &series.flows[0];
    assert_eq!(bins(&series.time_s, [0, 32_768, 65_999]), [0.0, 3276.8, 6599.9]);
    // 20 ms before the end sent and 5 ms before it arrived, 30 ms behind it sent and 45 ms arrived.
    assert_eq!(bins(&flow.receive_rate_bps, [32_766, 32_767, 32_768]), [0.0, 100e3, 100e3]);
    assert_eq!(bins(&flow.receive_rate_bps, [65_535, 65_536, 65_537]), [100e3, 100e3, 0.0]);
    assert_eq!(bins(&flow.target_rate_bps, [0, 1, 32_767]), [1050e3, 1100e3, 1100e3]);
    assert_eq!(bins(&flow.target_rate_bps, [32_768, 65_536, 65_999]), [1150e3, 1250e3, 1300e3]);
    assert_eq!(
        (flow.limiting_factor[0], flow.limiting_factor[65_999]),
        (Some(LimitingFactor::RampUp), Some(LimitingFactor::Delay))
    );
    assert_eq!(bins(&flow.signals[0].max, [32_767, 32_768, 65_536]), [2.0, 2.0, 3.0]);
    // The files have a line, or a row, for each bin, and a page a point for each four.
    let mut csv = Vec::new();
    recording.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 66_001);
    assert!(lines[32_769].starts_with("3276.8,100000,100000,1150000,0,"), "{}", lines[32_769]);
    let mut groups = Vec::new();
    let length = |columns: &[(String, Column<'_>)]| {
        let Column::Numbers(times) = columns[0].1 else { panic!("{columns:?}") };
        groups.push(times.len());
        io::Result::Ok(())
    };
    recording.each_table(length).unwrap();
    assert_eq!(groups, [32_768, 32_768, 464]);
    let (page, joined) = recording.clone().for_a_page().unwrap();
    assert_eq!((joined, page.time_s.len()), (4, 16_500));
    assert_eq!(bins(&page.time_s, [0, 1, 8192]), [0.0, 0.4, 3276.8]);
    assert_eq!(page.flows[0].receive_rate_bps[8191], 25e3, "the mean of four bins");
    assert_eq!(series.for_a_page().0.time_s, page.time_s);
}
