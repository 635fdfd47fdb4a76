//! Limits of the JSON of a call, so that a small compressed file does not fill the memory.

use std::io::{self, Read};

use weir_world::recorded::{MOST_EVENTS, MOST_PACKETS};

use crate::calls::counters::collect::MOST_VALUES;

/// Most bytes of the file without compression: 2·10⁶ packets take a fifth of it.
const MOST_BYTES: u64 = 1 << 30;
/// Most bytes of a text or number.
const LONGEST_TOKEN: u64 = 10_000;
/// Most bytes of all texts together, each with [`TEXT_BYTES`] more.
const MOST_TEXT_BYTES: u64 = 256 << 20;
/// Bytes of memory of a text beside its content.
const TEXT_BYTES: u64 = 24;
/// Most values of a row of a table other than packets, with room for the streams.
const MOST_COLUMNS: u64 = 8;
/// Most commas for a value of statistics: behind its time and itself, and those between the members of a series.
const MOST_COMMAS: u64 = 4;
/// Bytes of the longest name of a member that has a limit of its own.
const NAME_BYTES: usize = 8;

/// The part of the call that a value belongs to, by its member of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallPart {
    Packets,
    Statistics,
    Events,
}

/// Bytes of JSON, which end with an error where a call has more values or longer texts than any that is written.
#[derive(Debug)]
pub(super) struct LimitedJson<R> {
    inner: R,
    bytes: u64,
    depth: u32,
    in_text: bool,
    escaped: bool,
    /// Bytes of the text or number.
    token: u64,
    text_bytes: u64,
    /// The last text between the braces of the call itself, as far as it matters.
    name: ([u8; NAME_BYTES], usize),
    part: CallPart,
    /// Values of the column of packets, and of all events and statistics.
    values: [u64; 3],
    excess: Option<(u64, &'static str)>,
}

impl<R: Read> LimitedJson<R> {
    pub(super) const fn new(inner: R) -> Self {
        Self {
            inner,
            bytes: 0,
            depth: 0,
            in_text: false,
            escaped: false,
            token: 0,
            text_bytes: 0,
            name: ([0; NAME_BYTES], 0),
            part: CallPart::Events,
            values: [0; 3],
            excess: None,
        }
    }

    /// The byte at which the file exceeded a limit, and the limit.
    pub(super) const fn excess(&self) -> Option<(u64, &'static str)> {
        self.excess
    }

    /// Takes a byte; returns the limit that it exceeds.
    fn take(&mut self, byte: u8) -> Result<(), &'static str> {
        self.bytes += 1;
        if self.bytes > MOST_BYTES {
            return Err("a call of more than 1 GiB is not read");
        }
        if self.in_text {
            return self.take_text(byte);
        }
        match byte {
            b'"' => {
                self.in_text = true;
                self.token = 0;
                self.name.1 = 0;
                self.text_bytes += TEXT_BYTES;
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.token = 0;
                if self.part == CallPart::Packets {
                    self.values[CallPart::Packets as usize] = 0;
                }
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.token = 0;
            }
            b':' => {
                self.token = 0;
                if self.depth == 1 {
                    self.part = match self.name.0.get(..self.name.1).unwrap_or_default() {
                        b"packets" => CallPart::Packets,
                        b"counters" | b"labels" => CallPart::Statistics,
                        _ => CallPart::Events,
                    };
                }
            }
            b',' => {
                self.token = 0;
                return self.count_value();
            }
            b' ' | b'\n' | b'\r' | b'\t' => self.token = 0,
            _ => return self.lengthen(),
        }
        Ok(())
    }

    fn take_text(&mut self, byte: u8) -> Result<(), &'static str> {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => {
                self.in_text = false;
                return Ok(());
            }
            _ => {}
        }
        if let Some(place) = self.name.0.get_mut(self.name.1) {
            *place = byte;
        }
        self.name.1 += 1;
        self.text_bytes += 1;
        if self.text_bytes > MOST_TEXT_BYTES {
            return Err("the texts of a call have 256 MiB at most");
        }
        self.lengthen()
    }

    fn lengthen(&mut self) -> Result<(), &'static str> {
        self.token += 1;
        if self.token > LONGEST_TOKEN { Err("a text or number of a call has 10 kB at most") } else { Ok(()) }
    }

    fn count_value(&mut self) -> Result<(), &'static str> {
        let values = &mut self.values[self.part as usize];
        *values += 1;
        let (most, problem) = match self.part {
            CallPart::Packets => (MOST_PACKETS as u64, "a call has 2000000 packets at most"),
            CallPart::Statistics => {
                (MOST_COMMAS * MOST_VALUES as u64, "the statistics of a call have 2000000 values at most")
            }
            CallPart::Events => {
                (MOST_COLUMNS * MOST_EVENTS as u64, "a call has 750000 rows beside its packets at most")
            }
        };
        if *values > most { Err(problem) } else { Ok(()) }
    }
}

impl<R: Read> Read for LimitedJson<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        for &byte in &buffer[..read] {
            if let Err(problem) = self.take(byte) {
                // A parser may read on after an error, to end its lists.
                self.excess.get_or_insert((self.bytes, problem));
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
        }
        Ok(read)
    }
}
