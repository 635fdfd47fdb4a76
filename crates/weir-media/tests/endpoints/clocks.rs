//! Receivers whose clocks, as reports show them, jump by a large part of the period of the field.

use std::collections::VecDeque;

use weir_cc::history::{ImpossibleReports, SendHistory};
use weir_cc::{ArrivalTime, Feedback, PacketFate, PacketResult, Record, Report, SendTime};
use weir_media::PacketFormat;
use weir_media::feedback::{FeedbackReader, FeedbackWriter, StreamNumbers};
use weir_units::{DataSize, TimeDelta};
use weir_wire::rtcp;

const SOURCE: u32 = 1;
/// Delay in one direction, in ms; a packet leaves each 10 ms, and a report each 50.
const WAY: i64 = 25;
/// Place of the 24 bits of the reference time in transport-wide feedback.
const REFERENCE: core::ops::Range<usize> = 16..19;
const SECOND: i64 = 1_000_000_000;
/// Half of the period of the field, in nanoseconds: 2²³ · 64 ms, and 32 768 s.
const HALF_OF_TRANSPORT_WIDE: i64 = (1 << 23) * 64_000_000;
const HALF_OF_RFC_8888: i64 = 32_768 * SECOND;

/// A sender, and the reports that come to it.
struct Path {
    format: PacketFormat,
    /// Bits of the reference times.
    bits: u32,
    history: SendHistory,
    reader: FeedbackReader,
    writers: [FeedbackWriter; 2],
    /// Arrival times in ms of the sender's clock, and numbers, of packets in flight.
    on_way: VecDeque<(i64, u16)>,
    ms: i64,
    reports: u8,
    /// The believed arrival that is farthest from zero, in ns of the receiver's clock.
    farthest: i64,
}

/// Counts of the reports of a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ArrivalCounts {
    /// Packets reported as arrived by the receiver.
    reported: usize,
    /// Packets of these whose arrival is believed.
    believed: usize,
}

impl Path {
    fn new(format: PacketFormat) -> Self {
        let writer = || match format {
            PacketFormat::TransportWide => FeedbackWriter::transport_wide(2, SOURCE),
            PacketFormat::Rfc8888 => FeedbackWriter::rfc_8888(2, SOURCE),
        };
        Self {
            format,
            bits: 24,
            history: SendHistory::new(TimeDelta::from_secs(5)),
            reader: FeedbackReader::new(),
            writers: [writer(), writer()],
            on_way: VecDeque::new(),
            ms: 0,
            reports: 0,
            farthest: 0,
        }
    }

    /// Runs for `span` ms. The receiver reports where `honest`, and its clock is ahead of the sender's by `clock` ns.
    /// Each 10 ms `forge` gives the clock of a forged report that the packet of 60 ms ago has arrived.
    fn run(
        &mut self,
        span: i64,
        honest: bool,
        clock: impl Fn(i64) -> i64,
        forge: impl Fn(i64) -> Option<i64>,
    ) -> ArrivalCounts {
        let mut counts = ArrivalCounts::default();
        for _ in 0..span {
            self.ms += 1;
            let ms = self.ms;
            let arrival = |at: i64, clock: i64| ArrivalTime::from_nanos(at * 1_000_000 + clock);
            if ms % 10 == 0 {
                let number = self.history.next_number();
                self.history.on_media_sent(
                    SendTime::from_millis(ms),
                    DataSize::ZERO,
                    DataSize::from_bytes(1200),
                );
                // Some packets wait for up to 4 ms.
                self.on_way.push_back((ms + WAY + number as i64 * 7 % 5, number as u16));
                if let Some(clock) = forge(ms).filter(|_| number >= 6) {
                    let left = ms - 60;
                    let record = Record::new((number - 6) as u16, Some(arrival(left + WAY, clock)));
                    self.deliver(1, &[record], arrival(ms - WAY, clock));
                }
            }
            let made = ms - WAY;
            let arrived = self.on_way.iter().take_while(|(at, _)| *at <= made).count();
            if ms % 50 == 0 && arrived > 0 {
                let records: Vec<_> = self
                    .on_way
                    .drain(..arrived)
                    .map(|(at, number)| Record::new(number, Some(arrival(at, clock(ms)))))
                    .collect();
                if honest {
                    counts.reported += records.len();
                    counts.believed += self.deliver(0, &records, arrival(made, clock(ms)));
                }
            }
        }
        counts
    }

    /// Delivers a report of `records`, made `at`; returns the number of packets that have arrived by it.
    fn deliver(&mut self, writer: usize, records: &[Record], at: ArrivalTime) -> usize {
        let mut out = [0; 1472];
        self.reports = self.reports.wrapping_add(1);
        let report = Report::Packets { records, number: self.reports, at: Some(at) };
        let length = self.writers[writer].write(&report, &mut out).unwrap();
        if self.format == PacketFormat::TransportWide {
            let [a, b, c] = out[REFERENCE] else { unreachable!() };
            let reference = u32::from_be_bytes([0, a, b, c]) & ((1 << self.bits) - 1);
            out[REFERENCE].copy_from_slice(&reference.to_be_bytes()[1..]);
        }
        let now = SendTime::from_millis(self.ms);
        let message = rtcp::messages(&out[..length]).next().unwrap().unwrap();
        let numbers = StreamNumbers::same_as_history(SOURCE);
        let Some(report) = self.reader.read(now, &message, &numbers, &self.history) else { return 0 };
        let Some(Feedback::Packets { results, .. }) = self.history.join(now, &report) else { return 0 };
        let arrival = |result: &PacketResult| match result.fate {
            PacketFate::Arrived { at, .. } => at.map(ArrivalTime::nanos),
            _ => None,
        };
        let arrivals = results.iter().filter_map(arrival);
        self.farthest = arrivals.clone().fold(self.farthest, |farthest, at| farthest.max(at.abs()));
        arrivals.count()
    }
}

/// No forged report, whatever the time.
fn no_forgery(_: i64) -> Option<i64> {
    None
}

/// Whether all that is reported is believed.
fn all_believed(counts: ArrivalCounts) -> bool {
    counts.reported > 0 && counts.believed == counts.reported
}

#[test]
fn reference_times_of_fewer_bits_are_followed_where_they_begin_anew() {
    for (bits, phase) in [(23, 0), (23, 20), (23, 40), (22, 0), (22, 40), (16, 0), (16, 40)] {
        let mut path = Path::new(PacketFormat::TransportWide);
        path.bits = bits;
        // The reference times wrap after 20 s.
        let clock = |_| (1 << bits) * 64_000_000 - 20 * SECOND + phase * 1_000_000;
        assert!(all_believed(path.run(19_000, true, clock, no_forgery)), "{bits} bits");
        path.run(5000, true, clock, no_forgery);
        assert!(all_believed(path.run(60_000, true, clock, no_forgery)), "{bits} bits, {phase} ms");
    }
}

#[test]
fn a_clock_may_leap_by_a_part_of_the_period_again_and_again() {
    for (format, half) in
        [(PacketFormat::TransportWide, HALF_OF_TRANSPORT_WIDE), (PacketFormat::Rfc8888, HALF_OF_RFC_8888)]
    {
        for step in [half, -half, half / 2, -half / 2, half / 4 * 3, half / 4] {
            let mut path = Path::new(format);
            let mut clock = 7200 * SECOND;
            for leap in 0..6 {
                path.run(4000, true, |_| clock, no_forgery);
                let counts = path.run(10_000, true, |_| clock, no_forgery);
                assert!(all_believed(counts), "{format:?} after {leap} times {step} ns: {counts:?}");
                clock += step;
            }
        }
    }
}

#[test]
fn reports_by_another_clock_beside_the_receiver_move_no_time() {
    for (format, half) in
        [(PacketFormat::TransportWide, HALF_OF_TRANSPORT_WIDE), (PacketFormat::Rfc8888, HALF_OF_RFC_8888)]
    {
        for ahead in [half, half / 2, -half / 2, 3600 * SECOND] {
            let mut path = Path::new(format);
            assert!(all_believed(path.run(5000, true, |_| 0, no_forgery)));
            path.run(30_000, true, |_| 0, |_| Some(ahead));
            let refused = path.history.refused();
            assert!(refused.impossible > 1000 && refused.early == 0, "{refused:?}");
            assert!(all_believed(path.run(10_000, true, |_| 0, no_forgery)), "{format:?}, {ahead} ns");
            assert_eq!(path.history.refused(), refused);
        }
    }
}

#[test]
fn reports_of_others_for_less_than_two_seconds_move_no_time() {
    for (format, half) in
        [(PacketFormat::TransportWide, HALF_OF_TRANSPORT_WIDE), (PacketFormat::Rfc8888, HALF_OF_RFC_8888)]
    {
        for step in [20, 1000, 1900] {
            let mut path = Path::new(format);
            path.run(5000, true, |_| 0, no_forgery);
            assert_eq!(path.history.refused(), ImpossibleReports::default());
            // The receiver sends no reports, and forged ones have a clock that jumps by three eighths of the period,
            // twice.
            path.run(step, false, |_| 0, |_| Some(half / 4 * 3));
            path.run(step, false, |_| 0, |_| Some(half / 4 * 6));
            path.run(1000, true, |_| 0, no_forgery);
            path.farthest = 0;
            // Relative to the last of these clocks the receiver's would be unwrapped a period away.
            let counts = path.run(10_000, true, |_| 0, no_forgery);
            assert!(
                all_believed(counts) && path.farthest < 60 * SECOND,
                "{format:?}, {step} ms: {}",
                path.farthest
            );
        }
    }
}
