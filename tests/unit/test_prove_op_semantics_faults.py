"""Comparing the prover's semantics of ops with the oracle finds every fault that is seeded in it."""

from __future__ import annotations

import itertools
import random
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from support import op_semantics_held as held

from dais_verif.prover import op_semantics as right
from dais_verif.spec.program.opcodes import OPCODES, Code

SOURCE = Path(str(right.__file__)).read_text()

#: (The part of the comparison that finds it: an opcode, "input" or "output"; text of the module; its replacement.)
BUGS: list[tuple[int | str, str, str]] = [
    # numbers, quantisation
    (3, "low = min(-more, self.term.width - 1)", "low = min(-more - 1, self.term.width - 1)"),
    (0, "if more > 0:", "if more > 1:"),
    (3, "low = min(-more, self.term.width - 1)", "low = max(-more - 1, 0) and min(-more, self.term.width - 1)"),
    (1, "concat(self.term, const(more, 0))", "concat(self.term, const(more, 1))"),
    (1, "return Integer(self.term, self.f - shift)", "return Integer(self.term, self.f)"),
    (0, "return Integer(self.term, self.f - shift)", "return Integer(self.term, self.f + shift)"),
    (-3, "neg(sext(self.term, self.term.width + 1))", "sext(neg(self.term), self.term.width + 1)"),
    (-3, "neg(sext(self.term, self.term.width + 1))", "sext(self.term, self.term.width + 1)"),
    (-3, "neg(sext(self.term, self.term.width + 1))", "bnot(sext(self.term, self.term.width + 1))"),
    (3, "value if kind.k else concat(const(1, 0), value)", "value"),
    (3, "value if kind.k else concat(const(1, 0), value)", "concat(const(1, 0), value)"),
    (7, "return Integer(const(1, 0), kind.f)", "return Integer(const(1, 1), kind.f)"),
    (3, "kind.width, signed=True)\n\n\ndef _equal", "kind.width, signed=False)\n\n\ndef _equal"),
    (3, "return resize(exact.at(kind.f).term, kind.width,", "return resize(exact.at(kind.f - 1).term, kind.width,"),
    (3, "return resize(exact.at(kind.f).term, kind.width,", "return resize(exact.term, kind.width,"),
    (0, "f = max(a.f, b.f)", "f = min(a.f, b.f)"),
    (0, "f = max(a.f, b.f)", "f = a.f"),
    (0, "width = max(x.width, y.width) + more", "width = x.width + more if x.width >= y.width else y.width"),
    (0, "x, y, f = _together(a, b, 1)", "x, y, f = _together(a, b, 0)"),
    (0, "return sext(x, width), sext(y, width), f", "return resize(x, width, False), sext(y, width), f"),
    (4, "const(raw.bit_length() + 1, raw)", "const(max(raw.bit_length(), 1), raw)"),
    (5, "const(raw.bit_length() + 1, raw)", "const(raw.bit_length() + 1, abs(raw))"),
    # promises
    (0, "return OpSemantics(value, _equal(exact, _number(op.type, value)))", "return OpSemantics(value, const(1, 1))"),
    (7, "return OpSemantics(value, _equal(exact, _number(op.type, value)))", "return OpSemantics(value, const(1, 0))"),
    (1, "x, y, _ = _together(a, b, 0)\n    return eq(x, y)", "x, y, _ = _together(a, a, 0)\n    return eq(x, y)"),
    # inputs, outputs
    ("input", "-s.element.lo)", "s.element.lo)"),
    ("input", "concat(const(1, 0), s.operands[0])", "concat(s.operands[0], const(1, 0))"),
    ("input", "times_two_to(int(s.program.inp_shift[s.op.id0]))", "times_two_to(0)"),
    ("input", "times_two_to(int(s.program.inp_shift[s.op.id0]))", "times_two_to(-int(s.program.inp_shift[s.op.id0]))"),
    ("output", "if not negated:\n        return value", "if negated:\n        return value"),
    ("output", "resize(exact.negated().term, kind.width + 1,", "resize(exact.term, kind.width + 1,"),
    ("output", "resize(exact.negated().term, kind.width + 1,", "resize(neg(exact.term), kind.width + 1,"),
    # sums and constants
    (0, "s.b.times_two_to(s.op.data))\n\n\ndef _sub", "s.b)\n\n\ndef _sub"),
    (0, "return _plus(s.a, s.b.times_two_to(s.op.data))", "return _plus(s.a.times_two_to(s.op.data), s.b)"),
    (0, "s.b.times_two_to(s.op.data))\n\n\ndef _sub", "s.a.times_two_to(s.op.data))\n\n\ndef _sub"),
    (1, "s.b.times_two_to(s.op.data).negated()", "s.b.times_two_to(s.op.data)"),
    (1, "s.b.times_two_to(s.op.data).negated()", "s.b.negated().times_two_to(-s.op.data)"),
    (4, "_plus(s.a, _constant(s.op.data, s.op.type.f))", "_plus(s.a, _constant(s.op.data, s.kind(0).f))"),
    (4, "_plus(s.a, _constant(s.op.data, s.op.type.f))", "_plus(s.a, _constant(-s.op.data, s.op.type.f))"),
    (5, "return _constant(s.op.data, s.op.type.f)\n\n\ndef _mux", "return _constant(s.op.data, 0)\n\n\ndef _mux"),
    (Code.SUM, "f = max(part.f for part, _ in parts)", "f = min(part.f for part, _ in parts)"),
    (Code.SUM, "aligned) + len(parts).bit_length()", "aligned) + 1"),
    (Code.SUM, "add(*(neg(term) if negative else term for", "add(*(term for"),
    (Code.SUM, "add(*(neg(term) if negative else term for", "add(*(term if negative else neg(term) for"),
    (Code.SUM, "wide = [(sext(term, width), negative)", "wide = [(resize(term, width, False), negative)"),
    (Code.SUM, "for term in s.op.terms:\n", "for term in dict.fromkeys(s.op.terms):\n"),
    (Code.SUM, "_constant(s.op.data, 0)\n        parts", "_constant(s.op.data, s.op.type.f)\n        parts"),
    (Code.SUM, "parts.append((value.times_two_to(term.shift)", "parts.append((value.times_two_to(-term.shift)"),
    (Code.SUM, "parts.append((value.times_two_to(term.shift)", "parts.append((value"),
    (Code.SUM, "next(operands) if term.op >= 0", "s.number(0) if term.op >= 0"),
    # relu, quantisation
    (2, "ite(top_bit(x.term), const(x.term.width, 0), x.term)", "x.term"),
    (2, "ite(top_bit(x.term), const(x.term.width, 0), x.term)", "ite(top_bit(x.term), x.term, const(x.term.width, 0))"),
    (-2, "x = s.signed_a\n    return Integer(ite(", "x = s.a\n    return Integer(ite("),
    (-2, "return self.a.negated() if self.op.spec.negate else self.a", "return self.a"),
    (-3, "return s.signed_a\n", "return s.a\n"),
    (Code.SHIFT, "return s.a.times_two_to(s.op.data)", "return s.a"),
    (Code.SHIFT, "return s.a.times_two_to(s.op.data)", "return s.a.times_two_to(-s.op.data)"),
    # mux
    (6, "ite(chosen, taken, other)", "ite(chosen, other, taken)"),
    (6, "top_bit(s.operands[2])", "extract(s.operands[2], 0, 1)"),
    (6, "if s.kind(2).width else const(1, 0)", "if s.kind(2).width else const(1, 1)"),
    (6, "b.times_two_to(high_int32(s.op.data))", "b.times_two_to(-high_int32(s.op.data))"),
    (6, "b.times_two_to(high_int32(s.op.data))", "b"),
    (-6, "b = s.b.negated() if s.op.spec.negate else s.b", "b = s.b"),
    (6, "b = s.b.negated() if s.op.spec.negate else s.b", "b = s.b.negated()"),
    # products
    (7, "width = a.term.width + b.term.width", "width = max(a.term.width, b.term.width)"),
    (7, "width = a.term.width + b.term.width", "width = a.term.width + b.term.width - 1"),
    (7, "a.f + b.f", "max(a.f, b.f)"),
    (7, "mul(sext(a.term, width), sext(b.term, width))", "mul(resize(a.term, width, False), sext(b.term, width))"),
    # tables
    (8, "_constant(-kind.raw_min - offset, 0)", "_constant(-kind.raw_min + offset, 0)"),
    (8, "_constant(-kind.raw_min - offset, 0)", "_constant(-offset, 0)"),
    (8, "return OpSemantics(const(width, 0), const(1, 0))", "return OpSemantics(const(width, 0), const(1, 1))"),
    (8, "if first < 0:", "if first < -1:"),
    (8, "if last >= len(entries):", "if last > len(entries):"),
    (8, "const(needed - 1, len(entries))", "const(needed - 1, len(entries) - 1)"),
    (8, "ite(inside, entry, const(width, 0))", "entry"),
    (8, "return OpSemantics(ite(inside, entry, const(width, 0)), inside)", "return OpSemantics(entry, const(1, 1))"),
    (8, "s.program.tables[low_int32(s.op.data)]", "s.program.tables[0]"),
    # bits of one operand
    (9, "if s.op.data == 0:\n        if s.op.type.k:", "if s.op.data == 0:\n        if kind.k:"),
    (9, "return Integer(bnot(t), kind.f)", "return Integer(neg(t), kind.f)"),
    (9, "_number(kind._replace(k=0, i=kind.width - kind.f)", "_number(kind._replace(k=1, i=kind.width - kind.f - 1)"),
    (9, "found = nonzero(t)", "found = bnot(nonzero(t))"),
    (9, "found = all_ones(resize(t, kind.width, signed=True))", "found = all_ones(t)"),
    (9, "if kind.width else const(1, 1)", "if kind.width else const(1, 0)"),
    (9, "Integer(concat(const(1, 0), found), 0)", "Integer(found, 0)"),
    (
        -9,
        '"""±raw(id0), without overflow."""\n        return self.signed_a.term',
        '"""±raw(id0), without overflow."""\n        return self.a.term',
    ),
    # bits of two
    (10, "(band, bor, bxor)", "(bor, band, bxor)"),
    (10, "(band, bor, bxor)", "(band, bxor, bxor)"),
    (10, "a = s.a.negated() if fields.negate_a else s.a", "a = s.a"),
    (10, "b = s.b.negated() if fields.negate_b else s.b", "b = s.b.negated() if fields.negate_a else s.b"),
    (10, "b.times_two_to(fields.shift)", "b"),
    (10, "b.times_two_to(fields.shift), 0)", "b.times_two_to(-fields.shift), 0)"),
]


def mutated(old: str, new: str) -> types.ModuleType:
    """Return the module of op semantics with ``old``, which must occur once, replaced by ``new``."""
    assert SOURCE.count(old) == 1, f"{old!r} is {SOURCE.count(old)} times there: choose another bug"
    module = types.ModuleType("mutated meaning")
    exec(compile(SOURCE.replace(old, new), "mutated meaning", "exec"), module.__dict__)
    return module


def _one(code: int) -> Callable[[], object]:
    if code in held.BINARY:
        rng = random.Random(code)
        datas = rng.sample(held.BINARY[code], min(12, len(held.BINARY[code])))
        return lambda: held.everything(code, datas, 2, rng.sample(held.SMALL, 5), 0.3)
    if code == Code.SUM:
        return lambda: held.check_sums_of_small_types(2_000)
    if code == 5:
        return held.check_a_constant_of_all_small_types
    if abs(code) == 6:
        return lambda: held.check_a_mux_on_all_small_types(code, 47)
    return lambda: held.everything(code, held.UNARY[code], 1, held.SMALL)


def _outputs() -> None:
    for kind, negated in itertools.product(held.SMALL, (False, True)):
        if kind.width:
            held.check_an_output_is_plus_or_minus_a_value(kind, negated)


def comparison(place: int | str) -> Callable[[], object]:
    """Return the part of the comparison that covers ``place``."""
    if place == "input":
        return lambda: held.check_an_input_is_a_slice_of_its_element(400)
    return _outputs if place == "output" else _one(int(place))


@pytest.mark.parametrize(
    "number", [n if n % 8 == 0 else pytest.param(n, marks=pytest.mark.slow) for n in range(len(BUGS))]
)
def test_a_wrong_meaning_is_found(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    place, old, new = BUGS[number]
    wrong = mutated(old, new)
    for name in ("interpret_op", "interpret_output"):
        monkeypatch.setattr(held, name, getattr(wrong, name))
    with pytest.raises(AssertionError):
        comparison(place)()


@pytest.mark.slow
@pytest.mark.parametrize("place", [*OPCODES, "output"])
def test_without_a_bug_the_same_comparison_passes(place: int | str) -> None:
    comparison("input" if place == -1 else place)()


def test_every_opcode_has_a_bug() -> None:
    assert {place for place, _, _ in BUGS if isinstance(place, int)} == set(OPCODES) - {-1}
    assert len(BUGS) >= 50 and {"input", "output"} <= {place for place, _, _ in BUGS}
    assert all(SOURCE.count(old) == 1 and old != new for _, old, new in BUGS)
