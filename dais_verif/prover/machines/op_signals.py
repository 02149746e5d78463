"""Find the signals of a machine's ops in RTL, by the names of signals and of the instances that contain them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dais_verif.machine.step import Step
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.machines.cycle import Cycle
from dais_verif.prover.netlist import Netlist, Signal
from dais_verif.prover.obligations import Builder
from dais_verif.prover.random_simulation import differing_rows, random_vectors, trace

__all__ = ["credible", "named_ops"]

#: The names that the emitter and alkaid give to the signal of op N of a block.
_OP = re.compile(r"(?:op_|v)(\d+)")

#: The number of ops of a block whose signals are sampled, and of vectors on which they are sampled.
_SAMPLE, _ROWS = 48, 64


def named_ops(step: Step, netlist: Netlist) -> dict[int, Signal]:
    """Return, in SSA order, the signal of each op of ``step`` found by its name; a name that occurs twice is ignored.

    The name of a block's instance is the name of the block, possibly with a prefix that ends in ``_``.
    """
    numbers = {owner: index for index, owner in enumerate(step.owners) if owner is not None}
    blocks = sorted({block for block, _ in numbers}, key=len, reverse=True)
    known: dict[str, str | None] = {}
    found: dict[int, list[Signal]] = {}
    for name, signal in netlist.signals.items():
        path, _, last = name.rpartition(".")
        match = _OP.fullmatch(last)
        if not path or match is None:
            continue
        if path not in known:
            instance = path.rpartition(".")[2]
            known[path] = next((b for b in blocks if instance == b or instance.endswith(f"_{b}")), None)
        index = numbers.get((known[path] or "", int(match[1])))
        if index is not None:
            found.setdefault(index, []).append(signal)
    return {index: found[index][0] for index in sorted(found) if len(found[index]) == 1}


def credible(step: Step, cycle: Cycle, named: Mapping[int, Signal], seed: int) -> dict[int, Signal]:
    """Return ``named`` without the signals of blocks in which names seem to denote other ops.

    A tool may number its ops differently. Names of a block are dropped if many sampled signals do not have the value of
    their op, computed from the signals of its operands.
    """
    boundary = Boundary.of(cycle.program, cycle.netlist, cycle.dut)
    builder = Builder(cycle.program, cycle.netlist, dict(named), boundary)
    found = trace(cycle.program, boundary.inputs, random_vectors(boundary.inputs, _ROWS, seed), _ROWS)
    blocks: dict[str, list[int]] = {}
    for index in named:
        owner = step.owners[index]
        assert owner is not None
        blocks.setdefault(owner[0], []).append(index)
    kept: dict[int, Signal] = {}
    for ops in blocks.values():
        sample = ops[:: max(len(ops) // _SAMPLE, 1)]
        wrong = sum(bool((differing_rows(builder.op(index), found) & ~found.broken).any()) for index in sample)
        if wrong <= max(len(sample) // 4, 1):
            kept |= {index: named[index] for index in ops}
    return dict(sorted(kept.items()))
