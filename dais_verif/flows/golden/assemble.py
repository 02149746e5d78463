"""Assemble the text of a program into a binary, or ALIR into its JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dais_verif.errors import RequestError
from dais_verif.files import read_plain, write_atomically
from dais_verif.flows.progress import SILENT, Progress
from dais_verif.program import assemble as parse_text
from dais_verif.program import write_binary
from dais_verif.program.conversion import to_alir
from dais_verif.program.json_writers import alir_json
from dais_verif.record.evaluation import AssemblyRecord
from dais_verif.record.program import ProgramInfo

__all__ = ["AssemblyRequest", "assemble"]

_MOST_BYTES = 1 << 30


@dataclass(frozen=True, kw_only=True)
class AssemblyRequest:
    """The file of a text, and the binary to write. ``layout``: used instead of the one that the text names.

    Layout ``alir`` means JSON of spec 4.
    """

    text: Path
    output: Path
    layout: str | None = None


def assemble(request: AssemblyRequest, *, progress: Progress = SILENT) -> AssemblyRecord:
    """Write the file. Raises ``ProgramError``, with file, line and column, for a text that is wrong."""
    source = read_plain(request.text, _MOST_BYTES, advice="give the path of a program's text")
    with progress.working("assembling"):
        program = parse_text(source, str(request.text))
    layout = request.layout or program.origin.layout
    if layout == "alir" and request.output.suffix == ".bin":
        raise RequestError(
            f"{request.text}: the text is ALIR, which is written as JSON, not as a binary: name the file .json,"
            " or convert it with `dais-verif convert`"
        )
    data = alir_json(to_alir(program)) if layout == "alir" else write_binary(program, layout)
    write_atomically(request.output, data)
    info = replace(ProgramInfo.of(program), path=str(request.text), layout=layout)
    return AssemblyRecord(program=info, output=str(request.output))
