"""Write the statements of a proof as files (``--dump-smt``), with an index and instructions to run a solver on them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.errors import ProofError
from dais_verif.files import make_folder, write_atomically
from dais_verif.record.program import ProgramInfo
from dais_verif.record.proof import WrittenStatements

if TYPE_CHECKING:
    from dais_verif.prover.solving.export import Statement

__all__ = ["OBLIGATIONS_SCHEMA", "empty_folder", "write_contradicted", "write_statements"]

OBLIGATIONS_SCHEMA = "dais-verif/obligations/1"

_README = """\
Obligations of a proof by dais-verif: {program}, {hash}

Every file states, in SMT-LIB 2 (QF_BV), that a signal or an output of the RTL differs from its value in the program.
`unsat`: it does not differ for any values of the declared variables. index.json lists, for each file, the ops and
outputs that depend on it, how dais-verif decided it, and the answer that a solver must give:
{answers}.
Terms: {terms}.

To run another solver, here z3, and see every answer that differs from the index:

    for f in *.smt2; do echo "$f $(z3 -T:60 "$f")"; done | sort > answers.txt
    python3 -c 'import json; [print(s["file"], s["answer"]) for s in json.load(open("index.json"))["statements"]]' \\
      | sort | diff - answers.txt && echo all as expected
"""


def empty_folder(path: Path) -> Path:
    """Return the folder ``path``, created if necessary. Raises ``InputError`` if it is not empty."""
    make_folder(path)
    if any(path.iterdir()):
        raise ProofError.of("folder {folder!r} is not empty; {dump_smt} needs a new or empty folder", folder=str(path))
    return path


def write_statements(folder: Path, info: ProgramInfo, statements: list[Statement], terms: str) -> WrittenStatements:
    """Write all statements; return a summary. ``terms``: the form of their terms."""
    for statement in statements:
        if statement.text:
            write_atomically(folder / statement.file, statement.text.encode())
    files = [s for s in statements if s.text]
    answers = Counter(statement.answer for statement in files)
    tree = {
        "schema": OBLIGATIONS_SCHEMA,
        "program": info.__dict__,
        "terms": terms,
        "answers": dict(answers),
        "not_stated": [claim for s in statements if not s.text for claim in s.claims],
        "statements": [{"file": s.file, "answer": s.answer, "claims": s.claims} for s in files],
    }
    write_atomically(folder / "index.json", json.dumps(tree, indent=1).encode())
    words = ", ".join(f"{count} times {answer}" for answer, count in sorted(answers.items())) or "none"
    readme = _README.format(program=info.path, hash=info.hash, answers=words, terms=terms)
    write_atomically(folder / "README.md", readme.encode())
    return WrittenStatements(str(folder), len(files), dict(answers), terms)


def write_contradicted(folder: Path, contradicted: Mapping[str, str]) -> None:
    """Write the statements, by claim, that were proved here but that the solver refutes."""
    make_folder(folder)
    for name, text in contradicted.items():
        write_atomically(folder / f"{name.replace(' ', '_')}.smt2", text.encode())
