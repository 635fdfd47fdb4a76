#!/usr/bin/env bash
# Which shipped scenarios the circuit breakers would stop, law by law, as Markdown: of each the flow that is stopped first, in one
# run of the first seed. The benchmarks are left aside. Scenarios and laws in which nothing is stopped are left out; how many there
# are stands below.
set -euo pipefail
laws=$(weir list controllers --json | jq -r '[.[].name] | join(",")')
mapfile -t scenarios < <(weir list scenarios --json | jq -r '.[].name')
for scenario in "${scenarios[@]}"; do
    [[ $scenario == bench/* ]] && continue
    weir list scenarios "$scenario" --json | jq -e 'any(.flows[]; .kind == "media")' > /dev/null || continue
    weir run "$scenario" --controller "$laws" --set breakers=true --runs 1 --quiet --json
done | jq -rs '
    def first_stop: [.flows[] | .stopped | to_entries[] | select(.value) | { breaker: .key, s: .value.mean }]
        | min_by(.s);
    def words: if . then "\({ rtcp_timeout: "RTCP", media_timeout: "media", congestion: "loss" }[.breaker]) \(.s | round) s"
        else "" end;
    [.[] | { scenario, stops: [.controllers[] | { law: .name, stop: first_stop }] }]
    | [.[0].stops[].law] as $all
    | [.[].stops[] | select(.stop) | .law] as $stopped
    | ($all | map(select(IN($stopped[])))) as $laws
    | "| scenario | \($laws | join(" | ")) |", "|---|\($laws | map("---|") | add)",
      (.[] | select(any(.stops[]; .stop))
        | (.stops | map({ key: .law, value: .stop }) | from_entries) as $of
        | "| `\(.scenario)` | \($laws | map($of[.] | words) | join(" | ")) |"),
      "", "\([.[].stops[] | select(.stop)] | length) of \([.[].stops[]] | length) runs are stopped: \(length) scenarios under \($all | length) controllers."'
