#!/usr/bin/env bash
# Totals of suites as Markdown, a row for each: passed cases, open cases and margin of each controller. suite-totals.sh CONTROLLERS SUITE…
set -euo pipefail
controllers=$1
shift
echo "| suite | cases | ${controllers//,/ | } |"
echo "|---|---|$(tr -cd , <<< ",$controllers" | sed 's/,/---|/g')"
for suite in "$@"; do
    bash "$(dirname "$0")/suite-table.sh" "$suite" --controller "$controllers" | awk -F ' *[|] *' -v suite="$suite" '
        $2 == "passed" { for (i = 3; i < NF; i++) { split($i, of, " "); cell[i] = of[1]; cases = of[3] } }
        $2 == "open" { for (i = 3; i < NF; i++) { split($i, of, " "); cell[i] = cell[i] ", " of[1] } }
        $2 == "margin" { row = "| `" suite "` | " cases " |"; for (i = 3; i < NF; i++) row = row " " cell[i] ", " $i " |"; print row }'
done
