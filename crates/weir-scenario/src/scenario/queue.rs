//! Queues: limits, and the discipline that drops, marks and orders within them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_net::{InService as NetInService, QueueConfig};
use weir_units::{DataRate, DataSize, TimeDelta};

/// A queue. A packet that would violate a limit is dropped, or others in its place, by the discipline. `queue = {}` has no limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Longest time from a packet's arrival to its departure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeDelta>,
    /// Most bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<DataSize>,
    /// Most bytes, as the data that the rate of the moment sends in this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rate: Option<TimeDelta>,
    /// Most bytes, as the data that the link's highest rate sends in this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_peak_rate: Option<TimeDelta>,
    /// Most packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Whether the packet in service counts in the limits of bytes and packets.
    #[serde(default)]
    pub in_service: InService,
    /// Packets that waited longer are marked CE if ECN-capable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark_above: Option<TimeDelta>,
    /// The discipline that drops, marks and orders within the limits; drop-tail unless given.
    #[serde(default)]
    pub discipline: QueueDiscipline,
}

impl Queue {
    /// A queue without any limit.
    pub const UNLIMITED: Self = Self {
        time: None,
        bytes: None,
        at_rate: None,
        at_peak_rate: None,
        packets: None,
        in_service: InService::Counted,
        mark_above: None,
        discipline: QueueDiscipline::Word(DisciplineWord::DropTail),
    };

    /// The queue before a server whose highest rate is `peak`.
    pub(crate) fn config(&self, peak: impl Fn() -> DataRate) -> QueueConfig {
        let discipline = self.discipline.config();
        let mut limit_bytes =
            [self.bytes, self.at_peak_rate.map(|time| peak() * time)].into_iter().flatten().min();
        let mut limit_packets = self.packets;
        if self.has_no_limit() {
            match discipline {
                weir_net::Discipline::DropTail | weir_net::Discipline::DropHead => {}
                weir_net::Discipline::FqCoDel(_) => limit_packets = Some(10_240),
                weir_net::Discipline::DualPi2(_) => limit_bytes = Some(peak() * TimeDelta::from_millis(250)),
                _ => limit_packets = Some(1000),
            }
        }
        QueueConfig {
            limit_time: self.time,
            limit_bytes,
            limit_at_rate: self.at_rate,
            limit_packets,
            in_service: match self.in_service {
                InService::Counted => NetInService::Counted,
                InService::Whole => NetInService::Whole,
                InService::Free => NetInService::Free,
            },
            mark_above: self.mark_above,
            discipline,
        }
    }

    fn has_no_limit(&self) -> bool {
        let times = [self.time, self.at_rate, self.at_peak_rate];
        times.iter().all(Option::is_none) && self.bytes.is_none() && self.packets.is_none()
    }
}

impl Default for Queue {
    /// 300 ms, the default of RFC 8867 §4.1.
    fn default() -> Self {
        Self { time: Some(TimeDelta::from_millis(300)), ..Self::UNLIMITED }
    }
}

/// Whether the packet in service counts in a queue's limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InService {
    /// Its unserved part counts.
    #[default]
    Counted,
    /// All its bytes count until it is served.
    Whole,
    /// Its bytes do not count.
    Free,
}

/// The discipline that drops, marks and orders the packets of a queue: a word, or a table with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum QueueDiscipline {
    /// With the parameters of its RFC or paper.
    Word(DisciplineWord),
    /// With some parameters changed.
    Table(DisciplineTable),
}

impl Default for QueueDiscipline {
    fn default() -> Self {
        Self::Word(DisciplineWord::DropTail)
    }
}

/// A discipline as a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DisciplineWord {
    /// A packet that does not fit is dropped.
    #[default]
    DropTail,
    /// The oldest packets are dropped for the arriving one.
    DropHead,
    /// CoDel (RFC 8289).
    #[serde(rename = "codel")]
    CoDel,
    /// FQ-CoDel (RFC 8290).
    #[serde(rename = "fq-codel")]
    FqCoDel,
    /// PIE (RFC 8033).
    Pie,
    /// RED (Floyd and Jacobson 1993).
    Red,
    /// DualPI2 (RFC 9332).
    #[serde(rename = "dualpi2")]
    DualPi2,
}

/// A discipline and its parameters; parameters that are not given are those of its RFC or paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DisciplineTable {
    /// A packet that does not fit is dropped.
    DropTail {},
    /// The oldest packets are dropped for the arriving one.
    DropHead {},
    /// CoDel (RFC 8289).
    #[serde(rename = "codel")]
    CoDel {
        /// TARGET; 5 ms.
        target: Option<TimeDelta>,
        /// INTERVAL; 100 ms.
        interval: Option<TimeDelta>,
        /// Whether ECN-capable packets are marked; they are.
        ecn: Option<bool>,
        /// Whether the target is at least the time of 1.5 packets at the highest rate; it is not.
        raise_target: Option<bool>,
    },
    /// FQ-CoDel (RFC 8290).
    #[serde(rename = "fq-codel")]
    FqCoDel {
        /// TARGET; 5 ms.
        target: Option<TimeDelta>,
        /// INTERVAL; 100 ms.
        interval: Option<TimeDelta>,
        /// Whether ECN-capable packets are marked; they are.
        ecn: Option<bool>,
        /// Whether the target is at least the time of 1.5 packets at the highest rate; it is not.
        raise_target: Option<bool>,
        /// Bytes per round; 1514 B.
        quantum: Option<DataSize>,
        /// Number of queues that flows are hashed to; one per flow unless given.
        #[schemars(range(min = 1, max = 65_536))]
        queues: Option<u32>,
    },
    /// PIE (RFC 8033).
    Pie {
        /// `QDELAY_REF`; 15 ms.
        target: Option<TimeDelta>,
        /// `T_UPDATE`; 15 ms.
        update: Option<TimeDelta>,
        /// alpha, per second; 0.125.
        #[schemars(range(min = 0.0))]
        alpha: Option<f64>,
        /// beta, per second; 1.25.
        #[schemars(range(min = 0.0))]
        beta: Option<f64>,
        /// `MAX_BURST`; 150 ms.
        max_burst: Option<TimeDelta>,
        /// Whether ECN-capable packets are marked; they are.
        ecn: Option<bool>,
        /// Drop probability below which they are; 0.1.
        #[schemars(range(min = 0.0, max = 1.0))]
        ecn_below: Option<f64>,
        /// Whether drops are spaced and steps bounded; they are.
        enhanced: Option<bool>,
    },
    /// RED (Floyd and Jacobson 1993).
    Red {
        /// `w_q`; 0.002.
        #[schemars(range(min = 0.0, max = 1.0))]
        weight: Option<f64>,
        /// `min_th` in packets; 5.
        #[schemars(range(min = 0.0))]
        min: Option<f64>,
        /// `max_th` in packets; 15.
        #[schemars(range(min = 0.0))]
        max: Option<f64>,
        /// `max_p`; 0.1.
        #[schemars(range(min = 0.0, max = 1.0))]
        max_probability: Option<f64>,
        /// Whether the probability rises to 1 at twice `max`; it jumps at `max`.
        gentle: Option<bool>,
        /// Whether the queue counts in bytes; it does not.
        by_bytes: Option<bool>,
        /// A typical packet; 1000 B.
        mean_packet: Option<DataSize>,
        /// Whether ECN-capable packets are marked; they are.
        ecn: Option<bool>,
    },
    /// DualPI2 (RFC 9332).
    #[serde(rename = "dualpi2")]
    DualPi2 {
        /// Target delay of the Classic queue; 15 ms.
        target: Option<TimeDelta>,
        /// `RTT_max`; 100 ms.
        max_rtt: Option<TimeDelta>,
        /// k; 2.
        #[schemars(range(min = 0.0))]
        coupling: Option<f64>,
        /// minTh, from which L4S packets are marked; 800 µs.
        ramp_from: Option<TimeDelta>,
        /// Delay range over which marking rises to all packets; 400 µs.
        ramp_range: Option<TimeDelta>,
        /// Share of the Classic queue in weighted round robin; 1/16.
        #[schemars(range(min = 0.0, max = 1.0))]
        classic_share: Option<f64>,
        /// Head start of the L4S queue in a time-shifted FIFO, in place of weighted round robin.
        time_shift: Option<TimeDelta>,
        /// Whether ECN-capable Classic packets are marked; they are.
        ecn: Option<bool>,
    },
}

/// Sets the given parameters.
macro_rules! set {
    ($config:ident: $($field:ident = $value:expr),* $(,)?) => {
        $(if let Some(value) = $value { $config.$field = value; })*
    };
}

impl QueueDiscipline {
    pub(crate) fn config(&self) -> weir_net::Discipline {
        use weir_net::{CoDel, DualPi2, FqCoDel, Pie, Red};
        match self {
            Self::Table(table) => table.config(),
            Self::Word(DisciplineWord::DropTail) => weir_net::Discipline::DropTail,
            Self::Word(DisciplineWord::DropHead) => weir_net::Discipline::DropHead,
            Self::Word(DisciplineWord::CoDel) => weir_net::Discipline::CoDel(CoDel::default()),
            Self::Word(DisciplineWord::FqCoDel) => weir_net::Discipline::FqCoDel(FqCoDel::default()),
            Self::Word(DisciplineWord::Pie) => weir_net::Discipline::Pie(Pie::default()),
            Self::Word(DisciplineWord::Red) => weir_net::Discipline::Red(Red::default()),
            Self::Word(DisciplineWord::DualPi2) => weir_net::Discipline::DualPi2(DualPi2::default()),
        }
    }
}

impl DisciplineTable {
    fn config(&self) -> weir_net::Discipline {
        use weir_net::{CoDel, DualPi2, FqCoDel, Pie, Red, Scheduler};
        match *self {
            Self::DropTail {} => weir_net::Discipline::DropTail,
            Self::DropHead {} => weir_net::Discipline::DropHead,
            Self::CoDel { target, interval, ecn, raise_target } => {
                let mut codel = CoDel::default();
                set!(codel: target = target, interval = interval, ecn = ecn, raise_target = raise_target);
                weir_net::Discipline::CoDel(codel)
            }
            Self::FqCoDel { target, interval, ecn, raise_target, quantum, queues } => {
                let mut codel = CoDel::default();
                set!(codel: target = target, interval = interval, ecn = ecn, raise_target = raise_target);
                let mut fq = FqCoDel { codel, queues, ..FqCoDel::default() };
                set!(fq: quantum = quantum);
                weir_net::Discipline::FqCoDel(fq)
            }
            Self::Pie { target, update, alpha, beta, max_burst, ecn, ecn_below, enhanced } => {
                let mut pie = Pie::default();
                set!(pie: target = target, update = update, alpha = alpha, beta = beta, max_burst = max_burst,
                    ecn = ecn, ecn_below = ecn_below, enhanced = enhanced);
                weir_net::Discipline::Pie(pie)
            }
            Self::Red { weight, min, max, max_probability, gentle, by_bytes, mean_packet, ecn } => {
                let mut red = Red::default();
                set!(red: weight = weight, min_threshold = min, max_threshold = max,
                    max_probability = max_probability, gentle = gentle, by_bytes = by_bytes,
                    mean_packet = mean_packet, ecn = ecn);
                weir_net::Discipline::Red(red)
            }
            Self::DualPi2 {
                target,
                max_rtt,
                coupling,
                ramp_from,
                ramp_range,
                classic_share,
                time_shift,
                ecn,
            } => {
                let mut dual = DualPi2::default();
                set!(dual: target = target, max_rtt = max_rtt, coupling = coupling, ramp_from = ramp_from,
                    ramp_range = ramp_range, ecn = ecn,
                    scheduler = classic_share.map(|classic| Scheduler::Weighted { classic }),
                    scheduler = time_shift.map(|shift| Scheduler::TimeShifted { shift }));
                weir_net::Discipline::DualPi2(dual)
            }
        }
    }
}
