//! Properties of every controller over a bottleneck. The clocks of sender and receiver are hours apart here. A controller
//! by absolute delays ([`TestedController::by_absolute_delays`]) would take these hours for queuing delay, so it is
//! left out.

use alloc::collections::VecDeque;
use alloc::format;

use weir_units::{DataRate, TimeDelta};

use crate::controller::RateLimits;
use crate::testing::closed_loop::{Impairments, Loop, PACKET_PER_ROUND_TRIP, PacketSource};
use crate::testing::tested_controller::{TestedController, usual_limits};

const CAPACITY: DataRate = DataRate::from_mbps(1);
/// Start rates from 10 kbit/s to 100 Mbit/s.
const STARTS_KBPS: [u64; 4] = [10, 1_000, 10_000, 100_000];

/// On 1 Mbit/s, within 10 s, the target is at most a fifth above the capacity, and so is its mean in the 10 s after.
/// Start rates are 10 kbit/s to 100 Mbit/s, up to the controller's highest in its entry of `controller_tests!`
/// ([`TestedController::starting_at_most`]).
pub fn whatever_the_start_rate_it_comes_down_to_the_capacity_and_stays_there_on_average(
    controller: &TestedController,
) {
    if controller.absolute_delays {
        return;
    }
    for start in STARTS_KBPS.into_iter().filter(|&start| start <= controller.highest_start_kbps) {
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(10), kbps(start), kbps(start.max(2_500))).unwrap();
        let (sender, receiver) = (controller.build)(limits);
        let mut path = Loop::of(sender, receiver, PacketSource::STEADY, CAPACITY);
        let rates = path.run(TimeDelta::from_secs(20), Loop::target_rate);
        let bound = 1.2 * CAPACITY.bps_f64();
        let down = rates.iter().position(|&rate| rate <= bound);
        assert!(down.is_some_and(|ms| ms <= 10_000), "{} from {start} kbit/s: {down:?} ms", controller.name);
        let mean = rates[10_000..].iter().sum::<f64>() / 10_000.0;
        assert!(mean <= bound, "{} from {start} kbit/s: {mean} bit/s", controller.name);
    }
}

/// A video call over the bottleneck.
fn call(controller: &TestedController) -> Loop {
    let (sender, receiver) = (controller.build)(usual_limits());
    Loop::of(sender, receiver, PacketSource::VIDEO, CAPACITY)
}

/// The mean target over `span` as a share of the capacity.
fn mean_share(path: &mut Loop, span: TimeDelta) -> f64 {
    let rates = path.run(span, Loop::target_rate);
    rates.iter().sum::<f64>() / rates.len() as f64 / CAPACITY.bps_f64()
}

fn secs(secs: i64) -> TimeDelta {
    TimeDelta::from_secs(secs)
}

/// A video call on 1 Mbit/s after 20 s of copied, lost and late packets and reports. The mean target is 0.8 to 1.2 of
/// the capacity 20 s later, or after the recovery time of the controller's entry in `controller_tests!`
/// ([`TestedController::recovering_within`]).
pub fn copies_losses_and_a_wrong_order_of_packets_and_reports_do_no_lasting_harm(
    controller: &TestedController,
) {
    if controller.absolute_delays {
        return;
    }
    let mut path = call(controller);
    path.run(secs(10), |_| ());
    path.random_loss = 0.02;
    path.impairments =
        Impairments { copied: 0.05, late: 0.05, reports_lost: 0.2, reports_copied: 0.2, reports_late: 0.2 };
    path.run(secs(20), |_| ());
    path.random_loss = 0.0;
    path.impairments = Impairments::default();
    // A round of the recovery takes 100 ms.
    path.run(secs(controller.rounds_to_recover as i64 / 10).max(secs(20)), |_| ());
    let share = mean_share(&mut path, secs(10));
    assert!((0.8..1.2).contains(&share), "{}: {share} of the capacity", controller.name);
}

/// A video call on 1 Mbit/s, the receiver's clock fast or slow: after 50 s the mean target is 0.8 to 1.2 of the capacity.
pub fn a_clock_that_drifts_by_100_ppm_does_not_push_the_rate_away_from_the_capacity(
    controller: &TestedController,
) {
    if controller.absolute_delays {
        return;
    }
    for ppm in [-100, 100] {
        let mut path = call(controller);
        path.clock_drift_ppm = ppm;
        path.run(secs(50), |_| ());
        let share = mean_share(&mut path, secs(10));
        assert!((0.8..1.2).contains(&share), "{} at {ppm} ppm: {share} of the capacity", controller.name);
    }
}

/// The receiver's clock is set back by 5 s, or forward by 5 or 11 ([`TestedController::by_the_smallest_delay`]). From
/// 20 s later on the mean target of any 5 s is 0.4 to 1.2 of the capacity.
pub fn twenty_seconds_after_the_receivers_clock_was_set_the_rate_is_back_and_stays(
    controller: &TestedController,
) {
    if controller.absolute_delays {
        return;
    }
    for step in [secs(-5), controller.clock_step] {
        let mut path = call(controller);
        path.run(secs(20), |_| ());
        path.clock_step = step;
        path.run(secs(20), |_| ());
        for after in (20..50).step_by(5) {
            let share = mean_share(&mut path, secs(5));
            let when = format!("{} set by {step:?}, {after} s later", controller.name);
            assert!((0.4..1.2).contains(&share), "{when}: {share} of the capacity");
        }
    }
}

/// For a controller with this property ([`TestedController::bounded_when_limited`]): while the source offers less, the
/// target stays near the sent rate.
pub fn while_the_source_offers_a_tenth_of_the_capacity_the_target_does_not_run_away(
    controller: &TestedController,
) {
    let Some(packets) = controller.packets_when_limited else { return };
    let start = usual_limits().start().bps_f64();
    let mut path = call(controller);
    path.source_limit = CAPACITY.scale(0.1);
    // Five seconds must have passed before there is a rate of the last five.
    path.run(secs(5), |_| ());
    let slack = f64::from(packets) * PACKET_PER_ROUND_TRIP.bps_f64();
    let mut sent: VecDeque<f64> = VecDeque::new();
    for second in 0..55 {
        let before = path.sent_bits();
        let target = path.run(secs(1), Loop::target_rate).into_iter().fold(0.0, f64::max);
        sent.push_front(path.sent_bits() - before);
        sent.truncate(5);
        let most = sent.iter().copied().fold(0.0, f64::max);
        // A probe finds no more than the capacity.
        let found = path.last_probe().map_or(0.0, |rate| rate.min(CAPACITY).bps_f64());
        let bound = start.max(2.0 * most).max(found) + slack;
        assert!(target <= bound, "{} at {second} s: {target} above {bound} bit/s", controller.name);
    }
}
