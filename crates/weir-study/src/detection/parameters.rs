//! Parameters of detection, with changes applied.

use std::sync::LazyLock;

use serde_json::Value;
use toml::Table;
use weir_cc::coupled::sbd::Config;

use weir_form::{Origin, ScenarioError, Shape};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| schemars::schema_for!(Config).to_value());

/// Parameters of detection with each `path=value` of `changes` applied to the defaults, such as `sampling=25ms` or
/// `stability.join=0.9`.
///
/// # Errors
/// An unknown path, or an invalid value.
pub fn parameters(changes: &[String]) -> Result<Config, ScenarioError> {
    let mut origin = Origin::of("--set", "");
    let plain = |origin: &Origin, message: &str| origin.plain_error(None, message);
    let mut table = Table::try_from(Config::DEFAULT).map_err(|error| plain(&origin, &error.to_string()))?;
    for change in changes {
        let laid = weir_form::set(&mut table, Shape::new(&SCHEMA), &|_, _| None, change, &origin)?;
        origin = origin.with(laid);
    }
    let config: Config = weir_form::read(table).map_err(|message| plain(&origin, &message))?;
    config.validate().map_err(|error| plain(&origin, &error.to_string()))?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(changes: &[&str]) -> Result<Config, String> {
        let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
        parameters(&changes).map_err(|error| error.to_string())
    }

    #[test]
    fn changes_are_laid_over_the_defaults_and_wrong_ones_are_refused() {
        assert_eq!(changed(&[]), Ok(Config::DEFAULT));
        let config = changed(&["sampling=25ms", "stability.join=0.9", "gated_variability=true"]).unwrap();
        assert_eq!((config.sampling.nanos(), config.stability.join), (25_000_000, 0.9));
        assert!(config.gated_variability);
        assert!(changed(&["samples=25ms"]).unwrap_err().contains("samples"));
        assert!(changed(&["sampling=fast"]).is_err());
        assert!(changed(&["window=51"]).unwrap_err().contains("`window` must be 1 to `long_window`"));
    }
}
