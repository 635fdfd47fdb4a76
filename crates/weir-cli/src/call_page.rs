//! The page and the results of a command for recorded calls.

use std::io::Write;

use serde::Serialize;
use weir_scenario::registry::Registry;

use crate::args::PageOutputArgs;
use crate::browser;
use crate::failure::Failure;
use crate::output::{OutputDirectory, json_file};
use crate::terminal;

/// A page about a call, and its results.
pub(crate) struct CallPage<'a, R> {
    /// Usual name of the directory.
    pub(crate) directory: &'a str,
    /// Name of both files, without ending.
    pub(crate) name: &'a str,
    /// Text of the page; made only where it is written.
    pub(crate) page: &'a dyn Fn() -> String,
    /// Results, as JSON.
    pub(crate) results: R,
}

impl<R: Serialize> CallPage<'_, R> {
    /// Writes page and results where files are wanted, then prints the results, or what `print` writes, and opens the page.
    pub(crate) fn show(
        &self,
        output: &PageOutputArgs,
        registry: &Registry,
        print: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let page = format!("{}.html", self.name);
        let mut directory =
            OutputDirectory::usual(output.out.as_deref(), output.json, self.directory, registry)?;
        if let Some(directory) = &mut directory {
            directory.write(&vec![
                (page.clone(), (self.page)().into_bytes()),
                (format!("{}.json", self.name), json_file(&self.results)?),
            ])?;
        }
        let path = directory.map(|directory| directory.path(&page));
        let mut out = terminal::stdout();
        if output.json {
            out.write_all(&json_file(&self.results)?)?;
        } else {
            print(&mut out)?;
            if let Some(path) = &path {
                writeln!(out, "\nPage: {}", browser::link(path))?;
            }
        }
        browser::open(output.open, path.as_deref())
    }
}
