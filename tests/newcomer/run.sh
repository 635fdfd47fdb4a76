#!/usr/bin/env bash
# The promises of README.md and docs/commands.md to users who do not edit this repository: each script here runs in an empty directory outside
# of it, with the binary that `cargo test` built. A controller of a user shares the target folder and profile of the clone, so that only new
# code is compiled, and nothing is fetched.
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
