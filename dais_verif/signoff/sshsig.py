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
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dais_verif.errors import CertificateError
from dais_verif.files import read_plain
from dais_verif.passphrase import PASSPHRASE, passphrase

__all__ = ["NAMESPACE", "Signature", "fingerprint", "load_key", "read_signature", "sign"]

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
