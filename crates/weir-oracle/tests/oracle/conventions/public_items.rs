//! The public surface of `weir-cc`: the items that embedders reach by a path with its default features.

use std::collections::BTreeSet;
use std::fs;

use super::modules::{Modules, Path};
use super::{read, root};

/// The list of items, below the root of the workspace.
const LIST: &str = "crates/weir-cc/public-items.txt";
/// The environment variable that has the list written anew.
const WRITE: &str = "WEIR_WRITE_PUBLIC_ITEMS";
/// The most items, without methods, fields and variants.
const MOST: usize = 350;

/// A line `path kind` for each module, item and re-export below the public `module`.
fn public_items(modules: &Modules, module: &Path, shown: &str, found: &mut BTreeSet<String>) {
    for name in &modules.0[module].public {
        let path = format!("{shown}::{name}");
        assert!(name != "*", "{path}: a re-export of all names does not show which they are");
        let kind = match modules.kind(module, name) {
            Some(Ok(inner)) => {
                public_items(modules, &inner, &path, found);
                "mod"
            }
            Some(Err(kind)) => kind,
            None => "re-export",
        };
        found.insert(format!("{path} {kind}"));
    }
}

#[test]
fn the_public_items_of_weir_cc_are_those_of_the_list() {
    let source = root().join("crates/weir-cc/src/lib.rs");
    let modules = Modules::of(source.to_str().expect("UTF-8"), &read);
    let mut items = BTreeSet::new();
    public_items(&modules, &Path::new(), "weir_cc", &mut items);
    let list = root().join(LIST);
    if std::env::var_os(WRITE).is_some() {
        let lines: Vec<&str> = items.iter().map(String::as_str).collect();
        fs::write(&list, lines.join("\n") + "\n").expect("the list can be written");
    }
    let listed = fs::read_to_string(&list).unwrap_or_default();
    let listed: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    let new: Vec<_> = items.difference(&listed).map(|item| format!("+ {item}")).collect();
    let gone: Vec<_> = listed.difference(&items).map(|item| format!("- {item}")).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "public items of weir-cc appear (+) or vanish (-):\n{}\nIf that is intended, `{WRITE}=1 cargo test -p weir-oracle \
         --test oracle public_items` writes {LIST} anew.",
        [new, gone].concat().join("\n")
    );
    assert!(items.len() <= MOST, "weir-cc has {} public items, more than {MOST}", items.len());
}

#[test]
fn public_items_are_found_through_modules_and_re_exports() {
    let read = |file: &str| {
        let text = match file {
            "src/lib.rs" => {
                "pub mod a; mod b; pub(crate) mod c; #[cfg(any(test, feature = \"x\"))] pub mod kit;
                pub use b::{B, inner as other}; pub use units::Rate; pub use a::Own as Alias; pub const fn f() {}"
            }
            "src/a.rs" => "pub struct Own { pub rate: f64 } impl Own { pub fn b() {} } fn hidden() {}",
            "src/b.rs" => "#[cfg(test)] mod tests {} pub enum B { A } pub trait Unseen {} pub mod inner { pub type T = u8; }",
            "src/c.rs" | "src/kit.rs" => "pub struct C;",
            _ => return None,
        };
        Some(text.to_owned())
    };
    let mut items = BTreeSet::new();
    public_items(&Modules::of("src/lib.rs", &read), &Path::new(), "x", &mut items);
    let expected = [
        "x::Alias struct",
        "x::B enum",
        "x::Rate re-export",
        "x::a mod",
        "x::a::Own struct",
        "x::f fn",
        "x::other mod",
        "x::other::T type",
    ];
    assert_eq!(items.into_iter().collect::<Vec<_>>(), expected);
}
