"""Wrap a core in the RTL that it needs on an FPGA."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dais_verif.base.errors import EmitterError
from dais_verif.hardware.emitter.board import BOARD_FILES, LINKS, emit_board_top
from dais_verif.hardware.emitter.expressions import Writer
from dais_verif.hardware.emitter.rtl_library import AXIL_FILES, AXIS_FILES, library_sources

__all__ = ["Identity", "WRAPS", "Wrapper", "emit_axis_top", "wrap"]


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


# The AXI4-Stream top module of a core, which connects it to modules of the RTL library ``rtl/``.


class Identity(NamedTuple):
    """The identity of the program in the AXI4-Lite block. ``hash``: 64 hexadecimal digits."""

    n_in: int
    n_out: int
    hash: str


#: The signals of a stream; True: the signal has the direction of the data.
_STREAM = {"tdata": True, "tvalid": True, "tready": False, "tlast": True, "tuser": True}

#: The signals of AXI4-Lite: their width in bits, and whether they are inputs.
_LITE = {
    "awaddr": (8, True), "awprot": (3, True), "awvalid": (1, True), "awready": (1, False),
    "wdata": (32, True), "wstrb": (4, True), "wvalid": (1, True), "wready": (1, False),
    "bresp": (2, False), "bvalid": (1, False), "bready": (1, True),
    "araddr": (8, True), "arprot": (3, True), "arvalid": (1, True), "arready": (1, False),
    "rdata": (32, False), "rresp": (2, False), "rvalid": (1, False), "rready": (1, True),
}  # fmt: skip

#: The wires between the AXI4-Lite block and the self-check, and their widths in bits.
_CHECK = {"start": 1, "give_up": 1, "beats": 32, "waiting": 1, "busy": 1, "done": 1, "signature": 32}


def emit_axis_top(
    core: str,
    *,
    input_bits: int,
    output_bits: int,
    latency: int = 0,
    user_bits: int = 1,
    axil: Identity | None = None,
) -> str:
    """Return the text of module ``<core>_axis``: ``dais_axis`` around module ``core``, and the AXI4-Lite block.

    ``input_bits``, ``output_bits``: widths of the core's ports, at least 1. ``latency``: the latency of the core in
    clocks; if it is above 0, the core has the ports ``clk`` and ``en`` in addition to ``model_inp`` and ``model_out``.
    ``user_bits``: the width of TUSER; 0: a TUSER of one bit that is not passed on. ``axil``: None: no AXI4-Lite block.
    """
    widths = {
        "s": {"tdata": 8 * -(-input_bits // 8), "tuser": max(user_bits, 1)},
        "m": {"tdata": 8 * -(-output_bits // 8), "tuser": max(user_bits, 1)},
    }
    sizes: dict[str, object] = {"IN_BITS": input_bits, "OUT_BITS": output_bits, "USER_BITS": user_bits}
    out = Writer()
    out.line(f"// {core} wrapped in AXI4-Stream, one vector per beat. TDATA: the core's port, padded to whole bytes.")
    out.line("`default_nettype none")
    out.line(f"module {core}_axis (")
    with out.indent():
        ports = _stream_ports(widths) + ([*_lite_ports()] if axil else [])
        busses = "s_axis:m_axis:s_axil" if axil else "s_axis:m_axis"
        out.line(f'(* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF {busses}, ASSOCIATED_RESET aresetn" *)')
        for line in ["input  wire aclk,", "input  wire aresetn,", *(f"{port}," for port in ports[:-1]), ports[-1]]:
            out.line(line)
    out.line(");")
    clock = {"aclk": "aclk", "aresetn": "aresetn"}
    outer = {f"{side}_axis_{name}": f"{side}_axis_{name}" for side in "sm" for name in _STREAM}
    inner = dict(outer)
    with out.indent():
        out.line(f"wire {_range(input_bits)}core_inp;")
        out.line(f"wire {_range(output_bits)}core_out;")
        out.line("wire core_en;")
        if axil:
            inner = {
                f"{side}_axis_{name}": f"{there}_{name}"
                for side, there in (("s", "to"), ("m", "from"))
                for name in _STREAM
            }
            for port, wire in inner.items():
                out.line(f"wire {_range(widths[port[0]].get(port.removeprefix(f'{port[0]}_axis_'), 1))}{wire};")
            for name, bits in _CHECK.items():
                out.line(f"wire {_range(bits)}{name};")
            check = {name: name for name in _CHECK}
            lite = {f"s_axil_{name}": f"s_axil_{name}" for name in _LITE}
            seen = {name: name for name in outer if name.endswith(("valid", "ready", "m_axis_tlast"))}
            facts = {"LATENCY": latency, "N_IN": axil.n_in, "N_OUT": axil.n_out, "HASH": f"256'h{axil.hash}"}
            _instance(out, "dais_axil", "registers", {**sizes, **facts}, {**clock, **lite, **seen, **check})
            through = {wire: wire for wire in inner.values()}
            _instance(out, "dais_selfcheck", "selfcheck", sizes, {**clock, **outer, **through, **check})
        core_side = {name: name for name in ("core_inp", "core_out", "core_en")}
        _instance(out, "dais_axis", "shell", {**sizes, "LATENCY": latency}, {**clock, **inner, **core_side})
        clocked = {"clk": "aclk", "en": "core_en"} if latency else {}
        _instance(out, core, "core", {}, {**clocked, "model_inp": "core_inp", "model_out": "core_out"})
        if not latency:
            out.line("wire unused_en = &{1'b0, core_en};  // the core has no registers to stall")
    out.line("endmodule")
    out.line("`default_nettype wire")
    return out.text()


def _range(bits: int) -> str:
    return f"[{bits - 1}:0] " if bits > 1 else ""


def _stream_ports(widths: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return the port declarations of both streams. TDATA and TUSER always are vectors, as in ``dais_axis``."""
    lines = []
    for side in "sm":
        for name, forth in _STREAM.items():
            direction = "input " if forth == (side == "s") else "output"
            bits = widths[side].get(name)
            lines.append(f"{direction} wire {'' if bits is None else f'[{bits - 1}:0] '}{side}_axis_{name}")
    return lines


def _lite_ports() -> Iterable[str]:
    for name, (bits, is_input) in _LITE.items():
        yield f"{'input ' if is_input else 'output'} wire {_range(bits)}s_axil_{name}"


def _instance(
    out: Writer, module: str, name: str, parameters: Mapping[str, object], ports: Mapping[str, object]
) -> None:
    """Write an instance of ``module``, with all ports connected by name."""

    def list_all(pairs: Mapping[str, object]) -> None:
        with out.indent():
            for number, (left, right) in enumerate(pairs.items(), 1):
                out.line(f".{left}({right}){',' if number < len(pairs) else ''}")

    out.line("")
    if parameters:
        out.line(f"{module} #(")
        list_all(parameters)
        out.line(f") {name} (")
    else:
        out.line(f"{module} {name} (")
    list_all(ports)
    out.line(");")
