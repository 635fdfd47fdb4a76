//! What nada-vs-gcc-2016 derives of NADA.

mod equilibrium;
mod warp;

pub(super) use equilibrium::Equilibrium;
pub(super) use warp::Warp;
