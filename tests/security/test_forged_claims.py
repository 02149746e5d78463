"""Consistently forged claims of a certificate, with all hashes adapted, are found by a check or by a new run."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.said import as_recorded
from support.signing import GIVEN, QUICK, Ending, forge, project, sign, verify

from dais_verif.record.read import read_record
from dais_verif.record.signoff import SignOffRecord
from dais_verif.signoff.certificate import CERTIFICATE
from dais_verif.signoff.checking import recheck as again
from dais_verif.signoff.kept_parts import canonical

ASKED = QUICK.replace("exhaustive_bits = 0", "exhaustive_bits = 8") + 'stages = ["mutation"]\n' + GIVEN
MUTATION = "[mutation]\nmutants = 12\nvectors = 2\nfloor = 0\n"


@pytest.fixture(scope="module")
def signed_off(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = project(tmp_path_factory.mktemp("claims"), ASKED + MUTATION)
    ending = sign(folder)
    assert ending.exit_code == 0, ending.tree["message"]
    return folder


@pytest.fixture
def copy(signed_off: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the sign-off, whose new run returns the original; other tests show this with real runs."""

    def sign_off(*arguments: Any, **more: Any) -> SignOffRecord:
        shutil.copytree(signed_off / "out", arguments[4], dirs_exist_ok=True)
        record = read_record(arguments[4] / "signoff.json")
        assert isinstance(record, SignOffRecord)
        return record

    monkeypatch.setattr(again, "sign_off", sign_off)
    return Path(shutil.copytree(signed_off, tmp_path / "copy"))


Edit = Callable[[dict[str, Any]], object]


def in_evidence(folder: Path, stage: str, edit: Edit) -> None:
    """Change the record that a stage printed, and its copy in the folder of the run."""
    place = folder / "out" / "evidence" / stage
    tree = json.loads((place / "printed.json").read_bytes())
    edit(tree)
    for path in (place / "printed.json", *(place / "run").glob("*.json")):
        path.write_bytes(canonical(tree))


def in_both(folder: Path, edit: Edit) -> None:
    """Change the certificate and the record of the sign-off, and adapt all hashes."""
    path = folder / "out" / "signoff.json"
    tree = json.loads(path.read_bytes())
    edit(tree)
    path.write_text(json.dumps(tree))
    forge(folder, edit)


def told(ending: Ending) -> list[str]:
    assert ending.exit_code == (7 if ending.findings else 0)
    return ending.findings


def test_a_new_run_that_finds_the_same(copy: Path) -> None:
    ending = verify(copy, "--rerun")
    assert (told(ending), ending.tree["rerun"]) == ([], True)


def killed(tree: dict[str, Any]) -> None:
    summary = tree["summary"]
    assert summary["survived"]
    summary.update(killed_by_simulation=summary["killed_by_simulation"] + summary["survived"], survived=0, score=100.0)


def test_mutants_that_survived_are_killed(copy: Path) -> None:
    in_evidence(copy, "mutation", killed)
    forge(copy, lambda tree: tree["mutation"].update(score=100.0))
    assert told(verify(copy)) == []  # all parts agree
    ending = verify(copy, "--rerun")
    assert ending.tree["rerun"] is False
    assert any(line.startswith("mutants: score in a new run 100.0") for line in told(ending)), ending.findings


def exhausted(tree: dict[str, Any]) -> None:
    tree["evidence"]["exhausted"] = [0, 1]
    for one in tree["outputs"]:
        one["grade"] = "exhausted"


def outputs_of(folder: Path) -> list[Any]:
    tree: dict[str, Any] = json.loads((folder / "out" / "evidence" / "simulation-0" / "printed.json").read_bytes())
    outputs: list[Any] = tree["outputs"]
    return outputs


def test_an_output_that_depends_on_more_bits_is_exhausted(copy: Path) -> None:
    assert [one["grade"] for one in outputs_of(copy)] == ["exhausted", "sampled"]
    in_evidence(copy, "simulation-0", exhausted)
    in_both(copy, lambda tree: tree.update(outputs=outputs_of(copy)))
    (found,) = (line for line in told(verify(copy)) if "exhaustive_bits = 8" in line)
    as_recorded(found)
    # a policy that allows it, but with too few vectors
    in_both(copy, lambda tree: tree["policy"].update(exhaustive_bits=16))
    findings = told(verify(copy))
    (found,) = (line for line in findings if "256 vectors" in line)
    as_recorded(found)


def test_a_policy_that_asks_for_more_outputs_to_be_exhausted(copy: Path) -> None:
    in_both(copy, lambda tree: tree["policy"].update(exhaustive_bits=16))
    findings = told(verify(copy))
    (found,) = (line for line in findings if "16 input bits" in line)
    as_recorded(found)


def value(stage: str, edit: Edit) -> Callable[[Path], None]:
    def forged(folder: Path) -> None:
        in_evidence(folder, stage, edit)
        forge(folder)

    return forged


def digests(folder: Path) -> None:
    """Change the digest of the outputs for the simulators and for the golden model alike."""
    in_evidence(folder, "simulation-0", lambda tree: tree["simulators"][0].update(digest="ab" * 32))
    path = folder / "out" / "evidence" / "simulation-0" / "vectors.json"
    path.write_bytes(canonical({**json.loads(path.read_bytes()), "digest": "ab" * 32}))
    forge(folder)


FORGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "digests": (digests, "digest in evidence/simulation-0/vectors.json in a new run"),
    "mutants that there are": (value("mutation", lambda tree: tree.update(possible=10**6)), "possible in evidence"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_consistent_forgery_is_found_by_a_new_run(name: str, copy: Path) -> None:
    forgery, says = FORGED[name]
    forgery(copy)
    assert told(verify(copy)) == []
    ending = verify(copy, "--rerun")
    assert any(says in line for line in told(ending)), ending.findings
    assert ending.tree["rerun"] is False


def test_tools_of_another_machine_are_no_difference(copy: Path) -> None:
    forge(copy, lambda tree: tree["tools"]["python"].update(version="3.0.0"))
    path = copy / "out" / "signoff.json"
    tree = json.loads(path.read_bytes())
    tree["tools"]["python"] = "3.0.0"
    path.write_text(json.dumps(tree))
    forge(copy)
    ending = verify(copy, "--rerun")
    assert (told(ending), ending.tree["rerun"]) == ([], True)


# claims of the certificate itself


def of_policy(table: str, **values: object) -> Callable[[Path], None]:
    def forged(folder: Path) -> None:
        in_both(folder, lambda tree: (tree["policy"][table] if table else tree["policy"]).update(values))

    return forged


def tools(**more: str) -> Callable[[Path], None]:
    """Change tools in the certificate and in the record; ``more`` has their versions."""

    def edit(tree: dict[str, Any]) -> None:
        certified = "self" in tree
        tree["tools"] |= {k: {"version": v, "sha256": "0" * 64} if certified else v for k, v in more.items()}

    return lambda folder: in_both(folder, edit)


def nothing_outside(folder: Path) -> None:
    """Use RTL that reads the time, which the evidence does not mention."""
    path = folder / "design.v"
    path.write_text(path.read_text().replace("endmodule", "  initial if ($time > 1) $write(0);\nendmodule", 1))
    of_other_rtl(folder, path)


def an_include(folder: Path) -> None:
    """Use RTL that includes a file, which is mentioned nowhere else."""
    path = folder / "design.v"
    path.write_text('`include "more.vh"\n' + path.read_text())
    of_other_rtl(folder, path)


def of_other_rtl(folder: Path, path: Path) -> None:
    """Replace the RTL by the file ``path`` in the certificate and in all evidence."""
    out = folder / "out"
    was = next(file for file in json.loads((out / CERTIFICATE).read_bytes())["files"] if file["role"] == "rtl")
    now = hashlib.sha256(path.read_bytes()).hexdigest()
    for file in out.rglob("*"):
        if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == was["sha256"]:
            shutil.copy(path, file)
        elif file.suffix == ".json":
            file.write_text(file.read_text().replace(was["sha256"], now))
    forge(folder)


CLAIMS: dict[str, tuple[Callable[[Path], None], str]] = {
    "more RTL files": (of_policy("rtl", files=["design.v", "more.v"]), "rtl design.v, more.v design.v"),
    "vectors of a file": (of_policy("", inputs=["x.npy"]), "input x.npy none"),
    "data": (of_policy("rtl", data=["a.mem"]), "data a.mem none"),
    "ports": (of_policy("rtl", ports="ports.toml"), "ports ports.toml none"),
    "another role": (
        lambda folder: forge(folder, lambda tree: tree["files"].append({**tree["files"][1], "role": "timing"})),
        "timing",
    ),
    "a simulator that did not run": (tools(verilator="5.0"), "verilator"),
    "a waiver of nothing": (
        lambda folder: in_both(
            folder,
            lambda tree: tree.update(waivers=[{"what": "proof", "reason": "x", "expires": "2099-12-31", "by": "Ada"}]),
        ),
        "waivers [] ",
    ),
    "nothing reaches outside": (nothing_outside, "$time"),
    "nothing is included": (an_include, "includes more.vh none"),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_that_no_run_is_needed_for(name: str, copy: Path) -> None:
    forgery, says = CLAIMS[name]
    forgery(copy)
    findings = told(verify(copy))
    found = [line for line in findings if says in line]
    assert found, findings
    as_recorded(found[0])


def other_wrapper(folder: Path) -> None:
    """Change the RTL of the seeded fault, which still has the fault."""
    place = folder / "out" / "evidence" / "known-bad-rtl"
    (path,) = place.glob("*.v")
    was = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_text(path.read_text() + "// mine\n")
    now = hashlib.sha256(path.read_bytes()).hexdigest()
    for file in place.rglob("*.json"):
        file.write_text(file.read_text().replace(was, now))
    forge(folder)


def test_files_of_a_tool_may_differ_only_if_the_tool_does(copy: Path) -> None:
    other_wrapper(copy)
    findings = told(verify(copy, "--rerun"))
    (found,) = (line for line in findings if "evidence/known-bad-rtl/model_sometimes_wrong.v" in line)
    as_recorded(found)
    forge(copy, lambda tree: tree["tools"]["dais-verif"].update(sha256="0" * 64))
    ending = verify(copy, "--rerun")
    assert (told(ending), ending.tree["rerun"]) == ([], False)
    (note,) = (note for note in ending.tree["notes"] if "model_sometimes_wrong.v" in note)
    as_recorded(note)
