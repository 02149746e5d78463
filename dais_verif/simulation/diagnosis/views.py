"""Write the relevant signals of a replay for wave viewers: inputs, the wrong op and its operands, outputs.

The value of every signal at the failing vector is known here, so each line of a viewer can state its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path

from dais_verif.base.text import printable
from dais_verif.golden import oracle
from dais_verif.hardware.ports.interface import DesignInterface, Dut
from dais_verif.record.simulation import Blame
from dais_verif.report.waves import Group, Signal, Trace, View, gtkwave, surfer
from dais_verif.simulation import launch
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.simulators.known import KNOWN
from dais_verif.simulation.testbench.packing import unpack_element
from dais_verif.simulation.testbench.probe_job import Look, ProbeJob, Seen
from dais_verif.spec.program import Op, Program
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import Element, ports_of

__all__ = ["ask_for", "replay", "write_views"]


#: The largest number of signals in one group.
_MOST = 300
#: Characters that end a name or a command in the files: signals with such names cannot be shown.
_WRITTEN_OTHERWISE = re.compile(r"[\s;#{}]|[^ -~\u00a1-\ud7ff\ue000-\ufffd]")


def output_signal(output: int) -> str:
    """Return the name of the signal of an output in the emitted Verilog."""
    return f"out_{output}"


def ask_for(program: Program, dut: Dut) -> list[str]:
    """Return the signals that a view needs in addition to those of the ops."""
    ports = [wire.name for wire in (*dut.interface.inputs, *dut.interface.outputs)]
    return [*ports, *map(output_signal, range(program.n_out))]


def write_views(
    program: Program,
    dut: Dut,
    name_of: Callable[[int], str],
    top: str,
    seen: Seen,
    waves: Path,
    output: int,
    blame: Blame,
    folder: Path,
) -> tuple[Path, ...]:
    """Write ``replay.gtkw`` and ``replay.sucl`` beside ``waves``; return their paths."""
    known = None if waves.suffix != ".vcd" else vcd_names(waves)
    view = _View(program, dut, name_of, top, seen, known).view(waves.name, output, blame)
    written = []
    for name, text in (("replay.gtkw", gtkwave(view)), ("replay.sucl", surfer(view))):
        path = folder / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return tuple(written)


def vcd_names(path: Path) -> set[str]:
    """Return the full names, without ranges, of all variables that the header of a VCD file declares."""
    names, scopes = set(), []
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["$scope"]:
                scopes.append(words[2])
            elif words[:1] == ["$upscope"]:
                scopes.pop()
            elif words[:1] == ["$var"]:
                names.add(".".join([*scopes, re.sub(r"\[-?\d+:-?\d+\]$", "", words[4])]))
            elif words[:1] == ["$enddefinitions"]:
                break
    return names


class _View:
    """The lines of one replay that can be shown; ``known``: the names in the waves; None: all names in ``seen``."""

    def __init__(
        self, program: Program, dut: Dut, name_of: Callable[[int], str], top: str, seen: Seen, known: set[str] | None
    ) -> None:
        self._program, self._dut, self._top, self._seen, self._known = program, dut, top, seen, known
        self._name_of = name_of
        self._signed_inputs = _signed_inputs(program)

    def view(self, waves: str, output: int, blame: Blame) -> View:
        guilty = self._program.outputs[output][0] if blame.op is None else blame.op
        nearest = _nearest_first(self._program, guilty)
        ops = [trace for i in nearest if (trace := self._op(self._program.ops[i], guilty=i == blame.op))]
        inputs = dict.fromkeys(op.id0 for i in nearest if (op := self._program.ops[i]).code == INPUT)
        inputs.update(dict.fromkeys(range(self._program.n_in)))
        outputs = dict.fromkeys([output, *range(self._program.n_out)])
        groups = [
            _group("inputs", ["first those that the failure depends on"], map(self._input, inputs)),
            _group("blame", [_words(blame), "then what it depends on, nearest first"], ops),
            _group("outputs", [f"output {output} differs"], (self._output(j, j == output) for j in outputs)),
        ]
        heading = ["The failing vector, after the one before it. Written by dais-verif.", _words(blame)]
        return View(waves, heading, [g for g in groups if g.traces], self._seen.start, self._seen.end)

    def _input(self, j: int) -> Trace | None:
        port, element = self._dut.input_at(j)
        return self._slice(port, f"input {j}", element, j in self._signed_inputs, -element.lo)

    def _output(self, j: int, guilty: bool) -> Trace | None:
        (port, element), kind = self._dut.output_at(j), self._dut.output_types[j]
        own = self._signal(output_signal(j))
        if own is not None and own.width == element.width:
            return self._trace(own, f"out_{j}", 0, own.width, bool(kind.k), kind.f, guilty)
        return self._slice(port, f"output {j}", element, bool(kind.k), kind.f, guilty)

    def _op(self, op: Op, guilty: bool) -> Trace | None:
        own = self._signal(self._name_of(op.index))
        if own is None or op.type.width == 0:
            return None
        label = f"op_{op.index} {op.spec.mnemonic}" + (f" {op.id0}" if op.code == INPUT else "")
        # If the signal of an unsigned op has one more bit, that is a sign bit of 0.
        signed = bool(op.type.k) or own.width > op.type.width
        return self._trace(own, label, 0, own.width, signed, op.type.f, guilty)

    def _slice(
        self, port: str, label: str, element: Element, signed: bool, f: int, guilty: bool = False
    ) -> Trace | None:
        own = self._signal(port)
        if own is None or element.width == 0 or element.offset + element.width > own.width:
            return None
        return self._trace(own, label, element.offset, element.width, signed, f, guilty)

    def _trace(self, own: Signal, label: str, lsb: int, width: int, signed: bool, f: int, guilty: bool) -> Trace:
        bits = unpack_element(self._seen.bits[own.name], Element(lsb, width, 0))
        return Trace(own, label, lsb, width, signed, f, _real(bits, signed, f), guilty)

    def _signal(self, name: str) -> Signal | None:
        bits = self._seen.bits.get(name)
        if (
            bits is None
            or name.endswith("]")
            or _WRITTEN_OTHERWISE.search(name)
            or (self._known is not None and f"{self._top}.{name}" not in self._known)
        ):
            return None
        bounds = self._seen.ranges.get(name) if len(bits) > 1 else None
        return Signal(self._top, name, len(bits), bounds)


def _group(title: str, notes: list[str], traces: Iterable[Trace | None]) -> Group:
    shown = [trace for trace in traces if trace is not None]
    if len(shown) > _MOST:
        notes = [*notes, f"{len(shown) - _MOST} more are not listed here"]
    return Group(title, notes, shown[:_MOST])


def _signed_inputs(program: Program) -> set[int]:
    """Return the inputs whose top bit an op reads as a sign."""
    signed, ports = set(), ports_of(program)
    for op in program.ops:
        if op.code == INPUT and op.type.k and op.type.width:
            element = ports.inputs[op.id0]
            if sum(ports.slice_of(op, int(program.inp_shift[op.id0]))) == element.offset + element.width:
                signed.add(op.id0)
    return signed


def _nearest_first(program: Program, root: int) -> list[int]:
    """Return ``root`` and all ops on which it depends, nearest first."""
    order = dict.fromkeys([root] if root >= 0 else [])
    front = list(order)
    while front:
        front = list(dict.fromkeys(i for index in front for i in program.ops[index].operands if i not in order))
        order.update(dict.fromkeys(front))
    return list(order)


def _real(bits: str, signed: bool, f: int) -> str | None:
    if set(bits) - {"0", "1"}:
        return None
    raw = int(bits, 2) - (signed and bits[0] == "1") * (1 << len(bits))
    return oracle.show(Fraction(raw) * oracle.two(-f))


def _words(blame: Blame) -> str:
    """Return the blame in one line, without characters that have a meaning in the two file formats."""
    text = blame.text
    if blame.expected is not None and blame.found is not None:
        text += f": expected {blame.expected.real}, found {blame.found.real or blame.found.bits}"
    return re.sub(r"[#;{}]", " ", printable(text))


# Replay a failing vector: one build with readable signals, and waves.


def replay(
    simulator: str,
    design: RtlDesign,
    interface: DesignInterface,
    before: str,
    vector: str,
    signals: Sequence[str],
    folder: Path,
    *,
    timeout: float | None = None,
) -> tuple[Seen, Path | None]:
    """Return the values of ``signals`` after ``before`` and then ``vector``, and the waves. Raises ``ToolError``.

    Vectors are rows of ``interface``, whose latency is known, most significant bit first. Waves are None if the
    simulator wrote none.
    """
    folder = folder.absolute()
    waves = folder / KNOWN[simulator].WAVES_FILE
    # For a signal in a scope or an array, the build takes the last part of the name only.
    leaves = list(dict.fromkeys(name.partition("[")[0].rpartition(".")[2] for name in signals))
    simulation = build(simulator, design, folder / "build", signals=leaves, waves=True, timeout=timeout)
    waves.unlink(missing_ok=True)
    look = Look(1, True, {name: (name,) for name in signals}, arrays=False)
    job = ProbeJob(interface, (before, vector), look=look, held=True)
    seen, _ = launch.ask(simulation, "probe", job, Seen, folder, waves=True, timeout=timeout)
    if not waves.is_file():
        return seen, None
    if waves.suffix == ".vcd":
        # The VCD of simulators ends with the last change: viewers would show the failing vector with zero width.
        with waves.open("a", encoding="ascii") as file:
            file.write(f"#{seen.end}\n")
    return seen, waves
