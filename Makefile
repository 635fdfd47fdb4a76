# `make test` is what CI runs after `make lint`; `make demo` shows what Weir is for.
.PHONY: test lint bench demo fmt mutants

test:
	cargo test --workspace --locked --quiet

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

fmt:
	cargo fmt --all

# On one core, so that the two of a small machine do not disturb each other.
bench:
	cargo bench --locked --no-run
	taskset -c 0 cargo bench --locked -p weir-net --bench link
	taskset -c 0 cargo bench --locked -p weir-wire --bench feedback
	taskset -c 0 cargo bench --locked -p weir-oracle --bench w60
	taskset -c 0 cargo bench --locked -p weir-lab --bench scenarios

demo:
	cargo run --release --locked -- run

# Which changes of GCC, NADA and DCCC no unit test notices (needs cargo-mutants). All of them take hours; SHARD=1/100
# takes an even sample of one in a hundred.
mutants:
	cargo mutants -p weir-cc --output target --jobs 2 $(if $(SHARD),--shard $(SHARD) --sharding round-robin) \
		--file 'crates/weir-cc/src/gcc/**' --file 'crates/weir-cc/src/nada/**' --file 'crates/weir-cc/src/dccc/**' \
		-- --lib
