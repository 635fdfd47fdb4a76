#!/usr/bin/env bash
# What `weir reproduce --all --markdown` prints: without a word how much of each paper is met, with the name of a paper what
# stands below its heading.
set -euo pipefail
# All parts are of the same runs; whoever prints several names a directory to keep them in.
printed=${KEPT:-$(mktemp -d)}/reproduction.md
[ -f "$printed" ] || weir reproduce --all --markdown --quiet > "$printed"
awk -v paper="${1:-}" '
    /^## / { inside = ($2 == paper); began = 0; next }
    NR == 1 { inside = paper == "" }
    inside && (began || $0 != "") { began = 1; print }' "$printed"
