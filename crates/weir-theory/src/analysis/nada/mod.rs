//! Analyses of NADA's equations in the paper that compares NADA and GCC ("nada-vs-gcc-2016").

mod equilibrium;
mod warp;

pub(super) use equilibrium::NadaEquilibrium;
pub(super) use warp::Warp;
