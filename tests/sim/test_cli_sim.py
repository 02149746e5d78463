"""``dais-verif sim``: its options, folders, exit codes, output, and the files that it leaves."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.door import command, environment, mutant, run_sim, save
from support.programs import every_opcode, overflowing
from support.said import as_recorded

from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program.graph import cone

EVERY = every_opcode()
BAD = mutant(EVERY, "op_4 =", "+", "-")


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Return a folder whose name has characters that trip shells."""
    folder = tmp_path / "John's 100% odd; folder, ä"
    folder.mkdir()
    return folder


class TestVectors:
    def test_from_files_come_before_the_generated_ones(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.zeros((7, 3)))
        (tmp_path / "y.csv").write_text("a,b,c\n1,2,3\n-8,31.5,-16\n")
        # The only wrong vector among those of the files is in row 8.
        rtl = mutant(EVERY, "op_4 =", "op_0 +", "(op_0 == -8'sd128 ? 8'sd127 : op_0) +")
        files = ("--inputs", tmp_path / "x.npy", "--inputs", tmp_path / "y.csv")
        run = run_sim(EVERY, tmp_path, *files, "--vectors", 20, rtl=rtl)
        assert run.ending == ("RTL_MISMATCH", 1)
        assert run.record["vectors"] == 29
        assert run.record["simulators"][0]["vectors_compared"] == 29
        assert run.record["first_mismatch"]["row"] == 8
        assert [value["real"] for value in run.record["first_mismatch"]["inputs"]] == ["-8", "31.5", "-16"]

    def test_from_a_file_alone(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.full((3, 3), 1e9))
        run = run_sim(EVERY, tmp_path, "--inputs", tmp_path / "x.npy", "--vectors", 0)
        assert run.ending == ("PASS", 0)
        assert run.record["vectors"] == 3

    def test_of_another_seed_are_others(self, tmp_path: Path) -> None:
        digests = [
            run_sim(EVERY, tmp_path, "--vectors", 50, "--seed", seed).record["simulators"][0]["digest"]
            for seed in (0, 0, 1)
        ]
        assert digests[0] == digests[1] != digests[2]


class TestIcarus:
    def test_beside_verilator_runs_a_share_that_the_command_to_copy_names(self, tmp_path: Path) -> None:
        """How many vectors Icarus runs depends on the machine, so the printed command repeats just these."""
        path = save(EVERY, tmp_path)
        run = json.loads(command("sim", path, "--vectors", 300_000, "--exhaustive-bits", 0, "--json").stdout)
        share, whole = (one["vectors_compared"] for one in run["simulators"])
        assert whole == 300_000 and 1000 <= share < whole
        assert {"what": "vectors in icarus", "chosen": f"the first {share} of {whole}"}.items() <= run["decisions"][
            -1
        ].items()
        assert run["reproduce"].endswith(f" --icarus-vectors {share}")
        again = json.loads(command(*shlex.split(run["reproduce"])[1:]).stdout)
        assert [one["vectors_compared"] for one in again["simulators"]] == [share, whole]
        assert [one["digest"] for one in again["simulators"]] == [one["digest"] for one in run["simulators"]]
        assert again["reproduce"].count("--icarus-vectors") == 1


class TestFolder:
    def test_result_is_what_json_printed(self, odd: Path) -> None:
        run = run_sim(EVERY, odd, rtl=BAD)
        assert run.ending == ("RTL_MISMATCH", 1)
        assert json.loads((run.folder / "result.json").read_text()) == run.record
        kept = {path.relative_to(run.folder).as_posix() for path in run.folder.rglob("*")}
        assert {"vectors/000000.bin", "icarus/simulation.log", "icarus/build/build.log"} <= kept
        assert {"replay_icarus/simulation.log", "replay_icarus/build/build.log"} <= kept

    def test_holds_our_verilog(self, odd: Path) -> None:
        run = run_sim(EVERY, odd, "--top", "dut")
        assert run.ending == ("PASS", 0)
        assert (run.folder / "dut.v").read_text() == emit_verilog(EVERY, "dut")

    def test_html_is_the_page_of_the_record(self, odd: Path) -> None:
        page = odd / "page.html"
        run = run_sim(EVERY, odd, "--vectors", 20, "--html", page, rtl=BAD)
        assert run.ending == ("RTL_MISMATCH", 1)
        text = page.read_text("utf-8")
        assert "RTL_MISMATCH</h1>" in text and f'<p class="message">{run.record["message"]}</p>' in text
        apart = [j for j, (op, _, _) in enumerate(EVERY.outputs) if 4 not in cone(EVERY, [op])]
        grades = {one["output"]: one["grade"] for one in run.record["outputs"]}
        assert {grades[j] for j in apart if EVERY.output_types[j].width} <= {"sampled", "exhausted"}
        wrong = [j for j, grade in grades.items() if grade == "wrong"]
        assert run.record["first_mismatch"]["output"] in wrong and not {*wrong} & {*apart}
        assert f"<strong>{len(wrong)} wrong</strong>" in text and "sampled</strong>" in text
        assert 'href="#op-4"' in text and 'href="./out/result.json"' in text and 'id="program-data"' in text

    def test_a_page_that_cannot_be_written_is_no_pass(self, odd: Path) -> None:
        (odd / "page.html").mkdir()
        done = command("sim", save(EVERY, odd), "--sim", "icarus", "--vectors", 5, "--html", odd / "page.html")
        assert done.returncode == 2
        assert done.stdout == "" and "it is a folder" in done.stderr

    def test_a_result_of_an_earlier_run_does_not_outlive_the_next(self, tmp_path: Path) -> None:
        assert run_sim(EVERY, tmp_path).ending == ("PASS", 0)
        run = run_sim(EVERY, tmp_path, "--rtl", tmp_path / "nowhere.v")
        assert run.ending == ("INVALID_INPUT", 2)
        assert not (tmp_path / "out" / "result.json").exists()

    @pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
    def test_waves(self, simulator: str, odd: Path) -> None:
        run = run_sim(EVERY, odd, "--waves", "--vectors", 20, simulator=simulator)
        assert run.ending == ("PASS", 0)
        waves = {"icarus": "icarus/waves.fst", "verilator": "verilator/waves.vcd"}[simulator]
        assert (run.folder / waves).stat().st_size > 1000

    def test_waves_without_a_folder_go_to_one_with_a_name(self, odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(odd)
        done = command("sim", save(EVERY, odd), "--sim", "icarus", "--waves", "--vectors", 5)
        assert done.returncode == 0, done.stderr
        assert (odd / "dais-verif-out" / "icarus" / "waves.fst").exists()

    def test_only_a_run_that_did_not_pass_leaves_a_temporary_folder(self, odd: Path) -> None:
        (odd / "tmp").mkdir()
        (odd / "bad.v").write_text(BAD)
        program = save(EVERY, odd)
        done = command("sim", program, "--sim", "icarus", TMPDIR=str(odd / "tmp"))
        assert (done.returncode, list((odd / "tmp").iterdir())) == (0, [])
        done = command("sim", program, "--sim", "icarus", "--rtl", odd / "bad.v", TMPDIR=str(odd / "tmp"))
        assert done.returncode == 1
        (left,) = (odd / "tmp").iterdir()
        assert json.loads((left / "result.json").read_text())["verdict"] == "RTL_MISMATCH"
        assert done.stdout.rstrip().endswith(f"files      {left}")

    def test_in_use_by_another_run(self, tmp_path: Path) -> None:
        from filelock import FileLock

        (tmp_path / "out").mkdir()
        with FileLock(tmp_path / "out" / ".lock"):
            run = run_sim(EVERY, tmp_path)
        assert run.ending == ("INVALID_INPUT", 2)
        as_recorded(run.record["message"])


class TestRtl:
    def test_in_several_files_under_another_name(self, odd: Path) -> None:
        """A design with another top name, and with its adder in a file that includes another, is simulated."""
        text = emit_verilog(EVERY, "their_top")
        old = "op_4 = op_0 + (op_1 <<< 3);"
        assert old in text
        text = text.replace(old, "op_4 = sum;").replace(
            "  always @(", "  wire signed [10:0] sum;\n  adder a(op_0, op_1, sum);\n  always @(sum or ", 1
        )
        adder = (
            "module adder(input signed [7:0] a, input signed [6:0] b, output signed [10:0] y);\n"
            '`include "body.vh"\nendmodule\n'
        )
        (odd / "their top.v").write_text(text)
        (odd / "lib.v").write_text(adder)
        (odd / "body.vh").write_text("  assign y = a + (b <<< 3);\n")
        rtl = ("--top", "their_top", "--rtl", odd / "their top.v")
        for more, simulator in ((("--rtl", odd / "lib.v"), "both"), ((odd / "lib.v",), "icarus")):
            run = run_sim(EVERY, odd, *rtl, *more, simulator=simulator)
            assert run.ending == ("PASS", 0), run.record
            assert run.record["rtl"]["files"] == [str(odd / "their top.v"), str(odd / "lib.v")]
            assert run.record["rtl"]["emitted"] is False
        (odd / "body.vh").write_text("  assign y = a - (b <<< 3);\n")
        run = run_sim(EVERY, odd, *rtl, odd / "lib.v")
        assert (run.ending, run.blame["op"]) == (("RTL_MISMATCH", 1), 4)

    def test_without_the_top_module(self, tmp_path: Path) -> None:
        run = run_sim(EVERY, tmp_path, "--top", "other", rtl=emit_verilog(EVERY))
        assert run.ending == ("INVALID_INPUT", 2)
        as_recorded(run.record["message"])

    def test_that_does_not_compile(self, tmp_path: Path) -> None:
        run = run_sim(EVERY, tmp_path, rtl="module model(", simulator="both")
        assert run.ending == ("TOOL_FAILURE", 3)
        first = r"icarus: iverilog .*code |verilator: verilator .*code "  # whichever ends first
        assert re.match(first, run.record["message"])
        assert all(simulator["failure"] for simulator in run.record["simulators"])

    def test_files_without_rtl(self, tmp_path: Path) -> None:
        run = run_sim(EVERY, tmp_path, tmp_path / "lib.v")
        assert run.ending == ("INVALID_INPUT", 2)
        assert "--rtl" in run.record["message"]
        as_recorded(run.record["message"])


class TestOverflow:
    def test_is_the_programs_fault(self, tmp_path: Path) -> None:
        run = run_sim(overflowing(), tmp_path)
        assert run.ending == ("PROGRAM_INVALID", 2)
        assert "op 1 (add_const)" in run.record["message"]
        assert run.record["simulators"] == []

    def test_is_carried_on_past_if_asked(self, tmp_path: Path) -> None:
        run = run_sim(overflowing(), tmp_path, "--unchecked")
        assert run.ending == ("PASS", 0)
        assert run.record["unchecked"] is True


class TestReproduce:
    def test_gives_the_same_mismatch_again(self, odd: Path) -> None:
        np.save(odd / "x y.npy", np.arange(12.0).reshape(4, 3))
        options = ("--seed", 42, "--vectors", 300, "--inputs", odd / "x y.npy")
        run = run_sim(
            EVERY, odd, *options, rtl=mutant(EVERY, "op_15 =", "op_3 * op_2", "op_3 * op_2 == 7 ? 8 : op_3 * op_2")
        )
        assert run.ending == ("RTL_MISMATCH", 1)
        again = subprocess.run(
            run.record["reproduce"], shell=True, env=environment(), capture_output=True, text=True, check=False
        )
        assert again.returncode == 1, again.stderr
        record = json.loads(again.stdout)
        same = ("verdict", "message", "first_mismatch", "reproduce", "program", "vectors", "rtl")
        assert {name: record[name] for name in same} == {name: run.record[name] for name in same}

    @pytest.mark.slow
    def test_as_it_is_printed(self, odd: Path) -> None:
        (odd / "bad.v").write_text(BAD)
        options = ("--sim", "icarus", "--rtl", odd / "bad.v", "--exhaustive-bits", 0)
        done = command("sim", save(EVERY, odd), *options, "-o", odd / "out")
        line = re.search(r"^reproduce  (.*)$", done.stdout, re.MULTILINE)
        assert line is not None
        again = subprocess.run(line[1], shell=True, env=environment(), capture_output=True, text=True, check=False)
        assert again.returncode == done.returncode == 1
        assert first_mismatch(again.stdout) == first_mismatch(done.stdout)


def first_mismatch(text: str) -> str:
    start = text.index("first mismatch:")
    return text[start : text.index("reproduce")]


class TestText:
    """The printed text has all that matters of the record."""

    def test_of_a_pass(self, tmp_path: Path) -> None:
        options = ("--sim", "icarus", "--vectors", 10, "--seed", 5, "--exhaustive-bits", 0)
        done = command("sim", save(EVERY, tmp_path), *options)
        assert done.returncode == 0
        assert EVERY.hash in done.stdout
        assert "10 vectors, seed 5" in done.stdout
        assert re.search(r"^icarus +\S+ +10 +1130 +0 +0 ", done.stdout, re.MULTILINE)
        verdict = done.stdout.splitlines()[-1]
        assert re.match(r"PASS  .*1130 .*10 vectors", verdict)
        as_recorded(verdict)

    def test_of_a_mismatch(self, tmp_path: Path) -> None:
        (tmp_path / "bad.v").write_text(BAD)
        options = ("--sim", "icarus", "--rtl", tmp_path / "bad.v", "--exhaustive-bits", 0, "--no-conditions")
        done = command("sim", save(EVERY, tmp_path), *options)
        assert done.returncode == 1
        assert re.search(r": vector \d+, output 0, in icarus$", done.stdout, re.MULTILINE)
        assert re.search(r"^input 1 +\S+ +[01]{6} *$", done.stdout, re.MULTILINE)
        assert re.search(r"^op 4 \w+ +\S+ +-?\d+ +[01]{11} *$", done.stdout, re.MULTILINE)
        (blame,) = re.findall(r"^blame +(op 4 \(add\) .*\(type s11\.4\).*)", done.stdout, re.MULTILINE)
        as_recorded(blame)
        (verdict,) = re.findall(r"^RTL_MISMATCH  \d+ of 1000 vectors .*", done.stdout, re.MULTILINE)
        as_recorded(verdict)

    def test_of_unknown_bits(self, tmp_path: Path) -> None:
        (tmp_path / "bad.v").write_text(mutant(EVERY, "op_12 =", "op_12 =", "op_13 ="))
        options = ("--sim", "icarus", "--rtl", tmp_path / "bad.v", "--exhaustive-bits", 0, "--no-conditions")
        done = command("sim", save(EVERY, tmp_path), *options)
        assert done.returncode == 4
        assert re.search(r"^op 12 found +\? +\? +X{7} *$", done.stdout, re.MULTILINE)


@pytest.mark.slow
def test_two_commands_at_once(odd: Path) -> None:
    """Two commands at once do not disturb each other: each has its own folder, and one finds a bug."""
    (odd / "bad.v").write_text(BAD)
    program = save(EVERY, odd)
    started = []
    for name, more in (("one", []), ("two", ["--rtl", str(odd / "bad.v")])):
        words = [
            sys.executable,
            "-m",
            "dais_verif",
            "sim",
            str(program),
            "-o",
            str(odd / name),
            "--exhaustive-bits",
            "0",
            *more,
        ]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen(words, env=environment(), **quiet))
    assert [process.wait(timeout=120) for process in started] == [0, 1]


def test_a_shell_without_any_simulator(tmp_path: Path) -> None:
    program = save(EVERY, tmp_path)
    (tmp_path / "bin").mkdir()
    done = command("sim", program, "--sim", "icarus", "--json", PATH=str(tmp_path / "bin"), DAIS_VERIF_IVERILOG="")
    assert done.returncode == 3
    assert "PATH" in json.loads(done.stdout)["message"]
    assert shutil.which("iverilog") is not None
