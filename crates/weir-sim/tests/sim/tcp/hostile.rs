//! Acknowledgements of a peer that misbehaves, and could steer a sender.

use super::peer::{Says, Talk};
use weir_cc::SendTime;
use weir_cc::coupled::{CouplingMessage, WindowEvent};
use weir_cc::window::Window;
use weir_world::tcp::TcpConfig;

fn probing() -> TcpConfig {
    TcpConfig { rack: true, tlp: true, ..TcpConfig::default() }
}

#[test]
fn a_probe_that_waits_for_its_turn_is_not_sent_once_all_is_acknowledged() {
    // Segment 4's timer may expire, and a probe be due, while pacing holds all segments back; soon all that were sent
    // are acknowledged.
    for (ms, soon) in (210..500).flat_map(|ms| (1..6).map(move |soon| (ms, soon))) {
        let mut talk = Talk::new(TcpConfig { pacing: true, ..probing() }, Some(17));
        talk.acknowledge(200, 1);
        talk.acknowledge(ms, 4);
        for round in 1..20 {
            talk.wait(ms + soon * round);
            let next = talk.left.iter().map(|&(_, number, _)| number + 1).max().unwrap_or(0);
            talk.acknowledge(ms + soon * round, next);
        }
        talk.wait(20_000);
        assert!(talk.sender.finished_at().is_some(), "{ms} {soon}");
        assert_eq!(talk.sender.next_timeout(), None);
    }
}

/// The window event in a coupling message, and the window after it.
fn news(event: Option<CouplingMessage>) -> Option<(WindowEvent, Window)> {
    event.map(|word| match word {
        CouplingMessage::Window(news) => (news.event, news.after),
        other => panic!("not of a window: {other:?}"),
    })
}

#[test]
fn a_coupler_gets_a_message_about_a_loss_found_by_time() {
    // Segment 0 is lost. 1 arrives at 200 ms; by 100 / 4 = 25 ms and the timer's 2 ms later 0 would have come.
    let mut talk = Talk::new(TcpConfig { rack: true, prr: true, ..TcpConfig::default() }, None);
    talk.sender.couple();
    talk.receive(200, Says { cumulative: 0, sacks: &[(1, 2)], echo: 100, ..Says::default() });
    let late = talk.sender.next_timeout().expect("what is late only would come");
    assert_eq!(late.nanos(), 227_000_000);
    let event = news(talk.sender.on_timeout_coupled(late));
    assert_eq!(event, Some((WindowEvent::RecoveryEntered, Window { cwnd: 5.0, ssthresh: 5.0 })));
}

#[test]
fn a_coupler_gets_a_message_about_a_loss_that_a_probe_repaired() {
    // Four segments fill the receive window. Without an answer 3 is retransmitted. All four are acknowledged, then one
    // that left later: of the two copies of 3 one was lost.
    let mut talk = Talk::new(TcpConfig { receive_window: 4, ..probing() }, None);
    talk.sender.couple();
    talk.wait(302);
    assert_eq!(talk.left.last(), Some(&(302.0, 3, true)));
    assert_eq!(talk.acknowledge(402, 4).len(), 4);
    let says = Says { cumulative: 5, echo: 402, ..Says::default() };
    let outcome = talk.sender.on_ack_coupled(SendTime::from_millis(502), &says.acknowledgement(false));
    let reduced = Window { cwnd: 2.0, ssthresh: 2.0 };
    assert_eq!(news(outcome.loss), Some((WindowEvent::RecoveryEntered, reduced)));
    assert_eq!(news(outcome.message), Some((WindowEvent::RecoveryLeft, reduced)));
}

#[test]
fn an_acknowledgement_of_what_never_left_is_refused_and_counted() {
    let mut talk = Talk::new(TcpConfig { receive_window: 4, ..probing() }, None);
    talk.wait(302);
    let before = (talk.sender.window(), talk.sender.next_timeout());
    // Otherwise this would prove that the probe has repaired a loss.
    assert_eq!(talk.acknowledge(320, 1000), []);
    assert_eq!((talk.sender.window(), talk.sender.next_timeout()), before);
    assert_eq!(talk.sender.stats().refused, 1);
}

#[test]
fn no_more_may_have_arrived_twice_than_was_sent_again() {
    // 0 to 2 of the first ten are lost, and the peer reports so: three are retransmitted. The peer then reports 0 and 1
    // as duplicates, three times. Of more duplicates than retransmissions only the first report counts, and the
    // reduction stands.
    let config = TcpConfig { undo: true, prr: true, ..probing() };
    let mut talk = Talk::new(config, None);
    talk.receive(200, Says { sacks: &[(3, 10)], echo: 100, ..Says::default() });
    talk.receive(300, Says { cumulative: 10, echo: 200, ..Says::default() });
    let (stats, window) = (talk.sender.stats(), talk.sender.window());
    assert_eq!((stats.retransmissions, window.ssthresh), (3, 5.0));
    for ms in 301..304 {
        talk.receive(ms, Says { cumulative: 10, sacks: &[(0, 2)], echo: 200, ..Says::default() });
    }
    let stats = talk.sender.stats();
    assert_eq!((stats.undone, stats.refused), (0, 2));
}

#[test]
fn another_segments_duplicate_does_not_acquit_a_probe() {
    // 3 is retransmitted as a probe, and so one segment may have arrived twice; the peer reports 0.
    for (twice, cwnd) in [((0, 1), 2.0), ((3, 4), 5.0)] {
        let mut talk = Talk::new(TcpConfig { receive_window: 4, ..probing() }, None);
        talk.wait(302);
        talk.acknowledge(402, 4);
        talk.receive(502, Says { cumulative: 5, sacks: &[twice], echo: 402, ..Says::default() });
        assert_eq!(talk.sender.window().cwnd.min(5.0), cwnd, "{twice:?}");
    }
}
