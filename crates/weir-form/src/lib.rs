//! TOML against a schema: accepted values, problems, places of values, and values laid over a file.
//!
//! This module is independent of scenarios: the shape comes from a JSON Schema. The caller supplies shapes that depend on a name,
//! such as the options of a controller.

mod check;
mod describe;
mod error;
mod former;
mod origin;
mod set;
mod shape;
mod text;
mod values;
mod varied;

pub use check::{OptionsOf, check};
pub use describe::{ChoiceInfo, KeyInfo, keys};
pub use error::ScenarioError;
pub use error::{KeyPath, Problem, SET};
pub use former::{rename_former_keys, with_present_key};
pub use origin::{Origin, Override};
pub use set::set;
pub use shape::{Form, Others, Shape, TableForm};
pub use text::all_of;
pub use text::{MOST_PRINTED, MOST_WRITTEN, TextError, text_of};
pub use values::read;
pub use varied::{Varied, VariedValue, number_of_combinations, number_of_places, places};
pub use weir_registry::{advice, advice_of_many};
pub use weir_registry::{list, nearest};
