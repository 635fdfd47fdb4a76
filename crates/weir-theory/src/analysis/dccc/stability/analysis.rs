//! Analysis `dccc-loop`: loop gain, Nyquist curve and margins of a DCCC flow at equilibrium (dccc-2017 eqs (40) to
//! (43)).

use core::f64::consts::PI;

use num_complex::Complex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::dccc::Config;
use weir_units::{DataRate, TimeDelta};

use super::Flow;
use super::hull::least_real;
use super::margins::{Margins, frequencies};
use super::sampled::Sampled;
use crate::analysis::entry::Analysis;
use crate::analysis::range::{FASTER, LONGER, check, moving, span};
use weir_form::Problem;

/// Loop gain, Nyquist curve and margins of a flow at rest.
pub(in crate::analysis) struct DcccLoop;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::analysis) struct Parameters {
    /// `x`, the rate at rest, above `h/β`.
    rate: DataRate,
    /// Round-trip time at rest; margins do not depend on it, frequencies do.
    rtt: TimeDelta,
    /// `h`, weight of the utility.
    utility_weight: DataRate,
    /// `β`, scale of the delay price.
    #[schemars(range(min = 0.001, max = 1.0))]
    price_scale: f64,
    /// `η = k_r·RTT`.
    #[schemars(range(min = 0.001, max = 10.0))]
    gain: f64,
    /// Multiple of `k_r`.
    #[schemars(range(min = 0.001, max = 1000.0))]
    gain_factor: f64,
    /// `M`, links with a queue on the longest route.
    #[schemars(range(min = 1, max = 100))]
    links: u32,
    /// Rates of further flows with the same constants: corners of the convex hull of eq. (40); 50 at most.
    other_rates: Vec<DataRate>,
    /// Their round-trip times, in order; that of the flow where there are fewer. No two round-trip times differ by more than a
    /// factor of 100.
    other_rtts: Vec<TimeDelta>,
    /// Points of the curve.
    #[schemars(range(min = 2, max = 100_000))]
    points: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::analysis) struct Results {
    /// `k_r`, in 1/s.
    gain_per_s: f64,
    /// The zero of eq. (43), `(β − h/x)/RTT`, in rad/s.
    zero_rad_per_s: f64,
    /// `β/RTT`, which the zero stays below, in rad/s.
    zero_bound_rad_per_s: f64,
    /// The second pole of eq. (43), `η·h/(x·RTT)`, in rad/s.
    pole_rad_per_s: f64,
    /// `η·β/RTT`, which the pole stays below, in rad/s.
    pole_bound_rad_per_s: f64,
    /// Frequency at which `M` times the gain is 1, in rad/s.
    crossover_rad_per_s: f64,
    /// The same times the round-trip time.
    crossover_rtt: f64,
    /// Phase margin for `M` links, in degrees; negative if it is unstable.
    phase_margin_deg: f64,
    /// Frequency at which the phase is −180°, in rad/s.
    phase_crossover_rad_per_s: f64,
    /// Gain margin for `M` links, as a factor.
    gain_margin: f64,
    /// The same in dB.
    gain_margin_db: f64,
    /// Delay that can be added before it is unstable, in ms; negative if it is.
    delay_margin_ms: f64,
    /// Number of times that `M` times the curve encircles −1 clockwise.
    encirclements: u32,
    /// 1 if there is no encirclement, else 0.
    stable: u8,
    /// The gain `η` from which on the loop is unstable, or null where it is stable up to a million.
    critical_gain: Option<f64>,
    /// The least real number in the hull of eq. (40) over all frequencies; above −1 all flows together are stable.
    hull_least_real: f64,
    /// 1 if it is above −1, else 0.
    hull_stable: u8,
    /// The controller that computes once per round trip.
    sampled: OfSampled,
    /// The Nyquist curve of eq. (43) up to 100 rad per round trip, without the factor `M`.
    curve: NyquistCurve,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OfSampled {
    /// Frequency at which `M` times the gain is 1, in rad per round trip. Like all margins, the frequency is null where the gain
    /// is above 1 up to half the sampling rate.
    crossover_rtt: Option<f64>,
    /// Phase margin for `M` links, in degrees.
    phase_margin_deg: Option<f64>,
    /// Gain margin for `M` links, as a factor.
    gain_margin: Option<f64>,
    /// The same in dB.
    gain_margin_db: Option<f64>,
    /// The gain `η` from which on it is unstable.
    critical_gain: f64,
    /// Moduli of the roots of the closed loop, the largest first.
    root_moduli: Vec<f64>,
    /// 1 if all are below 1, else 0.
    stable: u8,
    /// The Nyquist curve, without the factor `M`.
    curve: NyquistCurve,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NyquistCurve {
    /// Frequencies, in rad/s.
    omega_rad_per_s: Vec<f64>,
    /// Real parts.
    re: Vec<f64>,
    /// Imaginary parts.
    im: Vec<f64>,
}

impl Default for Parameters {
    fn default() -> Self {
        let config = Config::default();
        Self {
            rate: DataRate::from_mbps(1),
            rtt: TimeDelta::from_millis(100),
            utility_weight: config.utility_weight,
            price_scale: config.price_scale,
            gain: config.gain,
            gain_factor: 1.0,
            links: 1,
            other_rates: Vec::new(),
            other_rtts: Vec::new(),
            points: 500,
        }
    }
}

/// Lowest and highest frequency of the curves, in rad per round trip.
const CURVE_RANGE: [f64; 2] = [1e-2, 100.0];
/// Step of the search along the hull, in rad of the longest round trip.
const HULL_STEP: f64 = 5e-3;

impl Analysis for DcccLoop {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "dccc-loop";
    const SUMMARY: &'static str = "DCCC's return ratio: Nyquist curve and margins, continuous and sampled";
    const SOURCE: &'static str = "dccc-2017 eqs (40) to (43), §IV-B";

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        parameters.check()?;
        let flow = parameters.flow(parameters.rate);
        let (rtt, links) = (parameters.rtt.secs_f64(), f64::from(parameters.links));
        let margins = flow.margins(links);
        let encirclements = flow.encirclements(links);
        let hull = parameters.hull_least_real();
        Ok(Results {
            gain_per_s: flow.gain / rtt,
            zero_rad_per_s: (flow.price_scale - flow.price) / rtt,
            zero_bound_rad_per_s: flow.price_scale / rtt,
            pole_rad_per_s: flow.gain * flow.price / rtt,
            pole_bound_rad_per_s: flow.gain * flow.price_scale / rtt,
            crossover_rad_per_s: margins.crossover / rtt,
            crossover_rtt: margins.crossover,
            phase_margin_deg: margins.phase_deg,
            phase_crossover_rad_per_s: margins.phase_crossover / rtt,
            gain_margin: margins.gain,
            gain_margin_db: decibels(margins.gain),
            delay_margin_ms: 1e3 * rtt * margins.phase_deg.to_radians() / margins.crossover,
            encirclements,
            stable: u8::from(encirclements == 0),
            critical_gain: flow.critical_gain(links),
            hull_least_real: hull,
            hull_stable: u8::from(hull > -1.0),
            sampled: parameters.sampled(flow, links),
            curve: parameters.curve(&|w| flow.ratio(w), CURVE_RANGE[1]),
        })
    }
}

impl Parameters {
    fn check(&self) -> Result<(), Problem> {
        let least = "a rate above h/β, below which no flow rests";
        let rests = |rate: DataRate| self.flow(rate).price < self.price_scale;
        check([
            ("utility_weight", moving(self.utility_weight), FASTER),
            ("rate", rests(self.rate), least),
            ("rtt", span(self.rtt), LONGER),
        ])?;
        let rates = self.other_rates.iter().enumerate();
        check(rates.map(|(i, &rate)| (format!("other_rates.{i}"), rests(rate), least)))?;
        let rtts = self.other_rtts.iter().enumerate();
        check(rtts.map(|(i, &rtt)| (format!("other_rtts.{i}"), span(rtt), LONGER)))?;
        let scales = || self.flows().into_iter().map(|(_, scale)| scale);
        let alike = scales().fold(0.0, f64::max) <= 100.0 * scales().fold(f64::INFINITY, f64::min);
        check([
            ("other_rates", self.other_rates.len() <= 50, "50 rates at most"),
            (
                "other_rtts",
                self.other_rtts.len() <= self.other_rates.len(),
                "no more times than `other_rates`",
            ),
            ("other_rtts", alike, "times of which none is more than 100 times another or `rtt`"),
        ])
    }

    fn flow(&self, rate: DataRate) -> Flow {
        Flow {
            gain: self.gain * self.gain_factor,
            price_scale: self.price_scale,
            price: self.utility_weight.bps_f64() / rate.bps_f64(),
        }
    }

    /// Each flow's own curve crosses the axis at minus one over its gain margin; the hull between flows may reach further. The
    /// hull does so only between the first such crossing and the last one. Before, all curves are below the axis, and after it
    /// each is nearer to 0 than its own crossing.
    fn hull_least_real(&self) -> f64 {
        let links = f64::from(self.links);
        let flows = self.flows();
        let crossings = || flows.iter().map(|(flow, scale)| flow.phase_crossover() / scale);
        let (first, last) = (crossings().fold(f64::INFINITY, f64::min), crossings().fold(0.0, f64::max));
        let slowest = flows.iter().map(|(_, scale)| *scale).fold(0.0, f64::max);
        let steps = ((last - first) * slowest / HULL_STEP).ceil() as u32;
        let between = (0..=steps).map(|n| {
            let w = first + (last - first) * f64::from(n) / f64::from(steps.max(1));
            let points: Vec<Complex<f64>> =
                flows.iter().map(|(flow, scale)| flow.ratio(w * scale) * links).collect();
            least_real(&points)
        });
        let alone = flows.iter().map(|(flow, _)| -1.0 / flow.margins(links).gain);
        alone.chain(between).fold(0.0, f64::min)
    }

    /// All flows, and the round-trip time of each over that of the first.
    fn flows(&self) -> Vec<(Flow, f64)> {
        let rtt = self.rtt.secs_f64();
        let others = self.other_rates.iter().enumerate().map(|(index, &rate)| {
            let own = self.other_rtts.get(index).map_or(rtt, |rtt| rtt.secs_f64());
            (self.flow(rate), own / rtt)
        });
        [(self.flow(self.rate), 1.0)].into_iter().chain(others).collect()
    }

    fn sampled(&self, flow: Flow, links: f64) -> OfSampled {
        let sampled = Sampled { flow, links };
        let margins = Margins::of(&|w| sampled.ratio(w), PI);
        let margin_of = |value: fn(&Margins) -> f64| margins.as_ref().map(value);
        OfSampled {
            crossover_rtt: margin_of(|own| own.crossover),
            phase_margin_deg: margin_of(|own| own.phase_deg),
            gain_margin: margin_of(|own| own.gain),
            gain_margin_db: margin_of(|own| decibels(own.gain)),
            critical_gain: sampled.critical_gain(),
            root_moduli: sampled.eigenvalues().iter().map(|root| root.norm()).collect(),
            stable: u8::from(sampled.is_stable()),
            curve: self.curve(&|w| Sampled { flow, links: 1.0 }.ratio(w), PI),
        }
    }

    fn curve(&self, ratio: &dyn Fn(f64) -> Complex<f64>, highest: f64) -> NyquistCurve {
        let shown = frequencies(CURVE_RANGE[0], highest, self.points as usize);
        let values: Vec<Complex<f64>> = shown.iter().map(|&w| ratio(w)).collect();
        NyquistCurve {
            omega_rad_per_s: shown.iter().map(|w| w / self.rtt.secs_f64()).collect(),
            re: values.iter().map(|value| value.re).collect(),
            im: values.iter().map(|value| value.im).collect(),
        }
    }
}

fn decibels(ratio: f64) -> f64 {
    20.0 * libm::log10(ratio)
}

#[cfg(test)]
mod tests;
