//! Packets of real runs and of emulations as a pcapng file.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use weir_live::capture::{CapturePoint, CapturedPacket};
use weir_report::capture::PcapNg;

use crate::failure::Failure;
use crate::output::FileOwner;

/// Packets that may wait for the file.
const QUEUE_CAPACITY: usize = 1 << 15;

/// A thread that writes the file. The file disappears again unless it is finished.
#[derive(Debug)]
pub(crate) struct PacketFile {
    path: PathBuf,
    thread: Option<JoinHandle<io::Result<()>>>,
    disappears: bool,
}

impl PacketFile {
    /// A capture in a file that belongs to `owner`, and the sender of its packets. Each captured link has two names of
    /// interfaces, for packets before it and behind it.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub(crate) fn start(
        path: &Path,
        owner: &FileOwner,
        interfaces: &[[String; 2]],
    ) -> io::Result<(Self, SyncSender<CapturedPacket>)> {
        let file = owner.create(path)?;
        // Pipes and devices stay.
        let disappears = file.metadata()?.is_file();
        let mut capture = Self { path: path.to_owned(), thread: None, disappears };
        let mut file = PcapNg::new(BufWriter::new(file))?;
        for name in interfaces.as_flattened() {
            file.interface(name)?;
        }
        let (to, packets) = sync_channel(QUEUE_CAPACITY);
        let thread = thread::Builder::new().name("weir-capture".to_owned());
        capture.thread = Some(thread.spawn(move || write(file, &packets))?);
        Ok((capture, to))
    }

    /// Waits for the end of the file, after the last sender is gone.
    fn wait(&mut self) -> io::Result<()> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Ends the file, after the last sender is gone.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.wait().map_err(|source| Failure::Write { path: self.path.clone(), source })?;
        self.disappears = false;
        Ok(())
    }

    /// Removes the file, after the last sender is gone.
    pub(crate) fn discard(mut self) {
        // An error of a file that is not wanted is none.
        let _unwanted: io::Result<()> = self.wait();
    }
}

impl Drop for PacketFile {
    fn drop(&mut self) {
        if self.disappears {
            // The error that ended the capture is the one to report.
            let _stays: io::Result<()> = fs::remove_file(&self.path);
        }
    }
}

fn write(mut file: PcapNg<BufWriter<File>>, packets: &Receiver<CapturedPacket>) -> io::Result<()> {
    for CapturedPacket { at, link, point, bytes } in packets {
        let interface = 2 * link as u32 + u32::from(point == CapturePoint::Behind);
        file.packet(interface, at.nanos(), &bytes, bytes.len() as u32)?;
    }
    file.finish().map(drop)
}
