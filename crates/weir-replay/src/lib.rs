//! Recorded calls ([`weir_world::RecordedCall`]): their replay under other controllers, their explanation, and the path that they went over.

pub mod explain;
pub mod infer;
pub mod replay;
