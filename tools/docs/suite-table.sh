#!/usr/bin/env bash
# The table of a suite as Markdown, with the line that heads it, and what the cases are where a seed drew them: what `weir suite` takes.
set -euo pipefail
weir suite "$@" --quiet | awk -F '   +' '
    NR == 2 { sub(/skip_above .*/, "`&`"); print $0 ":"; print "" }
    /^case  / && !heads { inside = 1; heads = NF }
    /^case  +what it is/ { inside = titles = 1; print "" }
    /^$/ { inside = 0 }
    /^─/ || !inside { next }
    titles { sub(/  +/, " | "); print "| " $0 " |"; if (/^case /) print "|---|---|"; next }
    { row = "|"; for (i = 1; i <= heads; i++) row = row " " $i " |"; print row }
    /^case  / && inside { line = "|"; for (i = 1; i <= heads; i++) line = line "---|"; print line }'
