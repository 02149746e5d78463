"""The request for a proof."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dais_verif.base.errors import RequestError
from dais_verif.simulation.simulators.build import SIMULATORS
from dais_verif.subject.given import AnyProgram
from dais_verif.verbs import common_options as common
from dais_verif.verbs.design_options import Sort
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.proof.reading import FRONT_ENDS
from dais_verif.verbs.recognition import design_option

__all__ = ["ProveRequest"]


@dataclass(frozen=True, kw_only=True)
class ProveRequest(Request):
    """The design and the methods of a proof."""

    verb: ClassVar[str] = "prove"

    program: AnyProgram
    layout: str | None = common.layout()
    design: DesignRequest = design_option(Sort.NETLIST, Sort.BITSTREAM)
    front_end: str = option(
        "slang",
        "Front end of the RTL; both: slang and Yosys must agree on every signal, and both readings are proved; "
        "available: both if Yosys is installed and can read the RTL, else slang.",
        group="Design",
        choices=tuple(FRONT_ENDS),
    )
    unchecked: bool = common.unchecked()
    out_of_range: bool = option(
        False, "Prove also beyond the intervals that da4ml's JSON declares.", group="Vectors", rare=True
    )
    timeout: float = common.timeout(20.0, "Time limit for each obligation, in seconds.")
    simulator: str | None = option(
        None,
        "Simulator that replays a counterexample. Default: Icarus, and Verilator where that cannot build the RTL.",
        group="Simulators",
        name="sim",
        keyword="simulators",
        choices=(*SIMULATORS, "both"),
        take=common.simulator_of,
        accepts="Sequence[str] | str",
    )
    sample: float = option(
        1.0,
        "Prove this share of the obligations, at least 8, a second time by the solver without rewriting; 0: none.",
        group="Proof",
        rare=True,
        metavar="PERCENT",
        least=0,
        most=100,
        always=True,
    )
    dump_smt: Path | None = option(
        None, "Write all obligations to this folder, as SMT-LIB 2.", group="Proof", rare=True, metavar="DIR"
    )
    cache: bool = option(True, "Reuse proofs of earlier runs, and store new ones.", group="Proof", rare=True)
    period: float | None = option(
        None, "Clock period of a bitstream behind a link, in ns. Default: that of 12 MHz.", group="Wrapper", rare=True
    )
    confirm: bool = option(
        True,
        "After a proof of user RTL, also simulate it, since simulators share no code with the prover.",
        group="Proof",
        rare=True,
    )
    seed: int = common.seed()
    suggest: Path | None = common.suggest()
    jobs: int | None = common.jobs()
    output: Path | None = common.output("Folder to keep: result.json, RTL, counterexample, replay.")

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other, or the output would destroy what is read."""
        if self.period is not None and not 0 < self.period < float("inf"):
            raise RequestError.of("{period} must be a number of ns above 0, not {value}.", value=self.period)
        if self.design.wrapped is not None:
            raise RequestError("a wrapped design cannot be proved: prove its core, and simulate its streams.")
        require_no_loss(self.suggest, (), program=self.program, **self.design.read)
        written = ("result.json", *self.design.written)
        require_no_loss(self.output, written, program=self.program, **self.design.read)
