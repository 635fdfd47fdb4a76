//! Explicit congestion notification at both ends of a TCP connection: the ECE and CWR flags of RFC 3168, or exact
//! counts (RFC 9768).

use weir_cc::Ecn;
use weir_world::tcp::{Acknowledgement, EcnMode, Segment};

/// ECN state of the sender.
#[derive(Clone, Debug)]
pub(super) struct EcnSender {
    mode: EcnMode,
    /// Whether the next new segment carries CWR.
    cwr_due: bool,
    /// End of the segments sent when the window was last reduced, exclusive.
    reduced_at: Option<u32>,
    /// Number of marked segments that acknowledgements have reported, modulo 2¹⁶.
    known: u16,
}

impl EcnSender {
    pub(super) fn new(mode: EcnMode) -> Self {
        Self { mode, cwr_due: false, reduced_at: None, known: 0 }
    }

    /// The ECN field of a data segment, and whether it carries CWR.
    #[inline]
    pub(super) fn stamp(&mut self, retransmission: bool) -> (Ecn, bool) {
        match self.mode {
            EcnMode::Off => (Ecn::NotEct, false),
            EcnMode::Classic if retransmission => (Ecn::NotEct, false), // RFC 3168 §6.1.5
            EcnMode::Classic => (Ecn::Ect0, core::mem::take(&mut self.cwr_due)),
            EcnMode::Accurate => (Ecn::Ect1, false),
        }
    }

    /// Number of newly reported marked segments. In classic mode 1 stands for at least one.
    #[inline]
    pub(super) fn marks(&mut self, ack: &Acknowledgement) -> u16 {
        match self.mode {
            EcnMode::Off => 0,
            EcnMode::Classic => u16::from(ack.ece),
            EcnMode::Accurate => {
                let fresh = ack.marked.wrapping_sub(self.known);
                // More than half the counter's range back is a reordered acknowledgement.
                if fresh > u16::MAX / 2 {
                    return 0;
                }
                self.known = ack.marked;
                fresh
            }
        }
    }

    /// Number of the `acked` segments that may open the window where `marks` are reported. It is zero in classic mode
    /// (RFC 3168 §6.1.2), and the number of unmarked segments with exact counts.
    pub(super) fn opening(&self, acked: u32, marks: u16) -> u32 {
        match self.mode {
            EcnMode::Accurate => acked.saturating_sub(u32::from(marks)),
            EcnMode::Off | EcnMode::Classic => {
                if marks > 0 {
                    0
                } else {
                    acked
                }
            }
        }
    }

    /// Whether the window was reduced after `first`, the first outstanding segment, was sent.
    pub(super) fn was_reduced_since(&self, first: u32) -> bool {
        self.reduced_at.is_some_and(|at| first < at)
    }

    /// Whether marks may reduce the window, which they do at most once per window of data (RFC 3168 §6.1.2). For that a
    /// segment beyond those sent at the last reduction must be acknowledged, the segment with CWR at the earliest.
    pub(super) fn may_reduce(&self, first: u32) -> bool {
        self.reduced_at.is_none_or(|at| first > at)
    }

    /// Records a reduction of the window for any reason; `next` is the next new segment.
    pub(super) fn on_reduced(&mut self, next: u32) {
        self.reduced_at = Some(next);
        self.cwr_due = true;
    }
}

/// ECN state of the receiver.
#[derive(Clone, Debug)]
pub(super) struct EcnReceiver {
    mode: EcnMode,
    /// Whether ECN-Echo is set, which lasts until a segment with CWR arrives.
    echo: bool,
    /// Number of marked segments that have arrived, modulo 2¹⁶.
    marked: u16,
    last_was_marked: bool,
}

impl EcnReceiver {
    pub(super) fn new(mode: EcnMode) -> Self {
        Self { mode, echo: false, marked: 0, last_was_marked: false }
    }

    /// Takes a data segment. Returns whether it must be acknowledged at once.
    #[inline]
    pub(super) fn on_segment(&mut self, segment: &Segment) -> bool {
        let marked = segment.ecn == Ecn::Ce;
        match self.mode {
            EcnMode::Off => false,
            EcnMode::Classic => {
                self.echo = marked || (self.echo && !segment.cwr); // RFC 3168 §6.1.3
                false
            }
            EcnMode::Accurate => {
                self.marked = self.marked.wrapping_add(u16::from(marked));
                // RFC 8257 §3.2: an acknowledgement leaves at once when marking begins or ends.
                marked != core::mem::replace(&mut self.last_was_marked, marked)
            }
        }
    }

    /// The value of ECN-Echo, and the count of marked segments.
    pub(super) fn feedback(&self) -> (bool, u16) {
        (self.echo, self.marked)
    }
}

#[cfg(test)]
mod tests {
    use weir_cc::{ArrivalTime, SendTime};

    use super::*;
    use weir_world::tcp::{SackBlock, Timestamps};

    /// A segment with this codepoint and the CWR flag.
    fn segment(ecn: Ecn, cwr: bool) -> Segment {
        let sent_at = SendTime::ZERO;
        Segment {
            number: 0,
            payload: 1448,
            syn: false,
            retransmission: false,
            sent_at,
            ecn,
            cwr,
            push: false,
        }
    }

    /// An acknowledgement with the ECE flag and the exact count of marks.
    fn ack(ece: bool, marked: u16) -> Acknowledgement {
        let sacks = [SackBlock::EMPTY; 3];
        let stamps = Timestamps::new(SendTime::ZERO, ArrivalTime::ZERO);
        Acknowledgement { cumulative: 0, syn: false, sacks, stamps, ece, marked }
    }

    #[test]
    fn echo_lasts_from_the_mark_to_the_answer() {
        let mut receiver = EcnReceiver::new(EcnMode::Classic);
        let mut echo = |ecn, cwr| {
            assert!(!receiver.on_segment(&segment(ecn, cwr)));
            receiver.feedback().0
        };
        assert!(!echo(Ecn::Ect0, false));
        assert!(echo(Ecn::Ce, false));
        assert!(echo(Ecn::Ect0, false));
        // The segment with CWR itself is marked: a new round begins.
        assert!(echo(Ecn::Ce, true));
        assert!(!echo(Ecn::Ect0, true));
    }

    #[test]
    fn exact_counts_are_acknowledged_at_once_when_marking_begins_or_ends() {
        let mut receiver = EcnReceiver::new(EcnMode::Accurate);
        let at_once = [Ecn::Ect1, Ecn::Ce, Ecn::Ce, Ecn::Ect1, Ecn::Ect1]
            .map(|ecn| receiver.on_segment(&segment(ecn, false)));
        assert_eq!(at_once, [false, true, false, true, false]);
        assert_eq!(receiver.feedback(), (false, 2));
    }

    #[test]
    fn first_new_segment_after_a_reduction_carries_the_answer() {
        let mut sender = EcnSender::new(EcnMode::Classic);
        assert_eq!(sender.stamp(false), (Ecn::Ect0, false));
        sender.on_reduced(5);
        assert_eq!(sender.stamp(true), (Ecn::NotEct, false));
        assert_eq!(sender.stamp(false), (Ecn::Ect0, true));
        assert_eq!(sender.stamp(false), (Ecn::Ect0, false));
    }

    #[test]
    fn window_is_reduced_again_once_the_answer_is_acknowledged() {
        let mut sender = EcnSender::new(EcnMode::Classic);
        assert!(sender.may_reduce(0));
        sender.on_reduced(20);
        assert_eq!([19, 20, 21].map(|first| sender.may_reduce(first)), [false, false, true]);
        assert_eq!([19, 20].map(|first| sender.was_reduced_since(first)), [true, false]);
    }

    #[test]
    fn marked_segments_do_not_open_the_window_and_where_they_are_counted_the_others_do() {
        let opening =
            |mode| [(2, 0), (2, 1), (1, 3)].map(|(acked, marks)| EcnSender::new(mode).opening(acked, marks));
        assert_eq!(opening(EcnMode::Classic), [2, 0, 0]);
        assert_eq!(opening(EcnMode::Accurate), [2, 1, 0]);
    }

    #[test]
    fn counts_wrap_around_and_stale_ones_are_ignored() {
        let mut sender = EcnSender { known: 65_530, ..EcnSender::new(EcnMode::Accurate) };
        assert_eq!(sender.marks(&ack(false, 4)), 10);
        assert_eq!(sender.marks(&ack(false, 2)), 0);
        assert_eq!(sender.marks(&ack(false, 5)), 1);
        assert_eq!(EcnSender::new(EcnMode::Off).marks(&ack(true, 9)), 0);
    }
}
