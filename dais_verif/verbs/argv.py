"""Turn a request into command line arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = ["option_words"]


def option_words(valued: Mapping[str, object], flags: Mapping[str, bool], inputs: Iterable[Path] = ()) -> list[str]:
    """Return arguments: ``inputs``, options in ``valued`` whose values are not None, and ``flags`` that are True."""
    words = [word for path in inputs for word in ("--inputs", str(path))]
    words += [word for option, value in valued.items() if value is not None for word in (option, str(value))]
    return [*words, *(option for option, asked in flags.items() if asked)]
