//! The options of TCP, and the one that assigns a number to a connection.

use super::ConnectionId;
use crate::cursor::Reader;
use crate::error::ParseError;

const END_OF_LIST: u8 = 0;
const NO_OPERATION: u8 = 1;
/// RFC 6994: the first of two kinds for experiments, which a number in the data distinguishes.
const EXPERIMENT: u8 = 253;
/// The number of this experiment: "TI". The draft leaves it open, and it is not registered.
const EXPERIMENT_ID: u16 = 0x5449;
/// The id of a refusal, if no number is free.
const REFUSED: u8 = 255;

/// An option with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpOption<'a> {
    /// Kind, 2 to 255.
    pub kind: u8,
    /// Data without kind and length, up to 253 bytes.
    pub data: &'a [u8],
}

/// The options with data in the bytes between a header and its payload. The iteration ends at the end of the list,
/// or after an option whose length is wrong. Offsets of errors count from the first of the bytes.
pub fn options(bytes: &[u8]) -> impl Iterator<Item = Result<TcpOption<'_>, ParseError>> {
    options_at(bytes, 0)
}

/// The same for bytes that begin at `offset`.
pub(super) fn options_at(
    bytes: &[u8],
    offset: usize,
) -> impl Iterator<Item = Result<TcpOption<'_>, ParseError>> {
    SegmentOptions { reader: Reader::new(bytes, offset), ended: false }
}

struct SegmentOptions<'a> {
    reader: Reader<'a>,
    ended: bool,
}

impl<'a> Iterator for SegmentOptions<'a> {
    type Item = Result<TcpOption<'a>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.reader.u8() {
                Err(_) | Ok(END_OF_LIST) => self.ended = true,
                Ok(NO_OPERATION) => {}
                Ok(kind) => {
                    let data = read_data(&mut self.reader);
                    self.ended = data.is_err();
                    return Some(data.map(|data| TcpOption { kind, data }));
                }
            }
        }
        None
    }
}

/// The data of an option whose kind has been read.
fn read_data<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], ParseError> {
    let offset = reader.offset();
    let found = reader.u8()?;
    let limit = reader.rest().len() + 2;
    match usize::from(found).checked_sub(2) {
        Some(length) if length + 2 <= limit => reader.slice(length),
        _ => Err(ParseError::TcpOptionLength { offset, found, limit }),
    }
}

/// TiU-Setup: the option of a SYN with the connection's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// The connection shall have this number (SYN), or has it (SYN/ACK).
    Use(ConnectionId),
    /// The number is in use: the connection continues as plain TCP.
    Refused,
}

impl Setup {
    /// Length of the option in bytes.
    pub const LEN: usize = 5;

    /// The option in bytes.
    pub const fn option(self) -> [u8; Self::LEN] {
        let [high, low] = EXPERIMENT_ID.to_be_bytes();
        let id = match self {
            Self::Use(id) => id.number(),
            Self::Refused => REFUSED,
        };
        [EXPERIMENT, Self::LEN as u8, high, low, id]
    }

    /// The first in the options of a SYN.
    ///
    /// # Errors
    /// If there is none, an option before it has a wrong length, or its id is above 31 and not 255.
    pub fn find(options: &[u8]) -> Result<Self, ParseError> {
        Self::find_at(options, 0)
    }

    /// The same in options that begin at `offset`.
    pub(super) fn find_at(options: &[u8], offset: usize) -> Result<Self, ParseError> {
        for option in options_at(options, offset) {
            if let Some(id) = option?.setup_id() {
                return Self::of(id, offset);
            }
        }
        Err(ParseError::MissingTcpOption { offset, kind: EXPERIMENT })
    }

    fn of(id: u8, offset: usize) -> Result<Self, ParseError> {
        match ConnectionId::new(id) {
            Some(id) => Ok(Self::Use(id)),
            None if id == REFUSED => Ok(Self::Refused),
            None => Err(ParseError::ConnectionId { offset, found: id }),
        }
    }
}

impl TcpOption<'_> {
    /// The id, if this is TiU-Setup.
    fn setup_id(&self) -> Option<u8> {
        match (self.kind, self.data) {
            (EXPERIMENT, &[high, low, id]) if u16::from_be_bytes([high, low]) == EXPERIMENT_ID => Some(id),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    fn kinds(text: &str) -> Vec<Result<u8, ParseError>> {
        options(&hex(text)).map(|option| option.map(|option| option.kind)).collect()
    }

    #[test]
    fn options_are_walked_to_the_end_of_the_list() {
        assert_eq!(kinds("02 04 05 b4 01 03 03 07 04 02 00 08"), [Ok(2), Ok(3), Ok(4)]);
        assert_eq!(kinds(""), []);
        let bytes = hex("02 04 05 b4");
        assert_eq!(options(&bytes).next(), Some(Ok(TcpOption { kind: 2, data: &[0x05, 0xb4] })));
    }

    #[test]
    fn a_wrong_length_ends_the_walk_at_its_place() {
        let wrong = |offset, found, limit| Err(ParseError::TcpOptionLength { offset, found, limit });
        assert_eq!(kinds("01 02 01 00 04 02"), [wrong(2, 1, 5)]);
        assert_eq!(kinds("02 00"), [wrong(1, 0, 2)]);
        assert_eq!(kinds("04 02 02 04 05"), [Ok(4), wrong(3, 4, 3)]);
        assert_eq!(kinds("02"), [Err(ParseError::TooShort { offset: 1, needed: 1, available: 0 })]);
    }

    #[test]
    fn setup_is_found_among_other_options() {
        let seven = ConnectionId::new(7).unwrap();
        assert_eq!(Setup::Use(seven).option().to_vec(), hex("fd 05 54 49 07"));
        assert_eq!(Setup::find(&hex("02 04 05 b4 01 fd 05 54 49 07 00 00")), Ok(Setup::Use(seven)));
        // Another experiment's number, and then ours.
        assert_eq!(Setup::find(&hex("fd 05 00 01 02 fd 05 54 49 ff")), Ok(Setup::Refused));
    }

    #[test]
    fn setup_without_a_number_that_fits_is_refused() {
        let missing = ParseError::MissingTcpOption { offset: 0, kind: 253 };
        assert_eq!(Setup::find(&hex("02 04 05 b4")), Err(missing));
        assert_eq!(Setup::find(&hex("fd 04 54 49")), Err(missing));
        let too_high = ParseError::ConnectionId { offset: 0, found: 32 };
        assert_eq!(Setup::find(&hex("fd 05 54 49 20")), Err(too_high));
    }
}
