"""The search space of configurations: a knob for each layer, and the configuration of a choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dais_verif.base.errors import RequestError
from dais_verif.compile.approximation import KNOBS, Configuration, ConfigurationFile, Node, Op, pareto
from dais_verif.compile.approximation.choice import Accuracy
from dais_verif.compile.approximation.columns import predicted_speedup, rewrite_columns
from dais_verif.compile.approximation.configuration import Number
from dais_verif.compile.networks import FusedNode, Network, fuse

__all__ = ["Choice", "Space", "choice_of", "word_of"]

#: Knobs of convolutions in single precision, and those in half precision.
_SINGLE, _HALF = (*range(121, 139), *range(231, 240)), (12, *range(151, 169), *range(261, 270))
#: The knob without approximation.
_EXACT = 11

#: The knob of each layer, in the order of the network.
Choice = tuple[int, ...]


def word_of(choice: Choice) -> str:
    """Encode a choice as a word."""
    return ",".join(map(str, choice))


def choice_of(word: str) -> Choice:
    """Decode a choice from a word."""
    return tuple(map(int, word.split(",")))


@dataclass(frozen=True)
class Space:
    """The layers of a network that can have a knob: their ``places`` (node and op), and the possible ``knobs``."""

    nodes: tuple[FusedNode, ...]
    places: tuple[tuple[int, int], ...]
    knobs: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, network: Network, half: bool) -> Space:
        """Return the space of ``network``. ``half``: half precision is allowed.

        Raises ``RequestError`` if no layer can have a knob.
        """
        nodes = tuple(node for node in fuse(network) if node.number is not None)
        able = {"conv": (*_SINGLE, *(_HALF if half else ()))}
        if half:
            able |= {"group_conv": (12,), "mul": (12,)}
        places = tuple((n, at) for n, node in enumerate(nodes) for at, op in enumerate(node.ops) if op.op in able)
        if not places:
            raise RequestError("no node of the network is a convolution to which a knob can be applied")
        return cls(nodes, places, tuple(able[nodes[n].ops[at].op] for n, at in places))

    @property
    def exact(self) -> Choice:
        """The choice without any approximation."""
        return (_EXACT,) * len(self.places)

    @property
    def costs(self) -> list[list[int]]:
        """The number of multiply-adds of every op."""
        return [[op.cost for op in node.ops] for node in self.nodes]

    def __contains__(self, choice: Choice) -> bool:
        """Return True if every layer of the space has one of its possible knobs in ``choice``."""
        return len(choice) == len(self.knobs) and all(
            knob in (_EXACT, *knobs) for knob, knobs in zip(choice, self.knobs, strict=True)
        )

    def singles(self) -> list[Choice]:
        """Return the choices with one knob, sorted by saved multiply-adds, largest first."""
        gains = []
        for place, (n, at) in enumerate(self.places):
            for knob in self.knobs[place]:
                saved = self.nodes[n].ops[at].cost * (1 - 1 / Fraction(KNOBS[knob].speedup))
                gains.append((-saved, knob, place))
        return [self.with_knob(self.exact, place, knob) for _, knob, place in sorted(gains)]

    def with_knob(self, choice: Choice, place: int, knob: int) -> Choice:
        """Return ``choice`` with another knob at one place."""
        return (*choice[:place], knob, *choice[place + 1 :])

    def changed(self, choice: Choice, rng: np.random.Generator) -> Choice:
        """Return ``choice`` with one or two knobs changed at random."""
        for _ in range(int(rng.integers(1, 3))):
            place = int(rng.integers(len(self.places)))
            numbers = (_EXACT, *self.knobs[place])
            choice = self.with_knob(choice, place, numbers[int(rng.integers(len(numbers)))])
        return choice

    def random(self, rng: np.random.Generator) -> Choice:
        """Return a random choice, uniformly distributed."""
        return tuple(int(rng.choice((_EXACT, *knobs))) for knobs in self.knobs)

    def speedup(self, choice: Choice) -> Fraction:
        """Return the speed-up that the tuner's model predicts."""
        return predicted_speedup(self.configuration(choice, "one"), self.costs)

    def configuration(self, choice: Choice, name: str) -> Configuration:
        """Return the configuration of a choice; its columns are filled in later."""
        knobs = dict(zip(self.places, choice, strict=True))
        nodes = tuple(
            Node(n + 1, "gpu", tuple(_op(node.ops[at].op, knobs.get((n, at))) for at in range(len(node.ops))))
            for n, node in enumerate(self.nodes)
        )
        return Configuration(name, Number.of(1.0), Number.of(1.0), Number.of(0.0), Number.of(0.0), nodes)

    def file_of(self, choice: Choice) -> ConfigurationFile:
        """Return a file with this choice only, named ``one``."""
        return ConfigurationFile(Number.of(0.0), (self.configuration(choice, "one"),))

    def name(self, choice: Choice) -> str:
        """Return the name of a configuration: its knobs."""
        return "exact" if choice == self.exact else f"k{word_of(choice).replace(',', '-')}"

    def curve(self, correct: Mapping[Choice, int], total: int, chosen: Choice) -> ConfigurationFile:
        """Return three kinds of measured configurations: exact, on the curve of loss and speed-up, and chosen."""
        ordered = [self.exact, *(choice for choice in correct if choice != self.exact)]
        file = ConfigurationFile(Number.of(0.0), tuple(self.configuration(one, self.name(one)) for one in ordered))
        accuracies = {self.name(one): Accuracy(correct[one], total) for one in ordered}
        file = rewrite_columns(file, accuracies, {self.name(one): self.speedup(one) for one in ordered})
        kept = {*pareto(file), self.name(chosen), "exact"}
        return ConfigurationFile(file.baseline, tuple(_of(file.configurations, kept)))


def _of(configurations: tuple[Configuration, ...], names: set[str]) -> Iterator[Configuration]:
    return (one for one in configurations if one.name in names)


def _op(name: str, knob: int | None) -> Op:
    return Op(name, "fp32", 1) if knob is None else Op(name, KNOBS[knob].approximation, knob)
