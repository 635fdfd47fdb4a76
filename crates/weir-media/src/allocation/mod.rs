//! Allocation of a rate to streams and their layers, as pure functions: no IO, no clock, no state of their own.
//!
//! At an *encoder*, [`RateSharing::share`] splits the controller's rate among streams, as libwebrtc's
//! `BitrateAllocator` does, and pauses streams whose minimum does not fit. Within a stream,
//! [`LayerSwitching::simulcast_rates`] and [`LayerSwitching::svc_rates`] switch layers as its `SimulcastRateAllocator` and
//! `SvcRateAllocator` do.
//!
//! In a *forwarder* (an SFU), [`LayerForwarding::select`] chooses a layer of each track for one subscriber, by the
//! measured rates of the layers.
//!
//! Each function takes the state before as an argument and returns the state after. A list is written into the caller's
//! buffer. With a buffer that has been used before, no function allocates.
//!
//! ```
//! use weir_media::allocation::{EncoderStream, LayerSwitching, RateSharing, VideoContent, VideoLayer};
//! use weir_units::DataRate;
//!
//! let kbps = DataRate::from_kbps;
//! let mut streams = [
//!     EncoderStream { is_min_enforced: true, ..EncoderStream::new(kbps(32), kbps(32)) },
//!     EncoderStream::new(kbps(50), kbps(2500)),
//! ];
//! let mut shares = Vec::new();
//! RateSharing::default().share(kbps(832), &streams, &mut shares);
//! assert_eq!(shares, [kbps(32), kbps(800)]);
//! for (stream, share) in streams.iter_mut().zip(&shares) {
//!     stream.allocated = Some(*share);
//! }
//!
//! let layers = [(50, 150, 200), (200, 500, 700), (600, 1500, 2500)]
//!     .map(|(min, target, max)| VideoLayer::new(kbps(min), kbps(target), kbps(max)));
//! let rule = LayerSwitching::simulcast(VideoContent::Camera);
//! let rates = rule.simulcast_rates(shares[1], None, &layers, None);
//! // The lower layer has its target, the rest goes to the layer above. The third needs its minimum, and 20 % more to
//! // be switched on: 150 + 500 + 1.2 × 600.
//! assert_eq!([0, 1, 2].map(|layer| rates.rate(layer)), [Some(kbps(150)), Some(kbps(650)), None]);
//! assert_eq!(rates.next, Some(kbps(1370)));
//! ```

mod forwarding;
mod layers;
mod margin;
mod sharing;
mod simulcast;
mod svc;
mod track;

pub use forwarding::{LayerForwarding, NextStep, TrackSelection};
pub use layers::{LayerRates, LayerSwitching, MAX_LAYERS, VideoContent, VideoLayer};
pub use margin::SwitchMargin;
pub use sharing::{EncoderStream, RateSharing};
pub use track::{ForwardedTrack, LayerChoice, LayerCoding, MAX_TEMPORAL_LAYERS};
