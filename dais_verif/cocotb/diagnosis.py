"""The first mismatch of a bench as text: the output, the vector, the faulty op, and a command that reproduces it."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from rich.console import Console

from dais_verif.base.errors import InputError
from dais_verif.base.own_command import own_command
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.text import counted
from dais_verif.base.toolchain.rtl_files import data_files
from dais_verif.hardware.ports.discover import ports_in
from dais_verif.hardware.ports.interface import Dut
from dais_verif.record.simulation import Blame, Mismatch
from dais_verif.report.console import print_mismatch
from dais_verif.simulation.diagnosis.blame import blame_signals
from dais_verif.simulation.diagnosis.mismatch import describe, replay_in_simulators
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.task import SimulationOptions, SimulationWatcher, Task
from dais_verif.simulation.testbench.job import Difference
from dais_verif.simulation.testbench.pins import read_named
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch

__all__ = ["Rtl", "explain"]

_SIMULATORS = {"icarus": "icarus", "verilator": "verilator", "ghdl": "ghdl"}


@dataclass(frozen=True)
class Rtl:
    """The files of a design, with which a mismatch is replayed.

    ``ports``: a ports file, or its tables. ``words``: the options of ``dais-verif sim`` for the pins.
    """

    sources: tuple[Path, ...]
    top: str
    data: tuple[Path, ...] = ()
    ports: Path | Mapping[str, Any] | None = None
    words: tuple[str, ...] = ()


def explain(
    dut: Any,
    program: Program,
    interface: Dut,
    difference: Difference,
    vector: Batch,
    before: Batch | None,
    rtl: Rtl | None,
    output: Path | None,
) -> tuple[Mismatch, str]:
    """Return the mismatch in a row, and the text that describes it.

    ``vector``: the inputs of the row; ``before``: those of the previous row. With ``rtl``, both rows are replayed in a
    separate build, as ``dais-verif sim`` does. Without ``rtl``, the current signals of the design are read, if it is
    combinational.
    """
    name = next((known for begin, known in _SIMULATORS.items() if begin in cocotb.SIM_NAME.lower()), "icarus")
    folder = Path(tempfile.mkdtemp(prefix="dais-verif-")) if output is None else output.absolute()
    sources, top = ((), "model") if rtl is None else (rtl.sources, rtl.top)
    data = () if rtl is None else data_files(rtl.sources, rtl.data)
    task = Task(
        program,
        RtlDesign(tuple(path.absolute() for path in sources), top, data, dut=interface),
        folder,
        SimulationOptions(simulators=(name,)),
        SimulationWatcher(),
        Stopwatch(),
    )
    mismatch = describe(task, vector, name, difference)
    clocking = interface.interface.clocking
    lines = []
    if rtl is not None:
        folder.mkdir(parents=True, exist_ok=True)
        latency = None if clocking is None else clocking.latency
        mismatch, _ = replay_in_simulators(task, vector, before, difference, mismatch, latency)
        lines.append(_unknown_inputs(rtl, interface))
        lines.append(_reproduce(program, rtl, [vector] if before is None else [before, vector], folder))
    elif clocking is None:
        blame = blame_signals(
            program, interface, vector, mismatch.output, difference.found, lambda names: read_named(dut, names)[0]
        )
        mismatch = replace(mismatch, blame=blame)
    else:
        text = "the ops of a clocked design now hold later vectors: give its files as rtl to find the wrong op"
        mismatch = replace(mismatch, blame=Blame("unknown", text))
    out = io.StringIO()
    print_mismatch(mismatch, Console(file=out, width=120, color_system=None))
    return mismatch, "\n".join([out.getvalue().strip("\n"), *filter(None, lines)])


def _reproduce(program: Program, rtl: Rtl, rows: Sequence[Batch], folder: Path) -> str:
    """Return the command that runs ``rows`` again, or an empty string if no command can express it."""
    path = program.origin.path
    if not path:
        return ""
    values = Batch.concatenate(list(rows))
    doubles = np.array([[_double(value) for value in values.row(row)] for row in range(values.rows)], dtype=np.float64)
    file = folder / "vectors.npy"
    np.save(file, doubles)
    try:
        same = all(
            Fraction(float(doubles[row, j])) == values.value(row, j)
            for row in range(values.rows)
            for j in range(values.n_in)
        )
    except (InputError, OverflowError, ValueError):
        same = False
    if not same:
        return ""
    sources = [word for source in rtl.sources for word in ("--rtl", str(source.absolute()))]
    data = [word for source in rtl.data for word in ("--data", str(source.absolute()))]
    words = [
        "sim",
        str(Path(path).absolute()),
        *sources,
        *data,
        "--top",
        rtl.top,
        *_ports(rtl.ports, folder),
        *rtl.words,
    ]
    return f"reproduce  {own_command([*words, '--inputs', str(file)])}"


def _ports(ports: Path | Mapping[str, Any] | None, folder: Path) -> tuple[str, ...]:
    """Return the option for ``ports``; tables are written to a file in ``folder``, and the option names this file."""
    if ports is None:
        return ()
    if isinstance(ports, Mapping):
        # TOML's keys, basic strings, arrays and integers have the same form as in JSON.
        tables = (
            "".join([f"[{table}]\n", *(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in keys.items())])
            for table, keys in ports.items()
        )
        ports = folder / "ports.toml"
        ports.write_text("".join(tables), encoding="utf-8")
    return ("--ports", str(ports.absolute()))


def _unknown_inputs(rtl: Rtl, interface: Dut) -> str:
    """Return a line of text about inputs of the design that the scoreboard does not know; empty if there are none."""
    try:
        ports = ports_in(rtl.sources, rtl.top) or ()
    except (InputError, OSError):
        return ""
    known = interface.interface.ports
    unknown = [port.name for port in ports if port.direction == "in" and port.name not in known]
    if not unknown:
        return ""
    inputs = counted(len(unknown), "input")
    return (
        f"note       the scoreboard does not know {inputs} of {rtl.top}: {', '.join(unknown)}; name "
        "resets, enables and valid pins, and tie the others in ports, since the replay does not drive them"
    )


def _double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("nan")
