//! The recorded answers of other implementations, from folders of `data`.

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;

use flate2::read::GzDecoder;
use weir_units::TimeDelta;

/// A packet of a recording, times since its beginning by the one clock of both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) bytes: u64,
    pub(crate) sent: TimeDelta,
    /// Arrival time, or `None` if it was reported as not received.
    pub(crate) arrived: Option<TimeDelta>,
    /// Whether it arrived with CE.
    pub(crate) marked: bool,
}

/// A feedback message and the answer to it.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// When the sender gets the message, and when the receiver made it.
    pub(crate) at: TimeDelta,
    pub(crate) made: TimeDelta,
    /// Rate of the other implementation after it, in bit/s.
    pub(crate) rate: f64,
    /// The number of the first packet that it covers, and of the first that it does not.
    pub(crate) first: usize,
    pub(crate) end: usize,
}

/// A recorded run, open or closed loop.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub(crate) name: String,
    /// Packets by their numbers; in the order in which they left.
    pub(crate) packets: Vec<Packet>,
    pub(crate) answers: Vec<Answer>,
}

fn path(folder: &str, file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../data").join(folder).join(file)
}

/// The text of a table of a folder.
pub(crate) fn table(folder: &str, name: &str) -> String {
    fs::read_to_string(path(folder, name)).unwrap_or_else(|error| panic!("data/{folder}/{name}: {error}"))
}

/// The rows of a table in their order, each with its cells; without the heading.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

/// All recordings of a folder, in the order of its summary.
pub(crate) fn recordings(folder: &str) -> Vec<Recording> {
    let summary = table(folder, "summary.csv");
    rows(&summary).map(|cells| Recording::read(folder, cells[0])).collect()
}

impl Recording {
    /// Reads the recording `name` of `folder`.
    pub(crate) fn read(folder: &str, name: &str) -> Self {
        let file = File::open(path(folder, &format!("{name}.csv.gz"))).expect("the record is there");
        let mut text = String::new();
        GzDecoder::new(file).read_to_string(&mut text).expect("text in gzip");
        let mut recording = Self { name: name.to_owned(), packets: Vec::new(), answers: Vec::new() };
        rows(&text).for_each(|cells| recording.push(&cells));
        recording
    }

    /// Adds a line of the recording: a decision, and the packets up to it.
    fn push(&mut self, cells: &[&str]) {
        let &[at, made, rate, .., first, packets] = cells else { panic!("{}: {cells:?}", self.name) };
        let first = number(first) as usize;
        assert_eq!(first, self.packets.len(), "{}: packets are consecutive", self.name);
        for packet in packets.split(' ') {
            let mut parts = packet.split(':');
            let mut part = || parts.next().expect("size, gap and delay");
            let (size, gap, delay) = (part(), part(), part());
            let before = self.packets.last().map_or(TimeDelta::ZERO, |packet| packet.sent);
            let sent = before + micros(gap);
            let marked = delay.ends_with('!');
            let delay = delay.trim_end_matches('!');
            let arrived = (!matches!(delay, "-" | "?")).then(|| sent + micros(delay));
            self.packets.push(Packet { bytes: number(size) as u64, sent, arrived, marked });
        }
        // The last line has the packets that no message covers.
        if !at.is_empty() {
            let rate = rate.parse().expect("a rate");
            let end = self.packets.len();
            self.answers.push(Answer { at: micros(at), made: micros(made), rate, first, end });
        }
    }
}

/// How near the rates of a sender half come to the recorded ones, the first tenth of the feedback left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreement {
    /// Share of the feedback messages after which the rates are within 10 %.
    pub(crate) near: f64,
    /// Ratio of the mean rates.
    pub(crate) ratio: f64,
}

impl Agreement {
    /// Agreement of the rate in bit/s after each answer.
    pub(crate) fn of(recording: &Recording, mut rate_after: impl FnMut(&Answer) -> f64) -> Self {
        let pairs: Vec<(f64, f64)> =
            recording.answers.iter().map(|answer| (rate_after(answer), answer.rate)).collect();
        let pairs = &pairs[pairs.len() / 10..];
        let near = pairs.iter().filter(|(ours, theirs)| (ours / theirs - 1.0).abs() <= 0.1).count();
        let (ours, theirs) = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        Self { near: near as f64 / pairs.len() as f64, ratio: ours / theirs }
    }
}

fn number(text: &str) -> i64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no whole number"))
}

fn micros(text: &str) -> TimeDelta {
    TimeDelta::from_micros(number(text))
}
