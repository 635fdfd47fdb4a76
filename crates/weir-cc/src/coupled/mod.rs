//! Coupled congestion control: flows to one peer, or through one bottleneck, share their congestion state.
//!
//! Hosts send a [`Coupler`] the events of their flows ([`CouplingMessage`]), and get [`CouplerAction`]s. Both are
//! plain values, which may be delayed in transit. A coupler may run in the same process, in another one or on another
//! machine. It does not depend on controllers, sockets or clocks. Like a controller it gets the time as an argument,
//! does not allocate in steady state, and does not panic on any input.

mod bound;
mod conversion;
mod coupler;
pub mod ctrl;
mod demand;
mod frame;
pub mod fse;
mod member;
mod message;
pub mod mixed;
pub mod sbd;
mod water_fill;

pub use coupler::{Aggregate, Coupler, Grouped, Refusal};
pub use demand::Demand;
pub use frame::{
    AlgorithmCoupler, CouplingAlgorithm, MemberDeparture, Members, Presence, RefusedMessages, SoftState,
};
pub use member::Membership;
pub use message::{
    CouplerAction, CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, Statistics, Update,
    WindowEvent, Windowed,
};
pub use mixed::Mixed;
