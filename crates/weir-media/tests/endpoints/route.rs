//! A change to a longer route that both ends know of.

use weir_cc::gcc::goog_cc::{self, GoogCc};
use weir_cc::gcc::send_side::{self, SendSideGcc};
use weir_cc::ledbat::{self, Ledbat};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::rap::{self, Rap};
use weir_cc::scream::{v1, v2};
use weir_cc::{Controller, LimitingFactor};
use weir_units::{DataRate, TimeDelta};

use crate::rig::{Call, Halves, config, dccc, gcc_2016, limits, nada, tfrc};

/// Additional delay of the second route.
const LONGER: TimeDelta = TimeDelta::from_millis(60);

/// A controller with a receiver half that reports single packets.
fn by_packets(controller: impl Controller + 'static) -> Halves {
    (Box::new(controller), Box::new(PacketFeedback::new(TimeDelta::from_millis(50))))
}

/// Controllers with their names.
fn controllers() -> Vec<(&'static str, Halves)> {
    vec![
        ("gcc", by_packets(GoogCc::new(goog_cc::Config::default(), limits()).unwrap())),
        ("gcc-send-side", by_packets(SendSideGcc::new(send_side::Config::default(), limits()).unwrap())),
        ("gcc-2016", gcc_2016()),
        ("scream", by_packets(v1::Scream::new(v1::Config::default(), limits()).unwrap())),
        ("scream-v2", by_packets(v2::ScreamV2::new(v2::Config::default(), limits()).unwrap())),
        ("nada", nada()),
        ("dccc", dccc()),
        ("ledbat", by_packets(Ledbat::new(ledbat::Config::default(), limits()).unwrap())),
        ("tfrc", tfrc()),
        ("rap", by_packets(Rap::new(rap::Config::default(), limits()).unwrap())),
    ]
}

/// A call after 20 s over a link whose capacity is above the maximum rate.
fn settled(halves: Halves) -> Call {
    let mut call = Call::new(halves, &config(), DataRate::from_mbps(20));
    call.run(TimeDelta::from_secs(20));
    call
}

#[test]
fn a_longer_route_is_no_congestion() {
    for (name, halves) in controllers() {
        let mut call = settled(halves);
        call.change_route(LONGER);
        let began = call.target_kbps();
        for step in 1..=20 {
            call.run(TimeDelta::from_millis(50));
            let (rate, factor) = (call.target_kbps(), call.sender.target().limiting_factor);
            let at = step * 50;
            assert!(rate >= 0.9 * began, "{name} after {at} ms: {rate} of {began} kbit/s");
            // While DCCC ramps up, the sending rate is ahead of the receive rate, and DCCC alone takes that for loss.
            let congested = name != "dccc"
                && matches!(factor, LimitingFactor::Delay | LimitingFactor::Loss | LimitingFactor::Receiver);
            assert!(!congested, "{name} after {at} ms: {factor:?} at {rate} of {began} kbit/s");
        }
    }
}

#[test]
fn sending_goes_on_at_once() {
    for (name, halves) in controllers() {
        let mut call = settled(halves);
        call.change_route(LONGER);
        // Before any feedback by the new route; SCReAM begins with a window of two packets.
        let before = call.packets;
        call.run(TimeDelta::from_millis(150));
        assert!(call.packets - before >= 3, "{name}: {}", call.packets - before);
    }
}
