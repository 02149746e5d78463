"""The frame of a network with memories: inputs are loaded, all stages run in a configuration, outputs are read."""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.networks.hardware.chain import Chain, Storage

__all__ = ["memory_frame", "memory_signals"]

#: The mark in frame files for an arbitrary input value.
_ANY = '"any"'


def memory_frame(chain: Chain, latency: Sequence[int], configuration: int = 0) -> str:
    """Return the frame file of a run: the machine loads inputs, computes a configuration, and returns outputs.

    ``config`` may have any value in every cycle except that of the start, and ``start`` while the machine is busy. A
    reset may end a frame at any time.
    """
    begin = _loaded(chain)
    done = begin + latency[configuration]
    cycles = _cycles(chain, done)
    inputs = [_port(f"in{t}_data", chain.storage[name], 0) for t, name in enumerate(chain.inputs)]
    outputs = [_port(f"out{t}_data", chain.storage[name], done + 2) for t, name in enumerate(chain.outputs)]
    lines = [
        f"cycles = {cycles}",
        f"inputs = [{', '.join(inputs)}]",
        f"outputs = [{', '.join(outputs)}]",
        f"held.start = {_numbers([1, *[_ANY] * (latency[configuration] - 1)], begin, cycles)}",
        "held.rst = 0",
        "reset.rst = 1",
    ]
    if len(latency) > 1:
        lines.append(f"held.config = {_numbers([configuration], begin, cycles, _ANY)}")
    for t, name in enumerate(chain.inputs):
        count = chain.storage[name].words
        lines += [
            f"held.in{t}_write = {_numbers([1] * count, 0, cycles)}",
            f"held.in{t}_address = {_numbers(range(count), 0, cycles)}",
        ]
    lines += [
        f"held.out{t}_address = {_numbers(range(chain.storage[name].words), done + 1, cycles)}"
        for t, name in enumerate(chain.outputs)
    ]
    return "\n".join(lines) + "\n"


def memory_signals(chain: Chain, latency: Sequence[int], configuration: int = 0) -> dict[str, list[int]]:
    """Return the required values of ``busy`` and ``done`` in each cycle of ``memory_frame``."""
    begin = _loaded(chain)
    done = begin + latency[configuration]
    cycles = range(_cycles(chain, done))
    return {"busy": [int(begin < t < done) for t in cycles], "done": [int(t == done) for t in cycles]}


def _loaded(chain: Chain) -> int:
    """Return the cycle in which all inputs are loaded."""
    return max(chain.storage[name].words for name in chain.inputs)


def _cycles(chain: Chain, done: int) -> int:
    """Return the number of cycles of a frame, including one after ``done`` in which a repeated write would show."""
    return done + 1 + max(chain.storage[name].words for name in chain.outputs)


def _port(signal: str, storage: Storage, cycle: int) -> str:
    """Return a tensor on its port in NumPy's order: all places of channel 0, then those of channel 1, and so on."""
    until = f"cycle = {cycle}, to = {cycle + storage.words - 1}"
    if storage.channels == 1:
        return f'{{ signal = "{signal}", {until} }}'
    return ", ".join(f'{{ signal = "{signal}", {until}, first = {c}, last = {c} }}' for c in range(storage.channels))


def _numbers(values: Sequence[int | str], first: int, cycles: int, otherwise: int | str = 0) -> str:
    held = [otherwise] * first + list(values) + [otherwise] * (cycles - first - len(values))
    return f"[{', '.join(map(str, held))}]"
