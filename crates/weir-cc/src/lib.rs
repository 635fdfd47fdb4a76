//! Real-time congestion controllers to embed in a media stack.
//!
//! A controller has two halves behind one interface: a [`Controller`] at the sender and a [`Receiver`] at the
//! receiver. Both are sans-IO: they take the time and events as arguments, and they answer with values. They use no
//! clock, socket, randomness, file or runtime, allocate nothing in steady state and panic on no input. The crate
//! builds without the standard library, with `alloc`. Only two features need std: `std`, for conversions from instants
//! (`MonotonicClock`), and `testing`, by proptest. With the feature `serde` all values that an embedder logs are
//! serialisable.
//!
//! ```
//! use weir_cc::gcc::goog_cc::{Config, GoogCc};
//! use weir_cc::history::SendHistory;
//! use weir_cc::{ArrivalTime, Controller, DataRate, DataSize, PathEvent, RateLimits, Record, Report};
//! use weir_cc::{SendState, SendTime, TimeDelta};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let (kbps, bytes, ms) = (DataRate::from_kbps, DataSize::from_bytes, SendTime::from_millis);
//!     let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500))?;
//!     // No receiver reports come here, only feedback on packets.
//!     let config = Config { report_patience: TimeDelta::ZERO, ..Config::default() };
//!     let mut controller = GoogCc::new(config, limits)?;
//!     let mut history = SendHistory::new(TimeDelta::from_secs(5));
//!     let state = SendState::default(); // bytes in flight and in the pacer, as far as you know them
//!     // A packet leaves, 24 bytes of header and 1200 of payload; the lower 16 bits of `sent.id` travel with it:
//!     let sent = history.on_media_sent(ms(0), bytes(24), bytes(1200));
//!     controller.on_sent(&sent, &state);
//!     // Later, feedback has come, with the packets that arrived and their times; `weir_media::feedback` reads it off RTCP:
//!     let records = [Record::new(sent.id as u16, Some(ArrivalTime::from_millis(25)))];
//!     let report = Report::packets(&records, 0);
//!     if let Some(feedback) = history.join(ms(50), &report) {
//!         controller.on_feedback(ms(50), &feedback, &state);
//!     }
//!     let target = controller.target(); // media rate, pacing, and the limiting factor
//!     println!("{} for the encoder, limited by {}", target.media_rate, target.limiting_factor.name());
//!     // The path is another one; packets sent before are no evidence of it:
//!     history.change_route(ms(60));
//!     controller.on_event(ms(60), PathEvent::RouteChanged);
//!     Ok(())
//! }
//! ```
//!
//! `crates/weir-cc/examples/sans_io.rs` shows the other parts of a call: a [`pacer`], a [`prober`], timers and a
//! [receiver that reports](packet_feedback). RTCP bytes become reports in the crate `weir-media`
//! (`weir_media::feedback`, with an example of its own), and `crates/weir-oracle/examples/webrtc_rs.rs` puts a
//! controller behind webrtc-rs's interceptors.

#![cfg_attr(not(test), no_std)]

extern crate alloc;
#[cfg(all(feature = "std", not(test)))]
extern crate std;

mod ascii_names;
mod at_receiver;
mod at_sender;
mod config_error;
mod controller;
pub mod coupled;
pub mod dccc;
mod decision;
pub mod gcc;
pub mod history;
pub mod ledbat;
#[cfg(feature = "std")]
mod monotonic_clock;
pub mod nada;
pub mod pacer;
mod packet;
pub mod packet_feedback;
mod parts;
pub mod prober;
pub mod rap;
pub mod rate_controller;
mod report;
pub mod scream;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tfrc;
mod time;
pub mod window;

#[cfg(test)]
mod properties;

pub use ascii_names::ascii_name;
pub use at_receiver::AtReceiver;
pub use at_sender::{AtSender, join_signals};
pub use config_error::ConfigError;
pub use controller::{
    Burst, Controller, Evidence, LimitingFactor, LimitsOutOfOrder, Observer, Pacing, PathEvent, Probe,
    RateLimits, Receiver, Signal, StreamsConfig, Target,
};
pub use decision::{AllocatedRate, ChangeReason, Decision};
#[cfg(feature = "std")]
pub use monotonic_clock::MonotonicClock;
pub use packet::{Arrival, Ecn, PacketFate, PacketResult, ProbeId, SendState, SentPacket, Stamp};
pub use parts::loss_reports::ReceiverReportTracker;
pub use report::{
    DcccReport, Echo, Feedback, NadaDelayReport, NadaReport, NativeReport, OwnReport, OwnReportTooLong,
    PacketFormat, Reception, ReceptionReport, Record, Report, ReportKind, TfrcReport,
};
pub use time::{ApparentDelay, ArrivalTime, SendTime};
pub use weir_units::{DataRate, DataSize, TimeDelta};
