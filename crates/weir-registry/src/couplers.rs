//! Couplers by name.
//!
//! A coupler enters Weir's scenarios by an [`Entry::of`] in [`entries`] and a type that implements [`CouplerKind`].

use std::sync::LazyLock;
#[cfg(feature = "schemas")]
use std::sync::OnceLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
#[cfg(feature = "schemas")]
use serde_json::Value;
use weir_cc::coupled::{Coupler, FlowId};

use crate::advice::advice;
use crate::error::RegistryError;
use crate::kind::Described;
use crate::options::{Options, changed};

/// The description of a coupler, for a user who has to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CouplerInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Its principle, in a sentence.
    pub summary: &'static str,
    /// The paper or RFC that it implements.
    pub source: &'static str,
    /// The quantity that it allocates.
    pub steers: Steers,
    /// Whether its sources restrict it to testbeds; the user then has to confirm the choice.
    pub testbed_only: bool,
}

/// The quantity that a coupler allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steers {
    /// No allocation.
    Nothing,
    /// Rates, and windows by their equivalent rates: any adaptive flow.
    Rates,
    /// Windows: flows that have one.
    Windows,
}

impl Steers {
    /// The quantity as an identifier.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Rates => "rates",
            Self::Windows => "windows",
        }
    }
}

/// Settings of a coupler beyond the parameters of its flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CouplerSetting {
    /// Whether the user has confirmed that this may be unsafe outside of testbeds.
    pub testbed: bool,
    /// Whether flows are grouped by measured shared bottlenecks, instead of all in one group.
    pub measured: bool,
    /// The weight of each tenant.
    pub tenants: Vec<f64>,
    /// The tenant of each of these flows, as an index into the list above.
    pub tenant_of: Vec<(FlowId, usize)>,
}

/// A coupler that scenarios can name.
trait CouplerKind {
    /// Its constants.
    type Config: DeserializeOwned + Serialize + Described;
    /// Constants that no scenario sets as options: the name of the coupler or another key of the coupling sets them.
    const FIXED: &[&str] = &[];

    /// Its description.
    fn info() -> CouplerInfo;

    /// The constants that options are laid over.
    fn config() -> Self::Config;

    /// A coupler without flows; the result is `None` for `none`, which couples no flows.
    ///
    /// # Errors
    /// A message about a constant out of its range, or about a setting that it does not support.
    fn build(config: Self::Config, setting: &CouplerSetting) -> Built;
}

/// A coupler, or a message that says why there is none.
type Built = Result<Option<Box<dyn Coupler>>, String>;

/// A [`CouplerKind`] behind function pointers.
struct Entry {
    info: CouplerInfo,
    build: fn(Option<&Options>, &CouplerSetting) -> Built,
    /// Made at the first call: a run with default options needs none.
    #[cfg(feature = "schemas")]
    schema: OnceLock<Value>,
    #[cfg(feature = "schemas")]
    describe: fn() -> Value,
}

impl Entry {
    fn of<K: CouplerKind>() -> Self {
        Self {
            info: K::info(),
            build: |options, setting| K::build(config::<K>(options)?, setting),
            #[cfg(feature = "schemas")]
            schema: OnceLock::new(),
            #[cfg(feature = "schemas")]
            describe: schema::<K>,
        }
    }
}

#[cfg(feature = "schemas")]
fn schema<K: CouplerKind>() -> Value {
    let mut schema = crate::options::with_defaults(schemars::schema_for!(K::Config).to_value(), &K::config());
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|key, _| !K::FIXED.contains(&key.as_str()));
    }
    schema
}

/// The constants that `options` make.
fn config<K: CouplerKind>(options: Option<&Options>) -> Result<K::Config, String> {
    let Some(options) = options else { return Ok(K::config()) };
    if let Some(fixed) = options.keys().find(|key| K::FIXED.contains(&key.as_str())) {
        return Err(format!("`{fixed}` is no option of it"));
    }
    changed(&K::config(), options)
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(entries);

/// All factories, in the order of the listing.
fn entries() -> Vec<Entry> {
    vec![
        Entry::of::<NoCoupling>(),
        Entry::of::<exchange::Rfc8699Active>(),
        Entry::of::<exchange::Rfc8699Conservative>(),
        Entry::of::<exchange::Rtp2014Active>(),
        Entry::of::<exchange::Rtp2014Conservative>(),
        Entry::of::<exchange::Rfc8699Passive>(),
        Entry::of::<exchange::PassiveSimple>(),
        Entry::of::<kinds::Ctrl>(),
        Entry::of::<kinds::MediaAndData>(),
        Entry::of::<kinds::OneWindow>(),
        Entry::of::<kinds::MeanWindow>(),
        Entry::of::<kinds::Beginnings>(),
    ]
}

/// Every coupler.
pub fn couplers() -> impl Iterator<Item = &'static CouplerInfo> {
    ENTRIES.iter().map(|entry| &entry.info)
}

/// The description of the coupler `name`.
pub fn coupler_info(name: &str) -> Option<&'static CouplerInfo> {
    couplers().find(|info| info.name == name)
}

/// The coupler `name`, without flows. `options` go by the names of its `Config`; others keep their defaults. The
/// result is `None` for the algorithm that leaves flows alone.
///
/// # Errors
/// An unknown name, an unknown option, one out of its range, a setting that this coupler does not support.
pub fn coupler(
    name: &str,
    options: Option<&Options>,
    setting: &CouplerSetting,
) -> Result<Option<Box<dyn Coupler>>, RegistryError> {
    let entry = entry(name)?;
    (entry.build)(options, setting)
        .map_err(|reason| RegistryError::Options { name: entry.info.name.to_owned(), reason })
}

fn entry(name: &str) -> Result<&'static Entry, RegistryError> {
    ENTRIES.iter().find(|entry| entry.info.name == name).ok_or_else(|| {
        let advice = advice(name, couplers().map(|info| info.name));
        RegistryError::Unknown { what: "coupling algorithm", name: name.to_owned(), advice }
    })
}

/// The description of the coupler `name`, and the JSON Schema of its options.
///
/// # Errors
/// An unknown name.
#[cfg(feature = "schemas")]
pub fn find_coupler(name: &str) -> Result<(&'static CouplerInfo, &'static Value), RegistryError> {
    entry(name).map(|entry| (&entry.info, entry.schema.get_or_init(entry.describe)))
}

/// Constants of a coupler without any.
#[derive(Debug, Default, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct NoOptions {}

/// No coupling: the reference of comparisons.
struct NoCoupling;

impl CouplerKind for NoCoupling {
    type Config = NoOptions;

    fn info() -> CouplerInfo {
        CouplerInfo {
            name: "none",
            summary: "no coupling: the flows are measured like coupled ones",
            source: "–",
            steers: Steers::Nothing,
            testbed_only: false,
        }
    }

    fn config() -> NoOptions {
        NoOptions {}
    }

    fn build(_: NoOptions, _: &CouplerSetting) -> Built {
        Ok(None)
    }
}

mod exchange;
mod kinds;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn every_coupler_builds_with_its_defaults_and_has_a_name_of_its_own() {
        for (index, info) in couplers().enumerate() {
            let setting = CouplerSetting { testbed: info.testbed_only, ..CouplerSetting::default() };
            let built = coupler(info.name, None, &setting).unwrap();
            assert_eq!(built.is_none(), info.steers == Steers::Nothing, "{}", info.name);
            #[cfg(feature = "schemas")]
            assert_eq!(find_coupler(info.name).unwrap().1["type"], "object");
            assert!(couplers().take(index).all(|other| other.name != info.name), "{}", info.name);
        }
    }

    #[test]
    fn an_unknown_name_and_unknown_options_are_refused() {
        let error = coupler("noen", None, &CouplerSetting::default()).unwrap_err().to_string();
        assert_eq!(error, "there is no coupling algorithm `noen`; did you mean `none`?");
        let options = json!({ "timer": 2 });
        let error = coupler("none", options.as_object(), &CouplerSetting::default()).unwrap_err().to_string();
        assert!(error.starts_with("`none` does not take these options: unknown field `timer`"), "{error}");
        let options = json!({ "algorithm": "passive-simple" });
        let error =
            coupler("rfc8699-1", options.as_object(), &CouplerSetting::default()).unwrap_err().to_string();
        assert_eq!(error, "`rfc8699-1` does not take these options: `algorithm` is no option of it");
    }

    #[test]
    fn options_are_laid_over_what_the_name_stands_for() {
        let with = |name, options: Value| {
            format!("{:?}", coupler(name, options.as_object(), &CouplerSetting::default()).unwrap())
        };
        let plain = with("fse-2014-2", Value::Null);
        assert_eq!(with("fse-2014-2", json!({ "reconcile_s_cr": false, "timer_rtts": 2.0 })), plain);
        assert_ne!(with("fse-2014-2", json!({ "reconcile_s_cr": true })), plain);
        assert_ne!(with("fse-2014-1", Value::Null), plain);
    }

    #[test]
    fn an_unsafe_coupler_is_refused_without_confirmation() {
        for info in couplers().filter(|info| info.testbed_only) {
            assert!(coupler(info.name, None, &CouplerSetting::default()).is_err(), "{}", info.name);
        }
    }
}
