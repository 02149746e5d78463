"""Options of the command line, made from the declarations in requests."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import click

from dais_verif.doors.cli.common import all_cpus, file_path, parsed_by, seconds
from dais_verif.doors.cli.grouped import Option
from dais_verif.doors.cli.verb import FiniteRange
from dais_verif.verbs.options import Declared, declared

__all__ = ["declared_options"]


def declared_options(kind: type[Any], *, without: Collection[str] = ()) -> Callable[[Any], Any]:
    """Return a decorator that adds the options of ``kind``; the command gets their values by their keywords.

    ``without``: keywords of options that the command does not have.
    """
    made = [_made(one) for one in declared(kind) if one.keyword not in without]

    def add(command: Any) -> Any:
        for option in reversed(made):
            command = option(command)
        return command

    return add


def _made(one: Declared) -> Callable[[Any], Any]:
    said, many = one.option, one.type.startswith("tuple[")
    more: dict[str, Any] = {"help": said.help, "hidden": said.hidden, "group": said.group, "rare": said.rare}
    if said.metavar is not None:
        more["metavar"] = said.metavar
    names = ["-o"] if one.field == "output" else []
    if one.type == "bool":
        off = f"/{one.spelled.replace('--', '--no-', 1)}" if one.value else ""
        more |= {"is_flag": True, "default": one.value, "show_default": bool(one.value)}
        return click.option(*names, one.spelled + off, one.keyword, cls=Option, **more)
    if many:
        more["multiple"] = True
    elif one.value is not None:
        more |= {"default": one.value, "show_default": True}
    if said.default_text is not None:
        more["show_default"] = said.default_text
    if said.parse is not None:
        more["callback"] = parsed_by(said.parse)
    elif one.field == "jobs":
        more["callback"] = all_cpus
    return click.option(*names, one.spelled, one.keyword, cls=Option, type=_type_of(one), **more)


def _type_of(one: Declared) -> Any:
    said = one.option
    if said.choices:
        return click.Choice(said.choices)
    if said.parse is not None:
        return click.STRING
    if said.positive:
        return seconds
    if "Path" in one.type:
        return file_path
    if one.type == "float" and said.most is not None:
        return FiniteRange(said.least, said.most)
    if one.type == "int" and (said.least is not None or said.most is not None):
        return click.IntRange(said.least, said.most)
    return {"int": click.INT, "float": click.FLOAT}.get(one.type, click.STRING)
