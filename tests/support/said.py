"""Messages whose wording no test asserts: the session compares them with ``tests/recorded/messages``.

A test asserts the class of an error, and calls ``raises`` or ``as_recorded`` for its text. A reworded message then
fails no test: the session ends with a list of what differs from the recorded messages, which ``make recorded`` updates.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "recorded" / "messages"

#: What varies between runs and machines, and what is recorded in its place.
_VARYING = {
    re.escape(sys.prefix): "VENV",
    re.escape(str(ROOT)): "ROOT",
    r"(?:(?:\.\./)*\.\.)?/tmp/pytest-of-\w+/pytest-\d+/(?:popen-gw\d+/)?[^/\s'\":,;)]*": "TMP",
    r"/tmp/tmp\w+|/\S*/dais-verif-\w{8}\b": "TMP",
    r"(?<=127\.0\.0\.1:)\d+": "PORT",
    r"/dev/pts/\d+": "PORT",
    r"0x[0-9a-f]{8,}": "ADDRESS",
    r"\b[0-9a-f]{32,}\b": "HASH",
    r"\bSHA256:[A-Za-z0-9+/]{43}": "SHA256:KEY",
    r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00": "TIME",
    r"\b\d+(?:\.\d+)? ?(ms|s|seconds|min)\b": r"N \1",
    r"\bpython3?\.\d+\b": "python3",
    # What Python, zlib and numpy say has other words in other versions.
    r"\bJSON: (?!JSON)[^;]*(?=; the file is damaged)": "JSON: THEIRS",
    r"(?<=not JSON: )[^;]*(?=; write)": "THEIRS",
    r"(?<=not JSON) \(.*?\)(?=;|$)": " (THEIRS)",
    r"(?<=not valid TOML: ).*": "THEIRS",
    r"\bError -3 [^;]*": "THEIRS",
    r"(?<=readable CSV) \(.*\)|(?<=readable \.np[yz] file) \(.*\)": " (THEIRS)",
    r"Exceeds the limit \(4300 digits\).*": "THEIRS",
}

#: The messages of each test that has run, by the name of its file and its own.
_SAID: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
_RUNNING: list[tuple[str, str]] = []


def as_recorded(text: object) -> None:
    """Compare ``text`` with the recorded message of the running test, at the end of the session."""
    plain = str(text)
    for varying, word in _VARYING.items():
        plain = re.sub(varying, word, plain)
    file, name = _RUNNING[-1]
    _SAID[file][name].append(plain)


@contextmanager
def raises(kind: Any, match: str | None = None) -> Iterator[pytest.ExceptionInfo[Any]]:
    """Assert that the block raises ``kind``, and compare its message with the recorded one.

    ``match``: what the message must have, whatever its wording: names and numbers.
    """
    with pytest.raises(kind, match=match or None) as caught:
        yield caught
    as_recorded(caught.value)


def begin(item: pytest.Item) -> None:
    """Make ``item`` the running test."""
    file, _, name = item.nodeid.removeprefix("tests/").partition("::")
    _RUNNING[:] = [(file, name)]


def says(item: pytest.Item) -> bool:
    """Return whether ``item``, or a function that it calls, may call ``as_recorded`` or ``raises``.

    The functions are those of its module and of its class.
    """
    module = getattr(item, "module", None)
    names = _names(getattr(getattr(item, "function", None), "__code__", None))
    for name in tuple(names):
        for place in (module, getattr(item, "cls", None)):
            names |= _names(getattr(getattr(place, name, None), "__code__", None))
    return any(getattr(module, name, None) is one for name in names for one in (as_recorded, raises))


def _names(code: Any) -> set[str]:
    if code is None:
        return set()
    return set(code.co_names).union(*(_names(one) for one in code.co_consts if hasattr(one, "co_names")))


def collected() -> dict[str, dict[str, list[str]]]:
    """Return the messages of this process, as data that processes can exchange."""
    return {file: dict(tests) for file, tests in _SAID.items()}


def differences(found: dict[str, dict[str, list[str]]], passed: set[tuple[str, str]]) -> list[str]:
    """Return the messages of ``found`` that differ from the recorded ones, for tests that have ``passed``."""
    lines = []
    for file, name in sorted(passed):
        was, now = recorded(file).get(name, []), found.get(file, {}).get(name, [])
        if was != now:
            lines += [f"{file}::{name}", *(f"  - {text}" for text in was if text not in now)]
            lines += [f"  + {text}" for text in now if text not in was]
    return lines


def record(found: dict[str, dict[str, list[str]]], passed: set[tuple[str, str]]) -> None:
    """Write the messages of the tests that have ``passed``, and drop those of functions that are gone."""
    for file in sorted({file for file, _ in passed}):
        source = (ROOT / "tests" / file).read_text(encoding="utf-8")
        kept = {name: texts for name, texts in recorded(file).items() if f"def {_function(name)}(" in source}
        for name in (name for of, name in passed if of == file):
            kept.pop(name, None)
            if texts := found.get(file, {}).get(name):
                kept[name] = texts
        place = RECORDED / file.replace(".py", ".txt")
        if kept:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("".join(_block(name, kept[name]) for name in sorted(kept)), encoding="utf-8")
        else:
            place.unlink(missing_ok=True)


def recorded(file: str) -> dict[str, list[str]]:
    """Return the recorded messages of a test file."""
    place = RECORDED / file.replace(".py", ".txt")
    if not place.exists():
        return {}
    found: dict[str, list[str]] = {}
    texts: list[str] = []
    for line in place.read_text(encoding="utf-8").split("\n")[:-1]:
        if line.startswith("  | "):
            texts[-1] += f"\n{line[4:]}"
        elif line.startswith("  > "):
            texts.append(line[4:])
        else:
            texts = found.setdefault(line, [])
    return found


def _block(name: str, texts: list[str]) -> str:
    return f"{name}\n" + "".join("  > " + text.replace("\r", "").replace("\n", "\n  | ") + "\n" for text in texts)


def _function(name: str) -> str:
    return re.split(r"\[", name.rpartition("::")[2] or name, maxsplit=1)[0].split("::")[-1]
