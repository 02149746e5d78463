"""Primitive gates: ``and``, ``or``, ``xor``, their inverted forms, ``buf`` and ``not``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

from dais_verif.errors import UnsupportedVerilog
from dais_verif.prover.four_state import band, bnot, bor, bxor
from dais_verif.prover.netlist import Bits, Read
from dais_verif.prover.slang.design import SlangDesign, ast
from dais_verif.prover.slang.events import refuse_delay
from dais_verif.prover.slang.kinds import GATES
from dais_verif.prover.slang.slices import bits_of
from dais_verif.prover.terms import Term, extract

__all__ = ["gates"]

_Rule = Callable[[Term, Term], Term]
#: For each gate, the function of its inputs, and whether its output is inverted.
_INPUTS: dict[str, tuple[_Rule, bool]] = {
    "and": (band, False),
    "nand": (band, True),
    "or": (bor, False),
    "nor": (bor, True),
    "xor": (bxor, False),
    "xnor": (bxor, True),
}
_OUTPUTS = {"buf": False, "not": True}
_READ = GATES.rules({**_INPUTS, **_OUTPUTS})


def gates(design: SlangDesign, gate: Any, where: str) -> Iterator[tuple[Any, int, Bits]]:
    """Yield the outputs of a gate, one bit each: the connected expression, its width, and its bits.

    Raises ``InputError`` for a primitive that is not logic, or has a delay or a strength.
    """
    name = gate.primitiveType.name
    if name not in _READ:
        raise UnsupportedVerilog(f"{where}: primitive {name!r}: {GATES.message(name)}")
    pins = list(gate.portConnections)
    refuse_delay(gate, where)
    outputs, inputs = (pins[:1], pins[1:]) if name in _INPUTS else (pins[:-1], pins[-1:])
    if gate.arrayPath or any(pin.type.bitWidth != 1 for pin in inputs):
        raise UnsupportedVerilog(
            f"{where}: an array of gates, or an input of several bits, is not supported by the proof"
        )
    sources = [bits_of(design, pin) for pin in inputs]

    def value(read: Read, low: int, width: int) -> Term:
        terms = [source(read, 0, 1) for source in sources]
        rule, opposite = _INPUTS[name] if name in _INPUTS else (band, _OUTPUTS[name])
        found = reduce(rule, terms)
        return extract(bnot(found) if opposite else found, low, width)

    for pin in outputs:
        yield pin.left if type(pin) is ast.AssignmentExpression else pin, 1, value
