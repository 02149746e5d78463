"""Names of the signals of ops in a design: ``op_N`` in our RTL, ``vN`` in da4ml's Verilog and VHDL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dais_verif.spec.program import Op

__all__ = ["DA4ML", "chosen"]

Naming = Callable[[int], str]

DA4ML: Naming = "v{}".format


def chosen(ops: Sequence[Op], own: Naming, seen: Mapping[str, str]) -> Naming:
    """Return the naming scheme that finds ``ops`` in ``seen``: ``own``, or da4ml's if ``own`` finds none.

    Any design may have a signal v3. Therefore da4ml's names count only if most of these signals have as many bits as
    their ops; all is not required, because a wrong width is a fault to be found.
    """
    if any(own(op.index) in seen for op in ops):
        return own
    theirs = [len(seen[DA4ML(op.index)]) == op.type.width for op in ops if DA4ML(op.index) in seen]
    return DA4ML if 2 * sum(theirs) > len(theirs) else own
