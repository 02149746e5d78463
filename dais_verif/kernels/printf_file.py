"""Messages of members in a TOML file: ``[printf]``, or ``[[printf]]`` where there are several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from reprlib import repr as _short
from typing import Any

from dais_verif.errors import InputError, KernelPrintfError
from dais_verif.kernels.printf_taps import PrintfTap

__all__ = ["read_taps"]

_KEYS = ("message", "op", "output", "raw")
#: The most messages of a member.
_MOST = 1 << 12
_NUMBERS = re.compile(r"(\d{1,9})\.\.(\d{1,9})", re.ASCII)


def read_taps(name: str, entries: Any) -> tuple[PrintfTap, ...]:
    """Return the messages that ``entries`` of file ``name`` state. Raises ``InputError``, which names file and key.

    ``op`` and ``output`` are a number, or a range such as ``"3..6"``: then the message is printed once for each number.
    """
    tables = [entries] if isinstance(entries, dict) else entries
    if not isinstance(tables, list) or not all(isinstance(entry, dict) for entry in tables):
        raise KernelPrintfError(f"{name}: printf must be a table, [printf], or several, [[printf]]")
    taps: list[PrintfTap] = []
    for number, entry in enumerate(tables):
        where = f"{name}: printf" + (f"[{number}]" if len(tables) > 1 else "")
        taps += _taps(where, entry, _MOST - len(taps))
    return tuple(taps)


def _taps(where: str, entry: dict[str, Any], room: int) -> Iterator[PrintfTap]:
    for key in entry:
        if key not in _KEYS:
            raise KernelPrintfError(f"{where}: {key!r} is not a key; known keys are {', '.join(_KEYS)}")
    message, raw = entry.get("message"), entry.get("raw", False)
    if not isinstance(message, str):
        raise KernelPrintfError(f"{where}: message is {_short(message)}, must be a string")
    if not isinstance(raw, bool):
        raise KernelPrintfError(f"{where}: raw is {_short(raw)}, must be true or false")
    values = {key: _numbers(f"{where}: {key}", entry[key]) for key in ("op", "output") if key in entry}
    if len(values) > 1:
        raise KernelPrintfError(f"{where}: op and output both select a value; give only one")
    key, numbers = next(iter(values.items()), ("op", [None]))
    if len(numbers) > room:
        raise KernelPrintfError(f"{where}: a member prints up to {_MOST} messages")
    for number in numbers:
        try:
            yield PrintfTap(
                message, raw=raw, op=number if key == "op" else None, output=number if key == "output" else None
            )
        except InputError as error:
            raise KernelPrintfError.of("{where}: {error}", where=where, error=error) from None


def _numbers(where: str, value: Any) -> range | list[None]:
    found = _NUMBERS.fullmatch(value) if isinstance(value, str) else None
    first, last = (int(found[1]), int(found[2])) if found else (value, value)
    if type(first) is not int or not 0 <= first <= last:
        raise KernelPrintfError(f"{where} is {_short(value)}, must be a number, 0 or more, or a range such as '3..6'")
    return range(first, last + 1)
