//! Rows of a table whose last line may be cut.

use std::io::Read;

use csv::{StringRecord, StringRecordsIntoIter};
use weir_world::recorded::RemarkSentence;

use super::lines::BoundedLines;
use super::no_table;
use crate::calls::CallImportError;

/// The rows under the first line, without a last one that is cut before its last column.
pub(super) struct TableRows<R> {
    records: StringRecordsIntoIter<BoundedLines<R>>,
    columns: usize,
    next: Option<csv::Result<StringRecord>>,
    remark: Option<String>,
}

impl<R: Read> TableRows<R> {
    pub(super) fn new(mut records: StringRecordsIntoIter<BoundedLines<R>>, columns: usize) -> Self {
        let next = records.next();
        Self { records, columns, next, remark: None }
    }

    /// A remark about the last line, after all rows.
    pub(super) fn into_remark(self) -> Option<String> {
        self.remark
    }

    /// Whether the last row `record` is dropped.
    fn is_cut(&mut self, record: &StringRecord) -> bool {
        let Some((line, is_shorter)) = self.records.reader().get_ref().open_end() else { return false };
        let is_cut = record.len() < self.columns;
        if is_cut {
            self.remark = Some(RemarkSentence::CUT_LINE.with(&[&line]));
        } else if is_shorter {
            self.remark = Some(RemarkSentence::SHORT_LINE.with(&[&line]));
        }
        is_cut
    }
}

impl<R: Read> Iterator for TableRows<R> {
    type Item = Result<StringRecord, CallImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = match self.next.take()? {
            Ok(record) => record,
            Err(error) => return Some(Err(no_table(error))),
        };
        self.next = self.records.next();
        if self.next.is_none() && self.is_cut(&record) {
            return None;
        }
        Some(Ok(record))
    }
}
