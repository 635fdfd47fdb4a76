//! Behaviour of the TCP endpoints when segments are lost, step by step in simulated time (round-trip time 100 ms).

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use super::rig::Rig;
use weir_cc::window::{Ack, Congestion, Cubic, Delivery, NewReno, Window, WindowAlgorithm};
use weir_cc::{ArrivalTime, SendTime};
use weir_sim::tcp::{TcpSender, TcpStats};
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::{Acknowledgement, SackBlock, Segment, TcpConfig, Timestamps};

const MSS: u64 = 1448;

/// Sender time of `ms` milliseconds.
fn ms(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

/// Lost copies of segments, as segment and copy; the first copy has number 1.
type Losses<'a> = &'a [(u32, u32)];

/// Packets seen on the path of one connection.
#[derive(Default)]
struct Trace {
    sent: Vec<(i64, Segment)>,
    acks: usize,
}

impl Trace {
    /// Departure times of the copies of a data segment, in ms.
    fn times_of(&self, number: u32) -> Vec<i64> {
        self.data().filter(|(_, segment)| segment.number == number).map(|&(at, _)| at).collect()
    }

    fn data(&self) -> impl Iterator<Item = &(i64, Segment)> {
        self.sent.iter().filter(|(_, segment)| !segment.syn)
    }

    /// Number of data segments that left at `at` ms.
    fn sent_at(&self, at: i64) -> usize {
        self.data().filter(|&&(sent, _)| sent == at).count()
    }
}

/// A run of one connection to its end or for a minute.
struct TcpRun {
    trace: Trace,
    stats: TcpStats,
    finished: Option<i64>,
    delivered: DataSize,
}

/// A transfer of `segments` segments. `losses` are the numbers and copies that are lost.
fn run_config(config: TcpConfig, segments: u64, losses: Losses<'_>) -> TcpRun {
    let trace = Rc::new(RefCell::new(Trace::default()));
    let seen = Rc::clone(&trace);
    let losses = losses.to_vec();
    let lose = move |now: SendTime, segment: Option<&Segment>| {
        let mut seen = seen.borrow_mut();
        let Some(segment) = segment else {
            seen.acks += 1;
            return false;
        };
        seen.sent.push((now.nanos() / 1_000_000, *segment));
        let copy = seen.times_of(segment.number).len() as u32;
        !segment.syn && losses.contains(&(segment.number, copy))
    };
    let mut rig = Rig::new(config, NewReno::new(), Some(segments * MSS), lose);
    rig.run(ms(60_000));
    TcpRun {
        trace: trace.take(),
        stats: rig.sender.stats(),
        finished: rig.sender.finished_at().map(|at| at.nanos() / 1_000_000),
        delivered: rig.receiver.delivered(),
    }
}

/// A transfer of `segments` segments with these losses, all of which arrive in the end.
fn run(segments: u64, losses: Losses<'_>) -> TcpRun {
    let run = run_config(TcpConfig::default(), segments, losses);
    assert_eq!(run.delivered, DataSize::from_bytes(segments * MSS));
    run
}

fn without_sack() -> TcpConfig {
    TcpConfig { sack: false, ..TcpConfig::default() }
}

#[test]
fn handshake_costs_one_round_trip_and_measures_it() {
    let run = run(1, &[]);
    assert_eq!(run.trace.times_of(0), [100]);
    // The acknowledgement of a single segment is delayed by 40 ms: 100 + (140 - 100) / 8.
    assert_eq!(run.stats.srtt, Some(TimeDelta::from_millis(105)));
    assert_eq!(run.finished, Some(240));
}

#[test]
fn lost_syn_is_repeated_after_a_second_and_data_begins_with_one_segment() {
    let trace = Rc::new(RefCell::new(Trace::default()));
    let seen = Rc::clone(&trace);
    let lose = move |now: SendTime, segment: Option<&Segment>| {
        let Some(segment) = segment else { return false };
        seen.borrow_mut().sent.push((now.nanos() / 1_000_000, *segment));
        segment.syn && !segment.retransmission
    };
    let mut rig = Rig::new(TcpConfig::default(), NewReno::new(), Some(10 * MSS), lose);
    rig.run(ms(1100));
    assert_eq!(trace.borrow().sent_at(1100), 1);
    assert_eq!(rig.sender.stats().timeouts, 1);
    assert_eq!(rig.sender.stats().rto, TimeDelta::from_secs(3));
    rig.run(ms(10_000));
    assert_eq!(rig.receiver.delivered(), DataSize::from_bytes(10 * MSS));
}

#[test]
fn slow_start_doubles_the_flight_each_round_trip() {
    let run = run(150, &[]);
    assert_eq!([100, 200, 300, 400].map(|at| run.trace.sent_at(at)), [10, 20, 40, 80]);
    assert_eq!((run.stats.segments, run.stats.retransmissions, run.stats.timeouts), (150, 0, 0));
}

#[test]
fn finite_transfer_ends_with_its_last_byte() {
    let mut rig = Rig::new(TcpConfig::default(), NewReno::new(), Some(100_000), |_, _| false);
    rig.run(ms(10_000));
    assert_eq!(rig.receiver.delivered(), DataSize::from_bytes(100_000));
    assert_eq!(rig.sender.stats().segments, 70);
    // 10 + 20 + 40 segments, each window in a round trip after the handshake's.
    assert_eq!(rig.sender.finished_at(), Some(ms(400)));
    assert!(rig.sender.is_complete());
    assert_eq!((rig.sender.next_timeout(), rig.sender.pipe()), (None, 0));
}

#[test]
fn empty_transfer_ends_with_the_handshake() {
    let mut rig = Rig::new(TcpConfig::default(), NewReno::new(), Some(0), |_, _| false);
    rig.run(ms(10_000));
    assert_eq!(rig.sender.finished_at(), Some(ms(100)));
    assert_eq!(rig.sender.stats().segments, 0);
}

#[test]
fn stopped_sender_repairs_what_it_sent_and_adds_nothing() {
    let lose = |_, segment: Option<&Segment>| segment.is_some_and(|s| s.number == 20 && !s.retransmission);
    let mut rig = Rig::new(TcpConfig::default(), NewReno::new(), None, lose);
    rig.run(ms(250));
    rig.sender.stop(ms(250));
    rig.run(ms(10_000));
    assert_eq!(rig.receiver.delivered(), DataSize::from_bytes(30 * MSS));
    assert_eq!(rig.sender.finished_at(), Some(ms(400)));
    assert!(!rig.sender.is_complete());
}

#[test]
fn delayed_acknowledgements_halve_their_number() {
    let every = |ack_every| {
        let config = TcpConfig { ack_every, ..TcpConfig::default() };
        run_config(config, 150, &[]).trace.acks
    };
    // The acknowledgements include the SYN-ACK.
    assert_eq!((every(1), every(2)), (151, 76));
}

#[test]
fn single_loss_is_repaired_one_round_trip_later() {
    for config in [TcpConfig::default(), without_sack()] {
        let run = run_config(config, 400, &[(20, 1)]);
        assert_eq!(run.trace.times_of(20), [200, 300]);
        assert_eq!((run.stats.retransmissions, run.stats.fast_recoveries, run.stats.timeouts), (1, 1, 0));
        assert_eq!(run.delivered, DataSize::from_bytes(400 * MSS));
    }
}

#[test]
fn recovery_leaves_half_the_flight_without_what_limited_transmit_added() {
    let lose = |_, segment: Option<&Segment>| segment.is_some_and(|s| s.number == 20 && !s.retransmission);
    for config in [TcpConfig::default(), without_sack()] {
        let mut rig = Rig::new(config, NewReno::new(), None, lose);
        rig.run(ms(310));
        // At 300 ms acknowledgements of 10..20 open the window to 30: segments 20..50 are out, half of 30 is 15.
        assert_eq!(rig.sender.window().ssthresh, 15.0);
        rig.run(ms(400));
        assert!((15.0..17.0).contains(&rig.sender.window().cwnd), "{:?}", rig.sender.window());
        let mut rig = Rig::new(config, Cubic::new(), None, lose);
        rig.run(ms(310));
        assert_eq!(rig.sender.window().ssthresh, 21.0); // 0.7 · 30
    }
}

/// Segments sent after each of the acknowledgements by the successors of a lost segment 0 of 20.
fn sent_after_each(config: TcpConfig) -> Vec<usize> {
    let mut sender = TcpSender::new(config, Box::new(NewReno::new()), None);
    sender.start(ms(0));
    poll_all(&mut sender, 0);
    let sacks = [SackBlock::EMPTY; 3];
    let syn_ack =
        Acknowledgement { cumulative: 0, syn: true, sacks, stamps: stamps(0), ece: false, marked: 0 };
    sender.on_ack(ms(100), &syn_ack);
    assert_eq!(poll_all(&mut sender, 100), 20);
    let after = |number: u32| {
        let [_, second, third] = sacks;
        let sacks = [SackBlock { start: 1, end: number + 1 }, second, third];
        sender.on_ack(ms(200), &Acknowledgement { syn: false, sacks, ..syn_ack });
        poll_all(&mut sender, 200)
    };
    (1..20).map(after).collect()
}

#[test]
fn proportional_reduction_lets_segments_out_all_through_recovery() {
    // Limited transmit sends two, then segment 0 is retransmitted: 22 are outstanding, and the target is 10.
    let config = TcpConfig { initial_window: 20, ..TcpConfig::default() };
    // RFC 6675 waits until pipe, 22 - k after the k-th, is below 10.
    let waiting = sent_after_each(config);
    assert_eq!(waiting[..15], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1]);
    // ⌈k · 10 / 22⌉ have left after the k-th delivery from the third acknowledgement on, the retransmission included.
    let spread = sent_after_each(TcpConfig { prr: true, ..config });
    assert_eq!(spread[..15], [1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0]);
}

#[test]
fn paced_segments_leave_one_by_one() {
    let paced = run_config(TcpConfig { pacing: true, ..TcpConfig::default() }, 60, &[]);
    // The first window: 10 segments at 2 · 10 per 100 ms, one each 5 ms.
    let times: Vec<i64> = (0..10).map(|number| paced.trace.times_of(number)[0]).collect();
    assert_eq!(times, (0..10).map(|number| 100 + 5 * number).collect::<Vec<_>>());
    assert_eq!(paced.delivered, DataSize::from_bytes(60 * MSS));
    assert_eq!(paced.stats.retransmissions, 0);
}

#[test]
fn quick_acknowledgements_come_for_each_of_the_first_segments() {
    let acks = |quick_acks| {
        let config = TcpConfig { quick_acks, ..TcpConfig::default() };
        run_config(config, 150, &[]).trace.acks
    };
    // The first 16 of 150 cause 16 instead of 8.
    assert_eq!((acks(0), acks(16)), (76, 84));
}

/// A sender with a window of 20 at 100 ms, without SACK, and an acknowledgement to be modified.
fn without_sack_at_work(ns3_recovery: bool) -> (TcpSender, Acknowledgement) {
    let config = TcpConfig { initial_window: 20, ns3_recovery, ..without_sack() };
    let mut sender = TcpSender::new(config, Box::new(NewReno::new()), None);
    sender.start(ms(0));
    poll_all(&mut sender, 0);
    let sacks = [SackBlock::EMPTY; 3];
    let ack = Acknowledgement { cumulative: 0, syn: true, sacks, stamps: stamps(0), ece: false, marked: 0 };
    sender.on_ack(ms(100), &ack);
    assert_eq!(poll_all(&mut sender, 100), 20);
    (sender, Acknowledgement { syn: false, ..ack })
}

#[test]
fn ns3_takes_three_duplicates_off_what_two_of_them_let_out() {
    // 20 + 2 are outstanding: ns-3 halves 22 - 3, RFC 5681 the 20 of the window.
    for (ns3_recovery, threshold) in [(true, 9.5), (false, 10.0)] {
        let (mut sender, ack) = without_sack_at_work(ns3_recovery);
        for _ in 0..3 {
            sender.on_ack(ms(200), &ack);
            poll_all(&mut sender, 200);
        }
        assert_eq!((sender.stats().fast_recoveries, sender.window().ssthresh), (1, threshold));
    }
}

#[test]
fn ns3_begins_a_recovery_for_the_first_segment_after_another() {
    // Segments up to 51 are outstanding when recovery begins for 20; 52 is the first that leaves in it.
    let run = |ns3_recovery| {
        let config = TcpConfig { ns3_recovery, min_rto: TimeDelta::from_secs(1), ..without_sack() };
        let run = run_config(config, 200, &[(20, 1), (52, 1)]);
        (run.stats.fast_recoveries, run.stats.timeouts)
    };
    assert_eq!((run(true), run(false)), ((2, 0), (1, 1)));
}

#[test]
fn ns3_reduces_no_more_while_a_timeout_is_repaired() {
    // 20 are lost and the target is 10. The first retransmission arrives, the next does not: RFC 5681 then halves the
    // two in flight.
    for (ns3_recovery, threshold) in [(true, 10.0), (false, 2.0)] {
        let (mut sender, ack) = without_sack_at_work(ns3_recovery);
        let first = sender.next_timeout().unwrap();
        sender.on_timeout(first);
        assert_eq!((poll_all(&mut sender, 1000), sender.window().ssthresh), (1, 10.0));
        sender.on_ack(ms(1100), &Acknowledgement { cumulative: 1, stamps: stamps(1000), ..ack });
        assert_eq!(poll_all(&mut sender, 1100), 2);
        let second = sender.next_timeout().unwrap();
        sender.on_timeout(second);
        assert_eq!((sender.stats().timeouts, sender.window().ssthresh), (2, threshold));
    }
}

/// Algorithm with a constant window that records whether deliveries are reported in recovery.
#[derive(Debug)]
struct Noting(Arc<Mutex<Vec<(SendTime, bool)>>>);

impl WindowAlgorithm for Noting {
    fn reset(&mut self) {}

    fn on_delivery(&mut self, _: &mut Window, delivery: &Delivery) {
        self.0.lock().unwrap().push((delivery.now, delivery.recovering));
    }

    fn on_ack(&mut self, _: &mut Window, _: &Ack) {}

    fn on_congestion(&mut self, _: &mut Window, _: SendTime, _: Congestion, _: f64) {}
}

#[test]
fn the_algorithm_gets_the_deliveries_in_recovery() {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let lose = |_, segment: Option<&Segment>| segment.is_some_and(|s| s.number == 12 && !s.retransmission);
    let mut rig = Rig::new(TcpConfig::default(), Noting(Arc::clone(&noted)), Some(60 * MSS), lose);
    rig.run(ms(10_000));
    let noted = noted.lock().unwrap();
    // The third segment above 12 arrives at 250 ms and is reported at 300 ms, the retransmission at 400 ms.
    let at = |at: i64| noted.iter().filter(move |note| note.0 == ms(at)).map(|note| note.1);
    assert_eq!(at(300).collect::<Vec<_>>(), [false, false, false, false, true, true, true, true]);
    assert!(at(400).next().unwrap() && noted.iter().filter(|note| note.0 > ms(400)).all(|note| !note.1));
}

const FIVE_OF_A_WINDOW: Losses<'static> = &[(10, 1), (13, 1), (16, 1), (19, 1), (22, 1)];

#[test]
fn sack_repairs_many_losses_of_a_window_in_one_round_trip() {
    let run = run(400, FIVE_OF_A_WINDOW);
    for &(number, _) in FIVE_OF_A_WINDOW {
        assert_eq!(run.trace.times_of(number), [200, 300]);
    }
    assert_eq!((run.stats.retransmissions, run.stats.fast_recoveries, run.stats.timeouts), (5, 1, 0));
}

#[test]
fn newreno_repairs_one_loss_per_round_trip() {
    let config = TcpConfig { min_rto: TimeDelta::from_secs(1), ..without_sack() };
    let run = run_config(config, 400, FIVE_OF_A_WINDOW);
    let repaired: Vec<_> =
        FIVE_OF_A_WINDOW.iter().map(|&(number, _)| run.trace.times_of(number)[1]).collect();
    assert_eq!(repaired, [300, 400, 500, 600, 700]);
    assert_eq!((run.stats.retransmissions, run.stats.fast_recoveries, run.stats.timeouts), (5, 1, 0));
    assert_eq!(run.delivered, DataSize::from_bytes(400 * MSS));
}

#[test]
fn lost_retransmission_is_left_to_the_timer() {
    // The last cumulative acknowledgement came at 300 ms; the timeout is 100 + 200 ms.
    let run = run(400, &[(20, 1), (20, 2)]);
    assert_eq!(run.trace.times_of(20), [200, 300, 600]);
    assert_eq!(run.stats.timeouts, 1);
}

#[test]
fn lost_tail_is_left_to_the_timer() {
    // Segment 8 is acknowledged at 100 + 100 + 40 ms, which makes the timeout 105 + 200 ms.
    let run = run(10, &[(9, 1)]);
    assert_eq!(run.trace.times_of(9), [100, 545]);
    assert_eq!((run.stats.retransmissions, run.stats.timeouts), (1, 1));
}

#[test]
fn lost_tail_is_rescued_if_recovery_is_under_way() {
    let run = run(30, &[(12, 1), (29, 1)]);
    assert_eq!(run.trace.times_of(12), [200, 300]);
    assert_eq!(run.trace.times_of(29), [200, 400]);
    assert_eq!((run.stats.retransmissions, run.stats.timeouts), (2, 0));
}

#[test]
fn limited_transmit_saves_small_windows_from_the_timer() {
    for sack in [true, false] {
        let with = |limited_transmit| {
            let config = TcpConfig { initial_window: 3, limited_transmit, sack, ..TcpConfig::default() };
            let run = run_config(config, 20, &[(0, 1)]);
            (run.trace.times_of(0), run.stats.timeouts)
        };
        assert_eq!(with(true), (vec![100, 300], 0));
        assert_eq!(with(false), (vec![100, 400], 1));
    }
}

#[test]
fn timer_backs_off_by_doubling() {
    // 300, 600, 1200, 2400 ms apart.
    let run = run(1, &[(0, 1), (0, 2), (0, 3), (0, 4)]);
    assert_eq!(run.trace.times_of(0), [100, 400, 1000, 2200, 4600]);
}

#[test]
fn after_a_timeout_a_lost_window_is_sent_again_in_slow_start() {
    let whole_window: Vec<_> = (10..30).map(|number| (number, 1)).collect();
    for config in [TcpConfig::default(), without_sack()] {
        let run = run_config(config, 400, &whole_window);
        // The timer started at 200 ms; the acknowledgement of the single segment is delayed by 40 ms. That of the next two
        // opens the window by one (RFC 3465 §2.3).
        assert_eq!([500, 640, 740].map(|at| run.trace.sent_at(at)), [1, 2, 3]);
        assert_eq!((run.stats.retransmissions, run.stats.timeouts), (20, 1));
        assert_eq!(run.delivered, DataSize::from_bytes(400 * MSS));
    }
}

#[test]
fn receive_window_bounds_the_flight() {
    let config = TcpConfig { receive_window: 25, ..TcpConfig::default() };
    let run = run_config(config, 300, &[]);
    let per_round: Vec<_> = (1..=6).map(|round| run.trace.sent_at(100 * round)).collect();
    assert_eq!(per_round[..2], [10, 20]);
    assert!(per_round[2..].iter().all(|&sent| sent <= 25), "{per_round:?}");
    assert_eq!(run.delivered, DataSize::from_bytes(300 * MSS));
}

/// Algorithm whose window opens by the acknowledged segments, with the idle times reported to it.
#[derive(Debug)]
struct Idle(Arc<Mutex<Vec<TimeDelta>>>);

impl WindowAlgorithm for Idle {
    fn reset(&mut self) {}

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        window.cwnd += ack.acked;
    }

    fn on_congestion(&mut self, _: &mut Window, _: SendTime, _: Congestion, _: f64) {}

    fn on_idle(&mut self, _: &mut Window, idle: TimeDelta) {
        self.0.lock().unwrap().push(idle);
    }
}

fn stamps(echo: i64) -> Timestamps {
    Timestamps::new(ms(echo), ArrivalTime::ZERO)
}

/// Number of segments that leave at `at` ms.
fn poll_all(sender: &mut TcpSender, at: i64) -> usize {
    std::iter::from_fn(|| sender.poll_segment(ms(at))).count()
}

#[test]
fn after_an_idle_time_longer_than_the_timeout_it_begins_with_the_initial_window() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let mut sender = TcpSender::new(TcpConfig::default(), Box::new(Idle(Arc::clone(&calls))), None);
    let ack = |cumulative, syn, echo| Acknowledgement {
        cumulative,
        syn,
        sacks: [SackBlock::EMPTY; 3],
        stamps: stamps(echo),
        ece: false,
        marked: 0,
    };
    sender.start(ms(0));
    assert_eq!(poll_all(&mut sender, 0), 1);
    sender.on_ack(ms(100), &ack(0, true, 0));
    assert_eq!(poll_all(&mut sender, 100), 10);
    sender.on_ack(ms(200), &ack(10, false, 100));
    // SRTT 100, RTTVAR 37.5: the deviation counts as 200 ms. Up to 300 ms since 100 ms do not count as idle time.
    assert_eq!((sender.stats().rto, poll_all(&mut sender, 400)), (TimeDelta::from_millis(300), 20));
    sender.on_ack(ms(500), &ack(30, false, 400));
    assert_eq!(sender.window().cwnd, 40.0);
    let rto = sender.stats().rto.nanos() / 1_000_000;
    assert_eq!(poll_all(&mut sender, 400 + rto + 1), 10);
    // Idle time since the acknowledgement at 500 ms: the algorithm has counted until then.
    assert_eq!(*calls.lock().unwrap(), [TimeDelta::from_millis(rto + 1 - 100)], "called once");
}
