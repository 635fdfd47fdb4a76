//! The path behind a call: capacity where packets queued and a band elsewhere, delay, queue limit, loss, jitter.
