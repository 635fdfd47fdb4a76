//! A TCP sender whose peer is scripted by the test.

use weir_cc::window::{NewReno, WindowAlgorithm};
use weir_cc::{ArrivalTime, SendTime};
use weir_sim::tcp::TcpSender;
use weir_units::DataSize;
use weir_world::tcp::{Acknowledgement, SackBlock, TcpConfig, Timestamps};

/// A segment that left: its time in ms, its number, and whether it is a retransmission.
pub(crate) type Left = (f64, u32, bool);

/// An acknowledgement of a peer: all below `cumulative` and these blocks, with the timestamp of the segment that left
/// `echo` ms after the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Says<'a> {
    pub(crate) cumulative: u32,
    pub(crate) sacks: &'a [(u32, u32)],
    pub(crate) echo: i64,
    pub(crate) ece: bool,
}

impl Says<'_> {
    pub(crate) fn acknowledgement(self, syn: bool) -> Acknowledgement {
        let mut sacks = [SackBlock::EMPTY; 3];
        for (slot, &(start, end)) in sacks.iter_mut().zip(self.sacks) {
            *slot = SackBlock { start, end };
        }
        let stamps = Timestamps::new(SendTime::from_millis(self.echo), ArrivalTime::ZERO);
        Acknowledgement { cumulative: self.cumulative, syn, sacks, stamps, ece: self.ece, marked: 0 }
    }
}

/// A sender and its scripted peer.
pub(crate) struct Talk {
    pub(crate) sender: TcpSender,
    /// All segments that have left.
    pub(crate) left: Vec<Left>,
}

impl Talk {
    /// A connection under NewReno with this number of segments, or without end: opened at 0 ms, answered at 100.
    pub(crate) fn new(config: TcpConfig, segments: Option<u64>) -> Self {
        Self::under(config, NewReno::new(), segments)
    }

    /// The same under another algorithm.
    pub(crate) fn under(
        config: TcpConfig,
        algorithm: impl WindowAlgorithm + 'static,
        segments: Option<u64>,
    ) -> Self {
        let size = segments.map(|count| DataSize::from_bytes(1448 * count));
        let mut talk = Self { sender: TcpSender::new(config, Box::new(algorithm), size), left: Vec::new() };
        talk.sender.start(SendTime::ZERO);
        talk.poll(SendTime::ZERO);
        talk.left.clear();
        talk.sender.on_ack(SendTime::from_millis(100), &Says::default().acknowledgement(true));
        talk.poll(SendTime::from_millis(100));
        talk
    }

    fn poll(&mut self, now: SendTime) {
        while let Some(segment) = self.sender.poll_segment(now) {
            self.left.push((now.nanos() as f64 / 1e6, segment.number, segment.retransmission));
        }
    }

    /// Advances the time to `ms`.
    pub(crate) fn wait(&mut self, ms: i64) {
        while let Some(at) = self.sender.next_timeout().filter(|at| *at <= SendTime::from_millis(ms)) {
            self.sender.on_timeout(at);
            self.poll(at);
        }
    }

    /// Advances the time to `ms`, and delivers the acknowledgement. Returns the segments that leave at once.
    pub(crate) fn receive(&mut self, ms: i64, says: Says<'_>) -> Vec<Left> {
        self.wait(ms);
        let before = self.left.len();
        let now = SendTime::from_millis(ms);
        self.sender.on_ack(now, &says.acknowledgement(false));
        self.poll(now);
        self.left[before..].to_vec()
    }

    /// The same for an acknowledgement of all below `cumulative`, 100 ms after the last of them left.
    pub(crate) fn acknowledge(&mut self, ms: i64, cumulative: u32) -> Vec<Left> {
        self.receive(ms, Says { cumulative, echo: ms - 100, ..Says::default() })
    }
}
