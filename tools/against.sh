#!/usr/bin/env bash
# What whole processes take beside those of another build of Weir, in turn on one core: a table.
#
#   tools/against.sh OTHER [ROUNDS]     the other program, such as that of a worktree of another commit; 7 unless said
#
# Time is the processor's, the medians of the rounds. Memory is the most that was resident above that of `weir --version`, the least of the
# rounds: how much of the program counts depends on how it lies in the page cache.
set -euo pipefail
other=${1:?which other build?}
rounds=${2:-7}
here=$(cd "$(dirname "$0")" && pwd)
weir=${WEIR:-$here/../target/release/weir}
for program in "$weir" "$other"; do
    [ -x "$program" ] || { echo "cargo build --release first: there is no $program" >&2; exit 1; }
done
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

. "$here/measured.sh"
rows=('bench/cbr --duration 2000s' 'bench/cbr' 'bench/tcp')
for _ in $(seq "$rounds"); do
    for i in 0 1; do
        programs=("$weir" "$other")
        cost "$place/out" "${programs[i]}" --version >> "$place/version-$i"
        for row in "${!rows[@]}"; do
            # shellcheck disable=SC2086
            cost "$place/out" "${programs[i]}" run ${rows[row]} --runs 1 --jobs 1 --quiet --json >> "$place/$row-$i"
        done
    done
done
median() { sort -n "$1" | awk '{ time[NR] = $1 } END { print time[int((NR + 1) / 2)] }'; }
least() { awk 'NR == 1 || $2 < least { least = $2 } END { print least }' "$1"; }
measured "tools/against.sh $other $rounds"
echo '| `weir run` | processor time, s | the other'\''s | of it | above `--version`, MB | the other'\''s |'
echo '|---|---|---|---|---|---|'
for row in "${!rows[@]}"; do
    echo "$(median "$place/$row-0") $(median "$place/$row-1") $(least "$place/$row-0") $(least "$place/$row-1") \
$(least "$place/version-0") $(least "$place/version-1")" | awk -v row="${rows[row]}" '{
        printf "| `%s` | %.3f | %.3f | %.2f | %.1f | %.1f |\n", row, $1 / 1e6, $2 / 1e6, $1 / $2, ($3 - $5) / 1024, ($4 - $6) / 1024 }'
done
