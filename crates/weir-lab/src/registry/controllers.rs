//! The controllers that scenarios can name, as a value: those that ship, and laws of one's own beside them.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde_json::Value;
use toml::Table;
use weir_cc::{Controller, RateLimits, Receiver, Signal};
use weir_media::PacketFormat;
use weir_units::DataRate;
use weir_world::Side;

use super::law::{Entry, Law};
use super::windows::window_laws;
use super::yardsticks::{self, yardsticks};
use super::{ControllerInfo, Halves, MarkResponse, RegistryError, laws};
use crate::form::{Shape, advice};

/// The controllers that scenarios can name.
///
/// ```
/// use weir_lab::registry::Registry;
///
/// let registry = Registry::standard();
/// assert!(registry.controller_names().any(|name| name == "gcc"));
/// ```
///
/// A law of one's own joins them by [`Registry::with`].
#[derive(Clone)]
pub struct Registry {
    /// Shared, as every scenario has its registry.
    laws: Arc<Vec<Entry>>,
}

static STANDARD: LazyLock<Registry> = LazyLock::new(|| Registry { laws: Arc::new(laws::entries()) });

impl Default for Registry {
    /// [`Registry::standard`].
    fn default() -> Self {
        Self::standard()
    }
}

/// Two registries are equal that have the same names.
impl PartialEq for Registry {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.laws, &other.laws) || self.controller_names().eq(other.controller_names())
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.controller_names()).finish()
    }
}

impl Registry {
    /// The controllers that ship.
    pub fn standard() -> Self {
        STANDARD.clone()
    }

    /// The same with `L` behind them. A name that is taken is an error that [`Self::check`] tells.
    #[must_use]
    pub fn with<L: Law>(mut self) -> Self {
        Arc::make_mut(&mut self.laws).push(Entry::of::<L>());
        self
    }

    /// Whether every name is that of one controller.
    ///
    /// # Errors
    /// A name that two controllers, or a controller and a yardstick, have, or that is a window law's.
    pub fn check(&self) -> Result<(), RegistryError> {
        let names: Vec<&'static str> = self.known_names().collect();
        let twice = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
        twice.map_or(Ok(()), |(_, name)| Err(RegistryError::Twice { name }))?;
        let of_windows = names.iter().find(|name| window_laws().iter().any(|law| law.name == **name));
        of_windows.map_or(Ok(()), |name| Err(RegistryError::WindowLaw { name }))
    }

    /// Every controller.
    pub fn controllers(&self) -> impl Iterator<Item = &ControllerInfo> {
        self.laws.iter().map(|entry| &entry.info)
    }

    /// The names of all controllers.
    pub fn controller_names(&self) -> impl Iterator<Item = &'static str> {
        self.controllers().map(|info| info.name)
    }

    /// The names of all controllers, and behind them those of the yardsticks.
    pub fn known_names(&self) -> impl Iterator<Item = &'static str> {
        self.controller_names().chain(yardsticks().map(|info| info.name))
    }

    /// What is known of the controller or yardstick `name`.
    ///
    /// # Errors
    /// An unknown name.
    pub fn find(&self, name: &str) -> Result<&ControllerInfo, RegistryError> {
        self.entry(name).map(|entry| &entry.info)
    }

    /// Whether the controller `name` has a preset of this name.
    pub(crate) fn has_preset(&self, name: &str, preset: &str) -> bool {
        self.find(name).is_ok_and(|info| info.presets.iter().any(|own| own.name == preset))
    }

    /// Both halves of the controller `name`. `options` stand by the names of the controller's `Config`; what they do
    /// not name keeps the value of the configuration that `preset` names, or its default. `priority`, above 0 and 1 for
    /// the usual one, is that of the flow against others; laws without priorities do not heed it.
    ///
    /// # Errors
    /// An unknown name, an unknown preset or option, an option out of its range.
    pub fn build(
        &self,
        name: &str,
        options: Option<&Table>,
        limits: RateLimits,
        priority: f64,
    ) -> Result<Halves, RegistryError> {
        Ok(Halves {
            controller: self.build_sender(name, options, limits, priority)?,
            receiver: self.build_receiver(name, options, limits, priority)?,
            packet_format: self.entry(name)?.packet_format,
        })
    }

    /// The sender half of what [`Self::build`] builds, for a process that only sends.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn build_sender(
        &self,
        name: &str,
        options: Option<&Table>,
        limits: RateLimits,
        priority: f64,
    ) -> Result<Box<dyn Controller>, RegistryError> {
        let entry = self.entry(name)?;
        (entry.sender)(options, limits, priority).map_err(|reason| entry.refused(reason))
    }

    /// The receiver half of what [`Self::build`] builds, for a process that only receives.
    ///
    /// # Errors
    /// As [`Self::build`], but for constants of the sender half alone.
    pub fn build_receiver(
        &self,
        name: &str,
        options: Option<&Table>,
        limits: RateLimits,
        priority: f64,
    ) -> Result<Box<dyn Receiver>, RegistryError> {
        let entry = self.entry(name)?;
        (entry.receiver)(options, limits, priority).map_err(|reason| entry.refused(reason))
    }

    /// The RTCP form in which the receiver half of the controller `name` tells the fate of single packets, if it does.
    pub fn packet_format(&self, name: &str) -> Option<PacketFormat> {
        self.entry(name).ok().map(|entry| entry.packet_format)
    }

    /// How the controller `name` answers to marks by ECN; not at all if there is none of this name.
    pub fn mark_response(&self, name: &str) -> MarkResponse {
        self.entry(name).map_or(MarkResponse::None, |entry| entry.marks)
    }

    /// Whether the controller `name` steers by a window, once it knows a round-trip time.
    pub fn has_window(&self, name: &str) -> bool {
        self.entry(name).is_ok_and(|entry| entry.has_window)
    }

    fn entry(&self, name: &str) -> Result<&Entry, RegistryError> {
        let mut all = self.laws.iter().chain(yardsticks::ENTRIES.iter());
        all.find(|entry| entry.info.name == name).ok_or_else(|| self.unknown(name))
    }

    /// The signals of a half of the controller `name`, as its paper calls them.
    pub fn signals(&self, name: &str, side: Side) -> Option<&'static [Signal]> {
        // Any rates do: the signals of a law do not depend on them.
        let limits =
            RateLimits::new(DataRate::from_kbps(50), DataRate::from_kbps(300), DataRate::from_mbps(2))
                .ok()?;
        match side {
            Side::Sender => self.build_sender(name, None, limits, 1.0).ok().map(|half| half.signals()),
            Side::Receiver => self.build_receiver(name, None, limits, 1.0).ok().map(|half| half.signals()),
        }
    }

    /// JSON Schema of the options of the controller `name`.
    pub fn options_schema(&self, name: &str) -> Option<&Value> {
        self.entry(name).ok().map(Entry::schema)
    }

    pub(crate) fn options_shape(&self, name: &str) -> Option<Shape<'_>> {
        self.options_schema(name).map(Shape::new)
    }

    fn unknown(&self, name: &str) -> RegistryError {
        let advice = advice(name, self.controller_names());
        RegistryError::Unknown { what: "controller", name: name.to_owned(), advice }
    }
}
