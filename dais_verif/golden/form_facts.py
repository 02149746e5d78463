"""Check the facts that a form states: the cycle in which it is done, how often members begin, and its memory.

The control of the machine is extracted, which shows that it does not depend on data, and is run alone on concrete
ranges: all ranges along each dimension of the index space, the whole space, and random ranges. The facts must hold for
each range.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import FrameError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.forms.memory import MemoryFacts, MemoryForm, group_of
from dais_verif.compile.kernels.forms.raster import raster_of
from dais_verif.compile.kernels.forms.stream import StreamForm
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.golden.machine_batch import run_raw
from dais_verif.golden.unroll import missed_by_reset
from dais_verif.spec.machine.model import Machine
from dais_verif.spec.machine.order import indexed, signals_behind
from dais_verif.spec.machine.step import Element

__all__ = ["FactFinding", "FactReport", "check_facts"]

Ints = NDArray[np.int64]
Range = tuple[tuple[int, ...], tuple[int, ...]]

#: The most ranges along one dimension that are run, and the approximate limit of the cycles that they take together. If
#: there are more ranges, random ones are chosen.
_ALONG, _IN_ALL = 1 << 10, 1 << 22
#: The number of random ranges.
_RANDOM = 32
#: The most cycles of one range, and the most numbers in memory at once.
_CYCLES, _TOGETHER = 1 << 18, 1 << 22


@dataclass(frozen=True)
class FactFinding:
    """A stated fact that does not hold. ``found``: None if the event never occurs. ``where``: the run that shows it."""

    fact: str
    stated: int
    found: int | None
    where: str = ""

    def __str__(self) -> str:
        found = "it never occurs" if self.found is None else f"it is {self.found}"
        return f"{self.fact}: {self.stated} is stated, but {found}" + (f", {self.where}" if self.where else "")


@dataclass(frozen=True)
class FactReport:
    """The findings of ``runs`` of control. ``left_out``: the number of runs that would have taken too long."""

    findings: tuple[FactFinding, ...]
    runs: int
    left_out: int = 0

    @property
    def verdict(self) -> Verdict:
        """PASS, RTL_MISMATCH if a fact does not hold, NOT_RUN if the whole index space was left out."""
        if self.findings:
            return Verdict.RTL_MISMATCH
        return Verdict.NOT_RUN if self.left_out else Verdict.PASS


def check_facts(instance: KernelInstance, form: MemoryForm | StreamForm) -> FactReport:
    """Check all facts that ``form`` states about ``instance``; return at most one finding per fact.

    Raises ``InputError`` for a machine whose control depends on data, since its finishing time is then not fixed.
    """
    return _memory(instance, form) if isinstance(form, MemoryForm) else _stream(instance, form)


def _control_of(machine: Machine, outputs: Sequence[str], inputs: Sequence[str]) -> Machine:
    """Return the part of the machine on which ``outputs`` depend, as a machine."""
    kept = set().union(*(signals_behind(machine, name, control=True) for name in outputs))
    for signal in machine.inputs:
        if signal.name in kept and signal.name not in inputs:
            raise FrameError(
                f"{outputs[-1]} depends on {signal.name}; the time at which a form is done must not depend on data"
            )
    return replace(
        machine,
        signals={name: signal for name, signal in machine.signals.items() if name in kept},
        connections=tuple(c for c in machine.connections if c.target.signal in kept),
        blocks={name: block for name, block in machine.blocks.items() if block.outputs in kept},
    )


def _after_reset(control: Machine) -> list[FactFinding]:
    """Find registers of the control that a reset does not restore: the next image may be computed differently."""
    initial = {
        Element(signal.name, place): value
        for signal in control.registers
        for place, value in enumerate(signal.initial or ())
    }
    missed = missed_by_reset(control, initial, {Element("rst", 0): Fraction(1)})
    where = f"as {', '.join(map(str, missed))} can keep its value"
    return [FactFinding("control registers that a reset does not restore", 0, len(missed), where)] if missed else []


def _run(control: Machine, given: dict[str, Ints]) -> dict[str, Ints]:
    """Run ``control``, whose signals have one element; return outputs before each edge, (sequences, cycles)."""
    shape = next(iter(given.values())).shape
    zeros = np.zeros(shape, dtype=np.int64)
    inputs = {s.name: given.get(s.name, zeros)[..., None] for s in control.inputs}
    found = run_raw(control, inputs, sequences=shape[0], cycles=shape[1], after=False)
    if found is None:
        raise FrameError("the fast engine does not support the control of this machine")
    return {s.name: found.before[:, at].T.astype(np.int64) for at, s in enumerate(control.outputs)}


def _memory(instance: KernelInstance, form: MemoryForm) -> FactReport:
    machine, facts, mapping = form.machine, form.facts, instance.mapping
    rank = len(mapping.geometry)
    control = _control_of(
        machine, ["busy", "done"], ["start", "rst", *(f"{side}{d}" for side in ("begin", "end") for d in range(rank))]
    )
    reads, writes = ([mapping.addressing(one).count for one in side] for side in (mapping.inputs, mapping.outputs))
    most, last = max(reads, default=0), facts.parallel * max(writes, default=0)
    groups = _groups(instance, facts, ((0,) * rank, mapping.geometry))
    memories = [machine.signals[name] for name in _memories(machine)]
    findings = _unequal(
        {
            "members": (facts.members, mapping.members),
            "cycles": (facts.cycles, max(most, last)),
            "latency": (facts.latency, (groups - 1) * max(most, last) + most + last + 3),
            "words": (facts.words, sum(len(one.types) for one in memories)),
            "bits": (facts.bits, sum(kind.width for one in memories for kind in one.types)),
        }
    )
    if any(finding.fact in ("cycles", "latency") for finding in findings):
        return FactReport(tuple(findings), 0)
    ranges = list(dict.fromkeys(_ranges(mapping.geometry, facts.cycles, np.random.default_rng(1))))
    stated = np.array([_stated(instance, facts, one) for one in ranges])
    short = np.flatnonzero(stated <= _CYCLES)
    for batch in _batches(stated[short], 2 * rank + 3):
        wrong = _late(control, [ranges[n] for n in short[batch]], stated[short[batch]])
        if wrong is not None:
            findings.append(wrong)
            break
    findings += [] if findings else _after_reset(control)
    return FactReport(tuple(findings), len(short), len(ranges) - len(short))


def _unequal(facts: dict[str, tuple[int, int]]) -> list[FactFinding]:
    return [FactFinding(name, stated, found) for name, (stated, found) in facts.items() if stated != found]


def _memories(machine: Machine) -> list[str]:
    """Return the registers that are read or written at an index."""
    views = [getattr(machine.connections[number], field) for number, field, _ in indexed(machine)]
    return list(dict.fromkeys(view.signal for view in views))


def _stated(instance: KernelInstance, facts: MemoryFacts, one: Range) -> int:
    """Return the cycle, counted from start, in which a range is done according to the stated facts."""
    whole = _groups(instance, facts, ((0,) * len(one[0]), instance.mapping.geometry))
    count = _groups(instance, facts, one)
    return facts.latency - (whole - count) * facts.cycles if count else 1


def _groups(instance: KernelInstance, facts: MemoryFacts, one: Range) -> int:
    """Return the number of groups of members in a range."""
    geometry, group = instance.mapping.geometry, group_of(instance, facts.parallel)
    counts = [max(min(last, size) - first, 0) for first, last, size in zip(*one, geometry, strict=True)]
    return prod(-(-n // (group.size if d == group.dim else 1)) for d, n in enumerate(counts))


def _ranges(geometry: Sequence[int], interval: int, rng: np.random.Generator) -> Iterator[Range]:
    """Yield the whole index space, ranges along each dimension with one member in the others, and random ranges."""
    zero, one = (0,) * len(geometry), (1,) * len(geometry)
    yield zero, tuple(geometry)
    ends = [1 << size.bit_length() for size in geometry]
    begins = [1 << max((size - 1).bit_length(), 1) for size in geometry]
    for d in range(len(geometry)):
        count, most = begins[d] * ends[d], min(_ALONG, max(_IN_ALL // (geometry[d] * interval), 16))
        pairs = np.arange(count) if count <= most else np.unique(rng.integers(0, count, size=most))
        for begin, end in zip((pairs // ends[d]).tolist(), (pairs % ends[d]).tolist(), strict=True):
            yield (*zero[:d], begin, *zero[d + 1 :]), (*one[:d], end, *one[d + 1 :])
    for _ in range(_RANDOM):
        yield tuple(rng.integers(0, begins).tolist()), tuple(rng.integers(0, ends).tolist())


def _batches(lengths: Ints, numbers: int) -> Iterator[Ints]:
    """Yield the numbers of runs to simulate together: runs of similar length, within the memory limit."""
    order = np.argsort(lengths, kind="stable")
    first = 0
    for at in range(1, len(order) + 1):
        full = at < len(order) and (at + 1 - first) * (3 * int(lengths[order[at]]) + 2) * numbers > _TOGETHER
        if at == len(order) or full or (at < len(order) and lengths[order[at]] > 4 * lengths[order[first]] + 64):
            yield order[first:at]
            first = at


def _late(control: Machine, ranges: Sequence[Range], stated: Ints) -> FactFinding | None:
    """Return a finding if one of ``ranges`` is not done in exactly the stated cycle.

    Each range is run until a reset aborts it; then another range is run, immediately followed by the first range again.
    While the design is busy, its inputs show other ranges, which it must ignore.
    """
    rng, other = np.random.default_rng(2), np.arange(len(ranges))[::-1]
    reset = 1 + rng.integers(1, np.maximum(stated, 2))
    # Three runs: the range, the start cycle, the number of cycles, and whether the run completes.
    runs = [
        (np.arange(len(ranges)), np.ones_like(stated), np.minimum(stated, reset), stated == 1),
        (other, reset + 1, stated[other], stated > 0),
        (np.arange(len(ranges)), reset + 1 + stated[other], stated, stated > 0),
    ]
    time = np.arange(int((runs[-1][1] + stated).max()) + 3)[None, :]
    busy, done, start = (np.zeros((len(ranges), time.size), dtype=bool) for _ in range(3))
    given = {
        f"{name}{d}": rng.integers(0, 1 << control.signals[f"{name}{d}"].types[0].width, size=start.shape)
        for name in ("begin", "end")
        for d in range(len(ranges[0][0]))
    }
    for whose, first, length, whole in runs:
        since = time - first[:, None]
        start |= (since >= 0) & (since < length[:, None])
        busy |= (since > 0) & (since < length[:, None])
        done |= (since == length[:, None]) & whole[:, None]
        for lane, (number, at) in enumerate(zip(whose.tolist(), first.tolist(), strict=True)):
            for side, name in enumerate(("begin", "end")):
                for d, value in enumerate(ranges[number][side]):
                    given[f"{name}{d}"][lane, at] = value
    pulse = time == reset[:, None]
    found = _run(control, {**given, "start": (start & ~pulse).astype(np.int64), "rst": pulse.astype(np.int64)})
    right = (found["done"] == done) & (found["busy"] == busy)
    wrong = np.flatnonzero(~right.all(axis=1))
    if not len(wrong):
        return None
    lane, cycle = wrong[0], int(np.flatnonzero(~right[wrong[0]])[0])
    run = max(n for n, (_, first, _, _) in enumerate(runs) if first[lane] < cycle or not n)
    whose, first, length, _ = (part[lane] for part in runs[run])
    begin, end = ranges[whose]
    seen = np.flatnonzero(found["done"][lane] & (time[0] > first)).tolist()
    where = f"of the range {list(begin)} to {list(end)}"
    if run == 0:
        where += ", which a reset aborts"
    elif seen and seen[0] == first + length:
        where += ", in which busy is not 1 exactly from start to done"
    return FactFinding("latency", int(stated[whose]), seen[0] - int(first) if seen else None, where)


def _stream(instance: KernelInstance, form: StreamForm) -> FactReport:
    raster, machine = raster_of(instance), form.machine
    control = _control_of(machine, ["valid_out"], ["valid_in", "en", "rst"])
    beats = raster.beats
    kept = [s for s in machine.registers if s.name not in control.signals]
    pixels = {s.name for s in kept if s.name in _memories(machine)} if raster.x.size > 1 else None
    lines = form.line_bits if pixels is None else sum(k.width for s in kept if s.name in pixels for k in s.types)
    total = sum(kind.width for signal in kept for kind in signal.types)
    findings = _unequal(
        {
            "interval": (form.interval, 1),
            "beats": (form.beats, beats),
            "line_bits": (form.line_bits, lines),
            "window_bits": (form.window_bits, total - lines),
        }
    )
    # Two images without a pause, two with a pause, and two without a pause but with stalls.
    pause = beats + max(form.flush, 0) + 2
    cycles = 4 * pause
    valid = np.zeros((3, cycles), dtype=np.int64)
    valid[[0, 2], : 2 * beats] = 1
    valid[1, :beats] = valid[1, pause : pause + beats] = 1
    enable = np.ones_like(valid)
    enable[2] = np.random.default_rng(3).integers(0, 2, size=cycles)
    moved = np.cumsum(enable[2]) - enable[2]
    valid[2] = valid[2][moved]
    found = _run(control, {"valid_in": valid, "en": enable})["valid_out"] & enable
    calm, apart, stalled = (np.flatnonzero(row).tolist() for row in found)
    runs = {"without a pause": (calm, beats), "with a pause": (apart, pause)}
    for where, (seen, second) in runs.items():
        first, last = (seen[0], seen[-1]) if seen else (None, None)
        wanted = raster.x.count * raster.y.count
        for fact, stated, value in (
            ("latency", form.latency, first),
            ("flush", form.flush, None if last is None else max(last - (second + beats - 1), 0)),
            ("outputs of two images", 2 * wanted, len(seen)),
        ):
            if value != stated and all(one.fact != fact for one in findings):
                findings.append(FactFinding(fact, stated, value, f"of two images {where}"))
        again = [at + second for at in seen[:wanted]]
        if seen[wanted:] != again and not findings:
            late = next((a for a, b in zip(seen[wanted:], again, strict=False) if a != b), None)
            findings.append(FactFinding("outputs of the second image", again[0], late, f"of two images {where}"))
    if moved[stalled].tolist() != [at for at in calm if at <= moved[-1]] and not findings:
        findings.append(FactFinding("outputs with stalls", len(calm), len(stalled)))
    if not raster.pointwise and not findings:
        findings += _after_reset(control)
    return FactReport(tuple(findings), len(found))
