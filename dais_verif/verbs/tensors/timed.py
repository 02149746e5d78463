"""Frames that also state control signals, and programs with the values of these signals as additional outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dais_verif.spec.program import Columns, Program
from dais_verif.spec.program.opcodes import Code

__all__ = ["with_bits", "with_signals"]


def with_signals(frame: str, timed: Mapping[str, Mapping[int, int]]) -> str:
    """Return a frame with additional outputs: each signal in the cycles in which it has a value."""
    entries = [f'{{ signal = "{name}", cycle = {min(at)}, to = {max(at)} }}' for name, at in timed.items()]
    before, _, behind = frame.partition("\noutputs = [")
    listed, end, rest = behind.partition("]\n")
    return f"{before}\noutputs = [{listed.rstrip().rstrip(',')}, {', '.join(entries)}{end}{rest}"


def with_bits(program: Program, bits: Sequence[int]) -> Program:
    """Return a program with constant bits appended to its outputs."""
    row = (int(Code.CONST), -1, -1, 1, 0, 1, 0)
    columns = Columns(*(np.append(column, value) for column, value in zip(program.columns, row, strict=True)))
    chosen = np.where(np.array(bits, dtype=bool), program.n_ops, -1)
    zeros = np.zeros(len(bits), dtype=np.int64)
    return replace(
        program,
        columns=columns,
        out_idx=np.concatenate([program.out_idx, chosen]),
        out_shift=np.concatenate([program.out_shift, zeros]),
        out_neg=np.concatenate([program.out_neg, zeros]),
    )
