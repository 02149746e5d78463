# Two commands do everything: `make sim PROGRAM=prog.bin` and `make test`. Each installs what is missing first; after
# that, only targets that say so use the network.

PYTHON ?= python3
EXAMPLE := examples/quantised_mac.bin

# The variables that this file uses. Any other on the command line is an error, since make would ignore it silently.
KNOWN := PYTHON PROGRAM PROGRAMS SIM VECTORS SEED OUT TARGET ARGS \
  FROM BASE MUTANTS MODULES RTL_MUTANTS PIPELINE_MUTANTS CLOCKED ENTITIES DATAPATH FAULTS FLIPS TWINS \
  NETWORK_FAULTS RANDOM_PROGRAMS FILES KILLS USERS

# Values from the command line are plain text: otherwise make would expand $(shell ...) in them.
$(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),\
  $(if $(filter $(name),$(KNOWN)),,$(error there is no variable $(name): give options of dais-verif as ARGS="--option value"))\
  $(eval override $(name) := $$(value $(name)))))

export PYTHON

# Recipes get the values through the environment, so paths may hold spaces and quotes. Only the recipes that need a
# value get it, since other tools use names such as SIM and WAVES for themselves.
VERBS := sim regress prove hil synth signoff check
$(VERBS): export EXAMPLE := $(EXAMPLE)
$(VERBS): export PROGRAM ?=
$(VERBS): export ARGS ?=
$(VERBS): export OUT ?=
sim regress hil: export VECTORS ?=
sim regress hil: export SEED ?=
sim regress: export SIM ?=
regress: export PROGRAMS ?= examples
synth: export TARGET ?= ice40
hil: export TARGET ?= sim://uart
others-rtl: export FROM ?=
test-changed: export BASE ?= origin/main
twins: export TWINS ?= 400
bench-datapath: export DATAPATH ?= build/DatapathBench
mutate-prover mutate-tests: export MUTANTS ?= 300
mutate-prover mutate-tests: export SEED ?= 0

RUN := .venv/bin/python -m dais_verif

# Run the verb $(1) on PROGRAM with the variables of $(2) that are set, and with ARGS split at spaces.
OPTION_SIM := --sim
OPTION_VECTORS := --vectors
OPTION_SEED := --seed
OPTION_TARGET := --target
OPTION_OUT := -o
given = $(foreach name,$(1),[ -z "$$$(name)" ] || set -- "$$@" $(OPTION_$(name)) "$$$(name)";)
define verb
@set -f; [ -n "$$PROGRAM" ] || echo "no PROGRAM given: using the shipped example $$EXAMPLE"; \
	set -- $(1); $(call given,$(2)) \
	$(RUN) "$$@" $$ARGS -- "$${PROGRAM:-$$EXAMPLE}"
endef

BUILT_FROM := pyproject.toml setup.py tools/setup.sh tools/constraints.txt $(wildcard dais_verif/golden/kernel/*)

.DEFAULT_GOAL := help
.PHONY: help setup setup-synth setup-bitstream setup-test sim regress prove hil synth signoff check test test-changed test-all recorded test-reworded test-interop test-debian12 test-debian13 lint docs examples keywords schemas troubleshooting bench-golden bench-sim bench-prove bench-coverage bench-datapath bench-products bench-machines blame bench-regress bench-kernels bench-bitstream soundness mutate-tests evidence mutate-prover kernel-faults bitstream-flips twins others-rtl prove-rtl screenshots clean distclean

help:  ## List the targets
	@echo "make sim PROGRAM=prog.bin [SIM=icarus|verilator|both|ghdl] [VECTORS=1000] [SEED=0] [OUT=folder]"
	@echo "make regress PROGRAMS='folder more/*.bin regress.toml' [SIM=...] [VECTORS=1000] [SEED=0] [OUT=folder]"
	@echo "make prove PROGRAM=prog.bin [OUT=folder]"
	@echo "make synth PROGRAM=prog.bin [TARGET=ice40|ecp5|xilinx|generic] [OUT=folder]"
	@echo "make signoff PROGRAM=prog.bin [OUT=folder]"
	@echo "make hil PROGRAM=prog.bin TARGET=serial:///dev/ttyUSB0?baud=115200|tcp://host:port|sim://uart [OUT=folder]"
	@echo "each takes any options of dais-verif in ARGS='--option value ...', for example make sim PROGRAM=prog.bin ARGS='--stages 3'"
	@echo
	@grep -hE '^[a-z0-9-]+:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-17s %s\n", $$1, $$2}'

setup: .venv/.ready  ## Install what is missing: a venv in .venv, Debian packages (sudo if not root), Verilator's runtime

setup-synth: .venv/.ready-synth  ## Also install what `make synth` needs

setup-bitstream: .venv/.ready-bitstream  ## Also install what builds and reads back bitstreams of iCE40 FPGAs

setup-test: .venv/.ready-test  ## Also install what the tests need

# The lock lets two terminals call this at once: one installs, and the other waits and finds everything installed.
.venv/.ready: $(BUILT_FROM)
	@flock .setup.lock sh tools/setup.sh run

.venv/.ready-synth: $(BUILT_FROM)
	@flock .setup.lock sh tools/setup.sh synth

.venv/.ready-bitstream: $(BUILT_FROM)
	@flock .setup.lock sh tools/setup.sh bitstream

.venv/.ready-test: $(BUILT_FROM)
	@flock .setup.lock sh tools/setup.sh test

.venv/.ready-docs: $(BUILT_FROM)
	@flock .setup.lock sh tools/setup.sh docs

sim: .venv/.ready  ## Simulate PROGRAM's Verilog in both simulators against the golden model
	$(call verb,sim,SIM VECTORS SEED OUT)

regress: .venv/.ready  ## Simulate all of PROGRAMS: folders, globs, manifests
	@set -f; set -- regress; $(call given,SIM VECTORS SEED OUT) \
	if [ -e "$$PROGRAMS" ]; then $(RUN) "$$@" $$ARGS -- "$$PROGRAMS"; else $(RUN) "$$@" $$ARGS -- $$PROGRAMS; fi

synth: .venv/.ready-synth  ## Report the FPGA resources of PROGRAM, by Yosys; with OUT also write its netlist, for sim --netlist
	$(call verb,synth,TARGET OUT)

hil: .venv/.ready  ## Run PROGRAM's vectors on the board at TARGET; without TARGET, on a simulated board
	$(call verb,hil,TARGET VECTORS SEED OUT)

prove: .venv/.ready  ## Prove for all inputs that PROGRAM's Verilog computes PROGRAM; third-party RTL with ARGS='--rtl a.v b.v'
	$(call verb,prove,OUT)

signoff: .venv/.ready  ## Run all stages that a policy requires of PROGRAM, and write a certificate into OUT
	$(call verb,signoff,OUT)

check: .venv/.ready  ## Read and check PROGRAM, and report what ranges prove about overflow
	$(call verb,check)

test: .venv/.ready-test  ## Run the fast tests, lint and types side by side; takes minutes on two cores
	.venv/bin/python tools/run_tests.py

test-changed: .venv/.ready-test  ## Run the fast tests of files whose imports reach what changed since BASE=origin/main, and lint
	.venv/bin/python tools/run_tests.py --changed "$$BASE"

test-all: .venv/.ready-test  ## Run all tests, with whole campaigns and a new, printed seed; resumes; ends with a summary of what ran
	.venv/bin/python tools/run_tests.py --all

recorded: .venv/.ready-test  ## Record the answers of commands and the messages of tests again, in tests/recorded
	PYTHONPATH=tests .venv/bin/python -m recorded.commands
	DAIS_TESTS=all .venv/bin/python -m pytest -n 2 --dist loadfile -q --record tests

test-reworded: .venv/.ready-test  ## Run the fast tests with all messages reworded; a test that fails depends on wording
	DAIS_TESTS_REWORD=1 .venv/bin/python -m pytest -n 2 --dist loadfile -q --tb=line -m "not slow" tests --ignore tests/recorded

test-interop: .venv/.ready-test  ## Run the tests with da4ml: its interpreters, its Verilog and VHDL, faults seeded in them; takes many minutes
	DAIS_TESTS=all .venv/bin/python -m pytest -n 2 --dist load tests/interop

# USERS: as whom; each gets a system of its own.
USERS ?= root user
test-debian12 test-debian13: export USERS ?=

test-debian12:  ## Run `make sim` and `make test` of the last commit in a fresh Debian 12, as USERS='root user'; needs root and debootstrap
	@tools/machine.sh test bookworm $$USERS

test-debian13:  ## The same in a fresh Debian 13
	@tools/machine.sh test trixie $$USERS

lint: .venv/.ready-test  ## Run ruff, mypy --strict, and codespell on prose
	.venv/bin/python tools/run_tests.py --lint

docs: .venv/.ready-docs  ## Build the documentation site in build/site, to be opened as files; a dead link is an error
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build  # --quiet would hide warnings, which strict mode counts as errors

examples: .venv/.ready  ## Regenerate the example programs
	.venv/bin/python examples/make_examples.py
	.venv/bin/python examples/make_machines.py
	.venv/bin/python examples/make_kernels.py

keywords: .venv/.ready  ## Regenerate the keyword arguments of functions from the options that requests declare
	PYTHONPATH=. .venv/bin/python tools/keywords.py
	.venv/bin/ruff format -q dais_verif/doors/api/keywords.pyi

schemas: .venv/.ready  ## Regenerate the JSON schemas of records from the dataclasses
	.venv/bin/python -m dais_verif.record.schema

troubleshooting: .venv/.ready  ## Regenerate docs/troubleshooting.md from the codes of errors and their texts
	.venv/bin/python -m dais_verif.doors.troubleshooting_page

bench-golden: .venv/.ready-test  ## Compare the golden engine with those of da4ml and alkaid, run alternately, against goals; writes build/bench-golden.md
	@mkdir -p build
	.venv/bin/python -m bench.golden -o build/bench-golden.md

bench-sim: .venv/.ready-test  ## Compare sim with da4ml's own flow, run alternately, against goals; writes build/bench-sim.md and plots in docs/developers
	@mkdir -p build
	.venv/bin/python -m bench.sim -o build/bench-sim.md

bench-prove: .venv/.ready-test  ## Time proofs of networks of up to 95,000 ops, twice, against goals; writes build/bench-prove.md and a plot in docs/developers
	@mkdir -p build
	.venv/bin/python -m bench.prove -o build/bench-prove.md

bench-datapath: .venv/.ready-test  ## Compare prove with bitwuzla on products and sums of DatapathBench (downloaded, MIT); DATAPATH=folder uses a local copy
	@test -d "$$DATAPATH" || git clone --depth 1 -- https://github.com/cowardsa/DatapathBench "$$DATAPATH"
	.venv/bin/python -m bench.datapath -- "$$DATAPATH"

bench-products: .venv/.ready-test  ## Prove netlists of 100 products of 12 by 12 bits and of their sums, for every target; needs Yosys and half an hour
	.venv/bin/python -m bench.products

bench-coverage: .venv/.ready-test  ## Measure the cost of coverage in sim, and what coverage finds; writes build/bench-coverage.md
	@mkdir -p build
	.venv/bin/python -m bench.coverage -o build/bench-coverage.md

bench-machines: .venv/.ready-test  ## Compare the golden model of machines with alkaid's emulator, run alternately, against a goal; writes build/bench-machines.md
	@mkdir -p build
	.venv/bin/python -m bench.machines -o build/bench-machines.md

blame: .venv/.ready-test  ## Plant 1,000 faults in RTL; how many are found at their line; takes about an hour
	.venv/bin/python -m bench.blame

bench-regress: .venv/.ready-test  ## Run 1,000 small random designs in both simulators by one regress, against a goal
	.venv/bin/python -m bench.regress

bench-kernels: .venv/.ready-test  ## Synthesize the first layer of p08 unrolled, as a stream and with memories; writes build/bench-kernels.md
	@mkdir -p build
	.venv/bin/python -m bench.kernels -o build/bench-kernels.md

bench-bitstream: .venv/.ready-test  ## Build the corpus as bitstreams, read them back, simulate and prove them; resumes; writes build/bench-bitstream.md
	.venv/bin/python -m bench.bitstreams -o build/bench-bitstream.jsonl

# Sizes of the campaigns: mutants of a program and of a pipeline, random clocked designs, and so on.
RTL_MUTANTS ?= 600
PIPELINE_MUTANTS ?= 230
CLOCKED ?= 2000
MODULES ?= 10000
ENTITIES ?= 2000
FAULTS ?= 2000
FLIPS ?= 1000

soundness: .venv/.ready-test  ## Compare prover and simulators on thousands of RTL mutants and random designs: MODULES=10000 RTL_MUTANTS=600 PIPELINE_MUTANTS=230 CLOCKED=2000 ENTITIES=2000; resumes; writes into build/
	PYTHONPATH=tests .venv/bin/python -m prove.soundness.campaign -o build/soundness.json --mutants $(RTL_MUTANTS)
	PYTHONPATH=tests .venv/bin/python -m prove.soundness.readings -o build/readings.jsonl --modules $(MODULES) --verilator-every 10 --yosys-every 20
	PYTHONPATH=tests .venv/bin/python -m prove.soundness.pipeline_campaign -o build/pipelines.json --mutants $(PIPELINE_MUTANTS)
	PYTHONPATH=tests .venv/bin/python -m prove.soundness.clocked -o build/clocked.json --designs $(CLOCKED)
	PYTHONPATH=tests .venv/bin/python -m prove.soundness.vhdl -o build/vhdl.json --entities $(ENTITIES)

kernel-faults: .venv/.ready-test  ## Count which faults in the mapping, control and block of ten kernels sim and prove find: FAULTS=2000; resumes; writes build/kernel-faults.md
	PYTHONPATH=tests .venv/bin/python -m prove.kernel_faults.campaign -o build/kernel-faults.jsonl --faults $(FAULTS)

bitstream-flips: .venv/.ready-test  ## Flip single bits of five bitstreams: each is found, proved to have no effect, or refused: FLIPS=1000; resumes; writes build/bitstream-flips.md
	PYTHONPATH=tests .venv/bin/python -m prove.bitstream_flips.campaign -o build/bitstream-flips.jsonl --flips $(FLIPS)

twins: .venv/.ready-test  ## Rewrite RTL without changing its meaning; it must still be proved: TWINS=400 for each of two programs
	.venv/bin/python -m pytest -q -m slow tests/prove/test_rewritings.py

mutate-prover: .venv/.ready-test  ## Mutate the prover's own code; a test must notice each mutant: MUTANTS=300 SEED=0; resumes; writes into build/
	PYTHONPATH=tests .venv/bin/python -W ignore -m prove.mutation.campaign -o build/mutate-prover.json --mutants "$$MUTANTS" --seed "$$SEED"

mutate-tests: .venv/.ready-test  ## Mutate the whole package; record which tests notice: MUTANTS=300 SEED=0; resumes; writes docs/developers/mutants.md
	PYTHONPATH=tests .venv/bin/python -W ignore tools/mutate_tests.py --mutants "$$MUTANTS" --seed "$$SEED"

# Sizes of the parts of the evidence. The part on solvers has a fixed size.
NETWORK_FAULTS ?= 10200
RANDOM_PROGRAMS ?= 1000000
FILES ?= 1000000
KILLS ?= 1000

evidence: .venv/.ready-test  ## Measure the whole tool as docs/developers/testing.md says, which takes hours: NETWORK_FAULTS=10200 RANDOM_PROGRAMS=1000000 FILES=1000000 KILLS=1000; resumes; writes build/evidence
	.venv/bin/python tools/evidence.py
	PYTHONPATH=tests .venv/bin/python -m quality.evidence.files --count $(FILES)
	PYTHONPATH=tests .venv/bin/python -m quality.evidence.kills --count $(KILLS)
	PYTHONPATH=tests .venv/bin/python -m quality.evidence.programs --count $(RANDOM_PROGRAMS)
	PYTHONPATH=tests .venv/bin/python -m quality.evidence.faults --count $(NETWORK_FAULTS)
	PYTHONPATH=tests .venv/bin/python -m quality.evidence.plot -o build/evidence/escapes.svg

# FROM: a folder with the repositories; without it they are downloaded. The target fails if a result is wrong or a module is refused.
others-rtl: .venv/.ready-test  ## Verify public third-party modules (downloaded) against our specifications, with seeded faults; writes build/others-rtl.md
	@set --; if [ -n "$$FROM" ]; then set -- --from "$$FROM"; fi; PYTHONPATH=tests .venv/bin/python -m others.campaign "$$@"

prove-rtl: .venv/.ready-test  ## Prove the hand-written RTL with Yosys and z3; writes logs and traces into build/prove-rtl
	.venv/bin/python tools/prove_rtl.py

screenshots: .venv/.ready-test  ## Retake the screenshots in docs/images
	DAIS_SCREENSHOTS=docs/images .venv/bin/python -m pytest tests/browser/test_screenshots.py

clean:  ## Remove the output of runs in this folder
	rm -rf build dais-verif-out dais-verif-regress .pytest_cache .mypy_cache .ruff_cache .hypothesis

distclean: clean  ## Also remove the venv
	rm -rf .venv .setup.lock dais_verif/golden/_kernel*.so
