"""Read the vectors of a request, and convert found vectors into the form that ``sim`` reads."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import Element, ports_of
from dais_verif.stimulus import Vectors, generate_common, read_batch, require_rows

__all__ = ["WithBoundaries", "batch_of", "decimal", "decimal_rows", "real_inputs", "signed_inputs"]


class WithBoundaries:
    """Generated vectors, the last of which reach boundaries of the program's choices; these are found when needed."""

    def __init__(self, program: Program, rows: int, seed: int, *, check: bool) -> None:
        require_rows(rows)
        self._program, self.rows, self._seed, self._check = program, rows, seed, check

    @cached_property
    def _made(self) -> Vectors:
        # Imported here, since simulators start before anything else is loaded.
        from dais_verif.coverage.boundaries import with_boundaries

        return with_boundaries(self._program, self.rows, self._seed, check=self._check)[0]

    def slice(self, start: int, stop: int) -> Batch:
        """Return rows ``start`` to ``stop``."""
        return self._made.slice(start, stop)


def batch_of(programs: Sequence[Program], files: Sequence[Path], vectors: int, seed: int) -> Batch:
    """Return the vectors in ``files``, then generated ones for ``programs``, which have the same number of inputs.

    Raises ``InputError`` if a file cannot be used.
    """
    given = [read_batch(path, programs[0].n_in) for path in files]
    generated = generate_common(programs, vectors, seed)
    return Batch.concatenate([*given, generated]) if given else generated


def signed_inputs(program: Program, vector: Sequence[int], elements: Sequence[Element] | None = None) -> list[int]:
    """Return the raw integer of each input, which is negative if the top bit is set and an op reads this bit as a sign.

    ``vector``: the bits of each port element. ``elements``: the port elements; None: elements of the program's types.
    """
    elements = elements or ports_of(program).inputs
    signed = set()
    for op in program.ops:
        if op.code == INPUT and op.type.k and op.type.width:
            top = -op.type.f - int(program.inp_shift[op.id0]) + op.type.width
            if top == elements[op.id0].lo + elements[op.id0].width:
                signed.add(op.id0)
    raws = []
    for j, (bits, element) in enumerate(zip(vector, elements, strict=True)):
        negative = j in signed and bits >> (element.width - 1)
        raws.append(bits - (1 << element.width) if negative else bits)
    return raws


def real_inputs(program: Program, vector: Sequence[int], elements: Sequence[Element] | None = None) -> list[Fraction]:
    """Return the exact real value of each input. Arguments are those of ``signed_inputs``."""
    elements = elements or ports_of(program).inputs
    pairs = zip(signed_inputs(program, vector, elements), elements, strict=True)
    return [raw * Fraction(2) ** element.lo for raw, element in pairs]


def decimal(value: Fraction) -> str:
    """Return a dyadic rational as a decimal number, exactly."""
    places = value.denominator.bit_length() - 1
    digits = str(abs(value.numerator) * 5**places).rjust(places + 1, "0")
    text = f"{digits[: len(digits) - places]}.{digits[len(digits) - places :]}" if places else digits
    return f"-{text}" if value < 0 else text


def decimal_rows(batch: Batch) -> str:
    """Return the vectors as CSV for ``--inputs``, every number in full.

    Readers round a fraction to the nearest double, so fractions with more than 53 bits are not read back exactly.
    """
    rows = (",".join(map(decimal, batch.row(row))) for row in range(batch.rows))
    return "".join(f"{row}\n" for row in rows)
