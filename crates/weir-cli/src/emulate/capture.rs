//! Packets of an emulation as a pcapng file.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use weir_live::caller::Caller;
use weir_live::emulate::{CapturePoint, CapturedPacket};
use weir_report::capture::PcapNg;

use crate::failure::Failure;

/// Packets that may wait for the file.
const QUEUE_CAPACITY: usize = 1 << 15;
/// Names of the interfaces: either side of the bottleneck of each direction.
const INTERFACES: [&str; 4] = [
    "forward-before-bottleneck",
    "forward-behind-bottleneck",
    "back-before-bottleneck",
    "back-behind-bottleneck",
];

/// A thread that writes the file. A new file disappears again unless it is finished.
pub(super) struct PathCapture {
    path: PathBuf,
    thread: Option<JoinHandle<io::Result<()>>>,
    is_new: bool,
}

impl PathCapture {
    /// A capture in a new file, which belongs to `caller`, and the sender of its packets.
    pub(super) fn start(
        path: &Path,
        caller: Option<&Caller>,
    ) -> Result<(Self, SyncSender<CapturedPacket>), Failure> {
        let unwritable = |source| Failure::UnwritableFile { path: path.to_owned(), source };
        let (file, is_new) = match File::create_new(path) {
            Ok(file) => {
                caller.map(|caller| caller.own(&file)).transpose().map_err(unwritable)?;
                (file, true)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let file = caller.map_or_else(|| File::create(path), |caller| caller.overwrite(path));
                (file.map_err(unwritable)?, false)
            }
            Err(error) => return Err(unwritable(error)),
        };
        let mut capture = Self { path: path.to_owned(), thread: None, is_new };
        let mut file = PcapNg::new(BufWriter::new(file)).map_err(unwritable)?;
        for name in INTERFACES {
            file.interface(name).map_err(unwritable)?;
        }
        let (to, packets) = sync_channel(QUEUE_CAPACITY);
        let thread = thread::Builder::new().name("weir-capture".to_owned());
        capture.thread = Some(thread.spawn(move || write(file, &packets)).map_err(unwritable)?);
        Ok((capture, to))
    }

    /// Ends the file, after the last sender is gone.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        let written = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.map_err(|source| Failure::Write { path: self.path.clone(), source })?;
        self.is_new = false;
        Ok(())
    }
}

impl Drop for PathCapture {
    fn drop(&mut self) {
        if self.is_new {
            // The error that ended the emulation is the one to report.
            let _stays: io::Result<()> = fs::remove_file(&self.path);
        }
    }
}

fn write(mut file: PcapNg<BufWriter<File>>, packets: &Receiver<CapturedPacket>) -> io::Result<()> {
    for CapturedPacket { at, direction, point, bytes } in packets {
        let interface = 2 * direction as u32 + u32::from(point == CapturePoint::Behind);
        file.packet(interface, at.nanos(), &bytes, bytes.len() as u32)?;
    }
    file.finish().map(drop)
}
