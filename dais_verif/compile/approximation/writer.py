"""Write files of approximation configurations: as they were read, or in normal form."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dais_verif.base.errors import ApproximationError
from dais_verif.base.files import write_atomically
from dais_verif.compile.approximation.configuration import Configuration, ConfigurationFile, Node, Number, Op
from dais_verif.compile.approximation.reader import BEGIN, END, parse, tokens_of

__all__ = ["normal", "text_of", "write"]

#: A line as the tuner writes it: tokens separated by single blanks, with an optional blank at the end.
_LINE = re.compile(r"[^ \t\r]+(?: [^ \t\r]+)* ?")


def write(file: ConfigurationFile, path: str | os.PathLike[str]) -> None:
    """Write ``file`` to ``path`` atomically. A file that was read and not changed is written byte for byte.

    Raises ``ConfigurationError`` if ``parse`` would refuse it, ``InputError`` if it cannot be written.
    """
    data = text_of(file).encode()
    if parse(data, file.name, knobs=file.knobs) != file:
        raise ApproximationError(f"{file.name!r} cannot be written: it would read back differently")
    write_atomically(Path(path), data)


def text_of(file: ConfigurationFile) -> str:
    """Return the text of ``file``: the text it was read from if unchanged, else lines with single blanks."""
    lines = list(_lines(file))
    if file.text is not None and lines == [tokens for line in file.text.split("\n") if (tokens := tokens_of(line))]:
        return file.text
    return "".join(f"{' '.join(line)}\n" for line in lines)


def normal(file: ConfigurationFile) -> ConfigurationFile:
    """Return ``file`` in the form of the tuner's files: with a baseline, and name and number of each approximation.

    Text in this form is kept byte for byte, including a blank at the end of a line and a missing newline at the end of
    the file. Numbers keep their digits.
    """
    configurations = tuple(
        replace(one, nodes=tuple(replace(node, ops=_named(node)) for node in one.nodes)) for one in file.configurations
    )
    baseline = Number("0.0") if file.baseline is None else file.baseline
    text = file.text if file.text is not None and _is_normal(file.text) else None
    return replace(file, baseline=baseline, configurations=configurations, text=text)


def _named(node: Node) -> tuple[Op, ...]:
    return tuple(replace(op, named=True) for op in node.ops)


def _is_normal(text: str) -> bool:
    return all(_LINE.fullmatch(line) for line in text.removesuffix("\n").split("\n"))


def _lines(file: ConfigurationFile) -> Iterator[list[str]]:
    if file.baseline is not None:
        yield [file.baseline.text]
    for configuration in file.configurations:
        yield [BEGIN]
        yield _header(configuration)
        yield from map(_node, configuration.nodes)
        yield [END]


def _header(one: Configuration) -> list[str]:
    return [one.name, *(number.text for number in (one.speedup, one.energy, one.accuracy, one.loss, *one.extra))]


def _node(node: Node) -> list[str]:
    words = [str(node.id), node.device]
    for op in node.ops:
        words += [op.op, op.approximation, str(op.knob)] if op.named else [op.op, str(op.knob)]
    return words
