//! What gcc-2016 derives.

mod gradient;
mod observability;
mod utility;

pub(super) use gradient::Gradient;
pub(super) use observability::Observability;
pub(super) use utility::Utility;
