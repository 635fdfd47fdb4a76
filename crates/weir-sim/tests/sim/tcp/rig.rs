//! A TCP sender and receiver with only a fixed delay between them.

use std::collections::VecDeque;

use weir_cc::window::WindowAlgorithm;
use weir_cc::{ArrivalTime, Ecn, SendTime};
use weir_sim::tcp::{TcpReceiver, TcpSender};
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::{Acknowledgement, Segment, TcpConfig};

/// Delay from one host to the other; the round trip takes twice as long.
const ONE_WAY: TimeDelta = TimeDelta::from_millis(50);

/// Two endpoints and the packets in flight between them. `lose` gets each segment as it is sent, or `None` for an
/// acknowledgement, and returns whether it is lost.
pub(crate) struct Rig<L> {
    pub(crate) sender: TcpSender,
    pub(crate) receiver: TcpReceiver,
    now: SendTime,
    forward: VecDeque<(SendTime, Segment)>,
    reverse: VecDeque<(SendTime, Acknowledgement)>,
    lose: L,
    /// Choice of the segments that are marked in flight, if they are ECN-capable.
    pub(crate) mark: fn(&Segment) -> bool,
}

impl<L: FnMut(SendTime, Option<&Segment>) -> bool> Rig<L> {
    /// A connection that opens at time zero.
    pub(crate) fn new(
        config: TcpConfig,
        algorithm: impl WindowAlgorithm + 'static,
        size: Option<u64>,
        lose: L,
    ) -> Self {
        Self::under(config, Box::new(algorithm), size, lose)
    }

    /// The same for a boxed algorithm.
    pub(crate) fn under(
        config: TcpConfig,
        algorithm: Box<dyn WindowAlgorithm>,
        size: Option<u64>,
        lose: L,
    ) -> Self {
        let mut sender = TcpSender::new(config, algorithm, size.map(DataSize::from_bytes));
        sender.start(SendTime::ZERO);
        let mut rig = Self {
            sender,
            receiver: TcpReceiver::new(config),
            now: SendTime::ZERO,
            forward: VecDeque::new(),
            reverse: VecDeque::new(),
            lose,
            mark: |_| false,
        };
        rig.send_segments();
        rig
    }

    /// Replaces this connection with another one, whose time begins anew.
    pub(crate) fn restart(&mut self, size: Option<u64>) {
        self.sender.reset(size.map(DataSize::from_bytes));
        self.receiver.reset();
        self.forward.clear();
        self.reverse.clear();
        self.now = SendTime::ZERO;
        self.sender.start(SendTime::ZERO);
        self.send_segments();
    }

    /// Runs until `end` or until there are no more events.
    pub(crate) fn run(&mut self, end: SendTime) {
        while let Some(next) = self.next_event().filter(|&next| next <= end) {
            assert!(next >= self.now, "time runs backwards");
            self.now = next;
            self.step();
        }
    }

    fn next_event(&self) -> Option<SendTime> {
        let candidates = [
            self.forward.front().map(|&(at, _)| at),
            self.reverse.front().map(|&(at, _)| at),
            self.sender.next_timeout(),
            self.receiver.next_timeout().map(|at| SendTime::from_nanos(at.nanos())),
        ];
        candidates.into_iter().flatten().min()
    }

    /// Handles the event of the present time: a segment, an acknowledgement or the timer.
    fn step(&mut self) {
        if let Some(segment) = pop_due(&mut self.forward, self.now) {
            self.receiver.on_segment(self.arrival(), &segment);
        } else if let Some(ack) = pop_due(&mut self.reverse, self.now) {
            self.sender.on_ack(self.now, &ack);
        } else {
            self.sender.on_timeout(self.now);
        }
        self.send_acknowledgement();
        self.send_segments();
    }

    fn arrival(&self) -> ArrivalTime {
        ArrivalTime::from_nanos(self.now.nanos())
    }

    /// Puts a due acknowledgement on the reverse path, unless the test loses it.
    fn send_acknowledgement(&mut self) {
        if let Some(ack) = self.receiver.poll_ack(self.arrival())
            && !(self.lose)(self.now, None)
        {
            self.reverse.push_back((self.now + ONE_WAY, ack));
        }
    }

    /// Puts the sender's segments on the path, marked or lost by the rules of the test.
    fn send_segments(&mut self) {
        while let Some(mut segment) = self.sender.poll_segment(self.now) {
            if segment.ecn != Ecn::NotEct && (self.mark)(&segment) {
                segment.ecn = Ecn::Ce;
            }
            if !(self.lose)(self.now, Some(&segment)) {
                self.forward.push_back((self.now + ONE_WAY, segment));
            }
        }
    }
}

/// The first packet of `pipe` that arrives by `now`.
fn pop_due<P>(pipe: &mut VecDeque<(SendTime, P)>, now: SendTime) -> Option<P> {
    if pipe.front()?.0 > now {
        return None;
    }
    pipe.pop_front().map(|(_, packet)| packet)
}
