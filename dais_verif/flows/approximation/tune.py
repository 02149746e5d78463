"""Search for configurations of a network within a budget of accuracy, and keep all measurements."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from dais_verif.approx import text_of
from dais_verif.errors import ApproximationError
from dais_verif.files import read_plain, write_atomically
from dais_verif.flows.approximation.choices import Choice, Space, choice_of, word_of
from dais_verif.flows.approximation.measure import exact_budget
from dais_verif.flows.approximation.networks import Samples, read_network, read_samples
from dais_verif.flows.approximation.search import Search
from dais_verif.flows.approximation.trials import Trial, Workers
from dais_verif.flows.arguments import require_types
from dais_verif.flows.no_loss import require_no_loss
from dais_verif.flows.programs import require_counts, require_range
from dais_verif.flows.progress import SILENT, Progress
from dais_verif.flows.words import option_words
from dais_verif.own_command import own_command
from dais_verif.program.types import LIMIT
from dais_verif.record.approximation import TunedRecord
from dais_verif.regression.cluster import check_name
from dais_verif.structs import decoded
from dais_verif.verdict import Verdict
from dais_verif.version import VERSION

__all__ = ["TuneRequest", "tune_configurations"]

_MOST_BYTES = 1 << 26


@dataclass(frozen=True, kw_only=True)
class TuneRequest:
    """An ONNX file, labelled samples, the largest loss that is allowed in percent, and the file to write.

    ``tries``: the largest number of configurations to measure. ``half``: half precision may be chosen, too. ``resume``:
    reuse the measurements of an earlier search with the same network and samples, which are kept beside ``output``.
    ``cluster``: measure on workers of Dask, named as for ``regress``; the result is the same. ``random``: draw
    ``tries`` configurations at random instead, all equally likely, as a baseline for the search.
    """

    network: Path
    data: Path
    budget: str
    output: Path
    tries: int = 200
    half: bool = False
    seed: int = 0
    grid: int | None = None
    resume: bool = False
    random: bool = False
    cluster: str | None = None
    jobs: int | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        require_types(self)
        require_counts(seed=self.seed)
        require_range("tries", self.tries, 1, 1_000_000)
        require_range("grid", self.grid, 0, LIMIT)
        exact_budget(self.budget)
        if self.cluster is not None:
            check_name(self.cluster)
        require_no_loss(self.output, network=self.network, data=self.data)

    @property
    def kept(self) -> Path:
        """The file with all measurements."""
        return self.output.with_name(f"{self.output.name}.tried.json")

    def words(self) -> list[str]:
        """Return the arguments of ``dais-verif`` for this request."""
        valued = {
            "--data": self.data,
            "--budget": self.budget,
            "--tries": self.tries,
            "--seed": self.seed,
            "--grid": self.grid,
            "--cluster": self.cluster,
            "-o": self.output,
        }
        return [
            "approx",
            "tune",
            str(self.network),
            *option_words(valued, {"--half": self.half, "--random": self.random}),
        ]


@dataclass
class _Kept:
    """The measurements of choices: the number of correctly classified samples, or None if a knob cannot be applied."""

    about: str
    tried: dict[str, int | None] = field(default_factory=dict)


def tune_configurations(request: TuneRequest, *, progress: Progress = SILENT) -> TunedRecord:
    """Search, and write a file of the useful configurations, the exact one first.

    A better configuration is faster by the tuner's model, with a loss within the budget; ties go to the smaller loss.
    The same seed gives the same result. Raises ``RequestError`` for a network without a convolution to which a
    knob can be applied.
    """
    data, exact, sha256 = read_network(request.network)
    samples = read_samples(request.data, exact)
    space = Space.of(exact, request.half)
    total = len(samples.labels)
    kept, known = _resumed(request, _about(data, samples, request.grid), total)
    trial = Trial(data, samples.vectors, samples.labels, request.grid)
    with Workers(trial, request.cluster, request.jobs) as workers:
        search = Search(
            space,
            _Measuring(request, space, kept, workers, progress),
            {choice: correct for choice, correct in known.items() if choice in space},
            allowed=exact_budget(request.budget) * total / 100,
            tries=request.tries,
            seed=request.seed,
        )
        chosen = search.run_random() if request.random else search.run()
    applied = {choice: correct for choice, correct in search.known.items() if correct is not None}
    file = space.curve(applied, total, chosen)
    write_atomically(request.output, text_of(file).encode())
    measured = next(one for one in file.configurations if one.name == space.name(chosen))
    return TunedRecord(
        verdict=Verdict.PASS,
        message=(
            f"{measured.name} is the fastest of {len(search.known)} with a loss of at most {request.budget}: "
            f"{float(measured.speedup):.4g}x at a loss of {measured.loss}"
        ),
        network=str(request.network),
        data=str(request.data),
        sha256=sha256,
        tried=len(search.known),
        chosen=measured.name,
        speedup=float(measured.speedup),
        accuracy=float(measured.accuracy),
        loss=float(measured.loss),
        budget=request.budget,
        configurations=[one.name for one in file.configurations],
        output=str(request.output),
        seed=request.seed,
        reproduce=own_command(request.words()) if request.command is None else request.command,
    )


class _Measuring:
    """A function that measures choices one round at a time, and writes each result immediately."""

    def __init__(self, request: TuneRequest, space: Space, kept: _Kept, workers: Workers, progress: Progress) -> None:
        self._request, self._space, self._kept = request, space, kept
        self._workers, self._progress = workers, progress

    def __call__(self, choices: Sequence[Choice]) -> list[int | None]:
        """Measure ``choices``, on a cluster all of them at the same time."""
        found: list[int | None] = []
        step = len(choices) if self._request.cluster is not None else 1
        for first in range(0, len(choices), step):
            some = choices[first : first + step]
            done = len(self._kept.tried) + 1
            with self._progress.working(f"{done} of at most {self._request.tries}: {word_of(some[0])}"):
                correct = self._workers.correct([text_of(self._space.file_of(one)).encode() for one in some])
            self._kept.tried |= {word_of(one): n for one, n in zip(some, correct, strict=True)}
            write_atomically(self._request.kept, msgspec.json.encode(self._kept))
            found += correct
        return found


def _about(data: bytes, samples: Samples, grid: int | None) -> str:
    """Return a hash of everything that a measurement depends on."""
    inputs = (data, samples.vectors.tobytes(), samples.labels.tobytes(), str(grid).encode(), VERSION.encode())
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in inputs)).hexdigest()


def _resumed(request: TuneRequest, about: str, total: int) -> tuple[_Kept, dict[Choice, int | None]]:
    """Return what an earlier search kept, and its results; nothing unless the search resumes it."""
    if not request.kept.exists():
        return _Kept(about), {}
    try:
        found = decoded(read_plain(request.kept, _MOST_BYTES, "kept search"), _Kept)
        known = {choice_of(word): correct for word, correct in found.tried.items()}
        if not all(correct is None or 0 <= correct <= total for correct in known.values()) and found.about == about:
            raise ValueError(f"not all numbers are within 0 and {total}, the number of samples")
    except ValueError as error:  # also that of msgspec
        raise ApproximationError(
            f"{str(request.kept)!r} is not a file of measurements of a search, and would be overwritten: {error}; "
            "choose another output"
        ) from None
    if not request.resume:
        return _Kept(about), {}
    if found.about != about:
        raise ApproximationError(
            f"{str(request.kept)!r} is from a search with another network, other samples, another grid or another "
            "version of dais-verif"
        )
    return found, known
