"""Values of signals at power-up, from declarations and ``initial`` blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dais_verif.errors import InputError, UnsupportedVerilog
from dais_verif.prover.netlist import Signal
from dais_verif.prover.slang.design import SlangDesign
from dais_verif.prover.slang.expressions import Converter
from dais_verif.prover.terms import Term, leaves, rebuild

__all__ = ["power_up"]


def power_up(design: SlangDesign, given: Mapping[Any, Sequence[Term]]) -> dict[Signal, Term]:
    """Return the initial values of signals.

    ``given``: for each symbol, its value after each initial block that assigns it. Signals that several blocks assign
    have no entry, since the blocks run in any order. Bits without an initial value are undefined.
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
        # A declaration comes first: bits that the block does not assign keep the declared value.
        nothing = [leaf for leaf in leaves(blocks[0]) if leaf.op == "undefined"]
        if declared is not None and all(leaf.width == signal.width for leaf in nothing):
            found[signal] = rebuild(blocks[0], dict.fromkeys(nothing, declared))
        else:
            found[signal] = blocks[0]
    return found


def _declared(design: SlangDesign, symbol: Any) -> Term | None:
    """Return the initial value in a declaration; None if it has none, or if the value is not supported."""

    def read(symbol: Any, low: int, width: int) -> Term:
        raise UnsupportedVerilog(f"{design.where(symbol.location)}: {symbol.name!r} is read in a declaration")

    if symbol not in design.initial:
        return None
    try:
        return Converter(design, read)(design.initial[symbol])
    except InputError:
        return None
