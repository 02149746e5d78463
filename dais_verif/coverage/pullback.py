"""Pull wished values back through the fan-in cone to the inputs: each op suggests values of its operands.

The result is a guess, not a solution: other operands are assumed to keep their values, and if the readers of an op wish
for different values, the direction with the larger gain is taken. Therefore every vector is tried, and values are
pulled back again from the point that it reached.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dais_verif.coverage.goals import Wish
from dais_verif.spec.program import Op, Program
from dais_verif.spec.program.opcodes import INPUT, SUMS, Code, bitwise_fields, high_int32, low_int32
from dais_verif.spec.program.ports import Ports
from dais_verif.spec.program.ranges import Interval

__all__ = ["Ground", "Pulled", "pull"]


class Ground(NamedTuple):
    """The program through which values are pulled back. ``intervals``: the possible values of each op."""

    program: Program
    ports: Ports
    intervals: Sequence[Interval]


class Pulled(NamedTuple):
    """The bits of every port element, and the number of ops that were visited."""

    inputs: list[int]
    asked: int


def pull(
    ground: Ground,
    wished: Sequence[Wish],
    now: Sequence[int],
    inputs: Sequence[int],
    rng: random.Random,
    *,
    steps: int = 500,
) -> Pulled:
    """Return ``inputs`` with changes that may achieve the goals ``wished``.

    ``now``: the raw values of all ops on ``inputs``. ``steps``: the maximum number of ops that are visited.
    """
    bits, left = list(inputs), steps
    #: For every op that should change: the wished values, and the gain of each.
    wanted: dict[int, list[tuple[int, float]]] = {}
    waiting: list[int] = []

    def wish(op: int, raw: int, slope: float) -> None:
        x = ground.intervals[op]
        raw = min(max(raw, x.lo), x.hi)
        if raw == now[op]:
            return
        if op not in wanted:
            wanted[op] = []
            heapq.heappush(waiting, -op)
        wanted[op].append((raw, slope))

    for one in wished:
        wish(*one, 1.0)
    while waiting and left:
        left -= 1
        index = -heapq.heappop(waiting)  # the last op comes first, so that all readers of an op are visited before it
        op = ground.program.ops[index]
        raw, slope = _decided(wanted[index], now[index], rng)
        if op.code == INPUT:
            _give(ground, op, raw, bits)
        else:
            for operand, value in _RULES[op.code](ground.program, op, raw, now, rng, ground.intervals):
                wish(operand, value, slope * _slope(ground.program, op, operand, now))
    return Pulled(bits, steps - left)


def _decided(wanted: list[tuple[int, float]], now: int, rng: random.Random) -> tuple[int, float]:
    """Return one of the wished values: in the direction with the larger gain, or sometimes any."""
    if len(wanted) == 1:
        return wanted[0]
    up = sum(slope if raw > now else -slope for raw, slope in wanted) > 0
    one_way = [pair for pair in wanted if (pair[0] > now) == up]
    return (
        rng.choice(wanted) if not one_way or rng.random() < 0.1 else max(one_way, key=lambda pair: abs(pair[0] - now))
    )


def _slope(program: Program, op: Op, operand: int, now: Now) -> float:
    """Return the approximate slope of the op's value with respect to an operand."""
    if op.code in SUMS and operand == op.id1:
        return 2.0 ** min(op.data, 60)
    if op.terms:
        return 2.0 ** max(min(term.shift, 60) for term in op.terms if term.op == operand)
    if op.code == Code.MUL:
        other = op.id1 if operand == op.id0 else op.id0
        return min(abs(now[other]), 1 << 60) * 2.0 ** -min(max(program.ops[other].type.f, -60), 60) + 1e-9
    return 1.0


def _give(ground: Ground, op: Op, raw: int, bits: list[int]) -> None:
    low, width = ground.ports.slice_of(op, int(ground.program.inp_shift[op.id0]))
    low -= ground.ports.inputs[op.id0].offset
    mask = (1 << width) - 1
    bits[op.id0] = bits[op.id0] & ~(mask << low) | (raw & mask) << low


# ------------------------------------------------------------------ one rule per opcode: suggested operand values

Pairs = list[tuple[int, int]]
Now = Sequence[int]
Known = Sequence[Interval]


def _moved(raw: int, by: int) -> int:
    return raw << by if by >= 0 else raw >> -by


def _add(program: Program, op: Op, raw: int, now: Now, rng: random.Random, known: Known) -> Pairs:
    """Get as much of the change as possible from one operand, and the rest from the other."""
    sign = -1 if op.code == Code.SUB else 1
    terms = [(op.id0, program.ops[op.id0].type.f, 1), (op.id1, program.ops[op.id1].type.f - op.data, sign)]
    f = max(op.type.f, terms[0][1], terms[1][1])
    parts = [s * _moved(now[i], f - f_i) for i, f_i, s in terms]
    total = _moved(raw, f - op.type.f)
    if op.id0 == op.id1:
        return [(op.id0, _moved(total, terms[0][1] - f - (sign > 0)))]
    first = rng.randrange(2)
    found: Pairs = []
    for number in (first, 1 - first):
        index, f_i, s = terms[number]
        rest = total - parts[1 - number]
        if rng.random() < 0.2 and number == first:  # only half of the change, so that both operands change
            rest = (rest + parts[number]) // 2
        x = known[index]
        wanted = min(max(_moved(s * rest, f_i - f), x.lo), x.hi)
        parts[number] = s * _moved(wanted, f - f_i)
        found.append((index, wanted))
    return found


def _relu(program: Program, op: Op, raw: int, now: Now, rng: random.Random, known: Known) -> Pairs:
    if raw <= 0:
        below = min(now[op.id0] * (-1 if op.spec.negate else 1), rng.choice((0, -1)))
        return [(op.id0, -below if op.spec.negate else below)]
    return _through(program, op, op.id0, op.spec.negate, 0, raw, now, rng, known)


def _quant(program: Program, op: Op, raw: int, now: Now, rng: random.Random, known: Known) -> Pairs:
    return _through(program, op, op.id0, op.spec.negate, 0, raw, now, rng, known)


def _shift(program: Program, op: Op, raw: int, now: Now, rng: random.Random, known: Known) -> Pairs:
    return _through(program, op, op.id0, False, op.data, raw, now, rng, known)


def _terms(program: Program, op: Op, raw: int, now: Now, rng: random.Random, known: Known) -> Pairs:
    """Get as much of the change as possible from one operand, then from up to three others."""
    points = [-term.shift + (program.ops[term.op].type.f if term.op >= 0 else 0) for term in op.terms]
    f = max(op.type.f, *points)
    weights: dict[int, int] = {}
    missing = _moved(raw, f - op.type.f)
    for term, point in zip(op.terms, points, strict=True):
        weight = (-1 if term.negative else 1) << f - point
        missing -= weight * (now[term.op] if term.op >= 0 else op.data)
        if term.op >= 0:
            weights[term.op] = weights.get(term.op, 0) + weight
    moving = [index for index, weight in weights.items() if weight]
    found: Pairs = []
    for index in rng.sample(moving, min(len(moving), 4)):
        some = missing // 2 if not found and rng.random() < 0.2 else missing  # half, so that others change too
        wanted = min(max(now[index] + some // weights[index], known[index].lo), known[index].hi)
        missing -= weights[index] * (wanted - now[index])
        found.append((index, wanted))
    return found


def _through(
    program: Program,
    op: Op,
    operand: int,
    negate: bool,
    shift: int,
    raw: int,
    now: Now,
    rng: random.Random,
    known: Known,
) -> Pairs:
    """Return a value of the operand that is quantised to ``raw``, without wrapping or after some wraps."""
    f, kind, x = program.ops[operand].type.f - shift, op.type, known[operand]
    drop = f - kind.f
    below = rng.choice((0, now[operand] & (1 << drop) - 1, rng.getrandbits(drop))) if drop > 0 else 0
    lo, hi = (-x.hi, -x.lo) if negate else (x.lo, x.hi)
    turns = [0]
    if not lo <= _moved(raw, drop) + below <= hi and kind.width:
        first = -((raw - _moved(lo, -drop)) >> kind.width)
        last = (_moved(hi, -drop) - raw) >> kind.width
        turns = list(range(first, min(last, first + 8) + 1)) or [0]
    exact = _moved(raw + (rng.choice(turns) << kind.width), drop) + below
    return [(operand, -exact if negate else exact)]


def _add_const(program: Program, op: Op, raw: int, now: Now, rng: random.Random, known: Known) -> Pairs:
    return [(op.id0, _moved(raw - op.data, program.ops[op.id0].type.f - op.type.f))]


def _const(program: Program, op: Op, raw: int, now: Now, rng: random.Random, known: Known) -> Pairs:
    return []


def _mux(program: Program, op: Op, raw: int, now: Now, rng: random.Random, known: Known) -> Pairs:
    kind = program.ops[op.condition].type
    msb = kind.width > 0 and now[op.condition] >> kind.width - 1 & 1 == 1
    found: Pairs = []
    if kind.width and rng.random() < 0.3:
        msb = not msb
        half = 1 << kind.width - 1
        edge = (-1 if msb else 0) if kind.k else (half if msb else half - 1)
        found = [(op.condition, edge)]
    arm = (op.id0, False, 0) if msb else (op.id1, op.spec.negate, high_int32(op.data))
    return [*found, *_through(program, op, *arm, raw, now, rng, known)]


def _mul(program: Program, op: Op, raw: int, now: Now, rng: random.Random, known: Known) -> Pairs:
    product = _moved(raw, program.ops[op.id0].type.f + program.ops[op.id1].type.f - op.type.f)
    one, other = rng.sample((op.id0, op.id1), 2)
    factor, found = now[other], Pairs()
    if raw == 0:
        return [(one, 0)]
    if factor == 0 or rng.random() < 0.3:
        x = known[other]
        factor = rng.choice([v for v in (1, -1, 2, x.hi, x.lo, now[other]) if v and x.lo <= v <= x.hi] or [1])
        found = [(other, factor)]
    return [*found, (one, product // factor)]


def _lookup(program: Program, op: Op, raw: int, now: Now, rng: random.Random, known: Known) -> Pairs:
    table = program.tables[low_int32(op.data)]
    if not len(table):
        return []
    first = program.ops[op.id0].type.raw_min + high_int32(op.data)
    x = known[op.id0]
    lo, hi = max(x.lo - first, 0), min(x.hi - first, len(table) - 1)
    distances = [(abs(int(entry) - raw), rng.random(), lo + n) for n, entry in enumerate(table[lo : hi + 1])]
    return [(op.id0, first + min(distances)[2])] if distances else []


def _bit_unary(program: Program, op: Op, raw: int, now: Now, rng: random.Random, known: Known) -> Pairs:
    kind = program.ops[op.id0].type
    ones = (1 << kind.width) - 1
    if op.data == 0:
        pattern = ~_moved(raw, kind.f - op.type.f)
    elif (raw != 0) == (op.data == 2):
        pattern = ones if op.data == 2 else 0
    else:
        pattern = rng.getrandbits(kind.width) if kind.width else 0
    return [(op.id0, _signed(-pattern if op.spec.negate else pattern, kind.k, kind.width))]


def _signed(pattern: int, k: int, width: int) -> int:
    pattern &= (1 << width) - 1
    return pattern - (1 << width) if k and width and pattern >> width - 1 else pattern


def _bit_binary(program: Program, op: Op, raw: int, now: Now, rng: random.Random, known: Known) -> Pairs:
    fields = bitwise_fields(op.data)
    points = (program.ops[op.id0].type.f, program.ops[op.id1].type.f - fields.shift)
    signs = (-1 if fields.negate_a else 1, -1 if fields.negate_b else 1)
    f = max(points)
    values = [_moved(s * now[i], f - p) for i, p, s in zip((op.id0, op.id1), points, signs, strict=True)]
    wanted = _moved(raw, f - op.type.f)
    one = rng.randrange(2)
    other = values[1 - one]
    if fields.operation == 2:
        values[one] = wanted ^ other
    elif fields.operation == 0:  # AND: where 1 is wished, a 1 in both; elsewhere a 0 in one of them
        values[one], values[1 - one] = wanted | values[one] & ~other, other | wanted
    else:
        values[one], values[1 - one] = wanted & (values[one] | ~other), other & wanted
    pairs = zip((op.id0, op.id1), values, points, signs, strict=True)
    return [(index, s * _moved(value, p - f)) for index, value, p, s in pairs]


_Rule = Callable[[Program, Op, int, Now, random.Random, Known], Pairs]

#: The rules of all opcodes except input ops, where pulling ends.
_RULES: dict[int, _Rule] = {
    Code.ADD: _add,
    Code.SUB: _add,
    Code.RELU: _relu,
    Code.RELU_NEG: _relu,
    Code.QUANT: _quant,
    Code.QUANT_NEG: _quant,
    Code.ADD_CONST: _add_const,
    Code.CONST: _const,
    Code.MUX: _mux,
    Code.MUX_NEG: _mux,
    Code.MUL: _mul,
    Code.LOOKUP: _lookup,
    Code.BIT_UNARY: _bit_unary,
    Code.BIT_UNARY_NEG: _bit_unary,
    Code.BIT_BINARY: _bit_binary,
    Code.SUM: _terms,
    Code.SHIFT: _shift,
}
