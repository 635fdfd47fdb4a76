//! The series of a run in blocks.

use std::io::{self, Read, Write};

use weir_cc::LimitingFactor;

use super::columns::Series;
use super::decisions::Decisions;
use super::spool::{Block, Spooled};
use super::table::Column;
use super::values::ColumnValues;

/// Number of bins that are held in memory, 55 minutes. A call under GCC takes 12 MB.
pub(super) const BLOCK_BINS: usize = 32 * 1024;

/// The series of a run as it was recorded, and the decisions of its controllers.
///
/// A block has up to 32 768 bins. The last block is in memory, and earlier ones are in the recorder's
/// [`BlockStorage`](super::BlockStorage). If that storage could not be written, all methods that read it fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    bins: Spooled<Series>,
    decisions: Decisions,
}

impl Recording {
    pub(super) fn new(bins: Spooled<Series>, decisions: Decisions) -> Self {
        Self { bins, decisions }
    }

    /// The decisions that moved a rate or changed its limiting factor.
    pub fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    /// Calls `take` with each block of bins in order, all with the same columns.
    ///
    /// # Errors
    /// An error of `take`, or of the storage of a block.
    pub(super) fn each_block<E: From<io::Error>>(
        &self,
        take: impl FnMut(&Series) -> Result<(), E>,
    ) -> Result<(), E> {
        self.bins.each_block(take)
    }

    /// Calls `take` with the columns of each block in turn: `time_s`, then those of [`Self::write_csv`].
    ///
    /// # Errors
    /// An error of `take`, or of the storage of a block.
    pub fn each_table<E: From<io::Error>>(
        &self,
        mut take: impl FnMut(&[(String, Column<'_>)]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_block(|block| {
            let mut columns = vec![("time_s".to_owned(), Column::Numbers(&block.time_s))];
            columns.extend(block.columns());
            take(&columns)
        })
    }

    /// A block, for the names of the columns, which all blocks have.
    pub(super) fn any_block(&self) -> &Series {
        self.bins.last()
    }

    /// All bins in memory, without decisions.
    ///
    /// # Errors
    /// A block that cannot be read.
    pub fn whole(self) -> io::Result<Series> {
        self.joined(1)
    }

    /// The series reduced to the size of a page ([`Series::for_a_page`]).
    ///
    /// # Errors
    /// A block that cannot be read.
    pub fn for_a_page(self) -> io::Result<(Series, usize)> {
        let earlier = self.bins.earlier_blocks()? * BLOCK_BINS;
        let bins = joined_for_a_page(earlier + self.bins.last().time_s.len());
        Ok((self.joined(bins)?, bins))
    }

    /// All bins in memory, with each `bins` of them, a power of two, joined into one.
    fn joined(self, bins: usize) -> io::Result<Series> {
        if self.bins.earlier_blocks()? == 0 {
            return Ok(self.bins.into_last());
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
        Ok(all.unwrap_or_else(|| self.bins.into_last()))
    }
}

impl Series {
    /// The series reduced to the size of a page, and the number of bins joined into one. That number is one for up to
    /// 32 768 bins, else the least power of two that suffices. Joined rates, mean delays and losses are means;
    /// extremes are those of all bins; the factor is the most frequent one.
    pub fn for_a_page(mut self) -> (Self, usize) {
        let bins = joined_for_a_page(self.time_s.len());
        if bins > 1 {
            self.join(bins);
        }
        (self, bins)
    }
}

/// Number of bins joined into one if there are `all`; it divides the length of a block.
fn joined_for_a_page(all: usize) -> usize {
    all.div_ceil(BLOCK_BINS).max(1).next_power_of_two()
}

impl From<Series> for Recording {
    fn from(series: Series) -> Self {
        Self::new(series.into(), Decisions::default())
    }
}

impl Block for Series {
    fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        for values in self.values() {
            match values {
                ColumnValues::Numbers(numbers, _) => {
                    numbers.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
                }
                ColumnValues::LimitingFactors(factors) => {
                    factors.iter().try_for_each(|factor| out.write_all(&[code(*factor)]))?;
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, from: &mut impl Read) -> io::Result<()> {
        for values in self.values() {
            match values {
                ColumnValues::Numbers(numbers, _) => {
                    numbers.resize(BLOCK_BINS, f64::NAN);
                    for number in numbers {
                        let mut bytes = [0; 8];
                        from.read_exact(&mut bytes)?;
                        *number = f64::from_le_bytes(bytes);
                    }
                }
                ColumnValues::LimitingFactors(factors) => {
                    factors.resize(BLOCK_BINS, None);
                    for factor in factors {
                        let mut byte = [0];
                        from.read_exact(&mut byte)?;
                        *factor = LimitingFactor::ALL.get(usize::from(byte[0])).copied();
                    }
                }
            }
        }
        Ok(())
    }
}

/// Code of the factor: its index among all factors, or their number for none.
fn code(factor: Option<LimitingFactor>) -> u8 {
    factor.map_or(LimitingFactor::ALL.len() as u8, |factor| factor as u8)
}
