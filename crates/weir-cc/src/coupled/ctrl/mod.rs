//! Coupled windows: ctrlTCP and its relatives.

mod clock;
pub mod config;
mod episode;
mod flow;
pub mod group;
mod roster;
mod shares;
pub mod tenants;

pub use config::{Config, Lead, Newcomer};
pub use group::CtrlTcp;
pub use tenants::Tenants;

#[cfg(test)]
mod tests;
