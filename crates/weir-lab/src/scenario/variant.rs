//! Controllers with options of their own, side by side over the same network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::media::Options;

/// A controller with options of its own, which stands among others under its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Name of the controller, as in the registry.
    pub controller: String,
    /// Its options; their keys take the place of those of a flow that has this controller anyway.
    #[serde(default)]
    pub options: Options,
}

/// Who is to take over the media flows, as the command line says it: `gcc`, or `gcc{trendline.window=40}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contestant {
    /// Its name among the controllers of a scenario: that of a controller or of a variant.
    pub name: String,
    /// What has to be laid over a scenario so that it knows the variant: a `path=value`. Nothing of a plain name.
    pub definition: Option<String>,
}

impl Contestant {
    /// The contestants in `list`, which stand between commas, each once. Between braces are the options of a variant, as in a
    /// table of TOML: `gcc, gcc{trendline.window=40, "over-use".gain=2}`.
    ///
    /// # Errors
    /// In words: braces that do not fit together, or nothing between commas.
    pub fn list(list: &str) -> Result<Vec<Self>, String> {
        let mut all: Vec<Self> = Vec::new();
        for part in parts(list)? {
            let one = Self::one(part.trim())?;
            if !all.contains(&one) {
                all.push(one);
            }
        }
        Ok(all)
    }

    /// The controller or variant of this name.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), definition: None }
    }

    fn one(text: &str) -> Result<Self, String> {
        let Some((controller, options)) = text.split_once('{') else {
            if text.is_empty() {
                return Err("there is no name between two commas; write `gcc,nada`".to_owned());
            }
            return Ok(Self::named(text));
        };
        let controller = controller.trim();
        let options = options.strip_suffix('}').unwrap_or(options).trim();
        // A quote would end the name where it stands as a key.
        let name = format!("{controller}{{{}}}", options.replace('"', "'"));
        let definition =
            format!("variants.\"{name}\"={{ controller = \"{controller}\", options = {{ {options} }} }}");
        Ok(Self { name, definition: Some(definition) })
    }
}

/// What stands between the commas outside of braces.
fn parts(list: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let (mut depth, mut begin) = (0_usize, 0);
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => return Err(format!("in `{list}` a `}}` closes nothing")),
            '}' => {
                depth -= 1;
                let rest = list[at + 1..].trim_start();
                if depth == 0 && !rest.is_empty() && !rest.starts_with(',') {
                    return Err(format!(
                        "`{rest}` stands behind a `}}`; write a comma between two controllers"
                    ));
                }
            }
            ',' if depth == 0 => {
                parts.push(&list[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err(format!("in `{list}` a `{{` stays open; write `gcc{{trendline.window=40}}`"));
    }
    parts.push(&list[begin..]);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_names_and_variants_each_once() {
        let list = Contestant::list("gcc, gcc{trendline.window=40, a={b=1}} ,nada,gcc").unwrap();
        let names: Vec<&str> = list.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["gcc", "gcc{trendline.window=40, a={b=1}}", "nada"]);
        assert_eq!(
            list[1].definition.as_deref(),
            Some(
                "variants.\"gcc{trendline.window=40, a={b=1}}\"={ controller = \"gcc\", options = { trendline.window=40, \
                 a={b=1} } }"
            )
        );
        let quoted = Contestant::list("gcc-2016{preset=\"chrome\"}").unwrap();
        assert_eq!(quoted[0].name, "gcc-2016{preset='chrome'}");
    }

    #[test]
    fn braces_that_do_not_fit_are_told() {
        for (text, told) in [
            ("gcc{a=1", "stays open"),
            ("gcc}", "closes nothing"),
            ("gcc{a=1}nada", "write a comma"),
            ("gcc,,nada", "no name between two commas"),
            ("", "no name"),
        ] {
            let error = Contestant::list(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
