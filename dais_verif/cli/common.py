"""Options and helpers that the verbs share, so that the same thing is called the same everywhere."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import click
from rich.console import Console

from dais_verif.cli.keywords import KEYWORDS
from dais_verif.program import LAYOUTS, AssumedLayoutWarning, Program, load

__all__ = [
    # arguments and options
    "file_path",
    "json_option",
    "layout_option",
    "program_argument",
    "top_option",
    # helpers
    "console",
    "load_program",
    "notices",
]

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")


def _identifier(context: click.Context, option: click.Parameter, value: str) -> str:
    if not _IDENTIFIER.fullmatch(value) or value in KEYWORDS:
        raise click.BadParameter(f"{value!r} is no Verilog module name (letters, digits, _ and $, and no keyword).")
    return value


file_path = click.Path(path_type=Path)

program_argument = click.argument("program", type=file_path)
layout_option = click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    help="Layout of the binary; detected if not given.",
)
top_option = click.option("--top", default="model", show_default=True, callback=_identifier, help="Name of the module.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")


def console() -> Console:
    """Where results go."""
    return Console(highlight=False, soft_wrap=True)


def notices() -> Console:
    """Where progress and warnings go: stderr, so that stdout stays clean."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def load_program(path: Path, layout: str | None) -> tuple[Program, list[str]]:
    """The program and the warnings of reading it, which are also shown."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AssumedLayoutWarning)
        program = load(path, layout=layout)
    messages = [str(warning.message) for warning in caught]
    for message in messages:
        notices().print(f"warning: {message}", markup=False)
    return program, messages
