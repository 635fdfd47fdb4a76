#!/usr/bin/env bash
# Format check, clippy and tests of the crates that changed: tools/quick.sh [BASE]
#
# A crate has changed if a file in its folder differs from BASE, in a commit, in the index or in the working tree, or is new. BASE is the
# common ancestor of HEAD and origin/main; without a remote, of HEAD and main. Crates that depend on a changed one are not tested: `make lint
# test` does it all.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_INCREMENTAL=1

if [ $# -gt 0 ]; then
    base=$(git rev-parse --quiet --verify "$1^{commit}") || { echo "tools/quick.sh: $1 is no commit, branch or tag" >&2; exit 2; }
else
    base=$(git merge-base HEAD origin/main 2> /dev/null || git merge-base HEAD main 2> /dev/null || git rev-parse HEAD)
fi

changed=$({ git diff --name-only --no-renames "$base"; git ls-files --others --exclude-standard; } | sort -u)
packages=()
for crate in $(sed -nE 's,^crates/([^/]+)/.*,\1,p' <<< "$changed" | sort -u); do
    # A crate that was removed has nothing to check.
    if [ -f "crates/$crate/Cargo.toml" ]; then packages+=(-p "$crate"); fi
done
elsewhere=$(grep -vE '^(crates/[^/]+/|$)' <<< "$changed" | wc -l || true)

run() {
    echo "+ $*"
    "$@"
}
if [ ${#packages[@]} -gt 0 ]; then
    run cargo fmt --check "${packages[@]}"
    run cargo clippy "${packages[@]}" --all-targets --locked --quiet -- -D warnings
    run cargo test "${packages[@]}" --locked --quiet
else
    echo "no crate differs from $(git rev-parse --short "$base")"
fi
if [ "$elsewhere" -gt 0 ]; then echo "changed outside of crates/ and not checked: $elsewhere; \`make lint test\` checks all"; fi
