//! Two ends of a session over simulated links.

mod hellos;
mod hostile;
mod rig;
mod session;
