# A controller of one's own beside `gcc`, in a crate outside of the repository, with a report of its own.
weir new controller my-controller --weir "$CLONE"
cd my-controller
# What is not Weir's is there already, built by `cargo test`.
sed -n '/^\[profile.test\]/,/^\[profile.bench\]/p' "$CLONE/Cargo.toml" | sed '$d' |
    sed 's/^\[profile.test/[profile.dev/' |
    awk '/^\[/ { weir = /profile.dev\]|weir-/ } weir && /^opt-level/ { $0 = "opt-level = 0" } { print }' > profile
sed -i '/^# Some of the tests/,$d' Cargo.toml
cat profile >> Cargo.toml
# `make test-long` builds and runs it, which compiles every crate of Weir once more. crates/weir-study/tests/study/own_controller.rs compiles and runs the same
# controller in `make test`; here its manifest is resolved.
if [ -z "${WEIR_LONG:-}" ]; then
    host=$(rustc -vV | sed -n "s,^host: ,,p")
    cargo metadata --offline --filter-platform "$host" --format-version 1 > /dev/null
    exit
fi
cargo build --offline --quiet
mine="$CARGO_TARGET_DIR/debug/my-controller"
"$mine" list controllers | grep --quiet my-controller
"$mine" run cellular/att-lte-uplink-2016 --controller my-controller,gcc --duration 10s --runs 2 --out ../report --quiet > table
grep --quiet '^my-controller ' table
grep --quiet 'my-controller' ../report/report.html
