//! Frame sizes of video, read from files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use weir_media::{FrameTraces, TraceError};
use weir_units::DataRate;

use super::{DATA_VARIABLE, TraceStore, TraceStoreError};
use weir_form::{MOST_PRINTED, text_of};

/// The frame sizes read so far. They last as long as the process, because encoders refer to them.
static READ: Mutex<BTreeMap<PathBuf, &'static FrameTraces>> = Mutex::new(BTreeMap::new());

impl TraceStore {
    /// The frame sizes `name`, read once and kept. Their source is the file `video/NAME.txt` of a data directory, or files
    /// `video/NAME_RATE.txt` in the form of syncodecs, one for each rate in kbit/s.
    ///
    /// # Errors
    /// No such file, or it cannot be read or holds no frame sizes.
    pub fn frame_sizes(&self, name: &str) -> Result<&'static FrameTraces, TraceStoreError> {
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        let found = self.directories.iter().filter(|_| plain).find_map(|data| {
            let video = data.join("video");
            let file = video.join(format!("{name}.txt"));
            let sequences = if file.is_file() { Vec::new() } else { sequences_of(&video, name) };
            (file.is_file() || !sequences.is_empty()).then_some((video, file, sequences))
        });
        let Some((video, file, sequences)) = found else {
            let place = self.directories.place("video");
            let advice = format!(
                "put `{name}.txt` there, or a file `{name}_RATE.txt` for each rate in kbit/s, name the data directory with `--data` or {DATA_VARIABLE}, or take \
                 `talking-head`, which needs no file"
            );
            return Err(TraceStoreError::NotFound { name: name.to_owned(), place, advice });
        };
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&traces) = read.get(&file) {
            return Ok(traces);
        }
        let traces = if sequences.is_empty() {
            read_as(&file, FrameTraces::parse)?
        } else {
            let sizes = |(kbps, path): &(u32, PathBuf)| {
                let rate = DataRate::from_kbps(u64::from(*kbps));
                Ok((rate, read_as(path, FrameTraces::parse_sequence)?))
            };
            let path = || video.join(format!("{name}_*.txt")).display().to_string();
            FrameTraces::new(sequences.iter().map(sizes).collect::<Result<_, _>>()?)
                .map_err(|error| TraceStoreError::NoFrameSizes { path: path(), error })?
        };
        let traces: &'static FrameTraces = Box::leak(Box::new(traces));
        read.insert(file, traces);
        Ok(traces)
    }
}

/// The files of `video` with the sequences of `name`, and their rates in kbit/s, in increasing order.
fn sequences_of(video: &Path, name: &str) -> Vec<(u32, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(video) else { return Vec::new() };
    let rate = |path: &Path| -> Option<u32> {
        let rest = path.file_name()?.to_str()?.strip_prefix(name)?;
        rest.strip_prefix('_')?.strip_suffix(".txt")?.parse().ok()
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file());
    let mut sequences: Vec<_> = paths.filter_map(|path| Some((rate(&path)?, path))).collect();
    sequences.sort();
    sequences
}

fn read_as<T>(path: &Path, parse: fn(&str) -> Result<T, TraceError>) -> Result<T, TraceStoreError> {
    let name = || path.display().to_string();
    let text = text_of(path, MOST_PRINTED)
        .map_err(|error| TraceStoreError::Unreadable { path: name(), reason: error.to_string() })?;
    parse(&text).map_err(|error| TraceStoreError::NoFrameSizes { path: name(), error })
}
