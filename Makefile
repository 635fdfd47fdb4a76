# `make test` is what CI runs after `make lint`; `make demo` shows what Weir is for.
.PHONY: test lint bench demo fmt

test:
	cargo test --workspace --locked --quiet

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

fmt:
	cargo fmt --all

bench:
	cargo bench --locked

demo:
	cargo run --release --locked -- run
