#!/usr/bin/env bash
# dist.sh [TARGET]: builds `weir` as a release publishes it: thin LTO and profile-guided optimisation. Prints the path of the program.
#
# The program is built twice: first with counters, which then run single scenarios and suites, and again by their counts. Needs the
# component llvm-tools of the toolchain (`rustup component add llvm-tools`).
set -euo pipefail
cd "$(dirname "$0")/.."
host=$(rustc -vV | sed -n 's/^host: //p')
target=${1:-$host}
profdata=$(find "$(rustc --print sysroot)" -name llvm-profdata | head -n 1)
[ -n "$profdata" ] || { echo "dist: there is no llvm-profdata; rustup component add llvm-tools" >&2; exit 2; }
if [ "$target" != "$host" ]; then
    echo "dist: the counters of $target do not run here; build on a machine of that target" >&2
    exit 2
fi

root=${CARGO_TARGET_DIR:-target}/dist-profile
rm -rf "$root"
mkdir -p "$root/counts"
root=$(cd "$root" && pwd)
build=(cargo build --profile dist --locked --quiet --package weir-cli --target "$target")
CARGO_TARGET_DIR=$root/counting CARGO_ENCODED_RUSTFLAGS="-Cprofile-generate=$root/counts" "${build[@]}"
weir=$root/counting/$target/dist/weir

# Suites and single scenarios: code that the training does not reach is optimised for size.
export WEIR_CACHE=
cd "$root"
"$weir" run bench/cbr --runs 1 --quiet --json > /dev/null
"$weir" run bench/tcp --duration 10s --runs 1 --quiet --json > /dev/null
"$weir" run gcc-2016/variable-capacity --runs 5 --quiet --json > /dev/null
"$weir" run --runs 1 --duration 30s --quiet --json > /dev/null
"$weir" suite rfc8867 --runs 1 --controller gcc,nada,scream,scream-v2,dccc --quiet --json > /dev/null
"$weir" suite sharing --runs 1 --controller gcc,nada --quiet --json > /dev/null
cd - > /dev/null

"$profdata" merge -o "$root/merged.profdata" "$root/counts"
CARGO_TARGET_DIR=$root/built CARGO_ENCODED_RUSTFLAGS="-Cprofile-use=$root/merged.profdata" "${build[@]}"
echo "$root/built/$target/dist/weir"
