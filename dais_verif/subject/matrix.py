"""The one table of verbs and kinds of subjects: how a verb takes a subject, or why it refuses it.

A page of the documentation's site is made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dais_verif.base.errors import RequestError
from dais_verif.base.text import printable
from dais_verif.subject.given import AnyProgram, path_of
from dais_verif.subject.opening import open_subject
from dais_verif.subject.subject import Kind, Subject

__all__ = ["MATRIX", "Cell", "open_for", "page"]


@dataclass(frozen=True)
class Cell:
    """How a verb takes subjects of a kind, in ``words``; if it is ``refused``: the reason, and what to do.

    ``judged``: the RTL that the user brings, or that a command wrote into the folder, decides the verdict.
    """

    words: str
    refused: bool = False
    judged: bool = False


def _refused(words: str) -> Cell:
    return Cell(words, refused=True)


def _row(
    program: Cell | str,
    machine: Cell | str,
    *,
    kernel: Cell | str | None = None,
    network: Cell | str = "the program that it is unrolled to",
    hardware: Cell | str | None = None,
    project: Cell | str = "its model; a warning says that its RTL is not judged",
    machine_project: Cell | None = None,
) -> Mapping[Kind, Cell]:
    """Return the cells of a verb; of folders with a machine, those of its machine unless given."""
    of_folder = Cell("its machine") if not isinstance(machine, Cell) else machine
    cells = {
        Kind.PROGRAM: program,
        Kind.MACHINE: machine,
        Kind.KERNEL: of_folder if kernel is None else kernel,
        Kind.NETWORK: network,
        Kind.HARDWARE: of_folder if hardware is None else hardware,
        Kind.PROJECT: project,
        Kind.MACHINE_PROJECT: machine_project or (project if isinstance(project, Cell) else of_folder),
    }
    return MappingProxyType({kind: Cell(cell) if isinstance(cell, str) else cell for kind, cell in cells.items()})


_RTL = Cell("its RTL", judged=True)
_FOLDER = Cell("the RTL in the folder: every cycle, and the tensors of every frame", judged=True)
_ONLY_PROGRAMS = _refused("it counts over the vectors of a program; name the program of a block of the machine")
_ONLY_SHRUNK = _refused("only programs are shrunk; name the program of a block of the machine")
_UNROLLED = "its network under the first configuration, unrolled"

#: For each verb that takes a PROGRAM, how it takes each kind.
MATRIX: Mapping[str, Mapping[Kind, Cell]] = MappingProxyType(
    {
        "check": _row(
            "structure, ranges, promises",
            "structure, and promises in every state",
            hardware="its machine; its files must agree with its network",
        ),
        "show": _row("its text", "a table of its parts", network="a table of its nodes"),
        "convert": _row("DAIS, ALIR and text", "ALIRFSM and text"),
        "run": _row(
            "exact outputs of vectors",
            "exact outputs of sequences, cycle by cycle",
            kernel="exact output tensors",
            network="exact output tensors",
            hardware="exact output tensors of a configuration",
        ),
        "explain": _row("every op on one vector", "every signal in one cycle"),
        "run --profile": _row("seconds by opcode", _ONLY_PROGRAMS, hardware=_UNROLLED),
        "coverage": _row("bins of ops and outputs", _ONLY_PROGRAMS, hardware=_UNROLLED),
        "sensitivity": _row("how outputs react to each op", _ONLY_PROGRAMS, hardware=_UNROLLED),
        "diff": _row(
            "its outputs against another program's", "its frames, with --frame, against a program", hardware=None
        ),
        "emit": _row("its Verilog", "its Verilog", network="Verilog, unrolled; with --form as a machine, in a folder"),
        "synth": _row(
            "cells of its Verilog, or of --rtl", "cells of its Verilog, or of --rtl", project="cells of its RTL"
        ),
        "build": _row(
            "a bitstream of its Verilog",
            "a bitstream of its Verilog",
            project=_refused("build makes a bitstream of RTL that dais-verif emits; name the model in the folder"),
        ),
        "sim": _row("its Verilog, or --rtl", "its Verilog, or --rtl", kernel=_FOLDER, hardware=_FOLDER, project=_RTL),
        "regress": _row(
            "its Verilog, or --rtl", "its Verilog, or --rtl", kernel=_FOLDER, hardware=_FOLDER, project=_RTL
        ),
        "prove": _row("its Verilog, or --rtl", "its Verilog, or --rtl", kernel=_FOLDER, hardware=_FOLDER, project=_RTL),
        "hil": _row(
            "a board with its wrapper",
            "a board with its wrapper",
            project="a board with its wrapper; not a simulated board, which has RTL that dais-verif emits",
        ),
        "mutate": _row(
            "mutants of its Verilog, or of --rtl",
            "mutants of its Verilog, or of --rtl",
            kernel=_refused(
                "mutants need one machine and its RTL; name machine.fsm.json in the folder, and --rtl model.v"
            ),
            hardware=_refused(
                "mutants need one machine and its RTL; name machine.fsm.json in the folder, and --rtl model.v"
            ),
            project=Cell("mutants of its RTL", judged=True),
        ),
        "shrink": _row(
            "a smaller program with the same failure",
            _ONLY_SHRUNK,
            project=Cell("a smaller program, and a smaller part of its RTL", judged=True),
            machine_project=_ONLY_SHRUNK,
        ),
        "signoff": _row(
            "its Verilog, or --rtl", "its Verilog, or --rtl", kernel=_FOLDER, hardware=_FOLDER, project=_RTL
        ),
    }
)


def open_for(verb: str, given: AnyProgram, layout: str | None = None) -> Subject:
    """Return ``given`` as a subject that ``verb`` takes. Raises ``RequestError`` with the reason if it refuses it.

    Also raises the errors of ``open_subject``.
    """
    subject = open_subject(given, layout)
    cell = MATRIX[verb][subject.kind]
    if cell.refused:
        name = printable(path_of(given, "this"))
        raise RequestError(f"{name} is {subject.kind.value}, which {verb} does not take: {cell.words}.")
    return subject


def page() -> str:
    """Return the page of the documentation."""
    lines = ["# What each verb takes", ""]
    lines += ["| verb | " + " | ".join(kind.value for kind in Kind) + " |", "|---" * (len(Kind) + 1) + "|"]
    for verb, row in MATRIX.items():
        cells = (f"refused: {row[kind].words}" if row[kind].refused else row[kind].words for kind in Kind)
        lines.append(f"| `{verb}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
