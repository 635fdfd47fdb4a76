//! DCCC's equations: dccc-2017.

mod equilibrium;
mod network;
mod penalty;
pub mod rest;

pub(super) use equilibrium::Equilibrium;
pub(super) use penalty::Penalty;
