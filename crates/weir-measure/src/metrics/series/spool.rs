//! Blocks of a recording, of which a long run has all but the last on the disk.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A piece of a recording that can be written to the disk and read again.
pub(super) trait Block: Clone + PartialEq {
    /// Writes what it holds.
    fn write(&mut self, out: &mut impl Write) -> io::Result<()>;

    /// Takes what [`Self::write`] wrote in the place of what it holds. It is of the same kind, as another block of the recording.
    fn read(&mut self, from: &mut impl Read) -> io::Result<()>;
}

/// Takes blocks one after the other.
#[derive(Debug, Default)]
pub(super) struct Spool {
    file: Option<BufWriter<File>>,
    blocks: usize,
    /// The first error: of what came after it nothing is kept.
    failed: Option<io::Error>,
}

/// Blocks as they were taken.
///
/// In memory is the last one. What came before is in a temporary file without a name, in the directory for such files (`TMPDIR`), which
/// goes with the last copy. Where that could not be written, all that would read it fails.
#[derive(Clone, Debug)]
pub(super) struct Spooled<B> {
    earlier: Option<Result<Arc<Mutex<Earlier>>, Arc<io::Error>>>,
    last: B,
}

#[derive(Debug)]
struct Earlier {
    file: File,
    blocks: usize,
}

impl Spool {
    pub(super) fn push(&mut self, block: impl Block) {
        if self.failed.is_none() {
            self.failed = self.write(block).err();
            self.blocks += 1;
        }
    }

    fn write(&mut self, mut block: impl Block) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::new(tempfile::tempfile()?)),
        };
        block.write(file)
    }

    /// `last` is the last block.
    pub(super) fn finish<B>(self, last: B) -> Spooled<B> {
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
        Spooled { earlier: file.map(earlier), last }
    }
}

impl<B: Block> Spooled<B> {
    /// Calls `take` with each block in turn.
    ///
    /// # Errors
    /// Those of `take`; a block cannot be read.
    pub(super) fn each_block<E: From<io::Error>>(
        &self,
        mut take: impl FnMut(&B) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(mut earlier) = self.earlier()? {
            let Earlier { file, blocks } = &mut *earlier;
            file.rewind()?;
            let mut file = BufReader::new(file);
            let mut block = self.last.clone();
            for _ in 0..*blocks {
                block.read(&mut file)?;
                take(&block)?;
            }
        }
        take(&self.last)
    }

    /// How many blocks are on the disk.
    ///
    /// # Errors
    /// They could not be written.
    pub(super) fn earlier_blocks(&self) -> io::Result<usize> {
        Ok(self.earlier()?.map_or(0, |earlier| earlier.blocks))
    }

    fn earlier(&self) -> io::Result<Option<MutexGuard<'_, Earlier>>> {
        match &self.earlier {
            None => Ok(None),
            Some(Ok(earlier)) => Ok(Some(earlier.lock().unwrap_or_else(PoisonError::into_inner))),
            Some(Err(error)) => Err(io::Error::new(error.kind(), Arc::clone(error))),
        }
    }

    pub(super) fn last(&self) -> &B {
        &self.last
    }

    pub(super) fn into_last(self) -> B {
        self.last
    }
}

impl<B> From<B> for Spooled<B> {
    fn from(block: B) -> Self {
        Self { earlier: None, last: block }
    }
}

/// Two of them are the same if all of their blocks are; one that cannot be read is like no other.
impl<B: Block> PartialEq for Spooled<B> {
    fn eq(&self, other: &Self) -> bool {
        let blocks = |spooled: &Self| {
            let mut all = Vec::new();
            spooled.each_block(|block| {
                all.push(block.clone());
                io::Result::Ok(())
            })?;
            io::Result::Ok(all)
        };
        match (&self.earlier, &other.earlier) {
            (None, None) => self.last == other.last,
            (Some(_), Some(_)) => matches!((blocks(self), blocks(other)), (Ok(a), Ok(b)) if a == b),
            _ => false,
        }
    }
}
