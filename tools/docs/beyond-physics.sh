#!/usr/bin/env bash
# What the omniscient sender keeps to in no suite, as Markdown: its figure in each case, at the point taken. With a suite, that
# one alone, and what `weir suite` takes besides.
set -euo pipefail
checks='["rate", "rate against TCP", "queue wait p95", "loss"]'
beyond() {
    # Any controller will do.
    weir suite "$@" --controller fixed --json | jq -r --argjson checks "$checks" '
        def fixed($n): . * pow(10; $n) | round | tostring
            | ("0" * ($n + 1 - length) // "") + . | if $n == 0 then . else .[:-$n] + "." + .[-$n:] end;
        def figure: if . then .mean as $mean | .limit as $limit | $mean
            | fixed(if $limit < 5 then 2 elif $limit < 20 then 1 else 0 end) else "" end;
        .suite as $suite | .cases[] | .name as $case
        | [.omniscient.checks[] | select(.verdict == "beyond-physics" or .verdict == "no-bound-known")] | select(length > 0)
        | (if any(.verdict == "no-bound-known") then " (no bound known)" else "" end) as $known
        | map(if .name | IN($checks[]) then . else error("no column for \(.name)") end)
        | map({ key: .name, value: . }) | from_entries as $beyond
        | $checks[] | select($beyond[.]) | "\($suite)\t\(.)\t\($case)\($known): \($beyond[.] | figure)"'
}
# A row for each suite and check.
together() {
    awk -F '\t' '{ key = $1 FS $2; if (!(key in cases)) order[++rows] = key; cases[key] = cases[key] (cases[key] ? ", " : "") $3 }
        END { print "| suite | check | cases |\n|---|---|---|"
            for (i = 1; i <= rows; i++) { split(order[i], own, FS)
                print "| `" own[1] "` | " own[2] ", " (own[2] ~ /wait/ ? "ms" : "%") " | " cases[order[i]] " |" } }'
}
if [ $# -gt 0 ]; then beyond "$@"; else
    for suite in rfc8867 rfc8869 gaming sharing quality; do beyond "$suite"; done
fi | together
