#!/usr/bin/env bash
# reproduction.sh [rows | pages DIR]: parts of `weir reproduce --all --markdown`.
#
#   reproduction.sh              how much of each paper is met
#   reproduction.sh rows         the rows of each paper: met whole, in part, not at all
#   reproduction.sh pages DIR    a page for each paper, DIR/PAPER.md, with every claim
set -euo pipefail
# All parts are of the same runs: KEPT names a directory that keeps them between calls.
kept=${KEPT:-$(mktemp -d)}
[ -n "${KEPT:-}" ] || trap 'rm -rf "$kept"' EXIT
printed=$kept/reproduction.md
if [ ! -f "$printed" ]; then
    weir reproduce --all --markdown --quiet > "$printed.new"
    mv "$printed.new" "$printed"
fi
case ${1:-} in
    rows)
        # The last cell is the verdict; claims "beside" a row do not count for it.
        awk '
            /^## / { paper = $2; papers[++count] = paper; next }
            paper != "" && /^\| [a-z0-9A-Z-]+\/[^ ]* \|/ {
                cells = split($0, cell, " \\| "); verdict = cell[cells]; sub(/ *\|$/, "", verdict)
                if (verdict ~ /beside/) next
                split(substr(cell[1], 3), name, "/"); row = paper "/" name[1]
                if (!(row in claims)) { order[paper] = order[paper] " " name[1] }
                claims[row]++
                if (verdict ~ /^(reproduced|tested|better)/) met[row]++
            }
            function list(paper, kind,   names, n, i, row, own, out) {
                n = split(order[paper], names, " "); out = ""
                for (i = 1; i <= n; i++) {
                    row = paper "/" names[i]
                    own = met[row] == claims[row] ? "whole" : met[row] ? "part" : "none"
                    if (own == kind) out = out (out == "" ? "" : ", ") names[i]
                }
                return out == "" ? "–" : out
            }
            END {
                print "| paper | rows met whole | in part | not met |"
                print "| --- | --- | --- | --- |"
                for (i = 1; i <= count; i++) if (order[papers[i]] != "")
                    printf "| %s | %s | %s | %s |\n", papers[i], list(papers[i], "whole"), list(papers[i], "part"), list(papers[i], "none")
            }' "$printed" ;;
    pages)
        directory=${2:?a directory for the pages}
        mkdir -p "$directory"
        awk -v directory="$directory" '
            /^## / { page = directory "/" $2 ".md"; print "# " $2 > page; next }
            page != "" { print > page }' "$printed"
        echo "$directory: $(cd "$directory" && echo ./*.md)" ;;
    "") awk '/^## / { exit } began || $0 != "" { began = 1; print }' "$printed" ;;
    *) echo "reproduction.sh: rows, pages DIR, or nothing" >&2; exit 2 ;;
esac
