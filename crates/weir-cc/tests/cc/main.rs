//! Window algorithms against the kernel's, the kit of tests, the serialised form of values, and the programs in the
//! documentation.

mod examples;
mod kernel_tcp;
mod readme;
#[cfg(feature = "serde")]
mod serialised;
mod testing;
