//! Units of congestion control as types: [`DataRate`], [`DataSize`] and [`TimeDelta`].
//!
//! All three hold whole numbers (bit/s, bytes, nanoseconds), so that values that cross an interface compare exactly
//! and runs repeat to the byte. Arithmetic saturates instead of overflowing: a controller must answer even with
//! impossible input. Every unit parses from and prints as text with its unit (`"2.5Mbps"`, `"1500B"`, `"25ms"`);
//! with the feature `serde` that text is also its serialised form.
//!
//! ```
//! use weir_units::{DataRate, DataSize, ParseUnitError, TimeDelta};
//!
//! fn main() -> Result<(), ParseUnitError> {
//!     let rate: DataRate = "2.5Mbps".parse()?;
//!     assert_eq!(DataSize::from_bytes(1250) / rate, TimeDelta::from_millis(4));
//!     assert_eq!((rate * TimeDelta::from_millis(4)).to_string(), "1.25kB");
//!     Ok(())
//! }
//! ```
//!
//! The crate builds without the standard library, with `alloc`; only the feature `schemars` needs std.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod quantity;
mod text;

pub use quantity::{DataRate, DataSize, TimeDelta};
pub use text::ParseUnitError;
