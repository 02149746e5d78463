"""Tables that decide how each construct that pyslang can find is treated; the readers follow them.

There is one table per enum, or one per use of an enum if the same kind is read in one place and refused in another.
The page of the documentation is made from these tables, which alone define what is supported.
"""

from __future__ import annotations

from typing import Any

from dais_verif.prover.slang.kinds.decision import How, KindDecision, Table
from dais_verif.prover.slang.kinds.expressions import (
    ACTIONS,
    BINARY,
    CONVERSIONS,
    RANGES,
    TARGETS,
    UNARY,
    VALUE_RANGES,
    VALUES,
)
from dais_verif.prover.slang.kinds.scopes import (
    ARGUMENTS,
    BLOCKS,
    DEFINITIONS,
    NETS,
    OPEN_INPUTS,
    PORTS,
    SYMBOLS,
    TYPES,
)
from dais_verif.prover.slang.kinds.statements import (
    ASSERTIONS,
    BRACKETS,
    CALLS,
    CASES,
    CHECKS,
    EDGES,
    ENDING,
    FILLING,
    GATES,
    LIFETIMES,
    PATTERNS,
    STATEMENTS,
    TIMING,
)
from dais_verif.prover.slang.kinds.yosys import TRUSTED

__all__ = [
    "ACTIONS",
    "ARGUMENTS",
    "ASSERTIONS",
    "BINARY",
    "BLOCKS",
    "BRACKETS",
    "CALLS",
    "CASES",
    "CHECKS",
    "CONVERSIONS",
    "DEFINITIONS",
    "EDGES",
    "ENDING",
    "FILLING",
    "GATES",
    "LIFETIMES",
    "VALUE_RANGES",
    "NETS",
    "OPEN_INPUTS",
    "PATTERNS",
    "PORTS",
    "RANGES",
    "STATEMENTS",
    "SYMBOLS",
    "TABLES",
    "TARGETS",
    "TIMING",
    "TRUSTED",
    "TYPES",
    "UNARY",
    "VALUES",
    "KindDecision",
    "How",
    "Table",
]

#: All tables, in the order of the page.
TABLES: tuple[Table[Any], ...] = (
    SYMBOLS, DEFINITIONS, PORTS, OPEN_INPUTS, NETS, TYPES, GATES, BLOCKS, TIMING, EDGES, STATEMENTS, BRACKETS,
    LIFETIMES, CASES, CHECKS, PATTERNS, ASSERTIONS, ACTIONS, ARGUMENTS, TARGETS, VALUES, UNARY, BINARY, CONVERSIONS,
    RANGES, VALUE_RANGES, CALLS,
)  # fmt: skip
