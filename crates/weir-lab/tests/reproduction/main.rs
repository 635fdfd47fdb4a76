//! The experiments of nada-vs-gcc-2016 over ten seeds and those of dccc-2017, each law with the one configuration that
//! ships.
//!
//! Each test prints what it measures, mean ± 95 % interval over the seeds, and asserts what is reproduced;
//! `docs/reproduction.md` sets it against the paper's figures and says why what is missed is missed. To read it:
//! `cargo test --release -p weir-lab --test reproduction -- --nocapture`.

mod dccc_2017;
mod experiment;
mod report;
