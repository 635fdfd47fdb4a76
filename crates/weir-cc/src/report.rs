//! Messages that cross the network ([`Report`]), and the input of a controller ([`Feedback`]).
//!
//! The [send history](crate::history::SendHistory) converts the first into the second.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::packet::{Ecn, PacketResult};
use crate::time::{ApparentDelay, ArrivalTime};

/// A message of a receiver half to the sender half.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Report<'a> {
    /// The fate of single packets (transport-wide feedback, RFC 8888).
    Packets {
        /// Records in order of number, a record per packet number that the report covers.
        records: &'a [Record],
        /// The report's own number, modulo 256, by which lost reports are counted. Where the format carries none (RFC
        /// 8888) the reader counts, and none is missed.
        number: u8,
        /// When the report was made, or `None` where the format does not carry it.
        at: Option<ArrivalTime>,
    },
    /// An upper bound for the sending rate (REMB).
    Ceiling(DataRate),
    /// The statistics of an RTCP receiver report (RFC 3550 §6.4).
    Reception(ReceptionReport),
    /// A report in the controller's own form.
    Native {
        /// The controller's own values.
        report: NativeReport,
        /// Echo by which the sender measures the round-trip time.
        echo: Echo,
    },
}

/// The RTCP form of per-packet reports ([`Report::Packets`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum PacketFormat {
    /// Transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01): arrival times to 250 µs, without ECN and without the
    /// time of the report.
    #[default]
    TransportWide,
    /// Congestion control feedback (RFC 8888): arrival times to 1/1024 s, ECN, and the time of the report.
    Rfc8888,
}

/// Kinds of reports, by which a controller selects the ones it uses
/// ([`Controller::accepts`](crate::Controller::accepts)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ReportKind {
    /// [`Report::Packets`].
    Packets,
    /// [`Report::Ceiling`].
    Ceiling,
    /// [`Report::Reception`].
    Reception,
    /// [`NativeReport::Nada`].
    Nada,
    /// [`NativeReport::Dccc`].
    Dccc,
    /// [`NativeReport::Tfrc`].
    Tfrc,
    /// [`NativeReport::NadaDelay`].
    NadaDelay,
    /// [`NativeReport::Own`].
    Own,
}

impl Report<'_> {
    /// The kind of the report.
    pub const fn kind(&self) -> ReportKind {
        match self {
            Self::Packets { .. } => ReportKind::Packets,
            Self::Ceiling(_) => ReportKind::Ceiling,
            Self::Reception(_) => ReportKind::Reception,
            Self::Native { report, .. } => match report {
                NativeReport::Nada(_) => ReportKind::Nada,
                NativeReport::Dccc(_) => ReportKind::Dccc,
                NativeReport::Tfrc(_) => ReportKind::Tfrc,
                NativeReport::NadaDelay(_) => ReportKind::NadaDelay,
                NativeReport::Own(_) => ReportKind::Own,
            },
        }
    }
}

impl<'a> Report<'a> {
    /// The fates of single packets in a format that does not carry the time of the report.
    pub const fn packets(records: &'a [Record], number: u8) -> Self {
        Self::Packets { records, number, at: None }
    }
}

/// Record of one packet in a per-packet report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Record {
    /// The lower 16 bits of the packet's number.
    pub sequence: u16,
    /// Whether it arrived, and when.
    pub reception: Reception,
    /// ECN field on arrival.
    pub ecn: Ecn,
}

/// Arrival of a packet, as reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Reception {
    /// The packet has not been seen.
    #[default]
    Missing,
    /// The packet arrived, at a time that the report does not carry (RFC 8888 §3.1, arrival time offsets 0x1FFE and
    /// 0x1FFF; transport-wide feedback without a receive delta).
    Untimed,
    /// The packet arrived at this time.
    At(ArrivalTime),
}

impl Reception {
    /// When the packet arrived, or `None` if it has not been seen, or its time is not reported.
    pub const fn time(self) -> Option<ArrivalTime> {
        match self {
            Self::At(at) => Some(at),
            Self::Missing | Self::Untimed => None,
        }
    }

    /// Whether the packet arrived.
    pub const fn is_arrival(self) -> bool {
        !matches!(self, Self::Missing)
    }
}

impl Record {
    /// The packet whose number ends in `sequence`, arrived without a mark or not seen.
    pub const fn new(sequence: u16, arrival: Option<ArrivalTime>) -> Self {
        let reception = match arrival {
            Some(at) => Reception::At(at),
            None => Reception::Missing,
        };
        Self { sequence, reception, ecn: Ecn::NotEct }
    }
}

/// The newest packet covered by a report, and how long the receiver held it before reporting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Echo {
    /// The lower 16 bits of the packet's number.
    pub sequence: u16,
    /// Time from its arrival to the report.
    pub held: TimeDelta,
}

/// Statistics of an RTCP receiver report (RFC 3550 §6.4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

/// The values of a controller's own report.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum NativeReport {
    /// NADA (RFC 8698 §4.3, §5.3).
    Nada(NadaReport),
    /// DCCC (dccc-2017 appendix C-A).
    Dccc(DcccReport),
    /// TFRC (RFC 5348 §3.2.2).
    Tfrc(TfrcReport),
    /// NADA's first drafts (draft-zhu-rmcat-nada-03 §5).
    NadaDelay(NadaDelayReport),
    /// A report of any other controller.
    Own(OwnReport),
}

/// NADA's 48-bit report (RFC 8698 §5.3).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    /// `x_recv`, the rate in bit/s at which the packets arrived (dccc-2017 eq. (20)), or `None` if the report
    /// carries no such rate or no sending rate.
    pub fn receive_rate(&self) -> Option<f64> {
        let known = self.interarrival > TimeDelta::ZERO
            && !self.packet_size.is_zero()
            && !self.sending_rate.is_zero();
        known.then(|| self.packet_size.bits_f64() / self.interarrival.secs_f64())
    }
}

/// TFRC's feedback (RFC 5348 §3.2.2), besides the echo.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TfrcReport {
    /// `p`, the loss event rate in [0, 1]; 0 before the first loss event.
    pub loss_event_rate: f64,
    /// `X_recv`, the receive rate over the last round trip.
    pub receive_rate: DataRate,
}

/// The report of NADA's first drafts: delays, from which the sender computes the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NadaDelayReport {
    /// `x_n`, the smoothed one-way delay with the penalties for losses and marks.
    pub congestion: TimeDelta,
    /// `x_ref`, the reference delay.
    pub reference: TimeDelta,
}

/// The report of a controller outside this crate: a name, and bytes that its observer fills and its sender half
/// reads. The endpoints carry it unchanged, with the [`Echo`] beside it; a controller ignores reports of other
/// names.
///
/// ```
/// use weir_cc::OwnReport;
///
/// const NAME: [u8; 4] = *b"MINE";
/// let lost: u16 = 7;
/// let report = OwnReport::new(NAME, &lost.to_be_bytes())?;
/// let read = report.bytes_of(NAME).and_then(|bytes| bytes.try_into().ok()).map(u16::from_be_bytes);
/// assert_eq!(read, Some(7));
/// # Ok::<(), weir_cc::OwnReportTooLong>(())
/// ```
///
/// The clocks of the two ends are hours apart and neither knows by how much: times in it are best differences.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "RawReport", try_from = "RawReport"))]
pub struct OwnReport {
    name: [u8; 4],
    length: u8,
    /// Bytes of the report; zero after `length`.
    bytes: [u8; Self::MAX_LEN],
}

impl OwnReport {
    /// Largest number of bytes in a report.
    pub const MAX_LEN: usize = 64;

    /// A report of `bytes` under `name`, four letters that no other controller has (as of RTCP APP packets, RFC
    /// 3550 §6.7).
    ///
    /// # Errors
    /// [`OwnReportTooLong`] if there are more than [`Self::MAX_LEN`] of them.
    pub fn new(name: [u8; 4], bytes: &[u8]) -> Result<Self, OwnReportTooLong> {
        let mut report = Self { name, length: bytes.len() as u8, bytes: [0; Self::MAX_LEN] };
        let room = report.bytes.get_mut(..bytes.len()).ok_or(OwnReportTooLong { length: bytes.len() })?;
        room.copy_from_slice(bytes);
        Ok(report)
    }

    /// Name of the controller whose report it is.
    pub const fn name(&self) -> [u8; 4] {
        self.name
    }

    /// Contents of the report.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Contents of the report, if its name is `name`.
    pub fn bytes_of(&self, name: [u8; 4]) -> Option<&[u8]> {
        (self.name == name).then(|| self.bytes())
    }
}

/// A controller's own report in its serialised form.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct RawReport {
    name: [u8; 4],
    bytes: alloc::vec::Vec<u8>,
}

#[cfg(feature = "serde")]
impl From<OwnReport> for RawReport {
    fn from(report: OwnReport) -> Self {
        Self { name: report.name, bytes: report.bytes().to_vec() }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<RawReport> for OwnReport {
    type Error = OwnReportTooLong;

    fn try_from(raw: RawReport) -> Result<Self, OwnReportTooLong> {
        Self::new(raw.name, &raw.bytes)
    }
}

impl core::fmt::Debug for OwnReport {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "OwnReport({} {:?})", self.name.escape_ascii(), self.bytes())
    }
}

/// Error of a controller's own report with too many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnReportTooLong {
    /// Number of bytes that were given.
    pub length: usize,
}

impl core::fmt::Display for OwnReportTooLong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "a report of {} bytes, it may have at most {}", self.length, OwnReport::MAX_LEN)
    }
}

impl core::error::Error for OwnReportTooLong {}

/// Input of a controller's sender half.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Feedback<'a> {
    /// Fates of packets in order of number; only new ones, never the same fate twice.
    Packets {
        /// The packets whose fate was reported for the first time, or changed.
        results: &'a [PacketResult],
        /// When the report was made, by the receiver's clock, or `None` where the format does not carry it.
        at: Option<ArrivalTime>,
        /// Round-trip time by the newest packet with a reported arrival time. The time the receiver held it is left
        /// out where the report carries its own time.
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
    /// A controller's own report.
    Native {
        /// The controller's own values.
        report: NativeReport,
        /// Round-trip time by the echoed packet.
        rtt: Option<TimeDelta>,
    },
}

impl<'a> Feedback<'a> {
    /// Fates of packets, with the round-trip time by the newest. No report went missing, and the time of this one
    /// is unknown.
    pub const fn packets(results: &'a [PacketResult], rtt: Option<TimeDelta>) -> Self {
        Self::Packets { results, at: None, rtt, missed_reports: 0 }
    }

    /// The round-trip time measured with this feedback, if it carries one.
    pub fn rtt(&self) -> Option<TimeDelta> {
        match *self {
            Self::Packets { rtt, .. } | Self::Reception { rtt, .. } | Self::Native { rtt, .. } => rtt,
            Self::Ceiling(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_report_holds_up_to_64_bytes_for_those_who_know_its_name() {
        let most = [9; 65];
        for length in [0, 1, 64] {
            let report = OwnReport::new(*b"MINE", &most[..length]).unwrap();
            assert_eq!((report.name(), report.bytes()), (*b"MINE", &most[..length]));
            assert_eq!((report.bytes_of(*b"MINE"), report.bytes_of(*b"YOUR")), (Some(&most[..length]), None));
        }
        let error = OwnReport::new(*b"MINE", &most).unwrap_err();
        assert_eq!(error, OwnReportTooLong { length: 65 });
        assert_eq!(error.to_string(), "a report of 65 bytes, it may have at most 64");
    }
}
