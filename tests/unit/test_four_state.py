"""Operations on undefined bits: IEEE 1800's tables, for all pairs of operands of two digits 0, 1 and X."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, product

import pytest
from support.counting import growth

from dais_verif.prover import four_state, terms
from dais_verif.prover.four_state import parts
from dais_verif.prover.netlist import Cone, Signal, bits_over, driver_of
from dais_verif.prover.terms import Term, as_written, concat, const, extract, is_open, undefined, var
from dais_verif.prover.terms.evaluate import evaluate

WORDS = ["".join(digits) for digits in product("01x", repeat=2)]
Operation = Callable[[Term, Term], Term]


def word(digits: str, name: str = "n") -> Term:
    """Return the term of ``digits``, the most significant first; each X is an undefined bit of its own."""
    some = (undefined(1, f"{name}{n}") if d == "x" else const(1, int(d)) for n, d in enumerate(digits))
    return concat(*some)


def digits(t: Term) -> str:
    """Return the digits of a constant term."""
    value, unknown, _ = parts(t)
    v, u = (int(x[0]) for x in evaluate([value, unknown], {}))
    return "".join("x" if u >> bit & 1 else str(v >> bit & 1) for bit in reversed(range(t.width)))


def spoiling(rule: Callable[[int, int], int], width: int = 2) -> Callable[[str, str], str]:
    """Return the table of an operation whose result is all X if any digit of its operands is."""

    def table(a: str, b: str) -> str:
        if "x" in a + b:
            return "x" * width
        return f"{rule(int(a, 2), int(b, 2)) % (1 << width):0{width}b}"

    return table


def bit_by_bit(rule: dict[str, str]) -> Callable[[str, str], str]:
    return lambda a, b: "".join(rule["".join(sorted(x + y))] for x, y in zip(a, b, strict=True))


def shifted(a: str, b: str, left: bool, fill: str) -> str:
    if "x" in b:
        return "xx"
    for _ in range(int(b, 2)):
        a = a[1:] + "0" if left else fill + a[:-1]
    return a


def same(a: str, b: str) -> str:
    """Compare as Icarus does in nets, statements and conditions: one pair of different defined digits decides."""
    if any({x, y} == {"0", "1"} for x, y in zip(a, b, strict=True)):
        return "0"
    return "x" if "x" in a + b else "1"


AND = {"00": "0", "01": "0", "0x": "0", "11": "1", "1x": "x", "xx": "x"}
OR = {"00": "0", "01": "1", "0x": "x", "11": "1", "1x": "1", "xx": "x"}
XOR = {"00": "0", "01": "1", "0x": "x", "11": "0", "1x": "x", "xx": "x"}
TABLES: dict[str, tuple[Operation, Callable[[str, str], str]]] = {
    "add": (four_state.add, spoiling(lambda a, b: a + b)),
    "sub": (four_state.sub, spoiling(lambda a, b: a - b)),
    "mul": (four_state.mul, spoiling(lambda a, b: a * b)),
    "neg": (lambda a, b: four_state.neg(a), lambda a, b: spoiling(lambda x, y: -x)(a, "00")),
    "udiv": (four_state.udiv, spoiling(lambda a, b: a // b if b else 3)),
    "urem": (four_state.urem, spoiling(lambda a, b: a % b if b else a)),
    "eq": (four_state.eq, same),
    "ult": (four_state.ult, spoiling(lambda a, b: a < b, 1)),
    "slt": (four_state.slt, spoiling(lambda a, b: (a ^ 2) < (b ^ 2), 1)),
    "and": (four_state.band, bit_by_bit(AND)),
    "or": (four_state.bor, bit_by_bit(OR)),
    "xor": (four_state.bxor, bit_by_bit(XOR)),
    "not": (lambda a, b: four_state.bnot(a), lambda a, b: a.translate(str.maketrans("01", "10"))),
    "any": (lambda a, b: four_state.nonzero(a), lambda a, b: OR["".join(sorted(a))]),
    "all": (lambda a, b: four_state.all_ones(a), lambda a, b: AND["".join(sorted(a))]),
    "shl": (four_state.shl, lambda a, b: shifted(a, b, left=True, fill="0")),
    "lshr": (four_state.lshr, lambda a, b: shifted(a, b, left=False, fill="0")),
    "ashr": (four_state.ashr, lambda a, b: shifted(a, b, left=False, fill=a[0])),
    "lookup": (
        lambda a, b: four_state.lookup(a, [2, 1, 0, 3], 2),
        lambda a, b: spoiling(lambda i, j: [2, 1, 0, 3][i])(a, "00"),
    ),
}


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_what_an_operation_makes_of_x(name: str, written: bool) -> None:
    operation, table = TABLES[name]
    for a, b in product(WORDS, WORDS):
        operands = word(a), word(b, "m")
        if written:
            with as_written():
                found = operation(*operands)
        else:
            found = operation(*operands)
        assert digits(found) == table(a, b), (a, b)


@pytest.mark.parametrize("name", TABLES)
def test_the_same_undefined_bit_on_both_sides_decides_nothing(name: str) -> None:
    operation, table = TABLES[name]
    for a in WORDS:
        assert digits(operation(word(a), word(a))) == table(a, a), a


@pytest.mark.parametrize("condition", "01x")
def test_a_choice_by_x_is_what_both_arms_have(condition: str) -> None:
    for a, b in product(WORDS, WORDS):
        merged = "".join(x if x == y else "x" for x, y in zip(a, b, strict=True))
        wanted = {"0": b, "1": a, "x": merged}[condition]
        assert digits(four_state.ite(word(condition, "c"), word(a), word(b, "m"))) == wanted, (a, b)


def test_a_result_of_something_undefined_stays_so() -> None:
    """If ``c`` is 1, the sum is undefined, and so are results computed from the sum.

    The other half of a concatenation is not affected.
    """
    c, a, n = var(1, "c"), var(4, "a"), undefined(4, "n")
    spoilt = four_state.add(terms.ite(c, n, a), const(4, 1))
    for t in (spoilt, four_state.bxor(spoilt, spoilt), four_state.sub(spoilt, spoilt), four_state.mul(spoilt, n)):
        assert is_open(t)
    at = {value: terms.rebuild(spoilt, {c: const(1, value)}) for value in (0, 1)}
    assert at[0] is terms.add(a, const(4, 1)) and parts(at[1]).unknown is const(4, -1)
    assert not is_open(four_state.band(spoilt, const(4, 0)))
    assert extract(concat(spoilt, a), 0, 4) is a


def test_without_anything_undefined_nothing_is_added() -> None:
    a, b, c = var(4, "a"), var(4, "b"), var(1, "c")
    for name in ("add", "sub", "mul", "udiv", "urem", "band", "bor", "bxor", "eq", "ult", "slt", "shl", "lshr", "ashr"):
        assert getattr(four_state, name)(a, b) is getattr(terms, name)(a, b)
    assert four_state.ite(c, a, b) is terms.ite(c, a, b) and four_state.bnot(a) is terms.bnot(a)
    assert four_state.nonzero(a) is terms.nonzero(a) and four_state.neg(a) is terms.neg(a)


@pytest.mark.parametrize("driven", [False, True])
def test_signals_that_nothing_drives_in_a_term_that_was_made_before(driven: bool) -> None:
    """A term ``a ^ n ^ n`` has the right bits once a driven or an undriven signal has replaced its leaf ``n``."""
    n, a = Signal("n", 4, "here"), var(4, "a")
    if driven:
        n.drive(driver_of(bits_over(const(4, 5), {}), 0, 4, 0, "here"))
    leaf, value, unknown = four_state.leaf(4, "n")
    term = four_state.bxor(four_state.bxor(a, leaf), leaf)
    found = bits_over(term, {value: (n, 0)}, {unknown: (n, 0)})(Cone(lambda *place: None).read, 0, 4)
    assert found is a if driven else parts(found).unknown is const(4, -1)
    plain = var(4, "n")
    plainly = bits_over(terms.add(a, plain), {plain: (n, 0)})(Cone(lambda *place: None).read, 0, 4)
    assert is_open(plainly) is not driven, "also where nothing was thought to be undefined"


def test_what_is_undefined_is_found_once() -> None:
    """Undefined bits are not searched for again at each operation on them."""

    runs = count()

    def chain(length: int) -> Callable[[], object]:
        run = next(runs)  # each run has terms of its own

        def work() -> None:
            t = undefined(8, f"n{run}")
            for bit in range(length):
                t = four_state.bxor(terms.ite(var(1, f"c{run} {bit}"), t, var(8, "a")), var(8, f"b{run} {bit}"))
            assert is_open(t)

        return work

    assert growth(chain, 100, 400) < 1.2
