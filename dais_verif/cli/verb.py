"""A verb of the command line: outputs never overwrite inputs, and are checked to be writable before the work begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from dais_verif.errors import FileError
from dais_verif.files import require_writable, require_writable_folder
from dais_verif.flows.no_loss import require_form, require_other_file
from dais_verif.packages import require_package

__all__ = ["FiniteRange", "OutputPath", "Verb", "help_records"]


#: 30 years in seconds, since integer counters and waits may not accept larger numbers.
_LARGEST = 1e9


class OutputPath(click.Path):
    """The path of a file that a verb writes. ``begins``: the first bytes that an existing file must have.

    ``needs``: the module required to write the file. ``folder``: the path is a folder; None: other options decide.
    """

    def __init__(self, begins: bytes = b"", needs: str = "", folder: bool | None = False) -> None:
        super().__init__(path_type=Path)
        self.begins, self.needs, self.folder = begins, needs, folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Raises ``ModuleNotFoundError`` if the required module is not installed."""
        if self.needs:
            require_package(self.needs)
        return super().convert(value, param, ctx)


class FiniteRange(click.FloatRange):
    """A range of finite numbers. ``FloatRange`` also accepts NaN, which is neither below nor above a limit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number. Also fails for NaN, infinities, and numbers beyond the limit."""
        number = float(click.FLOAT.convert(value, param, ctx))
        if not abs(number) <= _LARGEST:
            self.fail(f"{value} is not a finite number up to {_LARGEST:g}.", param, ctx)
        return float(super().convert(number, param, ctx))


def help_records(command: click.Command, ctx: click.Context) -> Iterator[tuple[click.Option, tuple[str, str]]]:
    """Return the options in the help of ``command``, each with its spelling and text."""
    return command.help_records(ctx) if isinstance(command, Verb) else _help_records(command.get_params(ctx), ctx)


def _help_records(
    params: Iterable[click.Parameter], ctx: click.Context
) -> Iterator[tuple[click.Option, tuple[str, str]]]:
    for option in params:
        if isinstance(option, click.Option) and (text := option.get_help_record(ctx)) is not None:
            yield option, text


def shows_all(ctx: click.Context) -> bool:
    """Return whether the help is to show all options."""
    return bool(ctx.meta.get(_ALL))


def _help_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


#: The entry of a context that its help is to show all options.
_ALL = "dais_verif.help_all"
_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_help_all,
    help="Show all options and exit.",
)


class Verb(click.Command):
    """A command that never overwrites its inputs."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, the last of which shows the help with all options."""
        return [*super().get_params(ctx), _HELP_ALL]

    def help_records(self, ctx: click.Context) -> Iterator[tuple[click.Option, tuple[str, str]]]:
        """Yield each option of the help, with its spelling and text."""
        return _help_records(self.get_params(ctx), ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command. First raises ``InputError`` if an output is also an input, or is not writable."""
        for param in ctx.command.params:
            if isinstance(param.type, OutputPath):
                for output in _paths(ctx, param):
                    _require_no_loss(ctx, param, param.type, output)
                    _require_writable(param, param.type, output)
        return super().invoke(ctx)


def _require_no_loss(ctx: click.Context, param: click.Parameter, kind: OutputPath, output: Path) -> None:
    if output.is_file():
        read = [(other, path) for other in ctx.command.params if not _writes(other) for path in _paths(ctx, other)]
        require_other_file(output, _name(param), [(_name(other), path) for other, path in read], FileError)
        require_form(_name(param), output, kind.begins)


def _require_writable(param: click.Parameter, kind: OutputPath, output: Path) -> None:
    option = min(param.opts, key=len) if isinstance(param, click.Option) else _name(param)
    if kind.folder is not None:
        (require_writable_folder if kind.folder else require_writable)(output, option)


def _writes(param: click.Parameter) -> bool:
    return isinstance(param.type, OutputPath)


def _paths(ctx: click.Context, param: click.Parameter) -> Iterator[Path]:
    value = ctx.params.get(param.name or "")
    for one in value if isinstance(value, tuple) else (value,):
        if isinstance(one, Path):
            yield one
        elif isinstance(one, str) and isinstance(param, click.Argument) and "\0" not in one:
            yield Path(one)


def _name(param: click.Parameter) -> str:
    return max(param.opts, key=len) if isinstance(param, click.Option) else (param.name or "").upper()
