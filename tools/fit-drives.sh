#!/usr/bin/env bash
# Fits the constants of the generated drives (crates/weir-import/src/traces/synthetic.rs) to the statistics of the recordings in data/traces, by
# random search: some minutes. It prints the constants and, statistic by statistic, the recording beside drives. No controller runs.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo run --release --locked --package weir-study --example fit_drives
