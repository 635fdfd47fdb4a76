//! Shared bottleneck detection at either end of a flow (RFC 8382): where the statistics are computed, and how they are
//! reported.

use weir_cc::ConfigError;
use weir_cc::SendTime;
use weir_cc::coupled::Statistics;
use weir_cc::coupled::sbd::Config;
use weir_units::TimeDelta;
use weir_wire::rtcp::Sbd;
use weir_wire::seq::Unwrapper;

/// Statistics for shared bottleneck detection, and where they are computed.
///
/// RFC 8382 §3.1 has both ends agree on metrics and parameters by messages; here both get the same [`MediaConfig`].
///
/// [`MediaConfig`]: crate::MediaConfig
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BottleneckDetection {
    config: &'static Config,
    place: DetectionSide,
}

/// The end that computes the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum DetectionSide {
    /// At the sender, from per-packet reports: those of the controller, or [additional
    /// ones](crate::MediaConfig::additional_reports). Without per-packet reports there are no statistics.
    Sender,
    /// At the receiver, which reports them each interval.
    Receiver,
}

impl BottleneckDetection {
    /// With these parameters, whose half for groups is the coupler's; `&Config::DEFAULT` will do.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn new(place: DetectionSide, config: &'static Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self { config, place })
    }

    /// The parameters.
    pub const fn config(&self) -> &'static Config {
        self.config
    }

    /// The end that computes the statistics.
    pub const fn place(&self) -> DetectionSide {
        self.place
    }

    /// The parameters, if statistics are computed at `place`.
    pub(crate) fn at(&self, place: DetectionSide) -> Option<Config> {
        (self.place == place).then_some(*self.config)
    }
}

/// Largest lateness of a report in intervals, relative to the one with the least delay.
const MAX_LATE: u64 = 8;
/// Intervals by which an honest report may be ahead of the sender's clock, because it had less delay than all before
/// it. The reader skips such a report without counting it as refused.
const HONEST_LEAD: u64 = 1;

/// Reads reports of statistics.
///
/// The receiver numbers intervals by the sender's clock as far as it knows it. The first report stands for the interval
/// that has just ended at the sender; the others count on from it. An interval that has not ended there is never
/// returned: the grouping of flows would no longer wait for those that lag behind.
#[derive(Debug)]
pub(crate) struct StatisticsReader {
    interval: TimeDelta,
    numbers: Unwrapper,
    /// Number of one interval at the receiver and at the sender.
    anchor: Option<(u64, u64)>,
    refused: u64,
}

impl StatisticsReader {
    pub(crate) fn new(interval: TimeDelta) -> Self {
        Self { interval, numbers: Unwrapper::new(), anchor: None, refused: 0 }
    }

    /// Reads a report. Returns `None` if its values are impossible.
    pub(crate) fn read(&mut self, now: SendTime, report: &Sbd) -> Option<Statistics> {
        let seconds = |micros: u32| f64::from(micros) / 1e6;
        let statistics = Statistics {
            interval: 0,
            skew: report.skew_ratio(),
            variability: seconds(report.variability),
            frequency: report.frequency_ratio(),
            loss: report.loss_ratio(),
            bottleneck: report.bottleneck && report.defined,
            packets: 0,
            queuing: seconds(report.queuing),
            samples: report.samples.into(),
        };
        if !statistics.is_possible() {
            self.refused += 1;
            return None;
        }
        if report.anew {
            self.anchor = None;
        }
        Some(Statistics { interval: self.interval(now, report.interval)?, ..statistics })
    }

    /// Number of reports with impossible values, including those of future intervals.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    /// The sender's number of the interval, or `None` if it has not ended yet.
    fn interval(&mut self, now: SendTime, number: u16) -> Option<u64> {
        let number = self.numbers.unwrap(number);
        let ended = now.nanos().div_euclid(self.interval.nanos().max(1)) - 1;
        let ended = u64::try_from(ended).unwrap_or(0);
        let (theirs, ours) = *self.anchor.get_or_insert((number, ended));
        let counted = ours.saturating_add(number).saturating_sub(theirs);
        if (ended.saturating_sub(MAX_LATE)..=ended).contains(&counted) {
            return Some(counted);
        }
        // The receiver's estimate of the sender's clock has jumped, or the report that set the anchor was late and this
        // one less so.
        self.anchor = Some((number, ended));
        self.refused += u64::from(counted > ended.saturating_add(HONEST_LEAD));
        (counted < ended).then_some(ended)
    }
}

/// The report of `statistics`, made by `ssrc` on `source`.
pub(crate) fn statistics_report(statistics: &Statistics, anew: bool, ssrc: u32, source: u32) -> Sbd {
    let micros = |seconds: f64| Sbd::micros_from_nanos(TimeDelta::from_secs_f64(seconds).nanos());
    Sbd {
        ssrc,
        source,
        interval: statistics.interval as u16,
        // Undefined values are 0, which detects no bottleneck; statistics with a bottleneck have all values defined.
        defined: statistics.bottleneck || statistics.samples > 0,
        anew,
        bottleneck: statistics.bottleneck,
        skew: Sbd::skew_from(statistics.skew),
        frequency: Sbd::ratio_from(statistics.frequency),
        variability: micros(statistics.variability),
        loss: Sbd::ratio_from(statistics.loss),
        samples: u16::try_from(statistics.samples).unwrap_or(u16::MAX),
        queuing: micros(statistics.queuing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATISTICS: Statistics = Statistics {
        interval: 65_535,
        skew: -0.25,
        variability: 0.0085,
        frequency: 0.5,
        loss: 0.125,
        packets: 0,
        bottleneck: true,
        queuing: 0.04,
        samples: 35,
    };

    fn reader() -> StatisticsReader {
        StatisticsReader::new(TimeDelta::from_millis(350))
    }

    fn report(interval: u64) -> Sbd {
        statistics_report(&Statistics { interval, ..STATISTICS }, false, 1, 2)
    }

    #[test]
    fn statistics_survive_the_wire_and_count_by_the_senders_clock() {
        let mut reader = reader();
        let at = |interval: i64| SendTime::from_millis(350 * interval + 40);
        // The receiver's interval 65 535 has ended when the sender's 99 has.
        assert_eq!(reader.read(at(100), &report(65_535)), Some(Statistics { interval: 99, ..STATISTICS }));
        assert_eq!(reader.read(at(101), &report(65_536)).map(|statistics| statistics.interval), Some(100));
        // One report is lost, one late.
        assert_eq!(reader.read(at(104), &report(65_538)).map(|statistics| statistics.interval), Some(102));
        // The receiver's estimate of the clock jumps by 64 s, and back.
        assert_eq!(reader.read(at(105), &report(65_722)), None);
        assert_eq!(reader.read(at(106), &report(65_723)).map(|statistics| statistics.interval), Some(105));
        assert_eq!(reader.read(at(107), &report(65_541)).map(|statistics| statistics.interval), Some(106));
        assert_eq!(
            reader.read(at(108), &Sbd { anew: true, ..report(65_727) }).map(|statistics| statistics.interval),
            Some(107)
        );
        assert_eq!(reader.refused(), 1);
    }

    #[test]
    fn impossible_reports_are_refused_and_counted() {
        let mut reader = reader();
        let wrong = [
            Sbd { skew: -16_385, ..report(1) },
            Sbd { frequency: 32_769, ..report(1) },
            Sbd { loss: u16::MAX, ..report(1) },
        ];
        assert!(wrong.iter().all(|wrong| reader.read(SendTime::ZERO, wrong).is_none()));
        assert_eq!(reader.refused(), 3);
        let undefined = reader.read(SendTime::ZERO, &Sbd { defined: false, ..report(1) });
        assert_eq!(undefined.map(|statistics| statistics.bottleneck), Some(false));
    }

    #[test]
    fn no_interval_is_reported_before_it_has_ended() {
        let at = |interval: i64, ms: i64| SendTime::from_millis(350 * interval + ms);
        for ahead in [2, 8, 9, 1000] {
            let mut reader = reader();
            assert_eq!(reader.read(at(1, 40), &report(0)).map(|statistics| statistics.interval), Some(0));
            // Each report is of an interval further ahead than time has passed.
            let numbers = (1..20).map(|n| (n, (1 + ahead) * n as u64));
            assert!(
                numbers
                    .map(|(n, number)| reader.read(at(1 + n, 40), &report(number)))
                    .all(|statistics| statistics.is_none())
            );
            assert_eq!(reader.refused(), 19);
            // An honest report after those is taken.
            let honest = reader.read(at(21, 40), &report((1 + ahead) * 19 + 1));
            assert_eq!(honest.map(|statistics| statistics.interval), Some(20));
        }
        // The first report comes 300 ms late: the second is ahead by one interval for that, and the others count from it.
        let mut reader = reader();
        let statistics: Vec<_> = [(3, 140), (3, 240), (3, 390), (4, 390)]
            .into_iter()
            .zip(0..)
            .map(|((interval, ms), number)| {
                reader.read(at(interval, ms), &report(number)).map(|statistics| statistics.interval)
            })
            .collect();
        assert_eq!(
            (statistics.as_slice(), reader.refused()),
            ([Some(2), None, Some(3), Some(4)].as_slice(), 0)
        );
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        const WRONG: Config = Config { window: 0, ..Config::DEFAULT };
        assert!(BottleneckDetection::new(DetectionSide::Sender, &WRONG).is_err());
        let right = BottleneckDetection::new(DetectionSide::Receiver, &Config::DEFAULT).unwrap();
        assert!(right.at(DetectionSide::Receiver).is_some() && right.at(DetectionSide::Sender).is_none());
    }
}
