#!/usr/bin/env bash
# The output of commands of docs/tutorial.md, in a directory with the files that its reader has by then. The first block of TOML there is
# `my.toml`, and the first block of CSV `drive.csv`.
set -euo pipefail
export LC_ALL=C.UTF-8
tutorial=$(dirname "$0")/../../docs/tutorial.md

block() {
    awk -v begin="\`\`\`$1" '$0 == begin { inside = 1; next } inside && /^```/ { exit } inside' "$tutorial"
}
block toml > my.toml
block csv > drive.csv
# Tables stay as they are; sentences are folded.
bash -euo pipefail -c "$1" | while IFS= read -r line; do
    case $line in
    *"  "* | ─*) printf '%s\n' "$line" ;;
    *) fold -s -w 118 <<< "$line" | sed 's/ $//' ;;
    esac
done
