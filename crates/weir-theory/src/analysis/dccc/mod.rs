//! Analyses of DCCC's equations.
//!
//! Source: D'Aronco, Toni, Mena, Zhu, Frossard, "Improved Utility-based Congestion Control for Delay-Constrained
//! Communication", 2017 ("dccc-2017").

mod equilibrium;
mod fluid;
mod mismatch;
mod network;
mod optimum;
mod passivity;
mod penalty;
mod random;
pub mod solver;
mod stability;

pub(super) use equilibrium::DcccEquilibrium;
pub(super) use fluid::Fluid;
pub(super) use mismatch::Mismatch;
pub(super) use optimum::Optimum;
pub(super) use passivity::Passivity;
pub(super) use penalty::Penalty;
pub(super) use stability::DcccLoop;
