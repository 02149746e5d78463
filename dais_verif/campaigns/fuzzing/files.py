"""Cases as files: a program in the form that a tool reads, its vectors, and facts about the case as JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dais_verif.base.errors import FuzzingError, InputError
from dais_verif.base.files import read_plain, write_atomically
from dais_verif.campaigns.fuzzing.case import Case, Row
from dais_verif.spec.program import LAYOUTS, Program, load, write_binary
from dais_verif.spec.program.conversion import to_alir, to_da4ml
from dais_verif.spec.program.json_writers import alir_json, da4ml_json
from dais_verif.spec.program.listing import listing
from dais_verif.spec.program.opcodes import OPCODES

__all__ = [
    "CASE_NAME",
    "CASE_SCHEMA",
    "INPUTS_NAME",
    "KeptCase",
    "as_double",
    "case_names",
    "case_of",
    "form_of",
    "program_name",
    "read_case",
    "read_exact",
    "read_tree",
    "require_place",
    "spelled",
    "write_case",
    "write_inputs",
    "write_program",
]

#: The file that marks a folder as a case.
CASE_NAME = "case.json"
#: The vectors of a case, for tools that read numpy files.
INPUTS_NAME = "inputs.npy"
CASE_SCHEMA = "dais-verif/case/1"
#: The file name of the program as readable text.
_TEXT = "text"

_MOST_BYTES = 256 << 20
_EXACT = re.compile(r"-?[0-9]{1,4000}(/[1-9][0-9]{0,4000})?")
_SUFFIX = {"dais": ".dais", "alir": ".json", "json": ".json"}


@dataclass(frozen=True)
class KeptCase:
    """Facts about a case besides its program: ``pair`` and ``kind`` of the disagreement, ``text`` for users.

    ``seed``: the seed of the case; None: the case is not from the fuzzer. ``against``: the command of the external tool
    that disagreed, if any. ``versions``: the versions of all tools that influenced the result. ``vectors``: one list of
    exact numbers per vector, such as ``-5/8``.
    """

    pair: str
    kind: str
    text: str
    opcodes: tuple[str, ...]
    seed: int | None
    against: str | None
    versions: dict[str, str]
    replay: str
    vectors: tuple[tuple[str, ...], ...]


def form_of(program: Program) -> str:
    """Return the form for ``program`` that is nearest to its original file and can hold every program."""
    if program.origin.path is not None and program.origin.path.endswith(".dais"):
        return "dais"
    layout = program.origin.layout
    if layout in ("json", "alir"):
        return layout
    of_alir = any(OPCODES[code].alir for code in set(program.columns.code.tolist()))
    return "alir" if of_alir else layout if layout in LAYOUTS else "v1"


def write_program(program: Program, folder: Path, form: str, name: str = "program") -> Path:
    """Write ``program`` as ``form``: a binary layout, alir, json (da4ml's) or dais.

    Raises ``InputError`` if that form cannot hold it.
    """
    if form == "dais":
        data = listing(program).encode()
    elif form == "alir":
        data = alir_json(to_alir(program))
    elif form == "json":
        data = da4ml_json(to_da4ml(program))
    else:
        data = write_binary(program, form)
    path = folder / program_name(form, name)
    path.write_bytes(data)
    return path


def program_name(form: str, name: str = "program") -> str:
    """Return the file name of a program in that form."""
    return f"{name}{_SUFFIX.get(form, '.bin')}"


def case_names() -> tuple[str, ...]:
    """Return the possible file names of a case of a program."""
    programs = (program_name(form) for form in (*LAYOUTS, *_SUFFIX))
    return (CASE_NAME, INPUTS_NAME, program_name("dais", _TEXT), *dict.fromkeys(programs))


def require_place(folder: Path, written: Iterable[str], who: str) -> None:
    """Raise ``InputError`` if a case would overwrite files that do not belong to an earlier case.

    ``written``: names of files and folders that ``who`` writes, which must not be links to elsewhere.
    """
    taken = [folder / name for name in written if os.path.lexists(folder / name)]
    inner = [path for place in taken if place.is_dir() and not place.is_symlink() for path in place.iterdir()]
    for place in (*taken, *inner):
        if place.is_symlink():
            raise FuzzingError(
                f"{str(place)!r} is a link, and {who} would write to its target; choose another folder with -o"
            )
    if not taken:
        return
    try:
        read_tree(folder)
    except InputError:
        raise FuzzingError(
            f"{str(folder)!r} holds {taken[0].name!r}, which {who} would overwrite, and no case of an earlier run; "
            "choose another folder with -o"
        ) from None


def write_inputs(rows: Sequence[Row], folder: Path) -> Path:
    """Write the vectors as float64, .npy. Raises ``InputError`` if float64 does not hold a number exactly."""
    array = np.array([[as_double(value) for value in row] for row in rows], dtype=np.float64)
    path = folder / INPUTS_NAME
    np.save(path, array.reshape(len(rows), -1))
    return path


def as_double(value: Fraction) -> float:
    """Return ``value`` as float64. Raises ``InputError`` if float64 does not hold it exactly."""
    try:
        double = float(value)
    except OverflowError:
        double = float("inf")
    if double in (float("inf"), float("-inf")) or Fraction(double) != value:
        raise FuzzingError("float64 does not hold a number exactly")
    return double


def write_case(case: Case, kept: KeptCase, folder: Path, form: str) -> None:
    """Write all files of a case into ``folder``: the program for tools and as text, vectors, ``case.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    write_program(case.program, folder, form)
    if form != "dais":
        write_program(case.program, folder, "dais", _TEXT)
    try:
        write_inputs(case.rows, folder)
    except InputError:
        (folder / INPUTS_NAME).unlink(missing_ok=True)  # numpy files cannot hold these numbers
    tree = {"schema": CASE_SCHEMA, **asdict(kept), "program": program_name(form)}
    if form in LAYOUTS:
        tree["layout"] = form
    write_atomically(folder / CASE_NAME, (json.dumps(tree, indent=2) + "\n").encode())


def spelled(rows: Sequence[Row]) -> tuple[tuple[str, ...], ...]:
    """Return the vectors as written into ``case.json``."""
    return tuple(tuple(str(value) for value in row) for row in rows)


def read_tree(folder: Path) -> tuple[dict[str, Any], KeptCase]:
    """Read ``case.json`` in ``folder``, and the facts about the case. Raises ``InputError`` if there is no case."""
    path = folder / CASE_NAME
    data = read_plain(path, _MOST_BYTES, advice="give the folder of a case, which fuzz or shrink wrote")
    try:
        tree = json.loads(data)
        if tree["schema"] != CASE_SCHEMA:
            raise ValueError(f"schema must be {CASE_SCHEMA!r}, not {tree['schema']!r}")
        kept = KeptCase(
            pair=str(tree["pair"]),
            kind=str(tree["kind"]),
            text=str(tree["text"]),
            opcodes=tuple(map(str, tree["opcodes"])),
            seed=None if tree["seed"] is None else int(tree["seed"]),
            against=None if tree["against"] is None else str(tree["against"]),
            versions={str(name): str(version) for name, version in tree["versions"].items()},
            replay=str(tree["replay"]),
            vectors=tuple(tuple(map(str, row)) for row in tree["vectors"]),
        )
        read_exact(kept.vectors)
        return tree, kept
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ZeroDivisionError) as error:
        raise FuzzingError(
            f"{path}: not a case as written by fuzz or shrink ({type(error).__name__}: {error})"
        ) from None


def read_case(folder: Path) -> tuple[Case, KeptCase]:
    """Return the case of a program in ``folder``.

    Raises ``InputError`` if it holds none, ``ProgramError`` if its program is not valid.
    """
    tree, kept = read_tree(folder)
    return case_of(folder, tree, kept), kept


def case_of(folder: Path, tree: Mapping[str, Any], kept: KeptCase) -> Case:
    """Read the case in ``folder``, whose ``tree`` and ``kept`` are known. Raises the errors of ``read_case``."""
    path, name = folder / CASE_NAME, str(tree.get("program"))
    if Path(name).name != name:
        raise FuzzingError(f"{path}: program must be the name of a file in the same folder, not {name!r}")
    program, rows = load(folder / name, layout=tree.get("layout")), read_exact(kept.vectors)
    if any(len(row) != program.n_in for row in rows):
        raise FuzzingError(f"{path}: each vector must have {program.n_in} numbers, one per input")
    return Case(program, rows)


def read_exact(vectors: Sequence[Sequence[str]]) -> tuple[Row, ...]:
    """Return the vectors of ``case.json``. Raises ``ValueError`` for numbers that are not dyadic."""
    if not all(_EXACT.fullmatch(text) for row in vectors for text in row):
        raise ValueError("a number is neither an integer nor a fraction of two")
    rows = tuple(tuple(Fraction(text) for text in row) for row in vectors)
    if any(value.denominator & (value.denominator - 1) for row in rows for value in row):
        raise ValueError("a number is not an integer times a power of two")
    return rows
