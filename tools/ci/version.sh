#!/usr/bin/env bash
# version.sh [TAG]: prints the version of the workspace, such as 0.2.0. Exit code 1 if CHANGELOG.md has no section of it, or if the
# tag is given and is not v0.2.0.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
[ -n "$version" ] || { echo "version: Cargo.toml has no version in [workspace.package]" >&2; exit 1; }
if ! grep -qF "## [$version]" CHANGELOG.md; then
    echo "version: CHANGELOG.md has no section [$version]" >&2
    exit 1
fi
tag=${1:-v$version}
if [ "$tag" != "v$version" ]; then
    echo "version: the tag is $tag, and Cargo.toml says $version: the tag should be v$version" >&2
    exit 1
fi
echo "$version"
