#!/usr/bin/env bash
# What a packet and a call cost where there are many: bench/calls-1000 with n calls over n Mbit/s, each run a process of its own on
# one core: the table of docs/performance.md. Time is the processor's, the least of the rounds, and memory the most that was resident,
# of whole processes; what a packet and a call cost is what is above one call, so that starting the process is no part of it.
#
#   tools/calls.sh [ROUNDS]     3 unless said
set -euo pipefail
rounds=${1:-3}
here=$(cd "$(dirname "$0")" && pwd)
weir=${WEIR:-$here/../target/release/weir}
[ -x "$weir" ] || { echo "cargo build --release first: there is no $weir" >&2; exit 1; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

. "$here/measured.sh"
measured "tools/calls.sh $rounds"
echo '| calls | processor time, s | packets delivered | memory, MB | above 1 call: ns per packet | of that of 10 calls | kB a call |'
echo '|---|---|---|---|---|---|---|'
for n in 1 10 100 300 1000; do
    for _ in $(seq "$rounds"); do
        cost "$place/out" "$weir" run bench/calls-1000 --runs 1 --jobs 1 --quiet --json \
            --set "flows.call.count=$n" --set "links.forward.rate=${n}Mbps" >> "$place/$n"
    done
    packets=$(jq '[.controllers[0].flows[].received.packets.mean] | add | round' "$place/out")
    awk -v n="$n" -v p="$packets" 'NR == 1 || $1 < t { t = $1 } $2 > m { m = $2 } END { print n, t, p, m }' "$place/$n" >> "$place/all"
done
awk '{
    row = sprintf("| %d | %.3f | %d | %.1f |", $1, $2 / 1e6, $3, $4 / 1024)
    if (NR == 1) { time = $2; packets = $3; memory = $4; print row " – | – | – |"; next }
    each = ($2 - time) * 1e3 / ($3 - packets)
    if (NR == 2) { of_ten = each }
    printf "%s %.0f | %.2f | %.0f |\n", row, each, each / of_ten, ($4 - memory) / ($1 - 1)
}' "$place/all"
