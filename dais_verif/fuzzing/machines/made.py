"""Random cases of machines, each generated from a seed: machines with all features, and kernels as hardware."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from dais_verif.errors import InputError
from dais_verif.fuzzing.generate.cases import case_seed
from dais_verif.fuzzing.generate.random_kernels import SHIPPED, asked
from dais_verif.fuzzing.generate.random_machines import random_inputs, random_machine
from dais_verif.fuzzing.machines.case import MachineCase, Rows
from dais_verif.kernels.forms.memory import memory_form
from dais_verif.kernels.forms.stream import stream_form
from dais_verif.machine import Machine
from dais_verif.stimulus.generate_sequences import generate_sequence
from dais_verif.stimulus.machines import InputSequence

__all__ = ["made_kernel", "made_machine"]

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
