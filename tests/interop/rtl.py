"""RTL that da4ml writes, and the verdicts of ``dais-verif sim`` and ``dais-verif prove`` on it."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from dais_verif.doors.cli import main

__all__ = ["Rtl", "Verdict", "prove", "sim", "write"]

TOP = "model"


@dataclass(frozen=True)
class Rtl:
    """Files that da4ml wrote: a program as JSON, and RTL. ``latency``: rising edges, None without a clock."""

    program: Path
    sources: tuple[Path, ...]
    latency: int | None = None

    def edited(self, folder: Path, name: str, old: str, new: str) -> Rtl:
        """Return a copy in ``folder`` in which ``new`` replaces ``old``, which occurs once in the source ``name``."""
        folder.mkdir(parents=True, exist_ok=True)
        copies = []
        for source in self.sources:
            text = source.read_text()
            if source.name == name:
                assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {name}: choose another bug"
                text = text.replace(old, new)
            copies.append(folder / source.name)
            copies[-1].write_text(text)
        for table in self.sources[0].parent.glob("memfiles/*"):
            (folder / table.name).write_bytes(table.read_bytes())
        return replace(self, sources=tuple(copies))


def write(logic: Any, folder: Path, flavor: str = "verilog", *, cutoff: float = -1, layers: int = 1) -> Rtl:
    """Write the RTL of da4ml's ``logic``; a pipeline if ``cutoff`` is positive, with ``layers`` registers per stage."""
    from da4ml.codegen import VerilogModel, VHDLModel

    writer = VerilogModel if flavor == "verilog" else VHDLModel
    model = writer(logic, TOP, folder, latency_cutoff=cutoff, register_layers=layers, print_latency=False)
    model.write()
    program = folder / "program.json"
    logic.save(program)
    suffix = "v" if flavor == "verilog" else "vhd"
    own = [path for path in sorted((folder / "src").glob(f"*.{suffix}")) if not path.stem.endswith("_wrapper")]
    sources = (*own, *sorted((folder / "src" / "static").glob(f"*.{suffix}")))
    if cutoff <= 0:
        return Rtl(program, sources)
    stages = json.loads((folder / "metadata.json").read_text())["latency"]
    return Rtl(program, sources, stages * layers + 1)


class Verdict(NamedTuple):
    """The result of ``sim`` or ``prove``. ``record`` is the record that ``--json`` printed."""

    verdict: str
    exit_code: int
    record: dict[str, Any]

    @property
    def ending(self) -> tuple[str, int]:
        """Return the verdict and the exit code."""
        return self.verdict, self.exit_code

    @property
    def mismatch(self) -> dict[str, Any]:
        """Return the first mismatch."""
        found: dict[str, Any] = self.record["first_mismatch"]
        return found

    @property
    def blame(self) -> dict[str, Any]:
        """Return the blame of the first mismatch."""
        found: dict[str, Any] = self.mismatch["blame"]
        return found


def sim(rtl: Rtl, folder: Path, *options: str, latency: str | None = "auto") -> Verdict:
    """Run ``dais-verif sim`` on ``rtl``, without an exhaustive pass unless ``options`` have ``--exhaustive...``.

    ``latency``: the option for a design that has a clock; None leaves it out.
    """
    arguments = ["sim", str(rtl.program), "--json", "-o", str(folder / "out")]
    if rtl.latency is not None:
        arguments += ["--clock", "clk"]
        arguments += ["--latency", latency] if latency else []
    if not any(option.startswith("--exhaustive") for option in options):
        arguments += ["--exhaustive-bits", "0"]
    return _run([*arguments, *options, "--rtl", *map(str, rtl.sources)])


def prove(rtl: Rtl, folder: Path, *options: str) -> Verdict:
    """Run ``dais-verif prove`` on ``rtl``, with its latency if it has one and without confirming by simulation."""
    arguments = [
        "prove",
        str(rtl.program),
        "--json",
        "--no-cache",
        "--no-confirm",
        "--jobs",
        "1",
        "-o",
        str(folder / "proof"),
    ]
    if rtl.latency is not None:
        arguments += ["--clock", "clk", "--latency", str(rtl.latency)]
    return _run([*arguments, *options, "--rtl", *map(str, rtl.sources)])


def _run(arguments: list[str]) -> Verdict:
    stdout = io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(io.StringIO()):
        code = main._run(arguments)
    record = json.loads(stdout.getvalue())
    return Verdict(record["verdict"], code, record)
