//! Recordings of other tools as inputs: [`traces`] of links, and [`calls`].

pub mod calls;
pub mod traces;
