//! Functions of bytes for fuzzers. A [`FuzzTarget`] is a function of bytes that panics if an invariant fails.
//! Invariants besides panics in the code itself are these. Values that are read and written again are read the
//! same. Wake-ups are later than now, and targets are within their limits. Results compared with themselves show
//! no change.
//!
//! Three use them: `fuzz/`, where cargo-fuzz looks for bytes that make one panic (`make fuzz`); the test of this
//! crate, which replays the inputs kept in `fuzz/corpus/`; and the soak (`make soak`), which runs every controller
//! through ten million of the operations of the targets `senders` and `receivers`.

pub mod controllers;
mod embedding;
mod endpoints;
mod file;
mod input;
mod peer;
mod user_files;
mod wire;

pub use input::{ClockReadings, Input};

/// A function of bytes, by name.
#[derive(Clone, Copy, Debug)]
pub struct FuzzTarget {
    /// Its name: that of its folder in `fuzz/corpus/` and of its file in `fuzz/fuzz_targets/`.
    pub name: &'static str,
    /// Panics if an invariant fails.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [FuzzTarget; 25] = [
    // Bytes that come from the network.
    FuzzTarget { name: "rtp", run: wire::rtp },
    FuzzTarget { name: "rtcp", run: wire::rtcp },
    FuzzTarget { name: "tcp_in_udp", run: wire::tcp_in_udp },
    FuzzTarget { name: "feedback", run: wire::feedback },
    FuzzTarget { name: "sessions", run: peer::sessions },
    FuzzTarget { name: "callers", run: peer::callers },
    FuzzTarget { name: "keyed", run: peer::keyed },
    FuzzTarget { name: "terms", run: peer::terms },
    FuzzTarget { name: "requests", run: peer::requests },
    // Halves of controllers, and endpoints.
    FuzzTarget { name: "senders", run: controllers::senders },
    FuzzTarget { name: "receivers", run: controllers::receivers },
    FuzzTarget { name: "endpoints", run: endpoints::run },
    FuzzTarget { name: "embedding", run: embedding::endpoints },
    // Files.
    FuzzTarget { name: "traces", run: user_files::traces },
    FuzzTarget { name: "frames", run: user_files::frames },
    FuzzTarget { name: "scenarios", run: user_files::scenarios },
    FuzzTarget { name: "settings", run: user_files::settings },
    FuzzTarget { name: "suites", run: user_files::suites },
    FuzzTarget { name: "rows", run: user_files::rows },
    FuzzTarget { name: "results", run: user_files::results },
    FuzzTarget { name: "recordings", run: user_files::recordings },
    FuzzTarget { name: "calls", run: user_files::calls },
    FuzzTarget { name: "counters", run: user_files::counters },
    FuzzTarget { name: "packets", run: user_files::packets },
    FuzzTarget { name: "tables", run: user_files::tables },
];

/// Runs the target `name` on `data`.
///
/// # Panics
/// If there is no such target, or an invariant fails.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("a target of this name").run)(data);
}
