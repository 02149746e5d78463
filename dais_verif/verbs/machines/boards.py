"""Run a machine on a board: the sequences to send, and the decisions for the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from dais_verif.base.errors import MachineInputError, RequestError
from dais_verif.base.files import write_atomically
from dais_verif.record.simulation import Decision, StimulusClass
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.restart import Restart
from dais_verif.stimulus.generate_sequences import generate_sequence
from dais_verif.stimulus.machines import InputSequence, given_sequences, npz_of
from dais_verif.verbs.simulation_record import given_vectors

__all__ = ["BoardSequences", "board_decisions", "keep_sequence", "require_whole"]


@dataclass(frozen=True)
class BoardSequences:
    """Sequences with at most as many cycles as a board takes per vector, and a stimulus class for each source."""

    sequences: list[InputSequence]
    classes: list[StimulusClass]

    @classmethod
    def of(cls, machine: Machine, inputs: Sequence[Path], vectors: int, seed: int, cycles: int) -> BoardSequences:
        """Return the sequences of files, then ``vectors`` generated cycles in sequences of at most ``cycles``.

        Raises ``InputError`` for a file's sequence with more cycles than that.
        """
        found: list[InputSequence] = []
        classes = []
        for path in inputs:
            given = given_sequences(path, machine)
            for number, sequence in enumerate(given):
                if sequence.cycles > cycles:
                    raise MachineInputError.of(
                        "{path}: sequence {number} has {found} cycles, and a vector of the board {most}: cut it, or"
                        " make a board with {cycles} {found}",
                        path=path,
                        number=number,
                        found=sequence.cycles,
                        most=cycles,
                    )
            classes.append(given_vectors(path, sum(sequence.cycles for sequence in given)))
            found += [sequence for sequence in given if sequence.cycles]
        for number in range(-(-vectors // cycles)):
            found.append(generate_sequence(machine, min(cycles, vectors - number * cycles), seed, number))
        classes += [StimulusClass("generated", vectors)] if vectors else []
        return cls(found, classes)


def require_whole(*, layout: str | None, resume: bool, blame: Path | None) -> None:
    """Raise ``RequestError`` for options that only programs have."""
    if layout:
        raise RequestError.of("{layout} is for programs, but this is a machine (ALIRFSM): leave it out.")
    if resume:
        raise RequestError.of(
            "{resume} is for programs: a run of a machine always starts from the beginning; leave it out."
        )
    if blame is not None:
        raise RequestError.of("{blame} is for programs, whose ops have taps; machines do not have them yet.")


def board_decisions(restart: Restart, cycles: int) -> list[Decision]:
    """Return the decision about the start of each sequence on the board, which the machine's file leaves open."""
    found = [
        Decision(
            "sequences",
            f"at most {cycles} cycles, each sequence from a reset",
            "a vector of the board is this many cycles; between two vectors, inputs that are resets are 1 and all "
            "others 0",
        )
    ]
    if restart.added:
        why = "no input resets these registers, so the core on the board has an additional reset input"
        found.append(Decision("restart", ", ".join(restart.added), why))
    if restart.lost:
        why = "outputs that depend on them are not compared until the sequence has written them"
        found.append(Decision("not reset", ", ".join(restart.lost), why))
    return found


def keep_sequence(path: Path, machine: Machine, sequence: InputSequence) -> bool:
    """Write ``sequence`` as a file that ``sim --inputs`` reads; return False if no file can hold its numbers."""
    arrays = {}
    for signal in machine.inputs:
        rows = sequence.rows[signal.name]
        array = np.array([[float(value) for value in rows[cycle]] for cycle in range(sequence.cycles)])
        array = array.reshape(sequence.cycles, len(signal.types))
        if any([Fraction(value) for value in row] != list(rows[cycle]) for cycle, row in enumerate(array.tolist())):
            return False
        arrays[signal.name] = array
    if not arrays:
        return False
    write_atomically(path, npz_of(arrays))
    return True
