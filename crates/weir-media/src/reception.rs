//! Reception statistics of one RTP source (RFC 3550 §6.4.1, appendices A.1, A.3, A.8).

use weir_cc::{ArrivalTime, ReceptionReport};
use weir_units::TimeDelta;

/// A forward jump of at least this many sequence numbers is not loss but another source (RFC 3550 A.1).
const MAX_DROPOUT: u16 = 3000;
/// A packet this far behind is not late but from another source (RFC 3550 A.1).
const MAX_MISORDER: u16 = 100;

/// Reception statistics of a source. The first packet is believed: there is no probation.
#[derive(Clone, Debug, Default)]
pub struct ReceptionStatistics {
    source: Option<StreamReception>,
    /// Interarrival jitter times 16, in ticks of the media clock.
    jitter16: u32,
    transit: Option<u32>,
    sender_report: Option<(u32, ArrivalTime)>,
}

#[derive(Clone, Copy, Debug)]
struct StreamReception {
    base: u32,
    cycles: u32,
    max: u16,
    bad: Option<u16>,
    received: u32,
    expected_before: u32,
    received_before: u32,
}

impl StreamReception {
    fn starting(sequence: u16) -> Self {
        Self {
            base: u32::from(sequence),
            cycles: 0,
            max: sequence,
            bad: None,
            received: 1,
            expected_before: 0,
            received_before: 0,
        }
    }

    /// Whether the packet belongs to the source as known so far (RFC 3550 A.1).
    fn accept(&mut self, sequence: u16) -> bool {
        let ahead = sequence.wrapping_sub(self.max);
        if ahead < MAX_DROPOUT {
            if sequence < self.max {
                self.cycles = self.cycles.wrapping_add(1 << 16);
            }
            self.max = sequence;
        } else if ahead <= u16::MAX - MAX_MISORDER + 1 {
            if self.bad == Some(sequence) {
                *self = Self::starting(sequence);
                return true;
            }
            self.bad = Some(sequence.wrapping_add(1));
            return false;
        }
        self.received = self.received.wrapping_add(1);
        true
    }

    fn highest(&self) -> u32 {
        self.cycles.wrapping_add(u32::from(self.max))
    }

    fn expected(&self) -> u32 {
        self.highest().wrapping_sub(self.base).wrapping_add(1)
    }
}

impl ReceptionStatistics {
    /// A packet has arrived; `timestamp` and `arrival_ticks` are in ticks of the media clock.
    pub fn on_packet(&mut self, sequence: u16, timestamp: u32, arrival_ticks: u32) {
        match &mut self.source {
            None => self.source = Some(StreamReception::starting(sequence)),
            Some(source) => {
                if !source.accept(sequence) {
                    return;
                }
            }
        }
        let transit = arrival_ticks.wrapping_sub(timestamp);
        if let Some(before) = self.transit.replace(transit) {
            let distance = (transit.wrapping_sub(before) as i32).unsigned_abs();
            // A.8: J += (|D| − J) / 16, in integers scaled by 16.
            self.jitter16 = self.jitter16.saturating_add(distance) - ((self.jitter16 + 8) >> 4);
        }
    }

    /// A sender report with these middle 32 bits of its NTP time has arrived.
    pub fn on_sender_report(&mut self, compact_ntp: u32, at: ArrivalTime) {
        self.sender_report = Some((compact_ntp, at));
    }

    /// Packets expected less packets received since the beginning; negative if duplicates outnumber losses.
    pub fn cumulative_lost(&self) -> i64 {
        self.source.map_or(0, |source| i64::from(source.expected()) - i64::from(source.received))
    }

    /// Interarrival jitter in ticks of the media clock.
    pub fn jitter(&self) -> u32 {
        self.jitter16 >> 4
    }

    /// The report for the time since the one before, or `None` if no packet arrived in it.
    pub fn report(&mut self, now: ArrivalTime) -> Option<ReceptionReport> {
        let source = self.source.as_mut()?;
        let expected = source.expected();
        let expected_interval = expected.wrapping_sub(source.expected_before);
        let received_interval = source.received.wrapping_sub(source.received_before);
        if received_interval == 0 {
            return None;
        }
        source.expected_before = expected;
        source.received_before = source.received;
        let highest_sequence = source.highest();
        let lost = self.cumulative_lost();
        let held = self.sender_report.map_or(TimeDelta::ZERO, |(_, at)| now - at);
        Some(ReceptionReport {
            fraction_lost: weir_wire::rtcp::fraction_lost(expected_interval, received_interval),
            cumulative_lost: lost.clamp(-0x80_0000, 0x7F_FFFF) as i32,
            highest_sequence,
            jitter: self.jitter(),
            last_sender_report: self.sender_report.map_or(0, |(ntp, _)| ntp),
            delay_since_last_sender_report: weir_wire::ntp::units_from_nanos(held.nanos()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statistics after packets with these sequence numbers.
    fn statistics(sequences: impl IntoIterator<Item = u16>) -> ReceptionStatistics {
        let mut statistics = ReceptionStatistics::default();
        for sequence in sequences {
            statistics.on_packet(sequence, 0, 0);
        }
        statistics
    }

    #[test]
    fn loss_is_counted_per_interval_and_in_total() {
        let mut s = statistics((0..100).filter(|n| n % 4 != 3 || *n == 99));
        // 100 expected, 76 received: 24 · 256 / 100 = 61.44.
        let first = s.report(ArrivalTime::ZERO).unwrap();
        assert_eq!((first.fraction_lost, first.cumulative_lost, first.highest_sequence), (61, 24, 99));
        (100..200).for_each(|n| s.on_packet(n, 0, 0));
        let second = s.report(ArrivalTime::ZERO).unwrap();
        assert_eq!((second.fraction_lost, second.cumulative_lost), (0, 24));
        assert_eq!(s.report(ArrivalTime::ZERO), None, "nothing arrived since");
    }

    #[test]
    fn sequence_numbers_wrap_and_duplicates_make_loss_negative() {
        let mut s = statistics([65_534, 65_535, 0, 1, 1]);
        let report = s.report(ArrivalTime::ZERO).unwrap();
        assert_eq!(report.highest_sequence, 0x1_0001);
        assert_eq!(report.cumulative_lost, -1);
        assert_eq!(report.fraction_lost, 0);
    }

    #[test]
    fn a_big_jump_must_be_confirmed() {
        let mut s = statistics([10, 11, 20_000]);
        assert_eq!(s.report(ArrivalTime::ZERO).unwrap().highest_sequence, 11);
        s.on_packet(20_001, 0, 0);
        let report = s.report(ArrivalTime::ZERO).unwrap();
        assert_eq!((report.highest_sequence, report.cumulative_lost), (20_001, 0));
    }

    #[test]
    fn jitter_follows_the_integer_form_of_rfc_3550() {
        let mut s = ReceptionStatistics::default();
        let mut seen = vec![];
        let arrivals = [(0, 0), (3000, 3100), (6000, 5950), (9000, 9500), (12_000, 12_000)];
        for (n, (timestamp, arrival)) in arrivals.into_iter().enumerate() {
            s.on_packet(n as u16, timestamp, arrival);
            seen.push(s.jitter16 >> 4);
        }
        // |D| = 100, 150, 550, 500.
        assert_eq!(seen, [0, 6, 15, 48, 76]);
    }

    #[test]
    fn the_last_sender_report_is_echoed_with_its_age() {
        let mut s = statistics([1]);
        s.on_sender_report(0xb705_2000, ArrivalTime::from_millis(1000));
        let report = s.report(ArrivalTime::from_millis(6250)).unwrap();
        assert_eq!(report.last_sender_report, 0xb705_2000);
        assert_eq!(report.delay_since_last_sender_report, 0x0005_4000);
    }
}
