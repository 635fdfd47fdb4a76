//! A TCP sender whose peer says what the test wants.

use weir_cc::window::{NewReno, WindowAlgorithm};
use weir_cc::{ArrivalTime, SendTime};
use weir_sim::tcp::TcpSender;
use weir_units::DataSize;
use weir_world::tcp::{Acknowledgement, SackBlock, TcpConfig, Timestamps};

/// A segment that left: when, in ms, its number, and whether it was sent before.
pub(crate) type Left = (f64, u32, bool);

/// What a peer tells: all below `cumulative` and these blocks, with the timestamp of what left `echo` ms after the beginning.
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

/// A sender that talks to nobody else.
pub(crate) struct Talk {
    pub(crate) sender: TcpSender,
    /// All that has left.
    pub(crate) left: Vec<Left>,
}

impl Talk {
    /// A connection under NewReno for so many segments or without end: opened at 0 ms, answered at 100.
    pub(crate) fn new(config: TcpConfig, segments: Option<u64>) -> Self {
        Self::under(config, NewReno::new(), segments)
    }

    /// The same under another law.
    pub(crate) fn under(
        config: TcpConfig,
        law: impl WindowAlgorithm + 'static,
        segments: Option<u64>,
    ) -> Self {
        let size = segments.map(|count| DataSize::from_bytes(1448 * count));
        let mut talk = Self { sender: TcpSender::new(config, Box::new(law), size), left: Vec::new() };
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

    /// Time passes up to `ms`.
    pub(crate) fn wait(&mut self, ms: i64) {
        while let Some(at) = self.sender.next_timeout().filter(|at| *at <= SendTime::from_millis(ms)) {
            self.sender.on_timeout(at);
            self.poll(at);
        }
    }

    /// Time passes up to `ms`, and then the peer speaks. What leaves at once.
    pub(crate) fn hear(&mut self, ms: i64, says: Says<'_>) -> Vec<Left> {
        self.wait(ms);
        let before = self.left.len();
        let now = SendTime::from_millis(ms);
        self.sender.on_ack(now, &says.acknowledgement(false));
        self.poll(now);
        self.left[before..].to_vec()
    }

    /// The same where all below `cumulative` is told, 100 ms after the last of it left.
    pub(crate) fn acknowledge(&mut self, ms: i64, cumulative: u32) -> Vec<Left> {
        self.hear(ms, Says { cumulative, echo: ms - 100, ..Says::default() })
    }
}
