"""A certificate holds while nothing changes; every change is found, even if all hashes are updated to match."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from support.edits import edits, findings, not_found
from support.said import as_recorded
from support.signing import DESIGN, GIVEN, QUICK, Ending, forge, project, sign, verify

from dais_verif.signoff.certificate import CERTIFICATE, SIGNATURE
from dais_verif.signoff.signatures import fingerprint, public_key
from dais_verif.signoff.signatures import sign as ssh_sign
from dais_verif.spec.program import write_binary

#: A netlist that cannot be made, and a waiver for it.
WAIVED = (
    'seeds = [0, 1]\nstages = ["netlist"]\n'
    '[[waivers]]\nwhat = "netlist"\nreason = "no Yosys here"\nexpires = 2099-12-31\nby = "Ada"\n'
)
SENT = "evidence/simulation-0/vectors.json"
KEY, OTHER = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()


@pytest.fixture(scope="module")
def signed_off(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = project(tmp_path_factory.mktemp("signed"), QUICK + WAIVED + GIVEN)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("DAIS_VERIF_YOSYS", "/nonexistent/yosys")
        ending = sign(folder)
    assert (ending.verdict, ending.exit_code) == ("PASS", 0), ending.tree["message"]
    return folder.rename(folder.with_name("moved"))


@pytest.fixture
def copy(signed_off: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the sign-off in another folder; a certificate also finds its files relative to itself."""
    monkeypatch.setenv("DAIS_VERIF_YOSYS", "/nonexistent/yosys")
    return Path(shutil.copytree(signed_off, tmp_path / "copy"))


def test_it_holds_also_elsewhere(copy: Path) -> None:
    ending = verify(copy)
    assert (ending.verdict, ending.exit_code, ending.findings) == ("PASS", 0, [])
    as_recorded(ending.tree["notes"][0])


def test_what_the_sign_off_said(signed_off: Path) -> None:
    tree = json.loads((signed_off / "out" / "signoff.json").read_bytes())
    assert (tree["state"], tree["verdict"]) == ("complete", "PASS")
    told = {stage["name"]: (stage["verdict"], stage["passed"], stage["waived"]) for stage in tree["stages"]}
    assert told == {
        "rtl": ("PASS", True, False),
        "outside": ("PASS", True, False),
        "check": ("PASS", True, False),
        "simulation, seed 0": ("PASS", True, False),
        "simulation, seed 1": ("PASS", True, False),
        "known-bad RTL, simulated": ("RTL_MISMATCH", True, False),
        "poisoned model, simulated": ("RTL_MISMATCH", True, False),
        "netlist": ("TOOL_FAILURE", False, True),
    }
    assert [(one["grade"], one["vectors"]) for one in tree["outputs"]] == [("sampled", 600)] * 2
    for stage in tree["stages"]:
        assert all((signed_off / "out" / name).is_file() for name in stage["evidence"])


# tampering with files and with the certificate; forgeries update every hash to match

Tamper = Callable[[Path], object]
SIM, OTHER_SIM, BAD = (f"out/evidence/{name}" for name in ("simulation-0", "simulation-1", "known-bad-rtl"))


def flip(name: str) -> Tamper:
    def tamper(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        data[len(data) // 2] ^= 1
        (folder / name).write_bytes(data)

    return tamper


def replaced(name: str, old: str, new: str) -> Tamper:
    def tamper(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text, text
        (folder / name).write_text(text.replace(old, new, 1))

    return tamper


def forged(edit: Callable[[dict[str, Any]], object]) -> Tamper:
    return lambda folder: forge(folder, edit)


def everywhere(stage: str, old: str, new: str) -> Tamper:
    """Replace a text in the record that a run printed and in the one that it kept, and update all hashes."""

    def tamper(folder: Path) -> None:
        for name in ("printed.json", "run/result.json"):
            replaced(f"{stage}/{name}", old, new)(folder)
        forge(folder)

    return tamper


def then_forged(*steps: Tamper) -> Tamper:
    def tamper(folder: Path) -> None:
        for step in steps:
            step(folder)
        forge(folder)

    return tamper


def other_program(folder: Path) -> None:
    """Write a program with another meaning and the same length."""
    columns = DESIGN.columns._replace(code=np.where(DESIGN.columns.code == 0, 1, DESIGN.columns.code))
    (folder / "prog.bin").write_bytes(write_binary(replace(DESIGN, columns=columns), "v1"))


def swapped(folder: Path) -> None:
    (folder / SIM).rename(folder / "aside")
    (folder / OTHER_SIM).rename(folder / SIM)
    (folder / "aside").rename(folder / OTHER_SIM)


def other_rtl(folder: Path) -> None:
    replaced("design.v", "op_3 = op_0 + op_1", "op_3 = op_0 - op_1")(folder)
    digest = hashlib.sha256((folder / "design.v").read_bytes()).hexdigest()
    forge(folder, lambda tree: next(f for f in tree["files"] if f["role"] == "rtl").update(sha256=digest))


def duplicate_key(folder: Path) -> None:
    path = folder / "out" / CERTIFICATE
    path.write_text(path.read_text().replace('"emitted"', '"issued": "2026-01-01T00:00:00+00:00",\n "emitted"', 1))


def reformatted(folder: Path) -> None:
    path = folder / "out" / CERTIFICATE
    path.write_text(json.dumps(json.loads(path.read_bytes())))


def of_stage(name: str, **values: object) -> Tamper:
    return forged(lambda tree: next(stage for stage in tree["stages"] if stage["name"] == name).update(values))


def in_both(edit: Callable[[dict[str, Any]], object]) -> Tamper:
    """Edit the certificate and the record of the sign-off alike."""

    def tamper(folder: Path) -> None:
        path = folder / "out" / "signoff.json"
        tree = json.loads(path.read_bytes())
        edit(tree)
        path.write_text(json.dumps(tree))
        forge(folder, edit)

    return tamper


#: How a finding names the certificate itself, and a stage that its evidence does not let pass.
ITSELF, FAILED = f"out/{CERTIFICATE} ", "NOT_SIGNED_OFF: "

TAMPERED: dict[str, tuple[Tamper, str]] = {
    # files that were signed off
    "a bit of the program": (flip("prog.bin"), "prog.bin sha256"),
    "another program": (other_program, "prog.bin sha256"),
    "the program is gone": (lambda folder: (folder / "prog.bin").rename(folder / "p.bin"), "No such file"),
    "a bit of the RTL": (flip("design.v"), "design.v sha256"),
    "a comment in the RTL": (replaced("design.v", "module", "// fine\nmodule"), "design.v sha256"),
    # evidence
    "a bit of a record": (flip(f"{SIM}/printed.json"), "evidence/simulation-0/printed.json sha256"),
    "a verdict in a record": (replaced(f"{BAD}/printed.json", "RTL_MISMATCH", "PASS"), "known-bad-rtl/printed.json"),
    "a bit of the policy file": (flip("out/policy.toml"), "policy.toml sha256"),
    "a bit of the sign-off's record": (flip("out/signoff.json"), "signoff.json sha256"),
    "a file deleted": (lambda folder: (folder / SIM / "vectors.json").unlink(), "vectors.json"),
    "a file added": (lambda folder: (folder / SIM / "note.txt").write_text("hi"), "note.txt "),
    "a file renamed": (lambda folder: (folder / SIM / "call.json").rename(folder / SIM / "c.json"), "call.json"),
    "a file cut short": (lambda folder: (folder / SIM / "printed.json").write_text("{"), "printed.json sha256"),
    "a file emptied": (lambda folder: (folder / SIM / "vectors.json").write_text(""), "vectors.json sha256"),
    "a link for a file": (
        lambda folder: ((folder / "t").write_text(""), (folder / SIM / "link").symlink_to(folder / "t")),
        "evidence/simulation-0/link ",
    ),
    "two stages swapped": (swapped, "evidence/simulation-1/printed.json sha256"),
    # the certificate
    "a bit of the certificate": (flip(f"out/{CERTIFICATE}"), "certificate.json"),
    "a key twice": (duplicate_key, "'issued'"),
    "another layout of it": (reformatted, ITSELF),
    "another statement": (replaced(f"out/{CERTIFICATE}", '"SIGNED OFF"', '"SIGNED 0FF"'), ITSELF),
    "cut short": (lambda folder: (folder / "out" / CERTIFICATE).write_bytes(b"{}"), ITSELF),
    # with all hashes updated
    "forged: another statement": (forged(lambda tree: tree.update(statement="APPROVED")), "'APPROVED'"),
    "forged: one more field": (forged(lambda tree: tree.update(approved=True)), "unknown field `approved`"),
    "forged: a time in the future": (forged(lambda tree: tree.update(issued="2199-01-01T00:00:00+00:00")), "issued"),
    "forged: an earlier time": (forged(lambda tree: tree.update(issued="2020-01-01T00:00:00+00:00")), "issued"),
    "forged: no time": (forged(lambda tree: tree.update(issued="yesterday")), "issued"),
    "forged: fewer vectors asked": (
        forged(lambda tree: tree["policy"].update(vectors=200)),
        f"{FAILED}300 vectors",
    ),
    "forged: more vectors asked": (
        in_both(lambda tree: tree["policy"].update(vectors=30000)),
        f"{FAILED}300 vectors",
    ),
    "forged: another seed": (in_both(lambda tree: tree["policy"].update(seeds=[0, 2])), "simulation, seed 2"),
    "forged: overflow proved": (
        forged(lambda tree: tree["policy"].update(overflow="unchecked")),
        FAILED,
    ),
    "forged: a tool's version": (
        forged(lambda tree: tree["tools"]["icarus"].update(version="1.0")),
        "tool icarus ",
    ),
    "forged: another program": (forged(lambda tree: tree.update(program="0" * 64)), "0" * 64),
    "forged: another program and file": (then_forged(other_program), "prog.bin sha256"),
    "forged: other RTL": (other_rtl, FAILED),
    "forged: a stage left out": (forged(lambda tree: tree["stages"].pop(4)), "stages of the certificate"),
    "forged: a stage that passed": (of_stage("netlist", passed=True), "stage netlist of the certificate"),
    "forged: a verdict": (of_stage("known-bad RTL, simulated", verdict="PASS"), "stage known-bad RTL, simulated"),
    "forged: an output proved": (forged(lambda tree: tree["outputs"][0].update(grade="proved")), "outputs"),
    "forged: more vectors of an output": (forged(lambda tree: tree["outputs"][0].update(vectors=10**6)), "outputs"),
    "forged: no waiver": (forged(lambda tree: tree.update(waivers=[])), "waivers in signoff.json"),
    "forged: an expired waiver": (
        in_both(lambda tree: tree["policy"]["waivers"][0].update(expires="2020-12-31")),
        "TOOL_FAILURE: ",
    ),
    "forged: evidence swapped": (then_forged(swapped), FAILED),
    "forged: evidence left out": (then_forged(lambda folder: shutil.rmtree(folder / BAD)), "stage known-bad"),
    "forged: a record with fewer vectors": (
        everywhere(SIM, '"vectors_compared": 300', '"vectors_compared": 299'),
        "299 of 300 vectors",
    ),
    "forged: a record with a mismatch": (everywhere(SIM, '"mismatches": 0', '"mismatches": 1'), "1 mismatches"),
    "forged: a record of another run": (
        everywhere(SIM, '"digest": "', '"digest": "0'),
        FAILED,
    ),
    "forged: a seeded fault not found": (everywhere(BAD, '"mismatches": ', '"mismatches": 1'), "112 of 12 "),
    "forged: no fault was seeded": (
        then_forged(replaced(f"{BAD}/planted.json", '"rows": ', '"rows": 1')),
        FAILED,
    ),
    "forged: a record and its copy differ": (
        then_forged(replaced(f"{SIM}/printed.json", '"seed": 0', '"seed": 5')),
        FAILED,
    ),
    "forged: an exit code": (
        then_forged(replaced(f"{SIM}/call.json", '"exit_code": 0', '"exit_code": 1')),
        FAILED,
    ),
    "forged: all vectors alike": (
        then_forged(replaced(f"{SIM}/vectors.json", '"distinct": ', '"distinct": -')),
        FAILED,
    ),
    "forged: a signer": (forged(lambda tree: tree.update(signer="SHA256:abc")), "certificate.json.sig "),
}


def test_there_are_at_least_25_kinds() -> None:
    assert len(TAMPERED) >= 50


@pytest.mark.parametrize("name", TAMPERED)
def test_tampering_is_found(name: str, copy: Path) -> None:
    tamper, says = TAMPERED[name]
    tamper(copy)
    ending = verify(copy)
    assert (ending.verdict, ending.exit_code) == ("NOT_SIGNED_OFF", 7)
    found = [finding for finding in ending.findings if says in finding]
    assert found, "\n".join(ending.findings)
    if "version" not in name:  # it differs between machines
        as_recorded(found[0])


@pytest.mark.parametrize("position", [0.0, 0.1, 0.35, 0.5, 0.77, 0.999])
def test_any_byte_of_any_file(position: float, copy: Path) -> None:
    """If a byte of every file is changed at once, there is a finding for each file, with its name."""
    files = [path for path in (copy / "out").rglob("*") if path.is_file() and path.stat().st_size]
    names = {path.relative_to(copy / "out").as_posix() for path in files} - {CERTIFICATE}
    for path in files:
        if path.name != CERTIFICATE:
            data = bytearray(path.read_bytes())
            data[int(position * len(data))] ^= 0x10
            path.write_bytes(data)
    found = {finding["what"] for finding in verify(copy).tree["findings"]}
    assert names <= found, names - found


def test_any_byte_of_the_certificate(copy: Path) -> None:
    path = copy / "out" / CERTIFICATE
    data = path.read_bytes()
    for position in range(0, len(data), 97):
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        assert verify(copy).exit_code == 7, position


def test_tools_are_told_and_may_have_to_be_the_same(copy: Path) -> None:
    assert not any("tool icarus" in note for note in verify(copy).tree["notes"])
    forge(copy, lambda tree: tree["tools"]["g++" if "g++" in tree["tools"] else "icarus"].update(sha256="0" * 64))
    assert any("tool icarus" in note for note in verify(copy).tree["notes"])
    ending = verify(copy, "--same-tools")
    assert ending.exit_code == 7
    assert any("tool icarus" in finding for finding in ending.findings)


def test_files_may_be_elsewhere_if_somebody_says_where(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "rtl").mkdir()
    (copy / "prog.bin").rename(tmp_path / "moved.bin")
    (copy / "design.v").rename(tmp_path / "rtl" / "design.v")
    assert verify(copy).exit_code == 7
    places = ("--program", tmp_path / "moved.bin", "--rtl", tmp_path / "rtl")
    assert verify(copy, *places).findings == []
    (tmp_path / "rtl" / "design.v").write_text("module model; endmodule\n")
    assert any("design.v sha256" in finding for finding in verify(copy, *places).findings)


def test_no_certificate_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    ending = verify(tmp_path)
    assert (ending.verdict, ending.exit_code) == ("INVALID_INPUT", 2)
    assert "no certificate" in ending.stderr


def test_of_a_sign_off_without_a_certificate_it_is_said_why(copy: Path) -> None:
    out = copy / "out"
    (out / "certificate.json").unlink()
    said = verify(copy).stderr
    assert "certificate.json'" in said
    as_recorded(said.rstrip())
    record = json.loads((out / "signoff.json").read_text())
    for verdict, message, code, says in (
        ("NOT_SIGNED_OFF", "check: x", 7, ": check: x;"),
        ("INTERRUPTED", "interrupted", 130, "in INTERRUPTED"),
    ):
        (out / "signoff.json").write_text(
            json.dumps({**record, "verdict": verdict, "message": message, "exit_code": code})
        )
        ending = verify(copy)
        assert (ending.verdict, ending.exit_code) == ("INVALID_INPUT", 2)
        assert says in ending.stderr
        as_recorded(ending.stderr.rstrip())
    (out / "signoff.json").write_text(json.dumps({**record, "verdict": "NOT_RUN", "state": "running", "exit_code": 6}))
    ending = verify(copy)
    assert (ending.verdict, ending.exit_code) == ("INVALID_INPUT", 2)
    as_recorded(ending.stderr.rstrip())


# edits of evidence, with all hashes updated


def test_what_is_called_evidence(copy: Path) -> None:
    tree = json.loads((copy / "out" / CERTIFICATE).read_bytes())
    assert all(name.startswith("evidence/") for name in tree["evidence"])
    assert {"signoff.json", "policy.toml", "logs/simulation-0/printed.json"} <= set(tree["logs"])
    (copy / "out" / "logs" / "simulation-0" / "printed.json").write_text("{}")
    assert any("logs/simulation-0/printed.json" in line for line in verify(copy).findings)
    forge(copy)
    assert verify(copy).findings == []


def test_evidence_that_is_called_a_log(copy: Path) -> None:
    forge(copy, lambda tree: tree["logs"].update({SENT: tree["evidence"].pop(SENT)}))
    assert any("another division" in line for line in verify(copy).findings)


def test_more_than_is_judged(copy: Path) -> None:
    path = copy / "out" / "evidence" / "note.txt"
    path.write_text("all is well")
    forge(copy)
    (found,) = verify(copy).findings
    assert "evidence/note.txt" in found
    as_recorded(found)


def test_a_sample_of_all_edits(copy: Path) -> None:
    assert findings(copy / "out") == []
    every = edits(copy / "out")
    assert len(every) > 1000
    assert not_found(copy / "out", every[::10]) == []


# signatures


def signed(folder: Path, key: Ed25519PrivateKey) -> None:
    forge(folder, lambda tree: tree.update(signer=fingerprint(public_key(key))))
    (folder / "out" / SIGNATURE).write_bytes(ssh_sign((folder / "out" / CERTIFICATE).read_bytes(), key))


def allowed(folder: Path, key: Ed25519PrivateKey) -> tuple[str, Path]:
    raw = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    (folder / "signers").write_bytes(b"ada@lab " + raw + b"\n")
    return "--allowed-signers", folder / "signers"


def test_a_signature_holds(copy: Path) -> None:
    signed(copy, KEY)
    ending = verify(copy, *allowed(copy, KEY))
    assert ending.findings == []
    assert "ada@lab (SHA256:" in ending.tree["notes"][0]
    assert "--allowed-signers" in verify(copy).tree["notes"][0]


def resigned(folder: Path) -> None:
    (folder / "out" / SIGNATURE).write_bytes(ssh_sign((folder / "out" / CERTIFICATE).read_bytes(), OTHER))


SIGNATURES: dict[str, tuple[Tamper, str]] = {
    "gone": (lambda folder: (folder / "out" / SIGNATURE).unlink(), "none"),
    "a bit": (flip(f"out/{SIGNATURE}"), f"{SIGNATURE} "),
    "by another key": (resigned, "a signature by SHA256:"),
    "of another certificate": (
        forged(lambda tree: tree["tools"]["numpy"].update(sha256="0" * 64)),
        f"{SIGNATURE} ",
    ),
    "cut short": (lambda folder: (folder / "out" / SIGNATURE).write_bytes(b""), f"{SIGNATURE} "),
    "of a forger": (lambda folder: signed(folder, OTHER), "signers "),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_signature_that_is_touched(name: str, copy: Path) -> None:
    signed(copy, KEY)
    options = allowed(copy, KEY)
    tamper, says = SIGNATURES[name]
    tamper(copy)
    ending = verify(copy, *options)
    assert ending.exit_code == 7
    found = [finding for finding in ending.findings if says in finding]
    assert found, ending.findings
    as_recorded(found[0])


def test_who_wants_a_signature_gets_one_or_a_finding(copy: Path) -> None:
    ending: Ending = verify(copy, *allowed(copy, KEY))
    assert ending.exit_code == 7
    assert any("a signature by a signer" in finding for finding in ending.findings)
