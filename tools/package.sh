#!/usr/bin/env bash
# Packs every crate that is published, as for a registry, and looks into each package. With --check (`make lint`) that is all, some
# seconds; without it (`make package`) cargo also unpacks each package and builds it against the others, without the workspace around
# it: some minutes. Tests and benchmarks are in no package: they read documents and data that stand outside of the crates.
#
# What is looked for: both licences, a README, and what must not be there: recorded traces and other files of data/, which have licences of
# their own. In weir-scenario every scenario, in weir-study every row and template of the experiments; in weir-cc and weir-media their examples.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=${CARGO_TARGET_DIR:-target}/package
rm -rf "$packages"
how=()
if [ "${1:-}" = --check ]; then
    how=(--no-verify --allow-dirty)
fi
cargo package --workspace --exclude weir-oracle --exclude weir-fuzz --locked --quiet ${how[@]+"${how[@]}"}

failed=0
fail() {
    echo "tools/package.sh: $1" >&2
    failed=1
}

for manifest in crates/*/Cargo.toml; do
    name=$(basename "$(dirname "$manifest")")
    file=$(compgen -G "$packages/$name-[0-9]*.crate" || true)
    if grep -q '^publish = false' "$manifest"; then
        [ -z "$file" ] || fail "$name is not to be published, and was packed"
        continue
    fi
    if [ -z "$file" ]; then
        fail "$name was not packed"
        continue
    fi
    # Without the folder NAME-VERSION/ that all stand in.
    inside=$(tar -tzf "$file" | sed 's,^[^/]*/,,' | sort)
    wanted="LICENSE-APACHE LICENSE-MIT README.md Cargo.toml src/lib.rs"
    case $name in
        weir-cc) wanted+=" examples/sans_io.rs" ;;
        weir-media) wanted+=" examples/feedback.rs examples/two_flows.rs" ;;
        weir-scenario) wanted+=" $(find scenarios -name '*.toml' | tr '\n' ' ')" ;;
        weir-study) wanted+=" $(find experiments -name '*.toml' | tr '\n' ' ')" ;;
    esac
    for path in $wanted; do
        grep -qxF "$path" <<<"$inside" || fail "$name lacks $path"
    done
    for licence in LICENSE-MIT LICENSE-APACHE; do
        tar -xzOf "$file" "$(basename "$file" .crate)/$licence" | cmp -s - "$licence" || fail "$name has another $licence than the project"
    done
    for path in $(find data -type f | sed 's,.*/,,' | grep -v -e '^README.md$' -e '^LICENSE$'); do
        ! grep -q "\(^\|/\)$path\$" <<<"$inside" || fail "$name holds $path of data/"
    done
    ! grep -q '^\(tests\|benches\|data\)/' <<<"$inside" || fail "$name holds tests, benchmarks or data"
    printf '%-14s %4d files, %5d KiB\n' "$name" "$(wc -l <<<"$inside")" "$(($(wc -c < "$file") / 1024))"
done
exit $failed
