# For scripts that print a table of docs/performance.md, to be sourced: `measured COMMAND` prints when, by what and on what machine;
# `cost OUT COMMAND...` runs a command on one core, what it prints goes to a file, and prints its processor time in microseconds and the
# most that was resident in kB.
measured() {
    local model speed
    model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
    speed=$(sed -n 's/^cpu MHz[^:]*: //p' /proc/cpuinfo | head -1 | awk '{ printf "%.1f", $1 / 1000 }')
    echo "Measured $(date +%F) by \`$1\` on $model ($speed GHz, $(nproc) cores, one of them pinned):"
    echo
}

cost() {
    # What a process has resident counts from before it is the command: what starts it must be small, and `time` is (Debian's package).
    python3 -c '
import os, sys
out, *command = sys.argv[1:]
pid = os.fork()
if pid == 0:
    os.sched_setaffinity(0, {0})
    os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 1)
    os.execv("/usr/bin/time", ["time", "-o", out + ".memory", "-f", "%M", *command])
_, status, used = os.wait4(pid, 0)
print(round((used.ru_utime + used.ru_stime) * 1e6), open(out + ".memory").read().split()[-1])
sys.exit(os.waitstatus_to_exitcode(status))' "$@"
}
