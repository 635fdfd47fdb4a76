#!/usr/bin/env bash
# How many shipped scenarios the circuit breakers would stop under each controller, in one run of the first seed. The benchmarks are left out.
set -euo pipefail
controllers=$(weir list controllers --json | jq -r '[.[].name] | join(",")')
mapfile -t scenarios < <(weir list scenarios --json | jq -r '.[].name')
for scenario in "${scenarios[@]}"; do
    [[ $scenario == bench/* ]] && continue
    weir list scenarios "$scenario" --json | jq -e 'any(.flows[]; .kind == "media")' > /dev/null || continue
    weir run "$scenario" --controller "$controllers" --set breakers=true --runs 1 --quiet --json
done | jq -rs '
    [.[].controllers[] | { name, stopped: any(.flows[] | .stopped | values | .[]; . != null) }] as $runs
    | "\([$runs[] | select(.stopped)] | length) of \($runs | length) runs are stopped: \(length) scenarios under \(.[0].controllers | length) controllers.",
      "By controller: " + ([.[0].controllers[].name as $name | [$runs[] | select(.name == $name and .stopped)] | length
        | select(. > 0) | "`\($name)` \(.)"] | join(", ")) + "."'
