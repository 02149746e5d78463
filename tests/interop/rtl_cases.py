"""The verdicts of ``sim`` on the RTL that da4ml writes for the witnesses of ``cases``."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["NOT_WRITTEN", "PROOFS", "RIGHT", "RTL", "Found", "cell"]

#: da4ml's code generator failed.
NOT_WRITTEN = "not written"


class Found(NamedTuple):
    """A verdict, and the op that it blames, if there is one; the exit code is that of the verdict."""

    verdict: str
    op: int | None = None


RIGHT = Found("PASS")
_NOTHING = Found(NOT_WRITTEN)
#: The RTL does not build, or stops when it starts, because VHDL ranges do not match.
_BROKEN = Found("TOOL_FAILURE")
#: The port has another width: it has no bits, or an interval does not fit the doubles of da4ml's JSON.
_PORTS = Found("INVALID_INPUT")


def _x(op: int | None) -> Found:
    return Found("X_IN_OUTPUT", op)


def _wrong(op: int) -> Found:
    return Found("RTL_MISMATCH", op)


#: By witness: the verdicts on the Verilog, in Icarus and Verilator, and on the VHDL.
RTL: dict[str, tuple[Found, Found]] = {
    "input_shift": (RIGHT, RIGHT),
    "input_types": (RIGHT, _BROKEN),
    "input_huge": (RIGHT, RIGHT),
    "input_large": (RIGHT, RIGHT),
    "input_tiny": (RIGHT, RIGHT),
    "input_far": (RIGHT, RIGHT),
    "quant_wide": (RIGHT, RIGHT),
    "input_63_bits": (_PORTS, _PORTS),
    "quant_no_bits": (_PORTS, _PORTS),
    "quant_finer": (_x(1), _BROKEN),
    "relu_finer": (_x(1), _BROKEN),
    "quant_by_64": (RIGHT, RIGHT),
    "quant_wider": (_NOTHING, _NOTHING),
    "relu_wider": (_x(1), _BROKEN),
    "relu_of_minus": (_wrong(1), _wrong(1)),
    "relu_signed": (RIGHT, RIGHT),
    "add_overflow": (RIGHT, RIGHT),
    "add_finer": (_x(2), _BROKEN),
    "add_by_64": (_PORTS, _PORTS),
    "add_54_bits": (RIGHT, RIGHT),
    "add_no_bits": (_BROKEN, _BROKEN),
    "add_const_coarser": (_wrong(1), _wrong(1)),
    "add_const_lost": (_wrong(1), _wrong(1)),
    "mux_condition": (RIGHT, RIGHT),
    "mux_finer": (_NOTHING, _NOTHING),
    "mux_coarser": (_wrong(3), _wrong(3)),
    "mux_narrower": (RIGHT, RIGHT),
    "mul_other_f": (_wrong(2), _wrong(2)),
    "mul_60_bits": (RIGHT, RIGHT),
    "lookup_no_bits": (_BROKEN, _BROKEN),
    "not_signed": (RIGHT, _BROKEN),
    "not_finer": (_wrong(1), _BROKEN),
    "any_finer": (_wrong(1), _x(1)),
    "all_of_fraction": (RIGHT, RIGHT),
    "all_of_minus": (RIGHT, RIGHT),
    "bitwise_finer": (_x(2), _BROKEN),
    "output_far": (_NOTHING, _NOTHING),
    "output_zero": (_x(None), _x(None)),
    "output_zero_no_ops": (_NOTHING, _NOTHING),
    "no_inputs": (_NOTHING, _NOTHING),
}

#: The verdicts of ``prove`` on the Verilog: those of ``sim``, except for invalid Verilog, which is refused earlier.
PROOFS: dict[str, Found] = {name: verilog for name, (verilog, _) in RTL.items()} | {
    "add_no_bits": _PORTS,
    "lookup_no_bits": _x(1),
}


def cell(found: Found) -> str:
    """Return the text of the table's cell."""
    return "right" if found is RIGHT else f"**{found.verdict}**"
