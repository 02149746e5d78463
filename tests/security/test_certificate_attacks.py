"""A check finds certificates changed by someone who can write all their files, or who misdirects the check."""

from __future__ import annotations

import os
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from support.said import as_recorded
from support.signing import GIVEN, QUICK, forge, project, sign, verify

from dais_verif.signoff.certificate import CERTIFICATE, SIGNATURE
from dais_verif.signoff.signatures import fingerprint, public_key
from dais_verif.signoff.signatures import sign as ssh_sign

KEY = Ed25519PrivateKey.generate()


@pytest.fixture(scope="module")
def signed_off(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = project(tmp_path_factory.mktemp("attacked"), QUICK + GIVEN)
    assert sign(folder).exit_code == 0
    return folder


@pytest.fixture
def copy(signed_off: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(signed_off, tmp_path / "copy"))


# --rtl must name the signed-off RTL; anything else is reported


def test_a_file_of_another_name_and_content(copy: Path, tmp_path: Path) -> None:
    other = tmp_path / "tapeout.v"
    other.write_text((copy / "design.v").read_text().replace("op_0 + op_1", "op_0 - op_1"))
    ending = verify(copy, "--rtl", other)
    assert ending.exit_code == 7
    (found,) = (line for line in ending.findings if "tapeout.v" in line)
    as_recorded(found)


def test_the_same_content_under_another_name(copy: Path, tmp_path: Path) -> None:
    (copy / "design.v").rename(tmp_path / "tapeout.v")
    assert verify(copy, "--rtl", tmp_path / "tapeout.v").findings == []


def test_of_two_files_of_one_name_both_are_looked_at(copy: Path, tmp_path: Path) -> None:
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
    shutil.copy(copy / "design.v", tmp_path / "good" / "design.v")
    (tmp_path / "bad" / "design.v").write_text("module model; endmodule\n")
    for order in (("good", "bad"), ("bad", "good")):
        places = [part for name in order for part in ("--rtl", tmp_path / name / "design.v")]
        ending = verify(copy, *places)
        assert any("bad/design.v" in line for line in ending.findings), ending.findings


@pytest.mark.parametrize("what", ["a folder without them", "nothing"])
def test_a_place_that_has_none_of_them(what: str, copy: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    if what != "nothing":
        place.mkdir()
        (place / "other.v").write_text("")
    ending = verify(copy, "--rtl", place)
    assert ending.exit_code == 7
    assert any(str(place) in line for line in ending.findings), ending.findings


@pytest.mark.slow
def test_rtl_beside_what_was_emitted(tmp_path: Path) -> None:
    """A file that ``--rtl`` names must equal the emitted RTL if the RTL was emitted, and no file is certified."""
    folder = project(tmp_path / "ours", QUICK)
    assert sign(folder).exit_code == 0
    assert verify(folder, "--rtl", folder / "design.v").findings == []
    (folder / "design.v").write_text((folder / "design.v").read_text() + "// mine\n")
    assert verify(folder, "--rtl", folder / "design.v").exit_code == 7


# evidence with unusual values


def test_a_grade_that_is_none(copy: Path) -> None:
    for name in ("printed.json", "run/result.json"):
        path = copy / "out" / "evidence" / "simulation-0" / name
        path.write_text(path.read_text().replace('"grade": "sampled"', '"grade": "perfect"', 1))
    forge(copy)
    ending = verify(copy)
    assert ending.exit_code == 7
    (found,) = (line for line in ending.findings if "simulation, seed 0" in line and "NOT_SIGNED_OFF: " in line)
    as_recorded(found)


# expired keys


def signed(folder: Path, issued: str | None = None) -> None:
    def edit(tree: dict[str, object]) -> None:
        tree.update(signer=fingerprint(public_key(KEY)), **({"issued": issued} if issued else {}))

    forge(folder, edit)
    (folder / "out" / SIGNATURE).write_bytes(ssh_sign((folder / "out" / CERTIFICATE).read_bytes(), KEY))


def signers(folder: Path, options: str) -> tuple[str, Path]:
    raw = KEY.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    (folder / "signers").write_bytes(b"ada@lab " + options.encode() + b" " + raw + b"\n")
    return "--allowed-signers", folder / "signers"


def test_a_certificate_dated_back_into_the_validity_of_its_key(copy: Path) -> None:
    signed(copy, "2021-05-01T00:00:00+00:00")
    ending = verify(copy, *signers(copy, 'valid-before="20220101Z"'))
    assert ending.exit_code == 7
    (found,) = ending.findings
    as_recorded(found)


def test_a_time_that_somebody_trusted_says(copy: Path) -> None:
    signed(copy)
    options = signers(copy, 'valid-before="20220101Z"')
    assert verify(copy, *options).exit_code == 7
    ending = verify(copy, *options, "--verify-time", "20210501Z")
    assert ending.findings == []
    assert any("2021-05-01T00:00:00+00:00" in note for note in ending.tree["notes"])
    today = datetime.now(UTC).date().isoformat()
    ending = verify(copy, *signers(copy, 'valid-after="20200101Z"'))
    assert any(f" {today}" in note and "--verify-time" in note for note in ending.tree["notes"])


# files that a check opens


def test_nothing_is_opened_of_a_certificate_that_the_wrong_one_signed(copy: Path) -> None:
    signed(copy)
    os.mkfifo(copy / "out" / "evidence" / "fifo")
    (copy / "prog.bin").unlink()
    ending = verify(copy, *signers(copy, 'namespaces="git"'))
    assert [finding["what"] for finding in ending.tree["findings"]] == [SIGNATURE]


@pytest.mark.parametrize("role", ["program", "rtl"])
@pytest.mark.parametrize("trap", ["fifo", "device", "sparse"])
def test_files_that_never_end(role: str, trap: str, copy: Path) -> None:
    path = copy / ("prog.bin" if role == "program" else "design.v")
    path.unlink()
    if trap == "fifo":
        os.mkfifo(path)
    elif trap == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(1 << 43)

    def here(tree: dict[str, list[dict[str, str]]]) -> None:
        for file in tree["files"]:
            file["path"] = str(copy / Path(file["path"]).name)

    forge(copy, here)
    begin = time.monotonic()
    ending = verify(copy)
    assert ending.exit_code == 7
    found = [line for line in ending.findings if path.name in line]
    assert found, ending.findings
    as_recorded(found[0])
    assert time.monotonic() - begin < 30


def test_evidence_that_is_a_giant(copy: Path) -> None:
    with (copy / "out" / "evidence" / "giant").open("wb") as file:
        file.truncate(1 << 43)
    begin = time.monotonic()
    ending = verify(copy)
    (found,) = (line for line in ending.findings if "giant" in line)
    as_recorded(found)
    assert time.monotonic() - begin < 30


def test_a_policy_of_a_million_seeds(copy: Path) -> None:
    forge(copy, lambda tree: tree["policy"].update(seeds=list(range(300_000))))
    begin = time.process_time()
    ending = verify(copy)
    (found,) = (line for line in ending.findings if "seeds" in line)
    as_recorded(found)
    assert time.process_time() - begin < 30


def test_a_key_twice_among_very_many(copy: Path) -> None:
    """The duplicate is found in time linear in the number of keys."""
    keys = "".join(f'"{k}": 0,' for k in range(200_000))
    (copy / "out" / CERTIFICATE).write_text("{" + keys + '"x": 0, "x": 0}')
    begin = time.process_time()
    (found,) = verify(copy).findings
    assert "'x'" in found
    as_recorded(found)
    assert time.process_time() - begin < 30
