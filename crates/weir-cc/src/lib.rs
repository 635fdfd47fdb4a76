//! Real-time congestion controllers to embed in a media stack.
//!
//! A law has two halves behind one interface: a [`Controller`] at the sender and a [`Receiver`] at the
//! receiver. Both are sans-IO: they are told the time and what happened, and they answer with values. They know
//! no clock, socket, randomness, file or runtime, allocate nothing in steady state and panic on no input.
//!
//! ```
//! use weir_cc::gcc::goog_cc::{Config, GoogCc};
//! use weir_cc::history::SendHistory;
//! use weir_cc::{Controller, DataRate, RateLimits, TimeDelta};
//!
//! # use weir_cc::{ArrivalTime, Cause, DataSize, Ecn, Record, Report, SendState, SendTime};
//! # let (header, payload) = (DataSize::from_bytes(24), DataSize::from_bytes(1200));
//! # let (now, later, state) = (SendTime::from_millis(0), SendTime::from_millis(50), SendState::default());
//! # let arrival = Some(ArrivalTime::from_millis(25));
//! # let records = [Record { sequence: 0, arrival, ecn: Ecn::NotEct }];
//! # let report = Report::Packets { records: &records, number: 0, at: None };
//! let kbps = DataRate::from_kbps;
//! let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500))?;
//! let mut controller = GoogCc::new(Config::default(), limits)?;
//! let mut history = SendHistory::new(TimeDelta::from_secs(5));
//! // A packet leaves:
//! controller.on_sent(&history.on_sent(now, header, payload, false, None), &state);
//! // Later, feedback has come that tells which packets arrived and when:
//! controller.on_feedback(later, &history.join(later, &report), &state);
//! let target = controller.target(); // media rate, pacing, and the cause: what limits the rate now
//! # assert_eq!((target.media_rate, target.cause), (kbps(301), Cause::RampUp));
//! // The path is another one; what left before tells nothing of it:
//! # use weir_cc::PathEvent;
//! history.change_route(later);
//! controller.on_event(later, PathEvent::RouteChanged);
//! # assert!(history.in_flight().is_zero());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod at_sender;
pub mod config_error;
pub mod controller;
pub mod coupled;
pub mod dccc;
pub mod decision;
pub mod gcc;
pub mod history;
pub mod ledbat;
pub mod nada;
pub mod pacer;
pub mod packet;
pub mod packet_feedback;
pub mod parts;
pub mod prober;
pub mod rap;
pub mod rate_law;
pub mod report;
pub mod scream;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tfrc;
pub mod time;
pub mod window;

#[cfg(test)]
mod properties;

pub use at_sender::AtSender;
pub use controller::{
    AtReceiver, Burst, Cause, Controller, LimitsOutOfOrder, Observer, Pacing, PathEvent, Probe, RateLimits,
    Receiver, Signal, StreamsConfig, Target,
};
pub use decision::{Decision, Share, Why};
pub use packet::{Arrival, Ecn, Fate, PacketResult, ProbeId, SendState, SentPacket, Stamp};
pub use report::{
    DcccReport, Echo, Feedback, LawReport, NadaDelayReport, NadaReport, OwnReport, ReceptionReport, Record,
    Report, TfrcReport,
};
pub use time::{ApparentDelay, ArrivalTime, SendTime};
pub use weir_units::{DataRate, DataSize, TimeDelta};
