//! Tests of the receiving endpoint.

mod far_end;
mod misuse;
mod reports;
mod streams;
