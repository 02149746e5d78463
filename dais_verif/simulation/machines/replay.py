"""Replay a failing sequence: find the first wrong register or op of a machine, and leave waves marked at its cycle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from dais_verif.golden import oracle
from dais_verif.golden.machine import Cycle, Value, Values, trace_machine
from dais_verif.hardware.emitter.module import path_of
from dais_verif.hardware.ports.interface import DesignInterface
from dais_verif.record.simulation import Blame, Mismatch
from dais_verif.simulation import launch
from dais_verif.simulation.diagnosis.blame import holds, value_of_bits, value_of_raw
from dais_verif.simulation.machines.rows import bits_of_value, input_words
from dais_verif.simulation.machines.view import write_views
from dais_verif.simulation.scoreboard import first_row_of
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.simulators.known import KNOWN
from dais_verif.simulation.simulators.simulator import Simulation
from dais_verif.simulation.testbench.idle import driven, filled
from dais_verif.simulation.testbench.probe_job import Look, ProbeJob, Register, Seen
from dais_verif.simulation.testbench.sequence_job import MachineDifference, differs, text_of_rows
from dais_verif.spec.machine import Block, Machine, Role, Signal
from dais_verif.spec.machine.order import settling_order, signals_behind
from dais_verif.spec.machine.ports import bits_of, offsets_of, signal_names
from dais_verif.stimulus.machines import InputSequence

__all__ = ["replay_mismatch"]

#: The numbers of values of the oracle, and of bits of registers, that are compared in a few seconds.
_MOST_EXACT, _MOST_BITS = 1_000_000, 20_000_000


class _Op(NamedTuple):
    """An op of a block, and the required value of its signal; None if unknown."""

    block: str
    number: int
    raw: int | None


def replay_mismatch(
    machine: Machine,
    sequence: InputSequence,
    design: RtlDesign,
    interface: DesignInterface,
    mismatch: Mismatch,
    difference: MachineDifference,
    simulator: str,
    folder: Path,
    *,
    timeout: float | None = None,
) -> Mismatch:
    """Return ``mismatch`` with the first wrong register, op or signal, if the design has signals with known names.

    ``sequence`` is repeated to the cycle of ``difference`` in ``simulator``, with readable internal signals. A sequence
    that is too long for the oracle is not repeated. Raises ``ToolError``.
    """
    cycles = difference.cycle + 1
    n_ops = sum(block.program.n_ops for block in machine.blocks.values())
    state = sum(bits_of(signal.types) for signal in machine.registers)
    if n_ops * cycles > _MOST_EXACT or state * cycles > _MOST_BITS:
        return mismatch
    folder.mkdir(parents=True, exist_ok=True)
    simulation = build(simulator, design, folder / "build", waves=True, timeout=timeout)
    exact = list(islice(trace_machine(machine, sequence.rows, check=False, cycles=sequence.cycles), cycles))
    assert mismatch.place is not None
    rows = _rows(machine, sequence, interface, cycles, mismatch.place.sequence)
    replay = _Replay(machine, driven(interface), simulation, exact, rows, folder, timeout)
    blame, look = replay.blame(difference, mismatch)
    seen = replay.last
    if seen is None or look is None:
        return replace(mismatch, blame=blame)
    waves = folder / KNOWN[simulator].WAVES_FILE
    if not waves.is_file():
        return replace(mismatch, blame=blame)
    values = exact[look.cycle].after if look.after else exact[look.cycle].before
    views = write_views(machine, values, design.top, seen, waves, blame, folder)
    return replace(mismatch, blame=blame, waves=str(waves), views=[str(view) for view in views])


def _rows(machine: Machine, sequence: InputSequence, interface: DesignInterface, cycles: int, number: int) -> list[str]:
    """Return the rows that the bench drove in the first ``cycles`` of ``sequence``, which has number ``number``."""
    words = filled(input_words(machine, sequence), interface, first_row_of(number), 0)
    return list(islice(text_of_rows(words, driven(interface).input_bits), cycles))


def _text(signal: Signal, values: Values) -> str:
    """Return all bits of a signal, most significant first."""
    elements = [bits_of_value(v, kind) for v, kind in zip(values[signal.name], signal.types, strict=True)]
    return "".join(reversed(elements))


@dataclass
class _Replay:
    """Runs of one build; ``last``: the answer of the last run."""

    machine: Machine
    interface: DesignInterface
    simulation: Simulation
    exact: Sequence[Cycle]
    rows: Sequence[str]
    folder: Path
    timeout: float | None
    last: Seen | None = None

    def blame(self, difference: MachineDifference, mismatch: Mismatch) -> tuple[Blame, Look | None]:
        """Return the origin of the difference, and the moment at which signals were read."""
        assert mismatch.place is not None
        behind = signals_behind(self.machine, mismatch.place.signal, control=True)
        registers = [s for s in self.machine.registers if s.name in behind and bits_of(s.types)]
        seen = self.ask(len(self.rows), registers, None)
        name = self.simulation.simulator
        if differs(difference.expected, seen.outputs[difference.after]) is False:
            text = f"{mismatch.place} is right when the sequence is repeated in {name}"
            return Blame("unknown", text, replayed_in=name), None
        if seen.wrong is None:
            look = Look(difference.cycle, difference.after, self.signals(behind))
            found = self.judge(self.ask(len(self.rows), [], look), look, None)
            everything = len(seen.there) == len(registers)
            # A wrong output adds nothing if registers could not be read.
            if found is None or (
                not everything and found.signal == f"{mismatch.place.signal}[{mismatch.place.element}]"
            ):
                found = self.cone(mismatch, everything)
            return replace(found, replayed_in=name), look
        edge, wrong = seen.wrong
        number, bits = min(wrong.items())
        register = registers[number]
        look = Look(max(edge, 0), False, self.signals(signals_behind(self.machine, register.name, control=True)))
        seen = self.ask(look.cycle + 1, [], look)
        found = None if edge < 0 else self.judge(seen, look, register)
        return replace(found or self.of_register(register, edge, bits), replayed_in=name), look

    def ask(self, cycles: int, registers: Sequence[Signal], look: Look | None) -> Seen:
        """Run once from power-up."""
        expected = []
        names = signal_names(self.machine)
        for signal in registers:
            moments = [self.exact[0].before, *(cycle.after for cycle in self.exact[:cycles])]
            paths = _called(names[signal.name], signal.name)
            expected.append(Register(paths, tuple(_text(signal, values) for values in moments)))
        job = ProbeJob(self.interface, tuple(self.rows[:cycles]), tuple(expected), look)
        seen, _ = launch.ask(self.simulation, "probe", job, Seen, self.folder, waves=True, timeout=self.timeout)
        self.last = seen
        return seen

    def signals(self, behind: set[str]) -> dict[str, tuple[str, ...]]:
        """Return the signals to read, with their possible names: ours, then alkaid's."""
        names = signal_names(self.machine)
        found = {
            signal.name: _called(names[signal.name], signal.name)
            for signal in self.machine.signals.values()
            if signal.name in behind or signal.role is not Role.INTERNAL
        }
        for block in self.machine.blocks.values():
            if block.outputs in behind:
                own = path_of(block.program)
                for op in block.program.ops:
                    scopes = _called(f"_inst_{block.name}", f"inst_{block.name}")
                    theirs = (f"{scope}.v{op.index}" for scope in scopes)
                    found[_key(block, op.index)] = (f"block_{block.name}.{own(op.index)}", *theirs)
        return found

    def judge(self, seen: Seen, look: Look, register: Signal | None) -> Blame | None:
        """Return the first wire or op that is wrong at ``look``, in settling order; None if none was seen."""
        values = self.exact[look.cycle].after if look.after else self.exact[look.cycle].before
        when = f"cycle {look.cycle}, {'after' if look.after else 'before'} its edge"
        then = "" if register is None else f"; register {register.name} loads it"
        for step in settling_order(self.machine):
            if isinstance(step, Block):
                found = self.in_block(step, values, seen, look, when)
                places = range(len(self.machine.signals[step.outputs].types))
                signal = self.machine.signals[step.outputs]
            else:
                found, signal = None, self.machine.signals[step.target.signal]
                places = range(step.target.start, step.target.stop)
            found = found or self.in_signal(signal, places, values, seen, look, when)
            if found is not None:
                return replace(found, text=found.text + then)
        return None

    def in_block(self, block: Block, values: Values, seen: Seen, look: Look, when: str) -> Blame | None:
        if not _is_numbered_alike(block, seen):
            return None
        for op, (_, number, raw) in zip(block.program.ops, _ops(block, values[block.inputs]), strict=True):
            bits = seen.bits.get(_key(block, number), "")
            if raw is None or not bits or not op.type.width or holds(bits, raw, op.type):
                continue
            return Blame(
                "op",
                f"{when}: {op} of block {block.name} is the first value that diverges",
                number,
                op.spec.mnemonic,
                str(op.type),
                value_of_raw(raw, op.type),
                value_of_bits(bits[-op.type.width :], op.type),
                cycle=look.cycle,
                block=block.name,
            )
        return None

    def in_signal(
        self, signal: Signal, places: range, values: Values, seen: Seen, look: Look, when: str
    ) -> Blame | None:
        bits = seen.bits.get(signal.name, "")
        offsets = offsets_of(signal.types)
        if len(bits) != offsets[-1]:
            return None
        for place in places:
            kind = signal.types[place]
            own = bits[len(bits) - offsets[place + 1] : len(bits) - offsets[place]]
            wanted = bits_of_value(values[signal.name][place], kind)
            if differs(wanted, own):
                name = f"{signal.name}[{place}]"
                return Blame(
                    "signal",
                    f"{when}: {name} is the first signal that diverges",
                    type=str(kind),
                    expected=value_of_bits(wanted, kind),
                    found=value_of_bits(own, kind),
                    cycle=look.cycle,
                    signal=name,
                )
        return None

    def of_register(self, register: Signal, edge: int, bits: str) -> Blame:
        """Return the blame of a wrong register whose sources are not seen to be wrong."""
        values = self.exact[0].before if edge < 0 else self.exact[edge].after
        offsets = offsets_of(register.types)
        for place, kind in enumerate(register.types):
            own = bits[len(bits) - offsets[place + 1] : len(bits) - offsets[place]]
            wanted = bits_of_value(values[register.name][place], kind)
            if differs(wanted, own):
                break
        name = f"{register.name}[{place}]"
        when = "at power-up" if edge < 0 else f"after the edge of cycle {edge}"
        why = "its initial value" if edge < 0 else "its reset, enable and assignments"
        text = f"register {name} is the first wrong register, {when}: check {why}"
        wrong, right = value_of_bits(own, kind), value_of_bits(wanted, kind)
        return Blame("register", text, type=str(kind), expected=right, found=wrong, cycle=max(edge, 0), signal=name)

    def cone(self, mismatch: Mismatch, everything: bool) -> Blame:
        """Return the fan-in cone of an output, if no observed signal is wrong."""
        assert mismatch.place is not None
        name = f"{mismatch.place.signal}[{mismatch.place.element}]"
        behind = signals_behind(self.machine, mismatch.place.signal, control=True)
        if everything:
            text = (
                f"{mismatch.place}: all registers hold the expected values, and no signal that is named in the machine"
                " is wrong"
            )
            return Blame("output", text, cycle=mismatch.place.cycle, signal=name)
        held = [s.name for s in self.machine.registers if s.name in behind]
        text = (
            f"{mismatch.place} depends on registers {', '.join(held[:8])}, but the design has no signals of these names"
        )
        return Blame("cone", text, cycle=mismatch.place.cycle, signal=name)


def _key(block: Block, op: int) -> str:
    return f"{block.name} op {op}"


def _called(*names: str) -> tuple[str, ...]:
    """Return possible names of a signal: VHDL is not case-sensitive, and GHDL uses lower case."""
    return tuple(dict.fromkeys((*names, *(name.lower() for name in names))))


def _is_numbered_alike(block: Block, seen: Seen) -> bool:
    """Return True if alkaid's op signals match the ops of this block; alkaid may have fused and renumbered ops."""
    theirs = [(op, key) for op in block.program.ops if (key := _key(block, op.index)) in seen.bits]
    return all(seen.paths[key].startswith("block_") or len(seen.bits[key]) == op.type.width for op, key in theirs)


def _ops(block: Block, inputs: Sequence[Value]) -> Iterator[_Op]:
    """Yield the value of every op of a block; unknown if one of its inputs is unknown."""
    if any(value is None for value in inputs):
        yield from (_Op(block.name, op.index, None) for op in block.program.ops)
        return
    values = oracle.trace(block.program, [value for value in inputs if value is not None], violations=[])
    for op, value in zip(block.program.ops, values, strict=True):
        yield _Op(block.name, op.index, (value * oracle.two(op.type.f)).numerator)
