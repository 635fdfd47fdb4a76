//! What holds of every law over a bottleneck.

use weir_units::{DataRate, TimeDelta};

use super::LAWS;
use crate::closed_loop::{Loop, Source};
use crate::controller::RateLimits;

const CAPACITY: DataRate = DataRate::from_mbps(1);
/// From 10 kbit/s to 100 Mbit/s.
const STARTS_KBPS: [u64; 4] = [10, 1_000, 10_000, 100_000];

#[test]
fn whatever_the_start_rate_it_comes_down_to_the_capacity_and_stays_there_on_average() {
    // The clocks of the loop are hours apart.
    for law in LAWS.iter().filter(|law| !law.absolute_delays) {
        for start in STARTS_KBPS.into_iter().filter(|&start| start <= law.highest_start_kbps) {
            let kbps = DataRate::from_kbps;
            let limits = RateLimits::new(kbps(10), kbps(start), kbps(start.max(2_500))).unwrap();
            let (sender, receiver) = (law.build)(limits);
            let mut path = Loop::of(sender, receiver, Source::STEADY, CAPACITY);
            let rates = path.run(TimeDelta::from_secs(20), Loop::target_rate);
            let bound = 1.2 * CAPACITY.bps_f64();
            let down = rates.iter().position(|&rate| rate <= bound);
            assert!(down.is_some_and(|ms| ms <= 10_000), "{} from {start} kbit/s: {down:?} ms", law.name);
            let mean = rates[10_000..].iter().sum::<f64>() / 10_000.0;
            assert!(mean <= bound, "{} from {start} kbit/s: {mean} bit/s", law.name);
        }
    }
}
