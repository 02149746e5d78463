"""Read files of approximation configurations, in the formats of HPVM's tuner and of its documentation."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dais_verif.approx.knobs import KNOBS, Knob
from dais_verif.approx.lines import Line, decoded, tokens_of
from dais_verif.approx.model import Configuration, ConfigurationFile, Node
from dais_verif.approx.nodes import read_node
from dais_verif.approx.number import Number
from dais_verif.approx.places import Place
from dais_verif.errors import InputError
from dais_verif.files import read_plain

__all__ = ["MOST_BYTES", "parse", "read"]

#: The largest file: a hundred configurations of a network of a thousand nodes take about 5 MB.
MOST_BYTES = 32 << 20

BEGIN, END = "+++++", "-----"

#: The fields of the header after the name.
_COLUMNS = ("speedup", "energy", "accuracy", "accuracy loss")
_ORDINALS = ("second", "third", "fourth", "fifth")

_LONGEST_NAME = 100
#: The tolerance of the sum of accuracy and loss, since both were rounded.
_ROUNDING = 1e-6


def read(path: str | os.PathLike[str], strict: bool = False, *, knobs: Mapping[int, Knob] = KNOBS) -> ConfigurationFile:
    """Return the configurations in the file ``path``.

    ``strict``: refuse oddities that otherwise give notices. ``knobs``: the knobs by number. Raises
    ``ConfigurationError`` with line, token and what was expected, ``InputError`` if the file cannot be read.
    """
    return parse(read_plain(Path(path), MOST_BYTES, "configurations"), str(path), strict=strict, knobs=knobs)


def parse(
    data: bytes, name: str = "configurations", *, strict: bool = False, knobs: Mapping[int, Knob] = KNOBS
) -> ConfigurationFile:
    """Return the configurations in ``data``, the bytes of the file ``name``, like ``read``."""
    place = Place(name, strict)
    text = decoded(data, name)
    lines = _Lines(text, place)
    baseline = _read_baseline(lines, place)
    configurations: list[Configuration] = []
    begun: dict[str, int] = {}
    while (line := lines.take()) is not None:
        configurations.append(_read_configuration(line, lines, configurations[:1], begun, knobs, place))
    if not configurations:
        raise place.error(None, None, "the file contains no configurations")
    return ConfigurationFile(baseline, tuple(configurations), tuple(place.notices), text, knobs, name)


class _Lines:
    """The lines that are not blank, one after the other."""

    def __init__(self, text: str, place: Place) -> None:
        self._texts = text.split("\n")
        if not self._texts[-1]:
            self._texts.pop()
        self._place = place
        self._at = 0
        #: The number of the line that ``take`` returned last.
        self.number = 0
        self._odd = False

    def take(self) -> Line | None:
        """Return the next line; None after the last one."""
        while self._at < len(self._texts):
            text = self._texts[self._at]
            self._at += 1
            if not self._odd and ("\t" in text or "\r" in text):
                self._odd = True
                self._place.notice(self._at, "", "tabs or carriage returns, which the tuner does not write")
            if tokens := tokens_of(text):
                self.number = self._at
                return Line(self._at, tokens)
            self._place.notice(self._at, "", "blank line, which HPVM's runtime cannot read; it is ignored")
        return None

    def put_back(self) -> None:
        """Let ``take`` return the last line again."""
        self._at = self.number - 1


def _read_baseline(lines: _Lines, place: Place) -> Number | None:
    line = lines.take()
    if line is None:
        return None
    if line.tokens[0] == BEGIN:
        lines.put_back()
        return None
    token = line.tokens[0]
    try:
        baseline = Number(token)
    except InputError as error:
        problem = f"{error}: a file begins with the time of the baseline, or with {BEGIN!r}"
        raise place.error(line.number, token, problem) from None
    if baseline < 0:
        raise place.error(line.number, token, "the time of the baseline must be 0 or more")
    if len(line.tokens) > 1:
        raise place.error(line.number, line.tokens[1], "the time of the baseline must be alone on the first line")
    return baseline


def _read_configuration(
    begin: Line,
    lines: _Lines,
    first: list[Configuration],
    begun: dict[str, int],
    knobs: Mapping[int, Knob],
    place: Place,
) -> Configuration:
    """Return the configuration that must begin with line ``begin``. ``begun``: the first lines of others, by name."""
    _require_begin(begin, place)
    header = lines.take()
    if header is None:
        raise place.error(begin.number, BEGIN, "the file ends here; the header of a configuration must follow")
    if header.tokens[0] in (BEGIN, END):
        problem = f"the header of the configuration begun on line {begin.number} is missing"
        raise place.error(header.number, header.tokens[0], problem)
    name = header.tokens[0]
    if not name.isprintable() or len(name) > _LONGEST_NAME:
        raise place.error(header.number, name, f"a name must be printable, of at most {_LONGEST_NAME} characters")
    if name in begun:
        raise place.error(header.number, name, f"configuration already begun on line {begun[name]}")
    begun[name] = begin.number
    speedup, energy, accuracy, loss, *extra = _read_columns(header, place)
    nodes = _read_nodes(name, begin, lines, knobs, place)
    configuration = Configuration(name, speedup, energy, accuracy, loss, nodes, tuple(extra), header.number)
    _note_sum(configuration, header, first[0] if first else configuration, place)
    return configuration


def _require_begin(line: Line, place: Place) -> None:
    token = line.tokens[0]
    if token == BEGIN and len(line.tokens) > 1:
        raise place.error(line.number, line.tokens[1], f"{BEGIN!r} must be alone on its line")
    if token == END:
        raise place.error(line.number, token, f"no configuration to end here: {BEGIN!r} is missing before")
    if token != BEGIN:
        what = "a node before any header" if line.tokens[1:2] in (["gpu"], ["cpu"]) else "outside of a configuration"
        raise place.error(line.number, token, f"{what}: a configuration begins with {BEGIN!r}")


def _read_columns(header: Line, place: Place) -> list[Number]:
    given = header.tokens[1:]
    if len(given) < len(_COLUMNS):
        missing = f"{_COLUMNS[len(given)]} ({_ORDINALS[len(given)]} column) is missing"
        raise place.error(header.number, None, f"{missing}; a header has a name, {', '.join(_COLUMNS)}")
    return [_read_column(at, token, header.number, place) for at, token in enumerate(given)]


def _read_column(at: int, token: str, line: int, place: Place) -> Number:
    column = f"{_COLUMNS[at]} ({_ORDINALS[at]} column)" if at < len(_COLUMNS) else f"column {at + 2}"
    try:
        number = Number(token)
    except InputError as error:
        raise place.error(line, token, f"{error}: {column} must be one") from None
    if at == 0 and number <= 0:
        raise place.error(line, token, f"{column} must be more than 0")
    if at == 1 and number < 0:
        raise place.error(line, token, f"{column} must be 0 or more")
    return number


def _read_nodes(name: str, begin: Line, lines: _Lines, knobs: Mapping[int, Knob], place: Place) -> tuple[Node, ...]:
    nodes: dict[int, Node] = {}
    while (line := lines.take()) is not None:
        token = line.tokens[0]
        if token == END:
            if len(line.tokens) > 1:
                raise place.error(line.number, line.tokens[1], f"{END!r} must be alone on its line")
            if not nodes:
                raise place.error(line.number, token, f"configuration {name!r} has no node")
            return tuple(nodes.values())
        if token == BEGIN:
            problem = f"configuration {name!r} (begun on line {begin.number}) is still open: {END!r} is missing before"
            raise place.error(line.number, token, problem)
        node = read_node(line, knobs, place)
        if node.id in nodes:
            problem = f"node {node.id} already given on line {nodes[node.id].line}"
            raise place.error(line.number, token, problem)
        nodes[node.id] = node
    problem = f"the file ends inside configuration {name!r} (begun on line {begin.number}), {END!r} is missing"
    raise place.error(lines.number, None, problem)


def _note_sum(one: Configuration, header: Line, first: Configuration, place: Place) -> None:
    """Add a notice unless accuracy and loss add up to the accuracy of the first configuration."""
    if abs(one.accuracy + one.loss - first.accuracy) > _ROUNDING * max(1.0, abs(first.accuracy)):
        problem = (
            f"accuracy and loss add up to {one.accuracy + one.loss:.6g}, not to the first accuracy, {first.accuracy}"
        )
        place.notice(header.number, header.tokens[4], problem)
