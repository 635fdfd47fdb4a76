//! Random paths with known capacity.

use core::fmt::Write as _;

use rand::{RngExt as _, SeedableRng as _};

/// A path with known capacity.
#[derive(Clone, Debug)]
pub(crate) struct KnownPath {
    /// Name for messages.
    pub(crate) name: String,
    /// Capacity from each time in milliseconds on, in kbit/s.
    pub(crate) steps: Vec<(u64, u64)>,
    /// The other keys of the forward link.
    pub(crate) link: String,
    /// Delay of the way back in milliseconds.
    pub(crate) delay_ms: u64,
    /// Controller of the call.
    pub(crate) controller: &'static str,
    /// Seed of the call.
    pub(crate) seed: u64,
    /// Length in seconds.
    pub(crate) seconds: u64,
}

/// The flow of all calls.
pub(crate) const FLOW: &str = r#"
[flows.call]
kind = "media"
from = "sender"
to = "receiver"
controller = "gcc"
encoder = { preset = "papers", max_rate = "2.5Mbps", size_noise = 0.1, skip_above = "100ms" }
rates = { min = "50kbps", start = "300kbps", max = "2.5Mbps" }
"#;

impl KnownPath {
    /// The path and the call over it.
    pub(crate) fn scenario(&self) -> String {
        let steps: String = self.steps.iter().fold(String::new(), |mut steps, (at, kbps)| {
            let _ = write!(steps, "{{ at = \"{at}ms\", rate = \"{kbps}kbps\" }}, ");
            steps
        });
        let Self { link, delay_ms, seconds, .. } = self;
        format!(
            "title = \"known\"\nduration = \"{seconds}s\"\n[links.forward]\nfrom = \"sender\"\nto = \"receiver\"\n{link}\nsteps = \
             [{steps}]\n[links.back]\nfrom = \"receiver\"\nto = \"sender\"\ndelay = \"{delay_ms}ms\"\nrate = \"100Mbps\"\n{FLOW}"
        )
    }

    /// Mean capacity of a second in bit/s.
    pub(crate) fn capacity(&self, second: usize) -> f64 {
        let (from, to) = (second as u64 * 1000, second as u64 * 1000 + 1000);
        let ends = self.steps.iter().skip(1).map(|step| step.0).chain([u64::MAX]);
        let parts = self.steps.iter().zip(ends).map(|(&(at, kbps), end)| {
            let overlap = end.min(to).saturating_sub(at.max(from));
            (overlap * kbps) as f64
        });
        parts.sum()
    }
}

/// `count` paths: constant, with a few steps, with a random walk; with and without jitter and loss; queues in time
/// and in bytes.
pub(crate) fn random(count: usize, seconds: u64, set: u64) -> Vec<KnownPath> {
    let controllers = ["gcc", "nada", "scream-v2"];
    let path = |index: usize| {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(1000 * set + index as u64);
        let mut rate = || random.random_range(400..=3000u64);
        let mut steps = vec![(0, rate())];
        let end = seconds * 1000;
        let kind = match index % 4 {
            0 => "constant",
            1 | 3 => {
                let count = 2 + index as u64 % 3;
                for step in 1..=count {
                    let at = end * step / (count + 1) + 37 * (index as u64 % 20);
                    steps.push((at, rate()));
                }
                "steps"
            }
            _ => {
                let mut at = 0;
                let mut kbps = steps[0].1 as f64;
                loop {
                    at += random.random_range(1000..=4000u64);
                    if at >= end {
                        break;
                    }
                    kbps = (kbps * random.random_range(0.75..1.33)).clamp(400.0, 3000.0);
                    steps.push((at, kbps as u64));
                }
                "walk"
            }
        };
        let delay_ms = random.random_range(10..=80u64);
        let queue = if random.random_bool(0.5) {
            format!("{{ time = \"{}ms\" }}", random.random_range(100..=400u64))
        } else {
            format!("{{ bytes = \"{}B\" }}", random.random_range(20_000..=90_000u64))
        };
        let jitter = match index % 5 {
            1 => "jitter = { kind = \"half-normal\", sd = \"1ms\", max = \"3ms\" }",
            3 => "jitter = { kind = \"half-normal\", sd = \"3ms\", max = \"9ms\" }",
            _ => "",
        };
        let loss = match index % 6 {
            2 => "loss = 0.01",
            4 => "loss = 0.03",
            _ => "",
        };
        KnownPath {
            name: format!("{index} {kind}"),
            steps,
            link: format!("delay = \"{delay_ms}ms\"\nqueue = {queue}\n{jitter}\n{loss}"),
            delay_ms,
            controller: controllers[index % 3],
            seed: 1000 * set + index as u64,
            seconds,
        }
    };
    (0..count).map(path).collect()
}
