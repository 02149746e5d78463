"""The certified files are those that tools read, including included, implicitly found and swapped ones."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from support.said import as_recorded, raises
from support.signing import DESIGN, GIVEN, QUICK, project, sign, verify

from dais_verif.base.errors import CertificateError
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.ports.outside_effects import included_in
from dais_verif.hardware.ports.verilog import included_by
from dais_verif.record.program import ProgramInfo, RtlFacts
from dais_verif.record.simulation import SimulationRecord, SimulatorResult
from dais_verif.signoff.judge import Asked, of_subject
from dais_verif.signoff.policy import policy_of, read_policy
from dais_verif.signoff.signed_design import Subject, file_hash, sha256_of
from dais_verif.signoff.toolbox import SUBJECT, copied
from dais_verif.simulation.simulators.build import RtlDesign, build

INCLUDED = {
    '`include "a.vh"': ["a.vh"],
    '`include "a.vh" `include "b.vh"': ["a.vh", "b.vh"],
    '/* c */ `include /* d */ "a.vh" // `include "not.vh"\n`include "b.vh"': ["a.vh", "b.vh"],
    '"// no comment" `include "a.vh"': ["a.vh"],
    '`ifdef X `include "a.vh" `endif': ["a.vh"],
    '// `include "not.vh"\n"`include" `include\n"a.vh"': ["a.vh"],
    "`include <a.vh>": [None],
    "`include `NAME": [None],
}


@pytest.mark.few(3)
@pytest.mark.parametrize("text", INCLUDED)
def test_every_way_to_include_is_seen(text: str) -> None:
    assert included_in(text.encode()) == INCLUDED[text]


# the files that tools report as read


@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
def test_builds_tell_what_they_have_read(simulator: str, tmp_path: Path) -> None:
    """Builds report a file included by a macro, one in another folder, and a module that Verilator finds by itself."""
    files = {
        "rtl/top.v": '`define F "a b.vh"\n`include `F\n`include "DIR/far.vh"\nmodule top(input a, output b);\n'
        "  `BODY\nendmodule\n",
        "rtl/a b.vh": "`define BODY sub s(a, b);\n",
        "far.vh": "// far\n",
        "rtl/sub.v": "module sub(input a, output b);\n  assign b = a;\nendmodule\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("DIR", str(tmp_path)))
    given = ["rtl/top.v"] if simulator == "verilator" else ["rtl/top.v", "rtl/sub.v"]
    design = RtlDesign(tuple(tmp_path / name for name in given), "top")
    if simulator == "verilator":
        found = _verilated(design, tmp_path / "build")
    else:
        found = build(simulator, design, tmp_path / "build").also_read
    assert {path.resolve() for path in found} == {(tmp_path / name).resolve() for name in set(files) - set(given)}


def _verilated(design: RtlDesign, folder: Path) -> tuple[Path, ...]:
    """Run Verilator without the C++ compiler, and return the files that it read apart from ``design``."""
    from dais_verif.base.toolchain import private_files, tools, verilator_runtime
    from dais_verif.base.toolchain.process import Session
    from dais_verif.simulation.simulators import verilator

    folder.mkdir()
    found, own = tools.verilator(), private_files.copied(design.sources, folder)
    options = [*verilator_runtime.verilator_options(waves=False), "--Mdir", "design", *(f"-I{f}" for f in own.folders)]
    session = Session(folder / "log", cwd=folder, env=found.env)
    session.check("verilator", [*found.driver, *options, *map(str, own.sources)])
    return private_files.others(
        verilator._read(folder / "design", found, list(map(str, own.sources))), own, design.sources
    )


def test_what_a_simulator_has_read_must_be_certified(tmp_path: Path) -> None:
    program = project(tmp_path, "") / "prog.bin"
    policy = read_policy(None).policy
    files = (file_hash("program", program), file_hash("rtl", tmp_path / "design.v"))
    subject = Subject(DESIGN, program, None, False, "model", files)

    def problems(**read: str) -> list[str]:
        simulators = [SimulatorResult("icarus", also_read=read)]
        record = SimulationRecord(
            verdict=Verdict.PASS,
            message="",
            program=ProgramInfo.of(DESIGN),
            seed=0,
            vectors=1,
            reproduce="",
            rtl=RtlFacts(),
            tools={},
            simulators=simulators,
        )
        return [line for line in of_subject(subject, policy, record, Asked(1, 0, ("icarus",))) if "has read" in line]

    assert problems() == problems(good=files[1].sha256) == []
    as_recorded(problems(evil="0" * 64))
    as_recorded(problems(gone=""))


# copies


def subject_in(folder: Path) -> Subject:
    project(folder, "", '`include "sub/a.vh"\n' + emit_verilog(DESIGN))
    for name in ("sub/a.vh", "t.mem", "sub/u.mem", "x.csv", "ports.toml"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    roles = {"include": "sub/a.vh", "ports": "ports.toml", "input": "x.csv"}
    files = [file_hash("program", folder / "prog.bin"), file_hash("rtl", folder / "design.v")]
    files += [file_hash(role, folder / name) for role, name in roles.items()]
    files += [file_hash("data", folder / name, name) for name in ("t.mem", "sub/u.mem")]
    return Subject(DESIGN, folder / "prog.bin", None, False, "model", tuple(files))


def test_copies_are_found_as_the_files_were(tmp_path: Path) -> None:
    subject = subject_in(tmp_path / "p")
    policy = policy_of({"rtl": {"files": subject.rtl}, "inputs": [subject.of("input")[0].path]}, "the policy")
    own, told = copied(subject, policy, tmp_path / "evidence")
    root = tmp_path / "evidence" / SUBJECT
    assert [(file.role, file.sha256, file.name) for file in own.files] == [
        (file.role, file.sha256, file.name) for file in subject.files
    ]
    assert all(Path(file.path).is_relative_to(root) for file in own.files)
    assert [sha256_of(Path(file.path)) for file in own.files] == [file.sha256 for file in subject.files]
    assert own.path == Path(own.files[0].path) and told.rtl.files == tuple(own.rtl)
    assert {path.relative_to(root).as_posix() for path in root.rglob("*") if path.parent.name.startswith("rtl")} == {
        "rtl_0/design.v",
        "rtl_0/sub",
    }
    assert (root / "rtl_0" / "sub" / "a.vh").is_file() and (root / "rtl_0" / "sub" / "u.mem").is_file()
    assert [Path(path).name for path in told.rtl.data] == ["t.mem"]


def test_a_file_that_changes_before_it_is_copied(tmp_path: Path) -> None:
    subject = subject_in(tmp_path / "p")
    (tmp_path / "p" / "design.v").write_text("other")
    with raises(CertificateError):
        copied(subject, read_policy(None).policy, tmp_path / "evidence")


@pytest.mark.parametrize("name", ["../far.vh", "/etc/hostname"])
def test_what_is_included_from_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "far.vh").write_text("// far\n")
    folder = project(tmp_path / "p", QUICK + GIVEN, f'`include "{name}"\n' + emit_verilog(DESIGN))
    ending = sign(folder)
    assert ending.exit_code == 2
    as_recorded(ending.tree["message"])
    assert not (folder / "out" / "certificate.json").exists()


@pytest.mark.slow
def test_files_that_are_swapped_and_swapped_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are replaced during all stages, without effect, since the stages use copies, which are certified."""
    from dais_verif.signoff import session

    folder = project(tmp_path, QUICK + GIVEN, '`include "half.vh"\n' + emit_verilog(DESIGN))
    (folder / "half.vh").write_text("// the true one\n")
    true = {name: (folder / name).read_bytes() for name in ("design.v", "half.vh", "prog.bin")}
    run = session._run

    def swapped(*arguments: object) -> object:
        for name in true:
            (folder / name).write_bytes(b"evil")
        try:
            return run(*arguments)  # type: ignore[arg-type]
        finally:
            for name, data in true.items():
                (folder / name).write_bytes(data)

    monkeypatch.setattr(session, "_run", swapped)
    ending = sign(folder)
    assert ending.exit_code == 0, ending.tree["message"]
    monkeypatch.undo()
    assert verify(folder).findings == []
    tree = json.loads((folder / "out" / "certificate.json").read_bytes())
    hashes = {Path(file["path"]).name: file["sha256"] for file in tree["files"]}
    assert hashes == {name: hashlib.sha256(data).hexdigest() for name, data in true.items()}
    record = json.loads((folder / "out" / "logs" / "simulation-0" / "printed.json").read_bytes())
    assert list(record["simulators"][0]["also_read"].values()) == [hashes["half.vh"]]


def test_included_files_are_known_through_each_other(tmp_path: Path) -> None:
    (tmp_path / "m.v").write_text('`define FILE "b.vh"\n`include "a.vh"\nmodule m; endmodule\n')
    (tmp_path / "a.vh").write_text("`include `FILE\n")
    (tmp_path / "b.vh").write_text("// the last\n")
    assert [path.name for path in included_by([tmp_path / "m.v"])] == ["a.vh", "b.vh"]
