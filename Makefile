# Two commands do everything: `make sim PROGRAM=prog.bin` and `make test`. Each sets up what is missing by itself;
# once set up, nothing here touches the network.

PYTHON ?= python3
EXAMPLE := examples/quantised_mac.bin

# What is given on the command line is text, as it stands: make would expand $(shell ...) in it for the recipes.
$(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),\
  $(eval override $(name) := $$(value $(name)))))

export PYTHON

# Values go to the recipes through the environment, so spaces and quotes in paths need no care; and to these two
# only: other tools give names like SIM and WAVES a meaning of their own.
sim prove hil synth signoff check: export EXAMPLE := $(EXAMPLE)
sim prove hil synth signoff check: export PROGRAM ?=
sim regress: export SIM ?=
regress: export PROGRAMS ?= examples
regress: export VECTORS ?=
regress: export SEED ?=
regress: export SHARD ?=
regress: export CLUSTER ?=
regress: export JUNIT ?=
sim hil: export VECTORS ?= 1000
sim hil: export SEED ?= 0
sim hil: export INPUTS ?=
sim prove synth signoff: export RTL ?=
sim prove synth signoff: export TOP ?= model
sim: export DATA ?=
sim: export PORTS ?=
sim: export CLOCK ?=
sim: export LATENCY ?=
sim: export WAVES ?=
sim regress prove hil synth signoff: export OUT ?=
sim regress prove signoff: export JOBS ?=
sim: export EXHAUSTIVE ?=
sim: export PROFILE ?=
sim prove hil synth signoff: export LAYOUT ?=
prove regress: export TIMEOUT ?=
prove: export FRONT_END ?=
signoff: export POLICY ?=
signoff: export SIGN ?=
synth: export TARGET ?= ice40
sim prove synth: export STAGES ?=
hil: export TARGET ?=
hil regress: export RESUME ?=
others-rtl: export FROM ?=
mutate-prover: export MUTANTS ?= 300
mutate-prover: export SEED ?= 0

RUN := .venv/bin/python -m dais_verif
BUILT_FROM := pyproject.toml setup.py tools/setup.sh $(wildcard dais_verif/golden/kernel/*)

.DEFAULT_GOAL := help
.PHONY: help setup setup-synth setup-bitstream setup-test sim regress prove hil synth signoff check test test-interop test-all lint docs examples schemas supported-verilog map bench-golden bench-sim bench-prove bench-coverage bench-machines bench-bitstream soundness evidence mutate-prover kernel-faults bitstream-flips others-rtl prove-rtl screenshots clean distclean

help:  ## List the targets
	@echo "make sim PROGRAM=prog.bin [SIM=icarus|verilator|both|ghdl] [VECTORS=1000] [SEED=0] [INPUTS=x.npy]"
	@echo "         [RTL='a.v b.v' TOP=model DATA=folder PORTS=ports.toml CLOCK=clk LATENCY=n] [STAGES=n]"
	@echo "         [WAVES=1] [OUT=folder] [LAYOUT=v1|headerless|published] [JOBS=n] [EXHAUSTIVE=1] [PROFILE=1]"
	@echo "make regress PROGRAMS='folder more/*.bin regress.toml' [SIM=...] [SEED=0] [VECTORS=1000] [OUT=folder] [JOBS=n]"
	@echo "         [SHARD=2/5] [RESUME=1] [TIMEOUT=seconds] [CLUSTER=local:2|tcp://host:port|slurm:20|lsf:20] [JUNIT=file]"
	@echo "make prove PROGRAM=prog.bin [STAGES=n] [RTL='a.v b.v' TOP=model] [TIMEOUT=seconds]"
	@echo "         [FRONT_END=slang|yosys|both|available] [OUT=folder] [JOBS=n] [LAYOUT=...]"
	@echo "make synth PROGRAM=prog.bin [TARGET=ice40|ecp5|xilinx|generic] [STAGES=n] [RTL=theirs.v TOP=model]"
	@echo "         [OUT=folder] [LAYOUT=v1|headerless|published]"
	@echo "make signoff PROGRAM=prog.bin [POLICY=policy.toml] [RTL='a.v b.v' TOP=model] [SIGN=key] [OUT=folder] [JOBS=n] [LAYOUT=...]"
	@echo "make hil PROGRAM=prog.bin TARGET=serial:///dev/ttyUSB0?baud=115200|tcp://host:port|sim://uart"
	@echo "         [VECTORS=1000] [SEED=0] [INPUTS=x.npy] [OUT=folder] [RESUME=1] [LAYOUT=...]"
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
	@if [ -z "$$PROGRAM" ]; then echo "no PROGRAM given: running the shipped example $$EXAMPLE"; fi; \
	set -- sim --vectors "$$VECTORS" --seed "$$SEED" --top "$$TOP"; \
	if [ -n "$$SIM" ]; then set -- "$$@" --sim "$$SIM"; fi; \
	if [ -n "$$INPUTS" ]; then set -- "$$@" --inputs "$$INPUTS"; fi; \
	if [ -e "$$RTL" ]; then set -- "$$@" "--rtl=$$RTL"; else for file in $$RTL; do set -- "$$@" "--rtl=$$file"; done; fi; \
	if [ -n "$$DATA" ]; then set -- "$$@" --data "$$DATA"; fi; \
	if [ -n "$$PORTS" ]; then set -- "$$@" --ports "$$PORTS"; fi; \
	if [ -n "$$CLOCK" ]; then set -- "$$@" --clock "$$CLOCK"; fi; \
	if [ -n "$$LATENCY" ]; then set -- "$$@" --latency "$$LATENCY"; fi; \
	if [ -n "$$STAGES" ]; then set -- "$$@" --stages "$$STAGES"; fi; \
	if [ -n "$$LAYOUT" ]; then set -- "$$@" --layout "$$LAYOUT"; fi; \
	if [ -n "$$OUT" ]; then set -- "$$@" -o "$$OUT"; fi; \
	if [ -n "$$JOBS" ]; then set -- "$$@" --jobs "$$JOBS"; fi; \
	case "$$WAVES" in ""|0) ;; *) set -- "$$@" --waves;; esac; \
	case "$$EXHAUSTIVE" in ""|0) ;; *) set -- "$$@" --exhaustive;; esac; \
	case "$$PROFILE" in ""|0) ;; *) set -- "$$@" --profile;; esac; \
	$(RUN) "$$@" -- "$${PROGRAM:-$$EXAMPLE}"

regress: .venv/.ready  ## Simulate all of PROGRAMS: folders, globs, manifests; on this machine or a CLUSTER
	@set -f; set -- regress; \
	if [ -n "$$SIM" ]; then set -- "$$@" --sim "$$SIM"; fi; \
	if [ -n "$$SEED" ]; then set -- "$$@" --seed "$$SEED"; fi; \
	if [ -n "$$VECTORS" ]; then set -- "$$@" --vectors "$$VECTORS"; fi; \
	if [ -n "$$OUT" ]; then set -- "$$@" -o "$$OUT"; fi; \
	if [ -n "$$JOBS" ]; then set -- "$$@" --jobs "$$JOBS"; fi; \
	if [ -n "$$SHARD" ]; then set -- "$$@" --shard "$$SHARD"; fi; \
	if [ -n "$$TIMEOUT" ]; then set -- "$$@" --timeout "$$TIMEOUT"; fi; \
	if [ -n "$$CLUSTER" ]; then set -- "$$@" --cluster "$$CLUSTER"; fi; \
	if [ -n "$$JUNIT" ]; then set -- "$$@" --junit "$$JUNIT"; fi; \
	case "$$RESUME" in ""|0) ;; *) set -- "$$@" --resume;; esac; \
	if [ -e "$$PROGRAMS" ]; then set -- "$$@" -- "$$PROGRAMS"; else set -- "$$@" -- $$PROGRAMS; fi; \
	$(RUN) "$$@"

synth: .venv/.ready-synth  ## What PROGRAM costs on an FPGA, by Yosys; with OUT also its netlist, for sim --netlist
	@if [ -z "$$PROGRAM" ]; then echo "no PROGRAM given: taking the shipped example $$EXAMPLE"; fi; \
	set -- synth --target "$$TARGET" --top "$$TOP"; \
	if [ -n "$$STAGES" ]; then set -- "$$@" --stages "$$STAGES"; fi; \
	if [ -n "$$RTL" ]; then set -- "$$@" "--rtl=$$RTL"; fi; \
	if [ -n "$$LAYOUT" ]; then set -- "$$@" --layout "$$LAYOUT"; fi; \
	if [ -n "$$OUT" ]; then set -- "$$@" -o "$$OUT"; fi; \
	$(RUN) "$$@" -- "$${PROGRAM:-$$EXAMPLE}"

hil: .venv/.ready  ## Run PROGRAM's vectors on the board at TARGET; without TARGET on a board in simulation
	@if [ -z "$$PROGRAM" ]; then echo "no PROGRAM given: running the shipped example $$EXAMPLE"; fi; \
	if [ -z "$$TARGET" ]; then TARGET=sim://uart; echo "no TARGET given: running a board in simulation, $$TARGET"; fi; \
	set -- hil --target "$$TARGET" --vectors "$$VECTORS" --seed "$$SEED"; \
	if [ -n "$$INPUTS" ]; then set -- "$$@" --inputs "$$INPUTS"; fi; \
	if [ -n "$$LAYOUT" ]; then set -- "$$@" --layout "$$LAYOUT"; fi; \
	if [ -n "$$OUT" ]; then set -- "$$@" -o "$$OUT"; fi; \
	case "$$RESUME" in ""|0) ;; *) set -- "$$@" --resume;; esac; \
	$(RUN) "$$@" -- "$${PROGRAM:-$$EXAMPLE}"

prove: .venv/.ready  ## Prove for all inputs that PROGRAM's Verilog, or RTL, computes it
	@if [ -z "$$PROGRAM" ]; then echo "no PROGRAM given: proving the shipped example $$EXAMPLE"; fi; \
	set -- prove --top "$$TOP"; \
	if [ -n "$$LAYOUT" ]; then set -- "$$@" --layout "$$LAYOUT"; fi; \
	if [ -n "$$OUT" ]; then set -- "$$@" -o "$$OUT"; fi; \
	if [ -n "$$JOBS" ]; then set -- "$$@" --jobs "$$JOBS"; fi; \
	if [ -n "$$STAGES" ]; then set -- "$$@" --stages "$$STAGES"; fi; \
	if [ -n "$$TIMEOUT" ]; then set -- "$$@" --timeout "$$TIMEOUT"; fi; \
	if [ -n "$$FRONT_END" ]; then set -- "$$@" --front-end "$$FRONT_END"; fi; \
	if [ -e "$$RTL" ]; then set -- "$$@" "--rtl=$$RTL"; else for file in $$RTL; do set -- "$$@" "--rtl=$$file"; done; fi; \
	$(RUN) "$$@" -- "$${PROGRAM:-$$EXAMPLE}"

signoff: .venv/.ready  ## Run all that POLICY asks of PROGRAM, and write a certificate into OUT
	@if [ -z "$$PROGRAM" ]; then echo "no PROGRAM given: signing off the shipped example $$EXAMPLE"; fi; \
	set -- signoff; \
	if [ -n "$$POLICY" ]; then set -- "$$@" --policy "$$POLICY"; fi; \
	if [ -n "$$RTL" ]; then set -- "$$@" --top "$$TOP"; fi; \
	if [ -e "$$RTL" ]; then set -- "$$@" "--rtl=$$RTL"; else for file in $$RTL; do set -- "$$@" "--rtl=$$file"; done; fi; \
	if [ -n "$$SIGN" ]; then set -- "$$@" --sign "$$SIGN"; fi; \
	if [ -n "$$LAYOUT" ]; then set -- "$$@" --layout "$$LAYOUT"; fi; \
	if [ -n "$$OUT" ]; then set -- "$$@" -o "$$OUT"; fi; \
	if [ -n "$$JOBS" ]; then set -- "$$@" --jobs "$$JOBS"; fi; \
	$(RUN) "$$@" -- "$${PROGRAM:-$$EXAMPLE}"

check: .venv/.ready  ## Read and check PROGRAM; what ranges prove about overflow
	@$(RUN) check -- "$${PROGRAM:-$$EXAMPLE}"

test: .venv/.ready-test lint  ## The fast suite: minutes on two cores
	.venv/bin/python -m pytest -n 2 --dist loadscope -m "not slow" tests

test-interop: .venv/.ready-test  ## da4ml: its interpreters, its Verilog and VHDL of networks, faults seeded in them; many minutes
	.venv/bin/python -m pytest -n 2 --dist load tests/interop

test-all: .venv/.ready-test lint  ## Everything, long campaigns included
	.venv/bin/python -m pytest -n 2 --dist loadscope tests

lint: .venv/.ready-test  ## ruff and mypy --strict
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

mutate-prover: .venv/.ready-test  ## Random changes to the prover's own code: is each noticed by a test? MUTANTS=300 SEED=0; goes on where it was; build/
	PYTHONPATH=tests .venv/bin/python -W ignore -m prove.mutation.campaign -o build/mutate-prover.json --mutants "$$MUTANTS" --seed "$$SEED"

evidence: .venv/.ready-test  ## Prove the real programs and let bitwuzla and z3 decide every obligation as it is written; resumable; build/evidence
	.venv/bin/python tools/evidence.py

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
