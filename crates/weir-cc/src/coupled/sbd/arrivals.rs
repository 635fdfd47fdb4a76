//! SBD statistics at the receiver (RFC 8382 §3.1, scenario 2), from arrivals and gaps in the packet numbers.

use super::config::Config;
use super::statistics::FlowStatistics;
use crate::config_error::ConfigError;
use crate::coupled::message::Statistics;
use crate::packet::Arrival;

/// Number of packets, up to the highest number, whose arrival is remembered.
const MAX_REMEMBERED: u64 = 1024;
const WORDS: usize = (MAX_REMEMBERED / 64) as usize;

/// Statistics of a flow from its arriving packets. A skipped number is a loss until its packet arrives.
#[derive(Clone, Debug)]
pub struct ArrivalStatistics {
    statistics: FlowStatistics,
    highest: Option<u64>,
    /// Whether a number has arrived, by number.
    arrived: [u64; WORDS],
}

impl ArrivalStatistics {
    /// Statistics of a flow without history.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Ok(Self { statistics: FlowStatistics::new(config)?, highest: None, arrived: [0; WORDS] })
    }

    /// Takes an arrived packet. Copies, and packets more than 1024 numbers late, do not count.
    pub fn on_arrival(&mut self, packet: &Arrival) {
        let Arrival { id, departure, at, .. } = *packet;
        let Some(highest) = self.highest else {
            self.restart(id);
            return self.statistics.on_arrival(departure, at);
        };
        if id > highest {
            self.record_missing(highest, id);
            self.statistics.on_arrival(departure, at);
            let missing = u32::try_from(id - highest - 1).unwrap_or(u32::MAX);
            if missing > 0 {
                self.statistics.on_losses(departure, missing);
            }
        } else if highest - id < MAX_REMEMBERED && !self.has(id) {
            self.mark(id);
            self.statistics.on_recovery(departure, at);
        }
    }

    /// The statistics of the newest complete interval, returned once.
    pub fn poll(&mut self) -> Option<Statistics> {
        self.statistics.poll()
    }

    /// Clears the history after a change of the path.
    pub fn reset(&mut self) {
        self.highest = None;
        self.statistics.reset();
    }

    fn restart(&mut self, id: u64) {
        self.highest = Some(id);
        // Numbers before the first are neither losses nor arrivals.
        self.arrived = [u64::MAX; WORDS];
    }

    /// Records the numbers between two packets as missing.
    fn record_missing(&mut self, highest: u64, id: u64) {
        if id - highest > MAX_REMEMBERED {
            self.arrived = [0; WORDS];
        } else {
            for missing in highest + 1..id {
                let (word, bit) = place(missing);
                self.arrived[word] &= !bit;
            }
        }
        self.highest = Some(id);
        self.mark(id);
    }

    fn has(&self, id: u64) -> bool {
        let (word, bit) = place(id);
        self.arrived[word] & bit != 0
    }

    fn mark(&mut self, id: u64) {
        let (word, bit) = place(id);
        self.arrived[word] |= bit;
    }
}

fn place(id: u64) -> (usize, u64) {
    ((id / 64) as usize % WORDS, 1 << (id % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::time::{ArrivalTime, SendTime};
    use weir_units::DataSize;

    /// The loss of the first interval, in which these numbers arrive, 5 ms apart.
    fn loss_after(ids: &[u64]) -> f64 {
        let mut statistics = ArrivalStatistics::new(Config::default()).unwrap();
        let packet = |id: u64, ms: i64| {
            let (departure, at) = (SendTime::from_millis(ms), ArrivalTime::from_millis(ms + 20));
            Arrival::new(id, departure, at, DataSize::from_bytes(1000))
        };
        for (n, &id) in ids.iter().enumerate() {
            statistics.on_arrival(&packet(id, 5 * n as i64));
        }
        let last = ids.iter().max().unwrap() + 1;
        statistics.on_arrival(&packet(last, 400));
        statistics.poll().expect("an interval has ended").loss
    }

    #[test]
    fn a_gap_is_a_loss_until_it_is_filled() {
        assert_eq!(loss_after(&[10, 11, 12]), 0.0);
        assert_eq!(loss_after(&[10, 12, 13]), 0.25);
        assert_eq!(loss_after(&[10, 12, 11, 13]), 0.0);
        assert_eq!(loss_after(&[10, 12, 12, 13]), 0.25, "a copy fills nothing");
        assert_eq!(loss_after(&[10, 12, 11, 11, 10, 14]), 0.2);
        assert_eq!(loss_after(&[2000, 1999, 2001]), 0.0, "what came before the first is no loss");
        assert_eq!(loss_after(&[0, 4000, 1]), 3999.0 / 4001.0, "too late to count");
    }
}
