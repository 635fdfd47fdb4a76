//! Analysis `queue-gradient`: the queue model of gcc-2016, eqs (1) and (2), compared with a link of the simulator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_net::{Link, LinkConfig, Packet, QueueConfig, Service, Time};
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::analysis::entry::Analysis;
use crate::analysis::range::{FASTER, LONGER, affordable, check, moving, refused, span};
use weir_form::Problem;

/// Eqs. (1) and (2).
pub(in crate::analysis) struct Gradient;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::analysis) struct Parameters {
    /// `C`.
    capacity: DataRate,
    /// `q_M/C`, the longest queue; ten packets at least, and an hour at most.
    buffer: TimeDelta,
    /// Size of the packets on the wire: at most 65 kB, and at least the bytes that the link sends in a microsecond.
    packet: DataSize,
    /// `r/C` of the phase that fills the queue.
    #[schemars(range(min = 1.01, max = 10.0))]
    overload: f64,
    /// `r/C` of the phases that do not fill it.
    #[schemars(range(min = 0.01, max = 0.99))]
    underload: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::analysis) struct Results {
    /// The phases, in order of time.
    phases: Vec<Phase>,
    /// The greatest distance of a measured slope from the predicted one, over the overload's slope.
    largest_error: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Phase {
    /// Name of the phase.
    name: &'static str,
    /// `r`, in bit/s.
    rate_bps: f64,
    /// `dT_q/dt` by the slope of the link's backlog, in s/s.
    measured: f64,
    /// `(r − C)/C`, or 0 where the queue is empty or full, in s/s.
    predicted: f64,
    /// Backlog at the end of the phase, in ms.
    queue_ms: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            capacity: DataRate::from_mbps(1),
            buffer: TimeDelta::from_millis(300),
            packet: DataSize::from_bytes(100),
            overload: 1.5,
            underload: 0.5,
        }
    }
}

/// Greatest number of packets, which take a second or two.
const MAX_PACKETS: f64 = 5e6;

impl Analysis for Gradient {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "queue-gradient";
    const SUMMARY: &'static str = "How fast the queue of the simulator's link grows, beside the model";
    const SOURCE: &'static str = "gcc-2016 eqs (1), (2)";

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        parameters.check()?;
        let phases = parameters.phases()?;
        let scale = parameters.overload - 1.0;
        let errors = phases.iter().map(|phase| (phase.measured - phase.predicted).abs() / scale);
        Ok(Results { largest_error: errors.fold(0.0, f64::max), phases })
    }
}

impl Parameters {
    fn check(&self) -> Result<(), Problem> {
        check([
            ("capacity", moving(self.capacity), FASTER),
            ("buffer", span(self.buffer), LONGER),
            ("packet", (1..=65_000).contains(&self.packet.bytes()), "a size from 1 B to 65 kB"),
        ])?;
        let room = 10.0 * self.packet.bits_f64() <= self.capacity.bps_f64() * self.buffer.secs_f64();
        let visible = self.packet.bits_f64() >= 1e-6 * self.capacity.bps_f64();
        check([
            ("buffer", room, "a time in which ten packets leave"),
            ("buffer", self.buffer <= TimeDelta::from_secs(3600), "a time up to 1 h"),
            ("packet", visible, "a size for which `capacity` takes a microsecond or longer"),
        ])?;
        let packets = self.capacity.bps_f64() / self.packet.bits_f64()
            * self.course().iter().map(|(_, load, time, _)| load * time).sum::<f64>();
        affordable(
            "capacity",
            packets,
            MAX_PACKETS,
            "packets are sent",
            "`capacity` and `buffer` or a larger `packet`",
        )
    }

    /// Name, load, duration in s and predicted slope of all parts; parts without a name are not measured.
    fn course(&self) -> [LoadPart; 7] {
        let (over, under) = (self.overload, self.underload);
        let (fill, drain) = (over - 1.0, 1.0 - under);
        let buffer = self.buffer.secs_f64();
        [
            (Some("empty"), under, buffer, 0.0),
            (Some("filling"), over, 0.5 * buffer / fill, fill),
            (Some("standing"), 1.0, buffer, 0.0),
            (Some("draining"), under, 0.25 * buffer / drain, -drain),
            (Some("filling-again"), over, 0.5 * buffer / fill, fill),
            (None, over, buffer / fill, fill),
            (Some("full"), over, buffer, 0.0),
        ]
    }

    /// The phases: empty, filling to half of its limit, constant, draining in part, filling until full, full.
    fn phases(&self) -> Result<Vec<Phase>, Problem> {
        let service = Service::Constant(self.capacity);
        let queue = QueueConfig { limit_time: Some(self.buffer), ..QueueConfig::default() };
        let config = LinkConfig { queue, ..LinkConfig::new(service, TimeDelta::ZERO) };
        let link = Link::new(&config, 1).map_err(|error| refused("capacity", &error.to_string()))?;
        let mut source = LoadSource { link, parameters: self, now: 0.0 };
        Ok(self.course().into_iter().filter_map(|part| source.phase(part)).collect())
    }
}

/// Name, load, duration and predicted slope of a part.
type LoadPart = (Option<&'static str>, f64, f64, f64);

#[derive(Debug)]
struct SizedPacket(u32);

impl Packet for SizedPacket {
    fn wire_size(&self) -> u32 {
        self.0
    }
}

struct LoadSource<'p> {
    link: Link<SizedPacket>,
    parameters: &'p Parameters,
    /// Present time, in seconds.
    now: f64,
}

impl LoadSource<'_> {
    /// Sends at `load` times the capacity for `duration` seconds; returns the queue in s after each packet, with its time.
    fn send(&mut self, load: f64, duration: f64) -> Vec<(f64, f64)> {
        let capacity = self.parameters.capacity.bps_f64();
        let bits = self.parameters.packet.bits_f64();
        let interval = bits / (load * capacity);
        let packets = (duration / interval).floor().max(2.0) as usize;
        let mut seen = Vec::with_capacity(packets);
        for _ in 0..packets {
            let at = Time::from_nanos((1e9 * self.now).round() as u64);
            while self.link.pop(at).is_some() {}
            // A packet that does not fit into the queue is lost, as in eq. (2).
            let _ = self.link.enqueue(at, SizedPacket(self.parameters.packet.bytes() as u32));
            seen.push((self.now, self.link.backlog(at).bytes.bits_f64() / capacity));
            self.now += interval;
        }
        seen
    }

    /// Sends a part, and measures it if it has a name.
    fn phase(&mut self, (name, load, duration, predicted): LoadPart) -> Option<Phase> {
        let seen = self.send(load, duration);
        name.map(|name| Phase {
            name,
            rate_bps: load * self.parameters.capacity.bps_f64(),
            measured: slope(&seen),
            predicted,
            queue_ms: seen.last().map_or(0.0, |(_, queue)| 1e3 * queue),
        })
    }
}

/// Slope by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let products: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    products / points.iter().map(|point| (point.0 - x) * (point.0 - x)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_follows_the_model_within_two_per_cent() {
        for (mbps, packet) in [(1, 100), (5, 400)] {
            let parameters = Parameters {
                capacity: DataRate::from_mbps(mbps),
                packet: DataSize::from_bytes(packet),
                ..Parameters::default()
            };
            let results = Gradient::run(&parameters).unwrap();
            assert!(results.largest_error < 0.02, "{results:?}");
            let predicted: Vec<f64> = results.phases.iter().map(|phase| phase.predicted).collect();
            assert_eq!(predicted, [0.0, 0.5, 0.0, -0.5, 0.5, 0.0]);
        }
    }

    #[test]
    fn long_analyses_are_refused_with_a_shorter_setting() {
        let of = |gbps: u64, buffer, bytes| Parameters {
            capacity: DataRate::from_mbps(1000 * gbps),
            buffer: TimeDelta::from_millis(buffer),
            packet: DataSize::from_bytes(bytes),
            ..Parameters::default()
        };
        let long = Gradient::run(&of(100, 3_600_000, 65_000)).unwrap_err();
        assert_eq!(long.message, "`capacity` is out of range");
        assert!(long.help.unwrap().contains("`buffer`"));
        assert!(Gradient::run(&of(100, 100, 100)).unwrap_err().message.contains("`packet`"));
        assert!(Gradient::run(&of(1, 7_200_000, 65_000)).unwrap_err().message.contains("`buffer`"));
        assert!(Gradient::run(&of(1, 100, 1500)).unwrap().largest_error < 0.02);
    }

    #[test]
    fn a_line_has_its_slope() {
        assert!((slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) - 2.0).abs() < 1e-12);
    }
}
