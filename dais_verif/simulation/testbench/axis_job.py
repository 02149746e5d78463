"""Job and answer of a run behind AXI4-Stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dais_verif.simulation.testbench.stream import NEVER, Pauses

__all__ = [
    "QUIET",
    "SCENARIOS",
    "AxisAnswer",
    "AxisJob",
    "Heard",
    "MachineBeats",
    "Scenario",
    "Stretch",
    "VectorBeats",
]

#: Inputs of an optional AXI4-Lite block of the design, which is not used here.
QUIET = tuple(f"s_axil_{name}" for name in ("awvalid", "wvalid", "bready", "arvalid", "rready"))


@dataclass(frozen=True)
class Scenario:
    """The behaviour of source and sink. ``packet``: the mean length of a packet, in beats.

    ``resets``: the number of resets in mid-stream, spread over the run, some of them while a beat waits. ``patient``:
    the sink is ready only after TVALID. ``still``: the clocks of one long stop of each side, and of silence at the end.
    Without pauses, the number of clocks is checked.
    """

    name: str
    source: Pauses = NEVER
    sink: Pauses = NEVER
    packet: int = 5
    resets: int = 0
    patient: bool = False
    still: int = 0

    @property
    def free(self) -> bool:
        """True if neither side ever stalls."""
        return not (self.source.stop or self.sink.stop or self.resets or self.patient or self.still)


#: Longer than an 8-bit counter in a wrapper takes to overflow.
_STILL = 320

#: Scenarios for wrappers. Probabilities of one half find most faults; long stops fill and empty every register.
SCENARIOS = (
    Scenario("no side pauses"),
    Scenario("both pause", Pauses(0.5, 0.5), Pauses(0.5, 0.5)),
    Scenario("the sink pauses", NEVER, Pauses(0.5, 0.5)),
    Scenario("the source pauses", Pauses(0.5, 0.5), NEVER),
    Scenario("long stops", Pauses(0.1, 0.1), Pauses(0.1, 0.1), packet=1, still=_STILL),
    Scenario("the sink waits for TVALID", Pauses(0.2, 0.8), Pauses(0.3, 0.5), patient=True),
    Scenario("resets", Pauses(0.2, 0.8), Pauses(0.3, 0.5), resets=5),
)


@dataclass(frozen=True)
class VectorBeats:
    """Beats of a program: each input beat, a vector, gives one output beat with the same TLAST and TUSER.

    ``inputs``, ``expected``: files of packed rows, 64-bit words. ``latency``: of the core alone, in clocks.
    """

    inputs: str
    expected: str
    rows: int
    latency: int


@dataclass(frozen=True)
class Stretch:
    """Beats ``start .. stop - 1`` of the inputs of a machine after a reset, and all their outputs, in order.

    ``last``: the cycle of the last output, if every cycle has an input until all inputs are used. ``spare``: the number
    of last beats of ``expected`` that may stay in the machine.
    """

    start: int
    stop: int
    expected: list[str]
    last: int
    spare: int = 0


@dataclass(frozen=True)
class MachineBeats:
    """Beats of a machine, which determines the number of output beats. ``inputs``: bits, most significant first.

    ``stretches``: the stretches to send, by the number of resets in mid-stream, as text. ``depth``: the number of
    clocks without an output and without pauses after which no more output comes.
    """

    inputs: list[str]
    stretches: Mapping[str, list[Stretch]]
    depth: int

    def of(self, scenario: Scenario) -> list[Stretch]:
        """Return the stretches sent in ``scenario``, with a reset before each."""
        return self.stretches[str(scenario.resets)]


@dataclass(frozen=True)
class AxisJob:
    """All ``beats``, each of which is sent in every scenario. ``user_bits``: None without TLAST and TUSER."""

    vectors: VectorBeats | None
    machine: MachineBeats | None
    input_bits: int
    output_bits: int
    user_bits: int | None = None
    seed: int = 0
    scenarios: tuple[Scenario, ...] = SCENARIOS

    @property
    def widths(self) -> dict[str, int]:
        """The width of every port that the design must have."""
        more = {} if self.user_bits is None else {"tlast": 1, "tuser": max(self.user_bits, 1)}
        streams = {
            f"{side}_axis_{name}": width
            for side, bits in (("s", self.input_bits), ("m", self.output_bits))
            for name, width in {"tdata": 8 * -(-max(bits, 1) // 8), "tvalid": 1, "tready": 1, **more}.items()
        }
        return {"aclk": 1, "aresetn": 1, **streams}


@dataclass(frozen=True)
class Heard:
    """The result of one scenario.

    ``sent`` beats were taken; each was ``compared`` or ``dropped`` by a reset. ``clocks``: from the first beat taken to
    the last one delivered, inclusive. ``unknown``: the number of beats with X or Z.
    """

    scenario: str
    sent: int = 0
    compared: int = 0
    dropped: int = 0
    clocks: int = 0
    problems: list[str] = field(default_factory=list)
    total_problems: int = 0
    unknown: int = 0


@dataclass(frozen=True)
class AxisAnswer:
    """The results of the bench, scenario by scenario."""

    heard: list[Heard] = field(default_factory=list)
    port_error: str | None = None
