//! Attacks of the table, each with the attacker, the messages and the interval.

use weir_cc::ReportKind;

/// Attacker, by capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Off-path attacker: knows addresses and ports, but neither source identifiers nor sequence numbers.
    Blind,
    /// On-path attacker that sees every packet and can add packets, but cannot remove any.
    Reader,
    /// On-path attacker in a middlebox: sees every packet, and can mark and delay it.
    OnPath,
    /// Receiver of the call, with optimistic acknowledgements or other false reports.
    Receiver,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Blind, Self::Reader, Self::OnPath, Self::Receiver];

    /// Name of the role, one word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blind => "blind",
            Self::Reader => "reader",
            Self::OnPath => "on-path",
            Self::Receiver => "receiver",
        }
    }
}

/// Attack of the table.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    /// Short name.
    pub name: &'static str,
    /// Role of the attacker.
    pub role: Role,
    pub(super) feedback: ForgedFeedback,
    /// Interval between forged messages, in ms; zero for a single one.
    pub(super) interval_ms: i64,
}

/// Forged feedback of one round. Controllers with reports of their own get the same content in those.
#[derive(Clone, Copy, Debug)]
pub(super) enum ForgedFeedback {
    /// Reports of all packets that could have arrived, each with the same one-way delay.
    AllArrived,
    /// Reports of all packets that could have arrived, without arrival times.
    Untimed,
    /// Optimistic acknowledgement: packets that have just left are reported as received.
    Early,
    /// Reports of loss of all packets since the last round.
    Missing,
    /// Reports of arrival and of loss by turns.
    Contradictory,
    /// Replay of the receiver's reports of two seconds ago.
    Replay,
    /// Reports of packets that have not been sent.
    Unsent,
    /// Report of another controller that echoes the newest packet.
    Echo,
    /// Report of a packet that left seven tenths of a round trip ago, with an arrival this many ms after the earliest
    /// possible one.
    OneArrival(i64),
    /// Reports of packets up to that one, each with an arrival earlier than the previous one by most of a round trip.
    Creep,
    /// Receiver reports in a datagram, each with about half the round-trip time of the one before, and optimistic
    /// acknowledgements.
    Shrink,
    /// Arrival times an hour ahead and an hour behind by turns.
    Jump,
    /// Arrival times whose lead grows by a minute in each second.
    Drift,
    /// Three reports in a datagram; their times advance by two fifths of the period after which the format wraps
    /// around.
    Leap,
    /// Reports of old packets with random report numbers.
    Numbers,
    /// Receiver report that gives a round-trip time of this many ms.
    RoundTrip(i64),
    /// Upper limit of the rate (REMB) in bit/s.
    Ceiling(u64),
    /// Receiver report of the greatest loss.
    Loss,
    /// Last honest report with one bit inverted.
    BitErrors,
    /// Datagram of 36 messages of 40 bytes, each on 65 535 packets.
    Bombs,
    /// Reports as in [`Self::AllArrived`], except for left-out numbers: a random part of them, in per cent, is reported
    /// as received.
    Coin(u32),
    /// Copy of the newest packet to the receiver, with RTP and transport-wide sequence numbers this far ahead.
    NumberAhead(u16),
    /// Reports of all packets that could have arrived as marked (CE), though they left without ECN.
    Marks,
    /// Packets marked (CE) on the path to the receiver, though they left without ECN.
    MarkedOnPath,
    /// Reports of an empty path, in each controller's own form.
    NoCongestion,
    /// Reports of the greatest possible congestion, in each controller's own form.
    Congestion,
    /// RTCP of the receiver, held for a second of each three and then delivered in order.
    HeldBack,
    /// NADA reports that give one flow of a pair the greatest congestion.
    Slander,
}

impl ForgedFeedback {
    /// Whether the attack has a form that affects a controller; `accepts` names the kinds of feedback that the
    /// controller uses.
    pub(super) fn is_form_of(self, accepts: impl Fn(ReportKind) -> bool) -> bool {
        match self {
            Self::Ceiling(_) => accepts(ReportKind::Ceiling),
            Self::OneArrival(_) => accepts(ReportKind::Packets),
            Self::NumberAhead(_) => false,
            _ => true,
        }
    }
}

const fn attack(name: &'static str, role: Role, feedback: ForgedFeedback, interval_ms: i64) -> Attack {
    Attack { name, role, feedback, interval_ms }
}

/// All attacks of the table.
pub const ATTACKS: [Attack; 56] = {
    use Role::{Blind, OnPath, Reader, Receiver};
    const HOUR: i64 = 3_600_000;
    [
        attack("all arrived", Blind, ForgedFeedback::AllArrived, 50),
        attack("all missing", Blind, ForgedFeedback::Missing, 20),
        attack("reports of packets never sent", Blind, ForgedFeedback::Unsent, 20),
        attack("foreign echo", Blind, ForgedFeedback::Echo, 20),
        attack("REMB of 0", Blind, ForgedFeedback::Ceiling(0), 20),
        attack("REMB of the maximum", Blind, ForgedFeedback::Ceiling(u64::MAX), 20),
        attack("RR with loss 255", Blind, ForgedFeedback::Loss, 20),
        attack("run-length bombs", Blind, ForgedFeedback::Bombs, 20),
        attack("all arrived", Reader, ForgedFeedback::AllArrived, 50),
        attack("all arrived, without times", Reader, ForgedFeedback::Untimed, 20),
        attack("early acknowledgement", Reader, ForgedFeedback::Early, 10),
        attack("all missing", Reader, ForgedFeedback::Missing, 20),
        attack("contradictory reports", Reader, ForgedFeedback::Contradictory, 20),
        attack("replay, 2 s old", Reader, ForgedFeedback::Replay, 50),
        attack("reports of packets never sent", Reader, ForgedFeedback::Unsent, 20),
        attack("foreign echo each 20 ms", Reader, ForgedFeedback::Echo, 20),
        attack("foreign echo each 100 ms", Reader, ForgedFeedback::Echo, 100),
        attack("foreign echo each 1 s", Reader, ForgedFeedback::Echo, 1000),
        attack("one arrival 25 ms early", Reader, ForgedFeedback::OneArrival(-25), 0),
        attack("one arrival 250 ms early", Reader, ForgedFeedback::OneArrival(-250), 0),
        attack("one arrival an hour early", Reader, ForgedFeedback::OneArrival(-HOUR), 0),
        attack("one arrival an hour late", Reader, ForgedFeedback::OneArrival(HOUR), 0),
        attack("arrivals that creep ahead", Reader, ForgedFeedback::Creep, 1000),
        attack("round trips that shrink", Reader, ForgedFeedback::Shrink, 50),
        attack("times that jump", Reader, ForgedFeedback::Jump, 50),
        attack("reference time that drifts", Reader, ForgedFeedback::Drift, 50),
        attack("reference time that leaps", Reader, ForgedFeedback::Leap, 100),
        attack("report numbers that jump", Reader, ForgedFeedback::Numbers, 20),
        attack("round trip of zero", Reader, ForgedFeedback::RoundTrip(0), 100),
        attack("round trip of 50 minutes", Reader, ForgedFeedback::RoundTrip(50 * 60_000), 100),
        attack("REMB of 0", Reader, ForgedFeedback::Ceiling(0), 20),
        attack("REMB of the maximum", Reader, ForgedFeedback::Ceiling(u64::MAX), 20),
        attack("RR with loss 255", Reader, ForgedFeedback::Loss, 20),
        attack("bit errors, in copies", Reader, ForgedFeedback::BitErrors, 50),
        attack("run-length bombs", Reader, ForgedFeedback::Bombs, 20),
        attack("REMB of 30 kbit/s, once", Reader, ForgedFeedback::Ceiling(30_000), 0),
        attack("forged RTP number ahead, once", Reader, ForgedFeedback::NumberAhead(20_000), 0),
        attack("forged RTP number ahead each 1 s", Reader, ForgedFeedback::NumberAhead(20_000), 1000),
        attack("marks on packets without ECN", Reader, ForgedFeedback::Marks, 20),
        attack("own report: no congestion, once", Reader, ForgedFeedback::NoCongestion, 0),
        attack("own report: no congestion, each 100 ms", Reader, ForgedFeedback::NoCongestion, 100),
        attack("own report: congestion, once", Reader, ForgedFeedback::Congestion, 0),
        attack("own report: congestion, each 100 ms", Reader, ForgedFeedback::Congestion, 100),
        attack("slander of a coupled nada each 100 ms", Reader, ForgedFeedback::Slander, 100),
        attack("slander of a coupled nada each 1 s", Reader, ForgedFeedback::Slander, 1000),
        attack("slander of a coupled nada each 5 s", Reader, ForgedFeedback::Slander, 5000),
        attack("packets without ECN marked on their way", OnPath, ForgedFeedback::MarkedOnPath, 1000),
        attack("reports held for 1 s of each 3 s", OnPath, ForgedFeedback::HeldBack, 1000),
        attack("all arrived", Receiver, ForgedFeedback::AllArrived, 50),
        attack("all arrived, half of what was left out", Receiver, ForgedFeedback::Coin(50), 50),
        attack("all arrived, a quarter of what was left out", Receiver, ForgedFeedback::Coin(25), 50),
        attack("early acknowledgement", Receiver, ForgedFeedback::Early, 10),
        attack("all missing", Receiver, ForgedFeedback::Missing, 50),
        attack("contradictory reports", Receiver, ForgedFeedback::Contradictory, 50),
        attack("bit errors", Receiver, ForgedFeedback::BitErrors, 50),
        attack("silence", Receiver, ForgedFeedback::Numbers, 1_000_000),
    ]
};
