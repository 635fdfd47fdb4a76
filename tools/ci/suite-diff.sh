#!/usr/bin/env bash
# What action.yml does: runs a suite with what is checked out and, if BASE names a commit, with that, and compares both. It can be called
# by hand, too, in the folder of a crate that has the command `weir`, such as a clone of Weir or what `weir new controller` makes:
#
#   SUITE=rfc8867 CONTROLLERS=gcc BASE=main tools/ci/suite-diff.sh
#
# SUITE         a suite that ships, or a file; it is that of what is checked out at both commits, and so are traces and scenarios that it
#               names as files
# CONTROLLERS   as after --controller; those of the suite, else all, if empty
# RUNS          as after --runs; 5 if empty
# BASE          a commit; nothing is compared if it is empty or all zeros, as at the first push of a branch
#
# The matrix and what changed are written, as Markdown, behind the file that GITHUB_STEP_SUMMARY names, else printed. The exit code is that
# of `weir suite diff`: 1 if anything got worse.
set -euo pipefail

: "${SUITE:?names the suite}"
runs=${RUNS:-5}
base=${BASE:-}
summary=${GITHUB_STEP_SUMMARY:-/dev/stdout}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}

work=$(mktemp -d)
cleanup() {
    if [ -d "$work/base" ]; then git worktree remove --force "$work/base"; fi
    rm -rf "$work"
}
trap cleanup EXIT

# weir FOLDER ARGUMENT...: the command that the crate in FOLDER makes.
weir() {
    local folder=$1
    shift
    cargo run --release --locked --quiet --manifest-path "$folder/Cargo.toml" -- "$@"
}

# Whoever names a branch gives no options to git or weir.
for name in SUITE CONTROLLERS RUNS BASE; do
    case ${!name:-} in
        -*)
            echo "$name=${!name}: this is an option; $0 says in its first lines what $name may be" >&2
            exit 2
            ;;
    esac
done
options=("$SUITE" --runs "$runs" --quiet --json)
if [ -n "${CONTROLLERS:-}" ]; then options+=(--controller "$CONTROLLERS"); fi

case $base in
    "" | *[!0]*) ;;
    *) base= ;;
esac
if [ -n "$base" ]; then
    # A checkout of one commit does not have the other.
    git rev-parse --quiet --verify "$base^{commit}" > /dev/null || git fetch --quiet --depth 1 --end-of-options origin "$base"
    commit=$(git rev-parse --quiet --verify "$base^{commit}" || git rev-parse FETCH_HEAD)
    git worktree add --quiet --detach "$work/base" "$commit"
    echo "$SUITE at $commit" >&2
    # The folder of the crate may be one within the repository.
    weir "$work/base/$(git rev-parse --show-prefix)" suite "${options[@]}" > "$work/old.json"
fi
echo "$SUITE at what is checked out" >&2
weir . suite "${options[@]}" --markdown "$work/matrix.md" > "$work/new.json"
cat "$work/matrix.md" >> "$summary"
if [ -z "$base" ]; then exit 0; fi
code=0
weir . suite diff "$work/old.json" "$work/new.json" --markdown "$work/diff.md" >&2 || code=$?
if [ -f "$work/diff.md" ]; then
    { printf '\n#### Since %s\n\n' "$base"; cat "$work/diff.md"; } >> "$summary"
fi
exit "$code"
