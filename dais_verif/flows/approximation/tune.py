"""Search configurations of a network under a budget of accuracy: greedy by what a knob gains, then by small changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import msgspec
import numpy as np

from dais_verif.approx import KNOBS, Configuration, ConfigurationFile, Knob, Node, Op, pareto, text_of
from dais_verif.approx.accuracy import Accuracy
from dais_verif.approx.columns import predicted_speedup, rewrite_columns
from dais_verif.approx.number import Number
from dais_verif.errors import InputError, RequestError
from dais_verif.files import read_plain, write_atomically
from dais_verif.flows.approximation.bounds import exact_outputs
from dais_verif.flows.approximation.measure import exact_budget
from dais_verif.flows.approximation.networks import Samples, read_network, read_samples
from dais_verif.flows.arguments import require_types
from dais_verif.flows.no_loss import require_no_loss
from dais_verif.flows.programs import require_counts, require_range
from dais_verif.flows.progress import SILENT, Progress
from dais_verif.flows.words import option_words
from dais_verif.networks import FusedNode, Network, fuse
from dais_verif.networks.approximate import approximate
from dais_verif.own_command import own_command
from dais_verif.program.types import LIMIT
from dais_verif.record.approximation import TunedRecord
from dais_verif.verdict import Verdict

__all__ = ["TuneRequest", "tune_configurations"]

_MOST_BYTES = 1 << 26
#: Knobs of convolutions in single precision, and those in half precision.
_SINGLE, _HALF = (*range(121, 139), *range(231, 240)), (12, *range(151, 169), *range(261, 270))
#: A choice: the knob of each convolution, in the order of the network.
_Choice = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class TuneRequest:
    """An ONNX file, labelled samples, the largest loss that is allowed in percent, and the file to write.

    ``tries``: configurations that are measured, at most. ``half``: half precision may be chosen, too. ``resume``: go on
    from what an earlier search of the same network and samples measured, which is kept beside ``output``.
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
    jobs: int | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        require_types(self)
        require_counts(seed=self.seed)
        require_range("tries", self.tries, 1, 1_000_000)
        require_range("grid", self.grid, 0, LIMIT)
        exact_budget(self.budget)
        require_no_loss(self.output, network=self.network, data=self.data)

    @property
    def kept(self) -> Path:
        """The file with all that was measured."""
        return self.output.with_name(f"{self.output.name}.tried.json")

    def words(self) -> list[str]:
        """Return the words after ``dais-verif`` that ask for this."""
        valued = {
            "--data": self.data,
            "--budget": self.budget,
            "--tries": self.tries,
            "--seed": self.seed,
            "--grid": self.grid,
            "-o": self.output,
        }
        return ["approx", "tune", str(self.network), *option_words(valued, {"--half": self.half})]


@dataclass
class _Kept:
    """What was measured, by knobs: samples that were classified as they should be, or None where a knob cannot be."""

    about: str
    tried: dict[str, int | None] = field(default_factory=dict)


def tune_configurations(request: TuneRequest, *, progress: Progress = SILENT) -> TunedRecord:
    """Search, and write a file of the configurations that are worth having: the exact one first.

    What is better is faster by the tuner's model, with a loss within the budget; ties go to the smaller loss. The same
    seed finds the same. Raises ``RequestError`` for a network without a convolution that a knob could be for.
    """
    data, exact, sha256 = read_network(request.network)
    samples = read_samples(request.data, exact)
    search = _Search(request, data, exact, samples, progress)
    search.kept = _resumed(request, search.about)
    chosen = search.run()
    file = search.file()
    write_atomically(request.output, text_of(file).encode())
    best = search.configuration(chosen, search.name(chosen))
    measured = next(one for one in file.configurations if one.name == best.name)
    return TunedRecord(
        verdict=Verdict.PASS,
        message=(
            f"{best.name} is the fastest of {len(search.kept.tried)} with a loss of at most {request.budget}: "
            f"{float(measured.speedup):.4g}x at a loss of {measured.loss}"
        ),
        network=str(request.network),
        data=str(request.data),
        sha256=sha256,
        tried=len(search.kept.tried),
        chosen=best.name,
        speedup=float(measured.speedup),
        accuracy=float(measured.accuracy),
        loss=float(measured.loss),
        budget=request.budget,
        configurations=[one.name for one in file.configurations],
        output=str(request.output),
        seed=request.seed,
        reproduce=own_command(request.words()) if request.command is None else request.command,
    )


class _Search:
    """The choices, what is known of them, and the way through them."""

    def __init__(self, request: TuneRequest, data: bytes, exact: Network, samples: Samples, progress: Progress) -> None:
        self.request, self.data, self.samples, self.progress = request, data, samples, progress
        self.nodes = [node for node in fuse(exact) if node.number is not None]
        every = [(n, at) for n, node in enumerate(self.nodes) for at in range(len(node.ops))]
        self.places = [(n, at) for n, at in every if self.nodes[n].ops[at].op == "conv"]
        if not self.places:
            raise RequestError(f"{request.network}: no node of the network is a convolution that a knob could be for")
        self.knobs = [KNOBS[number] for number in (*_SINGLE, *(_HALF if request.half else ()))]
        self.exact: _Choice = (11,) * len(self.places)
        self.costs = [[op.cost for op in node.ops] for node in self.nodes]
        inputs = (data, samples.vectors.tobytes(), samples.labels.tobytes(), str(request.grid).encode())
        self.about = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in inputs)).hexdigest()
        self.kept = _Kept(self.about)

    def run(self) -> _Choice:
        """Greedy, then small changes; return the best choice."""
        best = self.exact
        self.measure(best)
        for place, knob in self.by_gain():
            trial = (*best[:place], knob.number, *best[place + 1 :])
            if self.speedup(trial) > self.speedup(best) and self.fits(trial):
                best = trial
        rng = np.random.default_rng(self.request.seed)
        for _ in range(20 * self.request.tries):
            if self.spent:
                break
            trial = self.changed(best, rng)
            if self.speedup(trial) >= self.speedup(best) and self.fits(trial) and self.rank(trial) > self.rank(best):
                best = trial
        return max((c for c in map(_choice, self.kept.tried) if self.fits(c)), key=self.rank)

    @property
    def spent(self) -> bool:
        """Whether as many were measured as there may be."""
        return len(self.kept.tried) >= self.request.tries

    def by_gain(self) -> Iterator[tuple[int, Knob]]:
        """Places and knobs, those first that save most multiply-adds."""
        gains = [
            (self.costs[n][at] * (1 - 1 / Fraction(knob.speedup)), -knob.number, place)
            for place, (n, at) in enumerate(self.places)
            for knob in self.knobs
        ]
        for _, number, place in sorted(gains, reverse=True):
            yield place, KNOBS[-number]

    def changed(self, choice: _Choice, rng: np.random.Generator) -> _Choice:
        """One or two knobs of ``choice`` turned."""
        found = list(choice)
        for _ in range(int(rng.integers(1, 3))):
            numbers = [11, *(knob.number for knob in self.knobs)]
            found[int(rng.integers(len(found)))] = numbers[int(rng.integers(len(numbers)))]
        return tuple(found)

    def rank(self, choice: _Choice) -> tuple[Fraction, int]:
        """What a measured choice is worth."""
        return self.speedup(choice), self.measure(choice) or 0

    def fits(self, choice: _Choice) -> bool:
        """Whether a choice can be applied, and its loss is within the budget."""
        if self.spent and _word(choice) not in self.kept.tried:
            return False
        correct, first = self.measure(choice), self.measure(self.exact)
        if correct is None or first is None:
            return False
        return Fraction(100 * (first - correct), len(self.samples.labels)) <= exact_budget(self.request.budget)

    def measure(self, choice: _Choice) -> int | None:
        """Samples that are classified as they should be; None if a knob cannot be applied."""
        word = _word(choice)
        if word not in self.kept.tried:
            file = ConfigurationFile(Number.of(0.0), (self.configuration(choice, "one"),))
            with self.progress.working(f"{len(self.kept.tried) + 1} of at most {self.request.tries}: {word}"):
                try:
                    made = approximate(self.data, file, "one", grid=self.request.grid)
                    found = exact_outputs(made.network.program(), self.samples.vectors, self.request.jobs)
                    correct: int | None = int((np.argmax(found, axis=1) == self.samples.labels).sum())
                except InputError:
                    correct = None
            self.kept.tried[word] = correct
            write_atomically(self.request.kept, msgspec.json.encode(self.kept))
        return self.kept.tried[word]

    def speedup(self, choice: _Choice) -> Fraction:
        """What the tuner's model predicts."""
        return predicted_speedup(self.configuration(choice, "one"), self.costs)

    def configuration(self, choice: _Choice, name: str) -> Configuration:
        """A choice as a configuration; columns are filled in later."""
        knobs = dict(zip(self.places, choice, strict=True))
        nodes = tuple(
            Node(n + 1, "gpu", tuple(self._op(node, at, knobs.get((n, at))) for at in range(len(node.ops))))
            for n, node in enumerate(self.nodes)
        )
        return Configuration(name, Number.of(1.0), Number.of(1.0), Number.of(0.0), Number.of(0.0), nodes)

    @staticmethod
    def _op(node: FusedNode, at: int, knob: int | None) -> Op:
        if knob is None:
            return Op(node.ops[at].op, "fp32", 1)
        return Op(node.ops[at].op, KNOBS[knob].approximation, knob)

    def name(self, choice: _Choice) -> str:
        """What a configuration is called: its knobs."""
        return "exact" if choice == self.exact else f"k{_word(choice).replace(',', '-')}"

    def file(self) -> ConfigurationFile:
        """The exact configuration, and those on the curve of loss and speed-up."""
        total = len(self.samples.labels)
        tried = [choice for choice in map(_choice, self.kept.tried) if self.kept.tried[_word(choice)] is not None]
        ordered = [self.exact, *(choice for choice in tried if choice != self.exact)]
        file = ConfigurationFile(Number.of(0.0), tuple(self.configuration(c, self.name(c)) for c in ordered))
        accuracies = {self.name(c): Accuracy(self.kept.tried[_word(c)] or 0, total) for c in ordered}
        file = rewrite_columns(file, accuracies, {self.name(c): self.speedup(c) for c in ordered})
        on_curve = set(pareto(file)) | {self.name(max(filter(self.fits, tried), key=self.rank))}
        return ConfigurationFile(
            file.baseline, tuple(one for one in file.configurations if one.name in on_curve or one.name == "exact")
        )


def _word(choice: _Choice) -> str:
    return ",".join(map(str, choice))


def _choice(word: str) -> _Choice:
    return tuple(map(int, word.split(",")))


def _resumed(request: TuneRequest, about: str) -> _Kept:
    if not request.resume or not request.kept.exists():
        return _Kept(about)
    try:
        found = msgspec.json.decode(read_plain(request.kept, _MOST_BYTES, "kept search"), type=_Kept)
    except msgspec.DecodeError as error:
        raise InputError(f"{str(request.kept)!r} is not what a search keeps: {error}; leave out resume") from None
    if found.about != about:
        raise InputError(f"{str(request.kept)!r} is of another network, other samples or another grid")
    return found
