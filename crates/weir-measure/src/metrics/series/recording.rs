//! The series of a run, of which a long one stands on the disk but for its last block.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weir_cc::LimitingFactor;

use super::columns::Series;
use super::values::Values;

/// Bins that are held in memory, 55 minutes: a call under GCC takes 12 MB.
pub(super) const BLOCK: usize = 32 * 1024;

/// The series of a run as it was recorded.
///
/// In memory are no more than 32 768 bins; what came before is in a temporary file without a name, in the directory for such files
/// (`TMPDIR`), which goes with the last copy of the recording. Where that could not be written, all that would read it fails.
#[derive(Clone, Debug)]
pub struct Recording {
    earlier: Option<Result<Arc<Mutex<Earlier>>, Arc<io::Error>>>,
    last: Series,
}

/// Blocks of [`BLOCK`] bins, one after the other.
#[derive(Debug)]
struct Earlier {
    file: File,
    blocks: usize,
}

/// Takes the blocks of a run one after the other.
#[derive(Debug, Default)]
pub(super) struct Spool {
    file: Option<BufWriter<File>>,
    blocks: usize,
    /// The first error: of what came after it nothing is kept.
    failed: Option<io::Error>,
}

impl Spool {
    pub(super) fn push(&mut self, block: Series) {
        if self.failed.is_none() {
            self.failed = self.write(block).err();
            self.blocks += 1;
        }
    }

    fn write(&mut self, mut block: Series) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::new(tempfile::tempfile()?)),
        };
        for values in block.values() {
            match values {
                Values::Numbers(numbers, _) => {
                    numbers.iter().try_for_each(|number| file.write_all(&number.to_le_bytes()))?;
                }
                Values::LimitingFactors(factors) => {
                    factors.iter().try_for_each(|factor| file.write_all(&[code(*factor)]))?;
                }
            }
        }
        Ok(())
    }

    /// `last` is the last block.
    pub(super) fn finish(self, last: Series) -> Recording {
        let Self { file, blocks, failed } = self;
        let whole = |file: BufWriter<File>| file.into_inner().map_err(io::IntoInnerError::into_error);
        let file = match failed {
            Some(error) => Some(Err(error)),
            None => file.map(whole),
        };
        let earlier = |file: io::Result<File>| match file {
            Ok(file) => Ok(Arc::new(Mutex::new(Earlier { file, blocks }))),
            Err(error) => Err(Arc::new(error)),
        };
        Recording { earlier: file.map(earlier), last }
    }
}

impl Recording {
    /// Calls `take` with each block of bins in turn, all of the same columns.
    ///
    /// # Errors
    /// Those of `take`; a block cannot be read.
    pub(super) fn each_block<E: From<io::Error>>(
        &self,
        mut take: impl FnMut(&Series) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(mut earlier) = self.earlier()? {
            let Earlier { file, blocks } = &mut *earlier;
            file.rewind()?;
            let mut file = BufReader::new(file);
            let mut block = self.last.clone();
            for _ in 0..*blocks {
                read(&mut file, &mut block)?;
                take(&block)?;
            }
        }
        take(&self.last)
    }

    /// What is on the disk.
    fn earlier(&self) -> io::Result<Option<MutexGuard<'_, Earlier>>> {
        match &self.earlier {
            None => Ok(None),
            Some(Ok(earlier)) => Ok(Some(earlier.lock().unwrap_or_else(PoisonError::into_inner))),
            Some(Err(error)) => Err(io::Error::new(error.kind(), Arc::clone(error))),
        }
    }

    /// Any block: the names of its columns are those of all.
    pub(super) fn any_block(&self) -> &Series {
        &self.last
    }

    /// All of it in memory.
    ///
    /// # Errors
    /// A block cannot be read.
    pub fn whole(self) -> io::Result<Series> {
        self.joined(1)
    }

    /// As much of it as a page shows ([`Series::for_a_page`]).
    ///
    /// # Errors
    /// A block cannot be read.
    pub fn for_a_page(self) -> io::Result<(Series, usize)> {
        let earlier = self.earlier()?.map_or(0, |earlier| earlier.blocks * BLOCK);
        let bins = joined_for_a_page(earlier + self.last.time_s.len());
        Ok((self.joined(bins)?, bins))
    }

    /// All of it, `bins`, a power of two, joined into one.
    fn joined(self, bins: usize) -> io::Result<Series> {
        if self.earlier.is_none() {
            return Ok(self.last);
        }
        let mut all: Option<Series> = None;
        self.each_block(|block| {
            let mut block = block.clone();
            block.join(bins);
            match &mut all {
                Some(all) => all.append(&mut block),
                None => all = Some(block),
            }
            io::Result::Ok(())
        })?;
        Ok(all.unwrap_or(self.last))
    }
}

impl Series {
    /// As much as a page shows, and how many bins became one for it: one each of no more than 32 768, of a longer run the power of
    /// two that makes so few of them. Rates, mean delays and losses are means then, greatest and least values what they are of all,
    /// the factor is that of most.
    pub fn for_a_page(mut self) -> (Self, usize) {
        let bins = joined_for_a_page(self.time_s.len());
        if bins > 1 {
            self.join(bins);
        }
        (self, bins)
    }
}

/// How many of `all` bins become one; a block has whole ones.
fn joined_for_a_page(all: usize) -> usize {
    all.div_ceil(BLOCK).max(1).next_power_of_two()
}

impl From<Series> for Recording {
    fn from(series: Series) -> Self {
        Self { earlier: None, last: series }
    }
}

/// Two recordings are the same if all of their blocks are; one that cannot be read is like no other.
impl PartialEq for Recording {
    fn eq(&self, other: &Self) -> bool {
        let whole = |recording: &Self| recording.clone().whole();
        match (&self.earlier, &other.earlier) {
            (None, None) => self.last == other.last,
            (Some(_), Some(_)) => matches!((whole(self), whole(other)), (Ok(a), Ok(b)) if a == b),
            _ => false,
        }
    }
}

/// The next block of `file` in the place of `block`.
fn read(file: &mut impl Read, block: &mut Series) -> io::Result<()> {
    for values in block.values() {
        match values {
            Values::Numbers(numbers, _) => {
                numbers.resize(BLOCK, f64::NAN);
                for number in numbers {
                    let mut bytes = [0; 8];
                    file.read_exact(&mut bytes)?;
                    *number = f64::from_le_bytes(bytes);
                }
            }
            Values::LimitingFactors(factors) => {
                factors.resize(BLOCK, None);
                for factor in factors {
                    let mut byte = [0];
                    file.read_exact(&mut byte)?;
                    *factor = LimitingFactor::ALL.get(usize::from(byte[0])).copied();
                }
            }
        }
    }
    Ok(())
}

/// Its place among all, or one behind the last.
fn code(factor: Option<LimitingFactor>) -> u8 {
    factor.map_or(LimitingFactor::ALL.len() as u8, |factor| factor as u8)
}
