//! Weir for Python: the extension module `weir._weir`, which the package `weir` wraps.
//!
//! | module | content |
//! |---|---|
//! | `error.rs` | Exceptions. |
//! | `waiting.rs` | Long calls: the interpreter's lock is free, progress is shown, and Ctrl-C ends them. |
//! | `values.rs` | Python's values as TOML and JSON, and back. |
//! | `columns.rs` | Tables as dictionaries of NumPy arrays. |
//! | `registry.rs` | The controllers of this process. |
//! | `controller/` | Controllers as Python classes. |
//! | `scenario.rs`, `run.rs`, `result.rs` | Scenarios, runs and their results. |
//! | `study.rs`, `sweep.rs`, `call.rs` | Suites and claims of papers; sweeps; recorded calls. |
//! | `env.rs` | Calls in steps, for reinforcement learning. |

mod call;
mod columns;
mod controller;
mod env;
mod error;
mod listing;
mod registry;
mod result;
mod run;
mod scenario;
mod study;
mod sweep;
mod values;
mod waiting;
mod world;

use pyo3::prelude::*;

/// The extension module of the package `weir`.
#[pymodule]
fn _weir(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::add(module)?;
    registry::add(module)?;
    controller::add(module)?;
    scenario::add(module)?;
    run::add(module)?;
    result::add(module)?;
    study::add(module)?;
    sweep::add(module)?;
    call::add(module)?;
    env::add(module)?;
    listing::add(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
