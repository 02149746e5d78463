"""Judge stretches of cases of machines, in the same way as cases of programs."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from dais_verif.base.errors import InputError, ProgramError
from dais_verif.campaigns.fuzzing.fuzzer import Finding, Judged, Stretch
from dais_verif.campaigns.fuzzing.generate.cases import case_seed, chosen
from dais_verif.campaigns.fuzzing.generate.random_kernels import SHIPPED, asked
from dais_verif.campaigns.fuzzing.generate.random_machines import random_inputs, random_machine
from dais_verif.campaigns.fuzzing.machines.case import MachineCase, Rows
from dais_verif.campaigns.fuzzing.machines.pairs import KERNEL_PAIRS, MACHINE_PAIRS, MachinePair
from dais_verif.campaigns.fuzzing.pairs.disagreement import Disagreement, NotJudged
from dais_verif.campaigns.fuzzing.shrinking.search import Search, TimeUp
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.compile.kernels.forms.stream import stream_form
from dais_verif.spec.machine import Connection, Machine, Role, validate
from dais_verif.stimulus.generate_sequences import generate_sequence
from dais_verif.stimulus.machines import InputSequence

__all__ = [
    "MACHINE_KINDS",
    "MachineKind",
    "judge_machine",
    "judge_machines",
    "made_kernel",
    "made_machine",
    "shrunk_machine",
]


# Random cases of machines, each generated from a seed: machines with all features, and kernels as hardware.


_SEQUENCES = 2


def made_machine(seed: int, number: int) -> tuple[int, str, MachineCase]:
    """Return case ``number`` of the run with ``seed``: its own seed, its shape, and the case."""
    own = case_seed(seed, number)
    rng = random.Random(own)
    initialised, inside = rng.random() < 0.7, rng.random() < 0.6
    of = random_machine(rng, widest=rng.choice((4, 12, 12, 40)), initialised=initialised, inside=inside)
    cycles = rng.choice((1, 5, 20, 40))
    arrays = random_inputs(rng, of, _SEQUENCES, cycles)
    rows = [
        {name: tuple(tuple(map(Fraction, row)) for row in array[n].tolist()) for name, array in arrays.items()}
        for n in range(_SEQUENCES)
    ]
    return own, "initialised" if initialised else "unknowns", MachineCase(of, tuple(rows), cycles)


def made_kernel(seed: int, number: int) -> tuple[int, str, MachineCase]:
    """Return, like ``made_machine``, a case for a random request of a shipped kernel, in memory or stream form."""
    own = case_seed(seed, number)
    rng = random.Random(own)
    kernel = rng.choice(SHIPPED), rng.getrandbits(32)
    instance, machine, form = asked(*kernel).instance, None, "memory"
    if rng.random() < 0.5:
        try:
            machine, form = stream_form(instance).machine, "stream"
        except InputError:  # it does not fit the stream form; the memory form supports all
            form = "memory"
    if machine is None:
        machine, _ = memory_form(instance)
    cycles = rng.choice((20, 60, 120))
    found = [generate_sequence(machine, cycles, own % (1 << 32), n) for n in range(_SEQUENCES)]
    return own, form, MachineCase(machine, _exact(machine, found), cycles, kernel)


def _exact(machine: Machine, sequences: Sequence[InputSequence]) -> tuple[Rows, ...]:
    names = [signal.name for signal in machine.inputs]
    return tuple({name: tuple(tuple(row) for row in sequence.rows[name]) for name in names} for sequence in sequences)


# Judge stretches of cases of machines, in the same way as cases of programs.


#: Python's recursion limit, since expressions of modules are read recursively.
_DEPTH = 20_000


class MachineKind(NamedTuple):
    """``made``: returns seed, shape and case for the seed of a run and a number. ``pairs``: those that judge cases."""

    made: Callable[[int, int], tuple[int, str, MachineCase]]
    pairs: Mapping[str, MachinePair]


MACHINE_KINDS = {"machine": MachineKind(made_machine, MACHINE_PAIRS), "kernel": MachineKind(made_kernel, KERNEL_PAIRS)}


def judge_machines(stretch: Stretch) -> Judged:
    """Judge all cases of ``stretch``, one after the other; at most one finding per case."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEPTH))
    kind = MACHINE_KINDS[stretch.kind]
    findings: list[Finding] = []
    pairs: Counter[str] = Counter()
    shapes: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    for number in range(stretch.first, stretch.first + stretch.count):
        seed, shape, case = kind.made(stretch.seed, number)
        shapes[shape] += 1
        for name in stretch.pairs:
            if not chosen(seed, name, kind.pairs[name].every):
                continue
            try:
                found = judge_machine(name, kind.pairs[name], case)
            except NotJudged:
                undecided[name] += 1
                continue
            pairs[name] += 1
            if found is not None:
                findings.append(Finding(number, seed, found))
                break
    return Judged(stretch.count, findings, pairs, shapes, undecided)


def judge_machine(name: str, pair: MachinePair, case: MachineCase) -> Disagreement | None:
    """Return the finding of ``pair``; its exceptions are findings. Raises ``NotJudged`` if nothing was compared."""
    try:
        return pair.judge(case)
    except (MemoryError, NotJudged):
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:400]
        return Disagreement(name, f"raises {type(error).__name__}", f"{type(error).__name__}: {said}")


# Shrink a failing case of a machine: fewer and shorter sequences, fewer outputs and connections.


def shrunk_machine(case: MachineCase, fails: Callable[[MachineCase], bool], seconds: float) -> tuple[MachineCase, bool]:
    """Return the smallest case found within ``seconds`` of CPU time that ``fails``, and whether all were tried.

    The result is deterministic unless the time runs out. ``fails`` is only called with valid machines.
    """
    search = Search(case, fails, seconds, lambda text: None)
    try:
        for number in range(len(case.sequences)):
            if search.consider(replace(case, sequences=case.sequences[number : number + 1])):
                break
        before = None
        while before != search.case.key:
            before = search.case.key
            _shorter(search)
            of = search.case
            outputs = [signal.name for signal in of.machine.outputs]
            search.fewest(outputs, lambda left, of=of: _with_outputs(of, left))  # type: ignore[misc]
            of = search.case
            search.fewest(of.machine.connections, lambda left, of=of: _made(of, of.machine, left))  # type: ignore[misc]
    except TimeUp:
        return search.case, False
    return search.case, True


def _shorter(search: Search[MachineCase]) -> None:
    """Remove halves, quarters, ... of the cycles at the end, until not even one cycle can be removed."""
    step = search.case.cycles // 2
    while step:
        of = search.case
        cycles = of.cycles - step
        cut = tuple({name: rows[:cycles] for name, rows in one.items()} for one in of.sequences)
        if cycles < 1 or not search.consider(replace(of, sequences=cut, cycles=cycles)):
            step //= 2


def _with_outputs(case: MachineCase, names: Sequence[str]) -> MachineCase | None:
    """Return ``case`` with only the outputs ``names``, and the signals on which they depend."""
    if not names:
        return None
    signals = {
        name: replace(signal, role=Role.INTERNAL, schedule=None)
        if signal.role is Role.OUTPUT and name not in names
        else signal
        for name, signal in case.machine.signals.items()
    }
    machine = replace(case.machine, signals=signals)
    return _made(case, machine, machine.connections)


def _made(case: MachineCase, machine: Machine, connections: Sequence[Connection]) -> MachineCase | None:
    """Return ``machine`` with these ``connections``, without parts that no output needs; None if it is not valid."""
    needed = _needed(machine, connections)
    smaller = Machine(
        {name: block for name, block in machine.blocks.items() if block.outputs in needed},
        {name: signal for name, signal in machine.signals.items() if name in needed},
        tuple(connection for connection in connections if connection.target.signal in needed),
        machine.origin,
    )
    try:
        validate(smaller)
    except ProgramError:
        return None
    rows = tuple({name: rows for name, rows in one.items() if name in needed} for one in case.sequences)
    return replace(case, machine=smaller, sequences=rows, kernel=None)


def _needed(machine: Machine, connections: Collection[Connection]) -> set[str]:
    """Return the signals on which an output depends."""
    into: dict[str, list[Connection]] = {}
    for connection in connections:
        into.setdefault(connection.target.signal, []).append(connection)
    block_of = {block.outputs: block.inputs for block in machine.blocks.values()}
    found: set[str] = set()
    waiting = [signal.name for signal in machine.outputs]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        reset = machine.signals[name].reset
        waiting += [view.signal for connection in into.get(name, ()) for view in connection.reads]
        waiting += [reset.signal] if reset is not None else []
        waiting += [block_of[name]] if name in block_of else []
    return found
