"""The request for a proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dais_verif.errors import RequestError
from dais_verif.flows.arguments import require_types
from dais_verif.flows.designs import DesignRequest
from dais_verif.flows.no_loss import require_no_loss
from dais_verif.flows.programs import require_counts
from dais_verif.flows.proof.reading import FRONT_ENDS
from dais_verif.flows.words import option_words
from dais_verif.own_command import own_command
from dais_verif.simulation.simulators.build import SIMULATORS
from dais_verif.subject.given import AnyProgram, path_of

__all__ = ["ProveRequest"]


@dataclass(frozen=True, kw_only=True)
class ProveRequest:
    """The design and the methods of a proof; defaults are the same as in ``dais-verif prove``.

    ``front_end``: reads the RTL: ``slang``, ``yosys``, ``both``, or ``available``: both if Yosys is available and can
    read the RTL. ``unchecked``: also prove inputs that break promises of the program; ``out_of_range``: also prove
    inputs beyond the intervals that its source declares. ``timeout``: seconds for each obligation. ``simulator``:
    replays a counterexample: ``icarus``, ``verilator``, ``both``, or None: the first that builds the RTL. ``sample``:
    percentage of the obligations that the solver checks again. ``dump_smt``: a folder for all obligations, as SMT-LIB
    2. ``cache``: use and keep proofs of earlier runs. ``confirm``: simulate user RTL after it is proved. ``period``:
    the clock period in ns of a bitstream behind a link; None: 83.3, for 12 MHz. ``output``: a folder to keep.
    ``command``: a function that takes additional arguments and returns the command line for the record; None: derived
    from the request.
    """

    program: AnyProgram
    layout: str | None = None
    design: DesignRequest = field(default_factory=DesignRequest)
    front_end: str = "slang"
    unchecked: bool = False
    out_of_range: bool = False
    timeout: float = 20.0
    simulator: str | None = None
    sample: float = 1.0
    dump_smt: Path | None = None
    cache: bool = True
    period: float | None = None
    confirm: bool = True
    seed: int = 0
    jobs: int | None = None
    output: Path | None = None
    command: Callable[[Sequence[str]], str] | None = None

    def __post_init__(self) -> None:
        require_types(self)
        require_counts(seed=self.seed)
        if self.front_end not in FRONT_ENDS:
            raise RequestError.of(
                "{front_end} must be one of {known}, not {value!r}.", known=", ".join(FRONT_ENDS), value=self.front_end
            )
        if self.simulator not in (None, *SIMULATORS, "both"):
            raise RequestError.of(
                "{simulators} must be one of {known}, both, not {value!r}.",
                known=", ".join(SIMULATORS),
                value=self.simulator,
            )
        if not 0 <= self.sample <= 100:
            raise RequestError.of("{sample} must be 0 to 100 percent, not {value}.", value=self.sample)
        if not 0 < self.timeout < float("inf"):
            raise RequestError.of("{timeout} must be a number of seconds above 0, not {value}.", value=self.timeout)
        if self.period is not None and not 0 < self.period < float("inf"):
            raise RequestError.of("{period} must be a number of ns above 0, not {value}.", value=self.period)
        if self.design.wrapped is not None:
            raise RequestError("a wrapped design cannot be proved: prove its core, and simulate its streams.")
        written = ("result.json", *self.design.written)
        require_no_loss(self.output, written, program=self.program, **self.design.read)

    def reproduce(self) -> str:
        """Return the command line of this request."""
        return self.command(()) if self.command is not None else own_command(self.words())

    def words(self) -> list[str]:
        """Return the arguments of ``dais-verif`` for this request; ``PROGRAM`` stands for a program without a file."""
        valued = {
            "--layout": self.layout,
            "--front-end": None if self.front_end == "slang" else self.front_end,
            "--timeout": self.timeout,
            "--sim": self.simulator,
            "--sample": self.sample,
            "--period": self.period,
            "--dump-smt": self.dump_smt,
            "--seed": self.seed,
            "--output": self.output,
        }
        flags = {
            "--unchecked": self.unchecked,
            "--out-of-range": self.out_of_range,
            "--no-cache": not self.cache,
            "--no-confirm": not self.confirm,
        }
        return ["prove", path_of(self.program), *option_words(valued, flags), *self.design.words()]
