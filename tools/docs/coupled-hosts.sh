#!/usr/bin/env bash
# Two tables of docs/coupling.md, as rows of Markdown: the stations of an access point, and two TCP connections over two paths.
# coupled-hosts.sh access-point | two-paths
set -euo pipefail
case ${1-} in
access-point)
    station() {
        weir run coupling/access-point --runs 3 --set 'measure={ from = "30s", to = "119s" }' \
            --set flows.up.controller=$1 --set coupling.cell.algorithm=$2 --set coupling.cell.delay=10ms --json | jq -r '
            .controllers[0] | .media as $all | def fixed($n): . * pow(10; $n) | round | tostring
                | ("0" * ($n + 1 - length) // "") + . | .[:-$n] + "." + .[-$n:];
            "| \(.jain.of_means.mean | fixed(3)) | \(.jain.mean_of_instant.mean | fixed(3)) | \($all.queue_wait_ms.mean.mean | round) / \($all.queue_wait_ms.p95.mean | round) | \(100 * $all.packet_loss_ratio.mean | fixed(1)) % | \($all.rate_bps.mean / 1e6 | fixed(1)) |"'
    }
    for controller in gcc nada; do
        for algorithm in none rfc8699-1 rfc8699-2; do
            [ $algorithm = none ] && name="| \`$controller\` | none" || name="| | \`$algorithm\`"
            echo "$name $(station $controller $algorithm)"
        done
    done
    ;;
two-paths)
    two() {    # the five-tuple of the second connection, the coupling
        weir run coupling/tcp-two-paths --set flows.second.five_tuple=$1 --set coupling.host.algorithm=$2 --json |
            jq -r '[.controllers[0].flows[].rate_bps.mean / 1000 | round] | "| \(.[0]) | \(.[1]) |"'
    }
    echo "| two: a way each | none $(two apart none)"
    echo "| | \`ctrltcp\` $(two apart ctrltcp)"
    echo "| one: the wide way for both | none $(two tunnel none)"
    echo "| | \`ctrltcp\` $(two tunnel ctrltcp)"
    ;;
*)
    echo "coupled-hosts.sh: access-point or two-paths" >&2
    exit 2
    ;;
esac
