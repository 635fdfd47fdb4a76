//! Correct and spurious timeouts and probes, where losses are found by time, as in Linux.

use std::sync::{Arc, Mutex};

use super::peer::{Left, Says, Talk};
use weir_cc::SendTime;
use weir_cc::coupled::CouplerAction;
use weir_cc::window::{Ack, Congestion, Window, WindowAlgorithm};
use weir_world::tcp::{EcnMode, TcpConfig};

fn linux() -> TcpConfig {
    TcpConfig { rack: true, prr: true, undo: true, ..TcpConfig::default() }
}

fn numbers(left: &[Left]) -> Vec<u32> {
    left.iter().map(|&(_, number, _)| number).collect()
}

#[test]
fn a_timeout_while_a_mark_is_answered_does_not_reduce_again() {
    let mut talk = Talk::new(TcpConfig { ecn: EcnMode::Classic, ..linux() }, None);
    talk.receive(200, Says { cumulative: 1, echo: 100, ece: true, ..Says::default() });
    for cumulative in 2..6 {
        talk.acknowledge(200 + i64::from(cumulative), cumulative);
    }
    let before = talk.sender.window().ssthresh;
    talk.wait(900);
    assert_eq!((talk.sender.stats().timeouts, talk.sender.stats().ecn_reductions), (1, 1));
    assert_eq!(talk.sender.window().ssthresh, before);
}

#[test]
fn without_new_data_a_timeout_is_not_doubted_any_longer() {
    // Ten segments, all sent; the timer expires at 400 ms. The copy of 0 is acknowledged; then 9 arrives, which was
    // never retransmitted.
    let mut talk = Talk::new(linux(), Some(10));
    talk.wait(400);
    assert_eq!(numbers(&talk.left[10..]), [0]);
    assert_eq!(numbers(&talk.receive(500, Says { cumulative: 1, echo: 400, ..Says::default() })), [1, 2]);
    talk.receive(510, Says { cumulative: 1, sacks: &[(9, 10)], echo: 400, ..Says::default() });
    assert_eq!(talk.sender.stats().undone, 0);
}

#[test]
fn a_probe_written_off_by_the_timer_need_not_prove_needless() {
    // A single segment at a time: it is sent, retransmitted as a probe, and retransmitted after the timeout. A copy too
    // many arrives.
    let mut talk = Talk::new(TcpConfig { receive_window: 1, tlp: true, ..linux() }, None);
    talk.wait(900);
    let stats = talk.sender.stats();
    assert_eq!((stats.probes, stats.timeouts, stats.retransmissions), (1, 1, 2));
    talk.receive(1000, Says { cumulative: 1, sacks: &[(0, 1)], echo: 900, ..Says::default() });
    assert_eq!(talk.sender.stats().undone, 1);
}

#[test]
fn a_loss_proved_by_a_probe_is_not_undone_by_an_older_duplicate() {
    // Two at a time. 0 is late and retransmitted. 3 is lost and retransmitted as a probe, which 4 proves. Then the peer
    // reports as many duplicates.
    let mut talk = Talk::new(TcpConfig { receive_window: 2, tlp: true, ..linux() }, None);
    talk.receive(200, Says { sacks: &[(1, 2)], echo: 100, ..Says::default() });
    talk.receive(300, Says { cumulative: 2, echo: 250, ..Says::default() });
    talk.wait(590);
    assert_eq!((talk.sender.stats().probes, talk.left.last().unwrap().1), (1, 3));
    talk.acknowledge(600, 4);
    talk.acknowledge(700, 5);
    for ms in [710, 711] {
        talk.receive(ms, Says { cumulative: 5, sacks: &[(0, 1)], echo: 600, ..Says::default() });
    }
    assert_eq!((talk.sender.stats().undone, talk.sender.stats().refused), (0, 0));
}

#[test]
fn a_segment_that_arrives_before_any_retransmission_was_not_lost() {
    // Pacing lets no segment out between 145 and 150 ms.
    let mut talk = Talk::new(TcpConfig { pacing: true, ..linux() }, None);
    talk.receive(146, Says { sacks: &[(1, 4)], echo: 100, ..Says::default() });
    assert_eq!(talk.sender.stats().fast_recoveries, 1);
    talk.receive(148, Says { cumulative: 10, echo: 147, ..Says::default() });
    assert_eq!((talk.sender.stats().undone, talk.sender.stats().retransmissions), (1, 0));
}

/// Algorithm with a constant window that records whether it might grow.
#[derive(Debug, Default)]
struct Notes(Arc<Mutex<Vec<bool>>>);

impl WindowAlgorithm for Notes {
    fn reset(&mut self) {}

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        window.ssthresh = 2.0;
        self.0.lock().unwrap().push(ack.window_limited);
    }

    fn on_congestion(&mut self, _: &mut Window, _: SendTime, _: Congestion, _: f64) {}
}

#[test]
fn a_window_that_limited_once_limits_for_a_window_of_data() {
    for (receive_window, expected) in [(1 << 20, true), (4, false)] {
        let notes = Notes::default();
        let noted = Arc::clone(&notes.0);
        let mut talk = Talk::under(TcpConfig { receive_window, ..linux() }, notes, Some(12));
        // With the first acknowledgement the last two leave and fill the window of ten, if the receiver's is not smaller.
        for cumulative in 2..6 {
            talk.acknowledge(200 + i64::from(cumulative), cumulative);
        }
        assert_eq!(noted.lock().unwrap()[1..], [expected; 3], "{receive_window}");
    }
}

#[test]
fn a_coupled_sender_does_not_doubt_its_timeouts_as_nothing_is_undone() {
    let mut talk = Talk::new(linux(), None);
    talk.sender.couple();
    talk.wait(400);
    assert_eq!(numbers(&talk.left[10..]), [0]);
    talk.sender.apply(SendTime::from_millis(400), &CouplerAction::Reduce);
    let left = talk.receive(500, Says { cumulative: 1, echo: 400, ..Says::default() });
    assert_eq!(numbers(&left), [1, 2]);
}
