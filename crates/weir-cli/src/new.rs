//! `weir new controller`: a crate with a controller of one's own.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use weir_scenario::registry::{Registry, window_algorithms};

use crate::args::{NewCommand, NewControllerArgs};
use crate::failure::Failure;
use crate::terminal;

/// The files of the crate, for a controller called `mine`.
const FILES: [(&str, &str); 4] = [
    ("Cargo.toml", include_str!("../templates/controller/Cargo.toml.in")),
    ("README.md", include_str!("../templates/controller/README.md.in")),
    ("src/main.rs", include_str!("../templates/controller/src/main.rs")),
    ("src/controller.rs", include_str!("../templates/controller/src/controller.rs")),
];
/// The crates of Weir that it depends on.
const CRATES: [&str; 3] = ["weir-cc", "weir-cli", "weir-registry"];

/// Names with another meaning in the crate: keywords and prelude of Rust, names that Cargo refuses, dependencies,
/// types in its file.
const TAKEN: [&str; 131] = [
    "abstract",
    "alloc",
    "as",
    "as-mut",
    "as-ref",
    "async",
    "await",
    "become",
    "box",
    "break",
    "build",
    "change-reason",
    "clone",
    "computed",
    "config",
    "const",
    "continue",
    "controller",
    "controller-info",
    "controller-kind",
    "copy",
    "core",
    "crate",
    "debug",
    "default",
    "deps",
    "deserialize",
    "do",
    "double-ended-iterator",
    "drop",
    "dyn",
    "else",
    "enum",
    "eq",
    "err",
    "exact-size-iterator",
    "examples",
    "exit-code",
    "extend",
    "extern",
    "false",
    "feedback",
    "feedback-outcome",
    "final",
    "flow-context",
    "fn",
    "fn-mut",
    "fn-once",
    "for",
    "from",
    "from-iterator",
    "gen",
    "half",
    "hash",
    "if",
    "impl",
    "in",
    "incremental",
    "into",
    "into-iterator",
    "iterator",
    "json-schema",
    "let",
    "limiting-factor",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "none",
    "ok",
    "option",
    "ord",
    "override",
    "pacing",
    "packet-fate",
    "packet-feedback",
    "partial-eq",
    "partial-ord",
    "priv",
    "proc-macro",
    "pub",
    "rate-controller",
    "rate-limits",
    "receiver",
    "ref",
    "registry",
    "result",
    "return",
    "rule",
    "schemars",
    "self",
    "send",
    "send-rates",
    "send-state",
    "send-time",
    "serde",
    "serialize",
    "signal",
    "sized",
    "some",
    "static",
    "std",
    "string",
    "struct",
    "super",
    "sync",
    "test",
    "tested-controller",
    "tests",
    "time-delta",
    "to-owned",
    "to-string",
    "trait",
    "true",
    "try",
    "try-from",
    "try-into",
    "type",
    "typeof",
    "unpin",
    "unsafe",
    "unsized",
    "use",
    "vec",
    "virtual",
    "where",
    "while",
    "windowed-min",
    "yield",
];
/// Names of devices on Windows, which no file can have; so are `com0` to `com9` and `lpt0` to `lpt9`.
const DEVICES: [&str; 4] = ["aux", "con", "nul", "prn"];

/// Creates the project.
pub(crate) fn new(command: &NewCommand) -> Result<(), Failure> {
    let NewCommand::Controller(args) = command;
    controller(args)
}

fn controller(args: &NewControllerArgs) -> Result<(), Failure> {
    let NewControllerArgs { name, .. } = args;
    check_name(name)?;
    let source = CrateSource::of(args.weir.as_deref())?;
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(name));
    if folder.exists() {
        let problem = format!(
            "{} is there already; choose another name, or another folder with --out",
            folder.display()
        );
        return Err(Failure::Option { option: format!("new controller {name}"), problem });
    }
    let mut files: Vec<(&str, String)> =
        FILES.iter().map(|&(path, text)| (path, called(text, name))).collect();
    files[0].1 = source.depended_on(&files[0].1);
    // The versions that this clone was tested with.
    if let Some(lock) = source.lock() {
        files.push(("Cargo.lock", lock));
    }
    let part = beside(&folder).map_err(|source| Failure::Unwritable { path: folder.clone(), source })?;
    write(part, &folder, &files).map_err(|source| Failure::Write { path: folder.clone(), source })?;
    let mut out = terminal::stdout();
    writeln!(
        out,
        "{} has the controller `{name}`, in src/controller.rs, and the command `weir` with it:",
        folder.display()
    )?;
    writeln!(
        out,
        "    cd {}\n    cargo run --release -- run --controller {name},gcc\n    cargo test",
        folder.display()
    )?;
    Ok(())
}

/// A name for both a crate and a controller: small letters, digits and single hyphens between them.
fn check_name(name: &str) -> Result<(), Failure> {
    let refuse = |problem: String| Failure::Option { option: format!("new controller {name}"), problem };
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    if !name.split('-').all(is_word) {
        let advice = "write small letters and digits, with hyphens between words, such as `my-controller`";
        return Err(refuse(format!("a controller and its crate cannot have this name; {advice}")));
    }
    if TAKEN.contains(&name) {
        return Err(refuse(
            "this word has a meaning in Rust or in the controller's file; give yours another name".to_owned(),
        ));
    }
    if is_device(name) {
        return Err(refuse("on Windows no folder can have this name; give yours another one".to_owned()));
    }
    if Registry::standard().find(name).is_ok() {
        return Err(refuse("this controller ships; give yours another name".to_owned()));
    }
    if window_algorithms().iter().any(|algorithm| algorithm.name == name) {
        return Err(refuse("this is a TCP algorithm; give yours another name".to_owned()));
    }
    if CRATES.contains(&name) || name == "weir" {
        return Err(refuse("this is a crate of Weir; give yours another name".to_owned()));
    }
    Ok(())
}

fn is_device(name: &str) -> bool {
    let number = name.strip_prefix("com").or_else(|| name.strip_prefix("lpt"));
    DEVICES.contains(&name)
        || number.is_some_and(|n| n.len() == 1 && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `text`, of a controller called `mine`, with another name in it.
fn called(text: &str, name: &str) -> String {
    let head = |word: &str| {
        let (first, rest) = word.split_at(1.min(word.len()));
        first.to_ascii_uppercase() + rest
    };
    let type_name: String = name.split('-').map(head).collect();
    // One name may contain the other: the placeholders keep replaced text from being replaced again.
    let (of_type, of_controller) = ("\u{1}", "\u{2}");
    let marked = text.replace("Mine", of_type).replace("mine", of_controller);
    marked.replace(of_type, &type_name).replace(of_controller, name)
}

/// Where the crates of Weir come from.
#[derive(Debug)]
enum CrateSource {
    Clone(PathBuf),
    Git(String),
}

impl CrateSource {
    /// The value of `--weir`; without it the clone that this binary was built from.
    fn of(given: Option<&str>) -> Result<Self, Failure> {
        let is_address = |text: &&str| text.contains("://") || is_remote(text);
        if let Some(text) = given.filter(is_address) {
            return address(text).map(Self::Git).ok_or_else(|| Failure::Option {
                option: format!("--weir {text}"),
                problem: "this is no address of a repository; write https://HOST/PATH, ssh://git@HOST/PATH or git@HOST:PATH, without \
                          quotes and blanks, or the folder of a clone"
                    .to_owned(),
            });
        }
        let built_from = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = given.map_or_else(built_from, PathBuf::from);
        let clone = path.canonicalize().ok().filter(|clone| {
            CRATES.iter().all(|name| clone.join("crates").join(name).join("Cargo.toml").is_file())
        });
        clone.map(Self::Clone).ok_or_else(|| Failure::Option {
            option: given.map_or_else(|| "new controller".to_owned(), |given| format!("--weir {given}")),
            problem: format!(
                "{} is no clone of Weir; give its folder, or the address of its repository, with --weir",
                path.display()
            ),
        })
    }

    /// `manifest` with this source in the place of `WEIR`.
    fn depended_on(&self, manifest: &str) -> String {
        let line = |line: &str| {
            let Some((name, _)) = line.split_once(" = { WEIR") else { return line.to_owned() };
            let source = match self {
                Self::Clone(clone) => {
                    format!("path = {:?}", clone.join("crates").join(name).display().to_string())
                }
                Self::Git(url) => format!("git = {url:?}"),
            };
            line.replacen("WEIR", &source, 1)
        };
        manifest.lines().map(|text| line(text) + "\n").collect()
    }

    fn lock(&self) -> Option<String> {
        match self {
            Self::Clone(clone) => fs::read_to_string(clone.join("Cargo.lock")).ok(),
            Self::Git(_) => None,
        }
    }
}

/// Whether `text` begins as `USER@HOST:PATH` does, and is no file.
fn is_remote(text: &str) -> bool {
    let user = text.split_once('@').map_or("", |(user, _)| user);
    !user.is_empty() && !user.contains(['/', '\\']) && !Path::new(text).exists()
}

/// The address of a repository as a URL that Cargo accepts, also where it is written `USER@HOST:PATH`, or `None`
/// for other texts.
fn address(text: &str) -> Option<String> {
    let url = match (text.split_once("://"), text.split_once(':')) {
        (Some(_), _) => text.to_owned(),
        (None, Some((host, path))) => format!("ssh://{host}/{}", path.trim_start_matches('/')),
        (None, None) => return None,
    };
    let (scheme, rest) = url.split_once("://")?;
    let (place, path) = rest.split_once('/')?;
    let (user, place) = place.rsplit_once('@').map_or((None, place), |(user, place)| (Some(user), place));
    let (host, port) = place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port)));
    let is_word = |text: &str, others: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
    };
    let harmless = |c: char| !c.is_whitespace() && !c.is_control() && !"\"'`\\<>".contains(c);
    let is_one = ["https", "http", "ssh", "git", "file"].contains(&scheme)
        && (is_word(host, "-.") || scheme == "file" && place.is_empty())
        && port.is_none_or(|port| port.parse::<u16>().is_ok())
        && user.is_none_or(|user| is_word(user, "-._~%+:"))
        && !path.trim_matches('/').is_empty()
        && path.chars().all(harmless);
    is_one.then_some(url)
}

/// A temporary folder beside `folder`, until that is complete.
fn beside(folder: &Path) -> std::io::Result<TempDir> {
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(above)?;
    tempfile::Builder::new().prefix(".weir-new-").tempdir_in(above)
}

/// Writes all files into a new folder, or none.
fn write(part: TempDir, folder: &Path, files: &[(&str, String)]) -> std::io::Result<()> {
    for (path, text) in files {
        let path = part.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(path, text)?;
    }
    fs::rename(part.path(), folder)?;
    // It has another name now.
    let _ = part.keep();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_hyphen_stands_only_where_it_is_text() {
        for (path, text) in FILES.iter().filter(|(path, _)| path.starts_with("src/")) {
            for line in called(text, "my-own").lines().filter(|line| line.contains("my-own")) {
                let quoted = line.contains("\"my-own\"") || line.trim_start().starts_with("//");
                assert!(quoted, "{path}: {line}");
            }
        }
        assert!(called("Mine of mine: MineRule", "determine") == "Determine of determine: DetermineRule");
    }

    #[test]
    fn a_name_is_one_of_a_crate_and_of_a_controller() {
        for name in ["my-controller", "a2", "determine"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", "My", "my_law", "-a", "a-", "2a", "gcc", "fn", "serde", "controller", "weir-cc"] {
            assert!(check_name(name).is_err(), "{name}");
        }
        for name in ["option", "result", "string", "vec", "pub", "true", "deps", "con", "nul", "com1", "lpt9"]
        {
            assert!(check_name(name).is_err(), "{name}");
        }
        for name in ["console", "com", "com10", "options"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for algorithm in window_algorithms() {
            assert!(check_name(algorithm.name).is_err(), "{}", algorithm.name);
        }
    }

    /// A type of the controller's name must be none that the crate names otherwise.
    #[test]
    fn a_name_is_no_type_that_the_files_of_the_crate_name() {
        let code =
            FILES.iter().filter(|(path, _)| path.starts_with("src/")).flat_map(|(_, text)| text.lines());
        // Without comments and texts.
        let code = code.map(|line| line.split("//").next().unwrap_or_default());
        let code = code.flat_map(|line| line.split('"').step_by(2));
        // A name behind a path separator has its own scope.
        let ends = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let parts = code.flat_map(|line| line.split("::").enumerate());
        let words = parts.flat_map(|(at, part)| part.split(ends).skip(usize::from(at > 0)));
        let is_type = |word: &&str| {
            word.starts_with(|c: char| c.is_ascii_uppercase())
                && word.contains(|c: char| c.is_ascii_lowercase())
        };
        let mut types: Vec<&str> = words.filter(is_type).filter(|word| !word.starts_with("Mine")).collect();
        types.sort_unstable();
        types.dedup();
        assert!(types.contains(&"Option") && types.contains(&"SendTime"), "{types:?}");
        for word in types {
            let mut name = String::new();
            for c in word.chars() {
                name.extend((c.is_ascii_uppercase() && !name.is_empty()).then_some('-'));
                name.push(c.to_ascii_lowercase());
            }
            assert!(called("Mine", &name) != word || check_name(&name).is_err(), "{name}");
        }
    }

    #[test]
    fn an_address_has_a_scheme_a_host_and_a_path() {
        for (text, url) in [
            ("https://example.org/weir", "https://example.org/weir"),
            ("ssh://git@example.org:2222/a/weir.git", "ssh://git@example.org:2222/a/weir.git"),
            ("file:///srv/weir", "file:///srv/weir"),
            ("git@example.org:a/weir.git", "ssh://git@example.org/a/weir.git"),
            ("me@example.org:/srv/weir", "ssh://me@example.org/srv/weir"),
        ] {
            let Ok(CrateSource::Git(taken)) = CrateSource::of(Some(text)) else { panic!("{text}") };
            assert_eq!(taken, url);
        }
        for text in [
            "https://",
            "https://example.org",
            "https://example.org/",
            "https:///weir",
            "://example.org/weir",
            "nowhere://a/b",
            "https://a\"b",
            "https://a/b\"c",
            "https://a/b c",
            "https://a b/c",
            "https://a:b/c",
            "git@",
            "git@example.org",
            "git@example.org:",
            "git@:a/b",
            "https://@a/b",
        ] {
            assert!(CrateSource::of(Some(text)).is_err(), "{text}");
        }
    }
}
