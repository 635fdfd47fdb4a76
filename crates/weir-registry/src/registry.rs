//! The set of controllers that have names, as a value.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde_json::Value;
use weir_cc::{Controller, DataRate, PacketFormat, RateLimits, Receiver, ReportKind, Signal};

use crate::advice::{advice, list};
use crate::controllers;
use crate::error::RegistryError;
use crate::factory::{ControllerEdition, ControllerFactory};
use crate::info::{ControllerInfo, FeedbackSource, Halves, MarkResponse};
use crate::kind::{ControllerKind, TypedFactory};
use crate::options::Options;
use crate::window_algorithms::window_algorithms;

/// The controllers that have names.
///
/// ```
/// use weir_registry::Registry;
///
/// let registry = Registry::standard();
/// assert!(registry.controller_names().any(|name| name == "gcc"));
/// ```
///
/// [`Registry::with`] adds a controller of a type of one's own, [`Registry::with_factory`] one that becomes known at run time.
#[derive(Clone)]
pub struct Registry {
    /// Shared, as every scenario has its registry.
    controllers: Arc<Vec<Arc<dyn ControllerFactory>>>,
    /// Senders that controllers are compared with: no controllers.
    references: Arc<Vec<Arc<dyn ControllerFactory>>>,
}

static STANDARD: LazyLock<Registry> = LazyLock::new(|| Registry {
    controllers: Arc::new(controllers::factories()),
    references: Arc::default(),
});

impl Default for Registry {
    /// [`Registry::standard`].
    fn default() -> Self {
        Self::standard()
    }
}

/// Registries are equal if their controllers have the same names. Reference senders do not count.
impl PartialEq for Registry {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.controllers, &other.controllers)
            || self.controller_names().eq(other.controller_names())
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

    /// The same registry with `K` at its end. [`Self::check`] refuses a name that is taken.
    #[must_use]
    pub fn with<K: ControllerKind + 'static>(self) -> Self {
        self.with_factory(Arc::new(TypedFactory::<K>::new()))
    }

    /// The same registry with the controller of `factory` at its end. [`Self::check`] refuses a name that is taken.
    #[must_use]
    pub fn with_factory(mut self, factory: Arc<dyn ControllerFactory>) -> Self {
        Arc::make_mut(&mut self.controllers).push(factory);
        self
    }

    /// The same registry with the reference sender `K`: a sender that controllers are compared with. Scenarios can name it, and no list of
    /// controllers has it.
    #[must_use]
    pub fn with_reference<K: ControllerKind + 'static>(mut self) -> Self {
        Arc::make_mut(&mut self.references).push(Arc::new(TypedFactory::<K>::new()));
        self
    }

    /// Checks that every name is that of one controller.
    ///
    /// # Errors
    /// A name that two controllers, or a controller and a reference sender, have, or that is a window algorithm's.
    pub fn check(&self) -> Result<(), RegistryError> {
        let names: Vec<&str> = self.known_names().collect();
        let twice = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
        twice.map_or(Ok(()), |(_, &name)| Err(RegistryError::Twice { name: name.to_owned() }))?;
        let of_windows =
            names.iter().find(|name| window_algorithms().iter().any(|algorithm| algorithm.name == **name));
        of_windows.map_or(Ok(()), |&name| Err(RegistryError::WindowAlgorithm { name: name.to_owned() }))
    }

    /// Descriptions of all controllers.
    pub fn controllers(&self) -> impl Iterator<Item = &ControllerInfo> {
        self.controllers.iter().map(|factory| factory.info())
    }

    /// Descriptions of all reference senders.
    pub fn references(&self) -> impl Iterator<Item = &ControllerInfo> {
        self.references.iter().map(|factory| factory.info())
    }

    /// The names of all controllers.
    pub fn controller_names(&self) -> impl Iterator<Item = &str> {
        self.controllers().map(|info| &*info.name)
    }

    /// The names of all controllers, and after them those of the reference senders.
    pub fn known_names(&self) -> impl Iterator<Item = &str> {
        self.controllers().chain(self.references()).map(|info| &*info.name)
    }

    /// The description of the controller or reference sender `name`.
    ///
    /// # Errors
    /// An unknown name.
    pub fn find(&self, name: &str) -> Result<&ControllerInfo, RegistryError> {
        self.factory(name).map(ControllerFactory::info)
    }

    /// Whether the controller `name` has a preset of this name.
    pub fn has_preset(&self, name: &str, preset: &str) -> bool {
        self.find(name).is_ok_and(|info| info.presets.iter().any(|own| own.name == preset))
    }

    /// Both halves of the controller `name`.
    ///
    /// `options` go by the names of the controller's configuration. A missing option keeps the value of the configuration that the option
    /// `preset` names, or its default. `priority` is that of the flow against others: above 0, and 1 unless given. Controllers without
    /// priorities ignore it.
    ///
    /// # Errors
    /// An unknown name, an unknown preset or option, an option out of its range.
    pub fn build(
        &self,
        name: &str,
        options: Option<&Options>,
        limits: RateLimits,
        priority: f64,
    ) -> Result<Halves, RegistryError> {
        Ok(Halves {
            controller: self.build_sender(name, options, limits, priority)?,
            receiver: self.build_receiver(name, options, limits, priority)?,
            packet_format: self.find(name)?.packet_format,
        })
    }

    /// The sender half of [`Self::build`], for a process that only sends.
    ///
    /// # Errors
    /// As for [`Self::build`].
    pub fn build_sender(
        &self,
        name: &str,
        options: Option<&Options>,
        limits: RateLimits,
        priority: f64,
    ) -> Result<Box<dyn Controller>, RegistryError> {
        self.factory(name)?.sender(options, limits, priority).map_err(|reason| refused(name, reason))
    }

    /// The receiver half of [`Self::build`], for a process that only receives.
    ///
    /// # Errors
    /// As for [`Self::build`], but for constants of the sender half alone.
    pub fn build_receiver(
        &self,
        name: &str,
        options: Option<&Options>,
        limits: RateLimits,
        priority: f64,
    ) -> Result<Box<dyn Receiver>, RegistryError> {
        self.factory(name)?.receiver(options, limits, priority).map_err(|reason| refused(name, reason))
    }

    /// The sender half of the controller `name`, for a sender that gets per-packet feedback alone, as from browsers.
    ///
    /// # Errors
    /// As for [`Self::build`], and for a controller that needs reports of its own receiver half. The error names its twin
    /// at the sender ([`Self::by_packets`]).
    pub fn build_by_packets(
        &self,
        name: &str,
        options: Option<&Options>,
        limits: RateLimits,
        priority: f64,
    ) -> Result<Box<dyn Controller>, RegistryError> {
        let used = self.by_packets(name)?;
        if used == name {
            return self.build_sender(name, options, limits, priority);
        }
        let advice = format!("use its twin `{used}`");
        Err(RegistryError::NotByPackets { name: name.to_owned(), advice })
    }

    /// The controller that stands for `name` where there is per-packet feedback alone: itself, or its twin at the
    /// sender.
    ///
    /// # Errors
    /// An unknown name, or a controller at the receiver without a twin.
    pub fn by_packets(&self, name: &str) -> Result<&str, RegistryError> {
        let info = self.find(name)?;
        let goes = |name: &&str| self.feedback_source(name) == Some(FeedbackSource::Packets);
        let used = [Some(&*info.name), info.sender_side_twin.as_deref()].into_iter().flatten().find(goes);
        used.ok_or_else(|| {
            let names: Vec<&str> = self.controller_names().filter(goes).collect();
            let advice = format!("it has no twin at the sender; use one of {}", list(&names));
            RegistryError::NotByPackets { name: name.to_owned(), advice }
        })
    }

    /// The RTCP form of the per-packet reports of the controller `name`.
    pub fn packet_format(&self, name: &str) -> Option<PacketFormat> {
        self.find(name).ok().map(|info| info.packet_format)
    }

    /// The answer of the controller `name` to ECN marks; [`MarkResponse::None`] for an unknown name.
    pub fn mark_response(&self, name: &str) -> MarkResponse {
        self.find(name).map_or(MarkResponse::None, |info| info.marks)
    }

    /// Whether the controller `name` controls a window, once it knows a round-trip time.
    pub fn has_window(&self, name: &str) -> bool {
        self.find(name).is_ok_and(|info| info.has_window)
    }

    /// The feedback that the controller `name` uses, by the reports that its sender half accepts.
    pub fn feedback_source(&self, name: &str) -> Option<FeedbackSource> {
        let sender = self.build_sender(name, None, any_limits()?, 1.0).ok()?;
        Some(if sender.accepts(ReportKind::Packets) {
            FeedbackSource::Packets
        } else if sender.accepts(ReportKind::Ceiling) {
            FeedbackSource::Remb
        } else {
            FeedbackSource::OwnReport
        })
    }

    /// The signals of the sender half of the controller `name`, under the names of its paper.
    pub fn sender_signals(&self, name: &str) -> Option<&'static [Signal]> {
        self.build_sender(name, None, any_limits()?, 1.0).ok().map(|half| half.signals())
    }

    /// The signals of the receiver half of the controller `name`, under the names of its paper.
    pub fn receiver_signals(&self, name: &str) -> Option<&'static [Signal]> {
        self.build_receiver(name, None, any_limits()?, 1.0).ok().map(|half| half.signals())
    }

    /// JSON Schema of the options of the controller `name`. `None` for an unknown name, where any options may be
    /// given, and without the feature `schemas`.
    pub fn options_schema(&self, name: &str) -> Option<&Value> {
        self.factory(name).ok().and_then(ControllerFactory::schema)
    }

    /// The edition of the controller `name`; that of the executable for an unknown name.
    pub fn edition(&self, name: &str) -> ControllerEdition {
        self.factory(name).map_or(ControllerEdition::Executable, ControllerFactory::edition)
    }

    fn factory(&self, name: &str) -> Result<&dyn ControllerFactory, RegistryError> {
        let mut all = self.controllers.iter().chain(self.references.iter());
        let found = all.find(|factory| factory.info().name == name);
        found.map(|factory| &**factory).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> RegistryError {
        let advice = advice(name, self.controller_names());
        RegistryError::Unknown { what: "controller", name: name.to_owned(), advice }
    }
}

fn refused(name: &str, reason: String) -> RegistryError {
    RegistryError::Options { name: name.to_owned(), reason }
}

/// Rates for halves whose other properties are needed, which do not depend on rates.
fn any_limits() -> Option<RateLimits> {
    RateLimits::new(DataRate::from_kbps(50), DataRate::from_kbps(300), DataRate::from_mbps(2)).ok()
}
