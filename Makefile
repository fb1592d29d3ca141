# The targets of the course. Each sets up what it needs in .venv and does no work twice.
# Paths are relative and no console script is called, so that the folder may have spaces
# in its name. Works with GNU make 3.81 and later.

.DEFAULT_GOAL := help
.SILENT:
MAKEFLAGS += --no-print-directory

PY := .venv/bin/python
# Many times what the longest test takes: one that hangs is ended, and says where it was.
PYTEST := $(PY) -m pytest -q --timeout 1200
READY := .venv/.ready
JOBS ?= 2
PORT ?= 8000
DOCKER ?= docker

unexport PYTHONDONTWRITEBYTECODE  # else each of some hundred processes compiles the course
export OMP_NUM_THREADS := 1
export PYTHONUTF8 := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export IPYTHONDIR := $(CURDIR)/.cache/ipython

.PHONY: help
help: ## list the targets
	echo "make TARGET, where TARGET is one of"
	grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 14

$(READY): requirements.txt pyproject.toml grader/pyproject.toml tools/setup.sh
	bash tools/setup.sh

.PHONY: setup
setup: $(READY)
	mkdir -p .cache/ipython

# Building and reading -----------------------------------------------------------

.PHONY: book
book: setup ## run the chapters that have changed and build the site in _build/html
	$(PY) tools/build.py

.PHONY: serve
serve: book ## show the site on http://localhost:8000 (PORT=... for another port)
	echo "Showing _build/html on http://localhost:$(PORT). Ctrl-C ends it."
	$(PY) -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html || true

.PHONY: pages
pages: setup ## build the pages in _build/pages with the outputs that the notebooks store
	$(PY) -c "from jupyter_book.cli.main import main; main()" build . -q \
	  --path-output _build/pages

.PHONY: site-zip
site-zip: book ## pack the site into one file for reading offline
	$(PY) tools/publish.py --zip

.PHONY: files
files: book ## make a PDF and an EPUB of the course, for reading offline
	$(PY) tools/book_files.py

.PHONY: publish
publish: book ## put the site on the branch gh-pages, or in a folder: TO=/path
	$(MAKE) publish-built

.PHONY: publish-built
publish-built: setup ## publish the site that _build/html holds, without building it
	$(PY) tools/publish.py $(if $(TO),--to "$(TO)") $(if $(REMOTE),--remote "$(REMOTE)")

# Checking -----------------------------------------------------------------------

.PHONY: test
test: setup ## check the code, the package, the notebooks and the site
	$(MAKE) lint
	$(MAKE) book
	echo "Tests. The notebooks, as the build has run them, print what is stored in them."
	$(PYTEST) chapters solutions tests grader/tests -p tools.from_build --nbval \
	  -n $(JOBS) --dist loadfile --no-loadscope-reorder

.PHONY: test-quick
test-quick: lint ## check the style, and the tests that take seconds
	$(PYTEST) -n $(JOBS) --dist loadfile tests/test_by_hand.py tests/test_package.py \
	  tests/layers tests/data tests/models tests/exercises/test_engine.py \
	  tests/exercises/test_forbidden.py tests/exercises/test_page.py

.PHONY: lint
lint: setup ## check the style of the code and the form of the notebooks
	echo "Style of the code and form of the notebooks."
	$(PY) -m ruff check --quiet
	$(PY) -m ruff format --check --quiet
	$(PY) tools/notebooks.py check chapters/*.ipynb solutions/*.ipynb
	$(PY) -c "from importlinter.cli import lint_imports_command as check; check()" \
	  --no-logo --no-cache
	$(PY) -m mypy --no-error-summary
	$(PY) -m codespell_lib chapters solutions book attncourse grader tests tools README.md

.PHONY: newest
newest: ## test with the newest releases of all packages, in an environment of its own
	bash tools/package_sets.sh newest

.PHONY: colab
colab: ## run the chapters with the versions of packages that Google Colab has
	COLAB_PACKAGES="$(COLAB_PACKAGES)" bash tools/package_sets.sh colab

# Exercises -----------------------------------------------------------------------

.PHONY: exercises
exercises: setup ## make the exercises from the solutions
	$(PY) -m attncourse.cli release

.PHONY: expected
expected: setup ## record what the solutions give, for the checks in the notebooks
	$(PY) tools/record_expected.py

.PHONY: grade
grade: setup ## grade notebooks: make grade FILES="a.ipynb b.ipynb" (OUT=grades)
	$(PY) -m attncourse.cli grade $(FILES) --out $(or $(OUT),grades) --jobs $(JOBS)

.PHONY: exercise
exercise: setup ## begin an exercise of your own: make exercise NAME=7_mine
	$(PY) tools/new_exercise.py $(NAME)

.PHONY: term
term: setup ## play a term on a simulated Moodle and Canvas, and check every grade
	$(PY) -m tools.term $(or $(OUT),.cache/term) --students $(or $(STUDENTS),60)

.PHONY: container
container: ## build the container for grading (DOCKER=podman)
	$(DOCKER) build -f tools/grading.Containerfile -t attncourse-grading \
	  --build-arg PIP_EXTRA_INDEX_URL="$(PIP_EXTRA_INDEX_URL)" .

# Keeping ------------------------------------------------------------------------

.PHONY: notebooks
notebooks: setup ## run every chapter and solution again and store what it prints
	$(PY) tools/notebooks.py run chapters/*.ipynb solutions/*.ipynb
	$(MAKE) exercises

.PHONY: drawings
drawings: setup ## write the drawings of the architectures into the package
	$(PY) book/_drawings

.PHONY: record
record: setup ## make the recorded results again that chapters show; some five hours
	$(PY) experiments/translation.py --again
	$(PY) experiments/applications.py --again
	$(PY) experiments/copying.py --again
	$(PY) experiments/digits.py --again
	$(PY) -m pip install -q pyppmd==1.3.1
	$(PY) experiments/gpt.py baselines
	$(PY) experiments/gpt.py live --again
	$(PY) experiments/gpt.py scaling --again
	$(PY) experiments/gpt.py sinks --again
	$(PY) experiments/gpt.py long --seeds 1 2 --again
	$(PY) experiments/transformer.py --again
	$(PY) experiments/longer.py --again
	$(PY) experiments/efficient.py --again
	$(PY) experiments/variants.py --again

.PHONY: checkpoints
checkpoints: setup ## train the models again that the course ships; about 40 minutes
	$(PY) experiments/translation.py --models
	$(PY) experiments/applications.py --models
	$(PY) experiments/gpt.py long --seeds 0 --ship --again

.PHONY: bench
bench: setup ## measure speed and memory against PyTorch's own; keeps the figures
	$(PY) benchmarks/everyday.py --record
	$(PY) benchmarks/local_attention.py --record
	$(PY) benchmarks/busy.py --record
	$(PY) benchmarks/on_gpu.py --record

.PHONY: bench-grading
bench-grading: setup ## measure what grading a submission costs, beside nbgrader and nbval
	$(PY) benchmarks/grading.py

.PHONY: dist
dist: setup ## build the two distributions, wheels and sources, in dist
	$(PY) -m build --no-isolation --outdir dist .
	$(PY) -m build --no-isolation --outdir dist grader

.PHONY: lock
lock: setup ## work out requirements.txt again from requirements.in
	bash tools/lock.sh

.PHONY: clean
clean: ## remove what was built and the results of the chapters, keep .venv
	rm -rf _build .cache .pytest_cache .ruff_cache .hypothesis
	echo "Removed _build and the caches. 'rm -rf .venv' removes the environment too."
