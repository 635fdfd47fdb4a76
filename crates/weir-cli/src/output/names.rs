//! Names of controllers and flows as parts of names of files.

use std::hash::{DefaultHasher, Hasher};

/// The name of a controller or variant as a part of a file's name: characters with a meaning to a file system or a
/// shell become `-`. A name that changes by that, or is cut as too long, gets a unique number.
pub(crate) fn file_name(controller: &str) -> String {
    const MOST: usize = 100;
    let harmless = |c: char| if c.is_ascii_alphanumeric() || "-_.+={},'".contains(c) { c } else { '-' };
    let name: String = controller.chars().map(harmless).take(MOST).collect();
    if name == controller {
        return name;
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(controller.as_bytes());
    format!("{name}-{:08x}", hasher.finish() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_file_of_its_own() {
        assert_eq!(file_name("gcc{trendline.window=40}"), "gcc{trendline.window=40}");
        assert_ne!(file_name("a b"), file_name("a-b"));
        let long = |last: char| format!("gcc{{{}{last}}}", "a".repeat(300));
        assert_ne!(file_name(&long('1')), file_name(&long('2')));
        assert!(file_name(&long('1')).len() < 120 && !file_name("../../x").contains('/'));
    }
}
