# `make` alone is `make test`. Behind a target, two number signs and a line are its entry in `make help`. CI runs what `make lint test` does.
.PHONY: test test-simulated test-live call test-call test-browser test-faces peer-beside reality reality-long bench-live help quick test-long lint package bench demo docs docs-check docs-reproduction docs-reproduction-check reproduce-check reproduce-tried reproduce-verdicts reproduction-pages fmt \
	mutants fuzz soak

test: test-simulated ## all tests; some minutes on two cores
	$(MAKE) --no-print-directory test-live

test-simulated: ## all tests but those in real time
	cargo test --workspace --locked --quiet
	tools/named-tests.sh
	tests/newcomer/run.sh

# Alone, as other load makes real runs inconclusive; of the workspace, so that nothing is built again with other features. Linux; the machine's gaps are skipped with a sentence (docs/testbed.md).
test-live: ## real packets in real time; a minute and a half
	cargo test --locked --quiet --workspace --test live -- --ignored --nocapture --test-threads 1

reality: ## real runs beside simulated ones: writes docs/reality.md; some eleven minutes
reality-long: ## its second part: distributions, and rows of papers; some twenty minutes
reality-long: REALITY = --long
reality reality-long:
	cargo build --release --locked
	tools/docs/reality.py $(WEIR_RELEASE) docs/reality.md $(REALITY)

bench-live: ## how much real traffic this machine carries, as a table; one minute, alone
	cargo run --release --locked --quiet -p weir-live --example bench

# The program behind `weir call`, beside `weir`. It is no part of `make lint test`.
WEIR_CALL = --manifest-path weir-call/Cargo.toml --target-dir $(or $(CARGO_TARGET_DIR),target) --locked
call: ## builds `weir` and `weir-call` beside it, for `weir call`; some minutes, with a C compiler
	cargo build --release --locked
	cargo build --release $(WEIR_CALL)

test-call: ## format, clippy and tests of weir-call
	cargo fmt --manifest-path weir-call/Cargo.toml --check
	cargo clippy --release $(WEIR_CALL) --all-targets --quiet -- -D warnings
	cargo test --release $(WEIR_CALL) --quiet

# The wheel, in a virtual environment below the build folder: nothing is installed outside of it. Tests run where the sources of the package do not hide it. WEIR_REQUIRE=python makes a skip a failure.
WEIR_PY = --manifest-path python/Cargo.toml --target-dir $(or $(CARGO_TARGET_DIR),target)/python --locked
FACES = $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/faces
PYTHON = python3
test-faces: ## builds the Python wheel and tests it; some minutes, needs Python 3.11 or later and its packages
	cargo build --release --locked
	cargo fmt --manifest-path python/Cargo.toml --check
	cargo clippy --release $(WEIR_PY) --quiet -- -D warnings
	$(PYTHON) -m venv $(FACES)
	$(FACES)/bin/pip install --quiet maturin
	CARGO_TARGET_DIR=$(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/python $(FACES)/bin/maturin build --release --locked --quiet \
		--manifest-path python/Cargo.toml --out $(FACES)/wheels
	$(FACES)/bin/pip install --quiet --force-reinstall --no-deps $(FACES)/wheels/weir_rtc-*.whl
	$(FACES)/bin/pip install --quiet 'weir-rtc[test]' --find-links $(FACES)/wheels
	cd python/tests && WEIR=$(WEIR_RELEASE_PATH) $(FACES)/bin/python -m pytest --import-mode=append .

# Alone, as `make test-live`. WEIR_REQUIRE=browser makes a skip a failure, and a call that does not count.
test-browser: call ## `weir call` and the replay of a browser's call, in a headless Chromium; five minutes
	tools/test-browser.py --weir $(WEIR_RELEASE)

# Alone, as `make test-live`. Needs TUN, network namespaces and jq.
peer-beside: ## rates of `weir send` and `weir recv` within 2 % of those of `weir testbed`; four minutes
	cargo build --release --locked
	WEIR=$(WEIR_RELEASE) tools/peer-beside.sh

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-26s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

quick: ## format check, clippy and tests of the crates that changed
	tools/quick.sh $(BASE)

# Properties of every controller over a whole path, at full length: two hours alone, an hour of clock skew, every encoder at every short round
# trip; ten parking lots; the bound of the omniscient sender. Each controller's figures are printed. Then three times as many arbitrary cases of the
# controllers' own properties, all seeds and loss ratios of the simulator's and the oracles' tests, and ten million hostile packets of a peer.
test-long: ## the properties of every controller over two hours, and all cases of shortened tests; some five minutes
	WEIR_LONG=1 cargo test --locked --quiet -p weir-study --test study -- --nocapture --test-threads 1 whole_path:: parking_lots:: omniscient:: attack:: padded:: transfers::
	WEIR_LONG=1 cargo test --locked --quiet -p weir-replay --test infer -- --nocapture
	WEIR_LONG=1 cargo test --locked --quiet -p weir-cc --lib -p weir-sim --test sim -p weir-oracle --test oracle
	WEIR_LONG=1 cargo test --locked --quiet -p weir-peer --test memory
	cargo build --locked --quiet -p weir-cli --profile test
	WEIR_LONG=1 tests/newcomer/run.sh

lint: ## format, clippy, links and sentences of documents, packages, builds without std, licences
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	tools/ci/links.sh
	@if command -v python3 > /dev/null; \
		then tools/prose.py > /dev/null || { tools/prose.py; exit 1; }; \
		else echo "NOT CHECKED: lengths of sentences in documents (needs python3)" >&2; fi
	tools/package.sh --check
	tools/ci/no-std.sh
	@if cargo deny --version > /dev/null 2>&1; \
		then cargo deny --locked check licenses bans sources; \
		else echo "NOT CHECKED: licences, versions and sources of dependencies (deny.toml). cargo install cargo-deny" >&2; fi

# `make lint` packs the crates and inspects each package; here each is also built from its package.
package: ## packs each published crate and builds it without the workspace
	tools/package.sh

fmt: ## formats the code
	cargo fmt --all

# On one core, so that the two of a small machine do not disturb each other. Benchmarks that miss their bars are named at the end.
BENCHES = net/link cc/coupling cc/ctrl cc/sbd wire/feedback oracle/w60 oracle/endpoints study/scenarios study/coupled
bench: ## the benchmarks of docs/performance.md
	cargo bench --locked --no-run
	@missed=; for bench in $(BENCHES); do \
		$(shell command -v taskset > /dev/null && echo taskset -c 0) cargo bench --locked --package weir-$${bench%/*} --bench $${bench#*/} || missed="$$missed $$bench"; \
	done; [ -z "$$missed" ] || { echo "over their bars:$$missed" >&2; exit 1; }

# The tables between "printed by" and "end of print" in README.md and docs/ (needs bash and jq). The rows of docs/reproduction.md take longer
# than all others and have targets of their own. DOCS_OF=suites takes one document. `make test` compares a sample.
docs: ## prints every table of results in the documents anew
docs-check: ## compares these tables with the output of their commands; some minutes
docs-reproduction: ## prints the tables of docs/reproduction.md anew
docs-reproduction-check: ## compares these
docs docs-reproduction: DOCS = print
docs-check docs-reproduction-check: DOCS = check
docs-reproduction docs-reproduction-check: DOCS_OF = reproduction
docs docs-check docs-reproduction docs-reproduction-check:
	cargo build --release --locked
	WEIR_DOCS=$(DOCS) WEIR_DOCS_OF=$(DOCS_OF) WEIR=$(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/release/weir \
		cargo test --locked --quiet -p weir-cli --test cli -- --nocapture --exact docs::printed_tables_equal_the_output_of_their_commands

WEIR_RELEASE = $(or $(CARGO_TARGET_DIR),target)/release/weir
WEIR_RELEASE_PATH = $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/release/weir
reproduce-check: ## checks that every claim of a paper that was met still is; some ten minutes
	cargo build --release --locked
	$(WEIR_RELEASE) reproduce --all --baseline experiments/verdicts.json

reproduce-tried: ## checks the figures of changed settings in experiments/; some two minutes
	cargo build --release --locked
	$(WEIR_RELEASE) reproduce --tried

reproduction-pages: ## a page for each paper with every claim, in target/reproduction/; some ten minutes
	cargo build --release --locked
	PATH="$(dir $(abspath $(WEIR_RELEASE))):$$PATH" tools/docs/reproduction.sh pages $(or $(CARGO_TARGET_DIR),target)/reproduction

reproduce-verdicts: ## writes experiments/verdicts.json anew (needs jq)
	cargo build --release --locked
	$(WEIR_RELEASE) reproduce --all --json > experiments/verdicts.json.new
	jq '[.claims[] | { id, verdict }]' experiments/verdicts.json.new > experiments/verdicts.json
	rm experiments/verdicts.json.new

demo: ## a call from a moving car under each controller
	cargo run --release --locked -- run
mutants: ## changes of the code that no test notices; SHARD=1/20 is a sample

# Which changes of the code its own tests do not notice (needs cargo-mutants): of controllers and of coupling the unit tests of the same module, of
# crates all of their own. All mutants take days; SHARD=1/20 takes an even sample of one in twenty. tools/mutants.py AREA prints the results.
# What is left out: of coupling a controller under it, of sim what takes more than a second. Fewer tests catch no more.
TESTS_coupled := -- --skip tfrc_coupled::
TESTS_sim := -- -- --skip dual_queue:: --skip bottlenecks:: --skip goodput:: --skip fifty_reno_flows
TARGET_media := endpoints
MUTATED_CRATES := net media sim measure
mutants: $(addprefix mutants-,gcc nada dccc coupled $(MUTATED_CRATES))

MUTANTS = rm -rf target/mutants-$* && mkdir -p target/mutants-$* \
	&& PROPTEST_CASES=64 cargo mutants --profile mutants --output target/mutants-$* $(if $(IN_PLACE),--in-place,--jobs 2) \
	--timeout 120 $(if $(SHARD),--shard $(SHARD) --sharding round-robin)
# Mutants that no test notices or that time out are results, not failures.
PRINT_RESULTS = || case $$? in 2|3) ;; *) exit 1 ;; esac; tools/mutants.py $*

$(addprefix mutants-,$(MUTATED_CRATES)): mutants-%:
	$(MUTANTS) --package weir-$* --cargo-arg=--lib --cargo-arg=--test=$(or $(TARGET_$*),$*) $(TESTS_$*) $(PRINT_RESULTS)

mutants-%:
	$(MUTANTS) --package weir-cc --file 'crates/weir-cc/src/$*/**' --cargo-arg=--lib -- $*:: $(TESTS_$*) $(PRINT_RESULTS)

# The fuzz targets are every reader of packets and files, the controllers and the media endpoints. All targets share FOR; TARGET=rtcp takes
# one (needs a nightly compiler and cargo-fuzz). `make test` replays the inputs kept in fuzz/corpus/.
FOR = 600s
fuzz: ## looks for bytes that cause a panic; FOR=600s, TARGET=rtcp
	tools/fuzz.sh $(FOR) $(TARGET)

# Either half of every controller through ten million arbitrary calls, the same call begun in other years, a week of a call: no panic, rates
# within their limits, flat memory. Needs Linux, which reports the memory. PART=arrivals CONTROLLERS=gcc,nada takes a part; the parts are lives,
# arrivals, uptime and week.
soak: ## ten million calls and a simulated week for each controller; up to 45 minutes
	cargo run --release --locked --quiet -p weir-fuzz --bin soak -- $(PART) $(CONTROLLERS)
