//! The packets of an end as a pcapng file.

use std::io::{self, BufWriter};
use std::path::Path;

use weir_peer::drive::SeenPacket;
use weir_report::capture::{PcapNg, ip_datagram};

use crate::failure::Failure;
use crate::output::{OpenOutput, OutputFile};

/// Bytes that wait for the file.
const BUFFER: usize = 1 << 20;

/// A file with packets, which takes its place when it is finished.
pub(super) struct PeerCapture {
    file: PcapNg<BufWriter<OpenOutput>>,
    bytes: Vec<u8>,
    error: Option<io::Error>,
}

impl PeerCapture {
    /// A capture for the file at `path`, which stays as it is until the capture is finished.
    pub(super) fn start(path: &Path) -> Result<Self, Failure> {
        let unwritable = |source| Failure::UnwritableFile { path: path.to_owned(), source };
        let out = OutputFile::prepare(path)?.open()?;
        let mut file = PcapNg::new(BufWriter::with_capacity(BUFFER, out)).map_err(unwritable)?;
        file.interface("weir-peer").map_err(unwritable)?;
        Ok(Self { file, bytes: Vec::new(), error: None })
    }

    /// Adds a packet.
    pub(super) fn packet(&mut self, packet: &SeenPacket<'_>) {
        if self.error.is_some() {
            return;
        }
        let mut to = packet.to;
        let mut from = packet.from;
        // The own address is not known where the socket listens at all of them.
        for (own, other) in [(&mut from, packet.to), (&mut to, packet.from)] {
            if own.ip().is_unspecified() {
                own.set_ip(other.ip());
            }
        }
        let written = ip_datagram(from, to, packet.ecn, packet.bytes, &mut self.bytes)
            .and_then(|()| self.file.packet(0, packet.at.nanos(), &self.bytes, self.bytes.len() as u32));
        self.error = written.err();
    }

    /// Ends the file, and gives it its place.
    pub(super) fn finish(self, path: &Path) -> Result<(), Failure> {
        let written = match self.error {
            Some(error) => Err(error),
            None => {
                self.file.finish().and_then(|out| out.into_inner().map_err(io::IntoInnerError::into_error))
            }
        };
        let out = written.map_err(|source| Failure::Write { path: path.to_owned(), source })?;
        Ok(OpenOutput::place_all(&[out])?)
    }
}
