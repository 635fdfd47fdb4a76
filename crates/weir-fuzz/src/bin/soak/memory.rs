//! The memory of this process, as the kernel reports it.

/// Resident memory in KiB.
///
/// # Panics
/// Without `/proc`, as outside of Linux, the soak cannot measure memory and makes no statement about it.
fn resident_kib() -> i64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux reports the memory of a process");
    let pages: i64 = text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number");
    // All supported systems have pages of 4 KiB.
    4 * pages
}

/// The memory of a run, in KiB: after its first tenth, and the most from then on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) early_kib: i64,
    pub(crate) late_kib: i64,
}

impl Memory {
    /// The first tenth is over.
    pub(crate) fn early() -> Self {
        let resident = resident_kib();
        Self { early_kib: resident, late_kib: resident }
    }

    /// Measures the memory again.
    pub(crate) fn look(&mut self) {
        self.late_kib = self.late_kib.max(resident_kib());
    }
}
