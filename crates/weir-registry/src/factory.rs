//! Controllers as objects.

use serde_json::Value;
use weir_cc::{Controller, RateLimits, Receiver};

use crate::info::ControllerInfo;
use crate::options::Options;

/// A half of a controller, or the reason why it cannot be built.
pub type Half<T> = Result<Box<T>, String>;

/// The edition of a controller that does not ship.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerEdition {
    /// The running executable contains it.
    Executable,
    /// Its author counts its versions.
    Version(String),
    /// No edition is known: results under it are not stored.
    Unknown,
}

/// A maker of controllers of one name: an entry of a [`Registry`](crate::Registry).
///
/// A [`ControllerKind`](crate::ControllerKind) has one. A C library or a scripting language implements it for controllers that become known
/// at run time.
pub trait ControllerFactory: Send + Sync {
    /// The description of the controller.
    fn info(&self) -> &ControllerInfo;

    /// A sender half. `priority` is that of the flow: above 0, and 1 unless given.
    ///
    /// # Errors
    /// A sentence about an option that the controller does not take, or a constant out of its range.
    fn sender(&self, options: Option<&Options>, limits: RateLimits, priority: f64) -> Half<dyn Controller>;

    /// A receiver half, as for [`Self::sender`].
    ///
    /// # Errors
    /// As for [`Self::sender`], but for constants of the sender half alone.
    fn receiver(&self, options: Option<&Options>, limits: RateLimits, priority: f64) -> Half<dyn Receiver>;

    /// The edition of the controller, which keeps stored results of others of its name apart.
    fn edition(&self) -> ControllerEdition {
        ControllerEdition::Executable
    }

    /// The JSON Schema of the options. `None` where any options may be given, and without the feature `schemas`.
    fn schema(&self) -> Option<&Value> {
        None
    }
}
