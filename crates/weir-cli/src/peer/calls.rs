//! The recorded calls of sessions.

use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use weir_world::RecordedCall;

use crate::failure::Failure;
use crate::output::{OpenOutput, OutputFile};

/// Files of recorded calls: the first has the user's name, further ones their number before the ending.
#[derive(Debug)]
pub(super) struct CallFiles {
    first: PathBuf,
    written: usize,
}

impl CallFiles {
    /// Files of sessions with `count` flows. Errors of the first ones are found before anything is sent.
    pub(super) fn prepare(first: &Path, count: usize) -> Result<Self, Failure> {
        let files = Self { first: first.to_owned(), written: 0 };
        for number in 1..=count {
            OutputFile::prepare(&files.path(number))?;
        }
        Ok(files)
    }

    fn path(&self, number: usize) -> PathBuf {
        if number == 1 {
            return self.first.clone();
        }
        let name = self.first.file_name().unwrap_or_default().to_string_lossy();
        let (stem, ending) = name.split_at(name.find('.').unwrap_or(name.len()));
        self.first.with_file_name(format!("{stem}-{number}{ending}"))
    }

    /// Writes the calls of a session: all of them, or none.
    pub(super) fn write(&mut self, calls: &[RecordedCall]) -> Result<(), Failure> {
        let numbers = self.written + 1..;
        let open = |(call, number): (&RecordedCall, usize)| {
            OutputFile::prepare(&self.path(number))?.open_with(|out| {
                let mut out = BufWriter::new(out);
                serde_json::to_writer(&mut out, call).map_err(io::Error::from)?;
                out.flush()
            })
        };
        let files = calls.iter().zip(numbers).map(open).collect::<Result<Vec<_>, _>>()?;
        OpenOutput::place_all(&files)?;
        self.written += calls.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_call_is_before_the_ending() {
        let name = |first: &str, number| {
            let files = CallFiles { first: PathBuf::from(first), written: 0 };
            files.path(number).display().to_string()
        };
        assert_eq!(name("out/a.call.json", 1), "out/a.call.json");
        assert_eq!(name("out/a.call.json", 2), "out/a-2.call.json");
        assert_eq!(name("a", 3), "a-3");
    }

    #[test]
    fn calls_of_one_session_are_written_together_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let mut files = CallFiles::prepare(&at("a.json"), 2).unwrap();
        // The second place is taken meanwhile.
        std::fs::create_dir(at("a-2.json")).unwrap();
        let calls = vec![RecordedCall::default(); 2];
        let error = files.write(&calls).unwrap_err().to_string();
        assert!(error.contains("a-2.json: cannot be written"), "{error}");
        let left = std::fs::read_dir(place.path()).unwrap().count();
        assert_eq!((left, at("a.json").exists()), (1, false));
        std::fs::remove_dir(at("a-2.json")).unwrap();
        files.write(&calls).unwrap();
        files.write(&calls[..1]).unwrap();
        assert!(["a.json", "a-2.json", "a-3.json"].iter().all(|name| at(name).is_file()));
        assert!(CallFiles::prepare(&at("missing/a.json"), 1).is_err());
    }
}
