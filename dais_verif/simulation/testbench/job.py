"""Job and answer of a run of vectors, and its chunks of packed vectors.

The bench and the caller share only these types, so the bench needs neither the program nor the golden model.

A chunk is a file: the packed input rows, then the packed output rows that the golden model expects. It gets its name
when it is complete, and the bench removes it after the comparison. Thus each side sees the progress of the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dais_verif.base.files import write_atomically
from dais_verif.hardware.ports.interface import DesignInterface

__all__ = [
    "Answer",
    "Difference",
    "Job",
    "JointJob",
    "LEAST_IN_ICARUS",
    "Member",
    "chunk_name",
    "end_of",
    "merged",
    "write_end",
]

#: The minimum number of vectors that Icarus compares, if there are as many, when Verilator compares all.
LEAST_IN_ICARUS = 1000

_END = "end"


def chunk_name(number: int) -> str:
    """Return the file name of a chunk."""
    return f"{number:06}.bin"


def end_of(chunks: Path) -> int | None:
    """Return the total number of chunks in the folder ``chunks``, or None if its maker has not written the end yet."""
    try:
        return int((chunks / _END).read_text())
    except FileNotFoundError:
        return None


def write_end(chunks: Path, number: int) -> None:
    """Declare that the folder ``chunks`` gets only chunks below ``number``."""
    write_atomically(chunks / _END, str(number).encode())


@dataclass(frozen=True)
class Job:
    """The share of one simulation: chunks ``share, share + shares, ...`` of all chunks.

    Chunk k holds rows ``starts[k]`` to ``starts[k + 1] - 1``, and is in folder ``chunks``. The maker of an ``open`` job
    may end it early (``write_end``); ``closed`` is the job as it actually ran.
    """

    chunks: str
    starts: list[int]
    #: The file that receives the number of rows done so far, as text.
    progress: str
    #: The ports of the design.
    interface: DesignInterface
    share: int = 0
    shares: int = 1
    #: Threads for the bulk path, if the simulator has one; 0: all vectors go through the ports.
    threads: int = 0
    #: The digest covers chunks below this number, which every simulator runs.
    digested: int | None = None
    #: The id of the process that makes the chunks; when it ends, the simulation ends. None: no check.
    maker: int | None = None
    #: The seed of the bubbles, stalls and resets for a clocked design.
    seed: int = 0
    open: bool = False
    #: In a simulator with a bulk path, rows below this number also run with other values for what nothing drives.
    filled: int = 0

    def closed(self) -> Job:
        """Return the job without the chunks that were not made."""
        end = end_of(Path(self.chunks)) if self.open else None
        return self if end is None else replace(self, starts=self.starts[: end + 1], open=False)

    def ends_before(self, number: int) -> bool:
        """Return True if chunk ``number`` will not come."""
        end = end_of(Path(self.chunks)) if self.open else None
        return end is not None and number >= end

    @property
    def input_bits(self) -> int:
        """The number of bits of a packed row of inputs."""
        return self.interface.input_bits

    @property
    def output_bits(self) -> int:
        """The number of bits of a packed row of outputs."""
        return self.interface.output_bits

    @property
    def numbers(self) -> range:
        """The numbers of the chunks of this share."""
        return range(self.share, len(self.starts) - 1, self.shares)

    @property
    def rows(self) -> int:
        """The number of rows of this share."""
        return sum(self.starts[k + 1] - self.starts[k] for k in self.numbers)


@dataclass(frozen=True)
class Member:
    """One of many designs in one: its ``job`` as if it were alone, and its place.

    ``instance``: the name of its instance; ``interface``: its ports as named in the joint top.
    """

    job: Job
    instance: str
    interface: DesignInterface


@dataclass(frozen=True)
class JointJob:
    """All ``members``, whose chunks exist already. ``bulk``: also run vectors outside cocotb."""

    members: tuple[Member, ...]
    bulk: bool


@dataclass(frozen=True)
class Difference:
    """One row whose output differs: the bits of all ports, most significant first; found bits include X and Z."""

    row: int
    inputs: str
    expected: str
    found: str


@dataclass(frozen=True)
class Answer:
    """The result of one simulation.

    ``digest`` covers every output bit of the digested chunks, and does not depend on their order; ``digests``: the
    digests of single chunks, by number as text. ``bulk_rows``: how many of ``rows`` ran outside cocotb.
    ``filled_rows``: how many of ``unknown_rows`` were found with other values for X. ``seconds``: busy time by stage.
    ``port_error``: why the ports do not match, so that nothing ran; ``protocol_error``: how the design breaks the
    protocol of its clock, enable or valid pins. ``latency``: that of a clocked design, as given or found. ``wrong``: in
    hexadecimal, the bits of a packed output row that differ from the expected ones, or are X or Z, in at least one row.
    ``departures``: the differences in the first rows of the run, by number as text. ``begins``: the time step of the
    first vector, when the inputs have no X. ``complaint``: the message of an assertion of the RTL
    that failed later without ending the simulation.
    """

    port_error: str | None = None
    protocol_error: str | None = None
    latency: int | None = None
    rows: int = 0
    bits: int = 0
    bulk_rows: int = 0
    mismatching_rows: int = 0
    unknown_rows: int = 0
    filled_rows: int = 0
    digest: str = ""
    digests: dict[str, str] = field(default_factory=dict)
    wrong: str = "0"
    departures: dict[str, str] = field(default_factory=dict)
    first_mismatch: Difference | None = None
    first_unknown: Difference | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    begins: int = 0
    complaint: str = ""

    def of_chunks(self, chunks: int) -> Answer:
        """Return the same answer with the digest of the first ``chunks`` chunks, which must all have run."""
        return replace(self, digest=_combined(self.digests.get(str(number), "") for number in range(chunks)))


def merged(answers: list[Answer]) -> Answer:
    """Merge the answers of all shares of a job."""

    def first(name: str) -> Any:
        found = [difference for answer in answers if (difference := getattr(answer, name))]
        return min(found, key=lambda difference: difference.row, default=None)

    wrong = 0
    for answer in answers:
        wrong |= int(answer.wrong, 16)
    stages = dict.fromkeys(stage for answer in answers for stage in answer.seconds)
    latencies = sorted({answer.latency for answer in answers if answer.latency is not None})
    varying = "the latency is " + " for some vectors, and ".join(map(str, latencies)) + " for others"
    return Answer(
        port_error=next((answer.port_error for answer in answers if answer.port_error), None),
        protocol_error=next(
            (answer.protocol_error for answer in answers if answer.protocol_error),
            varying if len(latencies) > 1 else None,
        ),
        latency=latencies[0] if latencies else None,
        rows=sum(answer.rows for answer in answers),
        bits=sum(answer.bits for answer in answers),
        bulk_rows=sum(answer.bulk_rows for answer in answers),
        mismatching_rows=sum(answer.mismatching_rows for answer in answers),
        unknown_rows=sum(answer.unknown_rows for answer in answers),
        filled_rows=sum(answer.filled_rows for answer in answers),
        digest=_combined(answer.digest for answer in answers),
        digests={number: digest for answer in answers for number, digest in answer.digests.items()},
        wrong=f"{wrong:x}",
        departures={row: bits for answer in answers for row, bits in answer.departures.items()},
        first_mismatch=first("first_mismatch"),
        first_unknown=first("first_unknown"),
        complaint=next((answer.complaint for answer in answers if answer.complaint), ""),
        seconds={stage: sum(answer.seconds.get(stage, 0.0) for answer in answers) for stage in stages},
    )


def _combined(digests: Iterable[str]) -> str:
    whole = 0
    for digest in digests:
        whole ^= int(digest or "0", 16)
    return f"{whole:064x}"
