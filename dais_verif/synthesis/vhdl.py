"""Convert VHDL to Verilog with GHDL's synthesis, without mapping to gates; the meaning is as GHDL reads the text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dais_verif.errors import InputError, ToolError, UnknownTop
from dais_verif.synthesis.ghdl_constants import with_plain_constants
from dais_verif.synthesis.ghdl_selectors import with_settled_selectors
from dais_verif.synthesis.ghdl_variants import with_lost_variants
from dais_verif.synthesis.vhdl_events import refuse_events
from dais_verif.toolchain import tools
from dais_verif.toolchain.data_files import DataFile, copy_into
from dais_verif.toolchain.limits import Limits, run_limited
from dais_verif.toolchain.private_files import copied, original

__all__ = ["in_verilog"]

FORM = "from_vhdl.v"

_STANDARD = "--std=08"

#: The file, line and text of an error in the user's files.
_ERROR = re.compile(r"^(\S.*\.vhdl?):(\d+):\d+:(?!warning:|note:)(?:error:)? ?(.*)$", re.MULTILINE | re.IGNORECASE)
_NO_TOP = re.compile(r"cannot find entity|not found in library|no entity|unit .* not found", re.IGNORECASE)


def in_verilog(sources: Sequence[Path], top: str, files: Iterable[DataFile], folder: Path, limits: Limits) -> Path:
    """Convert entity ``top`` of the VHDL files ``sources``, in any order, and return the Verilog file in ``folder``.

    All names in it are in lower case. ``files``: the data files that the sources read. Raises ``InputError`` for files
    that are not VHDL; ``ToolError`` if GHDL is missing, or if its synthesis does not support the text; ``StateError``
    for text that GHDL's synthesis reads differently from simulators.
    """
    ghdl = str(tools.ghdl().ghdl)
    folder.mkdir(parents=True, exist_ok=True)
    copy_into(folder, files)
    for left_over in folder.glob("*.cf"):
        left_over.unlink()
    names = [str(source) for source in copied(sources, folder).sources]
    # The first command finds all units; the second analyses the units that the top needs, in the necessary order.
    for step, arguments in (("units", ["-i", _STANDARD, *names]), ("analysis", ["-m", _STANDARD, top])):
        log = folder / f"ghdl_{step}.log"
        try:
            run_limited("ghdl", [ghdl, *arguments], log, limits)
        except ToolError:
            said = log.read_text(encoding="utf-8", errors="replace")
            if _NO_TOP.search(said):
                raise UnknownTop.of(
                    "the RTL has no entity {top_given!r}; name its top entity with {top}", top_given=top
                ) from None
            if _ERROR.search(said):
                raise InputError(f"{_first_error(said, sources)}; correct the RTL") from None
            raise
    _synthesize([ghdl, "--synth", _STANDARD, "--out=verilog", top], folder / FORM, sources, limits)
    refuse_events(sources)
    # VHDL is not case-sensitive, but GHDL keeps upper case in its output.
    form = folder / FORM
    text = form.read_text(encoding="latin-1").lower()

    def variant(entity: str, values: dict[str, int]) -> str:
        generics = [f"-g{name.upper()}={value}" for name, value in values.items()]
        other = folder / "variant.v"
        _synthesize([ghdl, "--synth", _STANDARD, "--out=verilog", *generics, entity], other, sources, limits)
        return other.read_text(encoding="latin-1")

    text = with_plain_constants(with_settled_selectors(with_lost_variants(text, sources, variant)))
    form.write_text(text, encoding="latin-1")
    return form


def _synthesize(command: Sequence[str], form: Path, sources: Sequence[Path], limits: Limits) -> None:
    """Write the output of ``command`` into ``form``. Raises ``ToolError`` with the text that GHDL does not support."""
    log = form.with_name("ghdl_synthesis.log")
    script = 'form="$1"; shift; exec "$@" > "$form"'
    try:
        run_limited("ghdl", ["/bin/sh", "-c", script, "sh", form.name, *command], log, limits)
    except ToolError as error:
        said = log.read_text(encoding="utf-8", errors="replace")
        text = _first_error(said, sources) if _ERROR.search(said) else str(error)
        raise ToolError(
            f"GHDL's synthesis, by which a proof reads VHDL, does not support {text}; `dais-verif sim` simulates it"
        ) from None


def _first_error(said: str, sources: Sequence[Path]) -> str:
    found = _ERROR.search(said)
    assert found is not None
    return f"{os.path.relpath(original(found[1], sources))}:{found[2]}: {found[3]}"
