#!/usr/bin/env bash
# Writes what controllers got in each run, for crates/weir-measure/tests/measure/rankings.rs: useful rate, frame delay, freezes and
# the neighbours' rate, to two decimals.
#   candidates.sh FILE [--controller NAMES] SCENARIO…      ten seeds of each scenario
#   candidates.sh FILE [--controller NAMES] suite:NAME…    five seeds of each case of a suite, called "NAME CASE"
# Each takes the place of the entry of its name in FILE, or comes behind the others, which stay as they are. `weir` is taken from PATH.
set -euo pipefail
file=$1
shift
controllers=$(weir list controllers --json | jq -r '[.[].name] | join(",")')
if [ "${1-}" = --controller ]; then
    controllers=$2
    shift 2
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
[ -e "$file" ] || printf '{\n}\n' >"$file"

# An object of candidates by scenario or case.
of_suite() {
    weir suite "$1" --controller "$controllers" --runs 5 --quiet --json --out "$folder/suite" | jq --arg suite "$1" '
        def candidate: {
            name,
            useful_rate_kbps: [.viewed[].useful_bps | if . then . / 1000 else null end],
            frame_delay_ms: [.viewed[].frame_delay_ms],
            freezes: [.viewed[].freezes],
            neighbour_rate_kbps: [.viewed[].neighbour_bps | if . then . / 1000 else null end]
        };
        .cases | map({ key: "\($suite) \(.name)", value: (.controllers | map(candidate)) }) | from_entries'
}
of_scenario() {
    weir run "$1" --controller "$controllers" --runs 10 --quiet --out "$folder/run" >/dev/null
    jq --arg scenario "$1" '
        def runs($labels; $name): .values[$labels | index($name)];
        (.columns | map(.label)) as $labels
        | { ($scenario): [.rows[] | {
            name,
            useful_rate_kbps: runs($labels; "useful rate"),
            frame_delay_ms: runs($labels; "frame delay p95"),
            freezes: runs($labels; "freezes"),
            neighbour_rate_kbps: []
        }] }' "$folder/run/table.json"
}
for what in "$@"; do
    case $what in
    suite:*) of_suite "${what#suite:}" ;;
    *) of_scenario "$what" ;;
    esac | jq -r '
        def rounded: map_values(if type == "array" then map(if . then (. * 100 | round) / 100 else . end) else . end);
        to_entries[] | "\(.key | tojson): [", (.value | map(rounded | tojson) | join(",\n")), "]"' >"$folder/new"
    # The other entries, as they are.
    awk 'FNR == NR { if (/^".*: \[$/) replaced[$0] = 1; next }
        /^[{}]$/ { next }
        /^".*: \[$/ { left_out = $0 in replaced }
        !left_out { print }' "$folder/new" "$file" >"$folder/others"
    # A comma behind each entry but the last.
    { echo '{' && sed 's/^],$/]/' "$folder/others" "$folder/new" | sed '$!s/^]$/],/' && echo '}'; } >"$folder/all"
    jq empty "$folder/all"
    cp "$folder/all" "$file"
done
