//! Numbers that no packet has, and receivers that claim them.

use super::*;
use crate::history::skipped_numbers::SkippedNumbers;

/// The 16 bits of own numbers.
const OWN: fn(u64) -> Option<u16> = |place| Some(place as u16);

#[test]
fn numbers_left_out_do_not_reach_the_controller() {
    let mut history = SendHistory::new(TimeDelta::from_secs(2));
    let send = |history: &mut SendHistory, ms| history.on_media_sent(at(ms), DataSize::ZERO, SIZE);
    assert_eq!(send(&mut history, 0).id, 0);
    history.leave_out(at(5));
    assert_eq!((history.next_number(), send(&mut history, 10).id), (2, 1));
    assert_eq!(history.in_flight(), DataSize::from_bytes(2000));
    let records = [record(0, Some(20)), record(1, None), record(2, Some(30))];
    let joined = history.join(at(60), &Report::packets(&records, 0));
    assert_eq!(fates(joined), [(0, "arrived"), (1, "arrived")]);
    assert_eq!((history.in_flight(), history.refused()), (DataSize::ZERO, ImpossibleReports::default()));
    // Long after both have been forgotten numbers and ids are as far apart as before.
    assert_eq!((send(&mut history, 9000).id, history.next_number()), (2, 4));
}

#[test]
fn a_report_that_has_arrived_what_was_left_out_is_dropped_whole() {
    let mut history = history_of(3, 10);
    history.leave_out(at(30));
    history.on_media_sent(at(40), DataSize::ZERO, SIZE);
    let lie: Vec<Record> = (0..5).map(|n| record(n, Some(50))).collect();
    assert_eq!(history.join(at(60), &Report::packets(&lie, 0)), None);
    assert_eq!(history.refused(), ImpossibleReports { left_out: 1, ..ImpossibleReports::default() });
    assert_eq!(history.in_flight(), DataSize::from_bytes(4000));
    let truth: Vec<Record> = (0..5).map(|n| record(n, (n != 3).then_some(50))).collect();
    assert_eq!(fates(history.join(at(60), &Report::packets(&truth, 0))).len(), 4);
}

/// Count of numbers after which the receiver is found to lie. A number is skipped each second; a lie claims it 50 ms
/// later and an honest report follows 100 ms later, or `None` where that is lost.
fn convicted(honest: impl Fn(i64) -> Option<bool>, lie_first: bool) -> Option<i64> {
    let mut history = SendHistory::new(TimeDelta::from_secs(5));
    (0..30).find(|&second| {
        let ms = 1000 * second;
        history.on_media_sent(at(ms), DataSize::ZERO, SIZE);
        let number = history.next_number() as u16;
        history.leave_out(at(ms));
        let claims_of_arrival = [Some(true), honest(second)];
        let order = if lie_first { [0, 1] } else { [1, 0] };
        for (place, which) in order.into_iter().enumerate() {
            let Some(claims) = claims_of_arrival[which] else { continue };
            let records = [record(number, claims.then_some(ms + 40))];
            history.join(at(ms + 50 + 50 * place as i64), &Report::packets(&records, 0));
        }
        history.receiver_lies()
    })
}

#[test]
fn undenied_claims_of_eight_seconds_are_those_of_the_receiver() {
    for lie_first in [true, false] {
        // The eighth number, and two seconds in which others may report.
        assert_eq!(convicted(|_| Some(true), lie_first), Some(9), "it agrees with the liar, or is it");
        assert_eq!(convicted(|_| None, lie_first), Some(9), "no other report arrives");
        assert_eq!(convicted(|_| Some(false), lie_first), None);
        // Every second report of the honest receiver is lost, and a lie claims each number.
        assert_eq!(convicted(|second| (second % 2 == 0).then_some(false), lie_first), None);
        // Denied are one claim of four, and one of five.
        assert_eq!(convicted(|second| (second % 4 == 0).then_some(false), lie_first), None);
        assert_eq!(convicted(|second| (second % 5 == 4).then_some(false), lie_first), Some(9));
    }
}

/// A call with skipped numbers, each in reports of their own.
struct Numbers {
    history: SendHistory,
}

impl Numbers {
    fn new() -> Self {
        Self { history: SendHistory::new(TimeDelta::from_secs(5)) }
    }

    /// Skips a number at `ms`; reports with each of `claims_of_arrival` (whether it arrived) follow 100 ms later.
    fn skip_and_report(&mut self, ms: i64, claims_of_arrival: &[bool]) -> bool {
        self.history.on_media_sent(at(ms), DataSize::ZERO, SIZE);
        let number = self.history.next_number() as u16;
        self.history.leave_out(at(ms));
        for &arrived in claims_of_arrival {
            let records = [record(number, arrived.then_some(ms + 40))];
            self.history.join(at(ms + 100), &Report::packets(&records, 0));
        }
        self.history.receiver_lies()
    }
}

#[test]
fn numbers_of_one_second_are_one_claim_and_claims_of_90_seconds_count() {
    // A hundred numbers in a second, claimed by one report that may be the only one that is not lost.
    let mut burst = Numbers::new();
    assert!((0..100).all(|n| !burst.skip_and_report(10 * n, &[true])));
    assert!((1..10).all(|n| !burst.skip_and_report(20_000 * n, &[true])), "four or five in 90 s");
    // Eight that are 10 s apart, the newest of which counts with the next.
    let every = |ms: i64| {
        let mut slow = Numbers::new();
        (0..20).find(|n| slow.skip_and_report(ms * n, &[true]))
    };
    assert_eq!((every(10_000), every(13_000)), (Some(8), None));
}

#[test]
fn a_conviction_ends_when_claims_are_denied_and_90_seconds_after_the_last() {
    let lying = || {
        let mut numbers = Numbers::new();
        (0..10).for_each(|n| _ = numbers.skip_and_report(1000 * n, &[true]));
        assert!(numbers.history.receiver_lies() && numbers.history.is_receiver_doubted());
        numbers
    };
    let mut denied = lying();
    let ends = (10..20).find(|n| !denied.skip_and_report(1000 * n, &[true, false]));
    assert_eq!(ends, Some(14), "three of thirteen that count are more than a fifth");
    let mut honest = lying();
    // The receiver denies a number each 10 s, and claims none.
    let ends = (1..20).find(|n| !honest.skip_and_report(10_000 * n, &[false]));
    assert_eq!(ends, Some(10), "the last claim was at 9.1 s");
    assert!(!honest.history.is_receiver_doubted());
    let mut route = lying();
    route.history.change_route(at(10_000));
    assert!(!route.history.receiver_lies() && !route.history.is_receiver_doubted());
}

/// A random number, uniform in [0, 1).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Number of `attacks` of ten minutes that convict a receiver which loses a tenth of its reports. The attacker claims a
/// number each `spacing` s at most.
fn convictions(attacks: u64, spacing: i64) -> usize {
    let attack = |seed: u64| {
        let mut chance = Chance(seed);
        let mut numbers = SkippedNumbers::default();
        let (mut now, mut claimed_at, mut number) = (0, -1_000_000, 0);
        while now < 600_000 {
            // While there are claims they are half a second apart on average.
            now += (1000.0 * chance.next()) as i64;
            number += 1;
            if now - claimed_at < 1000 * spacing {
                continue;
            }
            claimed_at = now;
            numbers.push(number);
            numbers.are_claimed(at(now + 50), &[record(number as u16, Some(now))], OWN);
            if chance.next() >= 0.1 {
                numbers.are_claimed(at(now + 100), &[record(number as u16, None)], OWN);
            }
            numbers.forget(number);
            if numbers.is_proven() {
                return true;
            }
        }
        false
    };
    (0..attacks).filter(|&seed| attack(seed)).count()
}

#[test]
fn a_reader_beside_an_honest_receiver_has_it_convicted_in_fewer_than_one_of_1000_attacks() {
    for spacing in [0, 1, 5, 9, 10, 11, 12, 13] {
        let attacks = if spacing < 5 { 1000 } else { 3000 };
        assert_eq!(convictions(attacks, spacing), 0, "a claim each {spacing} s");
    }
}

#[test]
fn a_denial_counts_against_the_first_claim_of_a_number_however_often_it_was_repeated() {
    let convicts = |denied: bool| {
        let mut numbers = SkippedNumbers::default();
        for number in 0..12 {
            let (ms, sequence) = (5000 * number, number as u16);
            numbers.push(number as u64);
            for claimed in [ms, ms + 1500] {
                numbers.are_claimed(at(claimed), &[record(sequence, Some(claimed))], OWN);
            }
            if denied {
                numbers.are_claimed(at(ms + 1600), &[record(sequence, None)], OWN);
            }
        }
        numbers.are_claimed(at(65_000), &[], OWN);
        numbers.is_proven()
    };
    assert!(convicts(false) && !convicts(true));
}
