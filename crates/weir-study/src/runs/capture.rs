//! Runs with the packets of some links captured to a file.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use weir_sim::Simulation;
use weir_world::RunSpec;

use super::error::RunError;
use weir_measure::metrics::Recorder;
use weir_report::capture::{Captured, PacketCapture};

/// A file that packets are captured into.
#[derive(Debug)]
pub struct CaptureFile {
    /// The output file.
    pub file: File,
    /// Path of the file, for error messages.
    pub path: PathBuf,
}

/// The packets of a run to capture, and the file to write them to.
#[derive(Clone, Copy, Debug)]
pub struct Capture<'a> {
    /// The names of the links, in the order of the interfaces in the file.
    pub links: &'a [String],
    /// The file.
    pub file: &'a CaptureFile,
}

/// Number of link names listed in the error for an unknown link.
const MOST_NAMES: usize = 12;

/// Looks for the links of these names.
///
/// # Errors
/// [`RunError::NoLink`]: no link has one of the names.
pub fn check_links(names: &[String], spec: &RunSpec) -> Result<(), RunError> {
    indices(names, spec).map(drop)
}

/// The indices of the links of these names.
fn indices(names: &[String], spec: &RunSpec) -> Result<Vec<usize>, RunError> {
    let index = |name: &String| {
        spec.links.iter().position(|link| &link.name == name).ok_or_else(|| {
            let shown = spec.links.iter().take(MOST_NAMES).map(|link| format!("`{}`", link.name));
            let mut known: Vec<String> = shown.collect();
            if spec.links.len() > MOST_NAMES {
                known.push(format!("{} more", spec.links.len() - MOST_NAMES));
            }
            let known = known.join(", ");
            RunError::NoLink { link: name.clone(), known }
        })
    };
    names.iter().map(index).collect()
}

impl Capture<'_> {
    /// Simulates with a capture of packets. A capture that fails leaves the packets written so far in the file.
    pub(super) fn simulate(self, spec: RunSpec, recorder: Recorder) -> Result<Recorder, RunError> {
        let links = indices(self.links, &spec)?;
        let fail = |source| RunError::Capture { path: self.file.path.clone(), source };
        let out = BufWriter::new(&self.file.file);
        let capture = PacketCapture::new(out, &spec, &links).map_err(fail)?;
        let captured = Simulation::new(spec, Captured::new(recorder, capture))?.run();
        let (recorder, _) = captured.finish().map_err(fail)?;
        Ok(recorder)
    }
}
