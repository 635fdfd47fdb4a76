//! The climb of a source whose layers need 715 and 2365 kbit/s.

use weir_cc::{Ecn, PacketResult, ReceptionReport, SentPacket};

use super::*;

fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

/// Sender time of `ms` milliseconds.
fn at(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

/// The layer that needs this target in kbit/s.
fn layer(needed: u64) -> NextLayer {
    NextLayer { layers_on: if needed == SECOND_LAYER { 1 } else { 2 }, needed: kbps(needed) }
}

const SECOND_LAYER: u64 = 715;
const THIRD_LAYER: u64 = 2365;

/// A climb with media of a constant rate, which is called each 20 ms.
struct Flow {
    climb: LayerClimb,
    now: i64,
    /// Media in kbit/s.
    media: u64,
    /// The next layer's need in kbit/s.
    needed: Option<u64>,
}

impl Flow {
    /// A flow that has sent 150 kbit/s for two seconds, at that target, and does not pad.
    fn steady() -> Self {
        let mut flow =
            Self { climb: LayerClimb::new(kbps(3000)), now: 0, media: 150, needed: Some(SECOND_LAYER) };
        flow.run(2000, 150);
        flow
    }

    /// Runs for `ms` under this target; the last padding rate, in kbit/s.
    fn run(&mut self, ms: i64, target: u64) -> u64 {
        let until = self.now + ms;
        let mut rate = 0;
        while self.now < until {
            self.now += 20;
            self.climb.on_media(at(self.now), kbps(self.media) * TimeDelta::from_millis(20));
            let next = self.needed.map(layer);
            let padding = self.climb.poll(at(self.now), kbps(target), next);
            assert!(padding.rate <= kbps(target) && next.is_none_or(|next| padding.rate <= next.needed));
            rate = padding.rate.bps() / 1000;
        }
        rate
    }

    /// Milliseconds under this target until padding begins.
    fn until_padding(&mut self, target: u64) -> i64 {
        let from = self.now;
        while self.run(20, target) == 0 {
            assert!(self.now - from < 60_000, "it never begins");
        }
        self.now - from
    }

    /// Feedback after 30 ms on a packet that has just left, with this one-way delay; `None` if it was lost.
    fn report(&mut self, delay: Option<i64>) {
        let sent = SentPacket::new(0, at(self.now), DataSize::from_bytes(1000));
        let arrival = |delay| weir_cc::ArrivalTime::from_millis(self.now + delay);
        let fate = match delay {
            Some(delay) => PacketFate::Arrived { at: Some(arrival(delay)), ecn: Ecn::NotEct },
            None => PacketFate::Missing,
        };
        let results = [PacketResult { sent, fate }];
        let feedback = Feedback::Packets { results: &results, at: None, rtt: None, missed_reports: 0 };
        self.climb.on_feedback(at(self.now), &feedback, true);
    }
}

#[test]
fn padding_begins_after_a_second_above_the_sent_rate_and_rises_by_a_quarter_in_a_second() {
    let mut flow = Flow::steady();
    assert_eq!(flow.run(3000, 150), 0, "the target is no higher");
    assert!((1000..=1040).contains(&flow.until_padding(600)));
    let (first, then) = (flow.run(20, 600), flow.run(1000, 600));
    assert!((150..155).contains(&first), "{first}");
    assert!((190..=197).contains(&then), "{then}: 150 · e^0.25 = 193");
    assert_eq!(flow.run(6000, 600), 600, "the target");
}

#[test]
fn padding_fills_at_most_the_rate_of_the_next_layer_and_ends_with_the_last_one() {
    let mut flow = Flow::steady();
    flow.until_padding(2500);
    assert_eq!(flow.run(9000, 2500), SECOND_LAYER);
    (flow.media, flow.needed) = (650, Some(THIRD_LAYER));
    let rate = flow.run(1000, 2500);
    assert!((900..1000).contains(&rate), "{rate}: it goes on from 715");
    (flow.media, flow.needed) = (2150, None);
    assert_eq!(flow.run(1000, 2500), 0);
}

#[test]
fn a_flow_starts_with_padding() {
    let mut climb = LayerClimb::new(kbps(3000));
    let padding = climb.poll(at(0), kbps(300), Some(layer(SECOND_LAYER)));
    assert_eq!((padding.rate, padding.due), (kbps(300), Some(at(100))));
    assert!(!climb.holds(at(999)) && climb.holds(at(1000)));
}

#[test]
fn a_loss_stops_padding_and_each_wait_is_twice_the_last_up_to_thirty_seconds() {
    let mut flow = Flow::steady();
    flow.until_padding(600);
    let waits: Vec<i64> = (0..6)
        .map(|_| {
            flow.report(None);
            assert_eq!(flow.run(20, 600), 0);
            let waited = flow.until_padding(600) + 20;
            (waited - 1000) / 1000
        })
        .collect();
    assert_eq!(waits, [2, 4, 8, 16, 30, 30]);
}

#[test]
fn a_layer_that_is_gained_ends_the_series_of_waits() {
    let mut flow = Flow::steady();
    for _ in 0..3 {
        flow.until_padding(800);
        flow.report(None);
    }
    flow.until_padding(800);
    (flow.media, flow.needed) = (650, Some(THIRD_LAYER));
    flow.run(100, 800);
    flow.report(None);
    assert!((2900..=3100).contains(&flow.until_padding(800)));
}

#[test]
fn a_cut_and_a_target_that_stands_still_stop_padding() {
    let mut flow = Flow::steady();
    flow.until_padding(600);
    assert_eq!(flow.run(7000, 600), 600);
    assert_eq!(flow.run(20, 545), 545, "a ripple");
    assert_eq!(flow.run(20, 535), 0, "below 90 % of 600");
    flow.until_padding(300);
    // 150 · e^(0.25 t) reaches 300 after 2.8 s.
    assert_eq!(flow.run(5700, 300), 300);
    assert_eq!(flow.run(300, 300), 0, "three seconds at the target, which does not rise");
    let mut rising = Flow::steady();
    rising.until_padding(200);
    let rates: Vec<u64> = (0..20).map(|second| rising.run(1000, 200 + 3 * second)).collect();
    assert!(rates.iter().all(|&rate| rate > 0), "1 % in a second: {rates:?}");
}

#[test]
fn a_queue_stops_padding() {
    let padded = |delay: i64| {
        let mut flow = Flow::steady();
        for _ in 0..60 {
            flow.run(20, 600);
            flow.report(Some(15));
        }
        assert!(flow.run(20, 600) > 0);
        for _ in 0..20 {
            flow.run(20, 600);
            flow.report(Some(delay));
        }
        flow.run(20, 600) > 0
    };
    assert_eq!([padded(15), padded(20), padded(21)], [true, true, false]);
}

#[test]
fn losses_in_receiver_reports_count_and_delays_only_in_those_that_the_controller_uses() {
    let report = |lost, rtt, is_own| {
        let mut flow = Flow::steady();
        let send = |flow: &mut Flow, lost: u8, rtt| {
            let report = ReceptionReport { fraction_lost: lost, ..ReceptionReport::default() };
            let feedback = Feedback::Reception { report, rtt: Some(TimeDelta::from_millis(rtt)) };
            flow.climb.on_feedback(at(flow.now), &feedback, is_own);
        };
        flow.run(980, 600);
        send(&mut flow, 0, 30);
        flow.run(100, 600);
        send(&mut flow, lost, rtt);
        flow.run(100, 600);
        send(&mut flow, 0, rtt);
        flow.run(20, 600) > 0
    };
    assert!(report(0, 30, true) && report(0, 60, false));
    assert!(!report(0, 60, true) && !report(1, 30, false));
}

#[test]
fn a_second_with_losses_is_no_second_before_padding() {
    let mut flow = Flow::steady();
    for _ in 0..5 {
        assert_eq!(flow.run(900, 600), 0);
        flow.report(None);
    }
    assert!((1000..=1040).contains(&flow.until_padding(600)));
}

#[test]
fn the_next_layer_is_held_off_until_padding_or_a_probe_reaches_it() {
    let mut flow = Flow::steady();
    assert!(!flow.climb.holds(at(flow.now)), "nothing speaks against it");
    flow.until_padding(2000);
    assert!(flow.climb.holds(at(flow.now)));
    flow.report(None);
    flow.run(3100, 2000);
    assert!(flow.climb.holds(at(flow.now)), "padding had to stop");
    let mut probed = Flow { climb: flow.climb.clone(), ..flow };
    assert_eq!(flow.run(8000, 2000), SECOND_LAYER);
    assert!(!flow.climb.holds(at(flow.now)));
    let decision = |rate, why| Decision { rate: kbps(rate), base: kbps(600), why, rtt: None };
    for unproven in [decision(714, ChangeReason::Probe), decision(2000, ChangeReason::Growth)] {
        probed.climb.on_decision(&unproven);
        assert!(probed.climb.holds(at(probed.now)));
    }
    probed.climb.on_decision(&decision(715, ChangeReason::Probe));
    assert!(!probed.climb.holds(at(probed.now)));
}

#[test]
fn a_flow_is_limited_while_neither_media_nor_padding_fills_the_target() {
    let mut flow = Flow::steady();
    assert!(!flow.climb.is_limited());
    flow.run(500, 300);
    assert!(flow.climb.is_limited());
    flow.run(4000, 300);
    assert!(!flow.climb.is_limited(), "padding fills the target");
    flow.needed = None;
    flow.run(20, 300);
    assert!(!flow.climb.is_limited(), "all layers are on");
}

#[test]
fn a_layer_beyond_the_highest_target_is_out_of_reach() {
    let mut flow = Flow::steady();
    flow.climb.set_most(kbps(714));
    assert_eq!(flow.run(5000, 714), 0);
    flow.climb.set_most(kbps(715));
    assert!(flow.run(5000, 714) > 0);
}

#[test]
fn a_rest_and_a_clock_that_is_set_back_end_padding() {
    let mut flow = Flow::steady();
    flow.until_padding(600);
    flow.climb.rest();
    assert!((1000..=1040).contains(&flow.until_padding(600)));
    flow.now = -500_000;
    assert!((1000..=1040).contains(&flow.until_padding(600)));
}

#[test]
fn without_media_padding_begins_at_thirty_kilobits_and_a_layer_lost_with_the_target_ends_it() {
    let mut silent = Flow { climb: LayerClimb::new(kbps(3000)), now: 0, media: 0, needed: None };
    silent.run(2000, 600);
    silent.needed = Some(SECOND_LAYER);
    let rate = silent.run(5000, 600);
    assert!((75..=83).contains(&rate), "{rate}: 30 · e^(0.25 · 4) = 82");
    silent.media = 150;
    assert!(silent.run(1500, 600) >= 150);
    let mut flow = Flow::steady();
    (flow.media, flow.needed) = (650, Some(THIRD_LAYER));
    flow.until_padding(800);
    flow.needed = Some(SECOND_LAYER);
    assert!(flow.run(20, 740) > 0, "the target carries it: it comes again");
    flow.needed = Some(THIRD_LAYER);
    flow.run(20, 740);
    flow.needed = Some(SECOND_LAYER);
    assert_eq!(flow.run(20, 700), 0);
}
