//! SBD statistics at a TCP sender, from the receiver's timestamps.

use super::config::Config;
use super::statistics::FlowStatistics;
use crate::config_error::ConfigError;
use crate::coupled::message::Statistics;
use crate::time::{ArrivalTime, SendTime};

/// Statistics of a TCP flow whose acknowledgements carry the receiver's clock (`TSval`, RFC 7323 §3.2).
///
/// Each acknowledgement gives one delay, that of the segment whose timestamp it echoes, and a number of arrived
/// segments. A retransmitted segment was lost, and its own delay is not used.
#[derive(Clone, Debug)]
pub struct SegmentStatistics(FlowStatistics);

impl SegmentStatistics {
    /// Statistics of a flow without history.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        FlowStatistics::new(config).map(Self)
    }

    /// Takes an acknowledgement of a segment that was first `sent` at that time and arrived at `arrived`; `acked`
    /// segments are newly acknowledged.
    pub fn on_acknowledgement(&mut self, sent: SendTime, arrived: ArrivalTime, acked: u32) {
        self.0.on_arrivals(sent, arrived, acked);
    }

    /// Counts the loss of a segment sent at `sent`, which is retransmitted.
    pub fn on_retransmission(&mut self, sent: SendTime) {
        self.0.on_losses(sent, 1);
    }

    /// The statistics of the newest complete interval, returned once.
    pub fn poll(&mut self) -> Option<Statistics> {
        self.0.poll()
    }

    /// Clears the history after a change of the path.
    pub fn reset(&mut self) {
        self.0.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_is_what_was_sent_again_of_what_was_sent() {
        let mut statistics = SegmentStatistics::new(Config::default()).unwrap();
        let mut reported = None;
        for n in 0..70_i64 {
            let sent = SendTime::from_millis(10 * n);
            statistics.on_acknowledgement(sent, ArrivalTime::from_millis(10 * n + 40 + n % 3), 2);
            if n % 10 == 0 {
                statistics.on_retransmission(sent);
            }
            reported = statistics.poll().or(reported);
        }
        // 35 acknowledgements of 2 segments, 7 of which give samples, and 4 segments that were sent again.
        let reported = reported.expect("an interval has ended");
        assert_eq!((reported.interval, reported.samples, reported.loss), (0, 7, 4.0 / 74.0));
    }
}
