"""The cases as Markdown and as predicates of ops; ``python -m interop.table``, in tests/, writes docs/peers.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

from interop.alkaid_cases import CASES as ALIR_CASES
from interop.alkaid_cases import AlirCase
from interop.cases import CASES, RIGHT, Case, Wrong
from interop.rtl_cases import RTL, cell
from interop.shapes import part_of_a_table

from dais_verif.files import write_atomically
from dais_verif.golden.oracle import show
from dais_verif.program import Op, Program
from dais_verif.program.listing import listing

__all__ = ["PAGE", "clean", "reason", "written"]

PAGE = Path(__file__).parents[2] / "docs" / "peers.md"

#: The text between these lines of the page is written from the cases.
_MARKS = (
    ("<!-- table: from tests/interop/cases.py -->", "<!-- end of table -->"),
    ("<!-- witnesses: from tests/interop/cases.py -->", "<!-- end of witnesses -->"),
    ("<!-- table: from tests/interop/alkaid_cases.py -->", "<!-- end of table -->"),
    ("<!-- witnesses: from tests/interop/alkaid_cases.py -->", "<!-- end of witnesses -->"),
)


def reason(peer: str, program: Program, op: Op) -> str | None:
    """Return the name of a case that may affect ``op`` in ``peer``, by the op's shape alone, or None."""
    for case in CASES:
        expected = case.of(peer)
        if expected is not RIGHT and expected.shape is not None and expected.shape(program, op):
            return case.name
    return None


def clean(peer: str, program: Program) -> list[bool]:
    """Return for every op whether no case can affect it or an op that it depends on.

    It is also false for an op that cannot be expressed in the peer's format, and for ops that depend on one.
    """
    found: list[bool] = []
    for op in program.ops:
        told = peer != "python" or program.intervals is not None or not part_of_a_table(program, op)
        found.append(told and all(found[index] for index in op.operands) and reason(peer, program, op) is None)
    return found


def written(text: str, cases: Sequence[Case] = CASES, alir: Sequence[AlirCase] = ALIR_CASES) -> str:
    """Return the page ``text`` with its tables written again from ``cases`` (da4ml's) and ``alir`` (alkaid's)."""
    parts = (_table(cases), _witnesses(cases), _alir_table(alir), _alir_witnesses(alir))
    for (begin, end), part in zip(_MARKS, parts, strict=True):
        head, rest = text.split(begin + "\n")
        text = f"{head}{begin}\n{part}{end}{rest.split(end, 1)[1]}"
    return text


def _table(cases: Sequence[Case]) -> str:
    lines = [
        "| case | witness | exact | C++ interpreter | Python executor | Verilog | VHDL |",
        "|---|---|---|---|---|---|---|",
    ]
    for case in cases:
        rtl = map(cell, RTL[case.name])
        cells = (case.what, f"`{case.name}`", _exact(case), _answer(case.cpp), _answer(case.python), *rtl)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _exact(case: Case) -> str:
    (one,) = case.witness.cases
    values = _values(one.gives)
    return values if one.breaks is None else f"violation (unchecked {values})"


def _answer(expected: Wrong | None) -> str:
    if expected is RIGHT:
        return "right"
    words = expected.gives if isinstance(expected.gives, str) else _values(map(Fraction, expected.gives))
    return f"**{words}**"


def _alir_table(cases: Sequence[AlirCase]) -> str:
    lines = ["| case | witness | exact | C++ interpreter | Python executor |", "|---|---|---|---|---|"]
    for case in cases:
        cells = (case.what, f"`{case.name}`", _alir_exact(case), _answer(case.cpp), _answer(case.python))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _alir_exact(case: AlirCase) -> str:
    values = _values(case.exact)
    return values if case.breaks is None else f"violation (unchecked {values})"


def _alir_witnesses(cases: Sequence[AlirCase]) -> str:
    found = []
    for case in cases:
        inputs = _values(map(Fraction, case.inputs)) or "nothing"
        narrow = "".join(f"; the interval of %{index} is {ends}" for index, ends in case.intervals.items())
        found.append(f"; {case.name}: {inputs} -> {_alir_exact(case)}{narrow}\nlayout alir\n{case.text}")
    return "```text\n" + "\n".join(found) + "```\n"


def _values(values: Iterable[Fraction]) -> str:
    """Return the numbers as the oracle shows them, or as doubles where that is shorter (all of them are doubles)."""
    return ", ".join(min(show(value), repr(float(value)), key=len) for value in values)


def _witnesses(cases: Sequence[Case]) -> str:
    return "```text\n" + "\n".join(map(_witness, cases)) + "```\n"


def _witness(case: Case) -> str:
    """Return the program as ``dais-verif asm`` reads it, without its hash and counts."""
    (one,) = case.witness.cases
    lines = [line for line in listing(case.witness.program).splitlines() if not line.startswith(";")]
    head = f"; {case.name}: {_values(one.inputs) or 'nothing'} -> {_exact(case)}"
    return "\n".join([head, *lines]) + "\n"


if __name__ == "__main__":
    write_atomically(PAGE, written(PAGE.read_text(encoding="utf-8")).encode())
