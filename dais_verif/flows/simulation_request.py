"""The request for a simulation."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dais_verif.errors import RequestError
from dais_verif.flows.arguments import require_types
from dais_verif.flows.covering import DIRECTED, Covering
from dais_verif.flows.designs import DesignRequest
from dais_verif.flows.no_loss import require_no_loss
from dais_verif.flows.programs import require_counts, require_positive, require_range
from dais_verif.flows.words import option_words
from dais_verif.own_command import own_command
from dais_verif.simulation.simulators.build import SIMULATORS, VHDL_SIMULATORS
from dais_verif.simulation.testbench.job import LEAST_IN_ICARUS
from dais_verif.stimulus.pseudo_exhaustive.counters import MAX_BITS
from dais_verif.subject.given import AnyProgram, path_of

__all__ = [
    "ALL",
    "LEAST_IN_ICARUS",
    "MAX_BITS",
    "SIMULATORS",
    "VHDL_SIMULATORS",
    "SimulationRequest",
    "vectors_in_icarus",
]

#: Value of ``icarus_vectors``: every vector.
ALL = sys.maxsize


def vectors_in_icarus(text: str) -> int:
    """Parse ``icarus_vectors``: a number, or ``all``. Raises ``ValueError`` for other texts."""
    if text == "all":
        return ALL
    if not (text.isascii() and text.isdigit() and 0 < int(text[:18]) == int(text)):
        raise ValueError(f"{text!r} must be a number of vectors, 1 or more, or all.")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class SimulationRequest:
    """The design and the options of a simulation; defaults are the same as in ``dais-verif sim``.

    ``simulator``: ``icarus``, ``verilator``, ``ghdl``, ``both`` (Icarus and Verilator), or None: selected by the RTL.
    ``icarus_vectors``: how many vectors Icarus compares in addition to Verilator; None: as many as it can until
    Verilator ends. ``inputs``: files of vectors, which come before ``vectors`` generated ones. ``conditions``: add
    vectors for the conditions in user RTL. ``exhaustive_bits``: outputs that depend on at most this number of input
    bits are checked for all values of these bits if that takes about a second, or always with ``exhaustive``.
    ``timeout``: seconds for each build and each run. ``output``: a folder to keep. ``command``: a function that takes
    additional arguments and returns the command line for the record; None: derived from the request.
    """

    program: AnyProgram
    layout: str | None = None
    design: DesignRequest = field(default_factory=DesignRequest)
    simulator: str | None = None
    icarus_vectors: int | None = None
    vectors: int = 1000
    seed: int = 0
    inputs: tuple[Path, ...] = ()
    covering: Covering = field(default_factory=Covering)
    unchecked: bool = False
    printf: bool = False
    out_of_range: bool = False
    waves: bool = False
    bulk: bool = True
    conditions: bool = True
    exhaustive: bool = False
    exhaustive_bits: int = 24
    jobs: int | None = None
    timeout: float | None = None
    output: Path | None = None
    command: Callable[[Sequence[str]], str] | None = None

    def __post_init__(self) -> None:
        require_types(self)
        if self.design.wrapped is not None and self.exhaustive:
            raise RequestError.of("{exhaustive} is not for {wrapped}: exhaust the core, which sim verifies without it.")
        if not 0 <= self.exhaustive_bits <= MAX_BITS:
            raise RequestError.of(
                "{exhaustive_bits} {value} must be 0 to {most}.", value=self.exhaustive_bits, most=MAX_BITS
            )
        require_counts(vectors=self.vectors, seed=self.seed)
        require_positive(timeout=self.timeout)
        require_range("icarus_vectors", self.icarus_vectors, 1, ALL)
        written = ("result.json", DIRECTED, *self.design.written)
        require_no_loss(self.output, written, program=self.program, inputs=self.inputs, **self.design.read)

    def reproduce(self, more: Sequence[str] = ()) -> str:
        """Return the command line of this request, with the additional arguments ``more``."""
        return self.command(more) if self.command is not None else own_command([*self.words(), *more])

    def words(self) -> list[str]:
        """Return the arguments of ``dais-verif`` for this request; ``PROGRAM`` stands for a program without a file."""
        valued = {
            "--layout": self.layout,
            "--sim": self.simulator,
            "--icarus-vectors": "all" if self.icarus_vectors == ALL else self.icarus_vectors,
            "--vectors": self.vectors,
            "--seed": self.seed,
            "--exhaustive-bits": None if self.exhaustive_bits == 24 else self.exhaustive_bits,
            "--timeout": self.timeout,
            "--output": self.output,
        }
        flags = {
            "--coverage": self.covering.program,
            "--rtl-coverage": self.covering.rtl,
            "--unchecked": self.unchecked,
            "--printf": self.printf,
            "--out-of-range": self.out_of_range,
            "--waves": self.waves,
            "--no-bulk": not self.bulk,
            "--no-conditions": not self.conditions,
            "--exhaustive": self.exhaustive,
        }
        return ["sim", path_of(self.program), *option_words(valued, flags, self.inputs), *self.design.words()]
