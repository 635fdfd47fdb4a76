//! `dccc-loop`.

use core::f64::consts::PI;

use nalgebra::Complex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::dccc::Config;
use weir_units::{DataRate, TimeDelta};

use super::Flow;
use super::hull::least_real;
use super::margins::{Margins, encirclements, frequencies};
use super::sampled::Sampled;
use crate::analysis::entry::Analysis;
use crate::analysis::range::{FASTER, LONGER, check, moving, span};
use crate::form::Problem;

/// Loop gain, Nyquist curve and margins of a flow at rest.
pub(in crate::analysis) struct Loop;

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
    /// So many times `k_r`.
    #[schemars(range(min = 0.001, max = 1000.0))]
    gain_factor: f64,
    /// `M`, links with a queue on the longest route.
    #[schemars(range(min = 1, max = 100))]
    links: u32,
    /// Rates of flows besides, of the same constants: corners of the convex hull of eq. (40).
    other_rates: Vec<DataRate>,
    /// Their round-trip times, in order; that of the flow where there are fewer.
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
    /// Frequency at which `M` times the gain is 1, in rad/s; null if there is none, as with all margins.
    crossover_rad_per_s: Option<f64>,
    /// The same times the round-trip time.
    crossover_rtt: Option<f64>,
    /// Phase margin for `M` links, in degrees; negative if it is unstable.
    phase_margin_deg: Option<f64>,
    /// Frequency at which the phase is −180°, in rad/s.
    phase_crossover_rad_per_s: Option<f64>,
    /// Gain margin for `M` links, as a factor.
    gain_margin: Option<f64>,
    /// The same in dB.
    gain_margin_db: Option<f64>,
    /// Delay that can be added before it is unstable, in ms.
    delay_margin_ms: Option<f64>,
    /// How often `M` times the curve goes round −1 clockwise.
    encirclements: i32,
    /// 1 if it does not, else 0.
    stable: u8,
    /// The gain `η` from which on it does.
    critical_gain: f64,
    /// The least real number in the hull of eq. (40) over all frequencies: above −1 all flows together are stable.
    hull_least_real: f64,
    /// 1 if it is above −1, else 0.
    hull_stable: u8,
    /// The controller that computes once in a round trip.
    sampled: OfSampled,
    /// The Nyquist curve of eq. (43), without the factor `M`.
    curve: Curve,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OfSampled {
    /// Frequency at which `M` times the gain is 1, in rad per round trip.
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
    curve: Curve,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Curve {
    /// Frequencies, in rad/s.
    omega_rad_per_s: Vec<f64>,
    /// Real parts.
    re: Vec<f64>,
    /// Imaginary parts.
    im: Vec<f64>,
}

impl Default for Parameters {
    fn default() -> Self {
        let law = Config::default();
        Self {
            rate: DataRate::from_mbps(1),
            rtt: TimeDelta::from_millis(100),
            utility_weight: law.utility_weight,
            price_scale: law.price_scale,
            gain: law.gain,
            gain_factor: 1.0,
            links: 1,
            other_rates: Vec::new(),
            other_rtts: Vec::new(),
            points: 500,
        }
    }
}

/// Frequencies of interest end here, in rad per round trip.
const HIGHEST: f64 = 100.0;
/// Curves begin here, in rad per round trip.
const LOWEST_SHOWN: f64 = 1e-2;

impl Analysis for Loop {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "dccc-loop";
    const SUMMARY: &'static str = "DCCC's return ratio: Nyquist curve and margins, continuous and sampled";
    const SOURCE: &'static str = "dccc-2017 eqs (40) to (43), §IV-B";

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        parameters.check()?;
        let flow = parameters.flow(parameters.rate);
        let (rtt, links) = (parameters.rtt.secs_f64(), f64::from(parameters.links));
        let ratio = |w: f64| flow.ratio(w) * links;
        let margins = Margins::of(&ratio, HIGHEST);
        let of = |value: fn(&Margins) -> f64| margins.as_ref().map(value);
        let encirclements = encirclements(&ratio, HIGHEST);
        let hull = parameters.hull_least_real(of(|own| own.gain));
        Ok(Results {
            gain_per_s: flow.gain / rtt,
            zero_rad_per_s: (flow.price_scale - flow.price) / rtt,
            zero_bound_rad_per_s: flow.price_scale / rtt,
            pole_rad_per_s: flow.gain * flow.price / rtt,
            pole_bound_rad_per_s: flow.gain * flow.price_scale / rtt,
            crossover_rad_per_s: of(|own| own.crossover).map(|w| w / rtt),
            crossover_rtt: of(|own| own.crossover),
            phase_margin_deg: of(|own| own.phase_deg),
            phase_crossover_rad_per_s: of(|own| own.phase_crossover).map(|w| w / rtt),
            gain_margin: of(|own| own.gain),
            gain_margin_db: of(|own| decibels(own.gain)),
            delay_margin_ms: of(|own| own.phase_deg.to_radians() / own.crossover).map(|w| 1e3 * w * rtt),
            encirclements,
            stable: u8::from(encirclements == 0),
            critical_gain: critical_gain(flow, links),
            hull_least_real: hull,
            hull_stable: u8::from(hull > -1.0),
            sampled: parameters.sampled(flow, links),
            curve: parameters.curve(&|w| flow.ratio(w), HIGHEST),
        })
    }
}

impl Parameters {
    fn check(&self) -> Result<(), Problem> {
        let least = "a rate above h/β, below which no flow rests";
        let rests = |rate: DataRate| rate.bps_f64() * self.price_scale > self.utility_weight.bps_f64();
        check([
            ("utility_weight", moving(self.utility_weight), FASTER),
            ("rate", rests(self.rate), least),
            ("rtt", span(self.rtt), LONGER),
        ])?;
        let rates = self.other_rates.iter().enumerate();
        check(rates.map(|(i, &rate)| (format!("other_rates.{i}"), rests(rate), least)))?;
        let rtts = self.other_rtts.iter().enumerate();
        check(rtts.map(|(i, &rtt)| (format!("other_rtts.{i}"), span(rtt), LONGER)))
    }

    fn flow(&self, rate: DataRate) -> Flow {
        Flow {
            gain: self.gain * self.gain_factor,
            price_scale: self.price_scale,
            price: self.utility_weight.bps_f64() / rate.bps_f64(),
        }
    }

    /// Each flow's own curve crosses the axis at minus one over its gain margin; the hull between flows may reach further.
    fn hull_least_real(&self, gain_margin: Option<f64>) -> f64 {
        let links = f64::from(self.links);
        let rtt = self.rtt.secs_f64();
        let others = self.other_rates.iter().enumerate().map(|(index, &rate)| {
            let own = self.other_rtts.get(index).map_or(rtt, |rtt| rtt.secs_f64());
            (self.flow(rate), own / rtt)
        });
        let flows: Vec<(Flow, f64)> = [(self.flow(self.rate), 1.0)].into_iter().chain(others).collect();
        let alone =
            flows[1..].iter().filter_map(|(flow, _)| Margins::of(&|w| flow.ratio(w) * links, HIGHEST));
        let alone = alone.map(|margins| margins.gain).chain(gain_margin).map(|gain| -1.0 / gain);
        let between = frequencies(LOWEST_SHOWN, HIGHEST, 5000).into_iter().map(|w| {
            let points: Vec<Complex<f64>> =
                flows.iter().map(|(flow, scale)| flow.ratio(w * scale) * links).collect();
            least_real(&points)
        });
        alone.chain(between).fold(0.0, f64::min)
    }

    fn sampled(&self, flow: Flow, links: f64) -> OfSampled {
        let sampled = Sampled { flow, links };
        let margins = Margins::of(&|w| sampled.ratio(w), PI);
        let of = |value: fn(&Margins) -> f64| margins.as_ref().map(value);
        OfSampled {
            crossover_rtt: of(|own| own.crossover),
            phase_margin_deg: of(|own| own.phase_deg),
            gain_margin: of(|own| own.gain),
            gain_margin_db: of(|own| decibels(own.gain)),
            critical_gain: sampled.critical_gain(),
            root_moduli: sampled.eigenvalues().iter().map(|root| root.norm()).collect(),
            stable: u8::from(sampled.is_stable()),
            curve: self.curve(&|w| Sampled { flow, links: 1.0 }.ratio(w), PI),
        }
    }

    fn curve(&self, ratio: &dyn Fn(f64) -> Complex<f64>, highest: f64) -> Curve {
        let shown = frequencies(LOWEST_SHOWN, highest, self.points as usize);
        let values: Vec<Complex<f64>> = shown.iter().map(|&w| ratio(w)).collect();
        Curve {
            omega_rad_per_s: shown.iter().map(|w| w / self.rtt.secs_f64()).collect(),
            re: values.iter().map(|value| value.re).collect(),
            im: values.iter().map(|value| value.im).collect(),
        }
    }
}

fn decibels(ratio: f64) -> f64 {
    20.0 * libm::log10(ratio)
}

/// The least gain at which the gain margin is gone; the pole moves with it.
fn critical_gain(flow: Flow, links: f64) -> f64 {
    let stable = |gain: f64| {
        let changed = Flow { gain, ..flow };
        Margins::of(&|w| changed.ratio(w) * links, HIGHEST).is_none_or(|margins| margins.gain > 1.0)
    };
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..24 {
        let middle = f64::midpoint(low, high);
        if stable(middle) { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests;
