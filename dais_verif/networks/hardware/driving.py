"""Drive a network with memories: load images, run a configuration, read outputs, image after image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dais_verif.kernels.driving.frames import Driven, Found, Ints, Run, noise
from dais_verif.machine import Machine
from dais_verif.networks.hardware.chain import Chain
from dais_verif.networks.hardware.stages import Storage

__all__ = ["drive_network"]

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
