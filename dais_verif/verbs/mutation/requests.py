"""The RTL to mutate, and the judges of the mutants."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dais_verif.base.errors import RequestError
from dais_verif.subject.given import AnyProgram
from dais_verif.verbs import common_options as common
from dais_verif.verbs.design_options import Sort
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.recognition import design_option

__all__ = ["DEFAULT_FOLDER", "JUDGES", "MUTATION_SIMULATORS", "RECORD_NAME", "MutationRequest"]

#: Possible judges of mutants: simulation of vectors, extra vectors for coverage, boards in simulation, and proof.
JUDGES = ("sim", "directed", "hil", "prove")
MUTATION_SIMULATORS = ("icarus", "verilator", "both")

DEFAULT_FOLDER = Path("mutation")
#: The record, in the folder of the run.
RECORD_NAME = "mutation.json"


@dataclass(frozen=True, kw_only=True)
class MutationRequest(Request):
    """The RTL to mutate, and the judges of the mutants.

    Mutants are drawn by ``seed``, as evenly over the kinds as possible. Without ``prove`` among the judges the prover
    still tells survivors from equivalent ones.
    """

    verb: ClassVar[str] = "mutate"

    program: AnyProgram
    layout: str | None = common.layout()
    design: DesignRequest = design_option(Sort.NETLIST)
    count: int = option(200, "Mutants.", group="Fuzzing", least=1, most=1_000_000)
    judges: tuple[str, ...] = option(
        (),
        "Judge of mutants; may be repeated.  [default: sim and prove]",
        group="Mutation",
        name="judge",
        keyword="judges",
        choices=JUDGES,
    )
    vectors: int = common.vectors(1000)
    seed: int = common.seed()
    inputs: tuple[Path, ...] = common.inputs()
    unchecked: bool = common.unchecked()
    simulator: str = option(
        "verilator", "Simulator.", group="Simulators", name="sim", keyword="simulators", choices=MUTATION_SIMULATORS
    )
    timeout: float = common.timeout(2.0, "Minimum CPU time limit per proof, in seconds.")
    floor: float | None = option(
        95.0, "The lowest accepted score, in percent; 0: any.", group="Vectors", least=0, most=100
    )
    most_unknown: float | None = option(
        None, "Largest accepted share of unknown mutants, in percent.", group="Mutation", rare=True, least=0, most=100
    )
    expected: Path | None = option(
        None, "TOML file that says which judge must kill which mutants.", group="Mutation", rare=True
    )
    add_vectors: Path | None = option(
        None, "Write the vectors that kill further mutants, as CSV.", group="Mutation", rare=True, writes="file"
    )
    jobs: int | None = common.jobs()
    output: Path = common.output("Folder kept.", DEFAULT_FOLDER)

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other, or an output would destroy what is read."""
        if self.design.wrapped is not None:
            raise RequestError.of("{wrapped} is not for mutants: name the RTL of the core.")
        if self.design.bitstream is not None:
            raise RequestError.of("{bitstream} is not for mutants: name RTL or a netlist.")
        read: dict[str, object] = {
            "program": self.program,
            "inputs": self.inputs,
            "expected": self.expected,
            **self.design.read,
        }
        require_no_loss(self.output, (RECORD_NAME,), **read)
        require_no_loss(self.add_vectors, (), **read)
        if self.add_vectors is not None and self.add_vectors.resolve() == (self.output / RECORD_NAME).resolve():
            raise RequestError.of(
                "{add_vectors} {value!r} is the record of this run; name another file.", value=str(self.add_vectors)
            )

    @property
    def asked(self) -> tuple[str, ...]:
        """The judges."""
        return tuple(name for name in JUDGES if name in (self.judges or ("sim", "prove")))
