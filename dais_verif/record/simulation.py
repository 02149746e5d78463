"""The record of a simulation, or of a run on a board, as ``--json`` prints it and ``result.json`` keeps it.

The record has a version; later versions only add fields. The text on the console is rendered from the record.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, SupportsIndex, overload

from dais_verif.base.stopwatch import Stage
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.base import SCHEMA, RunRecord
from dais_verif.record.coverage import Coverage, RtlCoverage
from dais_verif.record.kernels import KernelRun
from dais_verif.record.program import ProgramInfo, RtlFacts

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

#: The name of the decision that lists the parts of the RTL that Icarus does not get.
RTL_IN_ICARUS = "RTL in icarus"


@dataclass(frozen=True)
class SimulatorResult:
    """The result of one simulator. ``failure`` is its error if it did not finish; seconds are wall time.

    ``code``: the code of that error, if it is one of ``dais_verif.base.errors``.

    ``stopped``: whether it was built and started, and its run ended before everything was compared.

    ``bulk_vectors``: the number of compared vectors that ran outside cocotb. ``cached``: the build came from the cache.
    ``latency``: the latency of a clocked design, as given or found. ``also_read``: the files that the build read in
    addition to the given ones, with their SHA-256.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("code",)

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
    stopped: bool = False
    code: str | None = None

    @property
    def vectors(self) -> int:
        """The number of compared vectors."""
        return self.vectors_compared


@dataclass(frozen=True)
class Value:
    """One value in three forms: real (decimal text, exact), raw integer, bits (most significant first).

    ``real`` and ``raw`` are None if a bit is X or Z.
    """

    real: str | None
    raw: int | None
    bits: str


@dataclass(frozen=True)
class InputValue:
    """One input of a vector: its exact real value, and the bits of its port element.

    ``name``: the signal and the element, for a machine.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("name",)

    index: int
    real: str
    bits: str
    name: str | None = None


@dataclass(frozen=True)
class CyclePlace:
    """The place of a wrong output of a machine: ``cycle`` of ``sequence``, both counted from 0.

    ``sample``: ``before`` the edge of the cycle, or ``after`` the edge with the same inputs.
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
class LineEdit:
    """An edit of a line of RTL, ``old`` to ``new``, with which all outputs are right in the vectors.

    ``proved``: the edited RTL was proved.
    """

    line: str
    old: str
    new: str
    proved: bool


@dataclass(frozen=True)
class WrongLine:
    """A line of the RTL at which values go wrong, found by comparing the values of signals and ops.

    ``line``: file and line of the assignment of ``signal``, or of the instance that contains it; ``also``: the other of
    the two. ``reads``: what it reads, each with the ops whose values it carries. ``ops``: the ops whose values it
    should carry. ``expected``, ``found``: that op's raw integer, and that of the signal, in a vector in which they
    differ; None if ``ops`` is not a single one. ``explains``: the number of vectors in which all outputs are right if
    the signals of all lines that are named carry the values of their ops; None if they are not: the line is a guess.
    ``edit``: what the line may have to be; None if no single edit of each line makes all outputs right. ``register``:
    the signal is a register, None if not. ``edges``: in a pipeline, the edges from a vector to the value of the signal.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("explains", "edit", "register", "edges")

    line: str
    also: str | None
    signal: str
    width: int
    reads: list[str]
    ops: list[int]
    expected: int | None
    found: int | None
    explains: int | None = None
    edit: LineEdit | None = None
    register: bool | None = None
    edges: int | None = None

    def text(self) -> str:
        """Return the finding in words."""
        inside = f" (or {self.also})" if self.also else ""
        reads = f"; reads {', '.join(self.reads)}" if self.reads else ""
        guess = "" if self.explains else ", as a guess,"
        signal = f"{'register ' if self.register else ''}{self.signal}, {counted(self.width, 'bit')}"
        if self.edges is not None:
            signal += f", {counted(self.edges, 'edge')} after its vector"
        text = f"{self.line}{inside}: {signal}, is{guess} the first with wrong values{reads}"
        if self.ops:
            text += f"; it should carry {' or '.join(f'op {op}' for op in self.ops[:3])}"
        if self.expected is not None:
            text += f": must be {self.expected}, found {self.found}"
        if self.explains:
            text += f"; then all outputs are right in {counted(self.explains, 'vector')}"
        if self.edit is not None:
            proved = ", which is proved" if self.edit.proved else ""
            text += f"; at {self.edit.line}, `{self.edit.new.partition('//')[0].strip()}` instead gives these{proved}"
        return text


@dataclass(frozen=True)
class Blame:
    """The origin of a mismatch.

    ``kind``: ``op`` (the first op that diverges), ``output`` (all ops agree, the output does not), ``timing`` (correct
    when inputs are held), ``cone`` (the design has no op names), ``golden`` (the golden engines disagree), ``board``
    (whether a board repeats the mismatch), ``cycle`` (the cycle and output of a machine), ``register`` or ``signal``
    (the first one that diverges in a machine), ``undriven`` (what X may come from).

    For a machine, there are also the ``cycle``, the ``block`` of an op, and the ``signal`` with its element. ``lines``:
    where in user RTL values go wrong; ``moved``: in words, right values at the wrong place or time: outputs that carry
    what another one should, inputs that are taken in another order or inverted, registers that are out of step.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("cycle", "block", "signal", "lines", "moved")

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
    lines: list[WrongLine] | None = None
    moved: list[str] | None = None

    def wrong(self) -> list[str]:
        """Return where in user RTL values go wrong, in words; the likeliest place first."""
        return [*(line.text() for line in self.lines or []), *(self.moved or [])]


@dataclass(frozen=True)
class Mismatch:
    """The first differing vector and output of a run. ``waves`` and ``views``: files of its replay.

    ``cone``: the inputs on which the output depends; None in older records. ``place``: the place in the run of a
    machine; ``row`` then counts its cycles, and ``output`` the elements of its outputs.
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
        """The first op whose value diverges, if the blame is an op."""
        return None if self.blame is None else self.blame.op


@dataclass(frozen=True)
class Evidence:
    """How each output was checked: ``exhausted`` with all values of the inputs on which it depends, or ``sampled``.

    ``could``: the sampled outputs that depend on few enough input bits to be exhausted, each with the necessary number
    of vectors.
    """

    exhausted: list[int]
    sampled: list[int]
    could: dict[int, int]


@dataclass(frozen=True)
class OutputEvidence:
    """The evidence for one output.

    ``grade``: ``proved`` for all inputs, ``exhausted`` (compared on all values of the inputs on which it depends),
    ``sampled``, ``wrong`` in at least one vector, or ``none``. ``vectors``: the number of vectors on which the output
    was compared; 0 if a proof is the only evidence.
    """

    output: int
    grade: str
    vectors: int


@dataclass(frozen=True)
class StimulusClass:
    """Vectors of one origin.

    ``name``: ``file``, ``generated`` (corners, out of range, off the grid, random), ``directed`` (computed from the
    program), ``conditions`` (for those in user RTL) or ``exhaustive``. ``source``: the file of the vectors, with the
    ``sha256`` of its bytes.
    """

    name: str
    vectors: int
    source: str | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class RtlConditions:
    """The ``vectors`` for conditions that were read in the RTL: how many of their ``sides`` these reach.

    ``why``: why there are none.
    """

    vectors: int = 0
    reached: int = 0
    sides: int = 0
    why: str | None = None

    def __str__(self) -> str:
        if self.why is not None:
            return f"no vectors for the conditions of the RTL: {self.why}"
        return f"{self.reached} of {self.sides} sides reached, by {self.vectors} of the vectors"


@dataclass(frozen=True)
class Decision:
    """A choice that the input leaves open: the layout, the ports, a latency, the meaning of overflow."""

    what: str
    chosen: str
    why: str


@dataclass(frozen=True)
class Waiver:
    """A failure that a named person accepts. ``what``: the stage or bin. ``expires``: the last day, YYYY-MM-DD."""

    what: str
    reason: str
    expires: str
    by: str = ""


@dataclass(frozen=True)
class Times:
    """The start of a run (ISO 8601, UTC) and its duration, in seconds of wall time."""

    started: str
    seconds: float


@dataclass(frozen=True)
class TapsRead:
    """The output of a bitstream with taps for vector ``row``: the ``ops`` with taps, and those that are ``wrong``.

    ``sha256``: the hash of the bitstream; None if it could not be built, because of ``failure``. ``folder``: the folder
    of the build.
    """

    ops: list[int]
    row: int
    wrong: list[int] = field(default_factory=list)
    folder: str | None = None
    sha256: str | None = None
    failure: str | None = None


@dataclass(frozen=True)
class BoardInfo:
    """The board of a run of ``hil``, as named by the user and as it identifies itself.

    ``latency``: the latency of its core, in clocks. ``buffer``: the bytes of requests that the board can hold.
    ``batches``: the number of requests sent, of which ``repeated`` were sent again because they or their replies were
    lost. ``damaged_there``, ``damaged_here``: the numbers of frames that arrived damaged at the board, and at the host.
    ``unexpected``: the number of discarded replies to abandoned requests. ``resumed_from``: the number of vectors that
    an earlier run compared. ``replay``: the command that runs the same vectors in the simulators. ``cycles``: the
    number of cycles of a machine in one vector; in other fields of the record, its vectors are cycles. ``taps``: the
    bitstreams with taps that were loaded after a mismatch, in order.
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
        """Return True if a result, or a simulator of this name, is in the list."""
        return any(result.name == key for result in self) if isinstance(key, str) else super().__contains__(key)

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> SimulatorResult: ...
    @overload
    def __getitem__(self, key: slice) -> list[SimulatorResult]: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> SimulatorResult | list[SimulatorResult]:
        """Return a result. Raises ``KeyError`` if no simulator of this name ran."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        for result in self:
            if result.name == key:
                return result
        raise KeyError(f"{key!r} is not one of the simulators: {', '.join(result.name for result in self)}")


if TYPE_CHECKING:
    _Results = SimulatorResults
else:
    #: The type that readers of JSON use; a record converts such a list to ``SimulatorResults``.
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
    #: The number of vectors that were added to exhaust outputs.
    exhaustive_vectors: int = 0
    #: The time of each stage; None if not measured.
    profile: list[Stage] | None = None
    #: The board, for a run on a board.
    board: BoardInfo | None = None
    #: ``running`` until the run ends, then ``complete``. Until then, the verdict is NOT_RUN and has no meaning.
    state: str = "complete"
    times: Times | None = None
    #: The sources of the vectors, in running order.
    stimulus: list[StimulusClass] = field(default_factory=list)
    #: The evidence for each output, right or wrong; empty if not all outputs were compared.
    outputs: list[OutputEvidence] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    coverage: Coverage | None = None
    waivers: list[Waiver] = field(default_factory=list)
    rtl_coverage: RtlCoverage | None = None
    #: The additional results for hardware of a kernel.
    kernel: KernelRun | None = None
    #: The vectors for conditions in user RTL; None if none were searched.
    conditions: RtlConditions | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "simulators", SimulatorResults(self.simulators))


@dataclass(frozen=True)
class Failed:
    """The output of ``--json`` for a run that ended in an error before there was a record.

    ``reason``: ``state`` if the RTL is known to keep state where a function of its inputs is required; else empty.
    ``code``: the kind of error, such as ``ports``; it is stable. ``help``: the section of the documentation about it,
    such as ``docs/troubleshooting.md#ports``.
    """

    #: The names of all fields, which distinguish this output from a record.
    FIELDS: ClassVar = frozenset({"schema", "verdict", "exit_code", "message", "reason", "code", "help"})

    verdict: Verdict
    message: str
    reason: str = ""
    code: str = ""
    help: str = ""

    def to_json(self) -> str:
        """Return one JSON object."""
        tree = {"schema": SCHEMA, "verdict": self.verdict.value, "exit_code": self.verdict.exit_code}
        tree["message"] = self.message
        more = {"reason": self.reason, "code": self.code, "help": self.help}
        return json.dumps({**tree, **{name: text for name, text in more.items() if text}}, indent=2)
