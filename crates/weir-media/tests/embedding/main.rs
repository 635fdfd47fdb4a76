//! The endpoint with packets of an application, by its interface alone.

mod both_ends;
mod call;
mod examples;
mod expiry;
mod group;
mod layers;
mod misuse;
mod repair;
mod rig;
mod same_packets;
mod seams;
mod sender_reports;
#[cfg(feature = "serde")]
mod serialised;
mod stats;
