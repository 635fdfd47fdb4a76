//! Attacks on a call: every controller on one path, alone with its receiver and under forged feedback.
//!
//! The path has 1 Mbit/s, a round trip of 50 ms and 300 ms of queue; the attack lasts from 20 to 60 s. Flows have the
//! defaults of an application: circuit breakers, and sequence numbers that are left out. Five seconds after a circuit
//! breaker has stopped media, the application resumes it.

mod attacks;
mod forge;
mod own_forms;
mod pair;
mod path;
mod seen;
mod setting;
mod table;

pub use attacks::{ATTACKS, Attack, Role};
pub use table::{Aim, AttackError, AttackOutcome, AttackRequest};
