//! Losses found by time, tail loss probes, and proportional reduction of the window.

use super::rig::Rig;
use weir_cc::window::NewReno;
use weir_cc::{ArrivalTime, SendTime};
use weir_sim::tcp::{TcpSender, TcpStats};
use weir_world::tcp::{Acknowledgement, EcnMode, SackBlock, Segment, TcpConfig, Timestamps};

/// Statistics and end of a transfer of `segments` segments, or of one without end, after 5 s. Segments numbered in
/// `lost` are dropped the first `times` times they are sent.
fn losing(
    config: TcpConfig,
    segments: Option<u64>,
    lost: core::ops::Range<u32>,
    times: usize,
) -> (TcpStats, Option<SendTime>) {
    let mut copies = vec![0; lost.end as usize];
    let lose = move |_, segment: Option<&Segment>| {
        let Some(segment) = segment.filter(|segment| !segment.syn && lost.contains(&segment.number)) else {
            return false;
        };
        let copy = &mut copies[segment.number as usize];
        *copy += 1;
        *copy <= times
    };
    let mut rig = Rig::new(config, NewReno::new(), segments.map(|count| 1448 * count), lose);
    rig.run(SendTime::from_millis(5000));
    (rig.sender.stats(), rig.sender.finished_at())
}

#[test]
fn a_repeatedly_lost_retransmission_is_repaired_by_rack_without_a_timeout() {
    let modern = TcpConfig { rack: true, ..TcpConfig::default() };
    assert_eq!(losing(TcpConfig::default(), None, 30..31, 2).0.timeouts, 1);
    for times in [1, 2, 4] {
        let (stats, _) = losing(modern, None, 30..31, times);
        assert_eq!((stats.timeouts, stats.retransmissions), (0, times as u64));
    }
}

#[test]
fn a_lost_tail_is_repaired_by_a_tail_loss_probe_before_the_timeout() {
    // Segments 3 and 4 of 5 are lost; all left after the handshake, at 100 ms. The last acknowledgement comes 100 ms
    // later and the probe, which retransmits segment 4, leaves after two round trips and 2 ms more. Its acknowledgement
    // 100 ms later proves 3 lost, and another 100 ms later all is acknowledged. The timer would have expired after 300
    // ms.
    let config = TcpConfig { rack: true, tlp: true, dsack: true, quick_acks: 5, ..TcpConfig::default() };
    let (stats, finished) = losing(config, Some(5), 3..5, 1);
    assert_eq!((stats.timeouts, stats.probes, stats.retransmissions), (0, 1, 2));
    assert_eq!(finished, Some(SendTime::from_millis(200 + 202 + 100 + 100)));
    let (stats, finished) = losing(TcpConfig { tlp: false, ..config }, Some(5), 3..5, 1);
    assert_eq!((stats.timeouts, stats.probes), (1, 0));
    assert_eq!(finished, Some(SendTime::from_millis(200 + 300 + 100 + 100)));
}

#[test]
fn after_a_mark_the_window_falls_in_proportion_to_the_delivered_segments() {
    // 10 are outstanding at the first mark: the target is half of the 9 that are left. From then on every second
    // acknowledgement lets one out.
    let config = TcpConfig { prr: true, ecn: EcnMode::Classic, ..TcpConfig::default() };
    let mut sender = TcpSender::new(config, Box::new(NewReno::new()), None);
    let drain = |sender: &mut TcpSender, ms: i64| {
        core::iter::from_fn(|| sender.poll_segment(SendTime::from_millis(ms))).count()
    };
    sender.start(SendTime::ZERO);
    assert_eq!(drain(&mut sender, 0), 1);
    let stamps = Timestamps::new(SendTime::ZERO, ArrivalTime::ZERO);
    let syn = Acknowledgement {
        cumulative: 0,
        syn: true,
        sacks: [SackBlock::EMPTY; 3],
        stamps,
        ece: false,
        marked: 0,
    };
    sender.on_ack(SendTime::from_millis(100), &syn);
    assert_eq!(drain(&mut sender, 100), 10);
    let left: Vec<usize> = (1..=9)
        .map(|cumulative| {
            let now = SendTime::from_millis(200 + i64::from(cumulative));
            sender.on_ack(now, &Acknowledgement { cumulative, syn: false, ece: cumulative < 5, ..syn });
            drain(&mut sender, 200 + i64::from(cumulative))
        })
        .collect();
    assert_eq!(left, [0, 1, 0, 1, 0, 1, 0, 1, 0]);
    assert_eq!(sender.stats().ecn_reductions, 1);
}
