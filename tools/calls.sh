#!/usr/bin/env bash
# What a packet and a call cost where there are many: bench/calls-1000 with n calls over n Mbit/s, each run a process of its own on
# one core: the table of docs/performance.md. Time is the processor's, of the whole process, the least of the rounds; memory the
# most that was resident.
#
#   tools/calls.sh [ROUNDS]     3 unless said
set -euo pipefail
rounds=${1:-3}
here=$(cd "$(dirname "$0")" && pwd)
weir=${WEIR:-$here/../target/release/weir}
[ -x "$weir" ] || { echo "cargo build --release first: there is no $weir" >&2; exit 1; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
speed=$(sed -n 's/^cpu MHz[^:]*: //p' /proc/cpuinfo | head -1 | awk '{ printf "%.1f", $1 / 1000 }')
echo "Measured $(date +%F) by \`tools/calls.sh $rounds\` on $model ($speed GHz, $(nproc) cores, one of them pinned):"
echo
echo '| calls | processor time, s | packets delivered | ns per packet | of that of 10 calls | memory, MB | above 1 call, kB a call |'
echo '|---|---|---|---|---|---|---|'
of_ten='' of_one=''
# Ten first: the others are told in it.
for n in 10 1 100 300 1000; do
    for _ in $(seq "$rounds"); do
        /usr/bin/time -a -o "$place/$n" -f '%U %S %M' taskset -c 0 "$weir" run bench/calls-1000 --runs 1 --jobs 1 --quiet --json \
            --set "flows.call.count=$n" --set "links.forward.rate=${n}Mbps" > "$place/out"
    done
    packets=$(jq '[.controllers[0].flows[].received.packets.mean] | add | round' "$place/out")
    read -r seconds memory < <(awk '{ print $1 + $2, $3 }' "$place/$n" | sort -n | awk 'NR == 1 { t = $1 } $2 > m { m = $2 } END { print t, m }')
    each=$(awk "BEGIN { print $seconds * 1e9 / $packets }")
    [ "$n" = 10 ] && of_ten=$each
    [ "$n" = 1 ] && of_one=$memory
    awk -v n="$n" -v s="$seconds" -v p="$packets" -v e="$each" -v t="$of_ten" -v m="$memory" -v o="${of_one:-$memory}" 'BEGIN {
        above = n > 1 && m > o ? sprintf("%.0f", (m - o) / n) : "–"
        printf "| %d | %.2f | %d | %.0f | %.2f | %.0f | %s |\n", n, s, p, e, e / t, m / 1024, above }' > "$place/row-$n"
done
cat "$place"/row-{1,10,100,300,1000}
