//! The window laws of TCP by name.

use weir_cc::window::{Cubic, NewReno, WindowLaw};
use weir_sim::WindowLaws;

use super::RegistryError;
use crate::error::advice;

/// What is known of a window law of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLawInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// The RFC that it implements.
    pub source: &'static str,
}

/// Every window law of TCP.
pub fn window_laws() -> &'static [WindowLawInfo] {
    const INFOS: [WindowLawInfo; 2] = [
        WindowLawInfo {
            name: "newreno",
            summary: "one segment more per round trip, half after a loss",
            source: "RFC 5681, RFC 6582",
        },
        WindowLawInfo {
            name: "cubic",
            summary: "growth by the cube of the time since the last loss, 70 % after a loss",
            source: "RFC 9438",
        },
    ];
    &INFOS
}

/// The window law `name`.
///
/// # Errors
/// An unknown name.
pub fn window_law(name: &str) -> Result<Box<dyn WindowLaw>, RegistryError> {
    match name {
        "newreno" => Ok(Box::new(NewReno::new())),
        "cubic" => Ok(Box::new(Cubic::new())),
        _ => {
            let advice = advice(name, window_laws().iter().map(|law| law.name));
            Err(RegistryError::Unknown { what: "window law", name: name.to_owned(), advice })
        }
    }
}

/// A maker of window laws `name`, for flows of many connections.
///
/// # Errors
/// An unknown name.
pub fn window_laws_of(name: &str) -> Result<WindowLaws, RegistryError> {
    window_law(name)?;
    let name = name.to_owned();
    Ok(WindowLaws::new(move || window_law(&name).unwrap_or_else(|_| Box::new(NewReno::new()))))
}
