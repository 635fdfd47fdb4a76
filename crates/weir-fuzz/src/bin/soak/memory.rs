//! How much memory this process has, by what the kernel says.

/// KiB that are resident.
///
/// # Panics
/// Where there is no `/proc`, as outside of Linux: a soak that cannot see memory says nothing of it.
fn resident_kib() -> i64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux tells the memory of a process");
    let pages: i64 = text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number");
    // All that this runs on have pages of 4 KiB.
    4 * pages
}

/// The memory of a life, in KiB: after its first tenth, and the most from then on.
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

    /// Looks again.
    pub(crate) fn look(&mut self) {
        self.late_kib = self.late_kib.max(resident_kib());
    }
}
