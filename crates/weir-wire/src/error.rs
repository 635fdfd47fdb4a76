//! Why bytes could not be read, or not be written.

use core::fmt;

/// Errors of a parser. Offsets count from the first byte handed to the parser; for a packet inside a compound,
/// from the first byte of the datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// The bytes end too early.
    TooShort {
        /// Where the missing field or packet begins.
        offset: usize,
        /// Bytes needed from there on.
        needed: usize,
        /// Bytes left from there on.
        available: usize,
    },
    /// The version is not 2.
    Version {
        /// Position of the version.
        offset: usize,
        /// Value found instead of 2.
        found: u8,
    },
    /// The count of padding bytes is zero, or larger than the packet allows.
    Padding {
        /// Position of the count: the last byte of the packet.
        offset: usize,
        /// The count.
        count: u8,
        /// The largest count possible.
        limit: usize,
    },
    /// An RTCP packet of another type.
    PacketType {
        /// Position of the type.
        offset: usize,
        /// The type found.
        found: u8,
        /// The type expected.
        expected: u8,
    },
    /// An RTCP packet with another feedback message type or subtype.
    Format {
        /// Position of the five bits.
        offset: usize,
        /// The value found.
        found: u8,
        /// The value expected.
        expected: u8,
    },
    /// A message of another application.
    Name {
        /// Position of the name.
        offset: usize,
        /// The name found.
        found: [u8; 4],
        /// The name expected.
        expected: [u8; 4],
    },
    /// A required header extension is missing.
    MissingExtension {
        /// Where the extension block begins or would begin.
        offset: usize,
        /// The extension's ID.
        id: u8,
    },
    /// A header extension has a data length that its kind does not allow.
    ExtensionLength {
        /// Where the extension block begins.
        offset: usize,
        /// The extension's ID.
        id: u8,
        /// Length found, in bytes.
        found: usize,
        /// Length of its kind, in bytes.
        expected: usize,
    },
    /// A message has a data length that does not fit into it.
    DataLength {
        /// Position of the length.
        offset: usize,
        /// The length found, in bytes.
        found: u8,
        /// The least length possible.
        least: usize,
        /// The largest length possible.
        most: usize,
    },
    /// A TCP header shorter than its fixed part.
    DataOffset {
        /// Position of the data offset.
        offset: usize,
        /// The words found, of which there are at least 5.
        found: u8,
    },
    /// An option of TCP whose length does not fit.
    TcpOptionLength {
        /// Position of the length.
        offset: usize,
        /// The length found, in bytes with kind and length.
        found: u8,
        /// The largest length possible.
        limit: usize,
    },
    /// A required TCP option is missing.
    MissingTcpOption {
        /// Where the options begin or would begin.
        offset: usize,
        /// The option's kind.
        kind: u8,
    },
    /// An invalid connection number.
    ConnectionId {
        /// Where the options that hold it begin.
        offset: usize,
        /// The number found.
        found: u8,
    },
}

impl ParseError {
    /// Position of the error in the bytes.
    pub const fn offset(&self) -> usize {
        match *self {
            Self::TooShort { offset, .. }
            | Self::Version { offset, .. }
            | Self::Padding { offset, .. }
            | Self::PacketType { offset, .. }
            | Self::Format { offset, .. }
            | Self::Name { offset, .. }
            | Self::MissingExtension { offset, .. }
            | Self::ExtensionLength { offset, .. }
            | Self::DataLength { offset, .. }
            | Self::DataOffset { offset, .. }
            | Self::TcpOptionLength { offset, .. }
            | Self::MissingTcpOption { offset, .. }
            | Self::ConnectionId { offset, .. } => offset,
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: ", self.offset())?;
        match *self {
            Self::TooShort { needed, available, .. } => {
                write!(f, "{needed} bytes are needed from here, {available} are left")
            }
            Self::Version { found, .. } => write!(f, "the version is {found}, it must be 2"),
            Self::Padding { count, limit, .. } => {
                write!(f, "the padding count is {count}, it must be 1 to {limit}")
            }
            Self::PacketType { found, expected, .. } => {
                write!(f, "the packet type is {found}, it must be {expected}")
            }
            Self::Format { found, expected, .. } => {
                write!(f, "the message type is {found}, it must be {expected}")
            }
            Self::Name { found, expected, .. } => {
                write!(
                    f,
                    "the name is \"{}\", it must be \"{}\"",
                    found.escape_ascii(),
                    expected.escape_ascii()
                )
            }
            Self::MissingExtension { id, .. } => {
                write!(f, "header extension {id} is missing, the packet must carry it")
            }
            Self::ExtensionLength { id, found, expected, .. } => {
                write!(f, "header extension {id} has {found} bytes of data, it must have {expected}")
            }
            Self::DataLength { found, least, most, .. } => {
                write!(f, "the length of the data is {found}, it must be {least} to {most}")
            }
            Self::DataOffset { found, .. } => {
                write!(f, "the data offset is {found} words, it must be at least 5")
            }
            Self::TcpOptionLength { found, limit, .. } => {
                write!(f, "the TCP option has a length of {found}, it must be 2 to {limit}")
            }
            Self::MissingTcpOption { kind, .. } => {
                write!(f, "TCP option {kind} is missing, the segment must carry it")
            }
            Self::ConnectionId { found, .. } => {
                write!(f, "the connection id is {found}, it must be 0 to 31, or 255 for an error")
            }
        }
    }
}

impl core::error::Error for ParseError {}

/// The buffer is too small for the output. The buffer is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferTooSmall {
    /// Bytes needed.
    pub needed: usize,
    /// Bytes the buffer has.
    pub available: usize,
}

impl fmt::Display for BufferTooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the buffer has {} bytes, it must have at least {}", self.available, self.needed)
    }
}

impl core::error::Error for BufferTooSmall {}

/// Error of a writer of lists. The buffer is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// The buffer is too small.
    BufferTooSmall(BufferTooSmall),
    /// A count exceeds the limit of the format.
    TooMany {
        /// Name of the counted items.
        what: &'static str,
        /// Their number.
        count: usize,
        /// Their largest number.
        limit: usize,
    },
    /// A header extension has the ID 0, which means padding.
    ExtensionIdZero,
    /// A SYN of TCP in UDP has no option for the connection's number.
    NoSetup,
}

impl From<BufferTooSmall> for WriteError {
    fn from(error: BufferTooSmall) -> Self {
        Self::BufferTooSmall(error)
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BufferTooSmall(error) => error.fmt(f),
            Self::TooMany { what, count, limit } => write!(f, "{count} {what}, there may be at most {limit}"),
            Self::ExtensionIdZero => f.write_str("a header extension has ID 0, it must be 1 to 255"),
            Self::NoSetup => f.write_str("a SYN of TCP in UDP has no TiU-Setup, its options must hold one"),
        }
    }
}

impl core::error::Error for WriteError {}

/// An error if there are more than `limit` of `what`.
pub(crate) fn at_most(limit: usize, count: usize, what: &'static str) -> Result<(), WriteError> {
    if count > limit { Err(WriteError::TooMany { what, count, limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_where_and_what_would_be_right() {
        let cases = [
            (
                ParseError::TooShort { offset: 12, needed: 8, available: 3 },
                "at byte 12: 8 bytes are needed from here, 3 are left",
            ),
            (ParseError::Version { offset: 0, found: 1 }, "at byte 0: the version is 1, it must be 2"),
            (
                ParseError::Padding { offset: 23, count: 0, limit: 4 },
                "at byte 23: the padding count is 0, it must be 1 to 4",
            ),
            (
                ParseError::PacketType { offset: 1, found: 201, expected: 200 },
                "at byte 1: the packet type is 201, it must be 200",
            ),
            (
                ParseError::Format { offset: 0, found: 1, expected: 15 },
                "at byte 0: the message type is 1, it must be 15",
            ),
            (
                ParseError::Name { offset: 8, found: *b"A\n\x00B", expected: *b"NADA" },
                "at byte 8: the name is \"A\\n\\x00B\", it must be \"NADA\"",
            ),
            (
                ParseError::MissingExtension { offset: 12, id: 3 },
                "at byte 12: header extension 3 is missing, the packet must carry it",
            ),
            (
                ParseError::ExtensionLength { offset: 12, id: 5, found: 4, expected: 2 },
                "at byte 12: header extension 5 has 4 bytes of data, it must have 2",
            ),
            (
                ParseError::DataLength { offset: 23, found: 4, least: 5, most: 8 },
                "at byte 23: the length of the data is 4, it must be 5 to 8",
            ),
            (
                ParseError::DataOffset { offset: 0, found: 4 },
                "at byte 0: the data offset is 4 words, it must be at least 5",
            ),
            (
                ParseError::TcpOptionLength { offset: 13, found: 1, limit: 7 },
                "at byte 13: the TCP option has a length of 1, it must be 2 to 7",
            ),
            (
                ParseError::MissingTcpOption { offset: 16, kind: 253 },
                "at byte 16: TCP option 253 is missing, the segment must carry it",
            ),
            (
                ParseError::ConnectionId { offset: 16, found: 32 },
                "at byte 16: the connection id is 32, it must be 0 to 31, or 255 for an error",
            ),
        ];
        for (error, text) in cases {
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn a_writer_says_how_much_room_it_needs() {
        let error = WriteError::from(BufferTooSmall { needed: 24, available: 20 });
        assert_eq!(error.to_string(), "the buffer has 20 bytes, it must have at least 24");
        let error = at_most(31, 32, "report blocks").unwrap_err();
        assert_eq!(error.to_string(), "32 report blocks, there may be at most 31");
        assert_eq!(at_most(31, 31, "report blocks"), Ok(()));
    }
}
