"""ALIRFSM trees for tests, built from parts: signals as lists of 11 fields, blocks as lists of records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dais_verif.golden.machine import Cycle, trace_machine
from dais_verif.spec.machine import Machine, parse_machine
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.conversion import to_alir

__all__ = ["BIT", "block", "connect", "counter", "cycles", "machine", "read_tree", "same_machine", "signal", "tree"]

BIT = [False, 1, 0]


def signal(
    name: str,
    types: Sequence[Sequence[Any]] = (BIT,),
    *,
    exposed: bool = False,
    reg: bool = False,
    rst_if: list[Any] | None = None,
    rst_to: Sequence[float] | None = None,
    view: tuple[int, int] | None = None,
    dynamic: tuple[list[Any], int] | None = None,
    schedule: list[Any] | None = None,
) -> list[Any]:
    """Return one use of a signal, in the form of the file."""
    whole = list(view or (0, len(types)))
    kinds = [list(kind) for kind in types]
    return [name, exposed, kinds, rst_if, rst_to, reg, schedule, "rw", None, whole, list(dynamic) if dynamic else None]


def connect(src: list[Any], dst: list[Any], enable: list[Any] | None = None, alt: list[Any] | None = None) -> Any:
    """Return one connection."""
    return {"src": src, "dst": dst, "enable_if": enable, "alt_src": alt}


def block(n_in: int, outputs: Sequence[int], *ops: list[Any]) -> list[Any]:
    """Return a block in the form of the file; ``ops`` are records without their cost estimates."""
    n = len(outputs)
    return [[n_in, n], [0] * n_in, list(outputs), [0] * n, [False] * n, [[*op, 0, 0] for op in ops], -1, -1, None]


def tree(logic: Mapping[str, Any], conns: Sequence[Any]) -> dict[str, Any]:
    """Return the tree of a file; its signals are in the order of their first use."""
    names: dict[str, None] = {}

    def visit(use: list[Any] | None) -> None:
        if use is not None:
            names[use[0]] = None
            visit(use[3])
            visit(use[10][0] if use[10] else None)

    for conn in conns:
        for use in conn.values():
            visit(use)
    fsm = {"logic": dict(logic), "conns": list(conns), "signal_order": list(names)}
    # Through text, so that no two uses of a signal share one list.
    whole: dict[str, Any] = json.loads(json.dumps({"meta": "ALIRFSM", "spec_version": 4, "fsm": fsm}))
    return whole


def read_tree(of: Any) -> Machine:
    """Return the machine that a tree describes."""
    return parse_machine(json.dumps(of).encode())


def machine(logic: Mapping[str, Any], conns: Sequence[Any]) -> Machine:
    """Return the machine with these blocks and connections."""
    return read_tree(tree(logic, conns))


def same_machine(a: Machine, b: Machine, *, intervals: bool = True) -> bool:
    """Return whether two machines are equal: ports in order, signals, connections, and blocks converted to ALIR.

    Elements without bits are all equal, and connections to wires may be in any order. ``intervals``: whether to compare
    the intervals that a source declares for the ops of a block, which the text form does not hold.
    """
    return _parts(a, intervals) == _parts(b, intervals)


def _parts(of: Machine, intervals: bool) -> Any:
    signals = {
        name: replace(signal, types=tuple(kind if kind.width else FixedType(0, 0, 0) for kind in signal.types))
        for name, signal in of.signals.items()
    }
    wires = {connection for connection in of.connections if not of.clocked(connection)}
    clocked = [connection for connection in of.connections if of.clocked(connection)]
    blocks = {}
    for block in of.blocks.values():
        program = to_alir(block.program)
        blocks[block.name] = (program.hash, program.intervals if intervals else None, block.inputs, block.outputs)
    ports = [signal.name for signal in (*of.inputs, *of.outputs)]
    return ports, signals, wires, clocked, blocks


def cycles(of: Machine, *, check: bool = True, **inputs: Sequence[Any]) -> list[Cycle]:
    """Return all cycles of a run; a row of an input with one element may be a number."""
    rows = {
        name: [[Fraction(v) for v in (row if isinstance(row, list | tuple) else [row])] for row in rows]
        for name, rows in inputs.items()
    }
    return list(trace_machine(of, rows, check=check))


NIBBLE = [[False, 4, 0]]


def counter(**of_register: Any) -> dict[str, Any]:
    """Return a counter of four bits that counts edges while ``en`` is 1, with register ``n`` and output ``y``."""
    n = signal("n", NIBBLE, reg=True, **of_register)
    increment = block(1, [2], [[], -1, [0], [0, 15, 1]], [[0], 4, [1, 0], [1, 16, 1]], [[1], 3, [0], [0, 15, 1]])
    return tree(
        {"inc": increment},
        [
            connect(n, signal("INTERNAL_inc_inp", NIBBLE)),
            connect(signal("INTERNAL_inc_outp", NIBBLE), n, signal("en", exposed=True)),
            connect(n, signal("y", NIBBLE, exposed=True)),
        ],
    )
