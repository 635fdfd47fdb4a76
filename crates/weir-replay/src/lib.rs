//! Recorded calls ([`weir_world::RecordedCall`]): their replay under other controllers, their explanation, and the path that they went over.

mod chart;
mod clock;
pub mod explain;
pub mod infer;
mod page;
mod receiver;
pub mod replay;
#[cfg(test)]
mod testing;

pub use clock::CallTooLong;
