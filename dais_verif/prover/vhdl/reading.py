"""Convert VHDL to Verilog: GHDL's synthesis reads it into a netlist, without mapping to gates, which we write."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dais_verif.base.errors import ToolError, UnknownTop, VhdlError, VhdlFailure
from dais_verif.base.line_directives import FORM_OF_VHDL
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits, run_limited
from dais_verif.base.toolchain.private_files import copied, original, read
from dais_verif.base.toolchain.rtl_files import DataFile, copy_into
from dais_verif.prover.vhdl import packages as vhdl_packages
from dais_verif.prover.vhdl.constants import in_steps
from dais_verif.prover.vhdl.events import begins_slice, refuse_events, refuse_misread
from dais_verif.prover.vhdl.ghdl_netlist import Module, divided, modules, with_lost_variants
from dais_verif.prover.vhdl.ghdl_verilog import written

__all__ = ["in_verilog"]

#: GHDL's list of design units.
LIBRARY = "work-obj08.cf"

_STANDARD = "--std=08"

#: The file, line and text of an error in the user's files.
_ERROR = re.compile(r"^(\S.*\.vhdl?):(\d+):\d+:(?!warning:|note:) ?(?:error: )?(.*)$", re.MULTILINE | re.IGNORECASE)
#: The last line of a netlist, in all releases that name the whole design.
_WHOLE = re.compile(r"^ *instance \$top(?:\{i\d+\})?: \$top$", re.MULTILINE)
_NO_TOP = re.compile(r"cannot find entity|not found in library|no entity|unit .* not found", re.IGNORECASE)


def in_verilog(sources: Sequence[Path], top: str, files: Iterable[DataFile], folder: Path, limits: Limits) -> Path:
    """Convert entity ``top`` of the VHDL files ``sources``, in any order, and return the Verilog file in ``folder``.

    All names in it are in lower case. ``files``: the data files that the sources read. Raises ``InputError`` for files
    that are not VHDL; ``ToolError`` if GHDL is missing, or if its synthesis does not support the text; ``StateError``
    for text that GHDL's synthesis reads differently from simulators.
    """
    ghdl = str(tools.ghdl().ghdl)
    refuse_misread(sources)
    folder.mkdir(parents=True, exist_ok=True)
    copy_into(folder, files)
    for left_over in folder.glob("*.cf"):
        left_over.unlink()
    texts = [in_steps(source, vhdl_packages.redirected(source, read(source))) for source in sources]
    names = [*map(str, copied(sources, folder, texts).sources), *vhdl_packages.copy_into(folder)]
    # The first command finds all units; the second analyses the units that the top needs, in the necessary order.
    steps = {"units": ["-i", _STANDARD, *names], "analysis": ["-m", _STANDARD, top]}
    for step, arguments in steps.items():
        log = folder / f"ghdl_{step}.log"
        try:
            run_limited("ghdl", [ghdl, *arguments], log, limits, made=[LIBRARY] if step == "units" else [])
        except ToolError:
            said = log.read_text(encoding="utf-8", errors="replace")
            if _NO_TOP.search(said):
                raise UnknownTop.of(
                    "the RTL has no entity {top_given!r}; name its top entity with {top}", top_given=top
                ) from None
            if _ERROR.search(said):
                raise VhdlError(f"{_first_error(said, sources)}; correct the RTL") from None
            raise

    def netlist(entity: str, generics: Sequence[str] = ()) -> tuple[Module, ...]:
        command = [ghdl, "--synth", _STANDARD, "--out=dump", *generics, entity]
        return _synthesized(command, folder / "netlist.txt", sources, limits)

    found = netlist(top)
    refuse_events(sources)
    found = with_lost_variants(found, sources, netlist)
    form = folder / FORM_OF_VHDL

    def name(file: str) -> str | None:
        path = original(file, sources)
        return None if path == file else os.path.relpath(path)

    def is_slice(place: tuple[str, int, int]) -> bool:
        file, line, column = place
        return name(file) is not None and begins_slice((folder / file).read_text(encoding="latin-1"), line, column)

    form.write_text(written(map(divided, found), name, is_slice), encoding="latin-1")
    return form


def _synthesized(command: Sequence[str], output: Path, sources: Sequence[Path], limits: Limits) -> tuple[Module, ...]:
    """Return the netlist that ``command`` writes. Raises ``ToolError`` with the text that GHDL does not support."""
    log = output.with_name("ghdl_synthesis.log")
    script = 'output="$1"; shift; exec "$@" > "$output"'
    try:
        run_limited("ghdl", ["/bin/sh", "-c", script, "sh", output.name, *command], log, limits, made=[output.name])
    except ToolError:
        said = log.read_text(encoding="utf-8", errors="replace")
        crashed = "GHDL Bug occurred" in said
        if not crashed and not _ERROR.search(said):
            raise
        text = f"the RTL: it ends with an error of its own ({log})" if crashed else _first_error(said, sources)
        raise VhdlFailure(
            f"GHDL's synthesis, by which a proof reads VHDL, does not support {text}; `dais-verif sim` simulates it"
        ) from None
    text = output.read_text(encoding="latin-1")
    found = tuple(modules(text))
    if not found or ("$top\n" in text and _WHOLE.search(text) is None):
        raise VhdlFailure(f"ghdl exited with code 0, but the netlist that it wrote is not complete: {output}")
    output.unlink()
    return found


def _first_error(said: str, sources: Sequence[Path]) -> str:
    """Return the first error in a file of the user, or the first one in our packages."""
    errors = list(_ERROR.finditer(said))
    found = next((error for error in errors if original(error[1], sources) != error[1]), errors[0])
    place = os.path.relpath(original(found[1], sources))
    return vhdl_packages.without_prefix(f"{place}:{found[2]}: {found[3]}")
