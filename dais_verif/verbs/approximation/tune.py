"""Search for configurations of a network within a budget of accuracy, and keep all measurements."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import ApproximationError, ClusterFailure, InputError, ToolError
from dais_verif.base.files import read_plain, write_atomically
from dais_verif.base.structs import decoded
from dais_verif.base.verdict import Verdict
from dais_verif.base.version import VERSION
from dais_verif.campaigns.regression.cluster import check_name, connect
from dais_verif.compile.approximation import parse, text_of
from dais_verif.compile.networks import Network, NetworkError
from dais_verif.compile.networks import parse as parse_network
from dais_verif.compile.networks.approximate import approximate
from dais_verif.record.approximation import TunedRecord
from dais_verif.verbs import common_options as common
from dais_verif.verbs.approximation.bounds import network_outputs
from dais_verif.verbs.approximation.choices import Choice, Space, choice_of, word_of
from dais_verif.verbs.approximation.measure import exact_budget
from dais_verif.verbs.approximation.opened import Samples, read_network, read_samples
from dais_verif.verbs.options import REQUIRED, Request, option
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.progress import SILENT, Progress

__all__ = ["Search", "Trial", "TuneRequest", "Workers", "tune_configurations"]


_MOST_BYTES = 1 << 26


@dataclass(frozen=True, kw_only=True)
class TuneRequest(Request):
    """An ONNX file, labelled samples, the largest loss that is allowed, and the file to write."""

    verb: ClassVar[str] = "approx tune"

    network: Path
    data: Path = common.samples()
    budget: str = option(
        REQUIRED,
        "The largest loss that is allowed.",
        group="Program",
        metavar="PERCENT",
        take=str,
        accepts="float | str",
    )
    output: Path = common.output("The file of configurations to write.", REQUIRED, writes="file")
    tries: int = option(
        200, "Largest number of configurations to measure.", group="Program", least=1, most=1_000_000, always=True
    )
    half: bool = option(False, "Also let convolutions compute in half precision.", group="Program")
    resume: bool = option(
        False, "Continue an earlier search from its measurements: OUTPUT.tried.json.", group="Runs", told=False
    )
    random: bool = option(
        False, "Draw configurations at random instead, as a baseline for the search.", group="Program"
    )
    cluster: str | None = common.cluster("Measure")
    seed: int = common.seed()
    grid: int | None = common.grid()
    jobs: int | None = common.jobs()

    def require(self) -> None:
        """Raise ``RequestError`` if the budget is none, or the output would destroy what is read."""
        exact_budget(self.budget)
        if self.cluster is not None:
            check_name(self.cluster)
        require_no_loss(self.output, network=self.network, data=self.data)

    @property
    def kept(self) -> Path:
        """The file with all measurements."""
        return self.output.with_name(f"{self.output.name}.tried.json")

    def arguments(self) -> list[str]:
        """Return the words before the options."""
        return [str(self.network)]


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
        reproduce=request.reproduce(),
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


# A search for configurations: each knob alone, then combinations that are predicted to fit, then small changes.
#
# The next measurements depend on those of earlier rounds and on the seed, never on the worker that measures.


#: The number of choices per round; they are measured together, so results influence only choices of later rounds.
ROUND = 16
#: How many choices of a round have the smallest predicted excess over the budget; the others, the best gain per excess.
_LIKELY = 10
#: The largest number of choices for which predictions are made.
_PREDICTED = 20_000


class Search:
    """A search for configurations. ``measure``: returns how many samples each choice classifies correctly, or None.

    None means that the choice cannot be applied. ``allowed``: how many more samples may be wrong than with the exact
    network. ``tries``: the largest number of measured choices, including those in ``known``.
    """

    def __init__(
        self,
        space: Space,
        measure: Callable[[Sequence[Choice]], Sequence[int | None]],
        known: dict[Choice, int | None],
        *,
        allowed: Fraction,
        tries: int,
        seed: int,
    ) -> None:
        self.space, self.known = space, known
        self._measure, self._allowed, self._tries, self._seed = measure, allowed, tries, seed
        self._speedups: dict[Choice, Fraction] = {}

    def run(self) -> Choice:
        """Search until all tries are used, or nothing is left to try; return the best choice."""
        self._take([self.space.exact])
        for first in range(0, len(singles := self.space.singles()), ROUND):
            self._take(singles[first : first + ROUND])
        while not self.spent and self._take(self._together()):
            pass
        rng = np.random.default_rng(self._seed)
        for _ in range(20 * self._tries // ROUND + 1):
            if self.spent:
                break
            best = self.best()
            self._take([one for one in (self.space.changed(best, rng) for _ in range(ROUND)) if self._better(one)])
        return self.best()

    def run_random(self) -> Choice:
        """Draw ``tries`` random choices, measure those that were not measured before, and return the best choice."""
        rng = np.random.default_rng(self._seed)
        drawn = [self.space.random(rng) for _ in range(self._tries)]
        self._tries += len(self.known) + 1
        self._take([self.space.exact])
        for first in range(0, len(drawn), ROUND):
            self._take(drawn[first : first + ROUND])
        return self.best()

    @property
    def spent(self) -> bool:
        """True if the permitted number of choices was measured."""
        return len(self.known) >= self._tries

    def best(self) -> Choice:
        """Return the fastest choice that fits; of equally fast choices, the choice with the smallest loss."""
        return max((one for one in self.known if self.fits(one)), key=self._rank)

    def fits(self, choice: Choice) -> bool:
        """Return True if a choice was measured, can be applied, and has a loss within the budget."""
        correct, first = self.known.get(choice), self.known.get(self.space.exact)
        return correct is not None and first is not None and first - correct <= self._allowed

    def _rank(self, choice: Choice) -> tuple[Fraction, int]:
        return self._speedup(choice), self.known[choice] or 0

    def _speedup(self, choice: Choice) -> Fraction:
        """Return the prediction of the tuner's model; it is cached, as many choices recur."""
        if choice not in self._speedups:
            self._speedups[choice] = self.space.speedup(choice)
        return self._speedups[choice]

    def _better(self, choice: Choice) -> bool:
        """Return True if the predicted speed-up of a choice is at least that of the best choice."""
        return self._speedup(choice) >= self._speedup(self.best())

    def _take(self, choices: Iterable[Choice]) -> bool:
        """Measure the new choices, at most as many as tries remain; return True if any was measured."""
        new = [one for one in dict.fromkeys(choices) if one not in self.known]
        new = new[: max(self._tries - len(self.known), 0)]
        if new:
            self.known |= dict(zip(new, self._measure(new), strict=True))
        return bool(new)

    def _together(self) -> list[Choice]:
        """Return the next round of choices with several knobs, assuming that their losses add up."""
        losses = self._losses()
        fastest = self._speedup(self.best())
        found = []
        for choice in self._candidates(losses):
            speedup = self._speedup(choice)
            if choice not in self.known and speedup >= fastest:
                predicted = sum(losses[place][knob] for place, knob in enumerate(choice))
                found.append((max(predicted - self._allowed, Fraction(0)), speedup, predicted, choice))
        likely = sorted(found, key=lambda one: (one[0], -one[1], one[2], one[3]))[:_LIKELY]
        gain = sorted(found, key=lambda one: (-(one[1] - fastest) / (one[0] + 1), one[3]))
        return [one[3] for one in [*likely, *gain[: ROUND - len(likely)]]]

    def _losses(self) -> list[dict[int, int]]:
        """Return the possible knobs of each place, and how many samples each knob loses on its own, at least 0."""
        first = self.known[self.space.exact] or 0
        found = []
        for place, knobs in enumerate(self.space.knobs):
            here = {11: 0}
            for knob in knobs:
                correct = self.known.get(self.space.with_knob(self.space.exact, place, knob))
                if correct is not None:
                    here[knob] = max(first - correct, 0)
            found.append(here)
        return found

    def _candidates(self, losses: Sequence[dict[int, int]]) -> Iterable[Choice]:
        total = 1
        for here in losses:
            total *= len(here)
        if total <= _PREDICTED:
            return itertools.product(*losses)
        # Too many to predict all: draw at random from knobs that alone stay within the budget.
        rng = np.random.default_rng(self._seed)
        near = [[knob for knob, loss in here.items() if loss <= self._allowed] for here in losses]
        return {tuple(int(rng.choice(here)) for here in near): None for _ in range(_PREDICTED // len(near))}


# Measure many configurations at once, here or on workers of Dask: count correctly classified samples.


@dataclass(frozen=True, eq=False)
class Trial:
    """The basis of all measurements: the bytes of an ONNX file, and samples."""

    network: bytes
    vectors: NDArray[np.float64]
    labels: NDArray[np.int64]
    grid: int | None

    @cached_property
    def exact(self) -> Network:
        """The network without approximation, which a worker reads once."""
        return parse_network(self.network)

    def correct(self, text: bytes, jobs: int | None = None) -> int | None:
        """Return the number of samples that the first configuration of ``text`` classifies correctly.

        None if it cannot be applied.
        """
        file = parse(text)
        try:
            made = approximate(self.exact, file, file.configurations[0].name, grid=self.grid)
            found = network_outputs(made.network, self.vectors, jobs)
        except (InputError, NetworkError):
            return None
        return int((np.argmax(found, axis=1) == self.labels).sum())


class Workers:
    """The executor of measurements: this process, or a named cluster; a context manager that ends its own workers."""

    def __init__(self, trial: Trial, cluster: str | None, jobs: int | None) -> None:
        self._trial, self._name, self._jobs = trial, cluster, jobs
        self._cluster: Any = None
        self._client: Any = None
        self._shared: Any = None

    def __enter__(self) -> Workers:
        if self._name is not None:
            self._cluster, self._client = connect(self._name, self._jobs or 1)
            self._shared = self._client.scatter(self._trial, broadcast=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in (self._client, self._cluster):
            if each is not None:
                each.close()

    def correct(self, texts: Sequence[bytes]) -> list[int | None]:
        """Return the result of ``Trial.correct`` for each text. Raises ``ToolError`` if the cluster cannot finish."""
        if self._client is None:
            return [self._trial.correct(text, self._jobs) for text in texts]
        futures = self._client.map(_on_worker, [self._shared] * len(texts), texts, [VERSION] * len(texts), pure=False)
        try:
            return [future.result() for future in futures]
        except (InputError, ToolError):
            raise
        except Exception as error:  # any exception of Dask for lost workers
            raise ClusterFailure.of("{cluster} {name}: {error}", name=self._name, error=error) from None


def _on_worker(trial: Trial, text: bytes, version: str) -> int | None:
    if version != VERSION:
        raise ClusterFailure(f"the worker has dais-verif {VERSION}, the client {version}: install the same version")
    return trial.correct(text, 1)
