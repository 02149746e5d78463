"""Claims that fail for some operand values: refined statements, counterexamples, fewer cut points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from support.wiring import Seen, Wiring

from dais_verif.prover import refinement
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.limits import Costs
from dais_verif.prover.obligations import Builder
from dais_verif.prover.refinement import Refiner
from dais_verif.prover.results import ProofOptions, ProofWatcher
from dais_verif.prover.solve.pool import Pool
from dais_verif.prover.terms import Term, add, bnot, const, eq, extract, ite, ult, zext
from dais_verif.record.proof import Basis, Claim, Counterexample, Method, Status
from dais_verif.spec.program import Program

INPUT, ADD, ADD_CONST, QUANT = -1, 0, 4, 3

#: A value of 24 bits that random vectors do not hit.
RARE = 0xABCDE5

#: A row: opcode, two operands, constant, width of its unsigned type.
Row = tuple[int, int, int, int, int]
Made = Callable[[Seen], Term]


def program_of(*rows: Row, output: int = -1) -> Program:
    """Return a program of ``rows`` with one input, whose only output is the last op, or the op ``output``."""
    built = [(code, a, b, data, (0, bits, 0)) for code, a, b, data, bits in rows]
    return Program.build(built, [(output % len(rows), 0, 0)], inp_shift=[0])


def plus(operand: int, constant: int, bits: int) -> Row:
    return ADD_CONST, operand, -1, constant, bits


def read(bits: int) -> Row:
    return INPUT, 0, -1, 0, bits


class Refined:
    """A program, the RTL of its ops and output, and the claims after ``Refiner.run``.

    ``rtl`` has the drivers of the signals of ops; ``out`` drives the output, by default with the signal of its op.
    """

    def __init__(
        self,
        program: Program,
        rtl: dict[int, Made],
        out: Made | None = None,
        *,
        check: bool = True,
        declared: bool = True,
    ) -> None:
        ops, final = program.ops, int(program.outputs[0][0])
        wiring = Wiring(IN=max(op.type.width for op in ops if op.code == INPUT))
        for index, make in rtl.items():
            wiring.wire(f"op_{index}", ops[index].type.width, make)
        wiring.wire("OUT", ops[final].type.width, out or (lambda s: s(f"op_{final}")))
        netlist, boundary = wiring.netlist("OUT"), wiring.boundary("OUT")
        cut = {index: wiring.signals[f"op_{index}"] for index in sorted(rtl)}
        self.builder = Builder(program, netlist, cut, boundary)
        obligations = {("op", index): self.builder.op(index) for index in cut}
        obligations["output", 0] = self.builder.output(0)
        options = ProofOptions(check=check, jobs=1)
        watcher = ProofWatcher()
        self.pool = Pool(options, watcher)
        claims = {}
        for key, obligation in obligations.items():
            holds = self.pool.decide(obligation.rtl, obligation.wanted).decision.equal
            claims[key] = Claim.of(key, Status.PROVED if holds else Status.UNKNOWN, Method.SMT)
        #: The claims that do not hold as they are, and so are refined.
        self.open = [key for key, claim in claims.items() if claim.status is Status.UNKNOWN]
        assumed = Assumptions(program, boundary.inputs, declared)
        self.refiner = Refiner(
            program, netlist, self.builder, self.pool, options, watcher, assumed, obligations, claims, Costs()
        )
        self.counterexample: Counterexample | None = self.refiner.run()

    def op(self, index: int) -> Claim:
        return self.refiner.claims["op", index]

    @property
    def output(self) -> Claim:
        return self.refiner.claims["output", 0]

    def proved(self, index: int) -> Basis:
        """Assert that an op that was open is proved by a statement that holds, and return its basis."""
        key = "op", index
        assert key in self.open
        claim = self.op(index)
        assert claim.status is Status.PROVED
        stated = self.refiner.stated(key, claim.basis)
        assert stated is not None
        assert self.pool.equal(*stated).equal is True
        return claim.basis


def from_input(s: Seen) -> Term:
    return s("IN")


def raised(name: str, constant: int, bits: int) -> Made:
    """Return a driver that gives a signal plus a constant, in ``bits`` bits."""
    return lambda s: add(zext(s(name), bits), const(bits, constant))


def only_if(condition: Callable[[Seen], Term], make: Made) -> Made:
    """Return a driver that gives the value of ``make`` where the condition is 1, and another one elsewhere."""
    return lambda s: ite(condition(s), make(s), add(make(s), const(make(s).width, 1)))


def equal(first: str, second: str, difference: int = 0) -> Callable[[Seen], Term]:
    """Return the condition that ``first`` equals ``second`` plus ``difference``."""
    return lambda s: eq(zext(s(first), 8), add(zext(s(second), 8), const(8, difference)))


def rarely(name: str, make: Made, value: int = RARE) -> Made:
    """Return a driver that differs from ``make`` for one value of a signal of 24 bits."""
    return only_if(lambda s: bnot(eq(s(name), const(24, value))), make)


def total(s: Seen, first: str, second: str) -> Term:
    return add(zext(s(first), 8), zext(s(second), 8))


# refined statements: the weakest one that suffices is named


def ranged(condition: Callable[[Seen], Term]) -> Refined:
    """Refine a program whose op 1 lies in 3..18, and whose op 2 copies it where the condition holds."""
    program = program_of(read(4), plus(0, 3, 5), (QUANT, 1, -1, 0, 5))
    copy = only_if(condition, lambda s: s("op_1"))
    return Refined(program, {0: from_input, 1: raised("op_0", 3, 5), 2: copy})


@pytest.mark.parametrize("bound", [19, 25])
def test_values_outside_of_their_range_do_not_matter(bound: int) -> None:
    found = ranged(lambda s: ult(s("op_1"), const(5, bound)))
    assert found.proved(2) == Basis.RANGES
    assert found.output.status is Status.PROVED
    assert found.counterexample is None
    assert list(found.refiner.ranges) == [1]
    assert found.pool.equal(*found.refiner.ranges[1]).equal is True


def test_the_ends_of_a_range_do_matter() -> None:
    for condition in (
        lambda s: ult(s("op_1"), const(5, 18)),
        lambda s: ult(const(5, 3), s("op_1")),
    ):
        found = ranged(condition)
        assert found.op(2).status is Status.REFUTED
        assert found.counterexample is not None


#: The basis that shows that a path of ``length`` ops and a short path give the same sum, which needs ``length`` levels.
LEVELS = {
    1: Basis.ONE_LEVEL,
    2: Basis.TWO_LEVELS,
    3: Basis.FOUR_LEVELS,
    4: Basis.FOUR_LEVELS,
    5: Basis.ALL_OPS,
    7: Basis.ALL_OPS,
}


def ways(length: int, difference: int = 0) -> tuple[Program, dict[int, Made]]:
    """Return ``length`` ops that add 1 each, one op that adds ``length``, and a last op that adds both results.

    The RTL of the last op is right only where the results differ by ``difference``.
    """
    chain = [plus(n, 1, 7) for n in range(length)]
    rows = [read(6), *chain, plus(0, length, 8), (ADD, length, length + 1, 0, 8)]
    rtl: dict[int, Made] = {0: from_input, length + 1: raised("op_0", length, 8)}
    rtl |= {n + 1: raised(f"op_{n}", 1, 7) for n in range(length)}
    long, short = f"op_{length}", f"op_{length + 1}"
    rtl[length + 2] = only_if(equal(long, short, difference), lambda s: total(s, long, short))
    return program_of(*rows), rtl


def two_ways(length: int, difference: int = 0) -> Refined:
    return Refined(*ways(length, difference))


@pytest.mark.parametrize(("length", "basis"), LEVELS.items())
def test_as_many_levels_of_ops_as_are_needed(length: int, basis: Basis) -> None:
    found = two_ways(length)
    assert found.proved(length + 2) == basis
    assert found.counterexample is None


@pytest.mark.parametrize(
    "last",
    [(plus(0, 2, 7), raised("op_1", 1, 7)), (plus(1, 1, 7), raised("op_0", 2, 7))],
    ids=["the rtl reads", "the program reads"],
)
def test_a_level_is_behind_what_either_side_reads(last: tuple[Row, Made]) -> None:
    row, make = last
    found = Refined(program_of(read(6), plus(0, 1, 7), row), {0: from_input, 1: raised("op_0", 1, 7), 2: make})
    assert found.proved(2) == Basis.ONE_LEVEL


@pytest.mark.parametrize("length", LEVELS)
def test_no_level_proves_what_is_wrong(length: int) -> None:
    found = two_ways(length, difference=1)
    assert found.op(length + 2).status is Status.REFUTED
    assert found.counterexample is not None
    assert (found.counterexample.output, found.counterexample.op) == (0, length + 2)


def test_a_cone_of_too_many_ops_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refinement, "_LARGEST", 8)
    assert two_ways(5).op(7).status is Status.PROVED
    assert two_ways(7).op(9).status is Status.UNKNOWN


def test_ranges_and_levels_together() -> None:
    """One level and ranges prove a sum that is right only if its operands are equal and it is below 44.

    Both operands are op 1, which lies in 2..17, plus 4.
    """
    rows = [read(4), plus(0, 2, 5), plus(1, 4, 6), plus(1, 4, 7), (ADD, 2, 3, 0, 8)]
    near = equal("op_2", "op_3")
    rtl: dict[int, Made] = {0: from_input, 1: raised("op_0", 2, 5), 2: raised("op_1", 4, 6), 3: raised("op_1", 4, 7)}
    rtl[4] = lambda s: ite(
        ult(total(s, "op_2", "op_3"), const(8, 44)), only_if(near, lambda s: total(s, "op_2", "op_3"))(s), const(8, 0)
    )
    assert Refined(program_of(*rows), rtl).proved(4) == Basis.ONE_LEVEL | Basis.RANGES


# promises


def saturating(check: bool) -> Refined:
    """Refine a program whose op 1 promises that the input plus 3 fits in 4 bits; elsewhere, the RTL differs."""
    program = program_of(read(4), plus(0, 3, 4))
    small = only_if(lambda s: ult(s("op_0"), const(4, 13)), raised("op_0", 3, 4))
    return Refined(program, {0: from_input, 1: small}, check=check)


def test_where_a_promise_is_broken_anything_goes() -> None:
    found = saturating(check=True)
    assert found.proved(1) == Basis.PROMISES
    assert found.counterexample is None


def test_unchecked_promises_are_none() -> None:
    found = saturating(check=False)
    assert found.op(1).status is Status.REFUTED
    assert found.counterexample is not None
    assert found.counterexample.vector[0] > 12


def test_promises_of_ops_before() -> None:
    """Op 2 is wrong only where op 1 breaks its promise, which a statement that includes one level shows."""
    program = program_of(read(4), plus(0, 3, 4), (ADD, 0, 1, 0, 8))
    wrong = only_if(lambda s: ult(s("op_0"), const(4, 13)), lambda s: total(s, "op_0", "op_1"))
    rtl: dict[int, Made] = {0: from_input, 1: raised("op_0", 3, 4), 2: wrong}
    assert Refined(program, rtl).proved(2) == Basis.ONE_LEVEL | Basis.PROMISES
    assert Refined(program, rtl, check=False).op(2).status is Status.REFUTED


def test_a_promise_that_chance_does_not_break() -> None:
    """A promise is used even if random vectors do not break it: the RTL differs for one of the three inputs that do."""
    program, edge = program_of(read(24), plus(0, 3, 24)), (1 << 24) - 3
    rtl: dict[int, Made] = {0: from_input, 1: rarely("op_0", raised("op_0", 3, 24), edge)}
    assert Refined(program, rtl).proved(1) == Basis.PROMISES
    found = Refined(program, rtl, check=False)
    assert found.op(1).status is Status.REFUTED
    assert found.counterexample == Counterexample((str(edge),), 0, 1)


def test_promises_of_all_ops_before() -> None:
    """The promises of all ops before count, even if more copies than any level includes follow the promise."""
    copied = [(QUANT, n, -1, 0, 4) for n in range(1, 7)]
    program = program_of(read(4), plus(0, 3, 4), *copied, (ADD, 0, 7, 0, 8))
    rtl: dict[int, Made] = {0: from_input, 1: raised("op_0", 3, 4)}
    rtl |= {n + 1: lambda s, n=n: s(f"op_{n}") for n in range(1, 7)}  # type: ignore[misc]
    rtl[8] = only_if(lambda s: ult(s("op_0"), const(4, 13)), lambda s: total(s, "op_0", "op_7"))
    assert Refined(program, rtl).proved(8) == Basis.ALL_OPS | Basis.PROMISES


# intervals that the source declares


def declaring(first: Made, limit: int = 10, *, named: bool = True, declared: bool = True) -> Refined:
    """Refine a program whose input is declared to lie in 0..9, and whose sum is right only below ``limit``."""
    program = replace(program_of(read(4), plus(0, 3, 5)), intervals=((0, 9), (3, 12)))
    name = "op_0" if named else "IN"
    right = only_if(lambda s: ult(s(name), const(4, limit)), raised(name, 3, 5))
    return Refined(program, {0: first, 1: right} if named else {1: right}, declared=declared)


@pytest.mark.parametrize("named", [True, False], ids=["by the op", "at the input"])
def test_declared_intervals_are_taken_for_granted_where_they_must(named: bool) -> None:
    found = declaring(from_input, named=named)
    assert found.proved(1) == Basis.DECLARED
    assert found.counterexample is None


@pytest.mark.parametrize("named", [True, False], ids=["by the op", "at the input"])
def test_a_declared_interval_is_whole(named: bool) -> None:
    found = declaring(from_input, 9, named=named)
    assert found.op(1).status is Status.REFUTED
    assert found.counterexample is not None
    assert found.counterexample.vector == (9,)


def test_declared_intervals_that_are_not_wanted_prove_nothing() -> None:
    found = declaring(from_input, declared=False)
    assert found.op(1).status is Status.REFUTED
    assert found.counterexample is not None
    assert found.counterexample.vector[0] > 9


def test_declared_intervals_are_the_last_resort() -> None:
    """A claim that ranges alone prove does not rest on declared intervals, which are not proved."""
    program = replace(program_of(read(4), plus(0, 3, 5), (QUANT, 1, -1, 0, 5)), intervals=((0, 9), (3, 12), (3, 12)))
    copy = only_if(lambda s: ult(s("op_1"), const(5, 19)), lambda s: s("op_1"))
    found = Refined(program, {0: from_input, 1: raised("op_0", 3, 5), 2: copy})
    assert found.proved(2) == Basis.RANGES


def test_vectors_that_cannot_be_moved_inside_do_not_count() -> None:
    """Vectors outside the declared interval do not count; they are drawn if two ops read the input."""
    program = program_of(read(4), read(4), plus(0, 3, 5), (ADD, 1, 2, 0, 8))
    wrong = only_if(lambda s: ult(s("op_0"), const(4, 10)), raised("op_0", 3, 5))
    rtl = {0: from_input, 1: from_input, 2: wrong, 3: lambda s: total(s, "op_1", "op_2")}
    found = Refined(replace(program, intervals=((0, 9), (0, 9), (3, 12), (3, 21))), rtl)
    assert found.proved(2) == Basis.DECLARED
    assert found.counterexample is None


def test_declared_intervals_and_all_ops_before() -> None:
    program, rtl = ways(7)
    intervals = [(0, 9), *((n, 9 + n) for n in range(1, 8)), (7, 16), (14, 32)]
    inside = rtl[9]
    rtl[9] = only_if(lambda s: ult(s("op_0"), const(6, 10)), inside)
    found = Refined(replace(program, intervals=tuple(intervals)), rtl)
    assert found.proved(9) == Basis.ALL_OPS | Basis.DECLARED


# vectors


def copies(*rtl: Made, out: Made | None = None) -> Refined:
    """Refine a chain of ops of 24 bits, each of which copies the previous one."""
    rows = [read(24), *((QUANT, n, -1, 0, 24) for n in range(len(rtl) - 1))]
    return Refined(program_of(*rows), dict(enumerate(rtl)), out)


def test_a_wrong_op_is_shown_by_a_vector() -> None:
    found = copies(from_input, lambda s: add(s("op_0"), const(24, 1)))
    assert found.counterexample is not None
    assert (found.counterexample.output, found.counterexample.op) == (0, 1)
    assert found.op(1).status is found.output.status is Status.REFUTED
    assert found.op(1).inputs == found.counterexample.inputs


def test_vectors_refute_what_is_too_large_for_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refinement, "_LARGEST", 0)
    assert copies(from_input, lambda s: bnot(s("op_0"))).op(1).status is Status.REFUTED
    assert copies(from_input, rarely("op_0", lambda s: s("op_0"))).op(1).status is Status.UNKNOWN


def test_vectors_are_drawn_from_declared_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The op is wrong for the sixth of ten declared values, which random vectors of 24 bits would hardly contain."""
    monkeypatch.setattr(refinement, "_LARGEST", 0)
    program = replace(program_of(read(24), (QUANT, 0, -1, 0, 24)), intervals=((1000, 1009), (1000, 1009)))
    found = Refined(program, {0: from_input, 1: rarely("op_0", lambda s: s("op_0"), 1005)})
    assert found.counterexample == Counterexample(("1005",), 0, 1)


def test_the_vector_is_one_for_the_first_op_that_is_wrong() -> None:
    """Op 2 is wrong for all inputs, and op 1 for odd ones; the counterexample is an odd input, which shows op 1."""
    odd = only_if(lambda s: bnot(s("op_0", 0, 1)), lambda s: s("op_0"))
    found = copies(from_input, odd, lambda s: bnot(s("op_1")))
    assert found.counterexample is not None
    assert found.counterexample.op == 1
    assert found.counterexample.vector[0] & 1


def test_a_vector_that_chance_does_not_find() -> None:
    found = copies(from_input, rarely("op_0", lambda s: s("op_0")))
    assert found.counterexample == Counterexample((str(RARE),), 0, 1)
    assert found.op(1).status is Status.REFUTED
    assert found.op(1).inputs == (str(RARE),)


def test_other_inputs_than_those_of_the_cone_are_tried() -> None:
    """Inputs outside the op's cone are varied, too: op 2 is wrong for one value of the low bits of the input.

    The output shows this fault only if some high bit is 1.
    """
    rows = [(INPUT, 0, -1, 0, 28), (QUANT, 0, -1, 0, 24), (QUANT, 1, -1, 0, 24)]
    rtl: dict[int, Made] = {1: lambda s: extract(s("IN"), 0, 24), 2: rarely("op_1", lambda s: s("op_1"))}
    hidden: Made = lambda s: ite(eq(s("IN", 24, 4), const(4, 0)), s("op_1"), s("op_2"))  # noqa: E731
    found = Refined(program_of(*rows), rtl, hidden)
    assert found.op(2).status is Status.REFUTED
    assert found.counterexample is not None
    assert found.counterexample.vector[0] & 0xFFFFFF == RARE
    assert found.counterexample.vector[0] >> 24


def test_later_ops_are_not_pursued_once_the_output_is_wrong() -> None:
    wrong: Made = lambda s: add(s("op_0"), const(24, 1))  # noqa: E731
    found = copies(from_input, wrong, rarely("op_1", lambda s: s("op_1")))
    assert found.counterexample is not None
    assert found.counterexample.op == 1
    assert found.op(2).status is Status.UNKNOWN


def test_earlier_ops_are_pursued_all_the_same() -> None:
    wrong: Made = lambda s: add(s("op_1"), const(24, 1))  # noqa: E731
    found = copies(from_input, rarely("op_0", lambda s: s("op_0")), wrong)
    assert found.op(1).status is Status.REFUTED
    assert found.op(2).status is Status.REFUTED


def test_an_op_that_hands_on_a_wrong_value_is_right_itself() -> None:
    found = copies(from_input, rarely("op_0", lambda s: s("op_0")), lambda s: s("op_1"))
    assert found.counterexample == Counterexample((str(RARE),), 0, 1)
    assert [found.op(n).status for n in range(3)] == [Status.PROVED, Status.REFUTED, Status.PROVED]


# cut points that do not hold


def test_an_output_that_does_not_need_a_wrong_op_is_proved_without_it() -> None:
    found = copies(from_input, lambda s: add(s("op_0"), const(24, 1)), out=lambda s: s("op_0"))
    assert found.counterexample is None
    assert found.op(1).status is Status.REFUTED
    assert list(found.builder.cut) == [0]
    assert found.output.status is Status.PROVED
    assert found.output.basis == Basis.WITHOUT_WRONG_OPS


def test_what_rested_on_a_wrong_op_is_proved_anew() -> None:
    """Op 2, first proved with the value that op 1 should have, is proved again without op 1."""
    found = copies(from_input, lambda s: add(s("op_0"), const(24, 1)), lambda s: s("op_0"))
    assert ("op", 2) in found.open
    assert found.op(2).basis == Basis.WITHOUT_WRONG_OPS
    assert found.op(2).status is found.output.status is Status.PROVED
    assert list(found.builder.cut) == [0, 2]


def test_what_reads_a_wrong_op_by_the_name_of_another_is_not_proved() -> None:
    """Op 3 is not proved if it reads the wrong signal of op 2, though op 2 shares a variable with the right op 1.

    They share a variable because they have the same shape.
    """
    program = program_of(read(6), plus(0, 1, 7), plus(0, 1, 7), (QUANT, 1, -1, 0, 7), output=1)
    right, wrong = raised("op_0", 1, 7), raised("op_0", 2, 7)
    found = Refined(program, {0: from_input, 1: right, 2: wrong, 3: lambda s: s("op_2")})
    assert found.open == [("op", 2)]
    assert found.op(2).status is found.op(3).status is Status.REFUTED
    assert list(found.builder.cut) == [0, 1]
    assert found.output.status is Status.PROVED
    assert found.counterexample is None


def test_what_compensates_a_wrong_op_is_wrong_too() -> None:
    """If op 1 is 1 too large, and op 2 subtracts 1, op 2 does not hold for the right op 1, but the output is right."""
    low: Made = lambda s: add(s("op_1"), const(24, (1 << 24) - 1))  # noqa: E731
    found = copies(from_input, lambda s: add(s("op_0"), const(24, 1)), low)
    assert found.op(1).status is Status.REFUTED
    assert 1 not in found.builder.cut
    assert found.counterexample is None
    assert found.output.status is Status.PROVED


def test_an_output_is_refined_as_ops_are() -> None:
    """An output that equals op 1 only below 19 is proved, because op 1 lies in 3..18."""
    program = program_of(read(4), plus(0, 3, 5))
    out = only_if(lambda s: ult(s("op_1"), const(5, 19)), lambda s: s("op_1"))
    found = Refined(program, {0: from_input, 1: raised("op_0", 3, 5)}, out)
    assert found.open == [("output", 0)]
    assert found.output.status is Status.PROVED
    assert found.output.basis == Basis.RANGES


def test_an_output_that_is_rarely_wrong_is_found() -> None:
    found = copies(from_input, lambda s: s("op_0"), out=rarely("op_1", lambda s: s("op_1")))
    assert found.op(1).status is Status.PROVED
    assert found.output.status is Status.REFUTED
    assert found.counterexample == Counterexample((str(RARE),), 0, None)


# statements


def test_there_is_no_statement_on_another_basis() -> None:
    found = ranged(lambda s: ult(s("op_1"), const(5, 19)))
    assert found.refiner.stated(("op", 2), Basis.PROMISES) is None
    plain = found.refiner.stated(("op", 2), Basis.PLAIN)
    assert plain is not None
    assert plain[2] == ()
    assert found.pool.equal(*plain).equal is False
