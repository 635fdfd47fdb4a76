//! `weir completions` and `weir man`: scripts for shells and pages for readers.

use std::io::Write;

use clap_mangen::Man;
use weir_scenario::registry::Registry;

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::failure::Failure;
use crate::output::{OutputDirectory, OutputFile};
use crate::terminal;

/// Prints the script by which a shell completes the commands.
pub(crate) fn completions(args: &CompletionsArgs, registry: &Registry) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command_with(registry), "weir", &mut script);
    Ok(std::io::stdout().lock().write_all(&script)?)
}

/// Prints the manual page of the command, or writes those of all commands.
pub(crate) fn man(args: &ManArgs, registry: &Registry) -> Result<(), Failure> {
    let mut command = Args::command_with(registry).disable_help_subcommand(true);
    command.build();
    let Some(path) = &args.out else {
        let page = page(command)?.1;
        return Ok(std::io::stdout().lock().write_all(&page)?);
    };
    let mut pages = Vec::new();
    all(&command, &mut pages)?;
    let directory = OutputDirectory::prepare(path, registry)?;
    let files: Vec<OutputFile> =
        pages.iter().map(|(name, _)| OutputFile::prepare(&directory.path(name))).collect::<Result<_, _>>()?;
    files.iter().zip(&pages).try_for_each(|(file, (_, text))| file.write(text))?;
    writeln!(terminal::stdout(), "{} manual pages: {}", pages.len(), path.display())?;
    Ok(())
}

/// The pages of `command` and of those below it.
fn all(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> Result<(), Failure> {
    pages.push(page(command.clone())?);
    command.get_subcommands().try_for_each(|below| all(below, pages))
}

/// The name of a page's file, and the page.
fn page(command: clap::Command) -> Result<(String, Vec<u8>), Failure> {
    let man = Man::new(command);
    let mut text = Vec::new();
    man.render(&mut text)?;
    Ok((man.get_filename(), text))
}
