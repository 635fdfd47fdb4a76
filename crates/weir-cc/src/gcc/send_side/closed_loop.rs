//! The sender-side form of GCC (`gcc::send_side`, draft-ietf-rmcat-gcc-02) over a simulated bottleneck of 1 Mbit/s.

use weir_units::{DataRate, TimeDelta};

use super::{Config, ControlForm, FilterForm, LossForm, SampleGrouping, SendSideGcc};
use crate::packet_feedback::PacketFeedback;
use crate::testing::{Impairments, Loop, PacketSource, usual_limits as limits};

const CAPACITY: DataRate = DataRate::from_mbps(1);

fn path(config: &Config) -> Loop {
    let sender = SendSideGcc::new(*config, limits()).unwrap();
    Loop::new(sender, PacketFeedback::new(config.feedback_interval), PacketSource::VIDEO, CAPACITY)
}

fn variants() -> [(&'static str, Config); 7] {
    let (draft, paper) = (Config::draft_02(), Config::nada_vs_gcc_2016());
    let as_implemented =
        Config { control: ControlForm::Libwebrtc2016, rate_window: TimeDelta::from_secs(1), ..paper };
    [
        ("draft-02", draft),
        ("nada-vs-gcc-2016", paper),
        ("draft-02, two states", Config { filter: FilterForm::TwoState, ..draft }),
        ("draft-02, per packet", Config { grouping: SampleGrouping::PerPacket, ..draft }),
        ("draft-02, loss v1", Config { loss: LossForm::LibwebrtcV1, ..draft }),
        ("nada-vs-gcc-2016, loss v1", Config { loss: LossForm::LibwebrtcV1, ..paper }),
        ("nada-vs-gcc-2016, libwebrtc's control", as_implemented),
    ]
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Mean target rate in kbit/s, median and 95th percentile of the queuing delay in ms, over the next `seconds`.
fn rate_and_delays(path: &mut Loop, seconds: i64) -> (f64, f64, f64) {
    let samples =
        path.run(TimeDelta::from_secs(seconds), |p| (p.target_rate(), p.queuing_delay().millis_f64()));
    let mut delays: Vec<f64> = samples.iter().map(|&(_, delay)| delay).collect();
    delays.sort_unstable_by(f64::total_cmp);
    let quantile = |share: f64| delays[(share * delays.len() as f64) as usize];
    (mean(samples.iter().map(|&(rate, _)| rate / 1e3)), quantile(0.5), quantile(0.95))
}

#[test]
fn one_flow_climbs_by_eight_per_cent_a_second_to_the_capacity() {
    for (name, config) in &variants()[..2] {
        let mut path = path(config);
        path.run(TimeDelta::from_secs(10), Loop::target_rate);
        // 300·1.08^10 = 648 kbit/s, less the time of the first reports.
        let rate = path.target_rate() / 1e3;
        assert!((600.0..650.0).contains(&rate), "{name}: {rate} kbit/s after 10 s");
        // 300·1.08^16 = 1028.
        path.run(TimeDelta::from_secs(7), Loop::target_rate);
        let (rate, ..) = rate_and_delays(&mut path, 3);
        assert!((900.0..1030.0).contains(&rate), "{name}: {rate} kbit/s");
    }
}

#[test]
fn every_variant_fills_the_path_with_a_short_queue() {
    for (name, config) in variants() {
        let mut path = path(&config);
        path.run(TimeDelta::from_secs(20), Loop::target_rate);
        let (rate, median, high) = rate_and_delays(&mut path, 60);
        assert!((850.0..1000.0).contains(&rate), "{name}: {rate} kbit/s");
        // Unpaced, a frame alone queues for 0 to 33 ms.
        let alone = if config.pacing == super::SendSidePacing::Unpaced { 33.0 } else { 5.0 };
        assert!(median < alone / 2.0 + 10.0, "{name}: median {median} ms");
        assert!(high < alone + 40.0, "{name}: 95th percentile {high} ms");
    }
}

#[test]
fn a_capacity_drop_is_followed_within_seconds() {
    for (name, config) in variants() {
        let mut path = path(&config);
        path.run(TimeDelta::from_secs(60), Loop::target_rate);
        path.set_capacity(DataRate::from_kbps(400));
        path.run(TimeDelta::from_secs(5), Loop::target_rate);
        let (rate, median, high) = rate_and_delays(&mut path, 20);
        assert!((300.0..420.0).contains(&rate), "{name}: {rate} kbit/s");
        assert!(median < 25.0 && high < 100.0, "{name}: {median} and {high} ms");
    }
}

#[test]
fn a_capacity_that_comes_back_is_found_again() {
    let mut path = path(&Config::draft_02());
    path.run(TimeDelta::from_secs(30), Loop::target_rate);
    path.set_capacity(DataRate::from_kbps(400));
    path.run(TimeDelta::from_secs(30), Loop::target_rate);
    path.set_capacity(CAPACITY);
    path.run(TimeDelta::from_secs(25), Loop::target_rate);
    let (rate, ..) = rate_and_delays(&mut path, 10);
    assert!(rate > 850.0, "{rate} kbit/s");
}

#[test]
fn after_five_seconds_without_feedback_the_rate_is_low_and_comes_back() {
    let mut path = path(&Config::draft_02());
    path.run(TimeDelta::from_secs(30), Loop::target_rate);
    let before = path.target_rate();
    path.feedback_cut = true;
    path.run(TimeDelta::from_secs(5), Loop::target_rate);
    // Halved 3 and 4 s after the last feedback, and once more if that came at the very beginning.
    let silent = path.target_rate();
    assert!((0.12 * before..0.26 * before).contains(&silent), "{silent} of {before} bit/s");
    path.feedback_cut = false;
    // Packets without feedback in the outage count as lost in the first report; then 8 % a second: ln 16 / ln 1.08
    // = 36 s.
    path.run(TimeDelta::from_secs(40), Loop::target_rate);
    let (rate, ..) = rate_and_delays(&mut path, 10);
    assert!(rate > 800.0, "{rate} kbit/s");
}

#[test]
fn a_leap_of_the_receivers_clock_by_five_seconds_is_no_gradient() {
    for (name, config) in variants() {
        let mut path = path(&config);
        path.run(TimeDelta::from_secs(20), Loop::target_rate);
        path.clock_step = TimeDelta::from_secs(5);
        // If the leap counted as a gradient, m would be 60 ms: 3600 ms where it is compared with the threshold. It would
        // stay above the threshold for half a minute.
        let gradients = path.run(TimeDelta::from_secs(60), |path| path.sender_signal("m"));
        let highest = gradients.into_iter().fold(0.0, f64::max);
        assert!(highest < 150.0, "{name}: {highest} ms");
        let (rate, ..) = rate_and_delays(&mut path, 10);
        assert!(rate > 850.0, "{name}: {rate} kbit/s");
    }
}

/// Bits delivered in one minute where this share of the reports is lost.
fn delivered_with_reports_lost(config: &Config, reports_lost: f64) -> f64 {
    let mut path = path(config);
    path.impairments = Impairments { reports_lost, ..Impairments::default() };
    path.run(TimeDelta::from_secs(60), |_| ());
    path.delivered_bits()
}

#[test]
fn loss_of_five_per_cent_of_reports_costs_the_draft_at_most_a_quarter_and_the_nada_form_more() {
    let kept =
        |config| delivered_with_reports_lost(&config, 0.05) / delivered_with_reports_lost(&config, 0.0);
    let (draft, nada_vs_gcc) = (kept(Config::draft_02()), kept(Config::nada_vs_gcc_2016()));
    assert!(draft >= 0.75, "{draft}");
    assert!(nada_vs_gcc < draft, "{nada_vs_gcc} and {draft}");
}
