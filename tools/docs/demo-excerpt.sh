#!/usr/bin/env bash
# The demo's table as README shows it: its heading, some of the rows, as many columns as fit, and the sentences at the end. The
# paragraphs on runs of two kinds and on spreads are left out, as they are of rows and columns that are.
set -euo pipefail
export LC_ALL=C.UTF-8
width=116
rows=' gcc nada scream-v2 ledbat fixed omniscient '

mapfile -t lines < <(weir run --quiet)
first=0
while [ -n "${lines[first]}" ]; do first=$((first + 1)); done
last=$((first + 1))
while [ -n "${lines[last]}" ]; do last=$((last + 1)); done
table=("${lines[@]:first + 1:last - first - 1}")

# The last gap between columns that is in every line.
is_gap() {
    local line
    for line in "${table[@]}"; do
        [[ $line == ─* || ${line:$1:3} =~ ^\ *$ ]] || return 1
    done
}
cut=$width
until is_gap "$cut"; do cut=$((cut - 1)); done

printf '%s\n' "${lines[@]:0:first + 1}"
left=0 inside=
for line in "${table[@]}"; do
    shown=${line:0:cut}
    shown=${shown%"${shown##*[! ]}"}
    case $line in
    ─*) inside=yes ;;
    controller*) shown+='   …' ;;
    *) [ -n "$inside" ] && [[ $rows != *" ${line%% *} "* ]] && left=$((left + 1)) && continue ;;
    esac
    echo "$shown"
done
echo "… $left more"
printf '%s\n' "${lines[@]:last}" | sed '/^Runs of two kinds/,/^$/d; /^Spreads over the runs/,/^$/d' | fold -s -w 118 | sed 's/ $//'
