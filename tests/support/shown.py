"""Commands that pages show, in blocks and within sentences, and a check of each against the real command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from dais_verif.doors.cli.main import cli
from dais_verif.doors.cli.verb import TwoForms

__all__ = ["PAGES", "ROOT", "Shown", "commands_of", "fault_of", "python_of"]

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "examples/README.md")]
PAGES += sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples" / "ci").iterdir()])

_COMMAND = re.compile(
    r"(`|^ *(?:\$ )?|[|;&] |(?:run:|do) |\d=\S+ )(?:\.venv/bin/)?dais-verif ([a-z](?:[^\n`\\]|\\\n)*)", re.MULTILINE
)
#: The end of a command: a comment, a second column, another command or a redirection.
_END = re.compile(r"\s#|\s{3,}|;|&&|\||\s2?>")
_CONTEXT = click.Context(cli)


class Shown(NamedTuple):
    """A command without ``dais-verif``, and without redirections and pipes."""

    command: str
    #: Whether the command is mentioned in a sentence, where it need not name its files.
    mentioned: bool


def commands_of(text: str) -> Iterator[Shown]:
    """Yield each command of a page."""
    for match in _COMMAND.finditer(text):
        line = re.sub(r"\$\{\{.*?\}\}", "1", re.sub(r" *\\\n *", " ", match[2]))
        yield Shown(_END.split(line)[0].strip(), match[1] == "`")


def python_of(text: str) -> list[str]:
    """Return the Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def fault_of(shown: Shown) -> str | None:
    """Return the error of the command line for a command, found without opening any file; None if it is right."""
    try:
        words = shlex.split(shown.command)
    except ValueError as error:
        return str(error)
    verb = words.pop(0)
    found = cli.get_command(_CONTEXT, verb)
    if isinstance(found, click.Group) and words:
        verb = f"{verb} {words[0]}"
        found = found.get_command(_CONTEXT, words.pop(0))
    if found is None:
        return f"no verb {verb}"
    if isinstance(found, click.Group):
        return None
    if isinstance(found, TwoForms) and found.flag in words:
        found = found.other
    try:
        _judge(found, words, files=not shown.mentioned)
    except click.ClickException as error:
        return error.format_message()
    return None


def _judge(command: click.Command, words: list[str], files: bool) -> None:
    """Raise a ``ClickException`` if ``words`` do not fit ``command``. ``files``: required arguments must be there."""
    context = click.Context(command)
    values, rest, _ = command.make_parser(context).parse_args(list(words))
    if rest:
        raise click.UsageError(f"unexpected {rest}", context)
    for param in command.params:
        value = values.get(param.name or "")
        empty = not isinstance(value, (str, list, tuple)) or len(value) == 0
        if files and empty and isinstance(param, click.Argument) and param.required:
            raise click.MissingParameter(ctx=context, param=param)
        if not empty and not isinstance(param.type, click.Path):
            param.type_cast_value(context, value)
