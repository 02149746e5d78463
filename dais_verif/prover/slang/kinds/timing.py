"""Decisions on timing controls and edges."""

from __future__ import annotations

from typing import Any

from dais_verif.prover.slang.kinds.decision import Table, read, refused
from dais_verif.prover.slang.kinds.names import ast

__all__ = ["EDGES", "TIMING"]

_t, _e = ast.TimingControlKind, ast.EdgeKind
_DELAY = refused("a delay has no meaning in a proof; remove it")
_CYCLE = refused("a delay in cycles belongs to a clocking block, which has no meaning in a proof; write a register")

TIMING: Table[Any] = Table(
    "Timing controls",
    "At the head of an `always` block. Delays on nets, assignments and gates are refused, too.",
    {
        _t.Invalid: refused("this is not a valid timing control; correct the RTL"),
        _t.Delay: _DELAY,
        _t.SignalEvent: read(
            "with an edge: a clock or an asynchronous reset; without: an entry of a sensitivity list; `iff` is refused"
        ),
        _t.EventList: read(
            "a sensitivity list, which must name every signal that the block reads, as a whole; or edges"
        ),
        _t.ImplicitEvent: read("`@*`: the block must read a net, or a variable that starts as X"),
        _t.RepeatedEvent: refused("an assignment that waits for events keeps state; write a register"),
        _t.Delay3: _DELAY,
        _t.OneStepDelay: _CYCLE,
        _t.CycleDelay: _CYCLE,
        _t.BlockEventList: refused("an event of a block belongs to coverage, which the proof does not read; remove it"),
    },
)
EDGES: Table[Any] = Table(
    "Edges",
    "One edge is the clock, the same for all registers; other edges are resets, which the block must test first.",
    {
        _e.None_: read("any change: an entry of a sensitivity list"),
        _e.PosEdge: read("a clock; or an active-high asynchronous reset"),
        _e.NegEdge: read(
            "an active-low asynchronous reset; or the clock of all registers, which must be the inverse of an input"
        ),
        _e.BothEdges: refused(
            "the proof supports one edge of a clock, and this block has other edges: both of one signal"
        ),
    },
)
