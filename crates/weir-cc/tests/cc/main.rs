//! Window algorithms against the kernel's, the kit of tests, and the programs in the documentation.

mod examples;
mod kernel_tcp;
mod readme;
mod testing;
