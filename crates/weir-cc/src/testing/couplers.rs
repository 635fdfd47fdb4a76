//! Properties of every coupler, tested by its interface alone.
//!
//! ```
//! use weir_cc::coupled::fse::{Config, Fse, InitialGrouping};
//! use weir_cc::testing::{Composition, coupler_tests};
//!
//! coupler_tests!(
//!     mine,
//!     Composition::of_rates("mine", || {
//!         Box::new(Fse::new(Config::rfc8699_active(), InitialGrouping::Together).unwrap())
//!     })
//!     .flooring_rates()
//! );
//! ```

mod hosts;
pub mod messages;
pub mod properties;

use alloc::boxed::Box;

use crate::coupled::Coupler;

pub use hosts::check_action;

/// A coupler by name with the function that builds it, and the properties that it does not hold by its own design.
#[derive(Clone, Copy, Debug)]
pub struct Composition {
    name: &'static str,
    build: fn() -> Box<dyn Coupler>,
    /// Whether only flows with windows are coupled, by a sum of windows in bytes.
    windows: bool,
    /// Whether a computed rate of zero is raised and not refused.
    floors_rates: bool,
    /// Whether an update allocates to the updating flow alone.
    passive: bool,
}

impl Composition {
    /// A coupler of rates, whose flows may have windows as well. It couples flows that join without further ado.
    pub const fn of_rates(name: &'static str, build: fn() -> Box<dyn Coupler>) -> Self {
        Self { name, build, windows: false, floors_rates: false, passive: false }
    }

    /// A coupler of windows, whose members may be silent for ever.
    pub const fn of_windows(name: &'static str, build: fn() -> Box<dyn Coupler>) -> Self {
        Self { name, build, windows: true, floors_rates: false, passive: false }
    }

    /// For a coupler that allocates to the updating flow alone: another's allocation may be above a later aggregate.
    pub const fn allocating_to_one(self) -> Self {
        Self { passive: true, ..self }
    }

    /// For a coupler that takes a computed rate of zero as its least rate.
    pub const fn flooring_rates(self) -> Self {
        Self { floors_rates: true, ..self }
    }
}

/// The [`properties`] of a coupler as tests: `coupler_tests!(mine, Composition::of_rates("mine", ...));` gives a module
/// `mine` with a `#[test]` for each of them. The second argument must be a constant expression.
#[macro_export]
macro_rules! coupler_tests {
    ($name:ident, $composition:expr $(,)?) => {
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            const COMPOSITION: $crate::testing::Composition = $composition;

            $crate::coupler_tests! {
                @tests
                a_flow_that_joins_alone_keeps_what_it_has
                a_second_join_changes_nothing
                allocations_are_the_aggregate_at_most
                a_flow_that_has_left_gets_no_action
                hostile_amounts_are_refused_and_change_nothing
                a_flow_that_waits_is_answered
                a_member_that_stays_silent_leaves_its_share_and_comes_back
                a_number_is_free_once_its_flow_has_left
                actions_are_possible_few_and_numbered_whatever_comes
            }
        }
    };
    (@tests $($property:ident)*) => {
        $(
            #[test]
            fn $property() {
                $crate::testing::coupler_properties::$property(&COMPOSITION);
            }
        )*
    };
}
