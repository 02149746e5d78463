"""The delay model of ops, used to balance pipelines.

Delays are estimated from opcode and widths alone, as docs/emit.md explains: these estimates suffice to place
registers, but do not promise a clock frequency. Delays are integers, in thousandths of the model's unit, so that sums
and comparisons are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from dais_verif.base.errors import EmitterError
from dais_verif.base.files import read_toml
from dais_verif.base.toml import parse_toml
from dais_verif.spec.program import Op, Program
from dais_verif.spec.program.opcodes import Code, bitwise_fields, high_int32

__all__ = ["DEFAULT", "SCALE", "DelayModel", "delay_of", "negation_delay", "read_delay_model"]

#: The number of parts of a unit in which delays are counted.
SCALE = 1000
#: The largest coefficient that is accepted; larger ones are mistakes.
_MOST = 1e6

_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class DelayModel:
    """Coefficients in ``unit``; by default levels of six-input LUTs with the wires between them.

    ``lut``: the delay of one level. ``lut_inputs``: the number of bits that a LUT reads. ``add`` and ``carry``: an
    adder takes ``add``, and ``carry`` per bit. ``mul``, ``mul_level`` and ``mul_bit``: a product takes ``mul``,
    ``mul_level`` for each level of its tree of sums, and ``mul_bit`` per bit of its result. ``table``: the delay for
    every two further address bits of a table that does not fit in one LUT.
    """

    unit: str = "LUT levels"
    lut: float = 1.0
    lut_inputs: int = 6
    add: float = 1.2
    carry: float = 0.05
    mul: float = 0.0
    mul_level: float = 1.5
    mul_bit: float = 0.05
    table: float = 0.5

    def adder(self, width: int) -> float:
        """Return the delay of a sum, difference or negation with a carry chain of ``width`` bits."""
        return self.add + self.carry * width

    def reduction(self, width: int) -> float:
        """Return the delay of a tree of LUTs over ``width`` bits; a tree over one bit is a wire."""
        levels = 0
        while width > 1:
            width, levels = -(-width // self.lut_inputs), levels + 1
        return levels * self.lut

    def product(self, a: int, b: int) -> float:
        """Return the delay of a product of ``a`` by ``b`` bits."""
        return self.mul + self.mul_level * max((min(a, b) - 1).bit_length(), 1) + self.mul_bit * (a + b)

    def lookup(self, width: int) -> float:
        """Return the delay of a table with ``width`` address bits."""
        return self.lut + self.table * -(-max(width - self.lut_inputs, 0) // 2)


DEFAULT = DelayModel()


def delay_of(program: Program, op: Op, model: DelayModel) -> int:
    """Return the delay of ``op`` in thousandths of the unit: 0 for constants, slices of inputs and pure wiring."""
    if op.type.width == 0:
        return 0
    return _counted(_RULES[op.code](op, model, *(program.ops[i].type.width for i in op.operands)))


def negation_delay(width: int, model: DelayModel) -> int:
    """Return the delay of the negation of an output, in thousandths of the unit."""
    return _counted(model.adder(width))


def _counted(delay: float) -> int:
    return round(delay * SCALE)


def _wires(op: Op, model: DelayModel, *widths: int) -> float:
    """Return the delay of an input, constant, shift or quantisation, which only selects bits unless it negates."""
    return model.adder(widths[0]) if op.spec.negate else 0.0


def _add(op: Op, model: DelayModel, a: int, b: int) -> float:
    adds = b and (a or op.code == Code.SUB)  # 0 + b and a + 0 are wiring, and so is a - 0, but 0 - b is not
    return model.adder(op.type.width) if adds else 0.0


def _sum(op: Op, model: DelayModel, *widths: int) -> float:
    """Return the delay of a sum of many terms: compressors reduce three rows to two, and an adder sums the last two."""
    wide = iter(widths)
    summed = [term for term in op.terms if (next(wide) if term.op >= 0 else op.data)]
    # -x is ~x + 1. Compressors and adder have free inputs for all of these ones except one, which costs a row only if
    # all terms are negative.
    rows = len(summed) + (bool(summed) and all(term.negative for term in summed))
    return model.adder(op.type.width) + model.lut * _compressions(rows) if rows > 1 else 0.0


def _compressions(rows: int) -> int:
    """Return the number of levels of compressors, each of which reduces three rows to two, until two rows remain."""
    levels = 0
    while rows > 2:
        rows, levels = rows - rows // 3, levels + 1
    return levels


def _relu(op: Op, model: DelayModel, a: int) -> float:
    return model.lut + (model.adder(a) if op.spec.negate else 0.0)


def _add_const(op: Op, model: DelayModel, a: int) -> float:
    return model.adder(op.type.width) if op.data else 0.0


def _mux(op: Op, model: DelayModel, a: int, b: int, condition: int) -> float:
    return (model.lut if condition else 0.0) + (model.adder(b) if op.spec.negate else 0.0)


def _mul(op: Op, model: DelayModel, a: int, b: int) -> float:
    return model.product(a, b) if a and b else 0.0


def _lookup(op: Op, model: DelayModel, a: int) -> float:
    # With offset 0, at most the top bit of a signed index is inverted; within one LUT, any offset is part of the table.
    offset = a > model.lut_inputs and high_int32(op.data) != 0
    return model.lookup(a) + (model.adder(a) if offset else 0.0)


def _bit_unary(op: Op, model: DelayModel, a: int) -> float:
    if op.data == 0:
        return model.adder(a) if op.spec.negate else model.lut
    return model.reduction(a)


def _bit_binary(op: Op, model: DelayModel, a: int, b: int) -> float:
    taken = bitwise_fields(op.data)
    negated = [width for width, negate in ((a, taken.negate_a), (b, taken.negate_b)) if negate]
    return model.lut + (model.adder(max(negated)) if negated else 0.0)


_RULES: dict[int, Callable[..., float]] = {
    Code.INPUT: _wires,
    Code.ADD: _add,
    Code.SUB: _add,
    Code.RELU: _relu,
    Code.RELU_NEG: _relu,
    Code.QUANT: _wires,
    Code.QUANT_NEG: _wires,
    Code.ADD_CONST: _add_const,
    Code.CONST: _wires,
    Code.MUX: _mux,
    Code.MUX_NEG: _mux,
    Code.MUL: _mul,
    Code.LOOKUP: _lookup,
    Code.BIT_UNARY: _bit_unary,
    Code.BIT_UNARY_NEG: _bit_unary,
    Code.BIT_BINARY: _bit_binary,
    Code.SUM: _sum,
    Code.SHIFT: _wires,
}


def read_delay_model(path: Path) -> DelayModel:
    """Return the default model, changed by the TOML file ``path``. Raises ``InputError`` if the file is invalid."""
    name = repr(str(path))
    try:
        entries = parse_toml(read_toml(path, _MOST_BYTES, "the delay model"))
    except ValueError as error:
        raise EmitterError(f"delay model {name} is not valid TOML: {error}; write lines as carry = 0.05") from None
    known = {field.name: field.default for field in fields(DelayModel)}
    for key, value in entries.items():
        if key not in known:
            raise EmitterError(f"delay model {name}: {key!r} is not a coefficient; known are {', '.join(known)}")
        wrong = _wrong(key, value)
        if wrong:
            raise EmitterError(f"delay model {name}: {key} = {value!r} {wrong}")
    return DelayModel(**entries)


def _wrong(key: str, value: Any) -> str:
    """Return a text that describes the problem of a coefficient; empty if there is none."""
    if key == "unit":
        good = isinstance(value, str) and value.isprintable() and 0 < len(value) <= 40
        return "" if good else "must be a name of at most 40 characters, in quotes"
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if key == "lut_inputs":
        return "" if isinstance(value, int) and number and 2 <= value <= 16 else "must be an integer from 2 to 16"
    good = number and 0 <= value <= _MOST
    return "" if good else f"must be a number from 0 to {_MOST:.0f}"
