#!/usr/bin/env bash
# What other simulators take for the networks of bench/cbr and bench/tcp, beside Weir, on this machine, in turn: the table of
# docs/performance.md. Whole processes on one core, so that time and memory are like for like.
#
#   tools/peers.sh [ROUNDS]     5 unless said, of ten runs of cbr and one of tcp each; ns-3's tcp, which takes most of a minute,
#                               is run in the first alone
#
# ns-2 and ns-3 are Debian packages (apt-get install ns2 libns3-dev libgsl-dev). csg-htsim has none: HTSIM_CBR and HTSIM_TCP name
# commands that run the same networks with it. What is not there is said and not made up.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-5}
many=10
weir=$here/../target/release/weir
[ -x "$weir" ] || { echo "cargo build --release first: there is no $weir" >&2; exit 1; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
version() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null | sed 's/[+-].*//'; }

names=() commands=() counted=()
add() { names+=("$1"); commands+=("$2"); counted+=("$3"); }
# The data packets that were delivered, of what the command prints.
delivered='jq "[.controllers[0].flows[].received.packets.mean] | add | round"'
add 'Weir, all metrics' "$weir run bench/%s --runs 1 --jobs 1 --quiet --json" "$delivered"
if command -v ns > /dev/null; then
    add "ns-2 $(version ns2), lean headers" "ns $here/peers/ns2.tcl %s" cat
else
    echo "ns-2 is not installed: apt-get install ns2" >&2
fi
if modules=$(pkg-config --cflags --libs ns3-point-to-point ns3-internet ns3-applications ns3-traffic-control 2> /dev/null); then
    # shellcheck disable=SC2086
    g++ -O2 -o "$place/ns3" "$here/peers/ns3.cc" $modules
    add "ns-3 $(version libns3-dev), Debian's packages" "$place/ns3 %s" cat
else
    echo "ns-3 is not installed: apt-get install libns3-dev libgsl-dev" >&2
fi
if [ -n "${HTSIM_CBR:-}${HTSIM_TCP:-}" ]; then
    [ -n "${HTSIM_CBR:-}" ] && [ -n "${HTSIM_TCP:-}" ] || { echo "HTSIM_CBR and HTSIM_TCP go together" >&2; exit 1; }
    printf '#!/bin/sh\nif [ "$1" = cbr ]; then %s; else %s; fi\n' "$HTSIM_CBR" "$HTSIM_TCP" > "$place/htsim"
    chmod +x "$place/htsim"
    add 'csg-htsim, simplified TCP' "$place/htsim %s" 'echo –; true'
else
    echo "csg-htsim is not named: HTSIM_CBR, HTSIM_TCP" >&2
fi

# Processor time of a process in s, the least and the median, and the most memory in MB.
summary() {
    sort -n "$1" | awk '
        { time[NR] = $1 / 1e6; if ($2 > memory) memory = $2 }
        END { printf "%.3f / %.3f | %.0f", time[1], time[int((NR + 1) / 2)], memory / 1024 }'
}

. "$here/measured.sh"
measured "tools/peers.sh $rounds"
echo '| simulator | `cbr`: processor time, s | memory, MB | packets delivered | `tcp`: processor time, s | memory, MB | packets delivered |'
echo '|---|---|---|---|---|---|---|'
for which in cbr tcp; do
    for round in $(seq "$rounds"); do
        for i in "${!names[@]}"; do
            [ "$which" = tcp ] && [ "$round" -gt 1 ] && [[ ${names[i]} == ns-3* ]] && continue
            # shellcheck disable=SC2059
            run=$(printf "${commands[i]}" "$which")
            times=1
            [ "$which" = cbr ] && times=$many
            for _ in $(seq "$times"); do
                # shellcheck disable=SC2086
                cost "$place/out-$which-$i" $run >> "$place/$which-$i"
            done
        done
    done
done
for i in "${!names[@]}"; do
    row="| ${names[i]}"
    for which in cbr tcp; do
        row+=" | $(summary "$place/$which-$i") | $(eval "${counted[i]}" < "$place/out-$which-$i")"
    done
    echo "$row |"
done
