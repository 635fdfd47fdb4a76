#!/usr/bin/env bash
# Who leads and who is recommended on each of the paths named below, of all controllers, as Markdown.
#   leaders.sh SCENARIO=WHAT…    a row for each of these scenarios, over ten seeds
set -euo pipefail
controllers=$(weir list controllers --json | jq -r '[.[].name] | join(",")')
echo '| path | scenario | leading set | useful rate of the first, kbit/s | recommended |'
echo '|---|---|---|---|---|'
for row in "$@"; do
    weir run "${row%%=*}" --controller "$controllers" --runs 10 --quiet --json | jq -r --arg what "${row#*=}" '
        def names: map("`\(.)`") | join(", ");
        .ranking.leading[0] as $first
        | (.controllers[] | select(.name == $first) | [.flows[].useful_rate_bps.mean | numbers] | add / 1000 | round) as $rate
        | "| \($what) | `\(.scenario)` | \(.ranking.leading | names) | \($rate) | \(.ranking.recommended | names) |"'
done
