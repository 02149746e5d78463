"""Write a program as ALIR, da4ml's JSON, a binary of any layout, or text; or a machine as ALIRFSM or text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from dais_verif.base.errors import ConversionError, RequestError
from dais_verif.base.files import write_atomically
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.conversion import ConversionRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.program import LAYOUTS, Program, assemble, parse, write_binary
from dais_verif.spec.program.conversion import as_it_was, notes_of, to_alir, to_da4ml, to_dais
from dais_verif.spec.program.json_writers import alir_json, compressed, da4ml_json
from dais_verif.spec.program.listing import listing
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram, path_of
from dais_verif.verbs import common_options as common
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress

__all__ = ["TARGETS", "ConversionRequest", "convert"]

#: The formats for programs: JSON of alkaid and of da4ml, binaries, text.
_OF_PROGRAMS = ("alir", "json", *LAYOUTS, "dais")
#: The formats for machines: alkaid's JSON, text.
_OF_MACHINES = ("alirfsm", "mach")
TARGETS = (*_OF_PROGRAMS, *_OF_MACHINES)
#: Formats by the suffix of the file without ``.gz``; for a machine, JSON is ALIRFSM.
_SUFFIXES = {".json": "alir", ".alir": "alir", ".bin": "v1", ".dais": "dais", ".mach": "mach"}
_TEXTS = ("dais", "mach")


@dataclass(frozen=True, kw_only=True)
class ConversionRequest(Request):
    """A program, and the file to write. ``to``: its format; None: by the suffix. ``layout``: the layout of the input.

    ``.json``, ``.alir``: ALIR; ``.bin``: the layout that a text names, or of the binary that ALIR was made from, else
    v1; ``.dais``: text. An additional ``.gz`` compresses the output. For a machine, ``.json`` is ALIRFSM and ``.mach``
    is text.
    """

    verb: ClassVar[str] = "convert"

    program: AnyProgram
    output: Path
    to: str | None = option(
        None, "Target format, if not the one that the suffix of OUTPUT selects.", group="Program", choices=TARGETS
    )
    layout: str | None = common.layout()

    def require(self) -> None:
        """Raise ``RequestError`` if no format is selected, or the output would destroy what is read."""
        if self.to is None and self._suffix() not in _SUFFIXES:
            raise RequestError.of(
                "the suffix of {name!r} does not select a format: use {suffixes} (and .gz), or give {to}.",
                name=self.output.name,
                suffixes=", ".join(_SUFFIXES),
            )
        if self.compressed and self.target in _TEXTS:
            raise RequestError(f"text is not compressed: name the output {self.output.stem!r}.")
        require_no_loss(self.output, program=self.program)

    @property
    def compressed(self) -> bool:
        """True if the output is gzip."""
        return self.output.suffix == ".gz"

    @property
    def target(self) -> str:
        """The format to write, one of ``TARGETS``."""
        return self.to or _SUFFIXES[self._suffix()]

    def _suffix(self) -> str:
        return Path(self.output.stem).suffix if self.compressed else self.output.suffix

    def arguments(self) -> list[str]:
        """Return the words before the options."""
        return [path_of(self.program), str(self.output)]


def convert(request: ConversionRequest, *, progress: Progress = SILENT) -> ConversionRecord:
    """Write the program or the machine, with the same outputs and the same broken promises for every input.

    Raises ``InputError``, which names the op, if the format cannot express it; ``ProgramError`` if the program is
    invalid.
    """
    machine = open_for("convert", request.program, request.layout).machine
    if machine is not None:
        from dais_verif.verbs.machines.show import convert_machine

        return convert_machine(machine, request)
    if request.target in _OF_MACHINES:
        raise RequestError.of(
            "{program} is a program, and {target} is a format for machines; formats for programs: {targets}.",
            program=path_of(request.program, "this"),
            target=request.target,
            targets=", ".join(_OF_PROGRAMS),
        )
    program, warnings = read_program(request.program, request.layout, progress)
    was = as_it_was(program)
    target = request.target
    if request.to is None and target in LAYOUTS:
        if was is not None:
            target = was.origin.layout
        elif program.origin.text and program.origin.layout in LAYOUTS:
            target = program.origin.layout
    with progress.working("converting"):
        made, data = _made(program, was, target)
        back = _read_back(made, data, target)
    data = compressed(data) if request.compressed else data
    write_atomically(request.output, data)
    restored = was is not None and target in LAYOUTS
    how = "the binary that it was made of" if restored else "not compared; to compare them, use diff --prove"
    return ConversionRecord(
        verdict=Verdict.PASS,
        message=f"written as {target}, {counted(back.n_ops, 'op')} of {program.n_ops}: {how}",
        program=ProgramInfo.of(program),
        written=replace(ProgramInfo.of(back), path=str(request.output)),
        output=str(request.output),
        target=target,
        restored=restored,
        compressed=request.compressed,
        warnings=warnings,
        reproduce=request.reproduce(),
    )


def _made(program: Program, was: Program | None, target: str) -> tuple[Program, bytes]:
    """Return the program as ``target`` can express it, and the bytes of its file."""
    if target == "alir":
        made = to_alir(program)
        return made, alir_json(made, program.notes if was is not None else notes_of(program, made))
    if target == "json":
        made = to_da4ml(program)
        return made, da4ml_json(made)
    if target == "dais":
        return program, listing(program).encode()
    made = was if was is not None else to_dais(program)
    return made, write_binary(made, target)


def _read_back(made: Program, data: bytes, target: str) -> Program:
    """Return the program read back from ``data``, which must equal ``made``."""
    back = assemble(data) if target == "dais" else parse(data, layout=target)
    if back.hash != made.hash:
        raise ConversionError(f"the {target} output does not read back as the same program; please report it")
    return back
