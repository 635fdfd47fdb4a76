//! Files of recorded calls.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use weir_world::RecordedCall;

use crate::failure::Failure;

/// The recorded call in the file `path`.
///
/// # Errors
/// The file cannot be read, or is no recorded call.
pub(crate) fn read_call(path: &Path) -> Result<RecordedCall, Failure> {
    let refuse = |problem: String| Failure::Option { option: path.display().to_string(), problem };
    let file = File::open(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let call: RecordedCall = serde_json::from_reader(BufReader::new(file))
        .map_err(|error| refuse(format!("{error}; give a recorded call as JSON")))?;
    call.check().map_err(|error| refuse(error.to_string()))?;
    Ok(call)
}
