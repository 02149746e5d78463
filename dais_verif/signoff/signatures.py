"""Make and verify signatures as ``ssh-keygen -Y sign`` makes them (SSHSIG), with Ed25519 keys, without ssh.

    blob    = "SSHSIG" version=1 publickey namespace reserved hash-name signature
    signed  = "SSHSIG" namespace reserved hash-name hash(message)

Every field is a four-byte length followed by that many bytes, as everywhere in ssh. ``ssh-keygen -Y verify`` accepts
our signatures, and we accept those of ``ssh-keygen -Y sign``.

The package ``sshsig`` is not used: it accepts armour with other text around it, bytes after the blob, and one changed
byte in twenty of a signature (docs/developers/internals.md).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dais_verif.base.errors import CertificateError, InputError
from dais_verif.base.files import read_plain
from dais_verif.base.passphrase import PASSPHRASE, passphrase
from dais_verif.record.signoff import CertificateFinding
from dais_verif.signoff.certificate import SIGNATURE, Certificate

__all__ = [
    "NAMESPACE",
    "Signature",
    "Trust",
    "absolute_time",
    "check_signature",
    "fingerprint",
    "load_key",
    "principals",
    "read_signature",
    "sign",
]


#: The purpose of our signatures, so that a signature made for another purpose is not accepted.
NAMESPACE = "dais-verif"

_MAGIC, _VERSION = b"SSHSIG", 1
_ALGORITHM = b"ssh-ed25519"
_HASHES: dict[bytes, Callable[[bytes], hashlib._Hash]] = {b"sha512": hashlib.sha512, b"sha256": hashlib.sha256}
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_LINE = 70

#: The maximum size of files of keys and signatures, which are small.
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Signature:
    """A valid signature: ``key`` signed the message. The owner of the key is not known here."""

    key: bytes

    @property
    def fingerprint(self) -> str:
        """The fingerprint as ``ssh-keygen -l`` shows it."""
        return fingerprint(self.key)


def fingerprint(key: bytes) -> str:
    """Return the fingerprint of a public key in ssh's format."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")


# signing


def load_key(path: Path, ask: Callable[[str], str] | None = None) -> Ed25519PrivateKey:
    """Read the private key in ``path``, in OpenSSH's format.

    ``ask``: asks the user for the passphrase if the environment has none. Raises ``InputError`` if the file does not
    hold an Ed25519 key, or cannot be read.
    """
    data = read_plain(path, _MOST_BYTES, "key")
    encrypted, words = _is_encrypted(data), None
    if encrypted:
        words = passphrase() or (ask(f"passphrase of {path}: ") if ask else None)
        if not words:
            raise CertificateError(
                f"key {str(path)!r} needs a passphrase; set {PASSPHRASE}, or call it from a terminal"
            )
    try:
        key = serialization.load_ssh_private_key(data, words.encode() if words else None)
    except (ValueError, UnsupportedAlgorithm, TypeError) as error:
        why = "the passphrase is wrong" if encrypted else str(error) or "it is damaged"
        raise CertificateError(f"key {str(path)!r} cannot be used: {why}; `ssh-keygen -t ed25519` makes one") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise CertificateError(f"key {str(path)!r} is not an Ed25519 key; `ssh-keygen -t ed25519` makes one")
    return key


def _is_encrypted(data: bytes) -> bool:
    """Return True if ``data`` is a key in OpenSSH's format that is encrypted; the first field names the cipher."""
    body = b"".join(line for line in data.splitlines() if not line.startswith(b"-----"))
    try:
        raw = base64.b64decode(body, validate=True)
    except ValueError:
        return False
    magic = b"openssh-key-v1\0"
    return raw.startswith(magic) and not raw[len(magic) :].startswith(_field(b"none"))


def public_key(key: Ed25519PrivateKey) -> bytes:
    """Return the public key in ssh's format."""
    raw = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return _field(_ALGORITHM) + _field(raw)


def sign(message: bytes, key: Ed25519PrivateKey) -> bytes:
    """Return the signature of ``message`` as the content of a signature file."""
    signed = _signed(message, NAMESPACE.encode(), b"", b"sha512")
    signature = _field(_ALGORITHM) + _field(key.sign(signed))
    blob = _MAGIC + _VERSION.to_bytes(4, "big") + _field(public_key(key))
    blob += _field(NAMESPACE.encode()) + _field(b"") + _field(b"sha512") + _field(signature)
    text = base64.b64encode(blob).decode()
    lines = [text[k : k + _LINE] for k in range(0, len(text), _LINE)]
    return "\n".join([_BEGIN, *lines, _END, ""]).encode()


def _signed(message: bytes, namespace: bytes, reserved: bytes, name: bytes) -> bytes:
    digest = _HASHES[name](message).digest()
    return _MAGIC + _field(namespace) + _field(reserved) + _field(name) + _field(digest)


def _field(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


# verifying


def read_signature(text: bytes, message: bytes) -> Signature:
    """Return the signature in ``text``. Raises ``InputError`` unless it is valid for ``message`` and our namespace."""
    blob = _Reader(_dearmoured(text))
    if blob.take(len(_MAGIC)) != _MAGIC or int.from_bytes(blob.take(4), "big") != _VERSION:
        _refuse("it is not an SSHSIG of version 1")
    key, namespace, reserved, name = (blob.field() for _ in range(4))
    signature = _Reader(blob.field())
    blob.end()
    if namespace != NAMESPACE.encode():
        _refuse(f"it was made for {namespace.decode(errors='replace')!r}, must be for {NAMESPACE!r}")
    if name not in _HASHES:
        _refuse(f"its hash is {name.decode(errors='replace')!r}, must be sha512 or sha256")
    public = _Reader(key)
    if public.field() != _ALGORITHM or signature.field() != _ALGORITHM:
        _refuse("it was not made by an Ed25519 key")
    raw, value = public.field(), signature.field()
    public.end()
    signature.end()
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(value, _signed(message, namespace, reserved, name))
    except (InvalidSignature, ValueError):
        _refuse("it was not made for these bytes, or not by this key")
    return Signature(key)


def _dearmoured(text: bytes) -> bytes:
    lines = text.decode("ascii", errors="replace").split("\n")
    if lines[0] != _BEGIN or lines[-2:] != [_END, ""]:
        _refuse("it does not begin and end as an SSH SIGNATURE does")
    body = "".join(lines[1:-2])
    try:
        blob = base64.b64decode(body, validate=True)
    except ValueError:
        _refuse("it is not base64")
    if base64.b64encode(blob).decode() != body:
        _refuse("it is not base64 in the form that tools write")
    return blob


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def take(self, count: int) -> bytes:
        if count > len(self._data):
            _refuse("it is cut short")
        taken, self._data = self._data[:count], self._data[count:]
        return taken

    def field(self) -> bytes:
        return self.take(int.from_bytes(self.take(4), "big"))

    def end(self) -> None:
        if self._data:
            _refuse("data follows it")


def _refuse(why: str) -> NoReturn:
    raise CertificateError(f"the signature is not valid: {why}")


# The signer of a certificate, and the check that the signer is allowed.


@dataclass(frozen=True)
class Trust:
    """The file of ``allowed`` signers, in the format of ``ssh-keygen``.

    ``when``: the time of the signature, if a trusted source gives it. The time in the certificate is only the signer's
    claim: the owner of an expired key may write any time there.
    """

    allowed: Path
    when: datetime | None = None


def check_signature(
    certificate: Certificate, folder: Path, data: bytes, trust: Trust | None
) -> tuple[list[CertificateFinding], list[str]]:
    """Return findings that invalidate the signature of ``data``, the bytes of ``certificate``; and notes on it."""
    path = folder / SIGNATURE
    if not path.exists():
        if certificate.signer or trust is not None:
            return [CertificateFinding(SIGNATURE, f"a signature by {certificate.signer or 'a signer'}", "none")], []
        return [], ["it is not signed: anyone who can write its files can forge it"]
    try:
        signature = read_signature(read_plain(path, _MOST_BYTES, "signature"), data)
        when = (trust and trust.when) or datetime.now(UTC)
        who = principals(trust.allowed, signature.key, when) if trust else []
    except InputError as error:
        return [CertificateFinding(SIGNATURE, "a valid signature", str(error))], []
    name = signature.fingerprint
    if name != certificate.signer:
        return [
            CertificateFinding(SIGNATURE, f"a signature by {certificate.signer or 'no signer'}", f"one by {name}")
        ], []
    if trust is None:
        return [], [f"signed by {name}; give --allowed-signers to check who that is"]
    time = when.isoformat(timespec="seconds")
    if not who:
        return [
            CertificateFinding(
                SIGNATURE, f"a signer that {trust.allowed} allows at {time}", f"{name}, which it does not"
            )
        ], []
    now = "" if trust.when else ": its time of signing is not confirmed by a trusted source (--verify-time)"
    return [], [f"signed by {', '.join(who)} ({name})", f"the key was judged as of {time}{now}"]


# Find the owners of keys in an allowed signers file, parsed line by line as ``ssh-keygen -Y verify`` does.
#
#     line    = principals [options] keytype key [comment]
#     options = cert-authority | namespaces="pattern,!pattern" | valid-after="time" | valid-before="time", each once
#
# A line that ``ssh-keygen`` cannot read makes the whole file invalid, since the line may be meant to revoke a
# permission.


_MOST_BYTES_OF_ALLOWED_SIGNERS = 16 << 20

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
    text = read_plain(allowed, _MOST_BYTES_OF_ALLOWED_SIGNERS, "allowed signers").decode(errors="surrogateescape")
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if "\0" in line:  # ssh-keygen, a program in C, reads a line only up to it
            raise CertificateError(f"allowed signers {str(allowed)!r}, line {number}: remove its NUL character")
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
