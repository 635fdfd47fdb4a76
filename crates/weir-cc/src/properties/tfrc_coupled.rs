//! TFRC under the coupling of its paper.

use weir_units::{DataRate, TimeDelta};

use crate::at_receiver::AtReceiver;
use crate::controller::RateLimits;
use crate::decision::Decision;
use crate::testing::properties::{StaggeredFlows, flow};
use crate::testing::{BothHalves, Loop, PacketSource, TestedController, halves};
use crate::tfrc::{self, Tfrc, TfrcObserver};
use crate::time::SendTime;

/// Algorithm 2 of coupled-rtp-2014 as printed: a decrease by congestion scales the sum and is the only one for two round
/// trips. A decrease for another reason changes nothing.
fn algorithm_2(n: usize, start: DataRate) -> impl FnMut(&Decision, SendTime) -> DataRate {
    let (mut sum, mut expiry) = (start.bps_f64() * n as f64, SendTime::ZERO);
    move |decision, now| {
        let (rate, base) = (decision.rate.bps_f64(), decision.base.bps_f64());
        if now >= expiry && rate < base && decision.why.is_congestion() {
            sum *= rate / base;
            expiry = now + decision.rtt.unwrap_or(TimeDelta::from_millis(100)) * 2;
        } else if now >= expiry && rate > base {
            sum += rate - base;
        }
        DataRate::from_bps_f64(sum / n as f64)
    }
}

/// Rate carried by a dumbbell of 10 Mbit/s, 100 ms and 62 packets, and its mean queue.
#[derive(Clone, Copy, Debug)]
struct Dumbbell {
    utilisation: f64,
    queued_packets: f64,
}

impl Dumbbell {
    fn of(controller: &TestedController, n: usize, coupled: bool) -> Self {
        let kbps = DataRate::from_kbps;
        let (start, capacity) = (kbps(200), DataRate::from_mbps(10));
        let limits = RateLimits::new(kbps(10), start, kbps(100_000)).unwrap();
        let packet = TimeDelta::from_micros(960);
        let flows = (0..n).map(|_| {
            let mut path = flow(controller, limits, PacketSource::STEADY, capacity);
            path.describe_link(|link| {
                link.queue.limit_time = Some(packet * 62);
                link.delay = TimeDelta::from_millis(100);
            });
            path
        });
        let mut copies = StaggeredFlows::new(flows.collect(), start, 13);
        let mut shares = algorithm_2(n, start);
        let (mut waits, mut before) = (0.0, 0.0);
        for tick in 0..120_000 {
            let now = SendTime::from_millis(tick);
            copies.tick(|decision, _| coupled.then(|| shares(decision, now)));
            if tick < 20_000 {
                before = copies.total(Loop::delivered_bits);
            } else {
                waits += (copies.backlog() / capacity).secs_f64();
            }
        }
        let carried = copies.total(Loop::delivered_bits) - before;
        Self {
            utilisation: carried / 100.0 / capacity.bps_f64(),
            queued_packets: waits / 100_000.0 / packet.secs_f64(),
        }
    }
}

/// TFRC as in the paper.
fn tfrc_of_ns2(limits: RateLimits) -> BothHalves {
    let config = tfrc::Config::ns2();
    let observer = TfrcObserver::new(config).unwrap();
    halves(Tfrc::new(config, limits).unwrap(), AtReceiver::new(observer))
}

/// A factor on the equation's rate, which would keep an allocation, misses both.
#[test]
fn tfrc_under_algorithm_2_uses_the_link_with_two_thirds_of_the_queue() {
    let tfrc = TestedController::new("tfrc of ns-2", tfrc_of_ns2);
    for n in [2, 5, 10] {
        let (alone, coupled) = (Dumbbell::of(&tfrc, n, false), Dumbbell::of(&tfrc, n, true));
        assert!(coupled.utilisation >= 0.97, "{n} flows: {coupled:?}");
        assert!(coupled.queued_packets <= 0.7 * alone.queued_packets, "{n} flows: {coupled:?} of {alone:?}");
    }
}
