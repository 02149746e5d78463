"""A machine on a board: a vector holds the inputs of some cycles after a reset, and a result the outputs of each cycle.

    link --> dais_bridge --> <core>_axis --> dais_bridge --> link

Vectors are therefore independent of each other, like the vectors of a program: each may be lost, or sent twice, or sent
alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dais_verif.base.errors import EmitterError
from dais_verif.hardware.emitter.board import BOARD_FILES, emit_board_top
from dais_verif.hardware.emitter.expressions import Writer
from dais_verif.hardware.emitter.machines.folder import written_folder
from dais_verif.hardware.emitter.machines.machine import emit_machine
from dais_verif.hardware.emitter.rtl_library import AXIS_FILES, library_sources
from dais_verif.spec.machine import Machine, Signal
from dais_verif.spec.machine.ports import CLOCK, bits_of, offsets_of, port_names
from dais_verif.spec.machine.restart import Restart, restart_of

__all__ = ["BOARD_CYCLES", "MOST_CYCLES", "board_bits", "board_hash", "machine_board", "machine_board_folder"]

#: The default number of cycles in a vector. With more cycles, a board can show slower effects, but the design is
#: larger.
BOARD_CYCLES = 32
MOST_CYCLES = 4096
#: The largest number of bits of a vector or a result. The bits are held in registers, and tools do not finish with
#: more.
_MOST_BITS = 1 << 16


def board_hash(machine: Machine) -> str:
    """Return the hash that a board with ``machine`` reports: the SHA-256 of its core as module ``model``."""
    return hashlib.sha256(emit_machine(restart_of(machine).core).encode()).hexdigest()


def board_bits(machine: Machine) -> tuple[int, int]:
    """Return the numbers of bits of the inputs and of the outputs of one cycle, at least 1 each."""
    inputs, outputs = (sum(bits_of(s.types) for s in side) for side in (machine.inputs, machine.outputs))
    return max(inputs, 1), max(outputs, 1)


def machine_board(
    machine: Machine,
    link: str,
    core: str = "model",
    *,
    cycles: int = BOARD_CYCLES,
    period: float = 10.0,
    text: str | None = None,
) -> dict[str, str]:
    """Return the texts of all modules of a board, by file name; the top module is ``<core>_<link>``.

    ``cycles``: the number of cycles in a vector. ``period``: the clock period in ns. ``text``: the text of module
    ``core``; None: the text that ``emit_machine`` returns. Raises ``InputError`` for vectors that are too wide, and if
    ``core`` is the name of another module.
    """
    bits_in, bits_out = board_bits(machine)
    if cycles * max(bits_in, bits_out) > _MOST_BITS:
        raise EmitterError.of(
            "{cycles_given} cycles of {bits} bits are {total} bits per vector, must be at most {most}: choose fewer"
            " cycles",
            cycles_given=cycles,
            bits=max(bits_in, bits_out),
            total=cycles * max(bits_in, bits_out),
            most=_MOST_BITS,
        )
    library = {path.name: path.read_text(encoding="utf-8") for path in library_sources(*_files(link))}
    taken = {name.removesuffix(".v") for name in library} | {f"{core}_axis", f"{core}_{link}"}
    if core in taken:
        raise EmitterError.of("{top} {core} gives two modules {core}; choose another {top}", core=core)
    restart = restart_of(machine)
    text = emit_machine(restart.core, core, taken) if text is None else text
    made = {
        f"{core}_axis.v": _sequencer(restart, core, cycles),
        f"{core}_{link}.v": emit_board_top(
            core,
            link,
            board_hash(machine),
            input_bits=cycles * bits_in,
            output_bits=cycles * bits_out,
            latency=cycles,
            period=period,
        ),
    }
    return {**library, f"{core}.v": text, **made}


def machine_board_folder(machine: Machine, link: str, core: str, cycles: int, period: float) -> dict[str, bytes]:
    """Return the files of a folder for an FPGA project, by relative name. ``period``: the clock period in ns."""
    modules = machine_board(machine, link, core, cycles=cycles, period=period)
    bits_in, bits_out = board_bits(machine)
    restart = restart_of(machine)
    facts: dict[str, Any] = {
        "program": {"hash": board_hash(machine)},
        "kind": link,
        "top": f"{core}_{link}",
        "core": core,
        "core_latency": cycles,
        "cycles": cycles,
        "input_bits": cycles * bits_in,
        "output_bits": cycles * bits_out,
        "restart": restart.line,
        "reset_added": list(restart.added),
        "not_reset": list(restart.lost),
        "period_ns": period,
        "inputs": {signal.name: bits_of(signal.types) for signal in machine.inputs},
        "outputs": {signal.name: bits_of(signal.types) for signal in machine.outputs},
    }
    return written_folder(facts, {f"rtl/{name}": text for name, text in modules.items()}, _readme)


def _files(link: str) -> list[str]:
    """Return the files of ``rtl/`` for a link, without those for cores that take a vector in every clock."""
    return [name for name in BOARD_FILES[link] if name not in AXIS_FILES]


def _sequencer(restart: Restart, core: str, cycles: int) -> str:
    """Return the text of module ``<core>_axis``, which runs module ``core`` for ``cycles`` cycles per beat."""
    machine = restart.core
    given = [signal for signal in machine.inputs if signal.name != restart.line]
    bits_in, bits_out = (max(sum(bits_of(s.types) for s in side), 1) for side in (given, machine.outputs))
    beat_in, beat_out = (8 * -(-bits * cycles // 8) for bits in (bits_in, bits_out))
    names = port_names(machine)
    ports = [f".{CLOCK}(aclk)"] if machine.registers else []
    ports += [f".{names[restart.line]}(!running)"] if restart.line is not None else []
    ports += [f".{names[name]}({part or zero})" for name, part, zero in _parts(given, "core_inp", "1'b0")]
    ports += [f".{names[name]}({part})" for name, part, _ in _parts(machine.outputs, "core_out", "")]
    count = max((cycles - 1).bit_length(), 1)
    waiting = f"{bits_in}'h{_waiting(restart, given):x}"
    out = Writer()
    out.line(
        f"// {core}, {cycles} cycles of it for each beat: TDATA is the inputs of each cycle, or the outputs before"
    )
    out.line("// its edge, those of the first cycle lowest; in a cycle ports in their order, the first one lowest.")
    out.line("// Between two beats, reset inputs are 1 and all other inputs are 0.")
    out.line("`default_nettype none")
    out.line(f"module {core}_axis (")
    with out.indent():
        for line in (
            "input  wire aclk,",
            "input  wire aresetn,  // synchronous, active low: drops everything in flight",
            f"input  wire [{beat_in - 1}:0] s_axis_tdata,",
            "input  wire s_axis_tvalid,",
            "output wire s_axis_tready,",
            "input  wire s_axis_tlast,",
            "input  wire s_axis_tuser,",
            f"output wire [{beat_out - 1}:0] m_axis_tdata,",
            "output wire m_axis_tvalid,",
            "input  wire m_axis_tready,",
            "output wire m_axis_tlast,",
            "output wire m_axis_tuser",
        ):
            out.line(line)
    out.line(");")
    with out.indent():
        out.line(f"reg  [{cycles * bits_in - 1}:0] given;")
        out.line(f"reg  [{cycles * bits_out - 1}:0] results;")
        out.line(f"reg  [{count - 1}:0] left;  // cycles after this one")
        out.line("reg  running, done, last;")
        out.line(f"wire [{bits_in - 1}:0] core_inp = running ? given[{bits_in - 1}:0] : {waiting};")
        out.line(f"wire [{bits_out - 1}:0] core_out;")
        if not any(bits_of(signal.types) for signal in machine.outputs):
            out.line("assign core_out = 1'b0;")
        out.line("")
        out.line(f"{core} core (")
        with out.indent():
            for number, port in enumerate(ports, 1):
                out.line(f"{port}{',' if number < len(ports) else ''}")
        out.line(");")
        out.line("")
        out.line("assign s_axis_tready = !running && !done;")
        out.line("assign m_axis_tvalid = done;")
        pad = beat_out - cycles * bits_out
        out.line(f"assign m_axis_tdata = {f'{{{pad}' + chr(39) + 'd0, results}' if pad else 'results'};")
        out.line("assign m_axis_tlast = last;")
        out.line("assign m_axis_tuser = 1'b0;")
        high = f", s_axis_tdata[{beat_in - 1}:{cycles * bits_in}]" if beat_in > cycles * bits_in else ""
        out.line(f"wire unused_inp = &{{1'b0, s_axis_tuser, core_inp{high}}};")
        out.line("")
        for line in (
            "always @(posedge aclk) begin",
            "  if (!aresetn) begin",
            "    running <= 1'b0;",
            "    done <= 1'b0;",
            "  end else if (running) begin",
            "    running <= left != 0;",
            "    done <= left == 0;",
            "  end else if (done) done <= !m_axis_tready;",
            "  else running <= s_axis_tvalid;",
            "end",
            "always @(posedge aclk) begin",
            "  if (running) begin",
            f"    given <= given >> {bits_in};",
            f"    results <= {_shifted(cycles * bits_out, bits_out)};",
            "    left <= left - 1'b1;",
            "  end else if (s_axis_tready) begin",
            f"    given <= s_axis_tdata[{cycles * bits_in - 1}:0];",
            "    last <= s_axis_tlast;",
            f"    left <= {count}'d{cycles - 1};",
            "  end",
            "end",
        ):
            out.line(line)
    out.line("endmodule")
    out.line("`default_nettype wire")
    return out.text()


def _shifted(whole: int, bits: int) -> str:
    """Return the expression of the results, shifted, with the results of the current cycle as the highest bits."""
    return f"{{core_out, results[{whole - 1}:{bits}]}}" if whole > bits else "core_out"


def _waiting(restart: Restart, given: Sequence[Signal]) -> int:
    """Return the values of the inputs between two beats, as bits of a vector."""
    value, offset = 0, 0
    for signal in given:
        places = offsets_of(signal.types)
        for place in range(len(signal.types)):
            value |= ((signal.name, place) in restart.held) << offset + places[place]
        offset += places[-1]
    return value


def _parts(signals: Sequence[Signal], vector: str, zero: str) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each signal, its bits of ``vector`` (empty if it has none), and the default for that case."""
    offset = 0
    for signal in signals:
        bits = bits_of(signal.types)
        yield signal.name, f"{vector}[{offset + bits - 1}:{offset}]" if bits else "", zero
        offset += bits


def _readme(facts: dict[str, Any], rtl: Iterable[str]) -> str:
    top, core, cycles = facts["top"], facts["core"], facts["cycles"]
    ports = "\n".join(
        f"| {what} of a cycle | {', '.join(f'`{name}` ({n})' for name, n in facts[side].items())}, the first lowest |"
        for side, what in (("inputs", "vector: inputs"), ("outputs", "result: outputs"))
    )
    added = ", ".join(f"`{name}`" for name in facts["reset_added"])
    own = f"; `{core}` has one more port than the machine, `{facts['restart']}`, which resets {added}" if added else ""
    lost = ", ".join(f"`{name}`" for name in facts["not_reset"])
    kept = f"\n| not reset | {lost}: outputs that depend on their earlier values are not compared |" if lost else ""
    return f"""\
# {top}

A machine on a board, written by dais-verif {facts["dais_verif"]}, for `dais-verif hil`. `dais.json` has the same facts
in machine-readable form, and the hash of every file.

| | |
|---|---|
| core | `{core}` |
| vector | {cycles} cycles after a reset, the first one lowest |
{ports}
| reset | between two vectors, all inputs that are resets are 1, and all others are 0{own} |{kept}
| throughput | a vector takes {cycles + 2} clocks, in addition to its time on the link |

Numbers of bits are in parentheses. Outputs are sampled before the edge of their cycle. Vectors and results are padded
to whole bytes.

    iverilog -g2005 -s {top} -o /dev/null -f files.f
    verilator --lint-only -Wall -Wno-DECLFILENAME --top-module {top} -f files.f
    yosys -p "read_verilog {" ".join(rtl)}; synth -noalumacc -top {top}"
"""
