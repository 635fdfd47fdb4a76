//! The inferred path as a scenario.

use core::fmt::Write as _;

use super::path::{CapacitySecond, InferredPath, PathEnd, QueueLimit};

/// Limits of a queue that was never seen full, unless more was seen, in microseconds: at the lower end, in the
/// middle, at the upper end.
const USUAL_QUEUES_US: [i64; 3] = [100_000, 300_000, 500_000];
/// Start rate without a recorded one, in bit/s.
const USUAL_START_BPS: u64 = 300_000;

/// A rate of the forward link from a time on, with a remark.
struct RateStep {
    from_us: i64,
    kbps: u64,
    remark: String,
}

impl InferredPath {
    /// A complete scenario: the path, and a video flow over it. Where no figure is known, the capacity is that end of
    /// the band.
    pub fn scenario(&self, end: PathEnd) -> String {
        let mut text = String::new();
        let known = (100.0 * self.coverage()).round();
        let capacity = match (self.coverage() > 0.0, end) {
            (true, PathEnd::Low) => {
                format!("known in {known} % of the seconds, the lower end of the band elsewhere")
            }
            (true, PathEnd::Middle) => {
                format!("known in {known} % of the seconds, the figures nearby elsewhere")
            }
            (true, PathEnd::High) => {
                format!("known in {known} % of the seconds, the upper end of the band elsewhere")
            }
            (false, PathEnd::Low) => "unknown, taken as the least that got through".to_owned(),
            (false, PathEnd::Middle) => "unknown, taken within the band of what got through".to_owned(),
            (false, PathEnd::High) => "unknown, taken as the open end above what got through".to_owned(),
        };
        let seconds = seconds(self.duration_us);
        let shared = match (100.0 * self.shared()).round() {
            0.0 => String::new(),
            share => format!("; beside other traffic in {share} %, where the capacity is at least that"),
        };
        let weak = if self.is_weak { "; without departures, a lower bound" } else { "" };
        let mut line = |line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        line("# Made by `weir infer`. Rates count bytes on the wire, IP header included.");
        line(&format!("title = \"The path behind a call of {seconds}: capacity {capacity}{shared}{weak}\""));
        line(&format!("duration = \"{seconds}\""));
        line("");
        line(&self.forward_link(end));
        line(&self.back_link());
        line(&self.flow());
        text
    }

    /// The table of the link from sender to receiver.
    pub fn forward_link(&self, end: PathEnd) -> String {
        let mut text = String::from("[links.forward]\nfrom = \"sender\"\nto = \"receiver\"\n");
        let mut line = |key: String, remark: &str| {
            // Writing to a string does not fail.
            let _ =
                if remark.is_empty() { writeln!(text, "{key}") } else { writeln!(text, "{key} # {remark}") };
        };
        let delay = match (self.delay.is_assumed, self.delay.is_one_way) {
            (true, _) => "a usual value; the recording has no round trip",
            (false, true) => "least one-way delay, without service",
            (false, false) => "half of the least round trip",
        };
        line(format!("delay = \"{}\"", millis(self.delay.forward_us)), delay);
        let (queue, remark) = self.queue_table(end);
        line(format!("queue = {queue}"), &remark);
        if self.jitter.sd_us > 0 {
            let jitter = self.jitter;
            let (sd, most) = (millis(jitter.sd_us), millis(jitter.most_us));
            line(
                format!("jitter = {{ kind = \"half-normal\", sd = \"{sd}\", max = \"{most}\" }}"),
                "spread of the delay without a queue",
            );
        }
        let loss = self.loss;
        let share = loss.at(end);
        if share > 0.0 {
            let where_lost =
                if self.is_weak { "at random or at a full queue" } else { "without a full queue" };
            let remark = format!("losses among {} packets {where_lost}", loss.packets);
            let share = (share * 1e5).round() / 1e5;
            if loss.burst >= 1.5 {
                let burst = (loss.burst * 100.0).round() / 100.0;
                line(format!("loss = {{ kind = \"bursts\", mean = {share}, burst = {burst} }}"), &remark);
            } else {
                line(format!("loss = {share}"), &remark);
            }
        }
        line("steps = [".to_owned(), "");
        for step in self.steps(end) {
            let at = millis(step.from_us);
            line(format!("    {{ at = \"{at}\", rate = \"{}kbps\" }},", step.kbps), &step.remark);
        }
        line("]".to_owned(), "");
        text
    }

    /// The table of the link from receiver to sender.
    pub fn back_link(&self) -> String {
        let delay = millis(self.delay.back_us);
        format!(
            "[links.back]\nfrom = \"receiver\"\nto = \"sender\"\ndelay = \"{delay}\"\nrate = \"100Mbps\" # unknown; taken as \
             wide\n"
        )
    }

    fn queue_table(&self, end: PathEnd) -> (String, String) {
        let usual = match end {
            PathEnd::Low => USUAL_QUEUES_US[0],
            PathEnd::Middle => USUAL_QUEUES_US[1],
            PathEnd::High => USUAL_QUEUES_US[2],
        };
        let time = |us: i64| format!("{{ time = \"{}\" }}", millis(us));
        let limit = match (end, self.queue.limit, self.queue.other) {
            // At a low rate a limit in bytes is the longer time, at a high one the shorter.
            (PathEnd::Low, QueueLimit::Time(_), Some(other))
            | (PathEnd::High, QueueLimit::Bytes(_), Some(other)) => other,
            (_, limit, _) => limit,
        };
        match (self.queue.was_full, limit) {
            (true, QueueLimit::Time(us)) => {
                let remark = format!("the longest wait at {} losses", self.loss.at_full_queue);
                (time(us.max(1000)), remark)
            }
            (true, QueueLimit::Bytes(bytes)) => {
                let remark = format!("the longest queue at {} losses", self.loss.at_full_queue);
                (format!("{{ bytes = \"{}B\" }}", bytes.max(1500)), remark)
            }
            (false, QueueLimit::Bytes(_)) => (time(usual), "a usual value; never full".to_owned()),
            (false, QueueLimit::Time(us)) => {
                (time(us.max(usual)), format!("never full: at least {}; a usual value", millis(us)))
            }
        }
    }

    fn steps(&self, end: PathEnd) -> Vec<RateStep> {
        let nearby = nearby(&self.seconds);
        let mut steps: Vec<RateStep> = Vec::new();
        let mut push = |from_us: i64, bps: f64, remark: String| {
            let kbps = ((bps / 1000.0).round() as u64).max(1);
            if steps.last().is_none_or(|last| last.kbps != kbps || last.remark != remark) {
                steps.push(RateStep { from_us, kbps, remark });
            }
        };
        for (second, nearby) in self.seconds.iter().zip(nearby) {
            let Some(bps) = second.bps else {
                let remark = format!("no queue: {} kbit/s or more", (second.low_bps / 1000.0).round());
                push(second.from_us, second.at(end, nearby), remark);
                continue;
            };
            let remark = remark(second, bps);
            let bps = if second.is_shared && end == PathEnd::High { second.high_bps } else { bps };
            if second.pieces.len() < 2 || second.is_shared {
                push(second.from_us, bps, remark);
                continue;
            }
            for piece in &second.pieces {
                push(piece.from_us, piece.bps, remark.clone());
            }
        }
        steps
    }

    fn flow(&self) -> String {
        let most = self.most_bps.div_ceil(1000).max(150);
        let start = (self.start_bps.unwrap_or(USUAL_START_BPS) / 1000).clamp(50, most);
        format!(
            "[flows.call]\nkind = \"media\"\nfrom = \"sender\"\nto = \"receiver\"\ncontroller = \"gcc\"\nencoder = {{ preset = \
             \"papers\", max_rate = \"{most}kbps\", skip_above = \"100ms\" }}\nrates = {{ min = \"50kbps\", start = \
             \"{start}kbps\", max = \"{most}kbps\" }}"
        )
    }
}

fn remark(second: &CapacitySecond, bps: f64) -> String {
    let width = (50.0 * (second.high_bps - second.low_bps) / bps).round();
    if second.is_shared {
        format!("at least: the call's share beside other traffic, {} pairs", second.pairs)
    } else {
        format!("{width} % either way, {} pairs", second.pairs)
    }
}

/// For each second the capacity between the figures before and after it, or the only one of them.
fn nearby(seconds: &[CapacitySecond]) -> Vec<Option<f64>> {
    let mut before: Vec<Option<(usize, f64)>> = Vec::with_capacity(seconds.len());
    let mut last = None;
    for (index, second) in seconds.iter().enumerate() {
        last = second.bps.map(|bps| (index, bps)).or(last);
        before.push(last);
    }
    let mut next = None;
    let mut nearby = vec![None; seconds.len()];
    for (index, second) in seconds.iter().enumerate().rev() {
        next = second.bps.map(|bps| (index, bps)).or(next);
        nearby[index] = match (before[index], next) {
            (Some((left, one)), Some((right, other))) if right > left => {
                Some(one + (other - one) * (index - left) as f64 / (right - left) as f64)
            }
            (Some((_, bps)), _) | (None, Some((_, bps))) => Some(bps),
            (None, None) => None,
        };
    }
    nearby
}

/// A time as a scenario has it, in milliseconds, or in seconds where it has only those.
fn millis(us: i64) -> String {
    if us % 1_000_000 == 0 { format!("{}s", us / 1_000_000) } else { format!("{}ms", us as f64 / 1000.0) }
}

fn seconds(us: i64) -> String {
    format!("{}s", (us as f64 / 1e6).ceil().max(1.0))
}
