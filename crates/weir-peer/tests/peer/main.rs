//! Two ends of a session over simulated links.

mod forgery;
mod hellos;
mod hostile;
mod rig;
mod session;
mod silence;
