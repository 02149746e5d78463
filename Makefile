# Two commands do everything: `make sim PROGRAM=prog.bin` and `make test`. Each sets up what is missing by itself;
# once set up, nothing here touches the network.

PYTHON ?= python3
EXAMPLE := examples/quantised_mac.bin

# The variables that mean something here; any other on the command line is a mistake, and would be passed over in silence.
KNOWN := PYTHON PROGRAM PROGRAMS SIM VECTORS SEED OUT TARGET ARGS \
  FROM MUTANTS MODULES RTL_MUTANTS PIPELINE_MUTANTS CLOCKED DATAPATH FAULTS FLIPS TWINS \
  NETWORK_FAULTS RANDOM_PROGRAMS FILES KILLS

# What is given on the command line is text, as it stands: make would expand $(shell ...) in it for the recipes.
$(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),\
  $(if $(filter $(name),$(KNOWN)),,$(error there is no variable $(name): give options of dais-verif as ARGS="--option value"))\
  $(eval override $(name) := $$(value $(name)))))

export PYTHON

# Values go to the recipes through the environment, so spaces and quotes in paths need no care; and to these two
# only: other tools give names like SIM and WAVES a meaning of their own.
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
twins: export TWINS ?= 400
bench-datapath: export DATAPATH ?= build/DatapathBench
mutate-prover: export MUTANTS ?= 300
mutate-prover: export SEED ?= 0

RUN := .venv/bin/python -m dais_verif

# Runs the verb $(1) on PROGRAM, with those of the variables $(2) that are given, and ARGS, split at blanks.
OPTION_SIM := --sim
OPTION_VECTORS := --vectors
OPTION_SEED := --seed
OPTION_TARGET := --target
OPTION_OUT := -o
given = $(foreach name,$(1),[ -z "$$$(name)" ] || set -- "$$@" $(OPTION_$(name)) "$$$(name)";)
define verb
@set -f; [ -n "$$PROGRAM" ] || echo "no PROGRAM given: taking the shipped example $$EXAMPLE"; \
	set -- $(1); $(call given,$(2)) \
	$(RUN) "$$@" $$ARGS -- "$${PROGRAM:-$$EXAMPLE}"
endef

BUILT_FROM := pyproject.toml setup.py tools/setup.sh $(wildcard dais_verif/golden/kernel/*)

.DEFAULT_GOAL := help
.PHONY: help setup setup-synth setup-bitstream setup-test sim regress prove hil synth signoff check test test-interop test-all lint docs examples schemas supported-verilog map bench-golden bench-sim bench-prove bench-coverage bench-datapath bench-products bench-machines bench-bitstream soundness evidence mutate-prover kernel-faults bitstream-flips twins others-rtl prove-rtl screenshots clean distclean

help:  ## List the targets
	@echo "make sim PROGRAM=prog.bin [SIM=icarus|verilator|both|ghdl] [VECTORS=1000] [SEED=0] [OUT=folder]"
	@echo "make regress PROGRAMS='folder more/*.bin regress.toml' [SIM=...] [VECTORS=1000] [SEED=0] [OUT=folder]"
	@echo "make prove PROGRAM=prog.bin [OUT=folder]"
	@echo "make synth PROGRAM=prog.bin [TARGET=ice40|ecp5|xilinx|generic] [OUT=folder]"
	@echo "make signoff PROGRAM=prog.bin [OUT=folder]"
	@echo "make hil PROGRAM=prog.bin TARGET=serial:///dev/ttyUSB0?baud=115200|tcp://host:port|sim://uart [OUT=folder]"
	@echo "each with ARGS='--option value ...', any options of dais-verif: make sim PROGRAM=prog.bin ARGS='--stages 3'"
	@echo
	@grep -hE '^[a-z-]+:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: .venv/.ready  ## Install what is missing: a venv in .venv, Debian packages (sudo if not root), Verilator's runtime

setup-synth: .venv/.ready-synth  ## The same, with what `make synth` needs

setup-bitstream: .venv/.ready-bitstream  ## The same, with what builds bitstreams of iCE40 FPGAs and reads them back

setup-test: .venv/.ready-test  ## The same, with what the tests need

# Two terminals may call this at once: the lock lets one work and the other find it done.
.venv/.ready: $(BUILT_FROM)
	@flock .setup.lock sh tools/setup.sh run

.venv/.ready-synth: $(BUILT_FROM)
	@flock .setup.lock sh tools/setup.sh synth

.venv/.ready-bitstream: $(BUILT_FROM)
	@flock .setup.lock sh tools/setup.sh bitstream

.venv/.ready-test: $(BUILT_FROM)
	@flock .setup.lock sh tools/setup.sh test

sim: .venv/.ready  ## Simulate PROGRAM's Verilog in both simulators against the golden model
	$(call verb,sim,SIM VECTORS SEED OUT)

regress: .venv/.ready  ## Simulate all of PROGRAMS: folders, globs, manifests
	@set -f; set -- regress; $(call given,SIM VECTORS SEED OUT) \
	if [ -e "$$PROGRAMS" ]; then $(RUN) "$$@" $$ARGS -- "$$PROGRAMS"; else $(RUN) "$$@" $$ARGS -- $$PROGRAMS; fi

synth: .venv/.ready-synth  ## What PROGRAM costs on an FPGA, by Yosys; with OUT also its netlist, for sim --netlist
	$(call verb,synth,TARGET OUT)

hil: .venv/.ready  ## Run PROGRAM's vectors on the board at TARGET; without TARGET on a board in simulation
	$(call verb,hil,TARGET VECTORS SEED OUT)

prove: .venv/.ready  ## Prove for all inputs that PROGRAM's Verilog computes it; that of others with ARGS='--rtl a.v b.v'
	$(call verb,prove,OUT)

signoff: .venv/.ready  ## Run all that a policy asks of PROGRAM, and write a certificate into OUT
	$(call verb,signoff,OUT)

check: .venv/.ready  ## Read and check PROGRAM; what ranges prove about overflow
	$(call verb,check)

test: .venv/.ready-test lint  ## The fast suite: minutes on two cores
	.venv/bin/python -m pytest -n 2 --dist loadscope -m "not slow" tests

test-interop: .venv/.ready-test  ## da4ml: its interpreters, its Verilog and VHDL of networks, faults seeded in them; many minutes
	.venv/bin/python -m pytest -n 2 --dist load tests/interop

test-all: .venv/.ready-test lint  ## Everything, long campaigns included
	.venv/bin/python -m pytest -n 2 --dist loadscope tests

# What codespell reads: pages and the package. tools/vocabulary.txt holds words that we write otherwise.
PROSE := README.md CONTRIBUTING.md docs examples dais_verif

lint: .venv/.ready-test  ## ruff, mypy --strict, and codespell on what users read
	.venv/bin/codespell -D - -D tools/vocabulary.txt $(PROSE)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

docs: .venv/.ready-test  ## The documentation as a site in build/site, to be opened from there; a dead link is an error
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build  # --quiet would hide the warnings that strict counts

examples: .venv/.ready  ## Make the example programs again
	.venv/bin/python examples/make_examples.py
	.venv/bin/python examples/make_machines.py
	.venv/bin/python examples/make_kernels.py

schemas: .venv/.ready  ## Write the JSON schemas of records again, from the dataclasses
	.venv/bin/python -m dais_verif.record.schema

supported-verilog: .venv/.ready  ## Write docs/supported-verilog.md again, from the tables that prove follows
	.venv/bin/python -m dais_verif.prover.slang.kinds.page

map: .venv/.ready  ## Write docs/map.md again, from the docstrings of packages and modules
	.venv/bin/python tools/map.py

bench-golden: .venv/.ready-test  ## Our golden engine, da4ml's and alkaid's in turns, held to goals; writes build/bench-golden.md
	@mkdir -p build
	.venv/bin/python -m bench.golden -o build/bench-golden.md

bench-sim: .venv/.ready-test  ## sim and da4ml's own flow side by side, held to goals; writes build/bench-sim.md, plots into docs
	@mkdir -p build
	.venv/bin/python -m bench.sim -o build/bench-sim.md

bench-prove: .venv/.ready-test  ## prove of networks up to 95,000 ops, twice, held to goals; writes build/bench-prove.md, a plot into docs
	@mkdir -p build
	.venv/bin/python -m bench.prove -o build/bench-prove.md

bench-datapath: .venv/.ready-test  ## Products and sums of DatapathBench (fetched, MIT), ours and bitwuzla's proof of each; DATAPATH=folder takes one that is here
	@test -d "$$DATAPATH" || git clone --depth 1 -- https://github.com/cowardsa/DatapathBench "$$DATAPATH"
	.venv/bin/python -m bench.datapath -- "$$DATAPATH"

bench-products: .venv/.ready-test  ## Netlists of 100 products of 12 by 12 bits for every target, and of their sums, proved; needs Yosys, half an hour
	.venv/bin/python -m bench.products

bench-coverage: .venv/.ready-test  ## What counting coverage costs beside sim, and what it finds; writes build/bench-coverage.md
	@mkdir -p build
	.venv/bin/python -m bench.coverage -o build/bench-coverage.md

bench-machines: .venv/.ready-test  ## The golden model of machines and alkaid's emulator in turns, held to a goal; writes build/bench-machines.md
	@mkdir -p build
	.venv/bin/python -m bench.machines -o build/bench-machines.md

bench-kernels: .venv/.ready-test  ## The first layer of p08 unrolled, as a stream and with memories, synthesized; writes build/bench-kernels.md
	@mkdir -p build
	.venv/bin/python -m bench.kernels -o build/bench-kernels.md

bench-bitstream: .venv/.ready-test  ## The corpus as bitstreams, built, read back, simulated and proved; goes on where it was; writes build/bench-bitstream.md
	.venv/bin/python -m bench.bitstreams -o build/bench-bitstream.jsonl

# Sizes of the campaigns: mutants of a program and of a pipeline, random clocked designs.
RTL_MUTANTS ?= 600
PIPELINE_MUTANTS ?= 230
CLOCKED ?= 2000
MODULES ?= 10000
FAULTS ?= 2000
FLIPS ?= 1000

soundness: .venv/.ready-test  ## Thousands of mutants of RTL and random designs, held to prover and simulators: MODULES=10000 RTL_MUTANTS=600 PIPELINE_MUTANTS=230 CLOCKED=2000; goes on where it was; build/
	PYTHONPATH=tests .venv/bin/python -m prove.soundness.campaign -o build/soundness.json --mutants $(RTL_MUTANTS)
	PYTHONPATH=tests .venv/bin/python -m prove.soundness.readings -o build/readings.jsonl --modules $(MODULES) --verilator-every 10 --yosys-every 20
	PYTHONPATH=tests .venv/bin/python -m prove.soundness.pipeline_campaign -o build/pipelines.json --mutants $(PIPELINE_MUTANTS)
	PYTHONPATH=tests .venv/bin/python -m prove.soundness.clocked -o build/clocked.json --designs $(CLOCKED)

kernel-faults: .venv/.ready-test  ## Faults in mapping, control and block of ten kernels: what sim's driving finds, what prove finds: FAULTS=2000; goes on where it was; build/kernel-faults.md
	PYTHONPATH=tests .venv/bin/python -m prove.kernel_faults.campaign -o build/kernel-faults.jsonl --faults $(FAULTS)

bitstream-flips: .venv/.ready-test  ## Single bits of five bitstreams turned over: found, proved to be without effect, or refused? FLIPS=1000; goes on where it was; build/bitstream-flips.md
	PYTHONPATH=tests .venv/bin/python -m prove.bitstream_flips.campaign -o build/bitstream-flips.jsonl --flips $(FLIPS)

twins: .venv/.ready-test  ## RTL rewritten without a change of its meaning must stay proved: TWINS=400, of each of two programs
	.venv/bin/python -m pytest -q -m slow tests/prove/test_rewritings.py

mutate-prover: .venv/.ready-test  ## Random changes to the prover's own code: is each noticed by a test? MUTANTS=300 SEED=0; goes on where it was; build/
	PYTHONPATH=tests .venv/bin/python -W ignore -m prove.mutation.campaign -o build/mutate-prover.json --mutants "$$MUTANTS" --seed "$$SEED"

# Sizes of the parts of the evidence; that of solvers has none.
NETWORK_FAULTS ?= 10200
RANDOM_PROGRAMS ?= 1000000
FILES ?= 1000000
KILLS ?= 1000

evidence: .venv/.ready-test  ## All of docs/evidence.md, hours: NETWORK_FAULTS=10200 RANDOM_PROGRAMS=1000000 FILES=1000000 KILLS=1000; goes on where it was; build/evidence
	.venv/bin/python tools/evidence.py
	PYTHONPATH=tests .venv/bin/python -m quality.evidence.files --count $(FILES)
	PYTHONPATH=tests .venv/bin/python -m quality.evidence.kills --count $(KILLS)
	PYTHONPATH=tests .venv/bin/python -m quality.evidence.programs --count $(RANDOM_PROGRAMS)
	PYTHONPATH=tests .venv/bin/python -m quality.evidence.faults --count $(NETWORK_FAULTS)
	PYTHONPATH=tests .venv/bin/python -m quality.evidence.plot -o build/evidence/escapes.svg

# FROM: a folder with the repositories; without it they are fetched. Fails if anything is wrong, or is not read.
others-rtl: .venv/.ready-test  ## Public modules of others, fetched, against specifications of ours, with seeded faults; build/others-rtl.md
	@set --; if [ -n "$$FROM" ]; then set -- --from "$$FROM"; fi; PYTHONPATH=tests .venv/bin/python -m others.campaign "$$@"

prove-rtl: .venv/.ready-test  ## Prove the hand-written RTL with Yosys and z3; logs and traces in build/prove-rtl
	.venv/bin/python tools/prove_rtl.py

screenshots: .venv/.ready-test  ## Take the pictures of docs/images again
	DAIS_SCREENSHOTS=docs/images .venv/bin/python -m pytest tests/browser/test_screenshots.py

clean:  ## Remove what runs leave in this folder
	rm -rf build dais-verif-out dais-verif-regress .pytest_cache .mypy_cache .ruff_cache .hypothesis

distclean: clean  ## Also remove the venv
	rm -rf .venv .setup.lock dais_verif/golden/_kernel*.so
