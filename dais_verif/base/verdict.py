"""The verdicts of the tool, and their exit codes.

The codes must never change, since scripts and CI depend on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

__all__ = ["Verdict", "worst"]


class Verdict(Enum):
    """The result of a run. ``value`` is the name for users and in records."""

    #: Every compared bit was equal, and at least one bit was compared.
    PASS = "PASS"
    #: The RTL differs from the golden model in at least one known output bit.
    RTL_MISMATCH = "RTL_MISMATCH"
    #: Two programs differ in at least one output of one vector.
    PROGRAMS_DIFFER = "PROGRAMS_DIFFER"
    #: Two implementations that must agree disagree on a case: engines, forms, a proof and its RTL, another tool.
    DISAGREEMENT = "DISAGREEMENT"
    #: A mutant was proved although a simulator shows that it differs from the program: a defect of dais-verif.
    UNSOUND = "UNSOUND"
    #: A promise of the program was broken: an op whose value may not change by quantisation changed.
    PROGRAM_INVALID = "PROGRAM_INVALID"
    #: The file, a vector or an option cannot be used.
    INVALID_INPUT = "INVALID_INPUT"
    #: A simulator or compiler is missing, crashed or timed out.
    TOOL_FAILURE = "TOOL_FAILURE"
    #: An output bit was X or Z.
    X_IN_OUTPUT = "X_IN_OUTPUT"
    #: Two simulators computed different outputs from the same RTL and vectors.
    SIMULATORS_DISAGREE = "SIMULATORS_DISAGREE"
    #: The question could not be decided.
    UNKNOWN = "UNKNOWN"
    #: Nothing was compared.
    NOT_RUN = "NOT_RUN"
    #: A policy was not met.
    NOT_SIGNED_OFF = "NOT_SIGNED_OFF"
    #: An unexpected exception, which is a bug of dais-verif: nothing is known about the RTL.
    INTERNAL_ERROR = "INTERNAL_ERROR"
    #: The user stopped the run.
    INTERRUPTED = "INTERRUPTED"

    @property
    def exit_code(self) -> int:
        """The process exit code, 0 for PASS only."""
        return _EXIT_CODES[self]

    @property
    def code(self) -> str:
        """The name in kebab case, as in links to docs/troubleshooting.md."""
        return self.value.lower().replace("_", "-")

    @property
    def next_step(self) -> str:
        """The recommended action for the user; empty if the message of the run already says it."""
        return _NEXT_STEPS.get(self, "")


_EXIT_CODES = {
    Verdict.PASS: 0,
    Verdict.RTL_MISMATCH: 1,
    Verdict.PROGRAMS_DIFFER: 1,
    Verdict.DISAGREEMENT: 1,
    Verdict.PROGRAM_INVALID: 2,
    Verdict.INVALID_INPUT: 2,
    Verdict.TOOL_FAILURE: 3,
    Verdict.X_IN_OUTPUT: 4,
    Verdict.SIMULATORS_DISAGREE: 5,
    Verdict.UNKNOWN: 6,
    Verdict.NOT_RUN: 6,
    Verdict.NOT_SIGNED_OFF: 7,
    Verdict.UNSOUND: 8,
    Verdict.INTERNAL_ERROR: 70,  # EX_SOFTWARE of sysexits.h
    Verdict.INTERRUPTED: 130,
}

_NEXT_STEPS = {
    Verdict.RTL_MISMATCH: "the RTL is wrong, or made from another program; look at the first mismatch",
    Verdict.PROGRAM_INVALID: "the program is wrong, not the RTL: widen the op's type where the program is made",
    Verdict.X_IN_OUTPUT: "find the undriven or uninitialized signal in the RTL: X does not exist on an FPGA",
    Verdict.SIMULATORS_DISAGREE: "the RTL is ambiguous (X, a race, an undriven net): trust neither; see the logs",
    Verdict.UNSOUND: "a defect of dais-verif: report it, with the mutant; trust no proof of this design until then",
    Verdict.INTERNAL_ERROR: "nothing is known about the RTL: report it, with the traceback",
    Verdict.TOOL_FAILURE: "nothing is known about the RTL; read the tool's log",
}

#: The verdict of several runs is the first of these that occurs: first defects of RTL, then of programs, then runs
#: without a result.
_WORST_FIRST = (
    Verdict.INTERRUPTED,
    Verdict.UNSOUND,
    Verdict.RTL_MISMATCH,
    Verdict.PROGRAMS_DIFFER,
    Verdict.DISAGREEMENT,
    Verdict.X_IN_OUTPUT,
    Verdict.SIMULATORS_DISAGREE,
    Verdict.PROGRAM_INVALID,
    Verdict.NOT_SIGNED_OFF,
    Verdict.INTERNAL_ERROR,
    Verdict.INVALID_INPUT,
    Verdict.TOOL_FAILURE,
    Verdict.UNKNOWN,
    Verdict.NOT_RUN,
    Verdict.PASS,
)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of runs that ended in ``verdicts``; NOT_RUN if there are none."""
    return min(verdicts, key=_WORST_FIRST.index, default=Verdict.NOT_RUN)
