"""The frame of a memory form: all tensors are loaded, all members run, all outputs are read."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from dais_verif.kernels.forms.memory import MemoryFacts
from dais_verif.kernels.instance import KernelInstance

__all__ = ["memory_frame"]


def memory_frame(instance: KernelInstance, facts: MemoryFacts) -> str:
    """Return the frame file of a memory form, in which it computes what ``unfold`` makes of the instance."""
    mapping = instance.mapping
    reads, writes = ([prod(one.sizes) for one in side] for side in (mapping.inputs, mapping.outputs))
    start = max(reads, default=0)
    # A cycle behind done: what is written once more then would show.
    done = start + facts.latency + 1
    cycles = done + max(writes, default=0)

    def numbers(values: Sequence[int], first: int) -> str:
        return str([0] * first + list(values) + [0] * (cycles - first - len(values)))

    def ports(side: str, sizes: Sequence[int], first: int) -> list[str]:
        entries = [
            f'{{ signal = "{side}{t}_data", cycle = {first}, to = {first + size - 1} }}' for t, size in enumerate(sizes)
        ]
        return [f"{side}puts = [{', '.join(entries)}]"]

    lines = [f"cycles = {cycles}", *ports("in", reads, 0), *ports("out", writes, done + 1)]
    lines += ["held.rst = 0", f"held.start = {numbers([1], start)}"]
    for d, size in enumerate(mapping.geometry):
        lines += [f"held.begin{d} = 0", f"held.end{d} = {size}"]
    for t, size in enumerate(reads):
        lines += [f"held.in{t}_write = {numbers([1] * size, 0)}", f"held.in{t}_address = {numbers(range(size), 0)}"]
    lines += [f"held.out{t}_address = {numbers(range(size), done)}" for t, size in enumerate(writes)]
    return "\n".join(lines) + "\n"
