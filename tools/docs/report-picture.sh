#!/usr/bin/env bash
# Draws docs/report.png, the top of the demo's report: report-picture.sh [PNG]. Needs `weir` in the path, and Chromium (CHROMIUM names it).
set -euo pipefail
picture=$(realpath -m "${1:-$(dirname "$0")/../../docs/report.png}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
weir run --quiet --out "$folder/demo" > /dev/null
# As root Chromium starts only without its sandbox; the page is our own.
"${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update \
    --disable-sync --user-data-dir="$folder/profile" --hide-scrollbars --window-size=1040,780 --screenshot="$picture" \
    "file://$folder/demo/report.html" 2> /dev/null
[ -s "$picture" ]
