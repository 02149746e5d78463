"""Options and helpers that the verbs share, so that the same option has the same name and help everywhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dais_verif.base.errors import DaisError
from dais_verif.base.own_command import own_command
from dais_verif.doors.cli.verb import FiniteRange, Option, OutputPath
from dais_verif.report.spoken import spoken
from dais_verif.spec.program import ALL_LAYOUTS
from dais_verif.verbs.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from dais_verif.report.html.sources import Document
    from dais_verif.spec.program import Program

__all__ = [
    # arguments and options
    "file_path",
    "html_option",
    "json_option",
    "layout_option",
    "program_argument",
    "sandbox_option",
    # helpers
    "all_cpus",
    "ShownWarnings",
    "console",
    "output_folder",
    "output_path",
    "page_path",
    "parsed_by",
    "seconds",
    "notices",
    "option_of",
    "output_option",
    "reproduce",
    "show_record",
    "show_run",
    "tell_written",
    "write_page",
]


def all_cpus(context: click.Context, option: click.Parameter, value: int | None) -> int | None:
    """Return the number of threads to use; None leaves the number to the environment variable."""
    return value if value is not None or "DAIS_VERIF_THREADS" in os.environ else len(os.sched_getaffinity(0))


def _sandbox(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        from dais_verif.verbs.sandbox import confine_tools

        confine_tools()


def parsed_by(parse: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback that parses the value of an option with ``parse``; its ``ValueError`` becomes a usage error."""

    def callback(context: click.Context, option: click.Parameter, value: Any) -> Any:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return callback


file_path = click.Path(path_type=Path)
output_path = OutputPath()
output_folder = OutputPath(folder=True)
page_path = OutputPath(b"<!doctype html", needs="jinja2")
seconds = FiniteRange(min=0, min_open=True)

#: Declares an option of the command line alone: where results go, and how they are shown.
output_option = partial(click.option, cls=Option, group="Output")

program_argument = click.argument("program", type=file_path)
layout_option = click.option(
    "--layout",
    type=click.Choice(ALL_LAYOUTS),
    help="Layout of the binary; detected if not given.",
)
json_option = output_option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
html_option = output_option("--html", type=page_path, help="Also write the record as an HTML page (see report).")
sandbox_option = click.option(
    "--sandbox",
    cls=Option,
    group="Limits",
    rare=True,
    is_flag=True,
    expose_value=False,
    callback=_sandbox,
    help="Run tools in bubblewrap: no network, write access to the folder of the run only.",
)


#: Options whose name differs from that of the argument.
_OPTIONS: Final = {
    "bram=False": "--no-bram",
    "configurations": "CONFIGURATIONS",
    "judges": "--judge",
    "output": "-o",
    "pairs": "--pair",
    "parameters": "--param",
    "paths": "PATHS",
    "program": "PROGRAM",
    "seeds": "--seed",
    "simulators": "--sim",
}


def option_of(argument: str) -> str:
    """Return the option for ``argument`` of a function, such as ``--max-depth`` for ``max_depth``."""
    return _OPTIONS.get(argument) or f"--{argument.replace('_', '-')}"


def console() -> Console:
    """Return the console for results: stdout."""
    from dais_verif.report.safe_console import SafeConsole  # imported late, since simulations start simulators first

    return SafeConsole()


def notices() -> Console:
    """Return the console for progress and warnings: stderr, so that stdout only has results."""
    from dais_verif.report.safe_console import SafeConsole

    return SafeConsole(stderr=True)


def show_record(record: Any, as_json: bool, text: Callable[[], None]) -> int:
    """Print a record as JSON, or as text by calling ``text``, and return the exit code."""
    if as_json:
        click.echo(record.to_json())
    else:
        text()
    code: int = record.verdict.exit_code
    return code


def show_run(done: Any, as_json: bool, html: Path | None, text: Callable[[], None]) -> int:
    """Show the record of a run that may have kept a folder, and write the page if requested."""

    def with_folder() -> None:
        text()
        if done.folder is not None:
            console().print(f"files      {done.folder}", markup=False)

    code = show_record(done.record, as_json, with_folder)
    if html is not None:
        write_page(done.record, done.program, html, done.folder and done.folder / "result.json")
    return code


def tell_written(path: Path, what: str) -> None:
    """Print on stderr that ``path`` was written, and its content ``what``."""
    if spoken().quiet:
        return
    notices().print(f"wrote {path}: {what}")


def write_page(record: Document, program: Program | None, page: Path, kept: Path | None) -> None:
    """Write ``record`` as an HTML page. ``kept``: the file of the record, if any."""
    from dais_verif.report.html import Source, write_report
    from dais_verif.report.html.sources import program_of
    from dais_verif.report.html.stored import machine_of

    info = program_of(record)
    write_report([Source(record, kept)], program or (None if info is None else machine_of(info)), page)
    tell_written(page, "the record as a page")


class ShownWarnings(Progress):
    """A listener that only shows the warnings of a flow."""

    def warning(self, text: str) -> None:
        """Print a warning."""
        notices().print(f"warning: {text}", markup=False)

    def spelled(self, error: DaisError) -> str:
        """Return the message of an error with arguments named by their options."""
        return error.spelled(option_of)


def reproduce(arguments: Sequence[str] | None = None, more: Sequence[str] = ()) -> str:
    """Return the given command, or one with other ``arguments``, and with ``more`` options added, for users to copy.

    The command reproduces the run, since generated vectors only depend on the seed, their number and the programs.
    """
    given = list(click.get_current_context().obj if arguments is None else arguments)
    options = given.index("--") if "--" in given else len(given)
    return own_command([*given[:options], *more, *given[options:]])
