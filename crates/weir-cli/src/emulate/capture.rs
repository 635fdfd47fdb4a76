//! Packets of an emulation as a pcapng file.

use std::fs::File;
use std::io::{self, BufWriter};
use std::os::unix::fs::fchown;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use weir_live::emulate::{Caller, CapturePoint, CapturedPacket};
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

/// A thread that writes the file.
pub(super) struct PathCapture {
    path: PathBuf,
    thread: JoinHandle<io::Result<()>>,
}

impl PathCapture {
    /// A capture in a new file, which belongs to `caller`, and the sender of its packets.
    pub(super) fn start(
        path: &Path,
        caller: Option<&Caller>,
    ) -> Result<(Self, SyncSender<CapturedPacket>), Failure> {
        let unwritable = |source| Failure::UnwritableFile { path: path.to_owned(), source };
        let file = File::create(path).map_err(unwritable)?;
        if let Some(caller) = caller {
            fchown(&file, Some(caller.uid), Some(caller.gid)).map_err(unwritable)?;
        }
        let mut file = PcapNg::new(BufWriter::new(file)).map_err(unwritable)?;
        for name in INTERFACES {
            file.interface(name).map_err(unwritable)?;
        }
        let (to, packets) = sync_channel(QUEUE_CAPACITY);
        let thread = thread::Builder::new().name("weir-capture".to_owned());
        let thread = thread.spawn(move || write(file, &packets)).map_err(unwritable)?;
        Ok((Self { path: path.to_owned(), thread }, to))
    }

    /// Ends the file, after the last sender is gone.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let written = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.map_err(|source| Failure::Write { path: self.path, source })
    }
}

fn write(mut file: PcapNg<BufWriter<File>>, packets: &Receiver<CapturedPacket>) -> io::Result<()> {
    for CapturedPacket { at, direction, point, bytes } in packets {
        let interface = 2 * direction as u32 + u32::from(point == CapturePoint::Behind);
        file.packet(interface, at.nanos(), &bytes, bytes.len() as u32)?;
    }
    file.finish().map(drop)
}
