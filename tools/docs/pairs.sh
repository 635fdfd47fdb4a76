#!/usr/bin/env bash
# The pairs of controllers that coupling harms, as Markdown: the mean queue uncoupled and coupled. pairs.sh [OPTIONS of `weir pairs`]
set -euo pipefail
weir pairs "$@" --format markdown | awk -F ' *[|] *' '
    /unharmed [|]$/ { print "| controllers | mean queue, ms |\n|---|---|" }
    $9 == "no" { gsub(/ ± [0-9.]+/, ""); print "| " $2 " | " $5 ", " $6 " |" }
    /are unharmed/ { print "\n" $0 }'
