"""The RTL to mutate, and the judges of the mutants."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dais_verif.base.errors import RequestError
from dais_verif.subject.given import AnyProgram, path_of
from dais_verif.verbs.arguments import require_types
from dais_verif.verbs.argv import option_words
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.programs import require_counts, require_finite_number, require_positive, require_range

__all__ = ["DEFAULT_FOLDER", "JUDGES", "MUTATION_SIMULATORS", "RECORD_NAME", "MutationRequest"]

#: Possible judges of mutants: simulation of vectors, extra vectors for coverage, boards in simulation, and proof.
JUDGES = ("sim", "directed", "hil", "prove")
MUTATION_SIMULATORS = ("icarus", "verilator", "both")

DEFAULT_FOLDER = Path("mutation")
#: The record, in the folder of the run.
RECORD_NAME = "mutation.json"

_MOST = 1_000_000


@dataclass(frozen=True, kw_only=True)
class MutationRequest:
    """The RTL to mutate, and the judges of the mutants; defaults are the same as in ``dais-verif mutate``.

    ``count``: mutants, drawn by ``seed``, as evenly over the kinds as possible. ``judges``: a selection of ``JUDGES``;
    empty: ``sim`` and ``prove``. Without ``prove`` the prover still tells survivors from equivalent ones. ``inputs``:
    files of vectors, before ``vectors`` generated ones. ``timeout``: CPU seconds for a mutant. ``simulator``: one of
    ``MUTATION_SIMULATORS``. ``floor``: the least score, in percent; ``most_unknown``: the most unknowns, in percent.
    ``expected``: a manifest that says which judge must find which mutants. ``add_vectors``: a file for vectors that
    kill mutants which survived simulation.
    """

    program: AnyProgram
    layout: str | None = None
    design: DesignRequest = field(default_factory=DesignRequest)
    count: int = 200
    seed: int = 0
    judges: tuple[str, ...] = ()
    vectors: int = 1000
    inputs: tuple[Path, ...] = ()
    simulator: str = "verilator"
    unchecked: bool = False
    timeout: float = 2.0
    floor: float | None = None
    most_unknown: float | None = None
    expected: Path | None = None
    add_vectors: Path | None = None
    jobs: int | None = None
    output: Path = DEFAULT_FOLDER
    command: str | None = None

    def __post_init__(self) -> None:
        require_types(self)
        require_counts(seed=self.seed, vectors=self.vectors)
        require_range("count", self.count, 1, _MOST)
        require_positive(timeout=self.timeout)
        require_finite_number("floor", self.floor)
        require_finite_number("most_unknown", self.most_unknown)
        for name in self.judges:
            if name not in JUDGES:
                raise RequestError.of(
                    "{judges} must be among {known}, not {value!r}.", known=", ".join(JUDGES), value=name
                )
        if self.simulator not in MUTATION_SIMULATORS:
            raise RequestError.of(
                "{simulators} must be one of {known}, not {value!r}.",
                known=", ".join(MUTATION_SIMULATORS),
                value=self.simulator,
            )
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

    def words(self) -> list[str]:
        """Return the arguments of ``dais-verif`` for this request."""
        valued = {
            "--layout": self.layout,
            "--count": self.count,
            "--seed": self.seed,
            "--vectors": self.vectors,
            "--sim": self.simulator,
            "--timeout": self.timeout,
            "--floor": self.floor,
            "--most-unknown": self.most_unknown,
            "--expected": self.expected,
            "--add-vectors": self.add_vectors,
            "--jobs": self.jobs,
            "--output": self.output,
        }
        words = ["mutate", path_of(self.program), *option_words(valued, {"--unchecked": self.unchecked})]
        words += [word for name in self.judges for word in ("--judge", name)]
        words += [word for path in self.inputs for word in ("--inputs", str(path))]
        return [*words, *self.design.words()]
