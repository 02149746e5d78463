"""Drive a network as a stream: send images with gaps, stalls, pauses and resets, and collect the results."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dais_verif.counts import counted
from dais_verif.kernels.driving.frames import Driven, Found, Ints, noise
from dais_verif.networks.hardware.stream import StreamNetwork

__all__ = ["drive_images"]

#: The maximum number of idle cycles beyond those that flush the network.
_MORE = 4


def drive_images(made: StreamNetwork, images: Ints, rng: np.random.Generator) -> Driven:
    """Return a sequence that sends ``images``, raw integers (samples, elements in NumPy's order).

    Some images come without a pause, others with gaps between their beats, stalls, or a pause before them; before some
    images, a reset aborts part of another image. Every second image begins without a pause and has a single one, of
    any length after any of its first beats, each once before one is repeated. The result is one tensor, (samples,
    elements in NumPy's order).
    """
    beats, rows = made.beats, list[tuple[int, int, int]]()  # valid, enabled, number of the beat or -1
    resets, ignored = list[int](), list[int]()
    # After so many beats of an image, all outputs of the one before are given.
    first, longest = min(beats, made.flush + 1), made.flush + _MORE
    single = iter(rng.permutation(first * longest).tolist())
    for sample in range(len(images)):
        alone = next(single, None) if sample % 2 else None
        stalls, gaps = (bool(rng.integers(2)) and alone is None for _ in range(2))
        before = int(rng.integers(4)) if alone is None else 0
        if before > 1:
            rows += [(0, 1, -1)] * int(rng.integers(1, made.flush + _MORE) if before == 2 else made.flush + 1)
        if before == 3:
            begin = len(rows)
            for _ in range(int(rng.integers(1, 2 * beats + 1))):
                rows.append((int(rng.integers(8) > 0), int(rng.integers(8) > 0), -1))
            resets.append(len(rows))
            rows.append((int(rng.integers(2)), int(rng.integers(2)), -1))
            ignored += range(begin, len(rows))
        for beat in range(sample * beats, (sample + 1) * beats):
            if alone is not None and beat - sample * beats == alone % first + 1:
                rows += [(0, 1, -1)] * (alone // first + 1)
            while gaps and rng.integers(4) == 0:
                rows.append((0, int(not stalls or rng.integers(4) > 0), -1))
            while stalls and rng.integers(4) == 0:
                rows.append((1, 0, beat))
            rows.append((1, 1, beat))
    rows += [(0, 1, -1)] * (made.flush + _MORE)
    valid, enabled, sent = np.array(rows, dtype=np.int64).T
    inputs = noise(made.machine, len(rows), rng)
    inputs["valid_in"][:, 0], inputs["en"][:, 0], inputs["rst"][:] = valid, enabled, 0
    inputs["rst"][resets, 0] = 1
    there = sent >= 0
    by_beat = images.reshape(len(images), -1, beats).transpose(0, 2, 1).reshape(len(images) * beats, -1)
    inputs["x"] = inputs["x"].astype(images.dtype)
    inputs["x"][there] = by_beat[sent[there]]

    def read(outputs: Mapping[str, Ints]) -> Found:
        moved = (outputs["valid_out"][:, 0] != 0) & (enabled != 0)
        moved[ignored] = False
        cycles = np.flatnonzero(moved)
        if len(cycles) != len(images) * made.results:
            wanted = f"{len(images) * made.results}, {made.results} of each of {len(images)} images"
            return Found(problem=f"{counted(len(cycles), 'beat')} of results came, must be {wanted}")
        found = outputs["y"][cycles].reshape(len(images), made.results, -1).transpose(0, 2, 1)
        when = np.broadcast_to(cycles.reshape(len(images), 1, made.results), found.shape)
        return Found((found.reshape(len(images), -1),), (when.reshape(len(images), -1),))

    stalled = int(((enabled == 0) | (valid == 0)).sum())
    return Driven(len(rows), inputs, read, 0, len(resets), stalled)
