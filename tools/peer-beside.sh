#!/usr/bin/env bash
# The received rate of `weir send` and `weir recv` behind `weir emulate`, beside that of `weir testbed` with the same scenario and controllers:
# tools/peer-beside.sh [CONTROLLER ...], with the program of $WEIR. Exit code 1 if a rate differs by more than 2 %, 2 without namespaces, 3 if
# this machine disturbed a run three times.
#
# Rates are those on the wire. Both have packets of 1000 bytes of payload; those of `weir send` are 18 bytes longer.
set -euo pipefail
cd "$(dirname "$0")/.."
weir=$(realpath "${WEIR:-target/release/weir}")
controllers=("$@")
[ $# -gt 0 ] || controllers=(gcc nada scream-v2)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
seconds=30

cat > "$place/scenario.toml" <<'TOML'
title = "A call over a thin link"
duration = "30s"
[links.forward]
from = "here"
to = "there"
rate = "1Mbps"
delay = "25ms"
queue = { time = "300ms" }
[links.back]
from = "there"
to = "here"
rate = "1Mbps"
delay = "25ms"
[flows.video]
kind = "media"
from = "here"
to = "there"
controller = "gcc"
payload_limit = "1000B"
rates = { min = "50kbps", start = "300kbps", max = "2Mbps" }
TOML

sent=$place/sent.json beside=$place/beside.json

# Runs a command up to three times, until it is not inconclusive (exit code 3), with its standard output in the file $1.
measure() {
    local out=$1 code
    shift
    for _ in 1 2 3; do
        code=0
        "$@" > "$out" 2> "$place/errors" || code=$?
        case $code in
            0) return ;;
            3) ;;
            *) break ;;
        esac
    done
    cat "$place/errors" >&2
    [ $code = 3 ] || code=2
    exit $code
}

failed=0
printf '%-12s %12s %12s %8s\n' controller testbed send/recv ratio
for controller in "${controllers[@]}"; do
    measure "$beside" "$weir" testbed "$place/scenario.toml" --controller "$controller" --quiet --json
    measure "$sent" "$weir" emulate "$place/scenario.toml" --quiet --far "$weir recv 0.0.0.0 --open --once --quiet" -- \
        "$weir" send 10.84.2.1 --open --scenario "$place/scenario.toml" --controller "$controller" --duration ${seconds}s --quiet --json
    # The report of the far end is no line of JSON.
    one=$(jq '.summary.controllers[0].flows[0].rate_bps.mean' "$beside")
    other=$(grep '^{' "$sent" | jq '.flows[0].received_rate_bps')
    ratio=$(jq -n "$other / $one")
    printf '%-12s %12.0f %12.0f %8.4f\n' "$controller" "$one" "$other" "$ratio"
    jq -en "$ratio > 0.98 and $ratio < 1.02" > /dev/null || failed=1
done
[ $failed = 0 ] || echo "a rate differs by more than 2 %" >&2
exit $failed
