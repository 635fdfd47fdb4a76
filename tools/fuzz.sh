#!/usr/bin/env bash
# Lets cargo-fuzz look for bytes that make a target panic: tools/fuzz.sh TIME [TARGET], TIME such as 600s or 10m. Without a target
# all of them have TIME together, in equal parts; building comes on top. 0: nothing was found. 1: something was, and the input is
# named. 2: it did not come to that: a nightly compiler or cargo-fuzz is missing, TIME or TARGET is none, or the targets do not build.
#
# It begins with the inputs kept in fuzz/corpus/, and goes on with those that earlier runs found (target/fuzz/corpus/).
set -euo pipefail
cd "$(dirname "$0")/.."

missing() {
    echo "tools/fuzz.sh: $1 is missing: $2" >&2
    exit 2
}
cargo +nightly --version > /dev/null 2>&1 || missing "a nightly compiler" "rustup toolchain install nightly --profile minimal"
cargo +nightly fuzz --version > /dev/null 2>&1 || missing "cargo-fuzz" "cargo install --locked cargo-fuzz"

time=${1:-600s}
[[ $time =~ ^[0-9]{1,9}[sm]?$ ]] || { echo "tools/fuzz.sh: $time is no time: 600s or 10m would be one" >&2; exit 2; }
case $time in
    *m) seconds=$((10#${time%m} * 60)) ;;
    *) seconds=$((10#${time%s})) ;;
esac
all=$(basename -s .rs -a fuzz/fuzz_targets/*.rs)
targets=${2:-$all}
grep -qxF "$targets" <<< "$all" || [ "$targets" = "$all" ] || { echo "tools/fuzz.sh: no target $targets; there are:" $all >&2; exit 2; }
each=$((seconds / $(wc -w <<< "$targets")))
[ "$each" -gt 0 ] || { echo "tools/fuzz.sh: $time is less than a second for each target" >&2; exit 2; }

folder=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
# Code that no target uses is not linked; cargo-fuzz links all of it otherwise.
how=(--fuzz-dir fuzz --target-dir "$folder/build" --strip-dead-code=true)
cargo +nightly fuzz build "${how[@]}" ${2:+"$2"} || exit 2
found=0
printf '%-12s %8s %10s %9s %7s\n' target seconds inputs features kept
for target in $targets; do
    kept=$folder/corpus/$target artifacts=$folder/artifacts/$target log=$folder/$target.log
    mkdir -p "$kept" "$artifacts"
    outcome=
    cargo +nightly fuzz run "${how[@]}" "$target" "$kept" "fuzz/corpus/$target" -- \
        -max_total_time="$each" -timeout=30 -artifact_prefix="$artifacts/" -print_final_stats=1 > "$log" 2>&1 || outcome="  FAILED: $log"
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
    features=$(sed -nE 's/^#[0-9]+.* ft: ([0-9]+).*/\1/p' "$log" | tail -1)
    printf '%-12s %8d %10s %9s %7d%s\n' "$target" "$each" "${inputs:-?}" "${features:-?}" "$(ls "$kept" | wc -l)" "$outcome"
    [ -z "$outcome" ] || found=1
done
if [ "$found" = 1 ]; then
    echo "inputs that were found lie in $folder/artifacts; cargo +nightly fuzz run --fuzz-dir fuzz TARGET INPUT shows one again" >&2
fi
exit $found
