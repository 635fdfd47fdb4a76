//! Cases drawn by a seed, so that no controller can be tuned to them.
//!
//! The same seed gives the same bytes on every machine. A case does not depend on the number of cases. `docs/suites.md`
//! has the distribution, and the tests compare the draws with it.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::cases::{
    ALONE_IN_QUEUE, AMONG_LIKE, AMONG_LIKE_BESIDE_CALL, BESIDE_CALL, BESIDE_DROP_TAIL_TCP, BESIDE_MARKED_TCP,
    Case, Suite,
};
use super::check::Check;
use crate::runs::fingerprint;

/// Name of the suite on the command line.
pub const DRAWN: &str = "drawn";
/// Number of cases unless another is given.
pub const USUAL_CASES: u32 = 40;
/// Length of each run in seconds.
const SECONDS: u64 = 60;
/// Least capacity for each judged call, in kbit/s.
const KBPS_PER_CALL: u64 = 200;
/// Recorded traces with their mean rates in kbit/s.
const RECORDED: [(&str, u64); 4] = [
    ("att-lte-driving-2016.up", 1910),
    ("att-lte-driving-2016.down", 4560),
    ("verizon-lte-short.up", 5946),
    ("verizon-lte-short.down", 5028),
];
/// Generated traces, with the mean rates in kbit/s of the recorded ones to which they are fitted.
const GENERATED: [(&str, u64); 2] = [("synthetic-lte", 1910), ("synthetic-lte-downlink", 5028)];

/// Suite of `count` cases drawn by `seed`.
pub fn drawn(seed: u64, count: u32) -> Suite {
    let name =
        if count == USUAL_CASES { format!("{DRAWN}-{seed}") } else { format!("{DRAWN}-{seed}-{count}") };
    Suite {
        name,
        title: format!("{count} cases drawn by the seed {seed}"),
        controllers: Vec::new(),
        cases: (1..=count).map(|number| CaseParameters::new(seed, number).case(number)).collect(),
    }
}

/// Seed for the files of a controller: a hash of their texts, concatenated in the order given.
pub fn seed_of(texts: &[String]) -> u64 {
    // Seeds are below 2⁶³.
    fingerprint(format_args!("{}", texts.concat())) & (u64::MAX >> 1)
}

/// Parameters of a case.
#[derive(Clone, Debug, PartialEq)]
struct CaseParameters {
    capacity: Capacity,
    round_trip_ms: u64,
    queue_ms: u64,
    discipline: DrawnDiscipline,
    loss: DrawnLoss,
    calls: u64,
    max_kbps: u64,
    beside: CompetingTraffic,
    beside_from_s: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum Capacity {
    /// Capacity in kbit/s from each second on.
    Steps(Vec<(u64, u64)>),
    /// Name of a trace, and its scale in per mille.
    Trace(&'static str, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DrawnDiscipline {
    DropTail,
    CoDel,
    DualPi2,
}

/// Loss in per mille, and packets in a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DrawnLoss {
    None,
    Random(u64),
    Bursts(u64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CompetingTraffic {
    Nothing,
    Call(&'static str),
    Tcp(&'static str),
    /// Rate in kbit/s.
    Web(u64),
    Constant(u64),
}

/// Random draws of a case.
struct CaseDraws(Pcg64Mcg);

impl CaseDraws {
    fn below(&mut self, end: u64) -> u64 {
        self.0.random_range(0..end)
    }

    fn between(&mut self, (least, most): (u64, u64)) -> u64 {
        self.0.random_range(least..=most)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// Log-uniform draw.
    fn log(&mut self, least: f64, most: f64) -> u64 {
        let place: f64 = self.0.random();
        (least * libm::pow(most / least, place)).round() as u64
    }
}

impl CaseParameters {
    fn new(seed: u64, number: u32) -> Self {
        // The multiplier spreads the bits of the seed, so that neighbouring seeds or numbers draw unlike cases.
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(number);
        let dice = &mut CaseDraws(Pcg64Mcg::seed_from_u64(mixed));
        let rate = dice.log(200.0, 50_000.0);
        let (capacity, mean) = Capacity::draw(dice, rate);
        let most = (mean / KBPS_PER_CALL).clamp(1, 10);
        let several = dice.below(2) == 1 && most > 1;
        Self {
            capacity,
            round_trip_ms: dice.log(10.0, 600.0),
            queue_ms: dice.log(50.0, 1000.0),
            discipline: match dice.below(10) {
                0..6 => DrawnDiscipline::DropTail,
                6..8 => DrawnDiscipline::CoDel,
                _ => DrawnDiscipline::DualPi2,
            },
            loss: match dice.below(4) {
                0 => DrawnLoss::Random(dice.between((1, 50))),
                1 => DrawnLoss::Bursts(dice.between((1, 50)), dice.between((2, 8))),
                _ => DrawnLoss::None,
            },
            calls: if several { dice.between((2, most)) } else { 1 },
            max_kbps: dice.log(1000.0, 25_000.0),
            beside: match dice.below(10) {
                0..3 => CompetingTraffic::Call(dice.one_of(&["gcc", "nada", "scream-v2"])),
                3 => CompetingTraffic::Tcp(dice.one_of(&["cubic", "newreno"])),
                4 => CompetingTraffic::Web((mean * dice.between((10, 40)) / 100).max(20)),
                5 => CompetingTraffic::Constant((mean * dice.between((10, 50)) / 100).max(20)),
                _ => CompetingTraffic::Nothing,
            },
            beside_from_s: dice.below(31),
        }
    }

    fn case(&self, number: u32) -> Case {
        let name = format!("{number:02}");
        Case {
            title: self.title(),
            scenario: format!("{DRAWN}/{name}"),
            name,
            text: Some(self.scenario()),
            set: Vec::new(),
            checks: self.checks().to_vec(),
            preset: None,
            swept: None,
            from: None,
            judges_load: false,
            bound_known: false,
        }
    }

    /// Checks of the case. Beside a TCP flow in a drop-tail queue TCP determines the delay, and only shares and losses
    /// count.
    fn checks(&self) -> &'static [Check] {
        match (self.beside, self.discipline) {
            (CompetingTraffic::Tcp(_), DrawnDiscipline::DropTail) => BESIDE_DROP_TAIL_TCP,
            (CompetingTraffic::Tcp(_), _) => BESIDE_MARKED_TCP,
            (CompetingTraffic::Call(_), _) if self.calls > 1 => AMONG_LIKE_BESIDE_CALL,
            (CompetingTraffic::Call(_), _) => BESIDE_CALL,
            _ if self.calls > 1 => AMONG_LIKE,
            _ => ALONE_IN_QUEUE,
        }
    }

    fn title(&self) -> String {
        let mbps = |kbps: u64| format!("{}.{:03}", kbps / 1000, kbps % 1000);
        let capacity = match &self.capacity {
            Capacity::Steps(steps) => {
                let rates: Vec<String> = steps.iter().map(|&(_, kbps)| mbps(kbps)).collect();
                format!("{} Mbit/s", rates.join(", "))
            }
            Capacity::Trace(name, scale) => format!("{}.{:03} of {name}", scale / 1000, scale % 1000),
        };
        let discipline = match self.discipline {
            DrawnDiscipline::DropTail => "drop-tail",
            DrawnDiscipline::CoDel => "CoDel",
            DrawnDiscipline::DualPi2 => "DualPI2",
        };
        let percent = |mille: u64| format!("{}.{} %", mille / 10, mille % 10);
        let loss = match self.loss {
            DrawnLoss::None => String::new(),
            DrawnLoss::Random(mille) => format!(", loss {}", percent(mille)),
            DrawnLoss::Bursts(mille, burst) => format!(", loss {} in bursts of {burst}", percent(mille)),
        };
        let calls = if self.calls == 1 { "one call".to_owned() } else { format!("{} calls", self.calls) };
        let beside = match self.beside {
            CompetingTraffic::Nothing => String::new(),
            CompetingTraffic::Call(other) | CompetingTraffic::Tcp(other) => format!(" beside {other}"),
            CompetingTraffic::Web(kbps) => format!(" beside web traffic of {} Mbit/s", mbps(kbps)),
            CompetingTraffic::Constant(kbps) => format!(" beside constant {} Mbit/s", mbps(kbps)),
        };
        let (round_trip, queue) = (self.round_trip_ms, self.queue_ms);
        format!("{capacity}, round trip {round_trip} ms, {discipline} of {queue} ms{loss}, {calls}{beside}")
    }

    /// Text of the scenario file.
    fn scenario(&self) -> String {
        let mut text = format!("title = \"{}\"\nduration = \"{SECONDS}s\"\n", self.title());
        // Writing into a string does not fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let there = self.round_trip_ms / 2;
        let back = self.round_trip_ms - there;
        writeln!(out, "\n[links.forward]\nfrom = \"here\"\nto = \"there\"\ndelay = \"{there}ms\"")?;
        match &self.capacity {
            Capacity::Steps(steps) => {
                let step = |&(at, kbps): &(u64, u64)| format!("{{ at = \"{at}s\", rate = \"{kbps}kbps\" }}");
                let steps: Vec<String> = steps.iter().map(step).collect();
                writeln!(out, "steps = [{}]", steps.join(", "))?;
            }
            Capacity::Trace(name, scale) => {
                writeln!(out, "trace = \"{name}\"\ntrace_offset = \"random\"")?;
                writeln!(out, "trace_scale = {}.{:03}", scale / 1000, scale % 1000)?;
            }
        }
        match self.loss {
            DrawnLoss::None => {}
            DrawnLoss::Random(mille) => writeln!(out, "loss = 0.{mille:03}")?,
            DrawnLoss::Bursts(mille, burst) => {
                writeln!(out, "loss = {{ kind = \"bursts\", mean = 0.{mille:03}, burst = {burst} }}")?;
            }
        }
        let discipline = match self.discipline {
            DrawnDiscipline::DropTail => "drop-tail",
            DrawnDiscipline::CoDel => "codel",
            DrawnDiscipline::DualPi2 => "dualpi2",
        };
        writeln!(out, "queue = {{ time = \"{}ms\", discipline = \"{discipline}\" }}", self.queue_ms)?;
        writeln!(
            out,
            "\n[links.back]\nfrom = \"there\"\nto = \"here\"\ndelay = \"{back}ms\"\nrate = \"100Mbps\"\nqueue = {{ time = \"300ms\" }}"
        )?;
        writeln!(out, "\n[flows.call]\nkind = \"media\"\nfrom = \"here\"\nto = \"there\"")?;
        if self.calls > 1 {
            writeln!(out, "count = {}\nstart_spread = \"10s\"", self.calls)?;
        }
        self.write_media(out, "gcc")?;
        self.write_beside(out)
    }

    fn write_media(&self, out: &mut String, controller: &str) -> std::fmt::Result {
        let max = self.max_kbps;
        writeln!(out, "controller = \"{controller}\"\necn = \"by-controller\"")?;
        writeln!(
            out,
            "encoder = {{ preset = \"papers\", min_rate = \"50kbps\", max_rate = \"{max}kbps\", skip_above = \"100ms\" }}"
        )?;
        writeln!(out, "rates = {{ min = \"50kbps\", start = \"300kbps\", max = \"{max}kbps\" }}")
    }

    fn write_beside(&self, out: &mut String) -> std::fmt::Result {
        let kind = match self.beside {
            CompetingTraffic::Nothing => return Ok(()),
            CompetingTraffic::Call(_) => "media",
            CompetingTraffic::Tcp(_) => "tcp",
            CompetingTraffic::Web(_) => "web",
            CompetingTraffic::Constant(_) => "constant",
        };
        writeln!(out, "\n[flows.other]\nkind = \"{kind}\"\nfrom = \"here\"\nto = \"there\"")?;
        writeln!(out, "start = \"{}s\"", self.beside_from_s)?;
        match self.beside {
            CompetingTraffic::Nothing => Ok(()),
            CompetingTraffic::Call(controller) => {
                writeln!(out, "competitor = true")?;
                self.write_media(out, controller)
            }
            CompetingTraffic::Tcp(algorithm) => writeln!(out, "algorithm = \"{algorithm}\""),
            CompetingTraffic::Web(kbps) => writeln!(out, "load = \"{kbps}kbps\""),
            CompetingTraffic::Constant(kbps) => writeln!(out, "rate = \"{kbps}kbps\""),
        }
    }
}

impl Capacity {
    /// Draws a capacity. The second value is the mean rate that calls can count on, in kbit/s.
    fn draw(dice: &mut CaseDraws, kbps: u64) -> (Self, u64) {
        let scaled = |dice: &mut CaseDraws, all: &[(&'static str, u64)]| {
            let (name, mean) = dice.one_of(all);
            let scale = dice.log(250.0, 4000.0);
            (Self::Trace(name, scale), mean * scale / 1000)
        };
        match dice.below(10) {
            0..4 => (Self::Steps(vec![(0, kbps)]), kbps),
            4..7 => {
                let mut at: Vec<u64> = (0..dice.between((1, 3))).map(|_| dice.between((20, 50))).collect();
                at.sort_unstable();
                at.dedup();
                let later: Vec<(u64, u64)> = at
                    .into_iter()
                    .map(|at| (at, (kbps * dice.log(250.0, 4000.0) / 1000).clamp(200, 50_000)))
                    .collect();
                let least = later.iter().map(|&(_, kbps)| kbps).fold(kbps, u64::min);
                (Self::Steps([vec![(0, kbps)], later].concat()), least)
            }
            7..9 => scaled(dice, &RECORDED),
            _ => scaled(dice, &GENERATED),
        }
    }
}
