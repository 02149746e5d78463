"""Signatures are as ssh-keygen makes and accepts them; any change to a signature or message is found."""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from hypothesis import given
from hypothesis import strategies as st
from support.said import raises

from dais_verif.base.errors import CertificateError, InputError
from dais_verif.base.passphrase import PASSPHRASE
from dais_verif.signoff.signatures import fingerprint, load_key, public_key, read_signature, sign

KEY, OTHER = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
MESSAGE = b'{"statement": "SIGNED OFF"}\n'
SIGNATURE = sign(MESSAGE, KEY)

KEYGEN = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


def save(key: Ed25519PrivateKey, path: Path, passphrase: bytes | None = None) -> Path:
    cipher = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    form = serialization.PrivateFormat.OpenSSH
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, cipher))
    path.chmod(0o600)
    return path


def signer_line(key: Ed25519PrivateKey, who: str = "ada@lab", options: str = "") -> str:
    text = base64.b64encode(public_key(key)).decode()
    return f"{who} {options + ' ' if options else ''}ssh-ed25519 {text} a comment\n"


def keygen(*arguments: object, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["ssh-keygen", *map(str, arguments)], input=given, capture_output=True, check=False)


def test_what_is_signed_is_accepted() -> None:
    assert read_signature(SIGNATURE, MESSAGE).key == public_key(KEY)
    assert max(map(len, SIGNATURE.splitlines())) <= 70


@given(st.binary(max_size=300))
def test_any_message(message: bytes) -> None:
    assert read_signature(sign(message, KEY), message).fingerprint == fingerprint(public_key(KEY))


@given(st.integers(0, len(MESSAGE) * 8 - 1))
def test_any_other_bit_of_the_message(bit: int) -> None:
    changed = bytearray(MESSAGE)
    changed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(CertificateError):
        read_signature(SIGNATURE, bytes(changed))


@pytest.mark.parametrize("position", range(0, len(SIGNATURE), 3))
def test_any_other_byte_of_the_signature(position: int) -> None:
    changed = bytearray(SIGNATURE)
    changed[position] ^= 0x03
    with pytest.raises(CertificateError):
        read_signature(bytes(changed), MESSAGE)


@pytest.mark.parametrize("cut", [0, 1, 40, 100, len(SIGNATURE) - 1])
def test_one_that_is_cut_short(cut: int) -> None:
    with pytest.raises(CertificateError):
        read_signature(SIGNATURE[:cut], MESSAGE)


@KEYGEN
def test_ssh_keygen_accepts_ours(tmp_path: Path) -> None:
    (tmp_path / "signers").write_text(signer_line(KEY))
    (tmp_path / "sig").write_bytes(SIGNATURE)
    arguments = (
        "-Y",
        "verify",
        "-f",
        tmp_path / "signers",
        "-I",
        "ada@lab",
        "-n",
        "dais-verif",
        "-s",
        tmp_path / "sig",
    )
    assert keygen(*arguments, given=MESSAGE).returncode == 0
    assert keygen(*arguments, given=MESSAGE + b"x").returncode != 0


@KEYGEN
@pytest.mark.parametrize("hash_name", ["sha512", "sha256"])
def test_we_accept_ssh_keygens(tmp_path: Path, hash_name: str) -> None:
    (tmp_path / "message").write_bytes(MESSAGE)
    key = save(KEY, tmp_path / "key")
    options = ("-Y", "sign", "-f", key, "-n", "dais-verif", "-O", f"hashalg={hash_name}", tmp_path / "message")
    done = keygen(*options)
    assert done.returncode == 0, done.stderr
    assert read_signature((tmp_path / "message.sig").read_bytes(), MESSAGE).key == public_key(KEY)


@KEYGEN
def test_what_was_signed_for_something_else(tmp_path: Path) -> None:
    (tmp_path / "message").write_bytes(MESSAGE)
    assert keygen("-Y", "sign", "-f", save(KEY, tmp_path / "key"), "-n", "git", tmp_path / "message").returncode == 0
    with pytest.raises(CertificateError, match=r"'git'.*'dais-verif'"):
        read_signature((tmp_path / "message.sig").read_bytes(), MESSAGE)


# keys


@KEYGEN
def test_keys_that_ssh_keygen_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, words in (("open", ""), ("closed", "open sesame")):
        assert keygen("-q", "-t", "ed25519", "-N", words, "-f", tmp_path / name).returncode == 0
    monkeypatch.setenv(PASSPHRASE, "open sesame")
    for name in ("open", "closed"):
        text = (tmp_path / f"{name}.pub").read_text().split()[1]
        assert public_key(load_key(tmp_path / name)) == base64.b64decode(text)


def test_an_encrypted_key_asks_or_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(KEY, tmp_path / "key", b"sesame")
    monkeypatch.delenv(PASSPHRASE, raising=False)
    with raises(InputError):
        load_key(path)
    with raises(InputError, match="passphrase"):
        load_key(path, lambda prompt: "open")
    assert public_key(load_key(path, lambda prompt: "sesame")) == public_key(KEY)


def test_what_is_no_key(tmp_path: Path) -> None:
    rsa = generate_private_key(65537, 2048)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    for name, data, says in (
        ("rsa", rsa.private_bytes(*form), "Ed25519 key"),
        ("text", b"hello\n", ""),
        ("cut", save(KEY, tmp_path / "key").read_bytes()[:150], ""),
    ):
        (tmp_path / name).write_bytes(data)
        with raises(CertificateError, match=says):
            load_key(tmp_path / name)
    with pytest.raises(InputError, match="No such file"):
        load_key(tmp_path / "none")
