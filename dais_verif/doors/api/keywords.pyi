"""Keyword arguments of functions, written by ``make keywords`` from the options that requests declare."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Literal, TypedDict

from dais_verif.golden import Engine

_Path = str | PathLike[str]

class ApplyConfiguration(TypedDict, total=False):
    """The options of ``apply_configuration``."""

    select: str | None
    """Configurations to apply, separated by commas: one machine, with an input that selects one."""
    form: str
    """Form of a network."""
    parallel: int
    """With --form memory: number of members of a stage computed in parallel."""
    at_once: Sequence[int] | None
    """With --form: compute all of this fused node in one member; may be repeated."""
    grid: int | None
    """Fractional bits of weights that a knob multiplies by 4/3.  [default: 2 more]."""
    knobs: _Path | None
    """Table of knobs (global_knobs.txt) instead of the built-in one."""

class BuildBitstream(TypedDict, total=False):
    """The options of ``build_bitstream``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    stages: int | None
    """Number of pipeline stages, which is the latency in clock edges; balanced by estimated delay."""
    max_depth: float | None
    """Largest estimated delay of a stage; uses as few stages as possible."""
    delay_model: _Path | None
    """TOML file with coefficients of the delay model."""
    reset: bool
    """Pipeline: add a synchronous reset rst that clears the valid bits."""
    enable: bool
    """Pipeline: add a clock enable en; while it is 0, every register keeps its value."""
    valid: bool
    """Pipeline: add ports in_valid and out_valid."""
    wrap: str | None
    """Connect pins to ports of the core (none), or to a link for hil. Default: none if there are enough pins, else
    uart."""
    cycles: int | None
    """With --wrap: cycles of a machine per vector. Default: 32."""
    pins: _Path | None
    """File with `set_io NAME PIN` for each bit of each port. Default: pins are assigned automatically."""
    clock: float | None
    """Clock frequency that timing must meet, in MHz. Default: 12 for clocked designs."""
    seed: int
    """Seed of the placement."""
    bram: bool | None
    """Put tables in block RAMs. Default: not for a bare program, so that it can be proved."""
    dsp: bool
    """Put products in DSPs (UP5K only)."""
    timeout: float
    """Time limit for each tool, in seconds."""
    memory: int
    """Memory limit for each process, in megabytes."""

class Check(TypedDict, total=False):
    """The options of ``check``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    everything: bool
    """List every affected op, not only the first 10."""
    proof: bool
    """Prove or refute possible overflow."""
    timeout: float
    """Time limit for each solver query, in seconds."""

class Convert(TypedDict, total=False):
    """The options of ``convert``."""

    to: str | None
    """Target format, if not the one that the suffix of OUTPUT selects."""
    layout: str | None
    """Layout of the binary; detected if not given."""

class ConvertConfigurations(TypedDict, total=False):
    """The options of ``convert_configurations``."""

    strict: bool
    """Also refuse questionable entries, such as fp16 with the number of fp32."""
    knobs: _Path | None
    """Table of knobs (global_knobs.txt) instead of the built-in one."""

class Cover(TypedDict, total=False):
    """The options of ``cover``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    vectors: int
    """Vectors to generate: corners, out-of-range, off-grid, random."""
    seed: int
    """Seed of the generated vectors."""
    inputs: Sequence[_Path] | _Path | None
    """Vectors from a file (.npy or CSV), applied before the generated ones."""
    directed: bool
    """Compute vectors for open bins from the program, and count them too."""
    unreachable: bool
    """Find out which bins no input can hit."""
    floor: float | None
    """Lowest accepted coverage, in percent; exit code 7 below it."""
    timeout: float
    """Time limit for the solver in total, in seconds; without it, results do not depend on the speed of the machine."""
    unchecked: bool
    """Continue after an overflow with the quantised value, as hardware does."""
    out_of_range: bool
    """Also use inputs beyond the intervals that da4ml's JSON declares."""
    jobs: int | None
    """Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."""
    output: _Path | None
    """Folder for coverage.json, open.csv, unreachable.csv, directed.csv."""

class Diff(TypedDict, total=False):
    """The options of ``diff``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    layout_b: str | None
    """Layout of B, if it is not that of A."""
    vectors: int
    """Vectors to generate: corners, out-of-range, off-grid, random."""
    seed: int
    """Seed of the generated vectors."""
    inputs: Sequence[_Path] | _Path | None
    """Vectors from a file (.npy or CSV), applied before the generated ones."""
    engine: Engine
    """Golden engine."""
    unchecked: bool
    """Continue after an overflow with the quantised value, as hardware does."""
    prove: bool
    """If no vector shows a difference, prove that there is none, or find one."""
    timeout: float
    """Time limit for each solver query, in seconds."""
    frame: _Path | None
    """If A is a machine: TOML file that maps elements and cycles of A to B."""
    output: _Path | None
    """File for a counterexample, if one is found: .npy, else CSV."""

class Emit(TypedDict, total=False):
    """The options of ``emit``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    top: str
    """Name of the module."""
    stages: int | None
    """Number of pipeline stages, which is the latency in clock edges; balanced by estimated delay."""
    max_depth: float | None
    """Largest estimated delay of a stage; uses as few stages as possible."""
    delay_model: _Path | None
    """TOML file with coefficients of the delay model."""
    reset: bool
    """Pipeline: add a synchronous reset rst that clears the valid bits."""
    enable: bool
    """Pipeline: add a clock enable en; while it is 0, every register keeps its value."""
    valid: bool
    """Pipeline: add ports in_valid and out_valid."""
    wrap: str | None
    """Also write the wrapper and all files of an FPGA project; -o names a folder."""
    axil: bool
    """With --wrap: add AXI4-Lite registers, counters and a self-check."""
    user_bits: int | None
    """With --wrap: width of TUSER in bits; 0 for none. Default: 1."""
    check_beats: int | None
    """With --axil: number of self-check vectors to compute the signature for. Default: 4096."""
    stream: _Path | None
    """With --wrap axis: TOML file that names the valid signals of a machine."""
    cycles: int | None
    """With --wrap uart, spi or fifo: cycles of a machine per vector. Default: 32."""
    period: float | None
    """With --wrap: clock period in ns, in the constraints. Default: 5."""
    form: str
    """Form of a network."""
    parallel: int
    """With --form memory: number of members of a stage computed in parallel."""
    at_once: Sequence[int] | None
    """With --form: compute all of this fused node in one member; may be repeated."""
    output: _Path | None
    """File to write; stdout if not given. --wrap: folder."""

class ExplainMachine(TypedDict, total=False):
    """The options of ``explain_machine``."""

    inputs: Sequence[_Path] | _Path | None
    """Vectors from a file (.npy or CSV), applied before the generated ones."""
    vectors: int
    """Vectors to generate: corners, out-of-range, off-grid, random."""
    seed: int
    """Seed of the generated vectors."""
    sequence: int
    """For a machine: the sequence to explain."""
    unchecked: bool
    """Continue after an overflow with the quantised value, as hardware does."""

class Fuzz(TypedDict, total=False):
    """The options of ``fuzz``."""

    kind: str
    """Kind of the generated cases."""
    time: float | None
    """How long: 90s, 10m, 2h.  [default: 60s]."""
    count: int | None
    """Number of cases; with --time, the limit that is reached first."""
    seed: int
    """Seed of the run; the seed of each case is derived from it."""
    pairs: Sequence[str] | str | None
    """Check only this pair; may be repeated."""
    against: str | None
    """An interpreter to compare with: a command with {program}, {inputs}, {outputs}; or da4ml, or alkaid."""
    rtl_from: str | None
    """A Verilog generator to check: a command with {program}, {folder}; or da4ml, or alkaid."""
    form: str | None
    """Format of the programs passed to the tool of --against or --rtl-from.  [default: v1]."""
    top: str
    """Name of the module."""
    timeout: float
    """Time limit for each run of the tool, in seconds."""
    replay: _Path | None
    """Check the kept cases in this folder again."""
    resume: bool
    """Continue after the last case of the run in the folder."""
    cluster: str | None
    """Check on Dask: local[:N], tls://host:port of a scheduler, slurm[:N] or lsf[:N]."""
    jobs: int | None
    """Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."""
    output: _Path
    """Folder for kept cases."""

class MeasureConfigurations(TypedDict, total=False):
    """The options of ``measure_configurations``."""

    budget: float | str | None
    """Choose the fastest with at most this loss; exit code 7 if there is none."""
    output: _Path | None
    """Folder for measured.txt: the file with measured columns."""
    bound: bool
    """Tighten bounds: search for large differences, then ask the solver."""
    timeout: float
    """Solver time limit for each output, in seconds."""
    target: str | None
    """Also synthesize each configuration for this target: cells and depth."""
    form: str
    """Form of a network."""
    parallel: int
    """With --form memory: number of members of a stage computed in parallel."""
    grid: int | None
    """Fractional bits of weights that a knob multiplies by 4/3.  [default: 2 more]."""
    knobs: _Path | None
    """Table of knobs (global_knobs.txt) instead of the built-in one."""
    jobs: int | None
    """Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."""

class Mutate(TypedDict, total=False):
    """The options of ``mutate``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    rtl: Sequence[_Path] | _Path | None
    """Verify this design: files of RTL (may be repeated), a project folder, a netlist (a folder of synth, or a file
    with --target), a bitstream (with --pins, or a folder of build), or a folder of emit --wrap axis."""
    data: Sequence[_Path] | _Path | None
    """File that the RTL reads in simulation ($readmemh), or a folder of such files. Files named in the RTL are found
    without this option if they are next to it or one folder below."""
    top: str | None
    """Name of the module."""
    parameters: Mapping[str, str | int] | None
    """Value of a parameter of the top module (Verilog only); may be repeated."""
    ports: _Path | None
    """TOML file that maps ports to inputs and outputs (docs/any-dut.md); options override its pins."""
    clock: str | None
    """Clock of a pipelined design, which takes one sample at every rising edge."""
    latency: int | Literal["auto"] | None
    """Rising edges from an input to its output; auto detects it."""
    reset: str | None
    """Reset of a clocked design, which drops vectors in flight; NAME:low if active low."""
    enable: str | None
    """Clock enable of a clocked design: at 0 all registers keep their values."""
    valid_in: str | None
    """Input pin that marks valid inputs."""
    valid_out: str | None
    """Output pin that marks valid outputs."""
    stages: int | None
    """Number of pipeline stages, which is the latency in clock edges; balanced by estimated delay."""
    max_depth: float | None
    """Largest estimated delay of a stage; uses as few stages as possible."""
    delay_model: _Path | None
    """TOML file with coefficients of the delay model."""
    target: str | None
    """Cell library of a netlist that is one file."""
    pins: _Path | None
    """Pins of a bitstream: a file with lines `set_io PORT PIN`."""
    device: str | None
    """Device of a bitstream, such as ice40-hx8k-ct256. Default: its largest package."""
    hints: _Path | None
    """For a bitstream: placed.json of build, with names of registers."""
    netlist: _Path | None
    """The same as rtl."""
    bitstream: _Path | None
    """The same as rtl."""
    count: int
    """Mutants."""
    judges: Sequence[str] | str | None
    """Judge of mutants; may be repeated.  [default: sim and prove]."""
    vectors: int
    """Vectors to generate: corners, out-of-range, off-grid, random."""
    seed: int
    """Seed of the generated vectors."""
    inputs: Sequence[_Path] | _Path | None
    """Vectors from a file (.npy or CSV), applied before the generated ones."""
    unchecked: bool
    """Continue after an overflow with the quantised value, as hardware does."""
    simulators: str
    """Simulator."""
    timeout: float
    """Minimum CPU time limit per proof, in seconds."""
    floor: float
    """The lowest accepted score, in percent; 0: any."""
    most_unknown: float | None
    """Largest accepted share of unknown mutants, in percent."""
    expected: _Path | None
    """TOML file that says which judge must kill which mutants."""
    add_vectors: _Path | None
    """Write the vectors that kill further mutants, as CSV."""
    jobs: int | None
    """Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."""

class Prove(TypedDict, total=False):
    """The options of ``prove``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    rtl: Sequence[_Path] | _Path | None
    """Verify this design: files of RTL (may be repeated), a project folder, a netlist (a folder of synth, or a file
    with --target), a bitstream (with --pins, or a folder of build), or a folder of emit --wrap axis."""
    data: Sequence[_Path] | _Path | None
    """File that the RTL reads in simulation ($readmemh), or a folder of such files. Files named in the RTL are found
    without this option if they are next to it or one folder below."""
    top: str | None
    """Name of the module."""
    parameters: Mapping[str, str | int] | None
    """Value of a parameter of the top module (Verilog only); may be repeated."""
    ports: _Path | None
    """TOML file that maps ports to inputs and outputs (docs/any-dut.md); options override its pins."""
    clock: str | None
    """Clock of a pipelined design, which takes one sample at every rising edge."""
    latency: int | Literal["auto"] | None
    """Rising edges from an input to its output; auto detects it."""
    reset: str | None
    """Reset of a clocked design, which drops vectors in flight; NAME:low if active low."""
    enable: str | None
    """Clock enable of a clocked design: at 0 all registers keep their values."""
    valid_in: str | None
    """Input pin that marks valid inputs."""
    valid_out: str | None
    """Output pin that marks valid outputs."""
    stages: int | None
    """Number of pipeline stages, which is the latency in clock edges; balanced by estimated delay."""
    max_depth: float | None
    """Largest estimated delay of a stage; uses as few stages as possible."""
    delay_model: _Path | None
    """TOML file with coefficients of the delay model."""
    target: str | None
    """Cell library of a netlist that is one file."""
    pins: _Path | None
    """Pins of a bitstream: a file with lines `set_io PORT PIN`."""
    device: str | None
    """Device of a bitstream, such as ice40-hx8k-ct256. Default: its largest package."""
    hints: _Path | None
    """For a bitstream: placed.json of build, with names of registers."""
    netlist: _Path | None
    """The same as rtl."""
    bitstream: _Path | None
    """The same as rtl."""
    front_end: str
    """Front end of the RTL; both: slang and Yosys must agree on every signal, and both readings are proved; available:
    both if Yosys is installed and can read the RTL, else slang."""
    unchecked: bool
    """Continue after an overflow with the quantised value, as hardware does."""
    out_of_range: bool
    """Prove also beyond the intervals that da4ml's JSON declares."""
    timeout: float
    """Time limit for each obligation, in seconds."""
    simulators: Sequence[str] | str | None
    """Simulator that replays a counterexample. Default: Icarus, and Verilator where that cannot build the RTL."""
    sample: float
    """Prove this share of the obligations, at least 8, a second time by the solver without rewriting; 0: none."""
    dump_smt: _Path | None
    """Write all obligations to this folder, as SMT-LIB 2."""
    cache: bool
    """Reuse proofs of earlier runs, and store new ones."""
    period: float | None
    """Clock period of a bitstream behind a link, in ns. Default: that of 12 MHz."""
    confirm: bool
    """After a proof of user RTL, also simulate it, since simulators share no code with the prover."""
    seed: int
    """Seed of the generated vectors."""
    suggest: _Path | None
    """Write a patch for wrong lines of your RTL to this file, if edits that were tried mend it; none is applied."""
    jobs: int | None
    """Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."""
    output: _Path | None
    """Folder to keep: result.json, RTL, counterexample, replay."""

class RankSensitivity(TypedDict, total=False):
    """The options of ``rank_sensitivity``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    bits: bool
    """Flip every bit of every op, not only the last one."""
    vectors: int
    """Vectors to generate: corners, out-of-range, off-grid, random."""
    seed: int
    """Seed of the generated vectors."""
    inputs: Sequence[_Path] | _Path | None
    """Vectors from a file (.npy or CSV), applied before the generated ones."""
    unchecked: bool
    """Continue after an overflow with the quantised value, as hardware does."""
    timeout: float
    """Seconds after which no more flips are started; the report then says which were left out."""
    output: _Path | None
    """File for all effects: .json, else CSV."""

class Regress(TypedDict, total=False):
    """The options of ``regress``."""

    simulators: Sequence[str] | str | None
    """Simulator; may be repeated. Default: both of Icarus and Verilator, or GHDL where the RTL is VHDL."""
    seeds: Sequence[int] | None
    """Seed; may be repeated.  [default: 0]."""
    seed_from: _Path | None
    """Use the seeds of an earlier run: its folder or regression.json."""
    fresh_seed: bool
    """Draw a random seed, which is printed and recorded."""
    vectors: int | None
    """Vectors to generate for each job.  [default: 1000]."""
    stages: Sequence[int] | None
    """Number of pipeline stages of the emitted RTL, 0: combinational; may be repeated. Manifests have a key for it."""
    jobs: int | None
    """Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."""
    shard: tuple[int, int] | None
    """Only share I of N (N machines)."""
    fail_fast: bool
    """Stop at the first failure."""
    resume: bool
    """Reuse the finished jobs of an interrupted run in the same folder."""
    rerun_failed: bool
    """Reuse only the jobs that passed there, and run the others again."""
    retries: int
    """Further attempts at a failed job; if results differ, it is flaky."""
    allow_flaky: bool
    """A flaky job passes if its last attempt did."""
    timeout: float | None
    """Time limit for each attempt, in seconds.  [default: 1800]."""
    cluster: str | None
    """Run on Dask: local[:N], tls://host:port of a scheduler, slurm[:N] or lsf[:N]."""
    output: _Path
    """Folder to keep: regression.json, journal.jsonl, and a folder for each job."""

class RunOnBoard(TypedDict, total=False):
    """The options of ``run_on_board``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    vectors: int
    """Vectors to generate: corners, out-of-range, off-grid, random."""
    seed: int
    """Seed of the generated vectors."""
    inputs: Sequence[_Path] | _Path | None
    """Vectors from a file (.npy or CSV), applied before the generated ones."""
    unchecked: bool
    """Continue after an overflow with the quantised value, as hardware does."""
    timeout: float
    """Seconds without an answer before the run is aborted."""
    resume: bool
    """Continue an interrupted run in the folder of -o."""
    blame: _Path | None
    """Folder of the build on the board: taps find out which op is wrong."""
    load: str | None
    """With --blame: the command that loads a bitstream, such as 'iceprog {bitstream}'."""
    output: _Path | None
    """Folder for result.json and the progress of the run."""

class ShowConfigurations(TypedDict, total=False):
    """The options of ``show_configurations``."""

    config: str | None
    """Only this configuration, node by node."""
    pareto: bool
    """Only configurations on the curve that HPVM's runtime keeps."""
    strict: bool
    """Also refuse questionable entries, such as fp16 with the number of fp32."""
    knobs: _Path | None
    """Table of knobs (global_knobs.txt) instead of the built-in one."""

class Shrink(TypedDict, total=False):
    """The options of ``shrink``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    rtl: Sequence[_Path] | _Path | None
    """Verify this design: files of RTL (may be repeated), a project folder, a netlist (a folder of synth, or a file
    with --target), a bitstream (with --pins, or a folder of build), or a folder of emit --wrap axis."""
    data: Sequence[_Path] | _Path | None
    """File that the RTL reads in simulation ($readmemh), or a folder of such files. Files named in the RTL are found
    without this option if they are next to it or one folder below."""
    top: str | None
    """Name of the module."""
    parameters: Mapping[str, str | int] | None
    """Value of a parameter of the top module (Verilog only); may be repeated."""
    ports: _Path | None
    """TOML file that maps ports to inputs and outputs (docs/any-dut.md); options override its pins."""
    clock: str | None
    """Clock of a pipelined design, which takes one sample at every rising edge."""
    latency: int | Literal["auto"] | None
    """Rising edges from an input to its output; auto detects it."""
    reset: str | None
    """Reset of a clocked design, which drops vectors in flight; NAME:low if active low."""
    enable: str | None
    """Clock enable of a clocked design: at 0 all registers keep their values."""
    valid_in: str | None
    """Input pin that marks valid inputs."""
    valid_out: str | None
    """Output pin that marks valid outputs."""
    command: str | None
    """The failing command (exit code not 0), with {program}, {inputs} and {rtl}."""
    vectors: int
    """Vectors to generate: corners, out-of-range, off-grid, random."""
    seed: int
    """Seed of the generated vectors."""
    inputs: Sequence[_Path] | _Path | None
    """Vectors from a file (.npy or CSV), applied before the generated ones."""
    time: float
    """Time limit of the whole run: 90s, 10m.  [default: 60s]."""
    timeout: float
    """Seconds for each run."""

class SignOff(TypedDict, total=False):
    """The options of ``sign_off``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    policy: _Path | None
    """TOML file with the requirements. Default: a built-in policy."""
    rtl: Sequence[_Path] | _Path | None
    """Verify this design: files of RTL (may be repeated), a project folder, a netlist (a folder of synth, or a file
    with --target), a bitstream (with --pins, or a folder of build), or a folder of emit --wrap axis."""
    data: Sequence[_Path] | _Path | None
    """File that the RTL reads in simulation ($readmemh), or a folder of such files. Files named in the RTL are found
    without this option if they are next to it or one folder below."""
    top: str | None
    """Name of the module."""
    parameters: Mapping[str, str | int] | None
    """Value of a parameter of the top module (Verilog only); may be repeated."""
    ports: _Path | None
    """TOML file that maps ports to inputs and outputs (docs/any-dut.md); options override its pins."""
    clock: str | None
    """Clock of a pipelined design, which takes one sample at every rising edge."""
    latency: int | Literal["auto"] | None
    """Rising edges from an input to its output; auto detects it."""
    reset: str | None
    """Reset of a clocked design, which drops vectors in flight; NAME:low if active low."""
    enable: str | None
    """Clock enable of a clocked design: at 0 all registers keep their values."""
    valid_in: str | None
    """Input pin that marks valid inputs."""
    valid_out: str | None
    """Output pin that marks valid outputs."""
    seed: int | None
    """Seed of the vectors, in place of the policy's seeds."""
    key: _Path | None
    """Sign the certificate with this Ed25519 key, as ssh-keygen writes it."""
    paranoid: bool
    """Compile Verilator's runtime for this run, even if one is installed."""
    jobs: int | None
    """Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."""
    output: _Path | None
    """Folder for certificate, record and evidence. Default: signoff-PROGRAM."""

class Simulate(TypedDict, total=False):
    """The options of ``simulate``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    rtl: Sequence[_Path] | _Path | None
    """Verify this design: files of RTL (may be repeated), a project folder, a netlist (a folder of synth, or a file
    with --target), a bitstream (with --pins, or a folder of build), or a folder of emit --wrap axis."""
    data: Sequence[_Path] | _Path | None
    """File that the RTL reads in simulation ($readmemh), or a folder of such files. Files named in the RTL are found
    without this option if they are next to it or one folder below."""
    top: str | None
    """Name of the module."""
    parameters: Mapping[str, str | int] | None
    """Value of a parameter of the top module (Verilog only); may be repeated."""
    ports: _Path | None
    """TOML file that maps ports to inputs and outputs (docs/any-dut.md); options override its pins."""
    clock: str | None
    """Clock of a pipelined design, which takes one sample at every rising edge."""
    latency: int | Literal["auto"] | None
    """Rising edges from an input to its output; auto detects it."""
    reset: str | None
    """Reset of a clocked design, which drops vectors in flight; NAME:low if active low."""
    enable: str | None
    """Clock enable of a clocked design: at 0 all registers keep their values."""
    valid_in: str | None
    """Input pin that marks valid inputs."""
    valid_out: str | None
    """Output pin that marks valid outputs."""
    stages: int | None
    """Number of pipeline stages, which is the latency in clock edges; balanced by estimated delay."""
    max_depth: float | None
    """Largest estimated delay of a stage; uses as few stages as possible."""
    delay_model: _Path | None
    """TOML file with coefficients of the delay model."""
    target: str | None
    """Cell library of a netlist that is one file."""
    pins: _Path | None
    """Pins of a bitstream: a file with lines `set_io PORT PIN`."""
    device: str | None
    """Device of a bitstream, such as ice40-hx8k-ct256. Default: its largest package."""
    hints: _Path | None
    """For a bitstream: placed.json of build, with names of registers."""
    netlist: _Path | None
    """The same as rtl."""
    bitstream: _Path | None
    """The same as rtl."""
    wrapped: _Path | None
    """The same as rtl."""
    simulators: Sequence[str] | str | None
    """Simulator. Default: both of Icarus and Verilator, or GHDL where the RTL is VHDL."""
    icarus_vectors: int | Literal["all"] | None
    """Number of vectors that Icarus also compares if both simulators run. Default: as many as it can while Verilator
    runs, at least 1000."""
    vectors: int
    """Vectors to generate: corners, out-of-range, off-grid, random."""
    seed: int
    """Seed of the generated vectors."""
    inputs: Sequence[_Path] | _Path | None
    """Vectors from a file (.npy or CSV), applied before the generated ones."""
    coverage: bool
    """Measure functional coverage, and add vectors for open bins."""
    rtl_coverage: bool
    """Measure line and toggle coverage of the RTL in Verilator."""
    unchecked: bool
    """Continue after an overflow with the quantised value, as hardware does."""
    printf: bool
    """Also compare the messages that members of a kernel print."""
    out_of_range: bool
    """Also generate inputs beyond intervals that da4ml's JSON declares."""
    waves: bool
    """Record waves (Icarus FST, others VCD); needs -o or uses dais-verif-out."""
    bulk: bool
    """Run vectors outside cocotb if the simulator can; the first 256 go through the ports in any case."""
    conditions: bool
    """Add vectors for both sides of the conditions in user RTL, found in at most about 2 s."""
    exhaustive: bool
    """Check every output that depends on few enough input bits exhaustively, however long it takes."""
    exhaustive_bits: int
    """Largest number of input bits to exhaust; 0: sample only."""
    suggest: _Path | None
    """Write a patch for wrong lines of your RTL to this file, if edits that were tried mend it; none is applied."""
    jobs: int | None
    """Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."""
    timeout: float | None
    """Time limit for each build and each run, in seconds."""
    output: _Path | None
    """Folder to keep: result.json, RTL, vectors, logs, waves."""

class Synthesize(TypedDict, total=False):
    """The options of ``synthesize``."""

    layout: str | None
    """Layout of the binary; detected if not given."""
    rtl: Sequence[_Path] | _Path | None
    """Synthesize this RTL or project folder; may be repeated."""
    top: str | None
    """Name of the module."""
    stages: int | None
    """Number of pipeline stages, which is the latency in clock edges; balanced by estimated delay."""
    max_depth: float | None
    """Largest estimated delay of a stage; uses as few stages as possible."""
    delay_model: _Path | None
    """TOML file with coefficients of the delay model."""
    reset: bool
    """Pipeline: add a synchronous reset rst that clears the valid bits."""
    enable: bool
    """Pipeline: add a clock enable en; while it is 0, every register keeps its value."""
    valid: bool
    """Pipeline: add ports in_valid and out_valid."""
    alumacc: bool
    """Let Yosys merge chains of sums; the pass that does this miscompiles a - (-x) (docs/netlists.md)."""
    bram: bool
    """Let Yosys put tables of pipelines in block RAMs."""
    pnr: bool
    """Also place and route with nextpnr, to find the maximum clock frequency."""
    clock: str
    """With --pnr: the clock of clocked RTL."""
    timeout: float
    """Time limit for Yosys and for nextpnr, in seconds each."""
    memory: int
    """Memory limit for each process (Yosys, its ABC, nextpnr), in megabytes."""
    output: _Path | None
    """Folder to keep: netlist.v, synth.json, RTL, script, log."""

class TuneConfigurations(TypedDict, total=False):
    """The options of ``tune_configurations``."""

    budget: float | str
    """The largest loss that is allowed."""
    tries: int
    """Largest number of configurations to measure."""
    half: bool
    """Also let convolutions compute in half precision."""
    resume: bool
    """Continue an earlier search from its measurements: OUTPUT.tried.json."""
    random: bool
    """Draw configurations at random instead, as a baseline for the search."""
    cluster: str | None
    """Measure on Dask: local[:N], tls://host:port of a scheduler, slurm[:N] or lsf[:N]."""
    seed: int
    """Seed of the generated vectors."""
    grid: int | None
    """Fractional bits of weights that a knob multiplies by 4/3.  [default: 2 more]."""
    jobs: int | None
    """Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."""

class VerifyCertificate(TypedDict, total=False):
    """The options of ``verify_certificate``."""

    program: _Path | None
    """The program, if it was moved."""
    rtl: Sequence[_Path] | _Path | None
    """RTL and its data, if moved: files, or folders with all of it and no other HDL."""
    policy: _Path | None
    """TOML file: the certificate's policy must demand at least as much as this one."""
    bitstream: _Path | None
    """Bitstream to be loaded: it must configure the signed-off hardware."""
    allowed_signers: _Path | None
    """Allowed signers file, as for ssh-keygen; requires a signature."""
    verify_time: datetime | None
    """Time of the signature, from a trusted source: 20270131120000Z. Default: now."""
    same_tools: bool
    """Require the tool versions that the certificate was made with."""
    rerun: bool
    """Sign off again by the same policy, and compare the findings."""
    paranoid: bool
    """Compile Verilator's runtime for this run, even if one is installed."""
    jobs: int | None
    """Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."""
