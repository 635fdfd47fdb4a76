//! Derivations of gcc-2016.

mod gradient;
mod observability;

pub(super) use gradient::Gradient;
pub(super) use observability::Observability;
