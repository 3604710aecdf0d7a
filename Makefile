# Needs only make, Rust and Python >= 3.11; everything else is set up in .venv by the first target that needs it.
# These are the commands that .ci/run runs.
SHELL := /bin/sh
# First, so that the pinned compiler is used where the system has another one.
export PATH := $(HOME)/.cargo/bin:$(PATH)
# With --jobs it would name a jobserver that recipes cannot reach, and rustdoc warns of that.
unexport MAKEFLAGS MFLAGS
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
RUST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
BIN := .venv/bin
RUN := $(BIN)/cellyard
SEED := $(shell sed -n 's/^PROPTEST_RNG_SEED = "\(.*\)"/\1/p' .cargo/config.toml)
# `dev` is for a short loop: incremental, with assertions and without link-time optimisation. Each
# stamp removes the other's, so that a target without PROFILE=dev builds the release engine again.
PROFILE ?= release
BUILT := $(if $(filter release,$(PROFILE)),.venv/built,$(if $(filter dev,$(PROFILE)),.venv/built-dev,$(error PROFILE is $(PROFILE); it can be release or dev)))
SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock pyproject.toml $(wildcard scripts/backend/*.py)

.PHONY: help study test test-build fuzz fuzz-reader kills programs formats fmt lint lint-rust lint-python fresh validate reports bench bench-startup bench-studies instructions ways wheel mutants audit docs site pins build explorer tools clean
.DELETE_ON_ERROR:

help: ## what there is to make
	@sed -n 's/^\([a-z-]*\):.*## /\1 /p' Makefile | while read -r target what; do printf '  make %-13s %s\n' "$$target" "$$what"; done

study: build ## set everything up and print the first study's table next to the published one
	$(RUN) study run ubr-plus --table 2-3
	@echo
	@echo "The report with all tables, figures and claims:  $(RUN) study report ubr-plus --out results/ubr-plus"

# PYTEST_ARGS=--few-skips fails if a test is skipped that .ci/run may not skip (tests/conftest.py).
test: build test-build ## every test, Rust and Python, with the same random draws everywhere
	@echo "seed of random tests in Rust: $${PROPTEST_RNG_SEED:-$(SEED)}; of the fuzzer: $${FUZZ_SEED:-1}"
	cargo test --workspace --quiet
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist worksteal $(PYTEST_ARGS)

test-build: tools
	cargo test --workspace --quiet --no-run

# With a new seed, or FUZZ_SEED: first every random test, then campaigns without end. FUZZ_SECONDS or FUZZ_CASES ends each of the three, and
# FUZZ_OUT is where an input that fails is kept. FUZZ_FROM goes straight to that case (crates/engine/tests/runs/fuzz/campaign.rs).
fuzz: export FUZZ_SEED := $(or $(FUZZ_SEED),$(shell date +%s))
fuzz: $(if $(FUZZ_FROM),tools,build) ## random tests with new draws; then mutated scenario files and hostile networks, until one fails or you stop it
	@echo "seed $$FUZZ_SEED: FUZZ_SEED=$$FUZZ_SEED make fuzz repeats it"
ifndef FUZZ_FROM
	env -u FUZZ_OUT PROPTEST_RNG_SEED=$$FUZZ_SEED cargo test --workspace --quiet
	$(BIN)/python -m pytest -m hypothesis --hypothesis-seed=$$FUZZ_SEED
endif
	FUZZ_SECONDS=$(or $(FUZZ_SECONDS),$(if $(FUZZ_CASES),,1000000000)) \
		cargo test --package cellyard-engine --test runs -- --nocapture --test-threads 3 keep_every_invariant any_text

# The same promise, with inputs that are guided by coverage. FUZZ_SECONDS ends it; what fails is kept in fuzz/artifacts.
fuzz-reader: tools ## texts for the reader, guided by coverage, until one fails or you stop it; needs cargo-fuzz and a nightly compiler
	@cargo +nightly fuzz --version >/dev/null 2>&1 || { \
		echo "cargo-fuzz is missing: rustup toolchain install nightly && cargo install --locked cargo-fuzz" >&2; exit 1; }
	mkdir -p fuzz/corpus/reader
	cp examples/*.toml crates/engine/tests/runs/fuzz/everything.toml fuzz/corpus/reader
	grep -ohE '[A-Za-z_][A-Za-z0-9_-]*' examples/*.toml crates/engine/tests/runs/fuzz/everything.toml | sort -u | sed 's/.*/"&"/' >fuzz/words.dict
	cargo +nightly fuzz run reader -- -dict=fuzz/words.dict -max_len=20000 -timeout=20 -rss_limit_mb=2048 -max_total_time=$(or $(FUZZ_SECONDS),0)

# `make test` does 25. CELLYARD_KILLS says how many, CELLYARD_SEED draws others; half as many are of two processes on one store, a tenth of workers.
kills: build ## kill an experiment 1000 times at random moments, also two on one store, and workers, and compare its tables with an undisturbed one's (an hour)
	CELLYARD_KILLS=$(or $(CELLYARD_KILLS),1000) $(BIN)/python -m pytest -s tests/test_kill_experiment.py

# `make test` does some hundred of each. At least 2000 networks for each policy that an example restates, and 50 000 random programs.
programs: tools ## policies and schedulers stated as programs against the built-in ones, and random programs against the reference engine (an hour)
	CELLYARD_CASES=20000 cargo test --package cellyard-engine --test runs -- oracle_programs::the_examples oracle_schedulers::the_examples
	CELLYARD_CASES=50000 cargo test --package cellyard-engine --test runs -- oracle_programs::engine_and_twin oracle_schedulers::engine_and_twin

# `make test` does some hundred.
formats: tools ## 20 000 random networks in random formats, engine against twin (an hour)
	CELLYARD_CASES=20000 cargo test --package cellyard-engine --test runs -- oracle_formats::engine_and_twin

fmt: .venv/installed ## format Rust and Python
	cargo fmt --all
	$(BIN)/ruff format python tests scripts
	$(BIN)/ruff check --fix --exit-zero --quiet python tests scripts

lint: lint-rust lint-python ## check format, lint, types, and the rules of writing in scripts/words.toml

lint-rust: tools
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

lint-python: build
	$(BIN)/ruff format --check python tests scripts
	$(BIN)/ruff check python tests scripts
	$(BIN)/python scripts/words.py
	$(BIN)/mypy
	$(BIN)/stubtest cellyard._engine

fresh: build ## check that generated files are up to date
	$(BIN)/python scripts/generate.py --check
	$(BIN)/python scripts/licences.py --check

docs: build ## regenerate classes of components and results, schemas, reference pages, and licences of the crates in a wheel
	$(BIN)/python scripts/generate.py
	$(BIN)/python scripts/licences.py

site: build .venv/site-tools ## the documentation as a website in docs/build/site, which works offline; its links are checked
	mkdir -p docs/build/extra
	$(RUN) explore --save docs/build/extra/explore.html
	$(BIN)/python -m sphinx -W --keep-going --quiet --builder html docs docs/build/site
	$(BIN)/python scripts/check_site.py docs/build/site

.venv/site-tools: docs/requirements.txt .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes --requirement docs/requirements.txt
	touch $@

validate: build ## run every table of every study as an ensemble, compared with tolerances and pages, and the longest example (slow)
	$(BIN)/python -m pytest -m slow

reports: build ## write every study's report, and next to its tables the answer, the claims, mismatches and one figure
	for folder in $(dir $(wildcard python/cellyard/studies/*/study.toml)); do \
		study=$$(sed -n '/^name *=/{s/.*"\(.*\)".*/\1/p;q;}' $${folder}study.toml) && \
		$(RUN) study report $$study --out results/$$study && \
		$(BIN)/python scripts/pages.py results/$$study || exit 1; \
	done

# Optimised twice for the wheel, which a profile guides (scripts/pgo.py), and once for that of the source distribution.
wheel: .venv/installed ## wheel and source distribution in dist, each installed elsewhere and tried; WHEEL_ARGS=--plain saves a build
	$(BIN)/python scripts/wheel.py $(WHEEL_ARGS)

bench: tools ## speed relative to its goals
	cargo bench --package cellyard-engine --bench scenarios

# More than 3 % above benches/instructions.json fails, unless the changelog has a line on it; INSTRUCTIONS_ARGS=--write writes that file.
instructions: tools ## instructions of 30 short runs, counted by valgrind, and the stored ones; INSTRUCTIONS_ARGS=--write stores them
	"$(PYTHON)" scripts/instructions.py $(INSTRUCTIONS_ARGS)

# benches/fast-paths.csv is not checked to be fresh: it takes some minutes.
ways: tools ## write to benches/fast-paths.csv what each fast path of ports saves, in counted instructions
	"$(PYTHON)" scripts/fast_paths.py

bench-startup: build ## what it costs to begin a command, relative to its goals
	$(BIN)/python benches/startup.py $(STARTUP_ARGS)

bench-studies: build ## how long all studies take together
	$(BIN)/python benches/studies.py

# Unit tests first; then whole runs, built to be fast, for what these leave alive. A mutant that never ends counts as caught.
# In part: make mutants MUTANTS_ARGS='--file crates/engine/src/host/tcp/*.rs'
MUTANTS_ARGS ?=
mutants: tools ## break the code that decides, bit by bit, and list what no test notices (hours)
	@cargo mutants --version >/dev/null 2>&1 || { echo "cargo-mutants is missing: cargo install --locked cargo-mutants" >&2; exit 1; }
	-cargo mutants $(MUTANTS_ARGS)
	CARGO_PROFILE_MUTANTS_OPT_LEVEL=1 CELLYARD_CASES=100 cargo mutants $(MUTANTS_ARGS) --iterate -- \
		--test runs -- oracle:: oracle_abr oracle_judged oracle_ahead oracle_limits oracle_many tcp_end_to_end theory:: theory_abr twin:: || test $$? -eq 3

audit: tools ## advisories, licences and origins of the Rust dependencies
	@cargo deny --version >/dev/null 2>&1 || { echo "cargo-deny is missing: cargo install --locked cargo-deny" >&2; exit 1; }
	cargo deny check

build: $(BUILT) ## the release engine in .venv, and that of the explorer where it can be compiled; PROFILE=dev builds in seconds, and leaves that of the explorer

# An installation by pip does this as well.
explorer: tools ## the engine of the explorer, for WebAssembly; says what is missing where it cannot be compiled
	"$(PYTHON)" scripts/backend/explorer_engine.py

tools:
	@command -v cargo >/dev/null || { echo "Rust is missing: cargo is not on the PATH. Install Rust $(RUST) or newer (https://rustup.rs)." >&2; exit 1; }
	@rustc -V | awk -v need=$(RUST) '{ split($$2, have, "."); split(need, want, "."); exit !(have[1] > want[1] || have[1] == want[1] && have[2] >= want[2]) }' \
		|| { echo "Rust is too old: $$(rustc -V); at least $(RUST) is needed (rustup update)." >&2; exit 1; }
	@test -n "$(PYTHON)" || { echo "Python >= 3.11 is missing: none of python3, python3.14 ... python3.11 is one. Install it, or say make PYTHON=/path/to/python3." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python >= 3.11 is needed: $(PYTHON) is older or does not start." >&2; exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) lacks venv and ensurepip (on Debian: apt install python3-venv)." >&2; exit 1; }

.venv/installed: constraints.txt | tools
	test -x $(BIN)/python || "$(PYTHON)" -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes --requirement constraints.txt
	touch $@

.venv/built: .venv/installed $(SOURCES) | tools
	@echo "building the engine, which takes some minutes the first time ..."
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	rm -f .venv/built-dev
	touch $@

.venv/built-dev: .venv/installed $(SOURCES) | tools
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		--config-settings build-args="--profile dev" --editable .
	rm -f .venv/built
	touch $@

pins: tools ## pin the newest Python dependencies by version and hash
	"$(PYTHON)" -m venv .venv/pins && .venv/pins/bin/pip install --quiet pip-tools
	.venv/pins/bin/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras --extra dev --extra all \
		--no-header --no-emit-options --output-file constraints.txt pyproject.toml
	.venv/pins/bin/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
		--no-header --no-emit-options --output-file scripts/wheel-tools.txt scripts/wheel-tools.in
	cd docs && ../.venv/pins/bin/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
		--no-header --no-emit-options --output-file requirements.txt requirements.in

clean: ## remove everything that was built
	rm -rf .venv target python/cellyard/*.so python/cellyard/explorer/engine.wasm
