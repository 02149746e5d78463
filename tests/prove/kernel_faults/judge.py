"""Compare what simulation finds of a fault of a kernel instance with what the proof finds."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Any

import numpy as np
from prove.kernel_faults.instances import instances, kernel_of, machine_of

from dais_verif.base.errors import DaisError, ViolationError
from dais_verif.base.verdict import Verdict
from dais_verif.spec.machine import Machine
from dais_verif.verbs.kernels.source import KernelSource, compare_with_members, facts_of
from dais_verif.verbs.tensors.simulate import difference, read_driven

__all__ = ["Found", "Judge"]


class Found(Enum):
    """The result for a fault. ``ESCAPED``: it is proved equal, but long simulation shows that it is not."""

    BOTH = "driving and proof"
    PROOF = "proof alone"
    UNKNOWN_DRIVEN = "driving; the proof says UNKNOWN"
    UNKNOWN = "the proof says UNKNOWN"
    EQUAL = "equal"
    ESCAPED = "ESCAPED"


class Judge:
    """Judge faulty machines of one instance in one form."""

    def __init__(self, name: str, form: str, cycles: int = 10_000) -> None:
        self.kernel, self.form = kernel_of(instances(form)[name], form), form
        self.right, self.facts = machine_of(self.kernel.instance, form)
        self.cycles = cycles

    @cache  # noqa: B019 - a judge exists as long as a campaign
    def _driving(self, cycles: int, seed: int) -> list[tuple[Any, Any]]:
        """Return sequences as ``sim`` drives them, two samples each, and the golden model's results of all members."""
        source, rng, found, done = KernelSource(self.kernel), np.random.default_rng(seed), [], 0
        while done < cycles:
            one = source.generated(2, rng)
            found.append((one, source.expected(one)))
            done += one.driven.cycles
        return found

    def driven(self, machine: Machine, cycles: int = 0, *, check: bool = True) -> str | None:
        """Return the first difference or broken promise that simulation shows, if any.

        ``cycles``: simulate that many cycles with other stimuli than the default ones.
        """
        for number, (one, expected) in enumerate(self._driving(cycles, 1) if cycles else self._driving(self.cycles, 0)):
            try:
                read = read_driven(machine, one.driven, check=check)
                wrong = difference(KernelSource(self.kernel), one, read, expected, number)
            except ViolationError as error:  # a faulty block breaks a promise, which sim reports
                return str(error)
            if wrong is not None:
                return wrong
        return None

    def proved(self, machine: Machine) -> tuple[Verdict, str]:
        """Return the verdict of ``prove`` for RTL that behaves like ``machine``, and the part that decides it."""
        try:
            broken, _ = facts_of(self.kernel.instance, self.form, machine, self.facts)
            if broken:
                return Verdict.RTL_MISMATCH, "facts"
        except DaisError:  # the time at which the machine is done depends on data
            return Verdict.RTL_MISMATCH, "facts"
        try:
            record, frame = compare_with_members(self.kernel.instance, self.form, machine, self.facts)
        except DaisError:  # the machine breaks a promise
            return Verdict.RTL_MISMATCH, "refused"
        return record.verdict, frame

    def __call__(self, machine: Machine, long: int = 100_000) -> tuple[Found, str]:
        """Judge a faulty machine; ``long`` is the number of cycles to simulate if it is proved equal."""
        seen = self.driven(machine) is not None
        verdict, part = self.proved(machine)
        if verdict is Verdict.UNKNOWN:
            return (Found.UNKNOWN_DRIVEN if seen else Found.UNKNOWN), part
        if verdict is not Verdict.PASS:
            return (Found.BOTH if seen else Found.PROOF), part
        # Compare values only: an equal machine may still break a promise, which only sim reports.
        escaped = any(self.driven(machine, cycles, check=False) is not None for cycles in (0, long))
        return (Found.ESCAPED if escaped else Found.EQUAL), part
