"""Every form of a program against the program: text, the binary layouts, ALIR and da4ml's JSON, read back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from dais_verif.errors import InputError
from dais_verif.fuzzing.case import Case, Row
from dais_verif.fuzzing.pairs.disagreement import Disagreement
from dais_verif.golden import oracle
from dais_verif.program import LAYOUTS, Program, assemble, parse, write_binary
from dais_verif.program.conversion import as_it_was, notes_of, to_alir, to_da4ml, to_dais
from dais_verif.program.json_writers import alir_json, da4ml_json
from dais_verif.program.listing import listing

__all__ = ["binary_layouts", "json_forms", "text_form"]

#: The number of vectors on which different programs that must compute the same are compared.
_ROWS = 4


def text_form(case: Case) -> Disagreement | None:
    """Compare a program with the one read back from its text, and the texts of both."""
    text = listing(case.program)
    back = assemble(text)
    if back.hash != case.program.hash:
        return Disagreement("text", "another program", "the text of the program reads back as a different program")
    if listing(back) != text:
        return Disagreement("text", "another text", "the program that was read back is written as a different text")
    return None


def binary_layouts(case: Case) -> Disagreement | None:
    """Compare a program with the one read back from each binary layout that can hold it, and the binaries of both."""
    for layout in LAYOUTS:
        with contextlib.suppress(InputError):  # the layout cannot express tables, or ALIR
            data = write_binary(case.program, layout)
            back = parse(data, layout=layout)
            if back.hash != case.program.hash:
                return Disagreement("layouts", layout, f"{layout}: reads back as a different program")
            if write_binary(back, layout) != data:
                return Disagreement(
                    "layouts", layout, f"{layout}: the program that was read back is written differently"
                )
    return None


def json_forms(case: Case) -> Disagreement | None:
    """Compare a program's outputs with those of its ALIR and JSON, and its binary with the one recovered from ALIR."""
    for name, other in _converted(case.program):
        for number, row in enumerate(case.rows[:_ROWS]):
            wanted, found = (_answer(program, row) for program in (case.program, other))
            if wanted != found:
                return Disagreement("forms", name, f"{name}: different outputs for vector {number}")
    with contextlib.suppress(InputError):
        data = write_binary(case.program, "v1")
        read = parse(data, layout="v1")
        raised = to_alir(read)
        was = as_it_was(parse(alir_json(raised, notes_of(read, raised))))
        if was is None or write_binary(was, "v1") != data:
            return Disagreement("forms", "binary", "the binary from which an ALIR file was made is not restored")
    return None


def _converted(program: Program) -> Iterator[tuple[str, Program]]:
    """Yield the name of each form that can express ``program``, and the program read back from it."""
    with contextlib.suppress(InputError):
        raised = parse(alir_json(to_alir(program)))
        yield "alir", raised
        yield "v1", parse(write_binary(to_dais(raised), "v1"), layout="v1")
    with contextlib.suppress(InputError):
        yield "json", parse(da4ml_json(to_da4ml(program)))


def _answer(program: Program, row: Row) -> object:
    """Return the exact outputs, where broken promises are quantised, and whether any promise is broken."""
    violations: list[oracle.Violation] = []
    values = oracle.trace(program, row, violations=violations)
    return oracle.outputs_of(program, values), bool(violations)
