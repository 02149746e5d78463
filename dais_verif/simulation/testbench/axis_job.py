"""Job and answer of the AXI4-Stream bench: JSON files, as for the other bench."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dais_verif.base.files import write_atomically
from dais_verif.simulation.testbench.stream import NEVER, Pauses

__all__ = ["AXIS_JOB_VARIABLE", "QUIET", "SCENARIOS", "AxisAnswer", "AxisJob", "Heard", "Scenario"]

#: Environment variable that names the job file.
AXIS_JOB_VARIABLE = "DAIS_VERIF_AXIS_JOB"


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
class AxisJob:
    """All vectors, which are sent in each scenario. ``inputs``, ``expected``: files of packed rows, 64-bit words."""

    inputs: str
    expected: str
    answer: str
    rows: int
    input_bits: int
    output_bits: int
    user_bits: int
    latency: int
    seed: int = 0
    scenarios: tuple[Scenario, ...] = SCENARIOS

    @property
    def widths(self) -> dict[str, int]:
        """The width of every port that the design must have."""
        streams = {
            f"{side}_axis_{name}": width
            for side, bits in (("s", self.input_bits), ("m", self.output_bits))
            for name, width in {
                "tdata": 8 * -(-max(bits, 1) // 8),
                "tvalid": 1,
                "tready": 1,
                "tlast": 1,
                "tuser": max(self.user_bits, 1),
            }.items()
        }
        return {"aclk": 1, "aresetn": 1, **streams}

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> AxisJob:
        """Read what ``save`` wrote."""
        tree = json.loads(path.read_text())
        tree["scenarios"] = tuple(
            Scenario(**{**one, "source": Pauses(**one["source"]), "sink": Pauses(**one["sink"])})
            for one in tree["scenarios"]
        )
        return cls(**tree)


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

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> AxisAnswer:
        """Read what ``save`` wrote."""
        tree = json.loads(path.read_text())
        return cls([Heard(**one) for one in tree["heard"]], tree["port_error"])
