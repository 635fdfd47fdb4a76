#!/usr/bin/env bash
# Whether each test that a row of a paper names is one that `cargo test` runs: it is there and not left out.
set -euo pipefail
cd "$(dirname "$0")/.."

# `crate::path` of every test: of unit tests as rows name them, of integration tests without the package. Documentation tests, which no
# row names, would be compiled anew for each list.
listed() {
    cargo test --workspace --locked --lib --bins --tests -- --list "$@" 2>&1 |
        sed -nE 's|^ +Running .*/deps/([a-z0-9_]+)-[0-9a-f]+\)$|@\1|p; s|^(.*): test$|\1|p' |
        awk '/^@/ { name = substr($0, 2); next } { print name "::" $0 }' | sort
}

all=$(listed)
left_out=$(listed --ignored)
run=$(comm -23 <(echo "$all") <(echo "$left_out"))
# What stands in the lists `tests = […]`, on one line or several, in either kind of quotes.
named=$(cat experiments/*/*.toml | awk '/^tests = \[/ { within = 1 } within { print } /\]/ { within = 0 }' | grep -oE "[\"'][^\"']+[\"']" | tr -d "\"'" | sort -u)
missing=$(while read -r test; do
    grep -qxF -e "$test" -e "${test#*::}" <<< "$run" || echo "$test"
done <<< "$named")
if [ -n "$missing" ]; then
    echo "rows of experiments/ name tests that are not run:" >&2
    echo "$missing" >&2
    exit 1
fi
echo "$(wc -l <<< "$named") tests that rows name are run"
