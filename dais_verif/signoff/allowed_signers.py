"""Find the owners of keys in an allowed signers file, parsed line by line as ``ssh-keygen -Y verify`` does.

    line    = principals [options] keytype key [comment]
    options = cert-authority | namespaces="pattern,!pattern" | valid-after="time" | valid-before="time", each once

A line that ``ssh-keygen`` cannot read makes the whole file invalid, since the line may be meant to revoke a permission.
"""

from __future__ import annotations

import base64
import binascii
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dais_verif.errors import CertificateError
from dais_verif.files import read_plain
from dais_verif.signoff.sshsig import NAMESPACE

__all__ = ["absolute_time", "principals"]

_MOST_BYTES = 16 << 20

_SPACE = " \t\r\n"
_KEY = re.compile(r"((?:ssh|ecdsa|sk)-[\w@.-]+)[ \t]+(\S+)(?:[ \t].*)?", re.DOTALL)
_OPTIONS = re.compile(r'((?:\\"|"(?:\\"|[^"])*"|[^" \t])+)[ \t]+')
_OPTION = re.compile(r'(cert-authority)|(namespaces|valid-after|valid-before)="((?:\\"|[^"])*)"', re.IGNORECASE)
_FORMS = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


@dataclass(frozen=True)
class _Line:
    """A line that names a key. ``options``: values by lower-case name; the value of a flag is empty."""

    principals: str
    options: dict[str, str]
    key: bytes


def principals(allowed: Path, key: bytes, when: datetime) -> list[str]:
    """Return the principals whom the file ``allowed`` permits to sign with ``key`` at the time ``when``; maybe none.

    Raises ``InputError`` if the file cannot be read, or has a line that ``ssh-keygen`` refuses.
    """
    text = read_plain(allowed, _MOST_BYTES, "allowed signers").decode(errors="surrogateescape")
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(_SPACE) or line.lstrip(_SPACE).startswith("#"):
            continue
        try:
            signer = _read(line.strip(_SPACE))
            if signer.key == key and _permits(signer.options, when):
                found += [name for name in signer.principals.split(",") if name]
        except ValueError as error:
            raise CertificateError(f"allowed signers {str(allowed)!r}, line {number}: {error}") from None
    return found


def _read(line: str) -> _Line:
    names, rest = _principals(line)
    found, options = _KEY.fullmatch(rest), ""
    if found is None:
        given = _OPTIONS.match(rest)
        if given is not None:
            options = given[1]
            found = _KEY.fullmatch(rest, given.end())
    if found is None:
        raise ValueError("must be: principals [options] keytype key")
    return _Line(names, dict(_options(options)), _key(*found.groups()))


def _principals(line: str) -> tuple[str, str]:
    """Return the principals, which are in quotes if they contain spaces, and the rest of the line."""
    end = next((place for place, letter in enumerate(line) if letter in _SPACE + '"'), len(line))
    if line[end : end + 1] != '"':
        return line[:end], line[end:].lstrip(_SPACE)
    close = line.find('"', end + 1)
    if close < 0:
        raise ValueError("its principals begin with a quote that is not closed")
    return line[:end] + line[end + 1 : close], line[close + 1 :].lstrip(_SPACE)


def _key(kind: str, text: str) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError("its key is not base64") from None
    size = int.from_bytes(key[:4], "big")
    if key[4 : 4 + size] != kind.encode():
        raise ValueError(f"its key is not of type {kind}, which it names")
    return key


def _options(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and value of every option. Unknown options are errors, since they may restrict the use of the key."""
    place, seen = 0, set[str]()
    while text:
        found = _OPTION.match(text, place)
        if found is None:
            raise ValueError(f"option {text[place : place + 40]!r} is not one that allowed signers files have")
        name = (found[1] or found[2]).lower()
        if name in seen and found[3] is not None:
            raise ValueError(f"it has {name} twice")
        seen.add(name)
        yield name, (found[3] or "").replace('\\"', '"')
        place = found.end()
        if place == len(text):
            return
        if text[place] != "," or place + 1 == len(text):
            raise ValueError(f"option {text[place:][:40]!r} is not one that allowed signers files have")
        place += 1


def _permits(options: dict[str, str], when: datetime) -> bool:
    limits = {name: absolute_time(options[name]) for name in ("valid-after", "valid-before") if name in options}
    after, before = limits.get("valid-after"), limits.get("valid-before")
    if after is not None and before is not None and before <= after:
        raise ValueError("valid-before is before valid-after")
    if "cert-authority" in options:
        return False  # an authority signs keys, not messages
    if "namespaces" in options and not _in_list(NAMESPACE, options["namespaces"]):
        return False
    return (after is None or when >= after) and (before is None or when <= before)


def _in_list(name: str, patterns: str) -> bool:
    """Return True if one of ``patterns`` matches ``name``, and no pattern after an exclamation mark matches it."""
    found = False
    for pattern in patterns.split(","):
        if _matches(name, pattern.removeprefix("!")):
            if pattern.startswith("!"):
                return False
            found = True
    return found


def _matches(name: str, pattern: str) -> bool:
    """Return True if ``pattern``, in which only ``*`` and ``?`` are special, matches ``name``.

    This takes linear time per star, since a later star never backtracks past an earlier one.
    """
    place, at, star, resume = 0, 0, -1, 0
    while place < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, resume, at = at, place, at + 1
        elif at < len(pattern) and pattern[at] in ("?", name[place]):
            place, at = place + 1, at + 1
        elif star >= 0:
            resume += 1
            place, at = resume, star + 1
        else:
            return False
    return not pattern[at:].strip("*")


def absolute_time(text: str) -> datetime:
    """Return the time in a text such as 20270131, 202701311200 or 20270131120000: local time, or UTC if it ends in Z.

    Raises ``ValueError`` if ``text`` is not a time.
    """
    digits = text[:-1] if text[-1:] in ("Z", "z") else text
    form = _FORMS.get(len(digits))
    if form is None or not digits.isascii() or not digits.isdigit():
        raise ValueError(f"{text!r} is not a time like 20270131 or 202701311200Z")
    try:
        found = datetime.strptime(digits, form)
        if digits is not text:
            return found.replace(tzinfo=UTC)
        # As in ssh-keygen: if the clock was set back, the C library chooses one of the two hours.
        return datetime.fromtimestamp(time.mktime(found.timetuple()), UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is not a time like 20270131 or 202701311200Z") from None
