"""The console of the command line: text from names and messages never reaches the terminal as a control sequence."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from dais_verif.base.text import printable
from dais_verif.report.spoken import spoken

__all__ = ["SafeConsole"]


class SafeConsole(Console):
    """A console that prints text as it is: no markup, no emoji, and control characters escaped.

    Our line breaks are at the beginning or the end of the printed text; line breaks inside the text are escaped.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        color = spoken().color
        super().__init__(
            stderr=stderr,
            highlight=False,
            soft_wrap=True,
            markup=False,
            emoji=False,
            no_color=True if color == "never" else None,
            force_terminal=True if color == "always" and not stderr else None,
        )

    def print(self, *objects: Any, **options: Any) -> None:
        """Print ``objects`` as ``Console.print`` does."""
        super().print(*map(_safe, objects), **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return the text of a cell of a table."""
        return super().render_str(printable(text), **options)


def _safe(thing: Any) -> Any:
    if isinstance(thing, str):
        inner = thing.strip("\n")
        before, _, after = thing.partition(inner) if inner else (thing, "", "")
        return Text(f"{before}{printable(inner)}{after}")
    if isinstance(thing, Text) and thing.plain != printable(thing.plain):
        return Text(printable(thing.plain), style=thing.style)
    return thing
