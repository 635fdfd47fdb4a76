//! Theory as numbers: analyses of controllers, and the fluid model of dccc-2017.

pub mod analysis;
pub mod fluid;
