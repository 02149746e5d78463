"""What signals hold when the power comes on: declarations say it, and ``initial`` blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dais_verif.errors import InputError
from dais_verif.prover.netlist import Signal
from dais_verif.prover.slang.design import SlangDesign
from dais_verif.prover.slang.expressions import Converter
from dais_verif.prover.terms import Term, leaves, rebuild

__all__ = ["power_up"]


def power_up(design: SlangDesign, given: Mapping[Any, Sequence[Term]]) -> dict[Signal, Term]:
    """Return what signals hold at first. ``given``: by symbol, what each initial block that assigns it leaves in it.

    Undefined is what nothing says, or several blocks, which run in any order.
    """
    found: dict[Signal, Term] = {}
    for symbol in {**given, **design.initial}:
        signal, blocks = design.signals.get(symbol), given.get(symbol, ())
        if signal is None or len(blocks) > 1:
            continue
        declared = _declared(design, symbol)
        if not blocks:
            if declared is not None:
                found[signal] = declared
            continue
        # A declaration comes first: what the block does not assign keeps its value.
        nothing = [leaf for leaf in leaves(blocks[0]) if leaf.op == "undefined"]
        if declared is not None and all(leaf.width == signal.width for leaf in nothing):
            found[signal] = rebuild(blocks[0], dict.fromkeys(nothing, declared))
        else:
            found[signal] = blocks[0]
    return found


def _declared(design: SlangDesign, symbol: Any) -> Term | None:
    """Return the value of a declaration, if it has one."""

    def read(symbol: Any, low: int, width: int) -> Term:
        raise InputError(f"{design.where(symbol.location)}: {symbol.name!r} is read in a declaration")

    if symbol not in design.initial:
        return None
    try:
        return Converter(design, read)(design.initial[symbol])
    except InputError:
        return None
