//! Batches of an event log: a first event, and columns of differences for those after it.

use super::wire::{FieldValue, MessageFields, varint};

/// Most events of a batch. libwebrtc keeps at most 10 000 events before it writes them.
const MOST_EVENTS: u64 = 100_000;

/// Most fields of a batch. The largest message has 36.
const MOST_FIELDS: usize = 256;

/// A batch of events of one kind.
#[derive(Clone, Debug)]
pub(super) struct EventBatch<'a> {
    fields: Vec<(u32, FieldValue<'a>)>,
    /// Events after the first one.
    pub(super) further: usize,
}

impl<'a> EventBatch<'a> {
    /// The batch of `message`, whose field `count` has the number of events after the first one.
    pub(super) fn read(message: &'a [u8], count: u32) -> Result<Self, String> {
        let mut batch = Self::single(message)?;
        let further = batch.integer(count).unwrap_or(0);
        // Events that differ in no column are few: an event takes a bit at least.
        if further > MOST_EVENTS || further > 8 * message.len() as u64 {
            let bytes = message.len();
            return Err(format!("a message of {bytes} bytes claims {further} events; so many do not fit"));
        }
        batch.further = further as usize;
        Ok(batch)
    }

    /// The single event of `message`.
    pub(super) fn single(message: &'a [u8]) -> Result<Self, String> {
        let fields: Vec<_> = MessageFields(message).take(MOST_FIELDS + 1).collect::<Result<_, _>>()?;
        if fields.len() > MOST_FIELDS {
            return Err(format!("a message has more than {MOST_FIELDS} fields"));
        }
        Ok(Self { fields, further: 0 })
    }

    /// The integer of the field `number`; the last one counts.
    pub(super) fn integer(&self, number: u32) -> Option<u64> {
        self.fields.iter().rev().find_map(|field| match *field {
            (found, FieldValue::Integer(value)) if found == number => Some(value),
            _ => None,
        })
    }

    /// The bytes of the field `number`; the last ones count.
    pub(super) fn bytes(&self, number: u32) -> Option<&'a [u8]> {
        self.fields.iter().rev().find_map(|field| match *field {
            (found, FieldValue::Bytes(value)) if found == number => Some(value),
            _ => None,
        })
    }

    /// The values of a column: the first event's of the field `base`, the further ones' of the field `deltas`.
    pub(super) fn column(&self, base: u32, deltas: u32) -> Result<BatchColumn<'a>, String> {
        let coded = self.bytes(deltas).unwrap_or_default();
        let coding = if coded.is_empty() {
            None
        } else {
            let fault = |problem| format!("field {deltas}: {problem}");
            Some(ColumnCoding::read(coded, self.further).map_err(fault)?)
        };
        Ok(BatchColumn { field: deltas, first: true, value: self.integer(base), coding })
    }

    /// Byte strings: the first event's of the field `base`, the further ones' of the field `blobs`.
    pub(super) fn blobs(&self, base: u32, blobs: u32) -> Result<Vec<&'a [u8]>, String> {
        let mut all = vec![self.bytes(base).unwrap_or_default()];
        let mut coded = self.bytes(blobs).unwrap_or_default();
        let fault = |problem: &str| format!("field {blobs}: {problem}");
        let mut lengths = Vec::new();
        for _ in 0..self.further {
            lengths.push(varint(&mut coded).map_err(fault)?);
        }
        for length in lengths {
            let length = usize::try_from(length).ok();
            let (blob, rest) = length
                .and_then(|length| coded.split_at_checked(length))
                .ok_or_else(|| fault("a byte string is longer than its field"))?;
            coded = rest;
            all.push(blob);
        }
        Ok(all)
    }
}

/// The values of a column, one an event; a value may be absent.
#[derive(Clone, Debug)]
pub(super) struct BatchColumn<'a> {
    /// Number of the field, for messages.
    field: u32,
    first: bool,
    /// The last value that was present.
    value: Option<u64>,
    /// Without it all values are the first one.
    coding: Option<ColumnCoding<'a>>,
}

impl BatchColumn<'_> {
    /// The value of the next event.
    pub(super) fn next(&mut self) -> Result<Option<u64>, String> {
        if self.first {
            self.first = false;
            return Ok(self.value);
        }
        let Some(coding) = &mut self.coding else { return Ok(self.value) };
        let field = self.field;
        let (present, value) =
            coding.next(self.value).ok_or_else(|| format!("field {field}: the column ends early"))?;
        self.value = value;
        Ok(if present { value } else { None })
    }
}

/// Coding of differences. A header says how: two bits kind, six bits width of a difference less one. Of kind 1 there
/// follow a bit for signed differences, a bit for values that may be absent, and six bits width of a value less one.
/// Where values may be absent, a bit an event says whether it has one. The differences come last.
#[derive(Clone, Debug)]
struct ColumnCoding<'a> {
    bits: BitReader<'a>,
    /// Bits that say which events have a value.
    presence: Option<BitReader<'a>>,
    width: u32,
    signed: bool,
    /// Values wrap at this mask.
    mask: u64,
}

impl<'a> ColumnCoding<'a> {
    fn read(coded: &'a [u8], events: usize) -> Result<Self, &'static str> {
        const CUT: &str = "the column has no whole header";
        let mut bits = BitReader { bytes: coded, at: 0 };
        let kind = bits.take(2).ok_or(CUT)?;
        let width = bits.take(6).ok_or(CUT)? as u32 + 1;
        let (signed, optional, value_width) = match kind {
            0 => (false, false, 64),
            1 => {
                let signed = bits.take(1).ok_or(CUT)? == 1;
                let optional = bits.take(1).ok_or(CUT)? == 1;
                (signed, optional, bits.take(6).ok_or(CUT)? as u32 + 1)
            }
            _ => return Err("the column is of an unknown kind; it is 0 or 1"),
        };
        if width > value_width {
            return Err("the column has differences wider than its values");
        }
        let presence = optional.then(|| bits.clone());
        if optional {
            bits.at += events;
        }
        Ok(Self { bits, presence, width, signed, mask: mask(value_width) })
    }

    /// Whether the next event has a value, and the last value so far; `None` if the bits end.
    fn next(&mut self, last: Option<u64>) -> Option<(bool, Option<u64>)> {
        if let Some(presence) = &mut self.presence
            && presence.take(1)? == 0
        {
            return Some((false, last));
        }
        let value = match last {
            None => self.bits.varint()?,
            Some(last) => {
                let delta = self.bits.take(self.width)?;
                let negative = self.signed && delta >> (self.width - 1) == 1;
                let delta = if negative { delta | !mask(self.width) } else { delta };
                last.wrapping_add(delta) & self.mask
            }
        };
        Some((true, Some(value)))
    }
}

/// The lowest `width` bits, of 1 to 64.
const fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// Bits of a byte string, the most significant bit of a byte first.
#[derive(Clone, Debug)]
struct BitReader<'a> {
    bytes: &'a [u8],
    /// Bits taken.
    at: usize,
}

impl BitReader<'_> {
    /// The next `width` bits, at most 64.
    fn take(&mut self, width: u32) -> Option<u64> {
        if self.at + width as usize > 8 * self.bytes.len() {
            return None;
        }
        let mut value = 0;
        let mut left = width as usize;
        while left > 0 {
            let (byte, used) = (self.bytes[self.at / 8], self.at % 8);
            let taken = left.min(8 - used);
            let part = u64::from(byte) >> (8 - used - taken) & mask(taken as u32);
            value = value << taken | part;
            self.at += taken;
            left -= taken;
        }
        Some(value)
    }

    /// An integer of seven bits a byte, the least first.
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(8)?;
            value |= (byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits of a text, filled up with zeros; spaces do not count.
    fn packed(text: &str) -> Vec<u8> {
        let bits: Vec<u8> = text.bytes().filter(|&byte| byte != b' ').map(|byte| byte - b'0').collect();
        let byte = |bits: &[u8]| bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | bit << (7 - at));
        bits.chunks(8).map(byte).collect()
    }

    /// A column: the first value in field 1, the number of further events in field 2, the differences in field 101.
    fn column(first: Option<u8>, further: u8, coded: &[u8]) -> Result<Vec<Option<u64>>, String> {
        let mut message = vec![0x10, further];
        message.extend(first.iter().flat_map(|&first| [8, first]));
        // Key 101 << 3 | 2.
        message.extend([0xAA, 6, coded.len() as u8]);
        message.extend(coded);
        let batch = EventBatch::read(&message, 2)?;
        let mut column = batch.column(1, 101)?;
        (0..=batch.further).map(|_| column.next()).collect()
    }

    #[test]
    fn unsigned_differences_of_three_bits() {
        let coded = packed("00 000010 101 000 111");
        assert_eq!(column(Some(10), 3, &coded), Ok(vec![Some(10), Some(15), Some(15), Some(22)]));
    }

    #[test]
    fn an_empty_column_repeats_the_first_value() {
        assert_eq!(column(Some(7), 2, &[]), Ok(vec![Some(7); 3]));
        assert_eq!(column(None, 2, &[]), Ok(vec![None; 3]));
    }

    #[test]
    fn values_wrap_at_their_width() {
        // Kind 1, differences of 2 bits, unsigned, all present, values of 4 bits: 14 + 3 = 1.
        let coded = packed("01 000001 0 0 000011 11 01");
        assert_eq!(column(Some(14), 2, &coded), Ok(vec![Some(14), Some(1), Some(2)]));
    }

    #[test]
    fn signed_differences_go_both_ways() {
        // Three bits: −2, +3, −4; values of 8 bits, so that 1 − 4 = 253.
        let coded = packed("01 000010 1 0 000111 110 011 100");
        assert_eq!(column(Some(0), 3, &coded), Ok(vec![Some(0), Some(254), Some(1), Some(253)]));
        // A difference as wide as its value, of 64 bits: −1.
        let coded = packed(&format!("01 111111 1 0 111111 {}", "1".repeat(64)));
        assert_eq!(column(Some(5), 1, &coded), Ok(vec![Some(5), Some(4)]));
    }

    #[test]
    fn values_may_be_absent() {
        // Present, absent, present; 4 bits a difference.
        let coded = packed("01 000011 0 1 111111 101 0001 0010");
        assert_eq!(column(Some(9), 3, &coded), Ok(vec![Some(9), Some(10), None, Some(12)]));
        // Without a first value the first that is present is an integer of seven bits a byte: 300, then + 1.
        let coded = packed("01 000011 0 1 111111 0101 10101100 00000010 0001");
        assert_eq!(column(None, 4, &coded), Ok(vec![None, None, Some(300), None, Some(301)]));
    }

    #[test]
    fn broken_columns_are_faults() {
        let fault = |first, further, text: &str| column(first, further, &packed(text)).unwrap_err();
        assert_eq!(fault(Some(1), 2, "00 111111 00000000"), "field 101: the column ends early");
        assert_eq!(
            fault(Some(1), 1, "10 000000 1"),
            "field 101: the column is of an unknown kind; it is 0 or 1"
        );
        assert_eq!(fault(Some(1), 1, "01 000001"), "field 101: the column has no whole header");
        let wide = "field 101: the column has differences wider than its values";
        assert_eq!(fault(Some(1), 1, "01 000011 0 0 000001 1111"), wide);
        assert_eq!(fault(Some(1), 99, ""), "a message of 7 bytes claims 99 events; so many do not fit");
    }

    #[test]
    fn byte_strings_have_their_lengths_before_them() {
        // Field 1 and field 102: lengths 2, 0, 1, then the bytes. Field 2: three further events.
        let message = [0x0A, 1, 9, 0x10, 3, 0xB2, 6, 6, 2, 0, 1, 5, 6, 7];
        let batch = EventBatch::read(&message, 2).unwrap();
        assert_eq!(batch.blobs(1, 102).unwrap(), [&[9][..], &[5, 6], &[], &[7]]);
        let message = [0x10, 1, 0xB2, 6, 2, 4, 1];
        let batch = EventBatch::read(&message, 2).unwrap();
        assert_eq!(batch.blobs(1, 102).unwrap_err(), "field 102: a byte string is longer than its field");
    }
}
