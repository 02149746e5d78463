"""Read files of approximation configurations, in the formats of HPVM's tuner and of its documentation."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from dais_verif.base.errors import InputError
from dais_verif.base.files import read_plain
from dais_verif.compile.approximation.configuration import Configuration, ConfigurationFile, Node, Number, Op
from dais_verif.compile.approximation.knobs import APPROXIMATIONS, CONV_ONLY, KNOBS, SUPPORTED, Knob, numbers_of
from dais_verif.compile.approximation.problems import Place, error_at, quoted

__all__ = ["DEVICES", "Line", "MOST_BYTES", "OPS", "decoded", "parse", "read", "read_node", "tokens_of"]


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


# Read the line of a node: its ops, with or without the names of approximations, and their knobs.


#: Operations of HPVM's runtime.
OPS: Final = (
    *("add", "batchnorm", "conv", "group_conv", "mul", "relu", "clipped_relu", "tanh"),
    *("pool_max", "pool_mean", "pool_min", "softmax"),
)
#: Devices, and the approximations that each supports.
DEVICES: Final[dict[str, tuple[str, ...]]] = {"gpu": (*SUPPORTED, "red_samp"), "cpu": ("fp32", "perf", "samp")}

_REDUCTIONS = ("pool_max", "pool_mean", "pool_min")
_WHOLE = re.compile(r"0|[1-9]\d{0,8}", re.ASCII)
#: Marks a knob that the tuner did not set; in the table of knobs this number belongs to another knob.
_UNSET = 1
#: The numbers of the approximations that HPVM identifies by name.
_BY_NAME = {"fp32": 11, "fp16": 12}


def read_node(line: Line, knobs: Mapping[int, Knob], place: Place) -> Node:
    """Return the node on ``line``. Raises ``ConfigurationError`` if it is not valid."""
    number, tokens = line
    if not _WHOLE.fullmatch(tokens[0]):
        problem = "expected the number of a node, or '-----'"
        raise place.error(number, tokens[0], problem)
    if len(tokens) == 1:
        raise place.error(number, tokens[0], "a node has a device (gpu or cpu) and operations; this one has neither")
    device = tokens[1]
    if device not in DEVICES:
        raise place.error(number, device, "the device must be gpu or cpu")
    if len(tokens) == 2:
        raise place.error(number, device, f"node {tokens[0]} has no operation")
    ops, at = [], 2
    while at < len(tokens):
        op, at = _read_op(line, at, device, knobs, place)
        ops.append(op)
    return Node(int(tokens[0]), device, tuple(ops), number)


def _read_op(line: Line, at: int, device: str, knobs: Mapping[int, Knob], place: Place) -> tuple[Op, int]:
    """Return the op that begins with token ``at``, and the position of the next one."""
    number, tokens = line
    op = tokens[at]
    if op not in OPS:
        raise place.error(number, op, _not_an_op(op, first=at == 2))
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if following is None or following in OPS:
        problem = f"op {op!r} has no approximation"
        raise place.error(number, op, problem if following is None else f"{problem} before {following!r}")
    if _WHOLE.fullmatch(following):
        knob = _bare_knob(following, number, knobs, place)
        name, named, at = knob.approximation, False, at + 2
    else:
        name, named, at = following, True, at + 3
        if name not in APPROXIMATIONS:
            known = ", ".join(DEVICES[device])
            raise place.error(number, name, f"unknown approximation; {device} has {known}")
    if name not in DEVICES[device]:
        problem = f"device {device} has {', '.join(DEVICES[device])} only, not {name}"
        raise place.error(number, following, problem)
    if not named:
        written = following
    elif at <= len(tokens):
        written = tokens[at - 1]
    else:
        raise place.error(number, None, f"approximation {name!r} of op {op!r} has no knob number")
    _check_knob(op, name, written, number, knobs, place)
    return Op(op, name, int(written), named), at


def _not_an_op(token: str, first: bool) -> str:
    if not first and (token in APPROXIMATIONS or _WHOLE.fullmatch(token)):
        return "expected an operation: each has one approximation and one knob"
    return f"unknown operation; known are {', '.join(OPS)}"


def _bare_knob(token: str, line: int, knobs: Mapping[int, Knob], place: Place) -> Knob:
    if int(token) == _UNSET:
        raise place.error(
            line, token, "knob 1 needs fp32 or fp16 before it: fp32 1 and fp16 1 mean that no knob is set"
        )
    knob = knobs.get(int(token))
    if knob is None:
        raise place.error(line, token, "no such knob")
    return knob


def _check_knob(op: str, name: str, token: str, line: int, knobs: Mapping[int, Knob], place: Place) -> None:
    """Raise ``ConfigurationError`` unless ``op`` can have knob ``token``, named ``name``; add notices of oddities."""
    if not _WHOLE.fullmatch(token):
        raise place.error(line, token, f"expected the number of a knob after {name!r}")
    number = int(token)
    if name in CONV_ONLY and op != "conv":
        what = APPROXIMATIONS[name].partition(" ")[0]
        raise place.error(line, token, f"{what} is for conv only, not for {op}")
    if name in _BY_NAME and number in (_UNSET, *_BY_NAME.values()):
        _note_odd_precision(op, name, token, line, place)
        return
    knob = knobs.get(number)
    if knob is None:
        known = numbers_of(name, knobs)
        raise place.error(line, token, f"no such knob; {name} has {known}" if known else "no such knob")
    if knob.approximation != name:
        problem = f"knob {number} is {knob.approximation} ({APPROXIMATIONS[knob.approximation]}), not {name}"
        raise place.error(line, token, problem)
    if name == "red_samp":
        if op not in _REDUCTIONS:
            raise place.error(line, token, f"sampling of reductions is for {', '.join(_REDUCTIONS)}, not for {op}")
        place.notice(line, token, "sampling of a reduction can be read, but not applied")


def _note_odd_precision(op: str, name: str, token: str, line: int, place: Place) -> None:
    number = int(token)
    if number == _UNSET:
        if op == "conv" and name == "fp32":
            place.notice(line, token, "a conv whose knob is not set is computed in fp32")
    elif number != _BY_NAME[name]:
        other = next(each for each, its in _BY_NAME.items() if its == number)
        place.notice(line, token, f"{name} with the number of {other}: HPVM's runtime uses the name, {quoted(name)}")


# Split files of configurations and of knobs into lines of tokens.


class Line(NamedTuple):
    """A line that is not blank, and its number, from 1."""

    number: int
    tokens: list[str]


def decoded(data: bytes, name: str) -> str:
    """Return ``data``, the bytes of the file ``name``, as text. Raises ``ConfigurationError`` if it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise error_at(name, line, None, f"byte 0x{data[error.start]:02x} is not text (UTF-8)") from None


def tokens_of(line: str) -> list[str]:
    """Split ``line`` at blanks, tabs and carriage returns."""
    return [token for token in line.replace("\t", " ").replace("\r", " ").split(" ") if token]
