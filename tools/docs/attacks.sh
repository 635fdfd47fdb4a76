#!/usr/bin/env bash
# Tables of docs/security.md from `weir attack`. With `effects`: the rates that an attack changes by more than 10 %, and missed aims. With `first`:
# attacks from the first second, the lowest rate of each controller. attacks.sh effects | first
set -euo pipefail
case ${1-} in
effects)
    weir attack --quiet --format markdown | awk -F ' *[|] *' '
        $2 == "by" { for (i = 4; i < NF; i++) name[i] = $i; n = NF; print "| by | attack | rate, % |\n|---|---|---|"; next }
        n && NF == n && $2 !~ /^-/ {
            far = ""
            for (i = 4; i < n; i++)
                if ($i + 0 < 90 || $i + 0 > 110 || $i ~ /least|✗/) far = far (far ? ", " : "") "`" name[i] "` " $i
            if (far) print "| " $2 " | " $3 " | " far " |"
        }
        /are within/ { print "\n" $0 }'
    ;;
first)
    weir attack --from 0.2s --quiet --format markdown | awk -F ' *[|] *' '
        $2 == "by" { for (i = 4; i < NF; i++) { name[i] = $i; low[i] = 1000 }; n = NF }
        $2 == "reader" {
            for (i = 4; i < n; i++) {
                if ($i ~ /✗/) missed[i]++
                if ($3 !~ /once|one arrival|slander/ && $i + 0 < low[i]) low[i] = $i + 0
            }
        }
        /are within/ { for (i = 4; i < n; i++) print "| `" name[i] "` | " low[i] " | " missed[i] + 0 " |"; print "\n" $0 }'
    ;;
*)
    echo "attacks.sh: effects or first" >&2
    exit 2
    ;;
esac
