//! What an attacker does to a call: every law on one path, alone with its receiver and beside forged feedback.
//!
//! The path has 1 Mbit/s, a round trip of 50 ms and 300 ms of queue; the attack goes on from 20 to 60 s. Flows have what an
//! embedder gets by default: circuit breakers, and numbers left out. Five seconds after a breaker has stopped media the embedder
//! resumes it.

mod attacks;
mod forge;
mod own_forms;
mod pair;
mod path;
mod seen;
mod setting;
mod table;

pub use attacks::{ATTACKS, Attack, Role};
pub use table::{Aim, AttackError, AttackRequest, Outcome};
