//! The reproduction of papers' rows: its request, and the files of its results.

mod files;
mod request;

pub use files::{ClaimsDocument, REPORT, write};
pub use request::ReproductionRequest;
