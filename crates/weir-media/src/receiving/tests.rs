//! Tests of the receiving endpoint.
