"""Job and answer of the bench of a machine wrapped in AXI4-Stream: JSON files, as for the other benches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from dais_verif.base.files import write_atomically
from dais_verif.simulation.testbench.axis_job import SCENARIOS, Scenario
from dais_verif.simulation.testbench.stream import Pauses

__all__ = ["MACHINE_AXIS_JOB_VARIABLE", "MachineAxisJob", "Stretch"]

#: Environment variable that names the job file.
MACHINE_AXIS_JOB_VARIABLE = "DAIS_VERIF_MACHINE_AXIS_JOB"


@dataclass(frozen=True)
class Stretch:
    """Beats ``start .. stop - 1`` of the inputs after a reset, and all their outputs, in order.

    ``last``: the cycle of the last output, if every cycle has an input until all inputs are used. ``spare``: the number
    of last beats of ``expected`` that may stay in the machine.
    """

    start: int
    stop: int
    expected: list[str]
    last: int
    spare: int = 0


@dataclass(frozen=True)
class MachineAxisJob:
    """All beats, each of which is sent in every scenario. ``inputs``: bits of the data, most significant first.

    ``stretches``: the stretches to send, by the number of resets in mid-stream, as text. ``depth``: the number of
    clocks without an output and without pauses after which no more output comes.
    """

    answer: str
    inputs: list[str]
    stretches: Mapping[str, list[Stretch]]
    input_bits: int
    output_bits: int
    depth: int
    seed: int = 0
    scenarios: tuple[Scenario, ...] = SCENARIOS

    @property
    def widths(self) -> dict[str, int]:
        """The width of every port that the design must have."""
        streams = {
            f"{side}_axis_{name}": width
            for side, bits in (("s", self.input_bits), ("m", self.output_bits))
            for name, width in {"tdata": 8 * -(-bits // 8), "tvalid": 1, "tready": 1}.items()
        }
        return {"aclk": 1, "aresetn": 1, **streams}

    def of(self, scenario: Scenario) -> list[Stretch]:
        """Return the stretches sent in ``scenario``, with a reset before each."""
        return self.stretches[str(scenario.resets)]

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> MachineAxisJob:
        """Read what ``save`` wrote."""
        tree = json.loads(path.read_text())
        tree["scenarios"] = tuple(
            Scenario(**{**one, "source": Pauses(**one["source"]), "sink": Pauses(**one["sink"])})
            for one in tree["scenarios"]
        )
        tree["stretches"] = {key: [Stretch(**one) for one in some] for key, some in tree["stretches"].items()}
        return cls(**tree)
