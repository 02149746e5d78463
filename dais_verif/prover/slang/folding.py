"""Fold away what simulators fold away before they look which signals a block waits for."""

from __future__ import annotations

from dais_verif.prover.terms import Term, as_written, built, const, nodes

__all__ = ["folded"]

_SHIFTS = ("shl", "lshr")


def folded(root: Term) -> Term:
    """Return ``root``, a term as written, without what Icarus Verilog folds while it elaborates.

    That is what is computed of constants alone, a shift by a constant of no less than its width, which is 0, and the
    arm of a constant condition that is not taken; nothing else: ``a & 0`` waits for ``a``.
    """
    new: dict[Term, Term] = {}
    with as_written():
        for t in nodes(root):
            args = tuple(new[x] for x in t.args)
            if t.op in _SHIFTS and args[1].op == "const" and args[1].value >= t.width:
                new[t] = const(t.width, 0)
            elif t.op == "ite" and args[0].op == "const":
                new[t] = args[1] if args[0].value else args[2]
            else:
                new[t] = t if args == t.args else built(t, args)
    return new[root]
