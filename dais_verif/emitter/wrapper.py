"""Wrap a core in the RTL that it needs on an FPGA."""

from __future__ import annotations

from typing import NamedTuple

from dais_verif.emitter.axis import Identity, emit_axis_top
from dais_verif.emitter.board import BOARD_FILES, LINKS, emit_board_top
from dais_verif.emitter.rtl_library import AXIL_FILES, AXIS_FILES, library_sources
from dais_verif.errors import EmitterError

__all__ = ["WRAPS", "Wrapper", "wrap"]

#: The kinds of wrappers.
WRAPS = ("axis", *LINKS)


class Wrapper(NamedTuple):
    """The files of a wrapped core. ``files``: texts by name, lowest module first; the last one is module ``top``."""

    top: str
    files: dict[str, str]


def wrap(
    kind: str,
    core: str,
    text: str,
    program_hash: str,
    *,
    input_bits: int,
    output_bits: int,
    latency: int = 0,
    period: float = 10.0,
    user_bits: int = 1,
    axil: Identity | None = None,
) -> Wrapper:
    """Return module ``core``, whose text is ``text``, in a wrapper of ``kind``, one of ``WRAPS``.

    ``program_hash``: the hash of its program, 64 hexadecimal digits. ``input_bits``, ``output_bits``: widths of the
    core's ports, at least 1. ``latency``: the latency of the core in clocks; if it is above 0, the core has the ports
    ``clk`` and ``en`` in addition to ``model_inp`` and ``model_out``. ``period``: the clock period in ns, which
    determines the parameter of a UART. ``user_bits``, ``axil``: the width of TUSER, and the AXI4-Lite block; both only
    for kind ``axis``. Raises ``InputError`` if a module would have the name of a module in the RTL library.
    """
    names = BOARD_FILES[kind] if kind in LINKS else AXIS_FILES + (AXIL_FILES if axil else ())
    files = {path.name: path.read_text(encoding="utf-8") for path in library_sources(*names)}
    bits = {"input_bits": input_bits, "output_bits": output_bits, "latency": latency}
    made = {f"{core}.v": text}
    if kind in LINKS:
        made[f"{core}_axis.v"] = emit_axis_top(core, **bits, user_bits=0, axil=None)
        made[f"{core}_{kind}.v"] = emit_board_top(core, kind, program_hash, **bits, period=period)
    else:
        made[f"{core}_axis.v"] = emit_axis_top(core, **bits, user_bits=user_bits, axil=axil)
    for name in made.keys() & files.keys():
        module = name.removesuffix(".v")
        raise EmitterError.of(
            "{top} {core} gives a module {module}, which the hand-written RTL also has; choose another {top}",
            core=core,
            module=module,
        )
    return Wrapper(f"{core}_{kind}", {**files, **made})
