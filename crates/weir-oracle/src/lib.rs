//! Tests of Weir's controllers against independent implementations, in a crate of their own so that nothing that is
//! shipped, nor its tests, has to build them. All of it stands in `tests/`.
