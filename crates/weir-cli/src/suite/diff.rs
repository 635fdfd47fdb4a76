//! `weir suite diff`: two saved results, without a run.

use std::io::Write;
use std::path::Path;

use weir_study::judge::SavedStudy;
use weir_study::suite::compare_saved;

use super::{changes, markdown};
use crate::args::SuiteDiffArgs;
use crate::failure::Failure;
use crate::output::OutputFile;
use crate::terminal;

/// Compares them. Returns whether nothing got worse.
pub(super) fn diff(args: &SuiteDiffArgs) -> Result<bool, Failure> {
    let (old, new) = (SavedStudy::of_suite(&args.old)?, SavedStudy::of_suite(&args.new)?);
    let compared = compare_saved(&old, &new)?;
    let notes: Vec<String> = changes::other_senders(&old, &new).into_iter().collect();
    let to_stdout = args.markdown.as_deref() == Some(Path::new("-"));
    let file = args.markdown.as_deref().filter(|_| !to_stdout);
    if let Some(path) = file {
        for base in [&args.old, &args.new] {
            if matches!((path.canonicalize(), base.canonicalize()), (Ok(a), Ok(b)) if a == b) {
                let problem = "this is one of the two results; name another file".to_owned();
                return Err(Failure::Option { option: format!("--markdown {}", path.display()), problem });
            }
        }
    }
    let file = file.map(OutputFile::prepare).transpose()?;
    let text = markdown::changes(&compared);
    let written = file.map_or(Ok(()), |file| file.write(text.as_bytes()));
    let mut out = terminal::stdout();
    let printed = if to_stdout {
        out.write_all(text.as_bytes()).map_err(Failure::from)
    } else {
        changes::print(&mut out, &notes, Some(&compared))
    };
    written?;
    match printed {
        Err(failure) if !failure.is_closed_pipe() => Err(failure),
        _ => Ok(!compared.has_regression()),
    }
}
