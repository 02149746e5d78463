"""Explain a cycle of a machine: the value of every signal, the next values of registers, and their causes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dais_verif.base.errors import MachineInputError
from dais_verif.base.verdict import Verdict
from dais_verif.golden.machine import Action, ExplainedCycle, Taken, Value, explain_cycle
from dais_verif.golden.oracle import show, two
from dais_verif.record.explanation import ConnectionState, CycleRecord, ElementState
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.machine import Machine, Role, Signal
from dais_verif.spec.machine.text import Spelling
from dais_verif.spec.program import FixedType
from dais_verif.stimulus.generate_sequences import generate_sequences
from dais_verif.stimulus.machines import InputSequence, given_sequences
from dais_verif.verbs.machines.requests import require_no_options

if TYPE_CHECKING:
    from dais_verif.verbs.explain import ExplanationRequest

__all__ = ["explain_machine", "text_of"]


def explain_machine(machine: Machine, request: ExplanationRequest) -> CycleRecord:
    """Return the value of every element of every signal in one cycle, and its cause.

    Sequences and their numbers are the same as in a simulation with the same options: from files, then generated ones.
    Raises ``InputError`` for a cycle or sequence that does not exist, ``RequestError`` for options of programs.
    """
    require_no_options(layout=request.layout, row=request.row, only_cone=request.only_cone is not None)
    sequences = [sequence for path in request.inputs for sequence in given_sequences(path, machine)]
    if request.sequence >= len(sequences) and request.vectors:
        sequences += generate_sequences(machine, request.vectors, request.seed)
    number, at = request.sequence, request.cycle or 0
    if number >= len(sequences):
        count = len(sequences)
        raise MachineInputError.of(
            "{sequence} {value}: there are {count}, numbered from 0 on", value=number, count=count
        )
    sequence = sequences[number]
    if at >= sequence.cycles:
        raise MachineInputError.of(
            "{cycle} {value}: sequence {number} has {cycles} cycles, numbered from 0 on",
            value=at,
            number=number,
            cycles=sequence.cycles,
        )
    return _record(machine, sequence, number, at, explain_cycle(machine, sequence.rows, at), request.unchecked)


def _record(
    machine: Machine, sequence: InputSequence, number: int, at: int, found: ExplainedCycle, unchecked: bool
) -> CycleRecord:
    explainer = _Explainer(machine, found)
    verdict = Verdict.PASS if found.violation is None or unchecked else Verdict.PROGRAM_INVALID
    return CycleRecord(
        verdict=verdict,
        exit_code=verdict.exit_code,
        program=ProgramInfo.of_machine(machine),
        sequence=number,
        cycle=at,
        cycles=sequence.cycles,
        violation=None if found.violation is None else f"sequence {number}, {found.violation}",
        elements=[state for signal in machine.signals.values() for state in explainer.elements(signal)],
        connections=[explainer.connection(action) for action in found.actions],
    )


class _Explainer:
    def __init__(self, machine: Machine, found: ExplainedCycle) -> None:
        self.machine, self.found = machine, found
        self.spelling = Spelling(machine)
        self.by_block = {block.outputs: block.name for block in machine.blocks.values()}
        #: The connections that may give a value to each element of each signal.
        self.writers: dict[tuple[str, int], list[int]] = {}
        for j, action in enumerate(found.actions):
            target = action.connection.target
            unknown = action.taken is Taken.UNKNOWN and not action.places
            # The target of an idle connection is mentioned only if the target is known.
            for place in machine.reach(target) if unknown else action.places:
                self.writers.setdefault((target.signal, place), []).append(j)

    def elements(self, signal: Signal) -> list[ElementState]:
        before, after = (values[signal.name] for values in (self.found.cycle.before, self.found.cycle.after))
        return [self.element(signal, e, before[e], after[e]) for e in range(len(signal.types))]

    def element(self, signal: Signal, e: int, now: Value, later: Value) -> ElementState:
        kind = signal.types[e]
        numbers = self.writers.get((signal.name, e), [])
        deciding, because = self.because(signal, numbers)
        then = later if signal.register else None
        return ElementState(
            signal=self.spelling.name(signal.name),
            element=e,
            kind="register" if signal.register else "input" if signal.role is Role.INPUT else "wire",
            output=signal.role is Role.OUTPUT,
            type=str(kind),
            real=None if now is None else show(now),
            raw=None if now is None else _raw(now, kind),
            bits=None if now is None else _bits(now, kind),
            next=None if then is None else show(then),
            next_raw=None if then is None else _raw(then, kind),
            decided_by=deciding,
            because=because,
        )

    def because(self, signal: Signal, numbers: Sequence[int]) -> tuple[list[int], str]:
        """Return the connections that determine the value of an element, and the reason in words."""
        if signal.role is Role.INPUT:
            return [], ""
        if signal.name in self.by_block:
            return [], f"block {self.by_block[signal.name]}"
        if signal.reset is not None:
            reset = self.found.resets[signal.name]
            if reset != 0:
                return [], f"reset, {self.spelling.view(signal.reset)} = {_word(reset)}"
        acting = [j for j in numbers if self.found.actions[j].taken is not Taken.NOTHING]
        if acting:
            return acting, "; and ".join(self.action(self.found.actions[j]) for j in acting)
        idle = "; and ".join(self.action(self.found.actions[j]) for j in numbers)
        return [], f"holds: {idle}" if idle else "holds" if signal.register else ""

    def action(self, action: Action) -> str:
        """Return an action in words: ``din when do_write = 1, at wptr = 3``."""
        connection, spell = action.connection, self.spelling
        source = spell.view(connection.source)
        if action.taken is Taken.ALTERNATIVE and connection.alternative is not None:
            source = spell.view(connection.alternative)
        words = [source]
        if connection.enable is not None:
            enable = f"{spell.view(connection.enable)} = {_word(action.enable)}"
            words = [f"{source} when {enable}"] if action.taken is not Taken.NOTHING else [enable]
        words += [f"at {spell.view(view.index.value)} = {_word(value)}" for view, value in action.indices if view.index]
        return ", ".join(dict.fromkeys(words))

    def connection(self, action: Action) -> ConnectionState:
        return ConnectionState(
            text=self.spelling.connection(action.connection),
            clocked=self.machine.clocked(action.connection),
            takes=action.taken.value,
            enable=None if action.enable is None else int(action.enable),
            indices={self.spelling.view(view): None if v is None else int(v) for view, v in action.indices},
        )


def _word(value: Value) -> str:
    return "unknown" if value is None else show(value)


def _raw(value: Fraction, kind: FixedType) -> int:
    return int(value * two(kind.f))


def _bits(value: Fraction, kind: FixedType) -> str:
    return f"{_raw(value, kind) & ((1 << kind.width) - 1):0{kind.width}b}" if kind.width else ""


# Write a cycle of a machine as text, one line per element.


#: Wider columns are not aligned.
_WIDEST = 40


def text_of(record: CycleRecord) -> str:
    """List all elements of signals: kind, name, type, real value, raw integer, bits, next value, cause."""
    return "".join(f"{line}\n" for line in _lines(record))


def _lines(record: CycleRecord) -> Iterator[str]:
    yield (
        f"; sequence {record.sequence}, cycle {record.cycle} of {record.cycles}: before its edge; after ->, what"
        " registers hold after it"
    )
    counts: dict[str, int] = {}
    for element in record.elements:
        counts[element.signal] = max(counts.get(element.signal, 0), element.element + 1)
    rows = [_cells(element, counts[element.signal]) for element in record.elements]
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(*rows, strict=True)]
    for element, row in zip(record.elements, rows, strict=True):
        aligned = [
            cell.rjust(width) if at in _NUMBERS else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join(aligned).rstrip()
        yield f"  {line}  ; {element.because}" if element.because else f"  {line}"
    if record.violation is not None:
        yield f"! {record.violation}"


#: Columns of numbers.
_NUMBERS = (3, 4, 5)


def _cells(element: ElementState, count: int) -> list[str]:
    name = element.signal if count == 1 else f"{element.signal}[{element.element}]"
    kind = "output" if element.output and element.kind == "wire" else element.kind
    kind = "output register" if element.output and kind == "register" else kind
    now = ["unknown", "", ""] if element.real is None else [element.real, str(element.raw), element.bits or ""]
    then = "unknown" if element.next is None else element.next
    return [kind, name, element.type, *now, f"-> {then}" if element.kind == "register" else ""]
