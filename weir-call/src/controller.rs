//! The controller of a call: one at the sender that per-packet feedback suffices.

use std::fmt;

use weir_cc::{Controller, RateLimits};
use weir_registry::{Registry, RegistryError};

/// Why a controller cannot serve a call.
#[derive(Debug)]
pub enum ChoiceError {
    /// Its name is unknown.
    Unknown(RegistryError),
    /// The controller measures at the receiver, and has no twin at the sender.
    AtReceiver {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(error) => error.fmt(f),
            Self::AtReceiver { name } => write!(
                f,
                "{name} measures at the receiver and has no twin at the sender; a browser reports packets alone"
            ),
        }
    }
}

impl std::error::Error for ChoiceError {}

/// A controller that can serve a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerChoice {
    /// Its name.
    pub name: String,
    /// The name of the controller that stands for it: its own, or that of its twin at the sender.
    pub used: String,
    /// Its principle, in a sentence.
    pub summary: String,
}

impl ControllerChoice {
    /// The controller `name`.
    ///
    /// # Errors
    /// An unknown name, or a controller with a receiver half of its own and no twin at the sender.
    pub fn of(registry: &Registry, name: &str) -> Result<Self, ChoiceError> {
        let info = registry.find(name).map_err(ChoiceError::Unknown)?;
        let used = registry.by_packets(name).map_err(|error| match error {
            RegistryError::NotByPackets { name, .. } => ChoiceError::AtReceiver { name },
            error => ChoiceError::Unknown(error),
        })?;
        Ok(Self { name: name.to_owned(), used: used.to_owned(), summary: info.summary.clone().into_owned() })
    }

    /// All controllers that can serve a call.
    pub fn all(registry: &Registry) -> Vec<Self> {
        registry.controller_names().filter_map(|name| Self::of(registry, name).ok()).collect()
    }

    /// A sentence about the twin that stands for it, if one does.
    pub fn remark(&self) -> Option<String> {
        (self.name != self.used).then(|| {
            let Self { name, used, .. } = self;
            format!("{name} measures at the receiver; {used} is the same controller on per-packet feedback.")
        })
    }

    /// The sender half, with its default options.
    ///
    /// # Errors
    /// Limits that it does not take.
    pub fn build(
        &self,
        registry: &Registry,
        limits: RateLimits,
    ) -> Result<Box<dyn Controller>, RegistryError> {
        registry.build_sender(&self.used, None, limits, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_at_the_receiver_is_its_twin_or_refused() {
        let registry = Registry::standard();
        let of = |name| ControllerChoice::of(&registry, name);
        let gcc = of("gcc").unwrap();
        assert_eq!((gcc.used.as_str(), gcc.remark()), ("gcc", None));
        let nada = of("nada").unwrap();
        assert_eq!(nada.used, "nada-at-sender");
        assert!(
            nada.remark().unwrap().starts_with("nada measures at the receiver; nada-at-sender is the same")
        );
        let refused = of("gcc-2016").unwrap_err().to_string();
        assert_eq!(
            refused,
            "gcc-2016 measures at the receiver and has no twin at the sender; a browser reports packets alone"
        );
        assert!(of("gccc").unwrap_err().to_string().contains("gcc"));
        let all = ControllerChoice::all(&registry);
        assert!(all.iter().any(|choice| choice.name == "scream-v2"));
        assert!(all.iter().all(|choice| choice.name != "gcc-2016"));
    }
}
