//! Controllers with options, side by side over the same network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::media::ControllerOptions;

/// A controller with options, which has a name among other controllers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Name of the controller, as in the registry.
    pub controller: String,
    /// Its options; their keys replace those of a flow that already has this controller.
    #[serde(default)]
    pub options: ControllerOptions,
}

/// A controller for the media flows as on the command line: `gcc`, or `gcc{trendline.window=40}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name among the controllers of a scenario: that of a controller or of a variant.
    pub name: String,
    /// The `path=value` that defines the variant when it is laid over a scenario. A plain name has no definition.
    pub definition: Option<String>,
}

impl Candidate {
    /// The candidates in `list`, separated by commas, each once. The options of a variant stand between braces, as in a table of
    /// TOML: `gcc, gcc{trendline.window=40, "over-use".gain=2}`.
    ///
    /// # Errors
    /// A sentence with the faulty piece: braces or quotes that stay open, an empty place between commas, options that are no
    /// TOML.
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

    /// The repeated candidates of `list`, each once; empty where [`Self::list`] has an error.
    pub fn repeated(list: &str) -> Vec<String> {
        let all: Vec<&str> = parts(list).unwrap_or_default().into_iter().map(str::trim).collect();
        let mut repeated: Vec<String> = Vec::new();
        for (place, part) in all.iter().enumerate() {
            if all[..place].contains(part) && !repeated.iter().any(|own| own == part) {
                repeated.push((*part).to_owned());
            }
        }
        repeated
    }

    /// The changes to a scenario that compare `candidates`, each a `path=value`.
    pub fn laid_over(candidates: &[Self]) -> Vec<String> {
        let definitions = candidates.iter().filter_map(|candidate| candidate.definition.clone());
        definitions.chain([Self::compared(candidates)]).collect()
    }

    /// The change to a scenario that compares `candidates`, which it defines, in place of its own.
    pub fn compared(candidates: &[Self]) -> String {
        let names: Vec<&str> = candidates.iter().map(|candidate| candidate.name.as_str()).collect();
        format!("controllers={names:?}")
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
        if controller.is_empty() {
            return Err(format!("in `{text}` there is no controller before the `{{`; write {EXAMPLE}"));
        }
        let options = options.strip_suffix('}').unwrap_or(options).trim();
        if let Err(error) = toml::from_str::<Table>(&format!("options = {{ {options} }}")) {
            return Err(format!(
                "what stands between the braces of `{text}` is no table of TOML: {}; write {EXAMPLE}, words in quotes",
                error.message().replace('\n', ", ")
            ));
        }
        // A quote would end the name where it stands as a key.
        let name = format!("{controller}{{{options}}}").replace('"', "'");
        let controller = Value::String(controller.to_owned());
        let definition =
            format!("variants.\"{name}\"={{ controller = {controller}, options = {{ {options} }} }}");
        Ok(Self { name, definition: Some(definition) })
    }
}

/// Example of options in braces.
const EXAMPLE: &str = "`gcc{trendline.window=40}`";

/// Whether `name` is a list of one candidate for [`Candidate::list`].
pub fn is_one_name(name: &str) -> bool {
    parts(name).is_ok_and(|parts| parts.len() == 1)
}

/// The parts of `list` between commas outside of braces. Between braces, quoted commas and braces do not count, as in TOML.
fn parts(list: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let (mut depth, mut begin) = (0_usize, 0);
    let (mut quote, mut is_escaped) = (None, false);
    for (at, character) in list.char_indices() {
        if let Some(open) = quote {
            let is_over = character == open && !is_escaped;
            is_escaped = open == '"' && character == '\\' && !is_escaped;
            quote = if is_over { None } else { Some(open) };
            continue;
        }
        match character {
            // Outside of braces a name is not quoted.
            '"' | '\'' if depth > 0 => quote = Some(character),
            '{' => depth += 1,
            '}' if depth == 0 => {
                return Err(format!("in `{}` a `}}` closes nothing; write {EXAMPLE}", list[begin..].trim()));
            }
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
    let last = &list[begin..];
    match quote {
        Some(quote) => Err(format!("in `{}` a quote stays open; close it with `{quote}`", last.trim())),
        None if depth > 0 => Err(format!("in `{}` a `{{` stays open; write {EXAMPLE}", last.trim())),
        None => {
            parts.push(last);
            Ok(parts)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_names_and_variants_each_once() {
        const LIST: &str = "gcc, gcc{trendline.window=40, a={b=1}} ,nada,gcc";
        assert_eq!(Candidate::repeated(LIST), ["gcc"]);
        assert!(Candidate::repeated("gcc,nada").is_empty() && Candidate::repeated("gcc{,gcc").is_empty());
        let list = Candidate::list(LIST).unwrap();
        let names: Vec<&str> = list.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["gcc", "gcc{trendline.window=40, a={b=1}}", "nada"]);
        assert_eq!(
            list[1].definition.as_deref(),
            Some(
                "variants.\"gcc{trendline.window=40, a={b=1}}\"={ controller = \"gcc\", options = { trendline.window=40, \
                 a={b=1} } }"
            )
        );
        let quoted = Candidate::list(r#"gcc-2016{preset="chrome"},a{b="x}, \"y",c='{'},nada"#).unwrap();
        let names: Vec<&str> = quoted.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["gcc-2016{preset='chrome'}", r"a{b='x}, \'y',c='{'}", "nada"]);
        assert!(is_one_name("gcc{a=1,b=2}") && !is_one_name("gcc,nada") && !is_one_name("gcc{a=1,b=2"));
    }

    #[test]
    fn unbalanced_braces_are_refused() {
        for (text, message) in [
            ("gcc{a=1", "stays open"),
            ("gcc}", "closes nothing"),
            ("gcc{a=1}nada", "write a comma"),
            ("gcc,,nada", "no name between two commas"),
            ("gcc,nada{a=\"1}", "in `nada{a=\"1}` a quote stays open; close it with `\"`"),
            ("gcc,nada{a='1}", "close it with `'`"),
            (
                "gcc, {a=1}",
                "in `{a=1}` there is no controller before the `{`; write `gcc{trendline.window=40}`",
            ),
            ("gcc, nada{a}", "the braces of `nada{a}` is no table of TOML: "),
            ("nada{a=}", "write `gcc{trendline.window=40}`"),
            ("nada{preset=chrome}", "words in quotes"),
            ("nada{a=1,a=2}", "duplicate key"),
            ("nada{a=1 # more}", "no table of TOML"),
            ("", "no name"),
        ] {
            let error = Candidate::list(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
