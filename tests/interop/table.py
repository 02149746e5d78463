"""The cases as predicates of ops, and as the page "Defects of other tools", which tools/site.py adds to the site."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from interop.alkaid_cases import CASES as ALIR_CASES
from interop.alkaid_cases import AlirCase
from interop.cases import CASES, RIGHT, Case, Wrong
from interop.rtl_cases import RTL, cell
from interop.shapes import part_of_a_table

from dais_verif.golden.oracle import show
from dais_verif.spec.program import Op, Program
from dais_verif.spec.program.listing import listing

__all__ = ["clean", "page", "reason"]

_PAGE = """# Defects of da4ml's and alkaid's interpreters and RTL

da4ml has two executors for a program: an interpreter in C++ (`da4ml._binary.dais_interp_run`, which
`CombLogic.predict` calls) and one in Python (`CombLogic.__call__`, here with `quantize=True`). Below are the cases in
which release 0.6.0 does not give the exact answer; [alkaid](#alkaids-executors) follows.

Each case has a witness, a program of a few lines. `tests/interop` runs every witness on the installed da4ml and on
all engines of dais-verif; this page is made from the same data. In some rows both executors are right: these are cases
in which an error would be plausible. Numbers such as ±3 are opcodes. The last two columns are the verdicts of
`dais-verif sim --unchecked` on the RTL that da4ml writes for the witness: Verilog in Icarus and Verilator, VHDL in
GHDL. [compilers.md](../compilers.md#known-defects-of-da4ml-060) lists workarounds.

{}
- **violation**: the op broke a promise; the engines of dais-verif refuse the row by default. da4ml does not check
  promises, and continues with a value that the type cannot hold.
- **X_IN_OUTPUT**: bits that are X or Z, mostly slices beyond a signal. **TOOL_FAILURE**: the RTL cannot be built, or
  a VHDL bound check fails. **INVALID_INPUT**: a port has the wrong width. **not written**: da4ml's generator raises
  an error.
- **throws** is a Python exception; **crashes** means that the process ends.
- `out_idx` -1 is right only by chance: the C++ interpreter reads the type of op -1 from memory outside of its arrays,
  which happens to hold a 0. Without any ops it crashes.
- C++ does not define shifts by a negative number or by 64 places or more, nor values wider than its integers. In
  these cases, the table has the answer of the released x86-64 wheel.

Where none of these cases applies, both executors agree with all engines of dais-verif, bit for bit: on all rows of
the conformance table, on real programs, and on 10,000 random programs that keep their promises (`make test-all`).
In these tests, the cases are predicates on ops (`tests/interop/shapes.py`), so a defect of da4ml that is missing in
this table fails a test.

## Witnesses

One program per case, with its inputs and exact outputs in the first line, in the format of `dais-verif show`.

{}
## alkaid's executors

alkaid 0.8.2 also has an interpreter in C++ and an executor in Python. The table lists the cases in which they do not
give the exact answer, for the ALIR that `convert` writes for the witness.

{}
- Both executors agree with dais-verif on every model that alkaid's own tracer made (`tests/alir`, as dais-verif
  writes it, and older files as well). Most cases need records that the tracer does not write, but that an optimiser
  or another front end may write.
- Where none of these cases applies, both agree with the engines and the oracle of dais-verif, bit for bit, on 10,000
  random programs that keep their promises, over all opcodes, with sums of up to a dozen terms (`make test-all`).
- alkaid's tracer rounds constants to float32, and tables that do not fit int32 wrap; saving drops the masks of
  tables. dais-verif verifies the saved model.
- dais-verif refuses NaN and infinities in an input; alkaid's interpreter treats them as 0.
- dais-verif refuses an `out_idx` beyond the ops; alkaid's interpreter reads memory outside of its arrays.

## Witnesses for alkaid

{}"""


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


def page(cases: Sequence[Case] = CASES, alir: Sequence[AlirCase] = ALIR_CASES) -> str:
    """Return the page of the documentation about ``cases`` (da4ml's) and ``alir`` (alkaid's)."""
    return _PAGE.format(_table(cases), _witnesses(cases), _alir_table(alir), _alir_witnesses(alir))


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
