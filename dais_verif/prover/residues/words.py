"""Terms as forms: each word is a combination of atoms that equals the word modulo ``2**width``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dais_verif.prover.form import Form, constant_form, key_of, negated, on_grid
from dais_verif.prover.residues.atoms import Atoms
from dais_verif.prover.terms import Term, nodes

__all__ = ["Words"]


class Words:
    """Converts terms to forms, given the forms of variables."""

    def __init__(self) -> None:
        self.atoms = Atoms()

    def form(self, root: Term, given: Mapping[Term, Form]) -> Form:
        """Return a form that equals ``root`` modulo ``2**width``."""
        found: dict[Term, Form] = dict(given)
        for t in nodes(root):
            if t not in found:
                rule = _RULES.get(t.op, Words._other)
                found[t] = rule(self, t, [found[x] for x in t.args])
        return found[root]

    def unsigned(self, t: Term, form: Form) -> Form:
        """Return the unsigned value of ``t``; ``form`` equals ``t`` modulo ``2**width``."""
        return self.atoms.low(form, t.width)

    def input(self, name: object, width: int, *, signed: bool = True) -> Form:
        """Return an input variable of ``width`` bits; if ``signed``, as the low bits of a two's complement number."""
        if not signed:
            return self.atoms.other(("input", name), (), 0, (1 << width) - 1)
        number = self.atoms.other(("input", name), (), -(1 << width - 1), (1 << width - 1) - 1)
        return self.atoms.low(number, width)

    def _const(self, t: Term, of: list[Form]) -> Form:
        return constant_form(t.value, 0)

    def _add(self, t: Term, of: list[Form]) -> Form:
        return self.atoms.plus(self.atoms.sum(*of), t.low)

    def _neg(self, t: Term, of: list[Form]) -> Form:
        return negated(of[0])

    def _not(self, t: Term, of: list[Form]) -> Form:
        return self.atoms.plus(negated(of[0]), -1)

    def _mul(self, t: Term, of: list[Form]) -> Form:
        for a, b in (of, of[::-1]):
            if not b.terms:
                return self.atoms.scaled(a, b.constant)
        return self._other(t, of)

    def _concat(self, t: Term, of: list[Form]) -> Form:
        place, parts = 0, []
        for number in range(len(of) - 1, -1, -1):
            x = t.args[number]
            form = of[number] if number == 0 else self.unsigned(x, of[number])
            parts.append(self.atoms.scaled(form, 1 << place))
            place += x.width
        return self.atoms.sum(*parts)

    def _extract(self, t: Term, of: list[Form]) -> Form:
        return self.atoms.shifted_down(of[0], t.low)

    def _sext(self, t: Term, of: list[Form]) -> Form:
        return self.atoms.signed(of[0], t.args[0].width)

    def _ite(self, t: Term, of: list[Form]) -> Form:
        bit = self.unsigned(t.args[0], of[0])
        one, other = of[1:]
        if not one.terms and not one.constant:
            return self.atoms.masked(self._inverted(bit), other)
        found = self.atoms.sum(other, self.atoms.masked(bit, self.atoms.minus(one, other)))
        f = max(one.f, other.f, found.f)
        either = on_grid(one, f), on_grid(other, f)
        least = min(form.lo for form in either) >> f - found.f
        most = -(-max(form.hi for form in either) >> f - found.f)
        return found._replace(lo=max(found.lo, least), hi=min(found.hi, most))

    def _inverted(self, bit: Form) -> Form:
        return self.atoms.plus(negated(bit), 1)

    def _and(self, t: Term, of: list[Form]) -> Form:
        """Return the AND of two words; if one consists of copies of a bit, it masks the other."""
        for form, other in (of, of[::-1]):
            bit = self.atoms.low(form, 1)
            if self.atoms.vanishes(self.atoms.sum(form, bit), t.width):  # the word is -1 or 0
                return self.atoms.masked(bit, other)
        return self._other(t, of)

    def _less(self, t: Term, of: list[Form]) -> Form:
        read = self.atoms.signed if t.op == "slt" else self.atoms.low
        a, b = (read(form, x.width) for form, x in zip(of, t.args, strict=True))
        return self.atoms.negative(self.atoms.minus(a, b))

    def _other(self, t: Term, of: list[Form]) -> Form:
        """Return an atom for an operation without a rule, which equal operations on equal words share."""
        words = [self.unsigned(x, form) for x, form in zip(t.args, of, strict=True)]
        if t.op in ("and", "or", "xor", "mul", "eq"):
            words.sort(key=key_of)
        return self.atoms.other((t.op, t.width, t.data), tuple(words), 0, (1 << t.width) - 1)


_RULES: dict[str, Callable[[Words, Term, list[Form]], Form]] = {
    "const": Words._const,
    "add": Words._add,
    "neg": Words._neg,
    "not": Words._not,
    "mul": Words._mul,
    "concat": Words._concat,
    "extract": Words._extract,
    "sext": Words._sext,
    "ite": Words._ite,
    "and": Words._and,
    "ult": Words._less,
    "slt": Words._less,
}
