//! Analysis `dccc-mismatch`: DCCC's merged interarrival term as measured on a growing queue and with losses
//! (dccc-2017 eqs (20) to (24)).

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::dccc::{Config, DcccObserver, mismatch};
use weir_cc::{Arrival, ArrivalTime, NativeReport, Observer, SendTime, Stamp};
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::analysis::entry::Analysis;
use crate::analysis::range::{FASTER, NO_SHORTER, affordable, check, moving, refused, span};
use weir_form::Problem;

/// The controller's own observer on a path whose queue grows at a known pace, or that loses a known share.
pub(in crate::analysis) struct Mismatch;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::analysis) struct Parameters {
    /// `x`, the sending rate, also stamped on the packets.
    rate: DataRate,
    /// Round-trip time, which sets the interval of reports.
    rtt: TimeDelta,
    /// Payload of a packet.
    packet: DataSize,
    /// `de/dt`, slopes of the delay.
    slopes: Vec<f64>,
    /// `π`, loss ratios.
    loss_ratios: Vec<f64>,
    /// Duration of each measurement, at most a day; the first two reports are left out.
    duration: TimeDelta,
    /// Resolution of the time stamps; 0 for exact ones.
    resolution: TimeDelta,
    /// Whether losses are drawn at random; else they are evenly spaced.
    random_losses: bool,
    /// Seed of the random draws.
    seed: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::analysis) struct Results {
    /// The slopes of the delay.
    slope: Vec<f64>,
    /// Mean measured term for each slope.
    slope_read: Vec<f64>,
    /// The greatest distance of a measured term from its slope, over the slope.
    slope_error: f64,
    /// The loss ratios.
    loss: Vec<f64>,
    /// Mean measured term for each loss ratio.
    loss_read: Vec<f64>,
    /// `π/(1 − π)` of each. Eq. (23).
    loss_odds: Vec<f64>,
    /// The greatest distance of a measured term from `π/(1 − π)`, over that.
    loss_odds_error: f64,
    /// The greatest distance of a measured term from `π`, over that.
    loss_error: f64,
    /// Measured term with a constant delay and no losses.
    at_rest: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            rate: DataRate::from_mbps(1),
            rtt: TimeDelta::from_millis(100),
            packet: DataSize::from_bytes(1024),
            slopes: vec![0.01, 0.02, 0.05, 0.1, 0.2],
            loss_ratios: vec![0.005, 0.01, 0.02, 0.05],
            duration: TimeDelta::from_secs(60),
            resolution: TimeDelta::from_millis(1),
            random_losses: false,
            seed: 1,
        }
    }
}

/// Greatest number of packets, which take some seconds.
const MAX_PACKETS: f64 = 2e7;

/// The effect of the path on packets: the slope of its delay, and its loss ratio.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    slope: f64,
    loss: f64,
}

impl Analysis for Mismatch {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "dccc-mismatch";
    const SUMMARY: &'static str = "What DCCC's merged term reads of a growing queue and of losses";
    const SOURCE: &'static str = "dccc-2017 eqs (20) to (24)";

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        parameters.check()?;
        let measured_term = |path: Path| parameters.measured_term(path);
        let slopes = parameters.slopes.iter().map(|&slope| measured_term(Path { slope, loss: 0.0 }));
        let slope_read: Vec<f64> = slopes.collect::<Result<_, _>>()?;
        let losses = parameters.loss_ratios.iter().map(|&loss| measured_term(Path { slope: 0.0, loss }));
        let loss_read: Vec<f64> = losses.collect::<Result<_, _>>()?;
        let loss_odds: Vec<f64> = parameters.loss_ratios.iter().map(|loss| loss / (1.0 - loss)).collect();
        Ok(Results {
            slope_error: greatest_error(&slope_read, &parameters.slopes),
            loss_odds_error: greatest_error(&loss_read, &loss_odds),
            loss_error: greatest_error(&loss_read, &parameters.loss_ratios),
            at_rest: measured_term(Path::default())?,
            slope: parameters.slopes.clone(),
            loss: parameters.loss_ratios.clone(),
            slope_read,
            loss_read,
            loss_odds,
        })
    }
}

fn greatest_error(measured_term: &[f64], truth: &[f64]) -> f64 {
    measured_term
        .iter()
        .zip(truth)
        .map(|(measured_term, truth)| (measured_term / truth - 1.0).abs())
        .fold(0.0, f64::max)
}

impl Parameters {
    fn check(&self) -> Result<(), Problem> {
        let second = TimeDelta::from_secs(1);
        check([
            ("rate", moving(self.rate), FASTER),
            ("rtt", span(self.rtt) && self.rtt <= second, "a time up to 1 s"),
            ("packet", !self.packet.is_zero(), "a size above 0"),
            ("duration", self.duration >= self.rtt * 10, "ten round trips at least"),
            ("duration", self.duration <= TimeDelta::from_secs(86_400), "a time up to a day"),
            ("resolution", !self.resolution.is_negative(), NO_SHORTER),
        ])?;
        let slopes = self.slopes.iter().enumerate();
        check(
            slopes.map(|(i, s)| (format!("slopes.{i}"), *s > 0.0 && *s <= 1.0, "a number above 0, up to 1")),
        )?;
        let losses = self.loss_ratios.iter().enumerate();
        check(losses.map(|(i, p)| {
            (format!("loss_ratios.{i}"), *p > 0.0 && *p < 0.5, "a number above 0 and below 0.5")
        }))?;
        let paths = 1.0 + self.slopes.len() as f64 + self.loss_ratios.len() as f64;
        let seconds = self.duration.secs_f64();
        let (packets, reports) = (seconds / self.interval(), seconds / self.rtt.secs_f64());
        affordable(
            "duration",
            paths * (packets + reports),
            MAX_PACKETS,
            "packets and round trips of all paths",
            "`duration` or `rate`",
        )
    }

    /// Time between packets, in s.
    fn interval(&self) -> f64 {
        self.packet.bits_f64() / self.rate.bps_f64()
    }

    /// The mean of the term that the controller measures on `path`.
    fn measured_term(&self, path: Path) -> Result<f64, Problem> {
        let config = Config {
            clock_resolution: Some(self.resolution).filter(|&tick| span(tick)),
            ..Config::dccc_2017(self.rtt)
        };
        let mut observer = DcccObserver::new(config).map_err(|error| refused("rtt", &error.to_string()))?;
        let reports = self.reports(path, &mut observer);
        let measured_term = reports.iter().skip(2);
        let count = measured_term.len();
        let sum: f64 = measured_term.sum();
        if count == 0 {
            return Err(refused("rate", "a rate at which several packets leave in a round trip"));
        }
        Ok(sum / count as f64)
    }

    /// The measured term of each report of `observer`.
    fn reports(&self, path: Path, observer: &mut DcccObserver) -> Vec<f64> {
        let interval = self.interval();
        let packets = (self.duration.secs_f64() / interval) as u64;
        let mut dice = Pcg64Mcg::seed_from_u64(self.seed);
        let mut due: f64 = 0.5;
        let mut measured_term = Vec::new();
        for id in 0..packets {
            due += path.loss;
            let lost = if self.random_losses { dice.random_range(0.0..1.0) < path.loss } else { due >= 1.0 };
            if lost {
                due -= 1.0;
                continue;
            }
            let sent = id as f64 * interval;
            let arrival = self.arrival(id, sent, self.rtt.secs_f64() / 2.0 + path.slope * sent);
            measured_term.extend(reports_before(observer, arrival.at));
            observer.on_arrival(&arrival);
        }
        measured_term
    }

    fn arrival(&self, id: u64, sent: f64, delay: f64) -> Arrival {
        let nanos = |seconds: f64| (1e9 * seconds).round() as i64;
        let departure = SendTime::from_nanos(nanos(sent));
        let at = ArrivalTime::from_nanos(nanos(sent + delay));
        let stamp = Stamp { rtt: self.rtt, rate: self.rate };
        Arrival { stamp, ..Arrival::new(id, departure, at, self.packet) }
    }
}

/// The measured term of each report that is due before `now`.
fn reports_before(observer: &mut DcccObserver, now: ArrivalTime) -> Vec<f64> {
    let mut measured_term = Vec::new();
    while let Some(due) = observer.next_report().filter(|&due| due < now) {
        let Some(NativeReport::Dccc(report)) = observer.report(due) else { break };
        measured_term
            .extend(report.receive_rate().map(|received| mismatch(report.sending_rate.bps_f64(), received)));
    }
    measured_term
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_queue_reads_as_its_slope_and_loss_as_its_odds() {
        let results = Mismatch::run(&Parameters::default()).unwrap();
        assert!(results.slope_error < 0.1, "{results:?}");
        // A window with a loss has fewer packets, and reports count alike: of 12 packets 1/11, a twelfth more.
        assert!(results.loss_odds_error < 0.1, "{results:?}");
        assert!(results.loss_error < 0.1, "{results:?}");
        assert!(results.at_rest.abs() < 1e-3, "{results:?}");
    }

    #[test]
    fn exact_stamps_read_a_slope_exactly() {
        let parameters = Parameters { resolution: TimeDelta::ZERO, ..Parameters::default() };
        let results = Mismatch::run(&parameters).unwrap();
        assert!(results.slope_error < 1e-4, "{results:?}");
    }

    #[test]
    fn long_analyses_are_refused_with_a_shorter_setting() {
        let day = Parameters { duration: TimeDelta::from_secs(86_400), ..Parameters::default() };
        let fast = Parameters { rate: DataRate::from_mbps(1_000_000), ..Parameters::default() };
        let often = Parameters { rtt: TimeDelta::from_micros(1), ..Parameters::default() };
        for parameters in [day, fast, often] {
            let problem = Mismatch::run(&parameters).unwrap_err();
            assert_eq!(problem.message, "`duration` is out of range");
            assert!(problem.help.unwrap().contains("`duration` or `rate`"));
        }
    }

    #[test]
    fn random_losses_are_read_in_the_mean() {
        let parameters = Parameters {
            random_losses: true,
            duration: TimeDelta::from_secs(2000),
            loss_ratios: vec![0.05],
            slopes: Vec::new(),
            ..Parameters::default()
        };
        let results = Mismatch::run(&parameters).unwrap();
        assert!(results.loss_odds_error < 0.1, "{results:?}");
    }
}
