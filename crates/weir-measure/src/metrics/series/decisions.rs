//! The decisions of controllers that changed a rate or its limiting factor, with the signals that caused them.

mod cells;
mod csv;
mod recorder;

use std::io::{self, Read, Write};

use weir_cc::{ChangeReason, LimitingFactor};
use weir_net::Time;
use weir_units::DataRate;

use super::spool::{Block, Spooled};

pub use csv::{DECISION_COLUMNS, DecisionColumn};
pub(super) use recorder::DecisionRecorder;

/// Least change of the rate since the last recorded decision for which a decision is recorded, as a part of the rate.
const MIN_CHANGE: f64 = 0.02;
/// Greatest number of signals of a decision.
const MAX_SIGNALS: usize = 3;

/// A recorded decision of a controller, or a rate that coupling allocated to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedDecision {
    /// Time, to the millisecond.
    pub time: Time,
    /// The flow, by its index in the plan.
    pub flow: usize,
    /// The rate of the last recorded decision.
    pub from: DataRate,
    /// The rate of this decision.
    pub to: DataRate,
    /// Cause of the change.
    pub reason: DecisionReason,
    /// The limiting factor after the decision.
    pub limiting_factor: LimitingFactor,
    /// The signals that caused the decision.
    pub signals: [Option<DecidingSignal>; MAX_SIGNALS],
}

/// Cause of a change of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionReason {
    /// The controller decided.
    Decision(ChangeReason),
    /// Coupling allocated another share.
    Coupling,
}

impl DecisionReason {
    /// Every reason.
    pub fn all() -> impl Iterator<Item = Self> {
        ChangeReason::ALL.into_iter().map(Self::Decision).chain([Self::Coupling])
    }

    /// The reason as an identifier, for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decision(why) => why.name(),
            Self::Coupling => LimitingFactor::Coupling.name(),
        }
    }
}

/// A signal that caused a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecidingSignal {
    /// Index of the signal among the sender half's signals.
    pub signal: usize,
    /// Its value, in its unit, to four digits.
    pub value: f64,
    /// The threshold with which it was compared, if any.
    pub threshold: Option<f64>,
}

/// The recorded decisions of a run, in the order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Decisions {
    /// The flows of the plan.
    flows: Vec<FlowNames>,
    rows: Spooled<Vec<RecordedDecision>>,
}

/// Names that the numbers in a flow's rows stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FlowNames {
    name: String,
    /// The sender half's signals.
    signals: Vec<String>,
    /// The same in ASCII.
    in_files: Vec<String>,
}

impl Default for Decisions {
    fn default() -> Self {
        Self { flows: Vec::new(), rows: Vec::new().into() }
    }
}

impl Decisions {
    /// Calls `take` with each decision in turn.
    ///
    /// # Errors
    /// An error of `take`, or of the storage of a long run.
    pub fn each<E: From<io::Error>>(
        &self,
        mut take: impl FnMut(&RecordedDecision) -> Result<(), E>,
    ) -> Result<(), E> {
        self.rows.each_block(|rows| rows.iter().try_for_each(&mut take))
    }

    /// The name of a flow.
    pub fn flow(&self, flow: usize) -> &str {
        self.flows.get(flow).map_or("", |own| &own.name)
    }

    /// The name in ASCII of a signal of a flow's sender half, as files have it.
    fn signal_in_files(&self, flow: usize, signal: usize) -> &str {
        self.flows.get(flow).and_then(|own| own.in_files.get(signal)).map_or("", String::as_str)
    }

    /// The name of a signal of a flow's sender half.
    pub fn signal(&self, flow: usize, signal: usize) -> &str {
        self.flows.get(flow).and_then(|own| own.signals.get(signal)).map_or("", String::as_str)
    }
}

/// Number of bytes of a stored row.
const ROW: usize = 8 + 4 + 8 + 8 + 2 + MAX_SIGNALS * SIGNAL;
const SIGNAL: usize = 1 + 8 + 8;
/// Mark of an absent signal, instead of its number.
const NO_SIGNAL: u8 = u8::MAX;

impl Block for Vec<RecordedDecision> {
    fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&(self.len() as u64).to_le_bytes())?;
        for row in self {
            let reason = DecisionReason::all().position(|reason| reason == row.reason).unwrap_or_default();
            out.write_all(&row.time.nanos().to_le_bytes())?;
            out.write_all(&(row.flow as u32).to_le_bytes())?;
            out.write_all(&row.from.bps().to_le_bytes())?;
            out.write_all(&row.to.bps().to_le_bytes())?;
            out.write_all(&[reason as u8, row.limiting_factor as u8])?;
            for signal in &row.signals {
                let number = signal.map_or(NO_SIGNAL, |own| own.signal as u8);
                let value = signal.map_or(f64::NAN, |own| own.value);
                let threshold = signal.and_then(|own| own.threshold).unwrap_or(f64::NAN);
                out.write_all(&[number])?;
                out.write_all(&value.to_le_bytes())?;
                out.write_all(&threshold.to_le_bytes())?;
            }
        }
        Ok(())
    }

    fn read(&mut self, from: &mut impl Read) -> io::Result<()> {
        self.clear();
        let mut length = [0; 8];
        from.read_exact(&mut length)?;
        for _ in 0..u64::from_le_bytes(length) {
            let mut bytes = [0; ROW];
            from.read_exact(&mut bytes)?;
            let mut rest = bytes.as_slice();
            self.push(read_row(&mut rest)?);
        }
        Ok(())
    }
}

fn read_row(from: &mut &[u8]) -> io::Result<RecordedDecision> {
    let strange = || io::Error::from(io::ErrorKind::InvalidData);
    let time = Time::from_nanos(u64::from_le_bytes(take(from)?));
    let flow = u32::from_le_bytes(take(from)?) as usize;
    let [low, high] = [take(from)?, take(from)?].map(|bytes| DataRate::from_bps(u64::from_le_bytes(bytes)));
    let [reason, factor]: [u8; 2] = take(from)?;
    let mut signals = [None; MAX_SIGNALS];
    for slot in &mut signals {
        let [signal]: [u8; 1] = take(from)?;
        let [value, threshold] = [take(from)?, take(from)?].map(f64::from_le_bytes);
        let threshold = Some(threshold).filter(|threshold| !threshold.is_nan());
        *slot =
            (signal != NO_SIGNAL).then_some(DecidingSignal { signal: usize::from(signal), value, threshold });
    }
    Ok(RecordedDecision {
        time,
        flow,
        from: low,
        to: high,
        reason: DecisionReason::all().nth(usize::from(reason)).ok_or_else(strange)?,
        limiting_factor: *LimitingFactor::ALL.get(usize::from(factor)).ok_or_else(strange)?,
        signals,
    })
}

/// The next `N` bytes.
fn take<const N: usize>(from: &mut &[u8]) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}
