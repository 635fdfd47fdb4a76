//! What a peer may say to steer a sender, and what is out of the ordinary.

use super::peer::{Says, Talk};
use weir_cc::SendTime;
use weir_world::tcp::TcpConfig;

fn probing() -> TcpConfig {
    TcpConfig { rack: true, tlp: true, ..TcpConfig::default() }
}

/// The acknowledgements of 17 segments of which 10 to 16 leave as they come, the last after the fourth at `ms`, which tells of a
/// round trip of 20 ms: the timeout comes down from 300 ms to 290. Segment 4 left at 120 ms.
fn nearly_done(config: TcpConfig, ms: i64) -> Talk {
    let mut talk = Talk::new(config, Some(17));
    for cumulative in 1..=3 {
        talk.acknowledge(100 + 100 * i64::from(cumulative), cumulative);
    }
    talk.hear(ms, Says { cumulative: 4, echo: ms - 20, ..Says::default() });
    assert_eq!(talk.left.last(), Some(&(ms as f64, 16, false)));
    talk
}

#[test]
fn a_probe_that_waits_for_its_turn_is_not_sent_once_all_is_acknowledged() {
    // The timer of segment 4 would run out at 410 ms; the probe leaves instead, but the pace lets nothing out before 411.
    let mut talk = nearly_done(TcpConfig { pacing: true, ..probing() }, 408);
    talk.acknowledge(411, 17);
    let before = talk.left.len();
    talk.wait(10_000);
    assert_eq!((talk.left.len(), talk.sender.stats().probes), (before, 0));
    assert_eq!(talk.sender.next_timeout(), None);
}

#[test]
fn a_timer_that_would_have_run_out_does_not_hasten_the_probe() {
    // Segment 4's would have at 410 ms. The smoothed round-trip time is 90 ms: the probe leaves two of them and 2 ms later.
    let talk = nearly_done(probing(), 414);
    assert_eq!(talk.sender.next_timeout(), Some(SendTime::from_millis(414 + 182)));
}
