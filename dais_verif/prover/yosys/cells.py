"""Semantics of Yosys cells, from its manual: operands are first extended to a common width."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from dais_verif.base.errors import UnsupportedVerilog
from dais_verif.prover.four_state import (
    add,
    all_ones,
    ashr,
    band,
    bnot,
    bor,
    bxor,
    eq,
    ite,
    lshr,
    mul,
    neg,
    nonzero,
    shl,
    slt,
    sub,
    udiv,
    ult,
    urem,
)
from dais_verif.prover.memory import chosen
from dais_verif.prover.terms import Term, const, extract, resize, top_bit, undefined
from dais_verif.prover.yosys.json_form import Cell, place

__all__ = ["BITWISE", "LOGIC", "Inputs"]

#: The terms at the inputs of a cell, by the names of its ports.
Inputs = Mapping[str, Term]

Rule = Callable[[Cell, Inputs], Term]


def _unary(rule: Callable[[Term], Term]) -> Rule:
    return lambda cell, x: rule(resize(x["A"], cell.number("Y_WIDTH"), bool(cell.number("A_SIGNED"))))


def _one_bit(rule: Callable[[Term], Term]) -> Rule:
    return lambda cell, x: resize(rule(x["A"]), cell.number("Y_WIDTH"), False)


def _signed(cell: Cell) -> bool:
    return bool(cell.number("A_SIGNED") and cell.number("B_SIGNED"))


def _operands(cell: Cell, x: Inputs, least: int = 1) -> tuple[Term, Term]:
    """Return both operands, extended to the wider of them or to ``least`` bits; as signed only if both are signed."""
    width = max(x["A"].width, x["B"].width, least)
    return resize(x["A"], width, _signed(cell)), resize(x["B"], width, _signed(cell))


def _binary(rule: Callable[[Term, Term], Term]) -> Rule:
    def result(cell: Cell, x: Inputs) -> Term:
        return resize(rule(*_operands(cell, x, cell.number("Y_WIDTH"))), cell.number("Y_WIDTH"), False)

    return result


def _compared(rule: Callable[[Callable[[Term, Term], Term], Term, Term], Term]) -> Rule:
    def result(cell: Cell, x: Inputs) -> Term:
        return resize(rule(slt if _signed(cell) else ult, *_operands(cell, x)), cell.number("Y_WIDTH"), False)

    return result


def _divided(quotient: bool) -> Rule:
    """Return a rule for a quotient, rounded towards zero, or a remainder, with the sign of the first operand."""

    def result(cell: Cell, x: Inputs) -> Term:
        a, b = _operands(cell, x, cell.number("Y_WIDTH"))
        operation = udiv if quotient else urem
        if _signed(cell):
            found = operation(ite(top_bit(a), neg(a), a), ite(top_bit(b), neg(b), b))
            found = ite(bxor(top_bit(a), top_bit(b)) if quotient else top_bit(a), neg(found), found)
        else:
            found = operation(a, b)
        found = ite(nonzero(b), found, undefined(a.width, "a division by 0", a, b))
        return resize(found, cell.number("Y_WIDTH"), False)

    return result


def _shifted(rule: Callable[[Term, Term], Term], arithmetic: bool = False) -> Rule:
    """Return a rule for a shift by an unsigned amount."""

    def result(cell: Cell, x: Inputs) -> Term:
        signed = bool(cell.number("A_SIGNED"))
        a = resize(x["A"], max(x["A"].width, cell.number("Y_WIDTH")), signed)
        return resize((ashr if arithmetic and signed else rule)(a, x["B"]), cell.number("Y_WIDTH"), False)

    return result


def _shift(cell: Cell, x: Inputs) -> Term:
    """Shift A to the right by B; if B is negative, shift it to the left."""
    width = max(x["A"].width, cell.number("Y_WIDTH"))
    a, b = resize(x["A"], width, bool(cell.number("A_SIGNED"))), x["B"]
    found = lshr(a, b)
    if cell.number("B_SIGNED"):
        found = ite(top_bit(b), shl(a, neg(b)), found)
    return resize(found, cell.number("Y_WIDTH"), False)


def _selected(cell: Cell, x: Inputs) -> Term:
    """Return bits of A from bit B on; all of them are undefined if one is out of range."""
    a, b, width = x["A"], x["B"], cell.number("Y_WIDTH")
    if width > a.width:
        raise UnsupportedVerilog(
            f"{place(cell.attributes)}: {width} bits are selected from {a.width}, which is not supported"
        )
    position, inside = chosen(b, bool(cell.number("B_SIGNED")), a.width - width, 0)
    found = extract(lshr(a, position), 0, width)
    return found if inside is None else ite(inside, found, undefined(width, "bits beyond a vector", a, b))


def _parallel(cell: Cell, x: Inputs) -> Term:
    """Return the part of B whose bit of S is 1; A if no bit is 1; undefined if several are."""
    default, arms, select = x["A"], x["B"], x["S"]
    width = default.width
    bits = [extract(select, n, 1) for n in range(select.width)]
    found = default
    for n, bit in reversed(list(enumerate(bits))):
        found = ite(bit, extract(arms, n * width, width), found)
    if _exclusive(bits):
        return found
    several = nonzero(band(select, add(select, const(select.width, -1))))
    return ite(several, undefined(width, "a multiplexer with several inputs selected", select, arms), found)


def _exclusive(bits: list[Term]) -> bool:
    """Return whether the bits exclude each other, because they compare one term with different constants."""
    subjects: set[Term] = set()
    values: list[int] = []
    for bit in bits:
        if bit.op != "eq" or bit.args[1].op != "const":
            return len(bits) == 1
        subjects.add(bit.args[0])
        values.append(bit.args[1].value)
    return len(subjects) == 1 and len(set(values)) == len(values)


def _power(cell: Cell, x: Inputs) -> Term:
    a, b = x["A"], x["B"]
    if b.op != "const" or (cell.number("B_SIGNED") and top_bit(b).value):
        raise UnsupportedVerilog(f"{place(cell.attributes)}: the proof supports powers with a constant exponent only")
    width = max(a.width, cell.number("Y_WIDTH"))
    base, found = resize(a, width, _signed(cell)), const(width, 1)
    for digit in bin(b.value)[2:]:
        found = mul(found, found)
        if digit == "1":
            found = mul(found, base)
    return resize(found, cell.number("Y_WIDTH"), False)


def _parity(t: Term) -> Term:
    return reduce(bxor, (extract(t, bit, 1) for bit in range(t.width)))


LOGIC: dict[str, Rule] = {
    "$neg": _unary(neg),
    "$reduce_and": _one_bit(all_ones),
    "$reduce_or": _one_bit(nonzero),
    "$reduce_bool": _one_bit(nonzero),
    "$reduce_xor": _one_bit(_parity),
    "$reduce_xnor": _one_bit(lambda t: bnot(_parity(t))),
    "$logic_not": _one_bit(lambda t: bnot(nonzero(t))),
    "$logic_and": lambda cell, x: resize(band(nonzero(x["A"]), nonzero(x["B"])), cell.number("Y_WIDTH"), False),
    "$logic_or": lambda cell, x: resize(bor(nonzero(x["A"]), nonzero(x["B"])), cell.number("Y_WIDTH"), False),
    "$add": _binary(add),
    "$sub": _binary(sub),
    "$mul": _binary(mul),
    "$div": _divided(True),
    "$mod": _divided(False),
    "$pow": _power,
    "$eq": _compared(lambda less, a, b: eq(a, b)),
    "$eqx": _compared(lambda less, a, b: eq(a, b)),
    "$ne": _compared(lambda less, a, b: bnot(eq(a, b))),
    "$nex": _compared(lambda less, a, b: bnot(eq(a, b))),
    "$lt": _compared(lambda less, a, b: less(a, b)),
    "$gt": _compared(lambda less, a, b: less(b, a)),
    "$le": _compared(lambda less, a, b: bnot(less(b, a))),
    "$ge": _compared(lambda less, a, b: bnot(less(a, b))),
    "$shl": _shifted(shl),
    "$sshl": _shifted(shl),
    "$shr": _shifted(lshr),
    "$sshr": _shifted(lshr, arithmetic=True),
    "$shift": _shift,
    "$shiftx": _selected,
    "$pmux": _parallel,
}

#: Cells in which each output bit depends only on the same bit of the operands.
BITWISE: dict[str, Callable[..., Term]] = {
    "$not": bnot,
    "$pos": lambda a: a,
    "$and": band,
    "$or": bor,
    "$xor": bxor,
    "$xnor": lambda a, b: bnot(bxor(a, b)),
}
