//! Datagrams of the binary form of rtptools, which Chromium writes for one direction of a call.
//!
//! After a line and 16 bytes, each record has its length with this header, the length of the packet (0 for RTCP), the
//! time in ms since the beginning, and the packet or its header. All numbers are of two or four bytes, the greatest
//! first.

use std::io::Read;

use weir_world::recorded::RemarkSentence;

use super::datagram::FileDatagram;
use crate::calls::CallImportError;

/// The begin of the first line.
pub(super) const FIRST_LINE: &[u8] = b"#!rtpplay1.0 ";
/// Most bytes of the first line.
const LONGEST_LINE: usize = 256;
/// Bytes before the first record.
const FILE_HEADER: usize = 16;
/// Bytes before a packet.
const RECORD_HEADER: usize = 8;

/// Passes each record to `visit`. The result is a remark if the file is truncated.
///
/// # Errors
/// The file cannot be read, or a record is shorter than its header; errors of `visit`.
pub(super) fn each(
    mut input: impl Read,
    mut visit: impl FnMut(&FileDatagram<'_>) -> Result<(), CallImportError>,
) -> Result<Option<String>, CallImportError> {
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        let mut byte = [0];
        if line.len() >= LONGEST_LINE || input.read(&mut byte)? == 0 {
            let problem = "the first line of rtpdump is #!rtpplay1.0 with an address and a port";
            return Err(CallImportError::at("line 1", problem));
        }
        line.push(byte[0]);
    }
    let mut bytes = Vec::new();
    let mut header = [0; FILE_HEADER];
    let mut number = 0_u64;
    if !fill(&mut input, &mut header)? {
        return Err(CallImportError::at("line 2", "16 bytes of a header follow the first line"));
    }
    loop {
        number += 1;
        let mut header = [0; RECORD_HEADER];
        let cut = || Some(RemarkSentence::CUT_RECORD.with(&[&number]));
        match read_some(&mut input, &mut header)? {
            0 => return Ok(None),
            RECORD_HEADER => {}
            _ => return Ok(cut()),
        }
        let [a, b, c, d, time @ ..] = header;
        let (record, packet) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let Some(kept) = usize::from(record).checked_sub(RECORD_HEADER) else {
            let problem = format!("its length is {record}; a record has 8 bytes or more");
            return Err(CallImportError::at(format!("record {number}"), problem));
        };
        bytes.resize(kept, 0);
        if !fill(&mut input, &mut bytes)? {
            return Ok(cut());
        }
        visit(&FileDatagram {
            time_us: i64::from(u32::from_be_bytes(time)) * 1000,
            pair: 0,
            forward: true,
            bytes: &bytes,
            length: u32::from(packet).max(kept as u32),
            overhead: 0,
            hops: 0,
        })?;
    }
}

/// Fills `buffer`, and returns whether the file has as many bytes.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<bool> {
    Ok(read_some(input, buffer)? == buffer.len())
}

fn read_some(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match input.read(&mut buffer[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}
