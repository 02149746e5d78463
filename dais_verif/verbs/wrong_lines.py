"""From a difference to lines of the user's RTL: where the values of signals and ops part."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.errors import DaisError
from dais_verif.base.files import write_atomically
from dais_verif.base.internal_error import told
from dais_verif.base.temporary import temporary_folder
from dais_verif.hardware.ports.interface import packed
from dais_verif.record.simulation import Blame, LineEdit, Mismatch, WrongLine
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.program import Program
from dais_verif.verbs.progress import Progress
from dais_verif.verbs.proof.decide import needed_packages
from dais_verif.verbs.proof.deep_stack import run_deep
from dais_verif.verbs.proof.reading import RtlReader
from dais_verif.verbs.suggestion import Suggestion, patch_of, suggested

if TYPE_CHECKING:
    from dais_verif.prover.frontier import Frontier, Moved, Untimely, WrongSignal
    from dais_verif.simulation.verify import Finding

__all__ = ["with_lines"]

#: Larger programs take too long: 5,000 ops take about ten seconds.
_MOST_OPS = 10_000
#: After so many seconds, the search is given up.
_SECONDS = 20.0
#: The largest number of lines, and of signals that a line reads, in a record.
_LINES, _READS = 8, 6


def with_lines(
    program: Program, design: RtlDesign, finding: Finding, progress: Progress, suggest: Path | None = None
) -> Finding:
    """Return ``finding`` with the lines of user RTL that are wrong, if the prover can read it and finds any.

    The search looks at values of signals on random vectors and on the failing one; it is no proof. An error in it is a
    warning, since it must not take the difference away. ``suggest``: the file of a patch, written if there are edits
    with which all outputs are right.
    """
    mismatch = finding.first_mismatch
    if mismatch is None or program.n_ops > _MOST_OPS:
        return finding
    latency = next((one.latency for one in finding.simulators if one.latency is not None), None)
    try:
        with needed_packages(), temporary_folder() as folder:
            found, edits = _found(program, design, mismatch, latency, folder.path)
    except (DaisError, OSError):
        return finding  # the prover cannot read the RTL, or not in time
    except Exception as error:
        progress.warning(f"no line was found: {told(error, sys.argv[1:])}")
        return finding
    if suggest is not None:
        if edits:
            write_atomically(suggest, patch_of(edits).encode("latin-1"))
        else:
            progress.warning("no patch was written: no single edits of the wrong lines that were tried make all right")
    by_number = {one.number: one for one in edits}
    lines = [_line(one, found.vectors, by_number.get(n)) for n, one in enumerate(found.signals[:_LINES])]
    moved = [*found.ports, *map(_moved, found.moved[:_LINES])]
    if found.timing is not None:
        moved += [f"all values are right, but not when they come: {found.timing}", *map(_untimely, found.untimely)]
    if not (lines or moved):
        return finding
    blame = replace(mismatch.blame or Blame("unknown", "the vector was not replayed"), lines=lines, moved=moved or None)
    return replace(finding, first_mismatch=replace(mismatch, blame=blame))


def _found(
    program: Program, design: RtlDesign, mismatch: Mismatch, latency: int | None, folder: Path
) -> tuple[Frontier, list[Suggestion]]:
    """Return what is wrong, and edits that may mend it."""
    from dais_verif.prover.frontier import find_frontier
    from dais_verif.prover.limits import time_limit

    reader = RtlReader.of("slang", design, folder / "yosys", foreign=True)
    dut = design.dut or packed(program)
    dut = replace(dut, interface=dut.interface.with_latency(latency))
    vector = {one.index: int(one.bits, 2) for one in mismatch.inputs if one.bits and not set(one.bits) - {"0", "1"}}

    def work() -> tuple[Frontier, list[Suggestion]]:
        with time_limit(_SECONDS):
            with reader.readable("slang", in_verilog) as read:
                found = find_frontier(program, read(), dut, vector)
            try:
                return found, suggested(program, design, dut, reader, found, folder / "edits")
            except DaisError:  # the lines are known all the same
                return found, []

    in_verilog = reader.in_verilog(design)  # GHDL runs in this thread, which gets Ctrl-C
    return run_deep(work)


def _line(found: WrongSignal, vectors: int, suggestion: Suggestion | None) -> WrongLine:
    edit, lines = None, [_place(line) for line in found.lines]
    if suggestion is not None:  # the line that an edit mends is the likeliest
        place = _place(f"{suggestion.file}:{suggestion.line}")
        edit = LineEdit(place, suggestion.old, suggestion.new, suggestion.proved)
        lines = list(dict.fromkeys([place, *lines]))
    line, *more = lines
    reads = [f"{one.name} ({_carries(one.ops)})" for one in found.reads[:_READS]]
    reads += ["..."] * (len(found.reads) > _READS)
    also = more[0] if more else None
    explains = vectors if found.explains else None
    ops = list(found.missing)
    return WrongLine(
        line, also, found.name, found.width, reads, ops, found.expected, found.found, explains, edit,
        found.register or None, found.edges,
    )  # fmt: skip


def _carries(ops: tuple[int, ...]) -> str:
    if not ops:
        return "an input or a bit"
    return f"carries the values of op {' or op '.join(map(str, ops[:3]))}{', ...' * (len(ops) > 3)}"


def _moved(found: Moved) -> str:
    what = f"output {found.outputs[0]}" if found.outputs else f"op {found.ops[0]}"
    return f"{_place(found.where)}: output {found.output} carries the values of {what}"


#: By the edges that a register lacks.
_UNTIMELY = {1: "comes an edge too early", -1: "comes an edge too late", 0: "mixes vectors of different edges"}


def _untimely(found: Untimely) -> str:
    return f"{_place(found.where)}: {found.name} {_UNTIMELY[found.edges]}"


def _place(where: str) -> str:
    """Return file and line, relative to the working folder if the file is in it."""
    name, _, line = where.rpartition(":")
    path = os.path.abspath(name)
    short = os.path.relpath(path)
    return f"{path if short.startswith(os.pardir) else short}:{line}"
