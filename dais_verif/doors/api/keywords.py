"""Keyword arguments of functions, written by ``make keywords`` from the options that requests declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Final, Literal, TypedDict

__all__ = ["PROVE", "ProveOptions", "SIMULATE", "SimulateOptions"]

_Path = str | PathLike[str]


class ProveOptions(TypedDict, total=False):
    """The options of ``dais-verif prove``, as keyword arguments."""

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
    layout: str | None
    """Layout of the binary; detected if not given."""
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
    jobs: int | None
    """Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."""
    output: _Path | None
    """Folder to keep: result.json, RTL, counterexample, replay."""


#: The defaults of ``ProveOptions``.
PROVE: Final[Mapping[str, Any]] = {
    "rtl": None,
    "data": None,
    "top": None,
    "parameters": None,
    "ports": None,
    "clock": None,
    "latency": None,
    "reset": None,
    "enable": None,
    "valid_in": None,
    "valid_out": None,
    "stages": None,
    "max_depth": None,
    "delay_model": None,
    "target": None,
    "pins": None,
    "device": None,
    "hints": None,
    "netlist": None,
    "bitstream": None,
    "layout": None,
    "front_end": "slang",
    "unchecked": False,
    "out_of_range": False,
    "timeout": 20.0,
    "simulators": None,
    "sample": 1.0,
    "dump_smt": None,
    "cache": True,
    "period": None,
    "confirm": True,
    "seed": 0,
    "jobs": None,
    "output": None,
}


class SimulateOptions(TypedDict, total=False):
    """The options of ``dais-verif sim``, as keyword arguments."""

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
    layout: str | None
    """Layout of the binary; detected if not given."""
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
    jobs: int | None
    """Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."""
    timeout: float | None
    """Time limit for each build and each run, in seconds."""
    output: _Path | None
    """Folder to keep: result.json, RTL, vectors, logs, waves."""


#: The defaults of ``SimulateOptions``.
SIMULATE: Final[Mapping[str, Any]] = {
    "rtl": None,
    "data": None,
    "top": None,
    "parameters": None,
    "ports": None,
    "clock": None,
    "latency": None,
    "reset": None,
    "enable": None,
    "valid_in": None,
    "valid_out": None,
    "stages": None,
    "max_depth": None,
    "delay_model": None,
    "target": None,
    "pins": None,
    "device": None,
    "hints": None,
    "netlist": None,
    "bitstream": None,
    "wrapped": None,
    "layout": None,
    "simulators": None,
    "icarus_vectors": None,
    "vectors": 1000,
    "seed": 0,
    "inputs": None,
    "coverage": False,
    "rtl_coverage": False,
    "unchecked": False,
    "printf": False,
    "out_of_range": False,
    "waves": False,
    "bulk": True,
    "conditions": True,
    "exhaustive": False,
    "exhaustive_bits": 24,
    "jobs": None,
    "timeout": None,
    "output": None,
}
