//! Recordings of other tools as inputs of a run: [`traces`] of links.

pub mod traces;
