//! Analyses of gcc-2016's equations.
//!
//! Source: Carlucci, De Cicco, Holmer, Mascolo, "Analysis and Design of the Google Congestion Control for Web
//! Real-time Communication (WebRTC)", MMSys 2016.

mod gradient;
mod observability;

pub(super) use gradient::Gradient;
pub(super) use observability::Observability;
