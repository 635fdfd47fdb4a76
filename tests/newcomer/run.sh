#!/usr/bin/env bash
# What README promises to somebody who does not edit this repository: each script here runs in an empty directory outside of it,
# with the binary that `cargo test` built. A law of one's own shares the clone's target folder and profile, so that only what is new
# is compiled, and nothing is fetched.
set -euo pipefail
clone="$(cd "$(dirname "$0")/../.." && pwd)"
export CLONE="$clone" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$clone/target}"
export PATH="$CARGO_TARGET_DIR/debug:$PATH" CARGO_INCREMENTAL=0
for script in "$clone"/tests/newcomer/*.sh; do
    [ "$script" = "$clone/tests/newcomer/run.sh" ] && continue
    place="$(mktemp -d)"
    began="$(date +%s)"
    if ! (cd "$place" && bash -euo pipefail "$script"); then
        echo "tests/newcomer/$(basename "$script") failed in $place" >&2
        exit 1
    fi
    rm -rf "$place"
    echo "tests/newcomer/$(basename "$script"): $(($(date +%s) - began)) s"
done
