//! Weir for Python: the extension module `weir._weir`, which the package `weir` wraps.
//!
//! | module | content |
//! |---|---|
//! | `error.rs` | Exceptions. |
//! | `waiting.rs` | Long calls: the interpreter's lock is free, progress is shown, and Ctrl-C ends them. |
//! | `values.rs` | Python's values as TOML and JSON, and back. |
//! | `columns.rs`, `tidy.rs` | Tables as dictionaries of NumPy arrays. |
//! | `registry.rs` | The controllers of this process. |
//! | `controller/` | Controllers as Python classes. |
//! | `scenario.rs`, `run.rs`, `result.rs` | Scenarios, runs and their results. |
//! | `folder.rs` | Directories of results, and the runs that they keep. |
//! | `study.rs`, `suite.rs`, `reproduce.rs` | Comparisons over several scenarios; suites; claims of papers. |
//! | `sweep.rs`, `call.rs` | Sweeps; recorded calls. |
//! | `env.rs` | Calls in steps, for reinforcement learning. |

mod call;
mod columns;
mod controller;
mod env;
mod error;
mod folder;
mod listing;
mod registry;
mod reproduce;
mod result;
mod run;
mod scenario;
mod study;
mod suite;
mod sweep;
mod tidy;
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
    suite::add(module)?;
    reproduce::add(module)?;
    sweep::add(module)?;
    call::add(module)?;
    env::add(module)?;
    listing::add(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
