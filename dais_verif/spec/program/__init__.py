"""The program model: types, opcodes, ops, binary layouts, checks, ranges.

All other parts of the package depend on this one, and it is the only part that they share.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from dataclasses import replace
from os import PathLike
from pathlib import Path

from dais_verif.base.errors import LayoutError, ProgramError, RequestError
from dais_verif.base.files import read_plain
from dais_verif.spec.program.json_fields import is_gzip, unpacked
from dais_verif.spec.program.json_file import JSON_LAYOUTS, looks_like_json, read_json
from dais_verif.spec.program.layouts import LAYOUTS, AssumedLayoutWarning, read_binary, write_binary
from dais_verif.spec.program.machine_begin import TAKE_MACHINES, begins_machine
from dais_verif.spec.program.model import Columns, Op, Origin, Program, Terms
from dais_verif.spec.program.opcodes import OPCODES, Opcode, Term
from dais_verif.spec.program.types import LIMIT, FixedType

__all__ = [
    # the program
    "Columns",
    "FixedType",
    "LIMIT",
    "Op",
    "Origin",
    "Program",
    "Terms",
    # the table
    "OPCODES",
    "Opcode",
    "Term",
    # files
    "ALL_LAYOUTS",
    "LAYOUTS",
    "AssumedLayoutWarning",
    "assemble",
    "load",
    "parse",
    "read_binary",
    "write_binary",
]

#: The values of ``--layout`` for a file that is read.
ALL_LAYOUTS = (*LAYOUTS, *JSON_LAYOUTS)
#: The largest file that is read; it has room for a hundred million ops.
_MOST_BYTES = 4 << 30


def assemble(source: str | bytes, name: str = "text") -> Program:
    """Return the valid program that ``source`` (bytes: UTF-8) describes; its origin says the layout to write.

    Raises ``ProgramError`` with ``name``, line and column, both counted from 1.
    """
    # Imported on demand: preparing the parser takes as long as importing the rest of the package.
    from dais_verif.spec.program.assembler import assemble

    return assemble(source, name)


def load(path: str | Path | bytes, *, layout: str | None = None) -> Program:
    """Return the valid program in the file ``path``, which may also be given as the bytes of a file.

    The file is a binary of any layout, da4ml's JSON or ALIR, plain or gzip, or a text. A text is recognized by the
    suffix ``.dais``, or by its first statement. ``layout`` overrides detection: ``published``, ``headerless`` or ``v1``
    for a binary, ``json`` (da4ml's) or ``alir`` for JSON. Raises ``ProgramError`` if the file holds no valid program,
    ``InputError`` if it cannot be read.
    """
    if isinstance(path, bytes):
        return parse(path, layout=layout)
    if not isinstance(path, str | PathLike):
        raise RequestError(f"a program is read from a path or the bytes of a file, not from a {type(path).__name__}.")
    data = read_plain(Path(path), _MOST_BYTES, advice="give the path of a DAIS program")
    if begins_machine(data):
        raise ProgramError(f"{path}: the text of a machine, where a program is expected; {TAKE_MACHINES}")
    if _is_text(str(path), data):
        if layout is not None:
            raise LayoutError.of(
                "{path}: a text says its layout itself and is not read as {layout_given}; leave {layout} out",
                path=path,
                layout_given=layout,
            )
        if not any(line.partition(b";")[0].strip() for line in data.splitlines()):
            # An empty text would be a valid program without outputs, but is most likely a truncated file.
            raise ProgramError(f"{path}: the file is empty; give the path of a DAIS program")
        program = assemble(data, str(path))
        return replace(program, origin=replace(program.origin, path=str(path), text=True))
    try:
        program = parse(data, layout=layout)
    except ProgramError as error:
        raise ProgramError(f"{path}: {error}") from None
    return replace(program, origin=replace(program.origin, path=str(path)))


def parse(data: bytes, *, layout: str | None = None) -> Program:
    """Return the valid program in ``data``: a binary of any layout, da4ml's JSON or ALIR, plain or gzip.

    ``layout``: as for ``load``. Raises ``ProgramError`` if ``data`` holds no valid program.
    """
    if layout in JSON_LAYOUTS or (layout is None and looks_like_json(data)):
        return read_json(data, layout)
    return _read_binary(data, layout)


def _read_binary(data: bytes, layout: str | None) -> Program:
    """Return the program in a binary, which may be compressed with gzip."""
    if not is_gzip(data):
        return read_binary(data, layout)
    try:
        program = read_binary(unpacked(data), layout)
    except ProgramError:
        with contextlib.suppress(ProgramError):  # a binary whose number of inputs equals the magic number
            return read_binary(data, layout)
        raise
    return replace(program, origin=replace(program.origin, file_sha256=hashlib.sha256(data).hexdigest()))


#: Empty lines and comments, then the first statement of a text.
_BEGINS_TEXT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t\r]*(?:;[^\n\0]*)?\n)*[ \t]*"
    rb"(?:layout[ \t]+(?:published|headerless|v1|alir)\b|input[ \t]+[A-Za-z_0-9]|table[ \t]+\w+[ \t]*=)"
)


def _is_text(path: str, data: bytes) -> bool:
    """Return True if the file has the suffix of a text, and is neither JSON nor a binary, which contains 0 bytes.

    Files of other names begin with a statement that only a text has.
    """
    if path.endswith(".dais"):
        return b"\0" not in data[:12] and not looks_like_json(data)
    return _BEGINS_TEXT.match(data) is not None
