"""The frame of a network with memories: inputs are loaded, all stages run in a configuration, outputs are read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dais_verif.compile.networks.hardware.chain import Chain, Storage
from dais_verif.compile.networks.hardware.stream import StreamNetwork

__all__ = ["memory_frame", "memory_signals", "stream_frame", "stream_pins", "stream_signals"]


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


# The frame of a network as a stream: an image goes in, and the next one follows at once or after a pause.


def stream_frame(made: StreamNetwork, *, pause: bool = False) -> str:
    """Return the frame file of a stream that computes image after image.

    Without ``pause`` a result comes while later images go in; with ``pause`` the next image begins as soon as nothing
    changes any more. Nothing changes while ``en`` is 0, and a reset may come at any time.
    """
    chain, beats = made.chain, made.beats
    ((name, _),), ((result, _),) = chain.inputs.items(), chain.outputs.items()
    given, storage = chain.storage[name], chain.storage[result]
    of_input = [("x", at, 0, beats - 1) for at in range(given.words * given.channels // beats)]
    count = storage.words * storage.channels // made.results
    of_output = [("y", at, first, last) for at in range(count) for first, last in _stretches(_given(made, pause))]
    cycles = _cycles_of_stream_frame(made, pause)
    return "\n".join(
        [
            f"cycles = {cycles}",
            f"before = {0 if pause else made.before}",
            f"inputs = [{', '.join(map(_entry, of_input))}]",
            f"outputs = [{', '.join(map(_entry, of_output))}]",
            f"held.valid_in = {[int(cycle < beats) for cycle in range(cycles)]}",
            "held.en = 1",
            "held.rst = 0",
            "stall.en = 0",
            "stall.rst = 0",
            "reset.rst = 1",
            "",
        ]
    )


def stream_signals(made: StreamNetwork, *, pause: bool = False) -> dict[str, dict[int, int]]:
    """Return the required values of ``valid_out`` in the cycles of a frame, from the first beat of the result on."""
    cycles, first = _cycles_of_stream_frame(made, pause), _given(made, pause)[0]
    given = {cycle + image * cycles for cycle in _given(made, pause) for image in range(2)}
    return {"valid_out": {cycle: int(cycle in given) for cycle in range(first, first + cycles)}}


def _given(made: StreamNetwork, pause: bool) -> tuple[int, ...]:
    return made.alone if pause else made.given


def _cycles_of_stream_frame(made: StreamNetwork, pause: bool) -> int:
    return made.quiet if pause else made.beats


def stream_pins() -> str:
    """Return the names of the pins, for ``emit --wrap axis --stream``."""
    return 'valid_in = "valid_in"\nvalid_out = "valid_out"\nenable = "en"\nreset = "rst"\n'


def _stretches(cycles: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the first and the last cycle of each run of consecutive cycles."""
    at = np.array(cycles)
    breaks = np.flatnonzero(np.diff(at) > 1) + 1
    return [(int(part[0]), int(part[-1])) for part in np.split(at, breaks)]


def _entry(port: tuple[str, int, int, int]) -> str:
    signal, place, first, last = port
    return f'{{ signal = "{signal}", cycle = {first}, to = {last}, first = {place}, last = {place} }}'
