"""The record of a simulation, or of a run on a board: what ``--json`` prints and ``result.json`` keeps.

Versioned; later versions only add fields. Console text is a rendering of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, SupportsIndex, overload

from dais_verif.record.base import SCHEMA, RunRecord
from dais_verif.record.coverage import Coverage, RtlCoverage
from dais_verif.record.kernels import KernelRun
from dais_verif.record.program import ProgramInfo
from dais_verif.record.rtl import RtlFacts
from dais_verif.stopwatch import Stage
from dais_verif.verdict import Verdict

__all__ = [
    "ASSERTION_FAILED",
    "ENDED_BY_RTL",
    "RTL_IN_ICARUS",
    # the record and its parts
    "Blame",
    "BoardInfo",
    "CyclePlace",
    "Decision",
    "Evidence",
    "Failed",
    "InputValue",
    "Mismatch",
    "OutputEvidence",
    "SimulationRecord",
    "SimulatorResult",
    "SimulatorResults",
    "StimulusClass",
    "TapsRead",
    "Times",
    "Value",
    "Waiver",
]

#: The message for a run that an assertion of the RTL ended.
ASSERTION_FAILED = "an assertion of the RTL failed"

#: The failure reported for a simulator that executed ``$finish``, ``$stop`` or ``$fatal``.
ENDED_BY_RTL = "the RTL ended the simulation"

#: The decision that says what Icarus was not given of the RTL.
RTL_IN_ICARUS = "RTL in icarus"


@dataclass(frozen=True)
class SimulatorResult:
    """The result of one simulator. ``failure`` is its error if it did not finish; seconds are wall time.

    ``bulk_vectors``: how many of the vectors compared were run outside cocotb. ``cached``: it was built before.
    ``latency``: of a clocked design, as given or found. ``also_read``: files that its build read beside those that were
    given, and their SHA-256.
    """

    name: str
    version: str | None = None
    vectors_compared: int = 0
    bits_compared: int = 0
    mismatches: int = 0
    vectors_with_x: int = 0
    digest: str | None = None
    bulk_vectors: int = 0
    cached: bool = False
    latency: int | None = None
    also_read: dict[str, str] = field(default_factory=dict)
    build_seconds: float = 0.0
    run_seconds: float = 0.0
    failure: str | None = None

    @property
    def vectors(self) -> int:
        """Vectors that were compared."""
        return self.vectors_compared


@dataclass(frozen=True)
class Value:
    """One value three ways: real (decimal text, exact), raw integer, bits (most significant first).

    ``real`` and ``raw`` are None where a bit is X or Z.
    """

    real: str | None
    raw: int | None
    bits: str


@dataclass(frozen=True)
class InputValue:
    """One input of a vector: the exact real value given, and the bits that its port element carries.

    ``name``: of a machine's, signal and element.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("name",)

    index: int
    real: str
    bits: str
    name: str | None = None


@dataclass(frozen=True)
class CyclePlace:
    """The place where an output of a machine is wrong: the ``cycle`` of the ``sequence``, both counted from 0.

    ``sample``: ``before`` the edge of the cycle, or ``after`` it, with the same inputs.
    """

    sequence: int
    cycle: int
    sample: str
    signal: str
    element: int

    def __str__(self) -> str:
        when = f"cycle {self.cycle}" if self.sequence == 0 else f"sequence {self.sequence}, cycle {self.cycle}"
        return f"{when}, {self.sample} its edge: {self.signal}[{self.element}]"


@dataclass(frozen=True)
class Blame:
    """The origin of a mismatch.

    ``kind``: ``op`` (the first op that diverges), ``output`` (all ops agree, the output does not), ``timing`` (right
    when held), ``cone`` (the design has no op names), ``golden`` (the golden engines disagree), ``board`` (whether a
    board repeats it), ``cycle`` (when and where a machine is wrong), ``register`` or ``signal`` (the first that
    diverges in a machine).

    For a machine: the ``cycle``, the ``block`` of an op, and the ``signal`` with its element.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("cycle", "block", "signal")

    kind: str
    text: str
    op: int | None = None
    mnemonic: str | None = None
    type: str | None = None
    expected: Value | None = None
    found: Value | None = None
    replayed_in: str | None = None
    cycle: int | None = None
    block: str | None = None
    signal: str | None = None


@dataclass(frozen=True)
class Mismatch:
    """The first differing vector and output of a run. ``waves`` and ``views``: files of its replay.

    ``cone``: the inputs that the output depends on; None in records of old. ``place``: of a machine, when and where;
    ``row`` counts its cycles, ``output`` the elements of its outputs.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("place",)

    simulator: str
    row: int
    output: int
    expected: Value
    found: Value
    inputs: list[InputValue]
    blame: Blame | None = None
    waves: str | None = None
    views: list[str] = field(default_factory=list)
    cone: list[int] | None = None
    place: CyclePlace | None = None

    @property
    def op(self) -> int | None:
        """The first op whose value diverges, if one is to blame."""
        return None if self.blame is None else self.blame.op


@dataclass(frozen=True)
class Evidence:
    """The check of each output: ``exhausted`` on all inputs that it depends on, or ``sampled``.

    ``could``: sampled outputs that few enough inputs reach, and the vectors that would exhaust each.
    """

    exhausted: list[int]
    sampled: list[int]
    could: dict[int, int]


@dataclass(frozen=True)
class OutputEvidence:
    """The evidence for one output.

    ``grade``: ``proved`` for all inputs, ``exhausted`` (all inputs that reach it were compared), ``sampled``, ``wrong``
    in at least one vector, or ``none``. ``vectors``: that compared it, 0 where a proof is the only evidence.
    """

    output: int
    grade: str
    vectors: int


@dataclass(frozen=True)
class StimulusClass:
    """Vectors of one origin.

    ``name``: ``file``, ``generated`` (corners, out of range, off the grid, random), ``directed`` (computed from the
    program) or ``exhaustive``. ``source``: the file, with ``sha256`` of its bytes.
    """

    name: str
    vectors: int
    source: str | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Decision:
    """A choice where the input leaves it open: the layout, the ports, a latency, the meaning of overflow."""

    what: str
    chosen: str
    why: str


@dataclass(frozen=True)
class Waiver:
    """A failure that a named person answers for. ``what``: the stage or bin. ``expires``: the last day, YYYY-MM-DD."""

    what: str
    reason: str
    expires: str
    by: str = ""


@dataclass(frozen=True)
class Times:
    """When a run started (ISO 8601, UTC) and how long it took, in seconds of wall time."""

    started: str
    seconds: float


@dataclass(frozen=True)
class TapsRead:
    """The output of a bitstream with taps for vector ``row``: the ``ops`` that it reads out, and which are ``wrong``.

    ``sha256``: of the bitstream; None: it could not be made, for the reason in ``failure``. ``folder``: of its build.
    """

    ops: list[int]
    row: int
    wrong: list[int] = field(default_factory=list)
    folder: str | None = None
    sha256: str | None = None
    failure: str | None = None


@dataclass(frozen=True)
class BoardInfo:
    """The board of a run of ``hil``, as it was named and as it says it is.

    ``latency``: of its core, in clocks. ``buffer``: bytes of requests that it holds. ``batches``: requests sent,
    ``repeated`` of them because they or their replies were lost. ``damaged_there``, ``damaged_here``: frames that
    arrived damaged at the board and from it; ``unexpected``: replies thrown away, to requests long given up.
    ``resumed_from``: vectors that an earlier run compared. ``replay``: the command that runs the same vectors in the
    simulators. ``cycles``: of a machine, in a vector; its vectors in other fields are cycles. ``taps``: the bitstreams
    with taps that were loaded after a mismatch, in their order.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("cycles", "taps")

    target: str
    program: str
    protocol: int
    latency: int
    buffer: int
    batches: int
    repeated: int
    damaged_there: int
    damaged_here: int
    unexpected: int
    resumed_from: int
    replay: str
    cycles: int | None = None
    taps: list[TapsRead] | None = None


class SimulatorResults(list[SimulatorResult]):
    """The results of all simulators, by number or by name: ``simulators["icarus"]``."""

    def __contains__(self, key: object) -> bool:
        """Return True if a result, or a simulator of that name, is among them."""
        return any(result.name == key for result in self) if isinstance(key, str) else super().__contains__(key)

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> SimulatorResult: ...
    @overload
    def __getitem__(self, key: slice) -> list[SimulatorResult]: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> SimulatorResult | list[SimulatorResult]:
        """Return a result. Raises ``KeyError`` if no simulator of that name was asked."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        for result in self:
            if result.name == key:
                return result
        raise KeyError(f"{key!r} is not one of the simulators: {', '.join(result.name for result in self)}")


if TYPE_CHECKING:
    _Results = SimulatorResults
else:
    #: What readers of JSON make; a record makes the other of it.
    _Results = list[SimulatorResult]


@dataclass(frozen=True, kw_only=True, repr=False)
class SimulationRecord(RunRecord):
    """A run of ``sim`` or ``hil``."""

    EXIT_CODE_LAST: ClassVar = True

    program: ProgramInfo
    seed: int
    vectors: int
    reproduce: str
    rtl: RtlFacts
    tools: dict[str, str]
    simulators: _Results = field(default_factory=SimulatorResults)
    first_mismatch: Mismatch | None = None
    unchecked: bool = False
    warnings: list[str] = field(default_factory=list)
    evidence: Evidence | None = None
    #: Vectors that were added to exhaust outputs.
    exhaustive_vectors: int = 0
    #: The time of each stage; None if not measured.
    profile: list[Stage] | None = None
    #: The board, if it did not run in simulators.
    board: BoardInfo | None = None
    #: ``running`` while it is written step by step, then ``complete``. A run that is not complete has no verdict to
    #: act on: until then it says NOT_RUN.
    state: str = "complete"
    times: Times | None = None
    #: The sources of the vectors, in running order.
    stimulus: list[StimulusClass] = field(default_factory=list)
    #: The evidence for each output, right or wrong; empty where not all of them were compared.
    outputs: list[OutputEvidence] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    coverage: Coverage | None = None
    waivers: list[Waiver] = field(default_factory=list)
    rtl_coverage: RtlCoverage | None = None
    #: For hardware of a kernel.
    kernel: KernelRun | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "simulators", SimulatorResults(self.simulators))


@dataclass(frozen=True)
class Failed:
    """The output of ``--json`` for a run that ended in an error, before there was anything to record.

    ``reason``: ``state`` if the RTL is known to keep state where a function of its inputs was asked for; else empty.
    ``help``: the section of the documentation about this error, as ``docs/troubleshooting.md#ports``.
    """

    #: All of its fields: they distinguish it from a record.
    FIELDS: ClassVar = frozenset({"schema", "verdict", "exit_code", "message", "reason", "help"})

    verdict: Verdict
    message: str
    reason: str = ""
    help: str = ""

    def to_json(self) -> str:
        """One JSON object."""
        tree = {"schema": SCHEMA, "verdict": self.verdict.value, "exit_code": self.verdict.exit_code}
        tree["message"] = self.message
        more = {"reason": self.reason, "help": self.help}
        return json.dumps({**tree, **{name: text for name, text in more.items() if text}}, indent=2)
