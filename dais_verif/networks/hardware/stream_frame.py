"""The frame of a network as a stream: an image goes in, and the next one follows at once or after a pause."""

from __future__ import annotations

import numpy as np

from dais_verif.networks.hardware.stream import StreamNetwork

__all__ = ["stream_frame", "stream_pins", "stream_signals"]


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
    cycles = _cycles(made, pause)
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
    cycles, first = _cycles(made, pause), _given(made, pause)[0]
    given = {cycle + image * cycles for cycle in _given(made, pause) for image in range(2)}
    return {"valid_out": {cycle: int(cycle in given) for cycle in range(first, first + cycles)}}


def _given(made: StreamNetwork, pause: bool) -> tuple[int, ...]:
    return made.alone if pause else made.given


def _cycles(made: StreamNetwork, pause: bool) -> int:
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
