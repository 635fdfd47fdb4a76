# `make test` is what CI runs after `make lint`; `make demo` shows what Weir is for.
.PHONY: test test-long lint bench demo fmt mutants

test:
	cargo test --workspace --locked --quiet

# What must hold of every law over a whole path, at full length: two hours alone, an hour of clock skew, every encoder at every
# short round trip. Some two minutes on two cores; what each law does is printed.
test-long:
	WEIR_LONG=1 cargo test --locked --quiet -p weir-lab --test lab -- --nocapture --test-threads 1 every_law:: omniscient::

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

fmt:
	cargo fmt --all

# On one core, so that the two of a small machine do not disturb each other.
bench:
	cargo bench --locked --no-run
	taskset -c 0 cargo bench --locked -p weir-net --bench link
	taskset -c 0 cargo bench --locked -p weir-cc --bench coupling
	taskset -c 0 cargo bench --locked -p weir-cc --bench ctrl
	taskset -c 0 cargo bench --locked -p weir-cc --bench sbd
	taskset -c 0 cargo bench --locked -p weir-wire --bench feedback
	taskset -c 0 cargo bench --locked -p weir-oracle --bench w60
	taskset -c 0 cargo bench --locked -p weir-lab --bench scenarios
	taskset -c 0 cargo bench --locked -p weir-lab --bench coupled

demo:
	cargo run --release --locked -- run

# Which changes of GCC, NADA and DCCC the unit tests of their own module do not notice (needs cargo-mutants). All of them
# take hours; SHARD=1/20 takes an even sample of one in twenty.
mutants: mutants-gcc mutants-nada mutants-dccc

mutants-%:
	cargo mutants -p weir-cc --output target/mutants-$* --jobs 2 --timeout 30 --baseline skip \
		$(if $(SHARD),--shard $(SHARD) --sharding round-robin) --file 'crates/weir-cc/src/$*/**' -- --lib $*::
