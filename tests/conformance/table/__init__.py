"""The table: every row of every theme, in the order of the opcodes."""

from __future__ import annotations

from ..row import Row
from . import (
    bit_binary,
    bit_unary,
    constants,
    inputs,
    lookups,
    mixed_choices,
    mixed_sums,
    muxes,
    outputs,
    products,
    quantise,
    reductions,
    relu,
    sums,
    wide,
    wide_choices,
    zero_widths,
)

__all__ = ["GROUPS", "TABLE"]

#: Rows that are simulated together, by name: a build takes seconds, and a further row in it takes no time.
GROUPS: dict[str, tuple[Row, ...]] = {
    "arithmetic": inputs.ROWS
    + sums.ROWS
    + relu.ROWS
    + quantise.ROWS
    + constants.ROWS
    + products.ROWS
    + mixed_sums.ROWS,
    "choices": muxes.ROWS + lookups.ROWS + bit_unary.ROWS + reductions.ROWS + bit_binary.ROWS + mixed_choices.ROWS,
    "ends": outputs.ROWS + zero_widths.ROWS + wide.ROWS + wide_choices.ROWS,
}

TABLE: tuple[Row, ...] = tuple(row for rows in GROUPS.values() for row in rows)
