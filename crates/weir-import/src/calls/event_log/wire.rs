//! Wire format of protocol buffers, as far as an event log uses it.

use std::io::{self, ErrorKind, Read};

/// Longest message of a log. libwebrtc writes the events of at most a few seconds into one.
const MOST_BYTES: u64 = 16 << 20;

/// A value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldValue<'a> {
    /// An integer, a boolean or a number of an enumeration.
    Integer(u64),
    /// Bytes, text or a message.
    Bytes(&'a [u8]),
}

/// The fields of a message, in order.
#[derive(Clone, Debug)]
pub(super) struct MessageFields<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for MessageFields<'a> {
    type Item = Result<(u32, FieldValue<'a>), &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            // A field behind a broken one has no known place.
            self.0 = &[];
        }
        Some(field)
    }
}

impl<'a> MessageFields<'a> {
    fn read(&mut self) -> Result<(u32, FieldValue<'a>), &'static str> {
        let key = varint(&mut self.0)?;
        let value = match key & 7 {
            0 => FieldValue::Integer(varint(&mut self.0)?),
            1 => FieldValue::Integer(u64::from_le_bytes(*self.array()?)),
            2 => {
                let length = varint(&mut self.0)?;
                FieldValue::Bytes(self.take(length)?)
            }
            5 => FieldValue::Integer(u32::from_le_bytes(*self.array()?).into()),
            _ => return Err("a field has an unknown wire type; it is 0, 1, 2 or 5"),
        };
        let number = u32::try_from(key >> 3).map_err(|_| "a field has a number of more than 32 bits")?;
        Ok((number, value))
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], &'static str> {
        let length = usize::try_from(length).ok();
        let (taken, rest) = length.and_then(|length| self.0.split_at_checked(length)).ok_or(CUT_FIELD)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], &'static str> {
        let (array, rest) = self.0.split_first_chunk().ok_or(CUT_FIELD)?;
        self.0 = rest;
        Ok(array)
    }
}

const CUT_FIELD: &str = "a field is longer than its message";

/// The integer at the begin of `bytes`, seven bits a byte, the least first; it is taken away.
pub(super) fn varint(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or("an integer is cut off")?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err("an integer has more than ten bytes")
}

/// End of a stream of messages.
#[derive(Debug)]
pub(super) enum MessageEnd {
    /// The end of the file, between two messages.
    Whole,
    /// The end of the file within a message.
    Cut,
    /// A fault of the stream.
    Malformed(&'static str),
    /// The file cannot be read on.
    Unreadable(io::Error),
}

impl From<io::Error> for MessageEnd {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof => Self::Cut,
            _ => Self::Unreadable(error),
        }
    }
}

/// The messages of a log, one after the other. It holds one at a time.
#[derive(Debug)]
pub(super) struct MessageReader<R> {
    source: R,
    /// Bytes read.
    at: u64,
    /// Place of the message that was read last.
    pub(super) begin: u64,
    message: Vec<u8>,
}

impl<R: Read> MessageReader<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, at: 0, begin: 0, message: Vec::new() }
    }

    /// The next message: number of its field, and content.
    pub(super) fn next(&mut self) -> Result<(u32, &[u8]), MessageEnd> {
        self.begin = self.at;
        let key = match self.integer() {
            Err(MessageEnd::Cut) if self.at == self.begin => return Err(MessageEnd::Whole),
            key => key?,
        };
        if key & 7 != 2 {
            return Err(MessageEnd::Malformed("this is no message of an event log"));
        }
        let number = u32::try_from(key >> 3)
            .map_err(|_| MessageEnd::Malformed("a field has a number of more than 32 bits"))?;
        let length = self.integer()?;
        if length > MOST_BYTES {
            return Err(MessageEnd::Malformed("a message has more than 16 MiB, the most that is read"));
        }
        self.message.clear();
        let read = self.source.by_ref().take(length).read_to_end(&mut self.message)? as u64;
        self.at += read;
        if read < length { Err(MessageEnd::Cut) } else { Ok((number, &self.message)) }
    }

    fn integer(&mut self) -> Result<u64, MessageEnd> {
        let mut bytes = [0; 10];
        for length in 1..=bytes.len() {
            self.source.read_exact(&mut bytes[length - 1..length])?;
            self.at += 1;
            if bytes[length - 1] < 0x80 {
                return varint(&mut &bytes[..length]).map_err(MessageEnd::Malformed);
            }
        }
        Err(MessageEnd::Malformed("an integer has more than ten bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_each_wire_type_are_read() {
        // Field 1: 300. Field 2: the bytes 7, 8. Field 3: four bytes. Field 18 (key 145): eight bytes.
        let message = [8, 0xAC, 2, 0x12, 2, 7, 8, 0x1D, 1, 0, 0, 0x80, 0x91, 1, 2, 0, 0, 0, 0, 0, 0, 0x80];
        let fields: Vec<_> = MessageFields(&message).collect::<Result<_, _>>().unwrap();
        let expected = [
            (1, FieldValue::Integer(300)),
            (2, FieldValue::Bytes(&[7, 8])),
            (3, FieldValue::Integer(0x8000_0001)),
            (18, FieldValue::Integer(0x8000_0000_0000_0002)),
        ];
        assert_eq!(fields, expected);
    }

    #[test]
    fn broken_fields_are_faults_and_the_last() {
        for (message, fault) in [
            (&[0x12, 3, 7, 8][..], CUT_FIELD),
            (&[0x12, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 1], CUT_FIELD),
            (&[0x1D, 1], CUT_FIELD),
            (&[8, 0x80], "an integer is cut off"),
            (&[8, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 1], "an integer has more than ten bytes"),
            (&[0x0B, 1, 1], "a field has an unknown wire type; it is 0, 1, 2 or 5"),
        ] {
            let fields: Vec<_> = MessageFields(message).collect();
            assert_eq!(fields, [Err(fault)], "{message:?}");
        }
    }

    #[test]
    fn messages_come_one_by_one_and_a_length_is_not_trusted() {
        let mut reader = MessageReader::new(&[0x12, 1, 9, 0x82, 1, 0, 0x1A, 4, 1][..]);
        assert_eq!(reader.next().unwrap(), (2, &[9][..]));
        assert_eq!(reader.next().unwrap(), (16, &[][..]));
        assert!(matches!(reader.next(), Err(MessageEnd::Cut)));
        assert_eq!(reader.begin, 6);
        // 2^60 bytes.
        let huge = [0x12, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10];
        let mut reader = MessageReader::new(&huge[..]);
        assert!(matches!(reader.next(), Err(MessageEnd::Malformed(_))));
        assert_eq!(reader.message.capacity(), 0);
        assert!(matches!(MessageReader::new(&[][..]).next(), Err(MessageEnd::Whole)));
    }
}
