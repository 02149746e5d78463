"""The pytest plugin: what it collects and what it refuses. Its runs are tested in tests/sim/test_plugin_runs.py."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.plugin import run_pytest
from support.project_folders import da4ml_folder
from support.said import as_recorded

from dais_verif.pytest_plugin import Ask, _folder, _headline, _tell, _vacuous


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with two files that look like programs until a run reads them, a text file and a test."""
    (tmp_path / "programs" / "more").mkdir(parents=True)
    for name in ("a.bin", "more/b.dais", "notes.txt"):
        (tmp_path / "programs" / name).write_bytes(b"no program")
    (tmp_path / "test_other.py").write_text("def test_other() -> None:\n    pass\n")
    return tmp_path


def collected(folder: Path, *arguments: object) -> list[str]:
    done = run_pytest(folder, "--collect-only", "-q", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_programs_alone_are_all_tests(project: Path) -> None:
    assert collected(project, "--dais", "programs") == ["programs/a.bin::sim", "programs/more/b.dais::sim"]


def test_a_folder_is_searched_as_regress_does(project: Path) -> None:
    """A JSON list is collected, as it may be da4ml's; other JSON, and files that a run has left, are not."""
    folder = project / "programs"
    (folder / "c.json").write_text("[[1, 1]]")
    (folder / "settings.json").write_text("{}")
    (folder / "d.json.gz").write_bytes(gzip.compress(b"[[1, 1]]"))
    (folder / "e.bin.gz").write_bytes(gzip.compress(b"no program"))
    (folder / "run").mkdir()
    (folder / "run" / "result.json").write_text('{"schema": "dais-verif/result/1"}')
    (folder / "run" / "vectors").mkdir()
    (folder / "run" / "vectors" / "f.bin").touch()
    expected = ["a.bin", "c.json", "d.json.gz", "e.bin.gz", "more/b.dais"]
    assert sorted(collected(project, "--dais", "programs")) == [f"programs/{name}::sim" for name in expected]


def test_what_cannot_be_a_test_is_an_error(project: Path) -> None:
    (project / "programs" / "gone.bin").symlink_to("nowhere.bin")
    (project / "theirs").mkdir()
    for name in ("a.bin", "a.v"):
        (project / "theirs" / name).touch()
    for folder, named in (("programs", "gone.bin"), ("theirs", "a.v")):
        done = run_pytest(project, "--collect-only", "--dais", folder)
        assert (done.returncode, named in done.stderr) == (4, True)
    assert collected(project, "--dais", "theirs", "--dais-stages", "0") == ["theirs/a.bin::sim"]


def test_every_pattern_of_a_marker_matches(project: Path) -> None:
    text = "import pytest\n@pytest.mark.dais_program({})\ndef test_it(dais_result):\n    pass\n"
    for given in ("'programs/a.bin', 'typo*.bin'", "'programs/a.bin')\n@pytest.mark.dais_program('programs/a.bin'"):
        (project / "test_marked.py").write_text(text.format(given))
        done = run_pytest(project, "test_marked.py", "--collect-only")
        assert (done.returncode, "dais_program" in done.stdout) == (2, True), done.stdout


def test_a_marker_of_a_model_in_a_project_folder_says_which_rtl(project: Path) -> None:
    da4ml_folder(project / "made")
    text = "import pytest\n@pytest.mark.dais_program({})\ndef test_it(dais_result):\n    pass\n"
    for given, code in (("'made/model/comb.json'", 2), ("'made/model/comb.json', stages=0", 0), ("'made'", 0)):
        (project / "test_marked.py").write_text(text.format(given))
        done = run_pytest(project, "test_marked.py", "--collect-only")
        assert (done.returncode, given) == (code, given), done.stdout


def test_each_test_has_a_folder_of_its_own(tmp_path: Path) -> None:
    config = SimpleNamespace(getoption=lambda name: tmp_path)
    names = ("a b.bin::sim", "a#b.bin::sim", "a_b.bin::sim", "a/b.bin::sim", "test_x.py::t[a b]", "test_x.py::t[a#b]")
    folders = {_folder(cast("pytest.Config", config), cast("pytest.TempPathFactory", None), one, 1) for one in names}
    assert len(folders) == len(names)


def test_programs_stand_beside_test_files_that_were_named(project: Path) -> None:
    assert collected(project, "test_other.py", "--dais", "programs/a.bin") == [
        "test_other.py::test_other",
        "programs/a.bin::sim",
    ]


def test_without_programs_nothing_changes(project: Path) -> None:
    assert collected(project) == ["test_other.py::test_other"]


def test_a_proof_is_a_test_of_its_own(project: Path) -> None:
    found = collected(project, "--dais", "programs/a.bin", "--dais-prove", "--dais-stages", "2")
    assert found == ["programs/a.bin::sim[stages=2]", "programs/a.bin::prove[stages=2]"]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--dais", "nowhere.bin"], "--dais: program 'nowhere.bin' does not exist"),
        (
            ["--dais", "empty"],
            "--dais: no program (.bin, .bin.gz, .dais, .mach, .onnx, .json, .json.gz) in the folder 'empty'",
        ),
        (
            ["--dais", "programs", "test_other.py"],
            "--dais: 'test_other.py' is not a program; test files go before --dais",
        ),
    ],
)
def test_what_is_no_program_is_refused(project: Path, arguments: list[str], says: str) -> None:
    (project / "empty").mkdir()
    done = run_pytest(project, *arguments)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert says in done.stderr and "Traceback" not in done.stderr


def test_a_marked_function_is_a_test_a_program(project: Path) -> None:
    (project / "test_marked.py").write_text(
        "import pytest\n\n"
        "@pytest.mark.dais_program('programs/**/*.bin', 'programs/more/b.dais', vectors=10)\n"
        "def test_it(dais_result): pass\n"
    )
    assert collected(project, "test_marked.py") == ["test_marked.py::test_it[a]", "test_marked.py::test_it[b]"]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("@pytest.mark.dais_program('programs/a.bin')\ndef test_it(): pass\n", "it must take dais_result"),
        ("@pytest.mark.dais_program('none/*.bin')\ndef test_it(dais_result): pass\n", "names no program that exists"),
        ("def test_it(dais_result): pass\n", "dais_result needs a program"),
        (
            "import unittest\nclass TestIt(unittest.TestCase):\n"
            "    @pytest.mark.dais_program('programs/a.bin')\n    def test_it(self): pass\n",
            "ran no program",
        ),
        (
            "@pytest.fixture\ndef dais_result(): return {}\n"
            "@pytest.mark.dais_program('programs/a.bin')\ndef test_it(dais_result): pass\n",
            "ran no program",
        ),
        (
            "@pytest.mark.dais_program('programs/a.bin', rtl=[])\ndef test_it(dais_result): pass\n",
            "rtl is empty",
        ),
    ],
)
def test_a_marked_function_that_would_run_nothing_fails(project: Path, text: str, says: str) -> None:
    (project / "test_marked.py").write_text(f"import pytest\n\n{text}")
    done = run_pytest(project, "test_marked.py")
    assert done.returncode != 0 and says in done.stdout
    assert "passed" not in done.stdout


def test_options_of_the_marker_are_those_of_the_verb() -> None:
    options = {"vectors": 5, "unchecked": True, "rtl": ["a.v", "b.v"], "valid_in": "v"}
    words = " ".join(Ask(Path("p.bin"), "sim", options).words(Path("out"))[1:])
    said = "--vectors 5 --unchecked --rtl a.v --rtl b.v --valid-in v"
    assert words == f"-m dais_verif sim p.bin {said} -o out"


PASS = {"verdict": "PASS", "simulators": [{"bits_compared": 8}], "outputs": [{"status": "PROVED"}]}


@pytest.mark.parametrize(
    ("verb", "changed"),
    [
        ("sim", {"verdict": "NOT_RUN"}),
        ("sim", {"simulators": []}),
        ("sim", {"simulators": [{"bits_compared": 8}, {"bits_compared": 0}]}),
        ("prove", {"outputs": []}),
        ("prove", {"outputs": [{"status": "UNKNOWN"}]}),
    ],
)
def test_an_exit_code_alone_makes_no_pass(verb: str, changed: dict[str, object]) -> None:
    assert _vacuous(verb, PASS) is None
    said = _vacuous(verb, {**PASS, **changed})
    assert said
    as_recorded(said)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("program    /p.bin  v1\nRTL_MISMATCH  3 of 9 differ\nnext       look\n", "RTL_MISMATCH: 3 of 9 differ"),
        ("dais-verif: INVALID_INPUT: file 'a': too short", "INVALID_INPUT: file 'a': too short"),
        ("PASSED  what\nVERDICT: none\n", None),
        ("", None),
    ],
)
def test_a_failure_begins_with_its_verdict(said: str, line: str | None) -> None:
    assert _headline(said) == line


class Told:
    """A stand-in for a test, with the attribute that properties need."""

    def __init__(self) -> None:
        self.user_properties: list[tuple[str, object]] = [("mine", 1), ("dais_verdict", "RTL_MISMATCH")]


@pytest.mark.parametrize(
    ("record", "attempt", "expected"),
    [
        (None, 1, {}),
        (None, 2, {"dais_attempt": 2}),
        ({"program": {"hash": "ab"}, "verdict": "PASS", "outputs": []}, 1, {"dais_hash": "ab", "dais_verdict": "PASS"}),
        (
            {
                "program": {"hash": "ab"},
                "verdict": "PASS",
                "seed": 0,
                "vectors": 9,
                "simulators": [{"name": "icarus", "vectors_compared": 9, "bits_compared": 18}],
            },
            3,
            {
                "dais_hash": "ab",
                "dais_verdict": "PASS",
                "dais_seed": 0,
                "dais_vectors": 9,
                "dais_icarus": "9 vectors, 18 bits",
                "dais_attempt": 3,
            },
        ),
    ],
    ids=["nothing", "again", "proof", "simulation"],
)
def test_properties_are_those_of_the_last_run(record: Any, attempt: int, expected: dict[str, object]) -> None:
    item = Told()
    _tell(cast(pytest.Item, item), record, attempt)
    assert dict(item.user_properties) == {"mine": 1, **expected}


def test_the_page_lists_every_option_and_property() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "python.md").read_text(encoding="utf-8")
    source = (root / "dais_verif" / "pytest_plugin.py").read_text(encoding="utf-8")
    options = set(re.findall(r"addoption\(\s*\"(--dais[\w-]*)\"", source))
    assert options == set(re.findall(r"^\| `(--dais[\w-]*)", page, re.MULTILINE)) and len(options) == 7
    properties = set(re.findall(r"\"(dais_(?:hash|verdict|seed|vectors|attempt))\"", source))
    listed = set(re.findall(r"`(dais_\w+)`", "".join(re.findall(r"^\| `dais_.*$", page, re.MULTILINE))))
    assert listed == properties | {"dais_icarus", "dais_verilator"}
