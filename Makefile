# `make test` is what CI runs after `make lint`; `make demo` shows what Weir is for.
.PHONY: test test-long lint package bench demo docs docs-check docs-reproduction docs-reproduction-check reproduce-check reproduce-tried reproduce-verdicts fmt \
	mutants fuzz soak

test:
	cargo test --workspace --locked --quiet
	tools/named-tests.sh
	tests/newcomer/run.sh

# What must hold of every law over a whole path, at full length: two hours alone, an hour of clock skew, every encoder at every
# short round trip; ten parking lots; what no law can have beside the omniscient sender. What each law does is printed.
test-long:
	WEIR_LONG=1 cargo test --locked --quiet -p weir-lab --test lab -- --nocapture --test-threads 1 every_law:: parking_lots:: omniscient:: attack::

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	tools/package.sh --check
	tools/ci/no-std.sh
	@if cargo deny --version > /dev/null 2>&1; \
		then cargo deny --locked check licenses bans sources; \
		else echo "NOT CHECKED: licences, versions and sources of dependencies (deny.toml). cargo install cargo-deny" >&2; fi

# Packs every crate that is published, looks into each package (tools/package.sh says what for; `make lint` does that alone), and builds it
# from there.
package:
	tools/package.sh

fmt:
	cargo fmt --all

# On one core, so that the two of a small machine do not disturb each other. Whoever misses a bar is named in the end.
BENCHES = net/link cc/coupling cc/ctrl cc/sbd wire/feedback oracle/w60 lab/scenarios lab/coupled
bench:
	cargo bench --locked --no-run
	@missed=; for bench in $(BENCHES); do \
		taskset -c 0 cargo bench --locked --package weir-$${bench%/*} --bench $${bench#*/} || missed="$$missed $$bench"; \
	done; [ -z "$$missed" ] || { echo "over their bars:$$missed" >&2; exit 1; }

# What documentation says that a command prints: `docs` prints it anew, `docs-check` compares (some minutes on two cores; needs
# bash and jq), `docs-reproduction` and `docs-reproduction-check` do it for docs/reproduction.md, whose rows take longer than
# all else. DOCS_OF=suites takes one document. `make test` compares a sample.
docs docs-reproduction: DOCS = print
docs-check docs-reproduction-check: DOCS = check
docs-reproduction docs-reproduction-check: DOCS_OF = reproduction
docs docs-check docs-reproduction docs-reproduction-check:
	cargo build --release --locked
	WEIR_DOCS=$(DOCS) WEIR_DOCS_OF=$(DOCS_OF) WEIR=$(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/release/weir \
		cargo test --locked --quiet -p weir-cli --test cli -- --nocapture --exact docs::what_stands_as_printed_is_what_is_printed

# Whether every claim of the papers that was met in the quick form still is (some ten minutes on two cores); `reproduce-verdicts`
# writes down anew which are (needs jq).
WEIR_RELEASE = $(or $(CARGO_TARGET_DIR),target)/release/weir
reproduce-check:
	cargo build --release --locked
	$(WEIR_RELEASE) reproduce --all --baseline experiments/verdicts.json

# Whether the figures of changed settings that rows hold still stand (some two minutes on two cores).
reproduce-tried:
	cargo build --release --locked
	$(WEIR_RELEASE) reproduce --tried

reproduce-verdicts:
	cargo build --release --locked
	$(WEIR_RELEASE) reproduce --all --json > experiments/verdicts.json.new
	jq '[.claims[] | { id, verdict }]' experiments/verdicts.json.new > experiments/verdicts.json
	rm experiments/verdicts.json.new

demo:
	cargo run --release --locked -- run

# Which changes of the code its own tests do not notice (needs cargo-mutants): of laws and of coupling the unit tests of the same module, of
# crates all of their own. All mutants take days; SHARD=1/20 takes an even sample of one in twenty. tools/mutants.py AREA prints the results.
# What is left out: of coupling a law under it, of sim what takes more than a second. Fewer tests catch no more.
TESTS_coupled := -- --skip tfrc_coupled::
TESTS_sim := -- -- --skip dual_queue:: --skip bottlenecks:: --skip goodput:: --skip fifty_reno_flows
TARGET_media := endpoints
MUTATED_CRATES := net media sim measure
mutants: $(addprefix mutants-,gcc nada dccc coupled $(MUTATED_CRATES))

MUTANTS = rm -rf target/mutants-$* && mkdir -p target/mutants-$* \
	&& PROPTEST_CASES=64 cargo mutants --profile mutants --output target/mutants-$* $(if $(IN_PLACE),--in-place,--jobs 2) \
	--timeout 120 $(if $(SHARD),--shard $(SHARD) --sharding round-robin)
# What was missed or timed out is what we ask for.
TOLD = || case $$? in 2|3) ;; *) exit 1 ;; esac; tools/mutants.py $*

$(addprefix mutants-,$(MUTATED_CRATES)): mutants-%:
	$(MUTANTS) --package weir-$* --cargo-arg=--lib --cargo-arg=--test=$(or $(TARGET_$*),$*) $(TESTS_$*) $(TOLD)

mutants-%:
	$(MUTANTS) --package weir-cc --file 'crates/weir-cc/src/$*/**' --cargo-arg=--lib -- $*:: $(TESTS_$*) $(TOLD)

# Looks for bytes that make something panic, or that are not read as they are written: every reader of what comes from the network, the
# laws and the media endpoints, every reader of files. All targets have FOR together; TARGET=rtcp takes one (needs a nightly
# compiler and cargo-fuzz, and says so). `make test` replays the inputs kept in fuzz/corpus/.
FOR = 600s
fuzz:
	tools/fuzz.sh $(FOR) $(TARGET)

# Either half of every law through ten million arbitrary calls, the same call begun in other years, a week of a call: nothing panics, rates stay
# within their limits, memory is flat. At most 45 minutes on two cores (needs Linux, which tells the memory). PART=arrivals LAW=gcc,nada
# takes a part: lives, arrivals, uptime or week.
soak:
	cargo run --release --locked --quiet -p weir-fuzz --bin soak -- $(PART) $(LAW)
