//! Blocks of a recording. In a long run all except the last one are in a storage, such as a file.

use std::fmt;
use std::io::{self, BufReader, BufWriter, Cursor, Read, Seek, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of the earlier blocks of a recording: memory, or a file where a run may be long.
pub trait BlockStorage: Read + Write + Seek + Send + fmt::Debug {}

impl<T: Read + Write + Seek + Send + fmt::Debug> BlockStorage for T {}

/// Constructor of an empty storage.
pub type NewBlockStorage = fn() -> io::Result<Box<dyn BlockStorage>>;

/// An empty storage in memory.
///
/// # Errors
/// Never fails.
pub fn in_memory() -> io::Result<Box<dyn BlockStorage>> {
    Ok(Box::new(Cursor::new(Vec::new())))
}

/// A part of a recording that can be written to a storage and read again.
pub(super) trait Block: Clone + PartialEq {
    /// Writes the content.
    fn write(&mut self, out: &mut impl Write) -> io::Result<()>;

    /// Replaces the content by that written with [`Self::write`] from another block of the same recording.
    fn read(&mut self, from: &mut impl Read) -> io::Result<()>;
}

/// Writer of blocks to a storage.
#[derive(Debug)]
pub(super) struct Spool {
    new_storage: NewBlockStorage,
    storage: Option<BufWriter<Box<dyn BlockStorage>>>,
    blocks: usize,
    /// The first error, after which no block is stored.
    failed: Option<io::Error>,
}

/// The blocks of a recording.
///
/// The last block is in memory. The earlier ones are in a storage that the copies share. If the storage could not be
/// written, all methods that read it fail.
#[derive(Clone, Debug)]
pub(super) struct Spooled<B> {
    earlier: Option<Result<Arc<Mutex<StoredBlocks>>, Arc<io::Error>>>,
    last: B,
}

#[derive(Debug)]
struct StoredBlocks {
    storage: Box<dyn BlockStorage>,
    blocks: usize,
}

impl Spool {
    pub(super) fn new(new_storage: NewBlockStorage) -> Self {
        Self { new_storage, storage: None, blocks: 0, failed: None }
    }

    pub(super) fn push(&mut self, block: impl Block) {
        if self.failed.is_none() {
            self.failed = self.write(block).err();
            self.blocks += 1;
        }
    }

    fn write(&mut self, mut block: impl Block) -> io::Result<()> {
        let storage = match &mut self.storage {
            Some(storage) => storage,
            None => self.storage.insert(BufWriter::new((self.new_storage)()?)),
        };
        block.write(storage)
    }

    /// The recording, with `last` as its last block.
    pub(super) fn finish<B>(self, last: B) -> Spooled<B> {
        let Self { storage, blocks, failed, .. } = self;
        let whole = |storage: BufWriter<Box<dyn BlockStorage>>| {
            storage.into_inner().map_err(io::IntoInnerError::into_error)
        };
        let storage = match failed {
            Some(error) => Some(Err(error)),
            None => storage.map(whole),
        };
        let earlier = |storage: io::Result<Box<dyn BlockStorage>>| match storage {
            Ok(storage) => Ok(Arc::new(Mutex::new(StoredBlocks { storage, blocks }))),
            Err(error) => Err(Arc::new(error)),
        };
        Spooled { earlier: storage.map(earlier), last }
    }
}

impl<B: Block> Spooled<B> {
    /// Calls `take` with each block in turn.
    ///
    /// # Errors
    /// An error of `take`, or of the storage of a block.
    pub(super) fn each_block<E: From<io::Error>>(
        &self,
        mut take: impl FnMut(&B) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(mut earlier) = self.earlier()? {
            let StoredBlocks { storage, blocks } = &mut *earlier;
            storage.rewind()?;
            let mut storage = BufReader::new(storage);
            let mut block = self.last.clone();
            for _ in 0..*blocks {
                block.read(&mut storage)?;
                take(&block)?;
            }
        }
        take(&self.last)
    }

    /// The number of blocks in the storage.
    ///
    /// # Errors
    /// The storage could not be written.
    pub(super) fn earlier_blocks(&self) -> io::Result<usize> {
        Ok(self.earlier()?.map_or(0, |earlier| earlier.blocks))
    }

    fn earlier(&self) -> io::Result<Option<MutexGuard<'_, StoredBlocks>>> {
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

/// Two recordings are equal if all of their blocks are; an unreadable one equals no other.
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
