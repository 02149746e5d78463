"""A core with the surrounding RTL for an FPGA, as files."""

from __future__ import annotations

from typing import NamedTuple

from dais_verif.emitter.axis import Identity, emit_axis_top
from dais_verif.emitter.board import BOARD_FILES, LINKS, emit_board_top
from dais_verif.emitter.rtl_library import AXIL_FILES, AXIS_FILES, library_sources
from dais_verif.errors import InputError

__all__ = ["WRAPS", "Wrapper", "wrap"]

#: The kinds of wrappers.
WRAPS = ("axis", *LINKS)


class Wrapper(NamedTuple):
    """``files``: text by name, lowest module first; the last one holds module ``top``."""

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
    """Wrap module ``core``, whose text is ``text``, as ``kind``, one of ``WRAPS``.

    ``input_bits``, ``output_bits``: of the core's ports, at least 1. With ``latency`` over 0 the core has ``clk`` and
    ``en`` besides ``model_inp`` and ``model_out``. ``program_hash``: of the program that it was made from, 64
    hexadecimal digits. ``period``: of the clock in ns, for which a UART is set. ``user_bits``, ``axil``: TUSER and
    AXI4-Lite, of which a board has no use. Raises ``InputError`` if a module would have the name of a hand-written one.
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
        raise InputError.of(
            "{top} {core} gives a module {module}, a name of the hand-written RTL; choose another {top}",
            core=core,
            module=module,
        )
    return Wrapper(f"{core}_{kind}", {**files, **made})
