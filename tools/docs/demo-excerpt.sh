#!/usr/bin/env bash
# The demo's table as README shows it: some of the rows, as many columns as fit, and the sentence at the end.
set -euo pipefail
export LC_ALL=C.UTF-8
width=116
rows=' gcc nada nada-at-sender scream '
weir run --quiet | {
    state=head left=0
    while IFS= read -r line; do
        shown=${line:0:width}
        shown=${shown%"${shown##*[! ]}"}
        case $state in
        head) [ -z "$line" ] && state=names ;;
        names)
            case $line in
            controller*) echo "$shown   …" ;;
            ─*) echo "$shown" && state=rows ;;
            *) echo "$shown" ;;
            esac ;;
        rows)
            if [ -z "$line" ]; then
                echo "… $left more" && echo && state=end
            elif [[ $rows == *" ${line%% *} "* ]]; then
                echo "$shown"
            else
                left=$((left + 1))
            fi ;;
        end) fold -s -w 118 <<< "$line" | sed 's/ $//' ;;
        esac
    done
}
