"""The inputs that two programs share, and the values of their ops on the same random inputs.

An input is a real number, of which a program reads bits of certain weights. One variable covers all bits from the
lowest to the highest that either program reads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.prover.op_semantics import bits_of, interpret_op
from dais_verif.prover.terms import Term, extract, var
from dais_verif.prover.terms.evaluate import Values, evaluate
from dais_verif.spec.program import Op, Program
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import Element, Ports, ports_of

__all__ = ["ROWS", "Column", "Inputs", "Node", "simulated"]

ROWS = 512
#: The number of leading rows in which all bits of every input are equal; in later rows, one input in four has equal
#: bits.
_CORNERS = 2


class Node(NamedTuple):
    """Op number ``op`` of the first program (``side`` 0) or the second (``side`` 1)."""

    side: int
    op: int


@dataclass(frozen=True)
class Inputs:
    """The shared inputs. ``ports``: the ports of each program; the other fields have one entry per input.

    ``variables``: None if the input is unused. ``lows``: bit 0 of the variable has weight ``2**low``. ``signed``:
    whether either program reads the input as signed.
    """

    ports: tuple[Ports, Ports]
    variables: tuple[Term | None, ...]
    lows: tuple[int, ...]
    signed: tuple[bool, ...]

    @classmethod
    def of(cls, programs: tuple[Program, Program]) -> Inputs:
        """Return the inputs of two programs, which must have the same number of inputs."""
        ports = ports_of(programs[0]), ports_of(programs[1])
        variables: list[Term | None] = []
        lows = []
        for j, pair in enumerate(zip(ports[0].inputs, ports[1].inputs, strict=True)):
            read = [element for element in pair if element.width]
            low = min((element.lo for element in read), default=0)
            high = max((element.lo + element.width for element in read), default=0)
            variables.append(var(high - low, f"x{j}") if read else None)
            lows.append(low)
        signed = [False] * len(lows)
        for program in programs:
            for op in program.ops:
                if op.code == INPUT and op.type.width:
                    signed[op.id0] |= bool(op.type.k)
        return cls(ports, tuple(variables), tuple(lows), tuple(signed))

    def read(self, side: int, index: int) -> tuple[list[Term], Element]:
        """Return the bits that one program reads of an input, and their element, as arguments for ``interpret_op``."""
        element, variable = self.ports[side].inputs[index], self.variables[index]
        if not element.width or variable is None:
            return [], element
        return [extract(variable, element.lo - self.lows[index], element.width)], element

    def vector(self, model: Mapping[Term, int]) -> tuple[Fraction, ...]:
        """Return the values of all inputs in a solver's model; inputs without an entry are 0."""
        values = []
        for variable, low, signed in zip(self.variables, self.lows, self.signed, strict=True):
            raw = model.get(variable, 0) if variable is not None else 0
            if signed and variable is not None and raw >> variable.width - 1:
                raw -= 1 << variable.width  # as a signed number
            values.append(Fraction(raw) * Fraction(2) ** low)
        return tuple(values)

    def random(self, seed: int, tried: Sequence[Mapping[int, Fraction]] = ()) -> dict[Term, Values]:
        """Return random values of the variables: arrays of shape (ROWS,).

        The rows after the first ``_CORNERS`` rows hold ``tried``: values by input number, with all other inputs 0.
        """
        rng = np.random.default_rng(seed)
        found = {v: _random(v.width, rng) for v in self.variables if v is not None}
        for row, inputs in enumerate(tried[: ROWS - _CORNERS], start=_CORNERS):
            for number, (variable, low) in enumerate(zip(self.variables, self.lows, strict=True)):
                if variable is not None:
                    raw = math.floor(inputs.get(number, Fraction(0)) / Fraction(2) ** low)
                    found[variable][row] = raw & (1 << variable.width) - 1
        return found


def _random(width: int, rng: np.random.Generator) -> Values:
    words = -(-width // 64)
    values: Any = 0
    for word in range(words):
        bits = rng.integers(0, 1 << 64, size=ROWS, dtype=np.uint64, endpoint=False)
        values = bits if words == 1 else values + (bits.astype(object) << 64 * word)
    ones = (1 << width) - 1
    mask: Any = np.uint64(ones) if words == 1 else ones
    values = values & mask
    corner = rng.random(ROWS) < 0.25
    corner[:_CORNERS] = True
    values[corner] = np.where(rng.random(ROWS) < 0.5, 0, mask)[corner] if words == 1 else 0
    values[0], values[1] = 0, mask
    return np.asarray(values)


#: Values of an op as real numbers: ``f``, and one integer per row in units of ``2**-f``; a single 0 if all are 0.
Column = tuple[int, tuple[int, ...]]


def simulated(programs: tuple[Program, Program], inputs: Inputs, given: Mapping[Term, Values]) -> dict[Node, Column]:
    """Return a key for every op: its values on the inputs ``given``, as real numbers in normal form."""
    keys: dict[Node, Column] = {}
    for side, program in enumerate(programs):
        columns: list[Values] = []
        for op in program.ops:
            column = _column(program, op, side, inputs, given, columns)
            columns.append(column)
            keys[Node(side, op.index)] = _key(column, op)
    return keys


def _column(
    program: Program, op: Op, side: int, inputs: Inputs, given: Mapping[Term, Values], columns: list[Values]
) -> Values:
    if op.code == INPUT:
        (value,) = evaluate([interpret_op(program, op, *inputs.read(side, op.id0)).value], given)
    else:
        places = {i: var(bits_of(program.ops[i].type), f"v{n}") for n, i in enumerate(dict.fromkeys(op.operands))}
        term = interpret_op(program, op, [places[i] for i in op.operands]).value
        (value,) = evaluate([term], {place: columns[i] for i, place in places.items()})
    return value if len(value) == ROWS else np.resize(value, ROWS)


def _key(column: Values, op: Op) -> Column:
    """Return the values as real numbers, in a form that does not depend on the type of the op."""
    width, f = op.type.width, op.type.f
    raw: NDArray[Any] = column.astype(object)
    if op.type.k and width:
        raw = np.where(raw >> width - 1 & 1, raw - (1 << width), raw)
    together = 0
    for value in raw.tolist():
        together |= value
    if not together:
        return 0, (0,)
    zeros = (together & -together).bit_length() - 1
    return f - zeros, tuple(value >> zeros for value in raw.tolist())
