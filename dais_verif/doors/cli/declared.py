"""Options of the command line, made from the declarations in requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.verb import FiniteRange, Option, OutputPath
from dais_verif.subject.given import is_folder
from dais_verif.verbs.options import Declared, Request, build, declared

__all__ = ["declared_options", "requested"]

_PINS = ("clock", "latency", "reset", "enable", "valid_in", "valid_out")
_FOLDER = {"file": False, "folder": True, "any": None}


def requested(kind: type[Request]) -> Callable[[Any], Any]:
    """Return a decorator that adds the options of ``kind``; the command gets the ``request`` that they make.

    Arguments of the command with the name of a field are part of the request. Words after the options are further
    files of RTL.
    """
    known = {one.keyword for one in declared(kind)}
    own = {one.name for one in fields(kind)} - known

    def add(command: Any) -> Any:
        @wraps(command)
        def with_request(more_rtl: tuple[Any, ...] = (), **given: Any) -> Any:
            asked = {name: given.pop(name) for name in list(given) if name in known}
            if more_rtl:
                if not any(asked.get(name) for name in ("rtl", "netlist", "bitstream", "wrapped")):
                    raise click.UsageError(f"Got unexpected extra argument ({more_rtl[0]}); RTL files follow --rtl.")
                asked["rtl"] = (*asked["rtl"], *more_rtl)
            if (
                "valid_in" in known
                and asked["ports"] is None
                and not any(map(is_folder, (given["program"], *asked["rtl"])))
            ):
                from dais_verif.verbs.pins import Pins  # imported late, since most verbs do not need it

                # Refuse bad options before anything is read.
                Pins(*(asked[name] for name in _PINS)).over(None, "no ports file names them")
            words = click.get_current_context().obj
            rest = {name: given.pop(name) for name in list(given) if name in own}
            request = build(kind, asked, command=lambda more: common.reproduce(words, more), **rest)
            return command(request=request, **given)

        if "rtl" in known:
            with_request = click.argument("more_rtl", nargs=-1, type=common.file_path)(with_request)
        return declared_options(kind)(with_request)

    return add


def declared_options(kind: type[Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds the options of ``kind``; the command gets their values by their keywords."""
    made = [_made(one) for one in declared(kind)]

    def add(command: Any) -> Any:
        for option in reversed(made):
            command = option(command)
        return command

    return add


def _made(one: Declared) -> Callable[[Any], Any]:
    said = one.option
    more: dict[str, Any] = {"help": said.help, "hidden": said.hidden, "group": said.group, "rare": said.rare}
    if said.metavar is not None:
        more["metavar"] = said.metavar
    names = ["-o"] if one.field == "output" else []
    if one.type == "bool":
        off = "" if one.value is False and said.off is None else f"/{one.off}"
        more |= {"is_flag": True, "default": one.value, "show_default": bool(one.value) or said.off is not None}
        return click.option(*names, one.spelled + off, one.keyword, cls=Option, **more)
    if one.type.endswith(", ...]"):
        more["multiple"] = True
    elif one.required:
        more["required"] = True
    elif one.value is not None:
        more |= {"default": one.value if said.parse is None else said.show(one.value), "show_default": True}
    if said.default_text is not None:
        more["show_default"] = said.default_text or False
    if said.parse is not None:
        more["callback"] = common.parsed_by(said.parse)
    elif one.field == "jobs":
        more["callback"] = common.all_cpus
    return click.option(*names, one.spelled, one.keyword, cls=Option, type=_type_of(one), **more)


def _type_of(one: Declared) -> Any:
    said = one.option
    if said.choices:
        return click.Choice(said.choices)
    if said.parse is not None:
        return click.STRING
    if said.positive:
        return common.seconds
    if said.writes:
        return OutputPath(folder=_FOLDER[said.writes])
    if "Path" in one.type:
        return common.file_path
    if one.type == "float" and said.most is not None:
        return FiniteRange(said.least, said.most)
    if "int" in one.type and (said.least is not None or said.most is not None):
        return click.IntRange(said.least, said.most)
    return {"int": click.INT, "float": click.FLOAT, "tuple[int, ...]": click.INT}.get(one.type, click.STRING)
