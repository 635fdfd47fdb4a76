//! What every observer of NADA keeps: the base delay, the log of the last `LOGWIN`, the receive rate, and when the
//! next report is due.

use weir_units::{DataRate, TimeDelta};

use super::window::{LogWindow, Logged, Ratios};
use crate::base_delay::BaseDelay;
use crate::packet::{Arrival, Ecn};
use crate::receive_rate::ReceiveRate;
use crate::time::{ApparentDelay, ArrivalTime};

/// The spans a log goes by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spans {
    /// `LOGWIN`.
    pub(super) window: TimeDelta,
    /// `DELTA`, interval between reports.
    pub(super) interval: TimeDelta,
    /// A raw queuing delay from here on is a clock that was set.
    pub(super) clock_step: TimeDelta,
}

/// The log of a path.
#[derive(Debug)]
pub(super) struct Log {
    spans: Spans,
    base: BaseDelay,
    window: LogWindow,
    received: ReceiveRate,
    /// The greatest number seen.
    newest: Option<u64>,
    /// The latest arrival.
    clock: ArrivalTime,
    due: Option<ArrivalTime>,
}

/// What an arrival means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct News {
    /// Its time, which never runs backwards unless the clock was set.
    pub(super) at: ArrivalTime,
    pub(super) delay: ApparentDelay,
    /// `delay` above the base delay: the raw queuing delay.
    pub(super) queuing: TimeDelta,
    /// Packets missing between this one and the newest before it; `None` of a packet that comes late or again.
    pub(super) missing: Option<u64>,
    /// Nothing had arrived for `LOGWIN`.
    pub(super) after_silence: bool,
    /// The clocks have moved against each other: delays from before cannot be compared.
    pub(super) clocks_moved: bool,
    /// The receiver's clock was set back: times from before cannot be compared either.
    pub(super) set_back: bool,
}

impl Log {
    pub(super) fn new(spans: Spans) -> Self {
        Self {
            spans,
            base: BaseDelay::new(),
            window: LogWindow::new(spans.window),
            received: ReceiveRate::new(spans.window),
            newest: None,
            clock: ArrivalTime::ZERO,
            due: None,
        }
    }

    /// A packet has arrived. One that comes late stays lost (RFC 8698 §5.1.2) and counts in the receive rate alone.
    pub(super) fn on_arrival(&mut self, packet: &Arrival) -> News {
        let set_back = self.newest.is_some() && self.clock - packet.at > self.spans.window;
        if set_back {
            self.forget_delays();
        }
        let at = if set_back || self.newest.is_none() { packet.at } else { packet.at.max(self.clock) };
        self.clock = at;
        let next = at + self.spans.interval;
        self.due = Some(self.due.map_or(next, |due| due.min(next)));
        self.window.expire(at);
        let after_silence = self.window.is_empty();
        self.received.on_arrival(at, packet.size);

        let delay = ApparentDelay::between(packet.departure, packet.at);
        let missing = match self.newest {
            Some(newest) if packet.id <= newest => None,
            Some(newest) => Some(packet.id - newest - 1),
            None => Some(0),
        };
        let leapt = missing.is_some() && self.log(packet, at, delay);
        News {
            at,
            delay,
            queuing: self.above_base(Some(delay)),
            missing,
            after_silence,
            clocks_moved: set_back || leapt,
            set_back,
        }
    }

    /// Takes a packet that came in order in; whether a clock leapt forward.
    fn log(&mut self, packet: &Arrival, at: ArrivalTime, delay: ApparentDelay) -> bool {
        self.newest = Some(packet.id);
        let leapt = delay - self.base.on_arrival(at, delay) >= self.spans.clock_step;
        if leapt {
            self.forget_delays();
            self.base.on_arrival(at, delay);
        }
        self.window.push(Logged { id: packet.id, at, delay, marked: packet.ecn == Ecn::Ce });
        leapt
    }

    fn forget_delays(&mut self) {
        self.base.restart();
        self.window.clear();
    }

    /// How far `delay` lies above the base delay; zero while either is unknown.
    pub(super) fn above_base(&self, delay: Option<ApparentDelay>) -> TimeDelta {
        let above = delay.zip(self.base.get()).map(|(delay, base)| delay - base);
        above.unwrap_or_default().max(TimeDelta::ZERO)
    }

    /// The largest raw queuing delay in the window.
    pub(super) fn largest_queuing(&self) -> TimeDelta {
        self.above_base(self.window.largest_delay())
    }

    /// The receive rate over the window; `None` while unknown.
    pub(super) fn receive_rate(&mut self, now: ArrivalTime) -> Option<DataRate> {
        self.received.rate(now)
    }

    pub(super) fn next_report(&self) -> Option<ArrivalTime> {
        self.due
    }

    /// What the window says, if a report is due; the next one is due an interval later. Nothing, and no report until
    /// packets come again, if the window is empty.
    pub(super) fn begin_report(&mut self, now: ArrivalTime) -> Option<Ratios> {
        let due = self.due.filter(|&due| due <= now)?;
        self.due = None;
        self.window.expire(now);
        let ratios = self.window.ratios()?;
        let interval = self.spans.interval;
        self.due = Some(if due + interval > now { due + interval } else { now + interval });
        Some(ratios)
    }
}
