//! Names of controllers and flows as parts of names of files.

use std::hash::{DefaultHasher, Hasher};

/// Longest name without a number.
const MOST: usize = 100;

/// The name of a controller or variant as a part of a file's name: `gcc-aimd.decrease-0.7` for `gcc{aimd.decrease=0.7}`. Characters
/// with a meaning to a file system or a shell become `-`. A name that may then be that of another gets a number.
pub(crate) fn file_name(controller: &str) -> String {
    let is_harmless = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    if controller.chars().all(is_harmless) && controller.len() <= MOST {
        return controller.to_owned();
    }
    let of_options =
        controller.split_once('{').and_then(|(base, rest)| Some((base, rest.strip_suffix('}')?)));
    let is_option = |c: char| c != '-' && is_harmless(c) || "=,".contains(c);
    match of_options {
        Some((base, options))
            if base.chars().all(is_harmless)
                && options.chars().all(is_option)
                && controller.len() <= MOST =>
        {
            format!("{base}-{}", options.replace(['=', ','], "-"))
        }
        _ => numbered_name(controller),
    }
}

/// The same with the number that a name always has where two names of a folder would be one.
fn numbered_name(controller: &str) -> String {
    let harmless = |c: char| if c.is_ascii_alphanumeric() || "-_.+".contains(c) { c } else { '-' };
    let name: String = controller.chars().map(harmless).take(MOST).collect();
    format!("{}-{}", name.trim_end_matches('-'), number(controller))
}

/// The name for files of `controller` beside those of `all`.
pub(crate) fn name_among<'n>(controller: &str, all: impl IntoIterator<Item = &'n str>) -> String {
    let name = file_name(controller);
    let is_taken = all.into_iter().any(|other| other != controller && file_name(other) == name);
    if is_taken { numbered_name(controller) } else { name }
}

/// The names that files of `controller` can have in a folder, former ones last.
pub(crate) fn names_of(controller: &str) -> [String; 3] {
    // If the second exists, the first is that of another controller.
    [numbered_name(controller), file_name(controller), former_name(controller)]
}

/// The name that earlier versions gave, with braces and equals signs.
fn former_name(controller: &str) -> String {
    let harmless = |c: char| if c.is_ascii_alphanumeric() || "-_.+={},'".contains(c) { c } else { '-' };
    let name: String = controller.chars().map(harmless).take(MOST).collect();
    if name == controller { name } else { format!("{name}-{}", number(controller)) }
}

/// A number that hardly any other name has.
fn number(controller: &str) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(controller.as_bytes());
    format!("{:08x}", hasher.finish() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_file_of_its_own() {
        assert_eq!(file_name("gcc{trendline.window=40}"), "gcc-trendline.window-40");
        assert_eq!(file_name("nada-at-sender{kappa=0.5,x_ref=10ms}"), "nada-at-sender-kappa-0.5-x_ref-10ms");
        assert_eq!(file_name("gcc+nada"), "gcc+nada");
        for (one, other) in [("a b", "a-b"), ("gcc{a=-1}", "gcc{a=1}"), ("gcc{a='x'}", "gcc{a=x}")] {
            assert_ne!(file_name(one), file_name(other));
        }
        let long = |last: char| format!("gcc{{{}{last}}}", "a".repeat(300));
        assert_ne!(file_name(&long('1')), file_name(&long('2')));
        assert!(file_name(&long('1')).len() < 120 && !file_name("../../x").contains('/'));
        for name in ["gcc{a=1}", "a b", "x{y='z'}", "{", "="] {
            assert!(!file_name(name).contains(['{', '}', '=', '\'', ',']), "{name}");
        }
    }

    #[test]
    fn two_controllers_with_one_name_get_a_number_each() {
        let all = ["gcc{a=1}", "gcc-a-1", "nada"];
        let names = all.map(|name| name_among(name, all));
        assert!(names[0] != names[1] && names[0].starts_with("gcc-a-1-") && names[1].starts_with("gcc-a-1-"));
        assert_eq!(names[2], "nada");
        assert!(names_of("gcc{a=1}").contains(&names[0]));
        assert_eq!(names_of("gcc{a=1}")[1..], ["gcc-a-1", "gcc{a=1}"]);
    }
}
