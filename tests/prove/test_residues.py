"""Each form, a combination of atoms, has the value of its term, and sums have one form however they are computed."""

from __future__ import annotations

import random
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from prove.door import Run, run_prove
from support.said import as_recorded

from dais_verif.prover.arithmetic.combinations import TooMuchError
from dais_verif.prover.arithmetic.linear import Form, key_of
from dais_verif.prover.arithmetic.recipes import Low, Masked, Negative
from dais_verif.prover.arithmetic.residue_atoms import Atoms
from dais_verif.prover.arithmetic.residues import Words
from dais_verif.prover.terms import (
    Term,
    add,
    band,
    bnot,
    concat,
    const,
    extract,
    ite,
    mul,
    neg,
    nodes,
    sext,
    slt,
    sub,
    top_bit,
    ult,
    var,
    zext,
)
from dais_verif.prover.terms.evaluate import evaluate
from dais_verif.spec.program import assemble

PROGRAM = assemble(
    """\
input a, b
x = s8.0 input a
y = s8.0 input b
s = s10.0 x + y
t = s10.0 s + 5
q = u7.-2 relu(t)
output o = q
"""
)
#: The same function in the style of XLS: slices, sums and masks, and no names of ops.
RTL = """\
module model(input wire [15:0] model_inp, output wire [6:0] model_out);
  wire [9:0] x = {{2{model_inp[7]}}, model_inp[7:0]};
  wire [7:0] y = model_inp[15:8];
  wire [9:0] low = x + {{2{y[7]}}, y};
  wire [9:0] sum = {low[9:2], low[1:0]} + 10'd5;
  wire positive = ~sum[9];
  assign model_out = sum[8:2] & {7{positive}};
endmodule
"""

VENDOR = Path(__file__).parent / "vendor"

NAMES = {"a": 4, "b": 3, "c": 5}
SIGNED = {"a", "b"}


class Valued:
    """Evaluate forms and atoms for given values of the variables, and check their bounds."""

    def __init__(self, atoms: Atoms, values: dict[str, int]) -> None:
        self._atoms, self._values = atoms, values
        self._known: dict[int, int] = {}

    def form(self, form: Form) -> int:
        total = form.constant + sum(n * self.atom(atom) for atom, n in form.terms.items())
        value = Fraction(total, 1 << form.f)
        assert value.denominator == 1, "a form is a whole number"
        assert form.lo <= total <= form.hi
        return int(value)

    def atom(self, atom: int) -> int:
        if atom not in self._known:
            self._known[atom] = self._value(atom)
            lo, hi = self._atoms.bounds[atom]
            assert lo <= self._known[atom] <= hi
        return self._known[atom]

    def _value(self, atom: int) -> int:
        recipe = self._atoms.recipes[atom]
        if isinstance(recipe, Low):
            return self.form(recipe.form) % (1 << recipe.bits)
        if isinstance(recipe, Negative):
            return int(self.form(recipe.form) < 0)
        if isinstance(recipe, Masked):
            holds = self.form(self._atoms.conditions[recipe.condition]) == int(recipe.holds)
            return self.form(recipe.form) if holds else 0
        what = recipe.what
        assert isinstance(what, tuple)
        if what[0] == "input":
            width, value = NAMES[what[1]], self._values[what[1]]
            return value - (value >> (width - 1) << width) if what[1] in SIGNED else value
        if what[0] == "named":
            return self.form(recipe.of[0])
        if what[0] == "and":
            return self.form(recipe.of[0]) & self.form(recipe.of[1])
        raise AssertionError(f"the rules of {what} are not tried here")


def random_word(rng: random.Random, words: list[Term]) -> Term:
    """Return one more word, computed from given words of a few bits, so that sums wrap and slices overlap."""
    x = rng.choice(words)
    same = [word for word in words if word.width == x.width]
    y = rng.choice(same)
    bit = rng.choice([word for word in words if word.width == 1] or [top_bit(x)])
    low = rng.randrange(x.width)
    made = [
        lambda: add(x, y),
        lambda: sub(x, y),
        lambda: neg(x),
        lambda: bnot(x),
        lambda: add(x, const(x.width, rng.randrange(1 << x.width))),
        lambda: mul(x, const(x.width, rng.randrange(1 << x.width))),
        lambda: extract(x, low, rng.randint(1, x.width - low)),
        lambda: sext(x, x.width + rng.randint(0, 2)),
        lambda: zext(x, x.width + rng.randint(0, 2)),
        lambda: concat(x, rng.choice(words)),
        lambda: concat(x, const(rng.randint(1, 2), 0)),
        lambda: ite(bit, x, y),
        lambda: band(x, sext(bit, x.width)),
        lambda: ite(top_bit(x), const(x.width, 0), x),
        lambda: ult(x, y),
        lambda: slt(x, y),
        lambda: rounded(rng, x),
    ]
    return rng.choice(made)()


def rounded(rng: random.Random, x: Term) -> Term:
    """Return an activation like those of networks, rounded to fewer bits; some low bits may be dropped before."""
    left, down = sorted((rng.randrange(x.width), rng.randrange(x.width)))
    half = rng.randrange(1 << x.width) if rng.random() < 0.3 else 1 << max(down - 1, 0)
    kept = extract(x, left, x.width - left)
    word = band(kept, sext(bnot(top_bit(x)), kept.width))
    more = zext(word, word.width + rng.randint(0, 1))
    total = add(more, const(more.width, (half >> left) % (1 << more.width)))
    return extract(total, down - left, rng.randint(1, total.width - (down - left)))


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(s, marks=pytest.mark.slow) for s in range(12, 1000))])
def test_forms_have_the_values_of_their_terms(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dais_verif.prover.arithmetic.combinations._MOST_WORK", 20_000)
    with suppress(TooMuchError):
        check_values(seed)


def check_values(seed: int) -> None:
    rng = random.Random(seed)
    inputs = {name: var(width, name) for name, width in NAMES.items()}
    words = Words()
    forms = {t: words.input(name, t.width, signed=name in SIGNED) for name, t in inputs.items()}
    made = [*inputs.values()]
    for number in range(14):
        t = random_word(rng, made)
        if t.width <= 12:
            made.append(t)
            form = words.form(t, forms)
            if number % 4 == 0:
                words.atoms.learn(words.atoms.low(form, t.width), t.width)
            if number % 5 == 4 and t.op != "const":
                read = words.atoms.signed(form, t.width) if rng.random() < 0.5 else words.unsigned(t, form)
                near = words.atoms.close(read._replace(f=0))
                lo, hi = -(-near.lo >> read.f), near.hi >> read.f
                form = words.atoms.name(("named", number), read, lo, hi, t.width)
            forms[t] = words.atoms.normal(form, t.width)
    for _ in range(12):
        values = {name: rng.randrange(1 << width) for name, width in NAMES.items()}
        valued = Valued(words.atoms, values)
        given = {inputs[name]: const_column(value) for name, value in values.items()}
        for t in made:
            (column,) = evaluate([t], {x: v for x, v in given.items() if x in nodes(t)})
            value = int(column[0])
            signed = value - (value >> (t.width - 1) << t.width)
            assert valued.form(forms[t]) % (1 << t.width) == value
            assert valued.form(words.unsigned(t, forms[t])) == value
            assert valued.form(words.atoms.signed(forms[t], t.width)) == signed
            assert valued.form(words.atoms.negative(words.atoms.signed(forms[t], t.width))) == int(signed < 0)


def const_column(value: int) -> NDArray[np.uint64]:
    return np.array([value], dtype=np.uint64)


class TestWithoutNames:
    """RTL in which no signal is named like an op is compared as a whole, and faults in it never pass."""

    def run(self, rtl: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
        monkeypatch.setattr("dais_verif.prover.proof._MANY", 1)
        return run_prove(PROGRAM, folder, rtl=rtl)

    def test_it_is_proved(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        run = self.run(RTL, tmp_path, monkeypatch)
        assert run.ending == ("PASS", 0), run.tree["message"]
        as_recorded(run.tree["message"])

    @pytest.mark.few(3)
    @pytest.mark.parametrize(
        ("right", "wrong"),
        [
            ("x + {{2{y[7]}}, y}", "x - {{2{y[7]}}, y}"),
            ("10'd5", "10'd4"),
            ("low[1:0]", "low[2:1]"),
            ("~sum[9]", "~sum[8]"),
        ],
    )
    def test_a_fault_is_refuted(self, right: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert RTL.count(right) == 1
        run = self.run(RTL.replace(right, wrong), tmp_path, monkeypatch)
        assert run.ending == ("RTL_MISMATCH", 1), run.tree["message"]

    def test_forms_that_differ_are_no_pass(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A fault at 1 value of 65,536, which the few random vectors miss, is found by comparing forms."""
        rare = RTL.replace("+ 10'd5", "+ 10'd5 + {9'd0, model_inp == 16'h223C}")
        monkeypatch.setattr("dais_verif.prover.proof._VECTORS", 8)
        assert self.run(rare, tmp_path, monkeypatch).tree["verdict"] == "RTL_MISMATCH"


class TestActivationsOfXls:
    """Quantised inputs that wrap, and masked, rounded activations, are proved by forms alone, as XLS slices them.

    ``xls_rounded.v`` is the output of ``XLSModel`` of alkaid 0.8.2 with xls-python 0.1.9934 for ``rounded.dais``.
    """

    def run(self, edit: tuple[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
        monkeypatch.setattr("dais_verif.prover.proof._MANY", 1)
        monkeypatch.setattr("dais_verif.prover.proof._VECTORS", 1)
        text = (VENDOR / "xls_rounded.v").read_text()
        assert edit[0] in text
        return run_prove(VENDOR / "rounded.dais", folder, "--top", "xls_model", rtl=text.replace(*edit))

    def test_they_are_proved(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        run = self.run(("", ""), tmp_path, monkeypatch)
        assert run.ending == ("PASS", 0), run.tree["message"]
        as_recorded(run.tree["message"])

    @pytest.mark.few(3)
    @pytest.mark.parametrize(
        "edit",
        [
            ("add_477[7:2]", "add_477[8:3]"),
            ("concat_495 = {sub_492, bit_slice_493}", "concat_495 = {sub_492, bit_slice_488}"),
            ("sign_ext_515 = {9{not_509}}", "sign_ext_515 = {9{not_508}}"),
            ("add_525 = concat_521 + literal_522", "add_525 = concat_521 - literal_522"),
            ("bit_slice_530 = add_526[7:2]", "bit_slice_530 = add_526[8:3]"),
            ("add_536[6:1]", "add_536[5:0]"),
        ],
        ids=["floor", "bit of another sum", "mask", "rounding", "slice of a rounded one", "no floor"],
    )
    def test_a_fault_is_refuted(self, edit: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        run = self.run(edit, tmp_path, monkeypatch)
        assert run.ending == ("RTL_MISMATCH", 1), run.tree["message"]


class TestOneForm:
    """A sum has one form, in whatever pieces it is computed, and different values have different forms."""

    def keys(self, *terms: Term) -> list[object]:
        words = Words()
        forms = {var(8, name): words.input(name, 8) for name in "xyz"}
        return [key_of(words.unsigned(t, words.form(t, forms))) for t in terms]

    def test_a_sum_that_copies_low_bits(self) -> None:
        x, y = sext(var(8, "x"), 12), sext(var(8, "y"), 12)
        pieces = concat(add(extract(x, 2, 10), extract(y, 0, 10)), extract(x, 0, 2))
        wrong = concat(add(extract(x, 2, 10), extract(y, 0, 10)), extract(x, 1, 2))
        one, two, three = self.keys(add(x, concat(extract(y, 0, 10), const(2, 0))), pieces, wrong)
        assert one == two != three

    def test_sums_of_different_widths(self) -> None:
        x, y, z = (sext(var(8, name), 11) for name in "xyz")
        narrow = sext(add(extract(x, 0, 9), extract(y, 0, 9)), 11)
        one, two, three = self.keys(add(x, y, z), add(z, narrow), add(z, sext(extract(narrow, 0, 8), 11)))
        assert one == two != three, "nine bits hold the sum of two words of eight, and eight do not"

    def test_an_activation_masked_before_or_after_it_is_sliced(self) -> None:
        x = var(8, "x")
        positive = bnot(top_bit(x))
        sliced = concat(const(3, 0), band(extract(x, 2, 5), sext(positive, 5)))
        whole = extract(ite(top_bit(x), const(8, 0), x), 2, 5)
        one, two, three = self.keys(zext(whole, 8), sliced, concat(const(3, 0), extract(x, 2, 5)))
        assert one == two != three

    def test_low_bits_of_what_decides_and_holds_them_are_masked(self) -> None:
        """Masking low bits terminates if the condition is the sign of a sum that contains them."""
        atoms = Words().atoms
        x, y = (atoms.other(("input", name), (), -128, 127) for name in "xy")
        low, bit = atoms.low(x, 2), atoms.low(y, 1)
        negative = atoms.negative(atoms.plus(atoms.sum(atoms.scaled(low, 5), atoms.scaled(bit, 4)), -4))
        masked = atoms.masked(negative, low)
        assert masked.terms and key_of(masked) != key_of(low)

    def test_too_much_work_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("dais_verif.prover.arithmetic.combinations._MOST_WORK", 3)
        x, y, z = (var(8, name) for name in "xyz")
        with pytest.raises(TooMuchError):
            self.keys(add(x, y, z), add(z, neg(y)), add(x, y))
