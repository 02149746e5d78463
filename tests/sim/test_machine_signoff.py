"""Machines are signed off like programs: right ones are certified, and wrong or changed ones are not."""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
from pathlib import Path

import pytest
from support.alkaids_rtl import theirs
from support.door import command
from support.edits import edits, not_found
from support.places import FSM
from support.said import as_recorded
from support.signing import GIVEN, MACHINE, QUICK, Ending, forge, machine_project, project, sign, verify

from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.spec.machine import load_machine, parse_machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.spec.machine.faults import control_faults

EXAMPLES = Path(__file__).parents[2] / "examples"

PROVED = 'simulators = ["icarus"]\nvectors = 100\n'
MUST_FAIL = (
    "known-bad RTL, simulated",
    "poisoned model, simulated",
    "known-bad RTL, proof",
    "poisoned model, proof",
)


def stages(ending: Ending) -> dict[str, str]:
    return {stage["name"]: "passed" if stage["passed"] else stage["message"] for stage in ending.tree["stages"]}


@pytest.fixture(scope="module")
def signed_off(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sign off a machine with a proof; the fast suite has no other such sign-off."""
    folder = machine_project(tmp_path_factory.mktemp("machine"), PROVED, MACHINE)
    ending = sign(folder)
    assert (ending.verdict, ending.exit_code) == ("PASS", 0), stages(ending)
    return folder


@pytest.fixture
def copy(signed_off: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(signed_off, tmp_path / "copy"))


# right machines


def test_all_stages_and_outputs(signed_off: Path) -> None:
    tree = json.loads((signed_off / "out" / "signoff.json").read_bytes())
    assert [stage["name"] for stage in tree["stages"] if stage["passed"]] == [
        "rtl",
        "outside",
        "check",
        "simulation, seed 0",
        *MUST_FAIL[:2],
        "proof",
        *MUST_FAIL[2:],
    ]
    assert {stage["verdict"] for stage in tree["stages"] if stage["must_fail"]} == {"RTL_MISMATCH"}
    assert [(one["grade"], one["vectors"]) for one in tree["outputs"]] == [("proved", 100)] * 3
    certificate = json.loads((signed_off / "out" / "certificate.json").read_bytes())
    assert certificate["program"] == tree["program"]["hash"] == parse_machine(MACHINE.encode()).hash
    assert verify(signed_off).findings == []


# changes after the sign-off


def test_another_machine_in_its_place(copy: Path) -> None:
    (copy / "prog.mach").write_text(MACHINE.replace("u3.0 = 2", "u3.0 = 3"))
    assert any("prog.mach" in finding for finding in verify(copy).findings)


def test_another_form_of_the_machine_is_another_file(copy: Path, tmp_path: Path) -> None:
    """As for programs, the file is certified, although another file with the same machine has the same machine hash."""
    machine = parse_machine(MACHINE.encode())
    other = tmp_path / "prog.json.gz"
    other.write_bytes(gzip.compress(machine_json(machine)))
    assert load_machine(other).hash == machine.hash
    findings = verify(copy, "--program", other).findings
    assert findings and all("sha256" in finding for finding in findings), findings


def test_another_machine_and_all_hashes_made_to_fit(copy: Path) -> None:
    """Many places of the evidence show that another machine was signed off."""
    text = MACHINE.replace("u3.0 = 2", "u3.0 = 3")
    other = parse_machine(text.encode())
    for path in (copy / "prog.mach", *(copy / "out" / "evidence" / "subject").rglob("prog.mach")):
        path.write_text(text)

    def edit(tree: dict[str, object]) -> None:
        tree["program"] = other.hash
        files = tree["files"]
        assert isinstance(files, list)
        next(file for file in files if file["role"] == "program")["sha256"] = other.origin.file_sha256

    forge(copy, edit)
    findings = verify(copy).findings
    reasons = [finding for finding in findings if "NOT_SIGNED_OFF: " in finding]
    assert reasons, findings
    as_recorded("\n".join(reasons))


@pytest.mark.slow
def test_every_edit_of_the_evidence(copy: Path) -> None:
    assert not_found(copy / "out", edits(copy / "out")) == []


@pytest.mark.slow
def test_a_new_run_finds_the_same(copy: Path) -> None:
    ending = verify(copy, "--rerun")
    assert (ending.findings, ending.tree["rerun"]) == ([], True)


# wrong machines


def test_rtl_with_a_fault_in_its_control(tmp_path: Path) -> None:
    good = emit_machine(parse_machine(MACHINE.encode()), "model")
    bad = re.sub(r"if \(rst\)", "if (rst & en)", good)
    assert bad != good, good
    ending = sign(machine_project(tmp_path, QUICK + GIVEN, MACHINE, bad))
    assert (ending.verdict, ending.exit_code) == ("NOT_SIGNED_OFF", 7)
    assert ending.stage("simulation, seed 0")["verdict"] == "RTL_MISMATCH"
    assert ending.stage("poisoned model, simulated")["message"].startswith("not run:")
    assert not (tmp_path / "out" / "certificate.json").exists()


REFUSED = {
    'stages = ["axis"]\n': '"axis" in stages',
    'stages = ["board"]\n[board]\ntarget = "sim://fifo"\n': '"board" in stages',
    "[rtl]\npipeline = 3\n": "[rtl] pipeline",
    '[rtl]\nfiles = ["design.v"]\nlatency = 2\n': "[rtl] latency",
    '[rtl]\nfiles = ["design.v"]\nvalid_out = "v"\n': "[rtl] valid_out",
}


@pytest.mark.parametrize("policy", REFUSED, ids=[str(number) for number in range(len(REFUSED))])
def test_what_machines_have_not_is_refused(policy: str, tmp_path: Path) -> None:
    ending = sign(machine_project(tmp_path, QUICK + policy, MACHINE))
    assert ending.verdict == "INVALID_INPUT"
    assert REFUSED[policy] in ending.tree["message"], ending.tree["message"]
    as_recorded(ending.tree["message"])


def test_what_programs_have_not_is_refused(tmp_path: Path) -> None:
    policy = 'stages = ["diff"]\n[diff]\nframe = "frame.toml"\nagainst = "prog.bin"\n'
    (tmp_path / "frame.toml").write_text("")
    ending = sign(project(tmp_path, QUICK + policy))
    assert ending.verdict == "INVALID_INPUT"
    as_recorded(ending.tree["message"])


@pytest.mark.parametrize(
    "policy",
    [
        'stages = ["diff"]\n',
        '[diff]\nframe = "f.toml"\nagainst = "p.bin"\n',
        'stages = ["diff"]\n[diff]\nframe = "f.toml"\n',
    ],
    ids=["no files", "no stage", "one file"],
)
def test_half_of_what_a_diff_needs(policy: str, tmp_path: Path) -> None:
    ending = sign(machine_project(tmp_path, QUICK + policy, MACHINE))
    assert (ending.verdict, "[diff]" in ending.tree["message"]) == ("INVALID_INPUT", True)
    as_recorded(ending.tree["message"])


def test_a_machine_of_several_files(tmp_path: Path) -> None:
    begin, end = MACHINE.index("{"), MACHINE.index("}")
    (tmp_path / "step.dais").write_text(MACHINE[begin + 1 : end])
    text = MACHINE[:begin].rstrip() + ' = "step.dais"' + MACHINE[end + 1 :]
    folder = machine_project(tmp_path, QUICK, text, "")
    load_machine(folder / "prog.mach")
    ending = sign(folder)
    assert ending.verdict == "INVALID_INPUT"
    as_recorded(ending.tree["message"])


@pytest.mark.slow
def test_no_fault_of_control_is_signed_off(tmp_path: Path) -> None:
    """RTL of each kind of control fault is found by the proof, although the simulation is too short to see much."""
    machine = load_machine(FSM / "f02_mac" / "fsm.json.gz")
    kinds = {fault.kind: fault for fault in control_faults(machine)}
    assert len(kinds) > 5
    for number, fault in enumerate(kinds.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "m.json.gz").write_bytes((FSM / "f02_mac" / "fsm.json.gz").read_bytes())
        (folder / "design.v").write_text(emit_machine(fault.machine, "model"))
        (folder / "policy.toml").write_text('simulators = ["icarus"]\nvectors = 4\n' + GIVEN)
        ending = command("signoff", folder / "m.json.gz", "--policy", folder / "policy.toml", "-o", folder / "out")
        assert ending.returncode == 7, (str(fault), ending.stdout)


# additions of the policy


@pytest.mark.slow
@pytest.mark.parametrize("name", ["serial_dot", "serial_dot_wrong"])
def test_a_machine_that_computes_a_program(name: str, tmp_path: Path) -> None:
    """Netlist, coverage and the comparison with the program pass; a fault of the machine fails the comparison."""
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'vectors = 1000\ncoverage = 40.0\nstages = ["netlist", "diff"]\n'
        f'[diff]\nframe = "{EXAMPLES}/serial_dot.toml"\nagainst = "{EXAMPLES}/serial_dot.bin"\n'
    )
    ending = command("signoff", EXAMPLES / f"{name}.mach", "--policy", policy, "-o", tmp_path / "out", "--json")
    tree = json.loads(ending.stdout)
    found = {stage["name"]: stage["verdict"] for stage in tree["stages"] if not stage["passed"]}
    if name == "serial_dot_wrong":
        assert (tree["verdict"], found) == (
            "NOT_SIGNED_OFF",
            {"diff": "PROGRAMS_DIFFER", "poisoned program, diff": "NOT_RUN"},
        )
        return
    assert (tree["verdict"], found) == ("PASS", {}), tree["message"]
    assert {"netlist", "netlist, for all inputs", "coverage", "diff"} <= {stage["name"] for stage in tree["stages"]}
    assert command("signoff", "--verify", tmp_path / "out").returncode == 0
    of_more = [edit for edit in edits(tmp_path / "out") if "diff" in edit.what or "netlist" in edit.what]
    assert not_found(tmp_path / "out", random.Random(0).sample(of_more, min(len(of_more), 400))) == []


@pytest.mark.slow
@pytest.mark.parametrize("flavor", ["verilog", "vhdl"])
def test_alkaids_rtl(flavor: str, tmp_path: Path) -> None:
    files = theirs("f03_fir7", tmp_path, flavor)
    rtl = [word for file in files for word in ("--rtl", file)]
    policy = tmp_path / "policy.toml"
    policy.write_text("vectors = 1000\n" + ('simulators = ["ghdl"]\n' if flavor == "vhdl" else ""))
    words = [FSM / "f03_fir7" / "fsm.json.gz", *rtl, "--top", "top", "--policy", policy, "-o", tmp_path / "out"]
    ending = command("signoff", *words, "--json")
    tree = json.loads(ending.stdout)
    assert tree["verdict"] == "PASS", tree["message"]
    assert command("signoff", "--verify", tmp_path / "out").returncode == 0


@pytest.mark.slow
def test_a_page_of_a_sign_off_beside_a_job_of_a_regression(copy: Path, tmp_path: Path) -> None:
    done = command("regress", copy / "prog.mach", "--sim", "icarus", "--vectors", 50, "-o", tmp_path / "nightly")
    assert done.returncode == 0, done.stderr
    kept = next((tmp_path / "nightly").rglob("result.json"))
    page = tmp_path / "page.html"
    done = command("report", copy / "out", kept, "-o", page, "--exit-code")
    assert done.returncode == 0, done.stderr
    assert "SIGNED OFF" in page.read_text()


@pytest.mark.slow
def test_a_kernel(tmp_path: Path) -> None:
    """A kernel's tensors and members are checked, poisoned kernels are refuted, and all of its files are certified."""
    (tmp_path / "conv.toml").write_text(
        'kernel = "conv2d"\n[input]\nshape = [1, 4, 3]\ntype = "s2.1"\n'
        '[weights]\nshape = [1, 1, 3, 1]\ntype = "s3.1"\nseed = 5\n[options]\npad = [1, 0]\n'
    )
    kernel, out, policy = tmp_path / "conv", tmp_path / "out", tmp_path / "policy.toml"
    policy.write_text('simulators = ["icarus"]\nvectors = 300\n')
    assert command("kernel", "build", "conv2d", "--params", tmp_path / "conv.toml", "-o", kernel).returncode == 0
    tree = json.loads(command("signoff", kernel, "--policy", policy, "-o", out, "--json").stdout)
    found = {stage["name"]: stage["verdict"] for stage in tree["stages"] if stage["passed"]}
    assert tree["verdict"] == "PASS", tree["message"]
    assert {name: found[name] for name in ("tensors", "poisoned kernel, simulated", "poisoned kernel, proof")} == {
        "tensors": "PASS",
        "poisoned kernel, simulated": "RTL_MISMATCH",
        "poisoned kernel, proof": "RTL_MISMATCH",
    }
    assert command("signoff", "--verify", out).returncode == 0
    for name in ("instance.json", "core.bin"):
        data = (kernel / name).read_bytes()
        (kernel / name).write_bytes(data + b"\n")
        assert name in command("signoff", "--verify", out).stdout
        (kernel / name).write_bytes(data)
