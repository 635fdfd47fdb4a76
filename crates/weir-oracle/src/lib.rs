//! Tests of Weir's controllers against independent implementations, in a crate of their own, so that neither the
//! shipped crates nor their tests have to build them. All tests are in `tests/`.
