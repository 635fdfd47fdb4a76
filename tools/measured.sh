# For scripts that print a table of docs/performance.md, to be sourced: `measured COMMAND` prints when, by what and on what machine.
measured() {
    local model speed
    model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
    speed=$(sed -n 's/^cpu MHz[^:]*: //p' /proc/cpuinfo | head -1 | awk '{ printf "%.1f", $1 / 1000 }')
    echo "Measured $(date +%F) by \`$1\` on $model ($speed GHz, $(nproc) cores, one of them pinned):"
    echo
}
