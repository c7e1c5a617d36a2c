# The two commands of this repository, each of which prepares the machine first (scripts/setup.sh):
#   make demo   compile two programs, compare them with eager PyTorch, show IR and times
#   make test   format and type checks, the documentation's site, lit tests, Python tests
# and the pieces that `make test` is made of: lint, docs, lit, pytest.
VENV ?= .venv
PYTHON_SOURCES = python test tools scripts examples benchmarks
CPP_SOURCES = $(shell git ls-files '*.h' '*.cpp' 2>/dev/null)
BIN = $(VENV)/bin
export VENV
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo test check setup build lint lint-ruff lint-format lint-mypy lint-cpp lint-words lint-generated docs lit pytest pytest-interpreted format clean \
  sanitize mutation-test coverage coverage-edges nightly nightly-tests nightly-sizes bench bench-full bench-packages torch-versions

demo: setup
	$(BIN)/python examples/demo.py

# Every part runs even if one before it fails. pytest comes last: its summary ends the output.
test: setup
	@status=0; for part in lint docs lit pytest; do \
	  $(MAKE) -k --no-print-directory $$part || status=1; done; exit $$status

# In two minutes: lint, lit, and what needs no compiled program. It expects an installation (`make setup`).
check:
	@status=0; for part in lint lit pytest-interpreted; do \
	  $(MAKE) -k --no-print-directory $$part || status=1; done; exit $$status

setup build:
	@scripts/setup.sh

lint: lint-ruff lint-format lint-mypy lint-cpp lint-words lint-generated

lint-ruff:
	$(BIN)/ruff check --output-format=concise $(wildcard $(PYTHON_SOURCES))

lint-format:
	$(BIN)/ruff format --check --output-format=concise $(wildcard $(PYTHON_SOURCES))

lint-mypy:
	$(BIN)/mypy

lint-cpp:
	@if command -v clang-format-22 >/dev/null; then \
	  echo "clang-format-22 --dry-run -Werror (C++ sources)"; clang-format-22 --dry-run -Werror $(CPP_SOURCES); \
	else echo "clang-format-22 is not installed: the format of the C++ sources is not checked"; fi

lint-words:
	$(BIN)/python tools/lint-words/lint_words.py

lint-generated:
	$(BIN)/python tools/gen-torch-ops/gen_torch_ops.py --check
	$(BIN)/python tools/gen-messages/gen_messages.py --check
	$(BIN)/python tools/gen-api/gen_api.py --check
	$(BIN)/python tools/gen-walkthrough/gen_walkthrough.py --check

# The documentation as a site: build/site. Passes, dialects and ops come from their TableGen descriptions, build/wheel/docs.
docs:
	@cmake --build build/wheel --target mlir-doc >build/mlir-doc.log || (cat build/mlir-doc.log; exit 1)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict >build/mkdocs.log 2>&1 || (cat build/mkdocs.log; exit 1)
	@echo "documentation: build/site/index.html"

# The build that `pip install` made, not a developer's build folder.
lit:
	$(BIN)/lit -sv build/wheel/test/lit

# Several processes: what takes time are tools that use one processor. One more than there are processors, as some tests
# wait; each may need some GiB of memory. Of cases and of slow tests some are left out, others in each commit
# (test/python/_sampling.py): `make pytest SAMPLED=` runs them all.
SAMPLED ?= --sampled=$(shell git rev-parse 'HEAD^{tree}' 2>/dev/null)
PYTEST_JOBS ?= $(shell n=$$(nproc 2>/dev/null || echo 1); echo $$((n < 4 ? n + 1 : 4)))
pytest:
	SSA_OPT=$(abspath $(BIN))/ssa-opt $(BIN)/python -m pytest -q -n $(PYTEST_JOBS) $(SAMPLED) test/python

# The importer's tests with the stages under the interpreter; what looks at a compiled program is skipped.
pytest-interpreted:
	SSA_OPT=$(abspath $(BIN))/ssa-opt $(BIN)/python -m pytest -q -n $(PYTEST_JOBS) --interpreted test/python/importer test/python/tools/layers_test.py

# PyTorch's operator database through compile(): hours. Interrupted, it goes on where it was.
coverage: setup
	$(BIN)/python -m ssa_compiler.testing.coverage --jobs 2 || true
	$(BIN)/python -m ssa_compiler.testing.coverage --write docs/Coverage.md

# Every operator on NaN, infinities, zeros, no elements and the like (docs/Testing.md); goes on where it was interrupted.
coverage-edges: setup
	@status=0; edges="$(BIN)/python -m ssa_compiler.testing.coverage --extremes --jobs 2"; \
	$$edges --interpreted --dtypes float32,int64 --results build/coverage-edges.jsonl || status=1; \
	$$edges --dtypes float32 --results build/coverage-edges-compiled.jsonl || status=1; exit $$status

# Far more random programs than `make test` runs, and the whole operator database, edges included: a night on two cores.
# Interrupted, it goes on where it was, as long as the commit is the same. Fails if anything is wrong, after all has run.
NIGHTLY_JOBS ?= 2
NIGHTLY_INTERPRETED ?= 1000000:1020000
NIGHTLY_COMPILED ?= 2000000:2003000
NIGHTLY_VERIFIED ?= 3000000:3001000
NIGHTLY_COVERAGE ?=
nightly: NIGHTLY = build/nightly/$(shell git describe --always --dirty 2>/dev/null || echo tree)
nightly: setup
	@mkdir -p $(NIGHTLY); status=0; \
	for part in "interpreted --seeds $(NIGHTLY_INTERPRETED)" "compiled --seeds $(NIGHTLY_COMPILED) --compiled" \
	  "verified --seeds $(NIGHTLY_VERIFIED) --compiled"; do \
	  set -- $$part; name=$$1; shift; echo "$$name:"; verify=; [ $$name != verified ] || verify=1; \
	  SSA_COMPILER_VERIFY_KERNELS=$$verify $(BIN)/python -m ssa_compiler.testing.fuzz "$$@" --jobs $(NIGHTLY_JOBS) --quiet --shrink \
	    --output $(NIGHTLY)/$$name.jsonl --failures $(NIGHTLY)/failures >$(NIGHTLY)/$$name.txt || status=1; \
	  sed '/^ingredients of/,$$d' $(NIGHTLY)/$$name.txt; \
	done; \
	coverage="$(BIN)/python -m ssa_compiler.testing.coverage --results $(NIGHTLY)/coverage.jsonl"; \
	$$coverage --jobs $(NIGHTLY_JOBS) $(NIGHTLY_COVERAGE) || status=1; \
	$$coverage --summary; ! grep -qE '"status": "(wrong|crashed)"' $(NIGHTLY)/coverage.jsonl || status=1; \
	for part in coverage-edges nightly-tests; do $(MAKE) --no-print-directory $$part || status=1; done; \
	if [ $$status = 0 ]; then echo "nightly: nothing wrong"; else echo "nightly: see above and $(NIGHTLY)"; fi; exit $$status

# Not part of `make test`: both build ssa-opt anew and take long (docs/Testing.md).
sanitize: setup
	scripts/sanitize.sh

mutation-test: setup
	$(BIN)/python tools/mutation-testing/mutation_test.py

# The Python tests with all their cases.
nightly-tests: setup
	SSA_COMPILER_NIGHTLY=1 SSA_OPT=$(abspath $(BIN))/ssa-opt $(BIN)/python -m pytest -q -n $(PYTEST_JOBS) test/python

# Every program of the suite, and random ones, with dynamic sizes that vary from call to call: about an hour.
nightly-sizes: setup
	SSA_COMPILER_NIGHTLY=1 SSA_OPT=$(abspath $(BIN))/ssa-opt $(BIN)/python -m pytest -q -n auto --maxprocesses 4 \
	  test/python/e2e/programs_with_auto_sizes_test.py

# The Python tests with the lowest and the newest supported version of torch, or with those that are named: downloads of
# gigabytes, and about 15 minutes each on two cores. docs/torch-versions.md has what came of it.
TORCH_VERSIONS ?=
TORCH_VERSIONS_FLAGS ?=
torch-versions: setup
	$(BIN)/python tools/torch-versions/torch_versions.py --jobs $(PYTEST_JOBS) $(TORCH_VERSIONS) $(TORCH_VERSIONS_FLAGS)

# How this stands beside what a user would pick instead (benchmarks/README.md): docs/benchmarks. About 10 minutes, and hours.
# BENCH_FLAGS go to `python -m benchmarks run`: BENCH_FLAGS="--only lstm --peer jax,ours".
bench: setup bench-packages
	$(BIN)/python -m benchmarks run --set quick --limit 60 --seconds 1 $(BENCH_FLAGS)

bench-full: setup bench-packages
	$(BIN)/python -m benchmarks run --set full --limit 0 $(BENCH_FLAGS)
	$(BIN)/python -m benchmarks run --set scaling --limit 0 $(BENCH_FLAGS)

# The extra `benchmarks` of pyproject.toml, without building the package again for it.
bench-packages:
	@$(BIN)/python -c 'import jax, matplotlib, tqdm' 2>/dev/null || \
	  $(BIN)/python -m pip install --disable-pip-version-check -q jax matplotlib tqdm

format:
	$(BIN)/ruff check --fix $(wildcard $(PYTHON_SOURCES))
	$(BIN)/ruff format $(wildcard $(PYTHON_SOURCES))
	clang-format-22 -i $(CPP_SOURCES)

clean:
	rm -rf build $(VENV)/.ssa-compiler-installed
