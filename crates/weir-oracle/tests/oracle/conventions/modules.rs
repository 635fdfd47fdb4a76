//! The modules of a crate, their definitions, the public names among them, and the paths that they name.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::tokens;

/// The segments of a path; for a module those behind `crate`.
pub(super) type Path = Vec<String>;

/// A module by its text, without items compiled only for tests.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) file: String,
    /// The kind of each definition.
    defined: BTreeMap<String, String>,
    /// The public names with default features, of modules and re-exports too; `*` for all of another module.
    pub(super) public: BTreeSet<String>,
    /// The names that `use` imports.
    names: BTreeMap<String, Path>,
    globs: Vec<Path>,
    /// Every path that is written in it.
    pub(super) paths: Vec<Path>,
}

/// All modules of one crate.
#[derive(Debug, Default)]
pub(super) struct Modules(pub(super) BTreeMap<Path, Module>);

/// Most steps in the resolution of a name.
const PATIENCE: u32 = 16;

impl Modules {
    /// The modules below the file `root`, with `read` as the file system.
    pub(super) fn of(root: &str, read: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut modules = Self::default();
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        modules.file(root, folder, &[], read);
        modules
    }

    /// Reads `file`, whose children are in `folder`.
    fn file(&mut self, file: &str, folder: &str, path: &[String], read: &dyn Fn(&str) -> Option<String>) {
        let text = read(file).unwrap_or_else(|| panic!("{file} is missing"));
        let children = self.text(file, path, &tokens(&text));
        for child in children {
            let folder = format!("{folder}/{}", child[path.len()..].join("/"));
            let (own, of_folder) = (format!("{folder}.rs"), format!("{folder}/mod.rs"));
            let file = if read(&own).is_some() { own } else { of_folder };
            self.file(&file, &folder, &child, read);
        }
    }

    /// Reads the tokens of a module and returns the children that have files of their own.
    fn text(&mut self, file: &str, path: &[String], tokens: &[&str]) -> Vec<Path> {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        let mut children = Vec::new();
        // Where an item begins that not every build has.
        let mut gated = usize::MAX;
        let (mut at, mut depth) = (0, 0);
        while at < tokens.len() {
            let rest = &tokens[at..];
            if depth == 0 && rest[0] == "pub" && at != gated {
                module.publish(&rest[1..]);
            }
            at += match *rest {
                ["#", "[", ..] | ["#", "!", "[", ..] => {
                    let length = attribute(rest);
                    // An item of tests alone is already within the length.
                    if (at == gated || rest[2] == "cfg") && rest[length - 1] == "]" {
                        gated = at + length;
                    }
                    length
                }
                ["mod", name, ";", ..] => {
                    children.push(join(path, name));
                    3
                }
                ["mod", name, "{", ..] => {
                    let end = 2 + group(&rest[2..]);
                    children.extend(self.text(file, &join(path, name), &rest[3..end - 1]));
                    end
                }
                ["use", ..] => 1 + module.import(&rest[1..], &[]),
                ["const", "fn", ..] => 1,
                [
                    kind @ ("fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static"),
                    name,
                    ..,
                ] => {
                    // An associated item does not replace the item of the same name.
                    if depth == 0 || !module.defined.contains_key(name) {
                        let kind = if depth > 0 && kind == "type" { "associated type" } else { kind };
                        module.defined.insert(name.to_owned(), kind.to_owned());
                    }
                    2
                }
                ["macro_rules", "!", name, ..] => {
                    module.defined.insert(name.to_owned(), "macro".to_owned());
                    3
                }
                [_, "::", ..] => module.written(rest),
                ["(" | "[" | "{", ..] => {
                    depth += 1;
                    1
                }
                [")" | "]" | "}", ..] => {
                    depth -= 1;
                    1
                }
                _ => 1,
            };
        }
        self.0.insert(path.to_vec(), module);
        children
    }

    /// The file that defines the item of `path`, written in `module`, or `None` for items of other crates.
    pub(super) fn definition(&self, module: &[String], path: &[String]) -> Option<&str> {
        self.follow(module, path, PATIENCE).map(|(at, _)| self.0[&at].file.as_str())
    }

    /// The module that `name` in `module` is, or the kind of another item; `None` for items of other crates.
    pub(super) fn kind(&self, module: &[String], name: &str) -> Option<Result<Path, &str>> {
        match self.follow(module, &[name.to_owned()], PATIENCE)? {
            (at, None) => Some(Ok(at)),
            (at, Some(name)) => Some(Err(self.0[&at].defined.get(&name)?)),
        }
    }

    /// The module that defines the item of `path`, and its name unless it is the module itself.
    fn follow(&self, module: &[String], path: &[String], patience: u32) -> Option<(Path, Option<String>)> {
        let patience = patience.checked_sub(1)?;
        let (mut at, mut rest) = begin(module, path);
        if rest.len() == path.len() && !self.knows(module, path.first()?, patience) {
            return None;
        }
        while let [name, after @ ..] = rest {
            let next = join(&at, name);
            if self.0.contains_key(&next) {
                (at, rest) = (next, after);
                continue;
            }
            let here = &self.0[&at];
            if here.defined.contains_key(name) {
                return Some((at, Some(name.clone())));
            }
            if let Some(target) = here.names.get(name) {
                return self.follow(&at, &[target, after].concat(), patience);
            }
            let glob = here.globs.iter().map(|glob| [glob, rest].concat());
            let found = glob
                .filter(|path| self.leads_on(&at, path, patience))
                .find_map(|path| self.follow(&at, &path, patience));
            return found.or(Some((at, Some(name.clone()))));
        }
        Some((at, None))
    }

    fn knows(&self, module: &[String], name: &str, patience: u32) -> bool {
        let here = &self.0[module];
        here.defined.contains_key(name)
            || here.names.contains_key(name)
            || self.0.contains_key(&join(module, name))
            || here.globs.iter().any(|glob| self.leads_on(module, &join(glob, name), patience))
    }

    /// Whether all but the last segment of `path` is a module that defines the last.
    fn leads_on(&self, module: &[String], path: &[String], patience: u32) -> bool {
        let Some(patience) = patience.checked_sub(1) else { return false };
        let (at, rest) = begin(module, path);
        let [folders @ .., name] = rest else { return false };
        let target = [at.as_slice(), folders].concat();
        target != module && self.0.contains_key(&target) && self.knows(&target, name, patience)
    }
}

impl Module {
    /// The names of the structs, enums, unions, traits and type aliases.
    pub(super) fn types(&self) -> impl Iterator<Item = &str> {
        let is_type = |kind: &str| matches!(kind, "struct" | "enum" | "union" | "trait" | "type");
        self.defined.iter().filter(move |(_, kind)| is_type(kind)).map(|(name, _)| name.as_str())
    }

    /// Reads the name of the item that `pub` stands before at the start of `tokens`.
    fn publish(&mut self, tokens: &[&str]) {
        let begin = tokens.iter().position(|token| !matches!(*token, "async" | "unsafe" | "extern"));
        match tokens[begin.unwrap_or_default()..] {
            ["(", ..] => {}
            ["use", ref tree @ ..] => {
                let mut names = Self::default();
                names.import(tree, &[]);
                self.public.extend(names.names.into_keys());
                self.public.extend(names.globs.first().map(|_| "*".to_owned()));
            }
            ["const", "fn", name, ..] | [_, name, ..] => drop(self.public.insert(name.to_owned())),
            _ => {}
        }
    }

    /// Reads one tree of `use` that begins with `before`, and returns its number of tokens.
    fn import(&mut self, tokens: &[&str], before: &[String]) -> usize {
        match *tokens {
            ["{", ..] => {
                let end = group(tokens);
                let mut at = 1;
                while at < end - 1 {
                    at += self.import(&tokens[at..end - 1], before).max(1);
                }
                end
            }
            ["*", ..] => {
                self.paths.push(before.to_vec());
                self.globs.push(before.to_vec());
                1
            }
            [name, "::", ..] => 2 + self.import(&tokens[2..], &join(before, name)),
            [name, "as", alias, ..] => {
                self.name(alias, before, name);
                3
            }
            [name, ..] if name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                let alias = if name == "self" { before.last().cloned() } else { None };
                self.name(alias.as_deref().unwrap_or(name), before, name);
                1
            }
            _ => 1,
        }
    }

    fn name(&mut self, alias: &str, before: &[String], name: &str) {
        let path = if name == "self" && !before.is_empty() { before.to_vec() } else { join(before, name) };
        self.paths.push(path.clone());
        self.names.insert(alias.to_owned(), path);
    }

    /// Reads a path in the midst of code.
    fn written(&mut self, tokens: &[&str]) -> usize {
        let mut path = vec![tokens[0].to_owned()];
        let mut length = 1;
        while let ["::", name, ..] = tokens[length..] {
            length += 2;
            if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                break;
            }
            path.push(name.to_owned());
        }
        self.paths.push(path);
        length
    }
}

/// Start of a path: the module, and the remaining segments.
fn begin<'a>(module: &[String], path: &'a [String]) -> (Path, &'a [String]) {
    let mut at = module.to_vec();
    for (index, segment) in path.iter().enumerate() {
        match segment.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => drop(at.pop()),
            _ => return (at, &path[index..]),
        }
    }
    (at, &[])
}

fn join(path: &[String], name: &str) -> Path {
    [path, &[name.to_owned()]].concat()
}

/// Number of tokens of the attribute at the start of `tokens`, with the item behind it if only tests compile that.
fn attribute(tokens: &[&str]) -> usize {
    let open = if tokens[1] == "!" { 2 } else { 1 };
    let end = open + group(&tokens[open..]);
    let of_tests =
        matches!(tokens[open + 1..end], ["cfg", "(", "test", ")", ..] | ["cfg", "(", "all", "(", "test", ..]);
    if of_tests { end + item(&tokens[end..]) } else { end }
}

/// Number of tokens of the item at the start of `tokens`.
fn item(tokens: &[&str]) -> usize {
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at] {
            ";" => return at + 1,
            "{" => return at + group(&tokens[at..]),
            "}" => return at,
            "(" | "[" => at += group(&tokens[at..]),
            _ => at += 1,
        }
    }
    at
}

/// Number of tokens from the bracket at the start to the one that closes it.
fn group(tokens: &[&str]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}
