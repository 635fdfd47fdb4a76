//! Derivations of nada-vs-gcc-2016 on NADA.

mod equilibrium;
mod warp;

pub(super) use equilibrium::NadaEquilibrium;
pub(super) use warp::Warp;
