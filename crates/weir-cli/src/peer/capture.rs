//! The packets of an end as a pcapng file.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use weir_peer::drive::SeenPacket;
use weir_report::capture::{PcapNg, ip_datagram};

use crate::failure::Failure;

/// Bytes that wait for the file.
const BUFFER: usize = 1 << 20;

/// A file with packets. A new file disappears again unless it is finished.
pub(super) struct PeerCapture {
    path: PathBuf,
    file: Option<PcapNg<BufWriter<File>>>,
    bytes: Vec<u8>,
    error: Option<io::Error>,
    is_new: bool,
}

impl PeerCapture {
    /// A capture in the file at `path`.
    pub(super) fn start(path: &Path) -> Result<Self, Failure> {
        let unwritable = |source| Failure::UnwritableFile { path: path.to_owned(), source };
        let (file, is_new) = match File::create_new(path) {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                (File::create(path).map_err(unwritable)?, false)
            }
            Err(error) => return Err(unwritable(error)),
        };
        let mut capture = Self { path: path.to_owned(), file: None, bytes: Vec::new(), error: None, is_new };
        let mut file = PcapNg::new(BufWriter::with_capacity(BUFFER, file)).map_err(unwritable)?;
        file.interface("weir-peer").map_err(unwritable)?;
        capture.file = Some(file);
        Ok(capture)
    }

    /// Adds a packet.
    pub(super) fn packet(&mut self, packet: &SeenPacket<'_>) {
        let Some(file) = self.file.as_mut().filter(|_| self.error.is_none()) else { return };
        let mut to = packet.to;
        let mut from = packet.from;
        // The own address is not known where the socket listens at all of them.
        for (own, other) in [(&mut from, packet.to), (&mut to, packet.from)] {
            if own.ip().is_unspecified() {
                own.set_ip(other.ip());
            }
        }
        let written = ip_datagram(from, to, packet.ecn, packet.bytes, &mut self.bytes)
            .and_then(|()| file.packet(0, packet.at.nanos(), &self.bytes, self.bytes.len() as u32));
        self.error = written.err();
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let written = match (self.file.take(), self.error.take()) {
            (_, Some(error)) => Err(error),
            (Some(file), None) => file.finish().map(drop),
            (None, None) => Ok(()),
        };
        written.map_err(|source| Failure::Write { path: self.path.clone(), source })?;
        self.is_new = false;
        Ok(())
    }
}

impl Drop for PeerCapture {
    fn drop(&mut self) {
        if self.is_new {
            // The error that ended the session is the one to report.
            let _stays: io::Result<()> = fs::remove_file(&self.path);
        }
    }
}
