"""Real programs and designs of every kind are signed off, certified, checked and run again."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from filelock import FileLock
from support.door import environment
from support.said import as_recorded
from support.signing import DESIGN, GIVEN, QUICK, Ending, forge, project, sign, verify

from dais_verif.base.passphrase import PASSPHRASE
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog

#: Folders of stages that run at the same time.
SIDE_BY_SIDE = ("simulation-0", "proof")

PROVED = QUICK.replace('proof = "off"', 'proof = "required"')


def stages(ending: Ending) -> dict[str, str]:
    return {stage["name"]: "passed" if stage["passed"] else stage["message"] for stage in ending.tree["stages"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "file"),
    [
        ("p02_mlp_jet", "prog.headerless.bin"),
        ("p06_matmul_2in", "prog.v1.bin"),
        ("p12_quant_modes", "prog.headerless.bin"),
        ("p12_quant_modes", "da4ml.json"),
    ],
)
def test_real_programs_by_the_built_in_policy(program: str, file: str, corpus: Path, tmp_path: Path) -> None:
    shutil.copy(corpus / program / file, tmp_path / "prog.bin")
    (tmp_path / "policy.toml").write_text("")
    ending = sign(tmp_path)
    assert (ending.verdict, ending.exit_code) == ("PASS", 0), stages(ending)
    assert set(stages(ending).values()) == {"passed"}
    assert {stage["name"]: stage["verdict"] for stage in ending.tree["stages"] if stage["must_fail"]} == dict.fromkeys(
        ("known-bad RTL, simulated", "poisoned model, simulated", "known-bad RTL, proof", "poisoned model, proof"),
        "RTL_MISMATCH",
    )
    assert {one["grade"] for one in ending.tree["outputs"]} <= {"proved", "none"}
    assert verify(tmp_path).findings == []
    (tmp_path / "prog.bin").write_bytes((tmp_path / "prog.bin").read_bytes() + b"\0")
    assert verify(tmp_path).exit_code == 7


def test_what_is_kept_of_a_proof_can_be_judged_again(tmp_path: Path) -> None:
    """A sign-off with a proof, the only one in the fast suite, can be checked from the files that it wrote."""
    folder = project(tmp_path, PROVED + GIVEN)
    ending = sign(folder)
    assert ending.exit_code == 0, stages(ending)
    assert verify(folder).findings == []


@pytest.mark.slow
def test_a_new_run_finds_the_same_or_says_what_it_does_not(tmp_path: Path) -> None:
    folder = project(tmp_path, PROVED + GIVEN)
    assert sign(folder).exit_code == 0
    ending = verify(folder, "--rerun")
    assert (ending.findings, ending.tree["rerun"]) == ([], True)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("DAIS_VERIF_IVERILOG", "/nonexistent")
        ending = verify(folder, "--rerun")
    assert ending.exit_code == 7
    assert any("a new run SIGNED OFF NOT_SIGNED_OFF" in finding for finding in ending.findings)
    (folder / "design.v").write_text("")
    ending = verify(folder, "--rerun")
    assert ending.tree["rerun"] is False
    assert any("not run again" in note for note in ending.tree["notes"])


@pytest.mark.slow
def test_a_new_run_finds_data_that_moved_with_the_design(tmp_path: Path) -> None:
    """After a project was moved, a new run reads data files and folders of the policy at their new place."""
    reads = "".join(
        f'reg [7:0] {name} [0:0];\ninitial $readmemh("{file}", {name});\n'
        for name, file in (("first", "alone.mem"), ("second", "tables/inner.mem"))
    )
    text = emit_verilog(DESIGN).replace("endmodule", reads + "endmodule")
    folder = project(tmp_path / "before", QUICK + GIVEN + 'data = ["data/alone.mem", "data/tables"]\n', text)
    (folder / "data/tables").mkdir(parents=True)
    for name in ("alone.mem", "tables/inner.mem"):
        (folder / "data" / name).write_text("00\n")
    ending = sign(folder)
    assert ending.exit_code == 0, stages(ending)
    moved = folder.rename(tmp_path / "after")
    ending = verify(moved, "--rerun")
    assert (ending.findings, ending.tree["rerun"], ending.exit_code) == ([], True, 0), ending.stderr
    (moved / "data/tables/inner.mem").write_text("01\n")
    assert verify(moved, "--rerun").exit_code == 7


@pytest.mark.slow
def test_every_stage_there_is(tmp_path: Path) -> None:
    """Our RTL passes as a pipeline of three stages, as a netlist, behind streams, and on a simulated board."""
    more = (
        'stages = ["netlist", "axis", "board"]\n[rtl]\npipeline = 3\n[netlist]\nvectors = 100\n[axis]\nvectors = 100\n'
    )
    folder = project(tmp_path, PROVED + more + '[board]\ntarget = "sim://fifo"\nvectors = 100\n')
    ending = sign(folder)
    assert ending.exit_code == 0, stages(ending)
    assert set(stages(ending).values()) == {"passed"}
    assert {"netlist", "axis", "simulated board", "proof", "known-bad RTL, proof"} <= set(stages(ending))
    assert verify(folder).findings == []


@pytest.mark.slow
def test_somebodys_clocked_design_with_files_that_it_reads(tmp_path: Path) -> None:
    """A clocked design passes with an active-low reset and RTL that it includes; its latency is found.

    Vectors of a file come first.
    """
    pipeline = emit_pipeline(DESIGN, "core", PipelineOptions(2, None, reset=True, enable=False, valid=True))
    (tmp_path / "core.vh").write_text(pipeline.text)
    width = sum(kind.width for kind in DESIGN.output_types)
    chip = f"""`include "core.vh"
// not `include "this"
module chip (input wire ck, rst_n, vin, input wire [11:0] model_inp,
  output wire vout, output wire [{width - 1}:0] model_out);
  core it (
    .clk(ck), .rst(~rst_n), .in_valid(vin), .model_inp(model_inp), .out_valid(vout), .model_out(model_out)
  );
endmodule
"""
    rtl = (
        '[rtl]\nfiles = ["chip.v"]\ntop = "chip"\nclock = "ck"\nlatency = "auto"\nreset = "rst_n:low"\n'
        'valid_in = "vin"\nvalid_out = "vout"\n'
    )
    np.save(tmp_path / "x.npy", np.array([[1.0, 2.0, 0.5], [3.0, -4.0, 1.5]]))
    folder = project(tmp_path, QUICK.replace('["icarus"]', '["icarus", "verilator"]') + 'inputs = ["x.npy"]\n' + rtl)
    (folder / "chip.v").write_text(chip)
    ending = sign(folder)
    assert ending.exit_code == 0, stages(ending)
    assert verify(folder).findings == []
    tree = json.loads((folder / "out" / "certificate.json").read_bytes())
    assert [file["role"] for file in tree["files"]] == ["program", "rtl", "include", "input"]
    for name in ("core.vh", "x.npy"):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data + b"\n")
        assert any(name in finding for finding in verify(folder).findings)
        (folder / name).write_bytes(data)
    assert verify(folder).findings == []


@pytest.mark.slow
def test_what_nobody_can_decide(tmp_path: Path) -> None:
    """RTL that only the prover refuses passes if the proof is optional or waived, but not if it is required."""
    folder = project(tmp_path, "")
    hard = PROVED.replace('"required"', '"{}"') + "proof_timeout = 20.0\n" + GIVEN
    waiver = '[[waivers]]\nwhat = "proof"\nreason = "by hand"\nexpires = {}\n'
    rtl = (folder / "design.v").read_text()
    unread = rtl.replace("endmodule", "  initial begin #1; end\n  real never;\nendmodule")
    (folder / "design.v").write_text(unread)
    endings = {}
    for name, text in {
        "required": hard.format("required"),
        "optional": hard.format("optional"),
        "waived": hard.format("required") + waiver.format("2099-01-01"),
        "waived too long ago": hard.format("required") + waiver.format("2020-01-01"),
    }.items():
        (folder / "policy.toml").write_text(text)
        endings[name] = sign(folder)
        if endings[name].exit_code == 0:
            assert verify(folder).findings == []
    assert {name: ending.exit_code for name, ending in endings.items()} == {
        "required": 7,
        "optional": 0,
        "waived": 0,
        "waived too long ago": 7,
    }, stages(endings["required"])
    assert {one["grade"] for one in endings["optional"].tree["outputs"]} == {"sampled"}
    assert endings["waived"].stage("proof")["waived"] and not endings["waived"].stage("proof")["passed"]
    assert endings["optional"].stage("known-bad RTL, proof")["message"] == "not run: proof has not passed"
    assert "it waives nothing" in endings["waived too long ago"].tree["warnings"][-1]


@pytest.mark.slow
def test_a_refuted_proof_is_neither_optional_nor_waived(tmp_path: Path) -> None:
    """A refuted proof always fails: the RTL is wrong on one vector of 4096, not one of the 300 simulated ones."""
    folder = project(tmp_path, "")
    rtl = (folder / "design.v").read_text().replace("module model", "module right", 1)
    width = sum(kind.width for kind in DESIGN.output_types)
    outer = (
        f"module model (input wire [11:0] model_inp, output wire [{width - 1}:0] model_out);\n"
        f"  wire [{width - 1}:0] out;\n  right it (.model_inp(model_inp), .model_out(out));\n"
        "  assign model_out = out ^ (model_inp == 12'hA5B);\nendmodule\n"
    )
    (folder / "design.v").write_text(rtl + outer)
    waiver = '[[waivers]]\nwhat = "proof"\nreason = "in a hurry"\nexpires = 2099-01-01\n'
    for proof in ("optional", "required"):
        (folder / "policy.toml").write_text(QUICK.replace('"off"', f'"{proof}"') + GIVEN + waiver)
        ending = sign(folder)
        assert ending.stage("simulation, seed 0")["passed"]
        assert (ending.exit_code, ending.stage("proof")["verdict"]) == (7, "RTL_MISMATCH")
        assert not ending.stage("proof")["waived"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_a_signed_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = Ed25519PrivateKey.generate()
    form = (
        serialization.Encoding.PEM,
        serialization.PrivateFormat.OpenSSH,
        serialization.BestAvailableEncryption(b"x"),
    )
    (tmp_path / "key").write_bytes(key.private_bytes(*form))
    monkeypatch.setenv(PASSPHRASE, "x")
    folder = project(tmp_path / "p", QUICK)
    assert sign(folder, "--sign", tmp_path / "key").exit_code == 0
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    (tmp_path / "signers").write_bytes(b"ada@lab " + public + b"\n")
    assert verify(folder, "--allowed-signers", tmp_path / "signers").findings == []
    certificate = folder / "out" / "certificate.json"
    words = [
        "-Y",
        "verify",
        "-f",
        tmp_path / "signers",
        "-I",
        "ada@lab",
        "-n",
        "dais-verif",
        "-s",
        f"{certificate}.sig",
    ]
    command = ["ssh-keygen", *map(str, words)]
    assert subprocess.run(command, input=certificate.read_bytes(), capture_output=True, check=False).returncode == 0


@pytest.mark.slow
def test_ctrl_c_leaves_a_record_that_says_so_and_no_certificate(tmp_path: Path) -> None:
    folder = project(tmp_path, QUICK)
    assert sign(folder).exit_code == 0
    (folder / "policy.toml").write_text(QUICK.replace('proof = "off"', 'proof = "required"'))
    words = ["signoff", folder / "prog.bin", "--policy", folder / "policy.toml", "-o", folder / "out", "--json"]
    command = [sys.executable, "-m", "dais_verif", *map(str, words)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        record, begun = folder / "out" / "signoff.json", [folder / "out" / "evidence" / name for name in SIDE_BY_SIDE]
        # The certificate of the first sign-off is removed before its record is replaced.
        while not (
            record.exists()
            and json.loads(record.read_bytes())["state"] == "running"
            and all(place.exists() for place in begun)
            and len(psutil.Process(process.pid).children()) > 1
        ):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
        commands = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert len(commands) > 1 and not psutil.wait_procs(commands, timeout=0)[1]
    assert json.loads(stdout)["verdict"] == "INTERRUPTED"
    tree = json.loads((folder / "out" / "signoff.json").read_bytes())
    assert (tree["verdict"], tree["state"]) == ("INTERRUPTED", "complete")
    assert not (folder / "out" / "certificate.json").exists()


@pytest.mark.slow
def test_what_a_person_sees(tmp_path: Path) -> None:
    folder = project(tmp_path, QUICK)

    def shown(*words: object) -> tuple[int, str]:
        command = [sys.executable, "-m", "dais_verif", *map(str, words)]
        done = subprocess.run(command, env=environment(), cwd=folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    code, text = shown("signoff", "prog.bin", "--policy", "policy.toml", "--seed", 5)
    assert code == 0
    assert "simulation, seed 5         passed" in text
    assert "SIGNED OFF  6 of 6 stages passed" in text and "dais-verif signoff --verify signoff-prog" in text
    code, text = shown("signoff", "--verify", "signoff-prog")
    assert (code, "SIGNED OFF  the certificate holds" in text) == (0, True)
    (folder / "prog.bin").write_bytes(b"")
    code, text = shown("signoff", "--verify", "signoff-prog")
    assert code == 7
    assert "finding    program" in text and "NOT SIGNED OFF" in text
    (folder / "policy.toml").write_text(QUICK.replace("300", "0"))
    project(folder, QUICK.replace("300", "0"))
    code, text = shown("signoff", "prog.bin", "--policy", "policy.toml")
    assert code == 7
    assert "why        simulation, seed 0: nothing was compared" in text
    assert "NOT SIGNED OFF" in text and "reproduce  " in text
    assert not (folder / "signoff-prog" / "certificate.json").exists()


def test_two_sign_offs_do_not_share_a_folder(tmp_path: Path) -> None:
    folder = project(tmp_path, QUICK)
    (folder / "out").mkdir()
    with FileLock(folder / "out" / ".lock"):
        ending = sign(folder)
    assert (ending.verdict, ending.exit_code) == ("INVALID_INPUT", 2)
    as_recorded(ending.stderr)


@pytest.mark.slow
def test_what_reads_the_rtl_for_a_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Yosys, slang is enough for the built-in policy, but not for one that demands both front ends."""

    def front_ends(folder: Path) -> list[str]:
        found: list[str] = json.loads((folder / "out/logs/proof/printed.json").read_text())["rtl"]["front_ends"]
        return found

    both = project(tmp_path / "both", PROVED + 'front_end = "both"\n' + GIVEN)
    assert sign(both).exit_code == 0 and front_ends(both) == ["slang", "yosys"]
    assert verify(both).findings == []
    monkeypatch.setenv("DAIS_VERIF_YOSYS", "/nonexistent")
    available = project(tmp_path / "available", PROVED + GIVEN)
    assert sign(available).exit_code == 0 and front_ends(available) == ["slang"]
    assert verify(available).findings == []
    demanded = project(tmp_path / "demanded", PROVED + 'front_end = "both"\n' + GIVEN)
    ending = sign(demanded)
    assert ending.exit_code == 7 and ending.stage("proof")["verdict"] == "TOOL_FAILURE"
    ours = project(tmp_path / "ours", PROVED + 'front_end = "both"\n')
    assert sign(ours).exit_code == 7, "whatever the policy demands holds for our RTL, too"


@pytest.mark.slow
def test_a_certificate_of_one_front_end_does_not_meet_a_policy_of_two(tmp_path: Path) -> None:
    folder = project(tmp_path, PROVED + 'front_end = "both"\n' + GIVEN)
    assert sign(folder).exit_code == 0
    for file in (folder / "out/evidence/proof").rglob("*.json"):
        file.write_text(file.read_text().replace(',\n      "yosys"', "").replace(', "yosys"', ""))
    forge(folder)
    assert any("read by slang, not by slang and Yosys" in finding for finding in verify(folder).findings)
