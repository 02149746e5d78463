"""The request for a simulation."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dais_verif.base.errors import RequestError
from dais_verif.simulation.simulators.build import SIMULATORS, VHDL_SIMULATORS
from dais_verif.simulation.testbench.job import LEAST_IN_ICARUS
from dais_verif.stimulus.pseudo_exhaustive.vectors import MAX_BITS
from dais_verif.subject.given import AnyProgram
from dais_verif.verbs import common_options as common
from dais_verif.verbs.cover import DIRECTED, Covering
from dais_verif.verbs.design_options import SORTS
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.options import Request, option, options
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.recognition import design_option

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
class SimulationRequest(Request):
    """The design and the options of a simulation.

    ``simulator``: None: selected by the RTL. ``icarus_vectors``: how many vectors Icarus compares in addition to
    Verilator; None: as many as it can until Verilator ends. ``exhaustive_bits``: outputs that depend on at most this
    number of input bits are checked for all values of these bits if that takes about a second, or always with
    ``exhaustive``.
    """

    verb: ClassVar[str] = "sim"

    program: AnyProgram
    layout: str | None = common.layout()
    design: DesignRequest = design_option(*SORTS)
    simulator: str | None = option(
        None,
        "Simulator. Default: both of Icarus and Verilator, or GHDL where the RTL is VHDL.",
        group="Simulators",
        name="sim",
        keyword="simulators",
        choices=(*SIMULATORS, "both", *VHDL_SIMULATORS),
        take=common.simulator_of,
        accepts="Sequence[str] | str",
    )
    icarus_vectors: int | None = option(
        None,
        "Number of vectors that Icarus also compares if both simulators run. Default: as many as it can while "
        f"Verilator runs, at least {LEAST_IN_ICARUS}.",
        group="Simulators",
        rare=True,
        metavar="N|all",
        least=1,
        most=ALL,
        parse=vectors_in_icarus,
        show=lambda number: "all" if number == ALL else str(number),
        take=lambda number: ALL if number == "all" else number,
        accepts="int | Literal['all']",
    )
    vectors: int = common.vectors(1000)
    seed: int = common.seed()
    inputs: tuple[Path, ...] = common.inputs()
    covering: Covering = options(Covering)
    unchecked: bool = common.unchecked()
    printf: bool = option(
        False, "Also compare the messages that members of a kernel print.", group="Vectors", rare=True
    )
    out_of_range: bool = option(
        False, "Also generate inputs beyond intervals that da4ml's JSON declares.", group="Vectors", rare=True
    )
    waves: bool = option(
        False, "Record waves (Icarus FST, others VCD); needs -o or uses dais-verif-out.", group="Simulators"
    )
    bulk: bool = option(
        True,
        "Run vectors outside cocotb if the simulator can; the first 256 go through the ports in any case.",
        group="Simulators",
        rare=True,
    )
    conditions: bool = option(
        True,
        "Add vectors for both sides of the conditions in user RTL, found in at most about 2 s.",
        group="Vectors",
        rare=True,
    )
    exhaustive: bool = option(
        False,
        "Check every output that depends on few enough input bits exhaustively, however long it takes.",
        group="Vectors",
    )
    exhaustive_bits: int = option(
        24,
        "Largest number of input bits to exhaust; 0: sample only.",
        group="Vectors",
        rare=True,
        least=0,
        most=MAX_BITS,
    )
    suggest: Path | None = common.suggest()
    jobs: int | None = common.jobs()
    timeout: float | None = common.timeout(None, "Time limit for each build and each run, in seconds.")
    output: Path | None = common.output("Folder to keep: result.json, RTL, vectors, logs, waves.")

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other, or the output would destroy what is read."""
        if self.design.wrapped is not None and self.exhaustive:
            raise RequestError.of("{exhaustive} is not for {wrapped}: exhaust the core, which sim verifies without it.")
        require_no_loss(self.suggest, (), program=self.program, **self.design.read)
        written = ("result.json", DIRECTED, *self.design.written)
        require_no_loss(self.output, written, program=self.program, inputs=self.inputs, **self.design.read)
