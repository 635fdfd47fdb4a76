//! Frame sizes of video from files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use weir_media::FrameTraces;

use super::{DATA_VARIABLE, TraceStore, TraceStoreError};

/// What has been read, for as long as the process lasts: encoders refer to it.
static READ: Mutex<BTreeMap<PathBuf, &'static FrameTraces>> = Mutex::new(BTreeMap::new());

impl TraceStore {
    /// The frame sizes `name`, from the file `video/NAME.txt` of the data directory; read once and kept.
    ///
    /// # Errors
    /// No such file, or it cannot be read or holds no frame sizes.
    pub fn frame_sizes(&self, name: &str) -> Result<&'static FrameTraces, TraceStoreError> {
        let directory = self.directory.as_ref().map(|data| data.join("video"));
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        let file = directory.as_ref().map(|video| video.join(format!("{name}.txt")));
        let Some(file) = file.filter(|file| plain && file.is_file()) else {
            let place = directory.map_or_else(
                || "any data directory: there is none".to_owned(),
                |video| video.display().to_string(),
            );
            let advice = format!(
                "put `{name}.txt` there, name the data directory with `--data` or {DATA_VARIABLE}, or take \
                 `talking-head`, which needs no file"
            );
            return Err(TraceStoreError::NotFound { name: name.to_owned(), place, advice });
        };
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&traces) = read.get(&file) {
            return Ok(traces);
        }
        let path = file.display().to_string();
        let text = std::fs::read_to_string(&file)
            .map_err(|error| TraceStoreError::Unreadable { path: path.clone(), reason: error.to_string() })?;
        let traces =
            FrameTraces::parse(&text).map_err(|error| TraceStoreError::NoFrameSizes { path, error })?;
        let traces: &'static FrameTraces = Box::leak(Box::new(traces));
        read.insert(file, traces);
        Ok(traces)
    }
}
