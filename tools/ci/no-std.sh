#!/usr/bin/env bash
# Whether weir-units, weir-wire and weir-cc build for a target without an operating system, on which there is no std, whether the engine
# builds for a web page, and whether the embedded crates build with the oldest compiler that Cargo.toml admits. Takes the first toolchain
# that has such a target, the default one before others. Only what is installed is checked; the rest is named. With `targets` in
# WEIR_REQUIRE, a list with commas, a missing target is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."

bare_crates=(-p weir-units -p weir-wire -p weir-cc)
embedded_crates=("${bare_crates[@]}" -p weir-net -p weir-media -p weir-registry)

missing_target() {
    echo "NOT CHECKED: $1. rustup target add $2" >&2
    case ,${WEIR_REQUIRE-}, in *,targets,*) exit 1 ;; esac
}

# Here std is there, and only what a crate says of itself keeps it out.
for crate in weir-units weir-wire weir-cc; do
    if ! grep -qxF '#![cfg_attr(not(test), no_std)]' "crates/$crate/src/lib.rs"; then
        echo "crates/$crate/src/lib.rs does not say #![cfg_attr(not(test), no_std)]" >&2
        exit 1
    fi
done

toolchains=$(rustup toolchain list 2> /dev/null | cut -d " " -f 1 || true)
active=$(rustup show active-toolchain 2> /dev/null | cut -d ' ' -f 1 || true)

target=
for toolchain in $active $toolchains; do
    target=$(rustup target list --installed --toolchain "$toolchain" 2> /dev/null | grep -m 1 -e '-none' || true)
    [ -z "$target" ] || break
done
if [ -n "$target" ]; then
    cargo "+$toolchain" check --locked --quiet --target "$target" "${bare_crates[@]}"
    cargo "+$toolchain" check --locked --quiet --target "$target" "${bare_crates[@]}" --features weir-cc/serde
    echo "without std: checked for $target with $toolchain"
else
    missing_target "that weir-units, weir-wire and weir-cc build without std" thumbv7em-none-eabihf
fi

# A web page runs the engine: these crates use no file, thread or socket.
web_crates=(-p weir-units -p weir-cc -p weir-registry -p weir-wire -p weir-net -p weir-media -p weir-world -p weir-sim -p weir-measure)
if rustup target list --installed 2> /dev/null | grep -qx wasm32-unknown-unknown; then
    cargo check --locked --quiet --target wasm32-unknown-unknown "${web_crates[@]}"
    echo "for a web page: checked for wasm32-unknown-unknown"
else
    missing_target "that the engine builds for a web page" wasm32-unknown-unknown
fi

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
toolchain=$(grep -m 1 -E "^${oldest//./\\.}(\.[0-9]+)?(-|$)" <<< "$toolchains" || true)
if [ -n "$toolchain" ]; then
    cargo "+$toolchain" check --locked --quiet "${embedded_crates[@]}"
    echo "Rust $oldest: checked with $toolchain"
else
    echo "NOT CHECKED: that what is embedded builds with Rust $oldest. rustup toolchain install $oldest" >&2
fi
