"""Run a pullback: compute float64 gradients over all rows of the preceding forward run."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden.batch import msb_of
from dais_verif.golden.vm.codes import Pull, PullForm
from dais_verif.golden.vm.instructions import InstructionSequence
from dais_verif.program.numbers import IntArray

__all__ = ["pullback_steps"]

Floats = NDArray[np.float64]


def pullback_steps(iseq: InstructionSequence, seed: Floats, gradient: Floats) -> Iterator[tuple[int, Floats]]:
    """Run all instructions for the output gradients ``seed`` (rows, n_out), and accumulate ``gradient`` (rows, n_in).

    Yields after each instruction its position and the gradient (rows,) so far. Values of the forward run are read from
    the tape of ``iseq``.
    """
    c = iseq.columns
    slots: list[Floats | None] = [None] * iseq.allocation.n_gradients
    rows = zip(c.port.tolist(), c.out.tolist(), c.args.tolist(), c.saves.tolist(), c.form.tolist(), strict=True)
    for position, (port, out, (source, sums, _), (saved, _), form) in enumerate(rows):
        pull = iseq.forms[form]
        assert isinstance(pull, PullForm)
        g = seed[:, port] if pull.code is Pull.SEED else slots[source]
        assert g is not None
        result = _pulled(pull, g, iseq.tape.slots[saved] if saved >= 0 else None)
        if sums >= 0:
            before = slots[sums]
            assert before is not None
            result = before + result
        slots[out] = result
        if pull.code is Pull.GRAD:
            gradient[:, port] = result
        yield position, result


def _pulled(pull: PullForm, g: Floats, saved: IntArray | None) -> Floats:
    """Return the contribution that an instruction makes of ``g``, with the steps of reverse mode in the same order."""
    kind = pull.kind
    if saved is not None and kind is not None:
        if pull.code is Pull.MUL:
            return g * nearest_doubles(saved, kind.f)
        if pull.code is Pull.GATE:
            g = np.where(saved < 0 if pull.negated else saved > 0, g, 0.0)
        else:
            g = np.where(msb_of(saved, kind) == (pull.code is Pull.FIRST), g, 0.0)
    if pull.shift:
        g = np.ldexp(g, pull.shift)
    return -g if pull.negated else g


def nearest_doubles(raw: IntArray, f: int) -> Floats:
    """Return ``raw * 2**-f``, each rounded to the nearest float64 (infinity beyond the largest)."""
    if raw.dtype == np.int64:
        return np.ldexp(raw.astype(np.float64), -f)
    return np.array([_nearest(Fraction(int(value)) * Fraction(2) ** -f) for value in raw], dtype=np.float64)


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
