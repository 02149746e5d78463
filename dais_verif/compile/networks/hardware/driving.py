"""Drive a network with memories: load images, run a configuration, read outputs, image after image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dais_verif.base.text import counted
from dais_verif.compile.kernels.driving.frames import Driven, Found, Ints, Run, noise
from dais_verif.compile.networks.hardware.chain import Chain
from dais_verif.compile.networks.hardware.stages import Storage
from dais_verif.compile.networks.hardware.stream import StreamNetwork
from dais_verif.spec.machine import Machine

__all__ = ["drive_images", "drive_network"]


_MOST_PAUSE = 4


@dataclass
class _Schedule:
    """The events, by cycle, of a sequence that is being planned."""

    cycle: int = 0
    writes: list[list[tuple[int, int, int]]] = field(default_factory=list)  # per input: cycle, sample, word
    reads: list[list[tuple[int, int, int]]] = field(default_factory=list)  # per output
    starts: list[tuple[int, int]] = field(default_factory=list)  # cycle, configuration
    busy: list[tuple[int, int]] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    resets: list[int] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    pauses: int = 0


def drive_network(
    chain: Chain,
    latency: Sequence[int],
    machine: Machine,
    tensors: Sequence[Ints],
    configurations: Sequence[int],
    rng: np.random.Generator,
) -> Driven:
    """Return a sequence that runs all samples of ``tensors``, one after the other, each in its configuration.

    ``tensors``: per input, raw integers (samples, elements in NumPy's order). Words are written and read in random
    order. There are pauses in between, and additional runs, in any configuration, that a reset aborts. Signals that
    the network must ignore have random values: ``config`` and ``start`` while busy, and words that are not
    written. Results have the form of ``tensors``.
    """
    plan = _Schedule(writes=[[] for _ in chain.inputs], reads=[[] for _ in chain.outputs])
    loaded, shown = ([chain.storage[name].words for name in names] for names in (chain.inputs, chain.outputs))
    for sample, configuration in enumerate(configurations):
        _transfer(plan, plan.writes, loaded, sample, rng)
        if rng.integers(2):
            _break_off(plan, latency, int(rng.integers(len(latency))), rng)
        _pause(plan, rng)
        _run(plan, latency, sample, configuration)
        plan.cycle += 1  # results are available in the cycle after done
        _transfer(plan, plan.reads, shown, sample, rng)
        _pause(plan, rng)
    cycles = plan.cycle + 2
    inputs = _inputs(chain, len(latency), machine, tensors, plan, cycles, rng)

    def read(outputs: Mapping[str, Ints]) -> Found:
        return _found(chain, plan, cycles, len(configurations), outputs)

    return Driven(cycles, inputs, read, len(plan.starts) - len(plan.resets), len(plan.resets), plan.pauses)


def _transfer(
    plan: _Schedule,
    ports: list[list[tuple[int, int, int]]],
    counts: Sequence[int],
    sample: int,
    rng: np.random.Generator,
) -> None:
    """Plan transfers of all words of tensors through their ports, in random order."""
    begin = plan.cycle
    for port, count in enumerate(counts):
        at = begin + int(rng.integers(_MOST_PAUSE))
        for word in rng.permutation(count).tolist():
            ports[port].append((at, sample, word))
            at += 1 + int(rng.integers(64) == 0)
        plan.cycle = max(plan.cycle, at)


def _pause(plan: _Schedule, rng: np.random.Generator) -> None:
    count = int(rng.integers(_MOST_PAUSE)) if rng.integers(2) else 0
    plan.cycle += count
    plan.pauses += count


def _run(plan: _Schedule, latency: Sequence[int], sample: int, configuration: int) -> None:
    begin = plan.cycle
    plan.starts.append((begin, configuration))
    plan.cycle += latency[configuration]
    plan.busy.append((begin + 1, plan.cycle))
    plan.done.append(plan.cycle)
    plan.runs.append(Run(begin, plan.cycle, sample, (configuration,)))


def _break_off(plan: _Schedule, latency: Sequence[int], configuration: int, rng: np.random.Generator) -> None:
    """Plan a run, in any configuration, that a reset aborts."""
    begin, length = plan.cycle, int(rng.integers(1, latency[configuration] + 1))
    plan.starts.append((begin, configuration))
    # A reset in the cycle of done is too late to prevent done.
    plan.busy.append((begin + 1, begin + length + (length < latency[configuration])))
    plan.done += [begin + length] * (length == latency[configuration])
    plan.resets.append(begin + length)
    plan.cycle = begin + length + 1


def _inputs(
    chain: Chain,
    count: int,
    machine: Machine,
    tensors: Sequence[Ints],
    plan: _Schedule,
    cycles: int,
    rng: np.random.Generator,
) -> dict[str, Ints]:
    given = noise(machine, cycles, rng)
    given["rst"][:] = 0
    given["rst"][plan.resets, 0] = 1
    start = given["start"]
    start[:] = 0
    for first, last in plan.busy:  # ``start`` is ignored in these cycles
        start[first:last, 0] = rng.integers(0, 2, size=len(start[first:last]))
    start[plan.resets, 0] = 0
    for cycle, configuration in plan.starts:
        start[cycle, 0] = 1
        if count > 1:
            given["config"][cycle, 0] = configuration
    for t, (name, places, tensor) in enumerate(zip(chain.inputs, plan.writes, tensors, strict=True)):
        words = in_words(tensor, chain.storage[name])
        given[f"in{t}_write"][:] = 0
        for cycle, sample, word in places:
            given[f"in{t}_write"][cycle, 0] = 1
            given[f"in{t}_address"][cycle, 0] = word
            given[f"in{t}_data"][cycle] = words[sample, word]
    for t, places in enumerate(plan.reads):
        for cycle, _, word in places:
            given[f"out{t}_address"][cycle, 0] = word
    return given


def in_words(tensor: Ints, storage: Storage) -> Ints:
    """Return a tensor (samples, elements in NumPy's order) as (samples, words, channels)."""
    return tensor.reshape(len(tensor), storage.channels, storage.words).swapaxes(1, 2)


def _found(chain: Chain, plan: _Schedule, cycles: int, samples: int, outputs: Mapping[str, Ints]) -> Found:
    for name, wanted in (("done", _of(plan.done, cycles)), ("busy", _during(plan.busy, cycles))):
        wrong = np.flatnonzero(outputs[name][:, 0] != wanted)
        if len(wrong):
            at = int(wrong[0])
            text = f"{name} is {1 - wanted[at]} in cycle {at}, must be {wanted[at]}: the cycles are not as stated"
            return Found(problem=text)
    tensors, when = [], []
    for t, (name, places) in enumerate(zip(chain.outputs, plan.reads, strict=True)):
        storage = chain.storage[name]
        cycle, sample, word = (np.array([one[at] for one in places], dtype=np.int64) for at in range(3))
        data = outputs[f"out{t}_data"]
        found = np.zeros((samples, storage.words, storage.channels), dtype=data.dtype)
        seen = np.zeros(found.shape, dtype=np.int64)
        found[sample, word] = data[cycle + 1]
        seen[sample, word] = cycle[:, None] + 1
        tensors.append(found.swapaxes(1, 2).reshape(samples, -1))
        when.append(seen.swapaxes(1, 2).reshape(samples, -1))
    return Found(tuple(tensors), tuple(when), tuple(plan.runs))


def _of(cycles: Sequence[int], count: int) -> Ints:
    found = np.zeros(count, dtype=np.int64)
    found[list(cycles)] = 1
    return found


def _during(spans: Sequence[tuple[int, int]], count: int) -> Ints:
    found = np.zeros(count, dtype=np.int64)
    for first, last in spans:
        found[first:last] = 1
    return found


# Drive a network as a stream: send images with gaps, stalls, pauses and resets, and collect the results.


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
