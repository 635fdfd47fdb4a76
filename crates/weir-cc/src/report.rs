//! Two vocabularies: what crosses the network ([`Report`]) and what a law consumes ([`Feedback`]).
//!
//! The [send history](crate::history::SendHistory) turns the one into the other.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::packet::{Ecn, PacketResult};
use crate::time::{ApparentDelay, ArrivalTime};

/// What a receiver half has to say to the sender half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Report<'a> {
    /// The fate of single packets (transport-wide feedback, RFC 8888).
    Packets {
        /// One record per packet number that the report covers, in order of number.
        records: &'a [Record],
        /// The report's own number, modulo 256, by which lost reports are counted. Where the format carries none (RFC
        /// 8888) the reader counts, and none is missed.
        number: u8,
        /// When the report was made; `None` where the format does not carry it.
        at: Option<ArrivalTime>,
    },
    /// An upper bound for the sending rate (REMB).
    Ceiling(DataRate),
    /// The statistics of an RTCP receiver report (RFC 3550 §6.4).
    Reception(ReceptionReport),
    /// The report that a law defines for itself.
    Law {
        /// The law's own values.
        report: LawReport,
        /// Echo by which the sender measures the round-trip time.
        echo: Echo,
    },
}

impl<'a> Report<'a> {
    /// The fate of single packets in a format that does not say when the report was made.
    pub const fn packets(records: &'a [Record], number: u8) -> Self {
        Self::Packets { records, number, at: None }
    }
}

/// One packet of a per-packet report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The lower 16 bits of the packet's number.
    pub sequence: u16,
    /// When it arrived; `None` if it has not been seen.
    pub arrival: Option<ArrivalTime>,
    /// ECN field on arrival.
    pub ecn: Ecn,
}

impl Record {
    /// The packet whose number ends in `sequence`, arrived without a mark or not seen.
    pub const fn new(sequence: u16, arrival: Option<ArrivalTime>) -> Self {
        Self { sequence, arrival, ecn: Ecn::NotEct }
    }
}

/// The newest packet a report knows of and how long the receiver held it before reporting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The lower 16 bits of the packet's number.
    pub sequence: u16,
    /// From its arrival to the making of the report.
    pub held: TimeDelta,
}

/// Statistics of an RTCP receiver report (RFC 3550 §6.4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceptionReport {
    /// Loss since the report before, in 1/256.
    pub fraction_lost: u8,
    /// Packets lost since the beginning; negative if duplicates outnumber losses.
    pub cumulative_lost: i32,
    /// Highest sequence number received, extended by the count of wraps in the upper 16 bits.
    pub highest_sequence: u32,
    /// Interarrival jitter in ticks of the media clock.
    pub jitter: u32,
    /// Middle 32 bits of the NTP time of the last sender report; 0 if none came.
    pub last_sender_report: u32,
    /// From the arrival of that sender report to this report, in 1/65536 s.
    pub delay_since_last_sender_report: u32,
}

impl ReceptionReport {
    /// Loss since the report before as a ratio in [0, 1).
    pub fn loss_ratio(&self) -> f64 {
        f64::from(self.fraction_lost) / 256.0
    }
}

/// The values of a law's own report.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum LawReport {
    /// NADA (RFC 8698 §4.3, §5.3).
    Nada(NadaReport),
    /// DCCC (dccc-2017 appendix C-A).
    Dccc(DcccReport),
    /// TFRC (RFC 5348 §3.2.2).
    Tfrc(TfrcReport),
    /// NADA's first drafts (draft-zhu-rmcat-nada-03 §5).
    NadaDelay(NadaDelayReport),
}

/// NADA's 48-bit report (RFC 8698 §5.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NadaReport {
    /// `rmode`: whether accelerated ramp-up is allowed.
    pub ramp_up: bool,
    /// `x_curr`, the aggregate congestion signal; the wire carries it in 100 µs up to 3.2767 s.
    pub congestion: TimeDelta,
    /// `r_recv`, the receive rate over the last log window.
    pub receive_rate: DataRate,
}

/// DCCC's feedback packet (dccc-2017 appendix C-A): averages over the packets since the report before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DcccReport {
    /// `e_r`, the mean one-way delay.
    pub delay: ApparentDelay,
    /// `x_r(t − RTT)`, the mean of the sending rates that the packets carried; zero while unknown.
    pub sending_rate: DataRate,
    /// `Δt^a`, the mean interarrival time; zero while unknown, as with the first packet of a flow.
    pub interarrival: TimeDelta,
    /// The mean payload of the packets with an interarrival time.
    pub packet_size: DataSize,
    /// When the report was made, by the receiver's clock.
    pub at: ArrivalTime,
}

impl DcccReport {
    /// `x_recv`, the rate in bit/s at which the packets arrived (dccc-2017 eq. (20)); `None` if the report does not
    /// say it, or not how fast they were sent.
    pub fn receive_rate(&self) -> Option<f64> {
        let known = self.interarrival > TimeDelta::ZERO
            && !self.packet_size.is_zero()
            && !self.sending_rate.is_zero();
        known.then(|| self.packet_size.bits_f64() / self.interarrival.secs_f64())
    }
}

/// TFRC's feedback (RFC 5348 §3.2.2), besides the echo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TfrcReport {
    /// `p`, the loss event rate in [0, 1]; 0 before the first loss event.
    pub loss_event_rate: f64,
    /// `X_recv`, the receive rate over the last round trip.
    pub receive_rate: DataRate,
}

/// The report of NADA's first drafts: delays, from which the sender computes the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NadaDelayReport {
    /// `x_n`, the smoothed one-way delay with the penalties for losses and marks.
    pub congestion: TimeDelta,
    /// `x_ref`, the reference delay.
    pub reference: TimeDelta,
}

/// What a law's sender half consumes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feedback<'a> {
    /// Fates of packets in order of number; only news, never the same fate twice.
    Packets {
        /// The packets whose fate the report told for the first time, or changed.
        results: &'a [PacketResult],
        /// When the report was made, by the receiver's clock; `None` where the format does not carry it.
        at: Option<ArrivalTime>,
        /// Round-trip time by the newest packet, without the time the receiver held it where the report tells when it
        /// was made.
        rtt: Option<TimeDelta>,
        /// How many reports were lost since the one before.
        missed_reports: u8,
    },
    /// An upper bound for the sending rate.
    Ceiling(DataRate),
    /// Statistics of a receiver report.
    Reception {
        /// The statistics.
        report: ReceptionReport,
        /// Round-trip time by the last sender report (RFC 3550 §6.4.1).
        rtt: Option<TimeDelta>,
    },
    /// A law's own report.
    Law {
        /// The law's own values.
        report: LawReport,
        /// Round-trip time by the echoed packet.
        rtt: Option<TimeDelta>,
    },
}

impl<'a> Feedback<'a> {
    /// Fates of packets, with the round-trip time by the newest: no report went missing, and when this one was made is not known.
    pub const fn packets(results: &'a [PacketResult], rtt: Option<TimeDelta>) -> Self {
        Self::Packets { results, at: None, rtt, missed_reports: 0 }
    }

    /// The round-trip time measured with this feedback, if it carries one.
    pub fn rtt(&self) -> Option<TimeDelta> {
        match *self {
            Self::Packets { rtt, .. } | Self::Reception { rtt, .. } | Self::Law { rtt, .. } => rtt,
            Self::Ceiling(_) => None,
        }
    }
}
