"""What a simulation is asked and what it answers: two small JSON files in the run folder.

The cocotb side and ours meet in these types and in the packed vector files, so the bench needs nothing of
the program or the golden model.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from dais_verif.files import write_atomically

__all__ = ["JOB_VARIABLE", "Answer", "Difference", "Job", "Probe"]

#: Environment variable that names the job file.
JOB_VARIABLE = "DAIS_VERIF_JOB"


@dataclass(frozen=True)
class Job:
    """Drive every packed row of ``inputs``, compare with the same row of ``expected``. Widths in bits."""

    inputs: str
    expected: str
    answer: str
    rows: int
    input_bits: int
    output_bits: int

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> Job:
        """Read what ``save`` wrote."""
        return cls(**json.loads(path.read_text()))


@dataclass(frozen=True)
class Difference:
    """One row whose output differs: the port's bits as found, most significant first, with X and Z."""

    row: int
    found: str


@dataclass(frozen=True)
class Answer:
    """What one simulation found. ``digest`` covers every output bit of every row."""

    port_error: str | None = None
    rows: int = 0
    bits: int = 0
    mismatching_rows: int = 0
    unknown_rows: int = 0
    digest: str = ""
    first_mismatch: Difference | None = None
    first_unknown: Difference | None = None

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> Answer:
        """Read what ``save`` wrote."""
        tree = json.loads(path.read_text())
        for name in ("first_mismatch", "first_unknown"):
            tree[name] = tree[name] and Difference(**tree[name])
        return cls(**tree)


@dataclass(frozen=True)
class Probe:
    """Drive one vector (bits, most significant first) and read ``signals``; the answer maps a name to its bits."""

    vector: str
    signals: list[str]
    answer: str

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> Probe:
        """Read what ``save`` wrote."""
        return cls(**json.loads(path.read_text()))
