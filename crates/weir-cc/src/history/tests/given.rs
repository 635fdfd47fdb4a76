//! Numbers that a stack gives, with gaps, instead of the history's own.

use super::*;
use crate::packet_feedback::MOST_RECORDS;

const HEADER: DataSize = DataSize::from_bytes(24);

/// Records the departure of a packet of 1000 bytes with `number`, and returns its id.
fn send(history: &mut SendHistory, number: u16, ms: i64) -> Result<u64, NumberError> {
    let sent = history.on_sent_as(number, at(ms), DataSize::ZERO, SIZE, false, None)?;
    Ok(sent.id)
}

/// A history with packets of these numbers, 10 ms apart.
fn given(numbers: &[u16]) -> SendHistory {
    let mut history = SendHistory::new(TimeDelta::from_secs(2));
    for (n, &number) in numbers.iter().enumerate() {
        assert_eq!(send(&mut history, number, 10 * n as i64), Ok(n as u64));
    }
    history
}

#[test]
fn ids_count_packets_from_any_first_number_on_over_gaps_and_wraps() {
    let mut history = given(&[40_000, 40_001, 65_535, 3, 32_770]);
    assert_eq!(history.next_number(), 65_536 + 32_771);
    let records = [40_000, 40_001, 65_535, 3, 32_770].map(|number| record(number, Some(100)));
    // 40 000 and 40 001 are more than 32 767 behind the newest.
    let joined = history.join(at(100), &packets(&records, 0, 100));
    assert_eq!(fates(joined), [(3, "arrived"), (4, "arrived")]);
    assert_eq!(history.in_flight(), DataSize::ZERO, "the report settles those before");
    let mut history = given(&[65_530, 65_535, 3]);
    let records = [65_530, 65_535, 3].map(|number| record(number, (number != 65_535).then_some(100)));
    let joined = history.join(at(100), &packets(&records, 0, 100));
    assert_eq!(fates(joined), [(0, "arrived"), (1, "missing"), (2, "arrived")]);
}

#[test]
fn a_number_that_is_not_newer_is_an_error_and_changes_nothing() {
    for newest in [0, 5, 40_000, 65_535_u16] {
        let mut history = given(&[newest]);
        for step in [0, 32_768, 40_000, 65_535] {
            let number = newest.wrapping_add(step);
            assert_eq!(
                send(&mut history, number, 10),
                Err(NumberError { number, newest }),
                "{newest} + {step}"
            );
        }
        assert_eq!(
            (history.next_number(), history.in_flight()),
            (u64::from(newest) + 1, DataSize::from_bytes(1000))
        );
        assert_eq!(send(&mut history, newest.wrapping_add(32_767), 20), Ok(1), "the largest step");
    }
    let error = NumberError { number: 7, newest: 9 };
    assert_eq!(
        error.to_string(),
        "packet number 7 must be 1 to 32767 above the newest number, 9, modulo 65536"
    );
}

#[test]
fn numbers_in_gaps_and_above_the_newest_have_no_effect() {
    let mut history = given(&[100, 103, 110]);
    let elsewhere = [90, 99, 101, 102, 104, 109, 111, 200, 32_000];
    for arrival in [None, Some(15), Some(1_000_000)] {
        for number in elsewhere {
            let before = history.in_flight();
            let joined = history.join(at(60), &packets(&[record(number, arrival)], 0, 60));
            assert_eq!(fates(joined), [], "{number}");
            assert_eq!(history.in_flight(), before);
        }
        let all = elsewhere.map(|number| record(number, arrival));
        assert_eq!(rtt(history.join(at(60), &packets(&all, 0, 60))), None);
    }
    // An echo of such a number measures nothing.
    let report = NativeReport::Nada(NadaReport {
        ramp_up: false,
        congestion: TimeDelta::ZERO,
        receive_rate: weir_units::DataRate::ZERO,
    });
    let mut echo = |sequence| {
        let echo = Echo { sequence, held: TimeDelta::ZERO };
        history.join(at(70), &Report::Native { report, echo }).map(|feedback| feedback.rtt())
    };
    assert_eq!([101, 111, 99].map(&mut echo), [None; 3]);
    assert_eq!(echo(103), Some(Some(TimeDelta::from_millis(60))));
    assert_eq!(history.in_flight(), SIZE);
    assert!(!history.is_receiver_doubted());
    assert_eq!(history.refused(), ImpossibleReports::default());
}

#[test]
fn a_report_may_cover_numbers_of_others_but_not_many_more_than_were_sent() {
    let history = given(&[1000, 1100]);
    // From 1000 to 1100 there are 101 numbers.
    let most = 101 + MOST_RECORDS as u16;
    for base in [0, 1000, 1100, 1101, 5000] {
        assert!(history.may_cover(base, 1) && history.may_cover(base, most), "{base}");
        assert!(!history.may_cover(base, most + 1), "{base}");
    }
    let own = history_of(2, 10);
    assert!(own.may_cover(0, 2) && own.may_cover(1, 1));
    assert!(!own.may_cover(1, 2) && !own.may_cover(2, 1) && !own.may_cover(65_535, 1));
}

#[test]
fn own_numbers_continue_given_ones_and_the_other_way_round() {
    let mut history = history_of(2, 10);
    assert_eq!(send(&mut history, 1, 20), Err(NumberError { number: 1, newest: 1 }));
    assert_eq!(send(&mut history, 10, 20), Ok(2));
    assert_eq!(history.next_number(), 11);
    assert_eq!(history.on_media_sent(at(30), DataSize::ZERO, SIZE).id, 3);
    history.leave_out(at(40));
    assert_eq!(send(&mut history, 12, 40), Err(NumberError { number: 12, newest: 12 }), "it is skipped");
    assert_eq!(send(&mut history, 20, 50), Ok(4));
    let with = |skipped| {
        [0, 1, 2, 9, 10, 11, 12, 13, 20]
            .map(|number| record(number, (number != 12).then_some(80).or(skipped)))
    };
    assert_eq!(history.join(at(90), &packets(&with(Some(80)), 0, 90)), None, "12 is a claim");
    assert_eq!(history.refused().left_out, 1);
    let joined = history.join(at(90), &packets(&with(None), 1, 90));
    assert_eq!(fates(joined), (0..5).map(|id| (id, "arrived")).collect::<Vec<_>>());
    assert_eq!(history.in_flight(), DataSize::ZERO);
}

#[test]
fn a_skipped_number_is_not_claimed_by_a_later_one_with_the_same_bits() {
    let mut history = given(&[10]);
    history.leave_out(at(10));
    for (n, number) in [30_000, 60_000, 11].into_iter().enumerate() {
        assert_eq!(send(&mut history, number, 20 + 10 * n as i64), Ok(1 + n as u64));
    }
    let joined = history.join(at(90), &packets(&[record(11, Some(80))], 0, 90));
    assert_eq!(fates(joined), [(3, "arrived")]);
}

#[test]
fn memory_is_bounded_whatever_the_gaps() {
    let mut history = SendHistory::new(TimeDelta::from_secs(10));
    let mut number = 0_u16;
    for n in 0..200_000_u64 {
        // 20 packets in each ms, so that more than 65 536 are within the horizon.
        assert_eq!(send(&mut history, number, n as i64 / 20), Ok(n));
        number = number.wrapping_add(if n % 3 == 0 { 32_767 } else { 2 });
        assert!(history.numbers.runs() <= history.entries.len() + 1);
    }
    assert_eq!(history.entries.len(), MAX_PACKETS);
    // 100 packets in the last 10 s.
    for n in 0..200 {
        send(&mut history, number, 10_000 + 100 * n).expect("newer");
        number = number.wrapping_add(2);
    }
    assert_eq!((history.entries.len(), history.numbers.runs()), (101, 101));
    // Without gaps a single run is left.
    for n in 0..200 {
        send(&mut history, number, 30_000 + 100 * n).expect("newer");
        number = number.wrapping_add(1);
    }
    assert_eq!(history.numbers.runs(), 1);
}

#[test]
fn a_new_route_continues_the_numbers() {
    let mut history = given(&[60_000, 60_010]);
    history.change_route(at(20));
    assert_eq!((history.in_flight(), history.next_number()), (DataSize::ZERO, 60_011));
    assert_eq!(send(&mut history, 60_005, 30), Err(NumberError { number: 60_005, newest: 60_010 }));
    assert_eq!(send(&mut history, 60_020, 30), Ok(2));
    let report = NativeReport::Nada(NadaReport {
        ramp_up: true,
        congestion: TimeDelta::ZERO,
        receive_rate: weir_units::DataRate::ZERO,
    });
    let mut echo = |sequence| {
        let echo = Echo { sequence, held: TimeDelta::ZERO };
        history.join(at(70), &Report::Native { report, echo }).map(|feedback| feedback.rtt())
    };
    // Of the route before, in the gap between both, and of this route.
    assert_eq!([60_010, 60_015].map(&mut echo), [None; 2]);
    assert_eq!(echo(60_020), Some(Some(TimeDelta::from_millis(40))));
    assert_eq!(history.refused(), ImpossibleReports::default());
}

/// Step of a call that both histories take.
#[derive(Clone, Debug)]
enum CallStep {
    /// A packet leaves; given numbers have a gap before it.
    Send { gap: u16, payload: u64, padding: bool, probe: u16 },
    /// A number is skipped.
    Skip,
    /// A report on the packets since the last `overlap` reported ones but the newest `back` ones. The fates of packets
    /// and of numbers in gaps are by the digits of `fates`, and arrivals take `delay` ms.
    Report { back: usize, overlap: usize, fates: u64, delay: i64, made: bool, lost: bool },
    /// A controller's own report that echoes the packet `back` places before the newest.
    Echo { back: usize, held: i64, congestion: i64 },
    /// The route changes.
    Route,
}

fn call_step() -> impl Strategy<Value = CallStep> {
    let gap = prop_oneof![6 => Just(0_u16), 3 => 1..6_u16, 1 => 0..2000_u16, 1 => 0..32_767_u16];
    let send = (gap, 0..1300_u64, any::<bool>(), 0..3_u16)
        .prop_map(|(gap, payload, padding, probe)| CallStep::Send { gap, payload, padding, probe });
    let delay = prop_oneof![8 => 20..40_i64, 1 => -30..2000_i64];
    let report = (0..4_usize, 0..6_usize, any::<u64>(), delay, any::<bool>(), prop::bool::weighted(0.1))
        .prop_map(|(back, overlap, fates, delay, made, lost)| CallStep::Report {
            back,
            overlap,
            fates,
            delay,
            made,
            lost,
        });
    let echo = (0..12_usize, 0..30_i64, 0..900_i64).prop_map(|(back, held, congestion)| CallStep::Echo {
        back,
        held,
        congestion,
    });
    prop_oneof![
        30 => send,
        1 => Just(CallStep::Skip),
        12 => report,
        2 => echo,
        1 => prop::bool::weighted(0.2).prop_map(|route| if route { CallStep::Route } else { CallStep::Skip }),
    ]
}

/// Fate of a number by a digit from 0 to 15: one in eight is missing, one in sixteen has no time.
fn fate(digit: u64, arrived_ms: i64) -> Reception {
    match digit {
        0 | 1 => Reception::Missing,
        2 => Reception::Untimed,
        _ => Reception::At(ArrivalTime::from_millis(arrived_ms)),
    }
}

/// The same call with own and with given numbers.
struct TwoNumberings {
    own: SendHistory,
    given: SendHistory,
    /// Departure in ms and given number of each place, from the first packet on, and whether it was skipped.
    places: Vec<(i64, u64, bool)>,
    /// Number of reported places.
    reported: usize,
    number: u8,
}

impl TwoNumberings {
    fn new() -> Self {
        let [own, given] = [(); 2].map(|()| SendHistory::new(TimeDelta::from_millis(1500)));
        Self { own, given, places: vec![], reported: 0, number: 0 }
    }

    /// Number after the newest given one.
    fn next(&self, first: u16) -> u64 {
        self.places.last().map_or(u64::from(first), |&(_, number, _)| number + 1)
    }

    /// Records on the places `range` for both: own numbers, and given ones with numbers of gaps between.
    fn records(&self, range: core::ops::Range<usize>, fates: u64, delay: i64) -> [Vec<Record>; 2] {
        let (mut own, mut given) = (vec![], vec![]);
        let digit = |n: u64| (fates.rotate_left((4 * n % 64) as u32) ^ n) & 15;
        for place in range {
            let (sent, number, skipped) = self.places[place];
            // A skipped number is claimed now and then.
            let reception = if skipped && digit(number) != 9 {
                Reception::Missing
            } else {
                fate(digit(place as u64), sent + delay)
            };
            own.push(Record { reception, ..Record::new(place as u16, None) });
            given.push(Record { reception, ..Record::new(number as u16, None) });
            // The ends of the gap, or numbers above the newest.
            let after = self.places.get(place + 1).map_or(number + 3, |&(_, after, _)| after);
            let gap = number + 1..after;
            for elsewhere in gap.clone().take(2).chain(gap.skip(2).last()) {
                let reception = fate(digit(elsewhere), sent + 7);
                given.push(Record { reception, ..Record::new(elsewhere as u16, None) });
            }
        }
        [own, given]
    }

    /// The first place that given numbers of 16 bits can name.
    fn first_known(&self) -> usize {
        let newest = self.places.last().map_or(0, |&(_, number, _)| number);
        self.places.partition_point(|&(_, number, _)| newest - number >= 1 << 15)
    }

    fn step(&mut self, now: i64, first: u16, step: &CallStep) {
        let next = self.next(first);
        match *step {
            CallStep::Send { gap, payload, padding, probe } => {
                let number = if self.places.is_empty() { next } else { next + u64::from(gap) };
                let (payload, probe) = (DataSize::from_bytes(payload), ProbeId::new(probe));
                let sent = self.own.on_sent(at(now), HEADER, payload, padding, probe);
                let same = self.given.on_sent_as(number as u16, at(now), HEADER, payload, padding, probe);
                assert_eq!(same, Ok(sent));
                assert_eq!(self.given.next_number(), number + 1);
                self.places.push((now, number, false));
            }
            // Before the first packet numbers of the history itself would begin.
            CallStep::Skip if !self.places.is_empty() => {
                self.own.leave_out(at(now));
                self.given.leave_out(at(now));
                self.places.push((now, next, true));
            }
            CallStep::Report { back, overlap, fates, delay, made, lost } => {
                let from = self.reported.saturating_sub(overlap).max(self.first_known());
                let to = self.places.len().saturating_sub(back).max(from);
                self.reported = to;
                self.number = self.number.wrapping_add(1);
                if !lost {
                    let made = made.then(|| ArrivalTime::from_millis(now - 20));
                    let [own, given] = self.records(from..to, fates, delay);
                    let report = |records| Report::Packets { records, number: self.number, at: made };
                    let joined = self.own.join(at(now), &report(&own));
                    assert_eq!(self.given.join(at(now), &report(&given)), joined);
                }
            }
            CallStep::Echo { back, held, congestion } if back < self.places.len() - self.first_known() => {
                let place = self.places.len() - 1 - back;
                let report = NativeReport::Nada(NadaReport {
                    ramp_up: false,
                    congestion: TimeDelta::from_millis(congestion),
                    receive_rate: weir_units::DataRate::ZERO,
                });
                let echo = |sequence| Echo { sequence, held: TimeDelta::from_millis(held) };
                let joined = self.own.join(at(now), &Report::Native { report, echo: echo(place as u16) });
                let echo = echo(self.places[place].1 as u16);
                assert_eq!(self.given.join(at(now), &Report::Native { report, echo }), joined);
            }
            CallStep::Route => {
                self.own.change_route(at(now));
                self.given.change_route(at(now));
            }
            CallStep::Skip | CallStep::Echo { .. } => {}
        }
    }

    /// All that an endpoint can read of both.
    fn assert_same(&mut self, now: i64) {
        let state = |history: &mut SendHistory| {
            (
                (
                    history.in_flight(),
                    history.next_expiry(),
                    history.refused(),
                    history.is_contested(at(now)),
                ),
                (history.receiver_lies(), history.is_receiver_doubted(), history.least_delay()),
                history.take_refuted_delay(),
            )
        };
        assert_eq!(state(&mut self.given), state(&mut self.own));
        assert!(self.given.numbers.runs() <= self.given.entries.len() + 1);
    }
}

proptest! {
    #[test]
    fn given_numbers_give_the_feedback_of_own_ones(
        first in any::<u16>(),
        steps in prop::collection::vec((0..25_i64, call_step()), 1..400),
    ) {
        let mut both = TwoNumberings::new();
        let mut now = 0;
        for (pause, step) in steps {
            now += pause;
            both.step(now, first, &step);
            both.assert_same(now);
        }
    }

    #[test]
    fn any_reports_on_given_numbers_leave_what_was_sent(
        steps in prop::collection::vec((any::<u16>(), any::<bool>(), 0..60_i64, -100..100_i64), 1..200),
    ) {
        let mut history = SendHistory::new(TimeDelta::from_millis(500));
        let (mut now, mut sent) = (0, 0);
        for (number, sends, pause, delay) in steps {
            now += pause;
            let before = history.next_number();
            if sends && send(&mut history, number, now).is_ok() {
                sent += 1;
                prop_assert!(history.next_number() > before && history.next_number() as u16 == number.wrapping_add(1));
            } else {
                let records = [0, 1, 2, 300].map(|n| record(number.wrapping_add(n), (n != 1).then_some(now + delay)));
                let flight = history.in_flight();
                if let Some(Feedback::Packets { results, .. }) = history.join(at(now), &packets(&records, 0, now)) {
                    prop_assert!(results.iter().all(|result| result.sent.id < sent));
                }
                prop_assert!(history.in_flight() <= flight);
            }
        }
    }
}
