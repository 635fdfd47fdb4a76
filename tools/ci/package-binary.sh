#!/usr/bin/env bash
# package-binary.sh TARGET VERSION [PROGRAM]: builds `weir` for a target of rustc by tools/dist.sh, or takes PROGRAM, and packs it with its licences into
# dist/weir-VERSION-TARGET.tar.gz, beside its checksum. What .github/workflows/release.yml does for each target.
set -euo pipefail

target=${1:?a target, such as x86_64-unknown-linux-gnu}
version=${2:?a version, such as v0.2.0}
case $version in *[!A-Za-z0-9._+-]*) echo "package-binary: $version is no version" >&2; exit 2 ;; esac

weir=${3:-$("$(dirname "$0")/../dist.sh" "$target")}
name=weir-$version-$target
mkdir -p "dist/$name"
cp "$weir" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "dist/$name"
tar -C dist -czf "dist/$name.tar.gz" "$name"
rm -r "dist/${name:?}"
# macOS has no sha256sum.
cd dist
if command -v sha256sum > /dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi > "$name.tar.gz.sha256"
