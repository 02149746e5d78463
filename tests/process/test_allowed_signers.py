"""Each line of an allowed signers file means what ``ssh-keygen -Y verify`` takes it to mean."""

from __future__ import annotations

import base64
import shutil
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from support.said import raises

from dais_verif.base.errors import CertificateError, InputError
from dais_verif.signoff.signatures import absolute_time, principals, public_key, sign

KEY, OTHER = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
MESSAGE = b'{"statement": "SIGNED OFF"}\n'
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def line(who: str = "ada@lab", options: str = "", key: Ed25519PrivateKey = KEY, kind: str = "ssh-ed25519") -> str:
    text = base64.b64encode(public_key(key)).decode()
    return f"{who} {options + ' ' if options else ''}{kind} {text} a comment\n"


#: Contents of a file, and whether KEY may sign for ada@lab at NOW. Every process generates new keys, so the contents
#: differ between processes, and the names serve as ids of the tests.
FILES: dict[str, tuple[str, bool]] = {
    "alone": (line(), True),
    "patterns": (line("ada@lab,*@fab"), True),
    "a comment, an empty line": (f"# {line(key=OTHER)}\n\n \t{line()}", True),
    "only a comment": (f"# {line()}", False),
    "another key": (line(key=OTHER), False),
    "the second line": (line(key=OTHER) + line(), True),
    "tabs": (line().replace(" ", "\t"), True),
    "dos": (line().replace("\n", "\r\n"), True),
    "no principals": (line(""), False),
    "quoted": (line('"ada@lab"'), True),
    "quoted in the middle": (line('ada"@lab"'), True),
    "a quote that is not closed": (line('"ada@lab'), False),
    # namespaces
    "our namespace": (line(options='namespaces="dais-verif"'), True),
    "a pattern": (line(options='namespaces="git,dais-*"'), True),
    "another namespace": (line(options='namespaces="git"'), False),
    "all but ours": (line(options='namespaces="!dais-verif,*"'), False),
    "all but ours, said last": (line(options='namespaces="*,!dais-verif"'), False),
    "all but another": (line(options='namespaces="!git,*"'), True),
    "not another, and no more": (line(options='namespaces="!git"'), False),
    "no brackets in patterns": (line(options='namespaces="dais-[v]erif"'), False),
    "question marks": (line(options='namespaces="dais?ver??"'), True),
    "spaces count": (line(options='namespaces="git, dais-verif"'), False),
    "an empty list": (line(options='namespaces=""'), False),
    "upper case of an option": (line(options='NameSpaces="git"'), False),
    "upper case of a namespace": (line(options='namespaces="DAIS-VERIF"'), False),
    # every option at most once
    "namespaces twice, ours first": (line(options='namespaces="dais-verif",namespaces="git"'), False),
    "namespaces twice, ours last": (line(options='namespaces="git",namespaces="dais-verif"'), False),
    "an end twice": (line(options='valid-before="20200101",valid-before="20300101"'), False),
    "a beginning twice": (line(options='valid-after="20300101",valid-after="20200101"'), False),
    # times
    "in time": (line(options='valid-after="20261120",valid-before="20261123Z"'), True),
    "too early": (line(options='valid-after="202611211201Z"'), False),
    "at once": (line(options='valid-after="20261121120000Z"'), True),
    "at the last second": (line(options='valid-before="20261121120000Z"'), True),
    "a second too late": (line(options='valid-before="20261121115959Z"'), False),
    "late, in small letters": (line(options='valid-before="20261121115959z"'), False),
    "an end before the beginning": (line(options='valid-after="20261120",valid-before="20261119"'), False),
    "no time": (line(options='valid-before="soon"'), False),
    "a digit short": (line(options='valid-before="2030101"'), False),
    "month 13": (line(options='valid-before="20301301"'), False),
    # what ssh-keygen does not know
    "an authority": (line(options="cert-authority"), False),
    "an unknown option": (line(options='from="lab"'), False),
    "an unknown option beside": (line(options='namespaces="dais-verif",verify-required'), False),
    "a comma at the end": (line(options='namespaces="dais-verif",'), False),
    "no comma": (line(options='namespaces="dais-verif"valid-before="20300101"'), False),
    "an option without quotes": (line(options="namespaces=dais-verif"), False),
    "another type of key": (line(kind="ssh-rsa"), False),
    "an unknown type": (line(kind="ssh-nothing"), False),
    "no key": ("ada@lab\n", False),
    "a key that is no base64": ("ada@lab ssh-ed25519 ***\n", False),
    # characters that do not end a line, so that no new line begins after them
    "a form feed in a comment": (f"# old\x0c{line()}", False),
    "a line separator in a comment": (f"# old\u2028{line()}", False),
    "a carriage return in a comment": (f"# old\r{line()}", False),
}


def allows(path: Path, when: datetime = NOW) -> bool:
    try:
        return "ada@lab" in principals(path, public_key(KEY), when)
    except InputError:
        return False


@pytest.mark.parametrize("name", FILES)
def test_what_a_file_allows(name: str, tmp_path: Path) -> None:
    text, expected = FILES[name]
    (tmp_path / "signers").write_bytes(text.encode())
    assert allows(tmp_path / "signers") is expected


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
@pytest.mark.parametrize("name", FILES)
def test_ssh_keygen_says_the_same(name: str, tmp_path: Path) -> None:
    text, expected = FILES[name]
    (tmp_path / "signers").write_bytes(text.encode())
    (tmp_path / "sig").write_bytes(sign(MESSAGE, KEY))
    verify = ["ssh-keygen", "-Y", "verify", "-I", "ada@lab", "-n", "dais-verif", "-O", "verify-time=20261121120000Z"]
    done = subprocess.run(
        [*verify, "-f", str(tmp_path / "signers"), "-s", str(tmp_path / "sig")],
        input=MESSAGE,
        capture_output=True,
        check=False,
    )
    assert (done.returncode == 0) is expected, done.stderr


def test_who_it_is(tmp_path: Path) -> None:
    path = tmp_path / "signers"
    path.write_text(line('"ada lovelace,ada"') + line("bob,*@fab"))
    assert principals(path, public_key(KEY), NOW) == ["ada lovelace", "ada", "bob", "*@fab"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ada@lab", "line 1"),
        ("ada ssh-ed25519 ***", "base64"),
        (line(options='valid-after="soon"'), r"'soon'.*time"),
        (line(key=OTHER) + line(options='namespaces="*",namespaces="git"'), "line 2"),
        (line(options='from="lab"'), "'from=\"lab\"'.*allowed signers files"),
        (line(kind="ssh-rsa"), "type ssh-rsa"),
    ],
    ids=["short", "base64", "time", "twice", "unknown", "type"],
)
def test_a_file_that_cannot_be_understood(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "signers").write_text(text)
    with raises(CertificateError, match=says):
        principals(tmp_path / "signers", public_key(KEY), NOW)


def test_a_bad_line_is_never_passed_over(tmp_path: Path) -> None:
    """A line that ssh-keygen would skip as invalid is refused, as it may have been meant to revoke a permission."""
    (tmp_path / "signers").write_text(line() + line(options='valid-before="soon"'))
    with pytest.raises(InputError, match="line 2"):
        principals(tmp_path / "signers", public_key(KEY), NOW)


def test_times_of_this_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert absolute_time("202611210700") == NOW
        assert absolute_time("202611211200Z") == NOW
    finally:
        monkeypatch.undo()
        time.tzset()


def test_patterns_full_of_stars_take_no_time(tmp_path: Path) -> None:
    begin = time.process_time()
    (tmp_path / "signers").write_text(line(options=f'namespaces="{"*d*a*i*s" * 5000}x"') * 20)
    assert principals(tmp_path / "signers", public_key(KEY), NOW) == []
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("text", [f"\0{line()}", f"{line()}\0# old\n", line().replace(" ", " \0", 1), f"#\0\n{line()}"])
def test_a_nul_character_is_refused_with_its_line(text: str, tmp_path: Path) -> None:
    """``ssh-keygen`` takes a line to end there, so a reader who sees more in it would be misled."""
    (tmp_path / "signers").write_bytes(text.encode())
    with pytest.raises(InputError, match="NUL"):
        principals(tmp_path / "signers", public_key(KEY), NOW)
