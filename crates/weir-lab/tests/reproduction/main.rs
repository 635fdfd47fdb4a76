//! The experiments of gcc-2016 and nada-vs-gcc-2016 over ten seeds, each law with the one
//! configuration that ships.
//!
//! Each test prints what it measures, mean ± 95 % interval over the seeds, and asserts what is reproduced;
//! `docs/reproduction.md` sets it against the paper's figures and says why what is missed is missed. To read it:
//! `cargo test --release -p weir-lab --test reproduction -- --nocapture`.

mod experiment;
mod nada_vs_gcc;
mod report;
mod several_flows;
mod short_queue;
mod tcp_forward;
mod tcp_reverse;
mod variable_capacity;
