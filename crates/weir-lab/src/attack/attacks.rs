//! The attacks of the table: by whom, what, and how often.

use weir_cc::ReportKind;

/// Who attacks, by what he can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Off the path: knows addresses and ports, neither source identifiers nor numbers.
    Blind,
    /// On the path: sees every packet, can add and cannot remove.
    Reader,
    /// A box on the path: sees every packet, can mark and delay it.
    OnPath,
    /// The peer itself.
    Receiver,
}

impl Role {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Blind, Self::Reader, Self::OnPath, Self::Receiver];

    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blind => "blind",
            Self::Reader => "reader",
            Self::OnPath => "on-path",
            Self::Receiver => "receiver",
        }
    }
}

/// An attack of the table.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    /// In a few words.
    pub name: &'static str,
    /// Who.
    pub role: Role,
    pub(super) what: What,
    /// How often, in ms; zero for once.
    pub(super) every_ms: i64,
}

/// What is sent each time. To a law with reports of its own the same is said in those.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// All that could have arrived by now has, after the same time.
    AllArrived,
    /// All that could have arrived by now has, at times that are not told.
    Untimed,
    /// What has just left has arrived.
    Early,
    /// All that has left since the time before is missing.
    Missing,
    /// By turns the one and the other.
    Contradictory,
    /// What the receiver said two seconds ago.
    Replay,
    /// Packets that have not left.
    Unsent,
    /// A report of another law that echoes the newest packet.
    Echo,
    /// A packet that left seven tenths of a round trip ago has arrived, so many ms later than it may have.
    OneArrival(i64),
    /// Packets that left then and before have arrived, each by most of a round trip earlier than the one before.
    Creep,
    /// Receiver reports in a datagram by which the round trip is half of that before, and what has just left has arrived.
    Shrink,
    /// Arrivals an hour ahead and an hour behind by turns.
    Jump,
    /// Arrival times that run a minute a second ahead.
    Drift,
    /// Three reports in a datagram whose times step on by two fifths of what the wire can tell apart.
    Leap,
    /// Reports without news, numbered by chance.
    Numbers,
    /// A receiver report by which a round trip takes so many ms.
    RoundTrip(i64),
    /// A ceiling in bit/s.
    Ceiling(u64),
    /// A receiver report of the greatest loss.
    Loss,
    /// The last honest report with a bit turned.
    BitErrors,
    /// 36 messages of 40 bytes, each on 65 535 packets.
    Bombs,
    /// As all arrived, but that of the numbers that were left out so many in a hundred have, by chance.
    Coin(u32),
    /// To the receiver, a copy of the newest packet whose RTP number and transport-wide number are so far ahead.
    NumberAhead(u16),
    /// All that could have arrived by now has, marked (CE), though it left without ECN.
    Marks,
    /// Packets on their way to the receiver are marked (CE), though they left without ECN.
    MarkedOnPath,
    /// In the form of each law's own reports, that a path is empty.
    NoCongestion,
    /// In the form of each law's own reports, that a path is congested as much as can be told.
    Congestion,
    /// RTCP from the receiver is held for a second of each three, and then comes in order.
    HeldBack,
    /// Reports of NADA's own by which one flow of a pair meets the greatest congestion.
    Slander,
}

impl What {
    /// Whether it is in a form that a law goes by which hears of `kinds`.
    pub(super) fn is_form_of(self, accepts: impl Fn(ReportKind) -> bool) -> bool {
        match self {
            Self::Ceiling(_) => accepts(ReportKind::Ceiling),
            Self::OneArrival(_) => accepts(ReportKind::Packets),
            Self::NumberAhead(_) => false,
            _ => true,
        }
    }
}

const fn attack(name: &'static str, role: Role, what: What, every_ms: i64) -> Attack {
    Attack { name, role, what, every_ms }
}

/// Every attack of the table.
pub const ATTACKS: [Attack; 56] = {
    use Role::{Blind, OnPath, Reader, Receiver};
    const HOUR: i64 = 3_600_000;
    [
        attack("all arrived", Blind, What::AllArrived, 50),
        attack("all missing", Blind, What::Missing, 20),
        attack("reports of packets never sent", Blind, What::Unsent, 20),
        attack("foreign echo", Blind, What::Echo, 20),
        attack("REMB of 0", Blind, What::Ceiling(0), 20),
        attack("REMB of the maximum", Blind, What::Ceiling(u64::MAX), 20),
        attack("RR with loss 255", Blind, What::Loss, 20),
        attack("run-length bombs", Blind, What::Bombs, 20),
        attack("all arrived", Reader, What::AllArrived, 50),
        attack("all arrived, without times", Reader, What::Untimed, 20),
        attack("early acknowledgement", Reader, What::Early, 10),
        attack("all missing", Reader, What::Missing, 20),
        attack("contradictory reports", Reader, What::Contradictory, 20),
        attack("replay, 2 s old", Reader, What::Replay, 50),
        attack("reports of packets never sent", Reader, What::Unsent, 20),
        attack("foreign echo each 20 ms", Reader, What::Echo, 20),
        attack("foreign echo each 100 ms", Reader, What::Echo, 100),
        attack("foreign echo each 1 s", Reader, What::Echo, 1000),
        attack("one arrival 25 ms early", Reader, What::OneArrival(-25), 0),
        attack("one arrival 250 ms early", Reader, What::OneArrival(-250), 0),
        attack("one arrival an hour early", Reader, What::OneArrival(-HOUR), 0),
        attack("one arrival an hour late", Reader, What::OneArrival(HOUR), 0),
        attack("arrivals that creep ahead", Reader, What::Creep, 1000),
        attack("round trips that shrink", Reader, What::Shrink, 50),
        attack("times that jump", Reader, What::Jump, 50),
        attack("reference time that drifts", Reader, What::Drift, 50),
        attack("reference time that leaps", Reader, What::Leap, 100),
        attack("report numbers that jump", Reader, What::Numbers, 20),
        attack("round trip of zero", Reader, What::RoundTrip(0), 100),
        attack("round trip of 50 minutes", Reader, What::RoundTrip(50 * 60_000), 100),
        attack("REMB of 0", Reader, What::Ceiling(0), 20),
        attack("REMB of the maximum", Reader, What::Ceiling(u64::MAX), 20),
        attack("RR with loss 255", Reader, What::Loss, 20),
        attack("bit errors, in copies", Reader, What::BitErrors, 50),
        attack("run-length bombs", Reader, What::Bombs, 20),
        attack("REMB of 30 kbit/s, once", Reader, What::Ceiling(30_000), 0),
        attack("forged RTP number ahead, once", Reader, What::NumberAhead(20_000), 0),
        attack("forged RTP number ahead each 1 s", Reader, What::NumberAhead(20_000), 1000),
        attack("marks on packets without ECN", Reader, What::Marks, 20),
        attack("own report: no congestion, once", Reader, What::NoCongestion, 0),
        attack("own report: no congestion, each 100 ms", Reader, What::NoCongestion, 100),
        attack("own report: congestion, once", Reader, What::Congestion, 0),
        attack("own report: congestion, each 100 ms", Reader, What::Congestion, 100),
        attack("slander of a coupled nada each 100 ms", Reader, What::Slander, 100),
        attack("slander of a coupled nada each 1 s", Reader, What::Slander, 1000),
        attack("slander of a coupled nada each 5 s", Reader, What::Slander, 5000),
        attack("packets without ECN marked on their way", OnPath, What::MarkedOnPath, 1000),
        attack("reports held for 1 s of each 3 s", OnPath, What::HeldBack, 1000),
        attack("all arrived", Receiver, What::AllArrived, 50),
        attack("all arrived, half of what was left out", Receiver, What::Coin(50), 50),
        attack("all arrived, a quarter of what was left out", Receiver, What::Coin(25), 50),
        attack("early acknowledgement", Receiver, What::Early, 10),
        attack("all missing", Receiver, What::Missing, 50),
        attack("contradictory reports", Receiver, What::Contradictory, 50),
        attack("bit errors", Receiver, What::BitErrors, 50),
        attack("silence", Receiver, What::Numbers, 1_000_000),
    ]
};
