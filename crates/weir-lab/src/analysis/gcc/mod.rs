//! What gcc-2016 derives.

mod gradient;
mod observability;

pub(super) use gradient::Gradient;
pub(super) use observability::Observability;
