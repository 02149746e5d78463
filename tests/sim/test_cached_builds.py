"""A design that was built before is not built again, and no other design is taken for it."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.door import Run, command, mutant, run_sim
from support.programs import every_opcode
from support.said import as_recorded

from dais_verif.base.errors import ToolError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.toolchain import build_cache, tools, verilator_runtime
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.simulation.simulators import icarus
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.simulators.simulator import Simulation
from dais_verif.spec.program import Program

EVERY = every_opcode()

#: Two designs of four bits: one passes its input through, the other inverts bit 0.
TINY = Program.build([(-1, 0, -1, 0, (0, 4, 0))], [(0, 0, 0)], inp_shift=[0])
GOOD = (
    "module model(input [3:0] model_inp, output [3:0] model_out);\n  assign model_out = model_inp ^ 4'd0;\nendmodule\n"
)
BAD = GOOD.replace("4'd0", "4'd1")

OUTPUT = {"icarus": "simulation.vvp", "verilator": "simulation"}
BOTH = pytest.mark.parametrize("simulator", ["icarus", "verilator"])
#: For tests of what the cache handles alike in both simulators: Icarus, which needs no compiler, is enough.
MOSTLY_ICARUS = pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache without builds, which has the Verilator runtime of this machine."""
    verilator_runtime.ensure()
    own = tmp_path / "cache"
    own.mkdir()
    (own / "runtime").symlink_to(tools.cache_dir() / "runtime")
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(own))
    monkeypatch.delenv("DAIS_VERIF_CACHE_MB", raising=False)
    return own / "builds"


def build_of(
    folder: Path, text: str = GOOD, simulator: str = "icarus", *, top: str = "model", **more: Any
) -> Simulation:
    """Build ``text`` in ``folder``, and write the RTL there, too."""
    folder.mkdir(exist_ok=True)
    (folder / "design.v").write_text(text)
    return build(simulator, RtlDesign((folder / "design.v",), top), folder / "build", **more)


def sim(folder: Path, simulator: str = "icarus", *, rtl: str = GOOD) -> Run:
    return run_sim(TINY, folder, "--vectors", 20, rtl=rtl, simulator=simulator)


def ending(run: Run) -> tuple[str, bool]:
    """Return the verdict, and whether the simulation came out of the cache."""
    return run.record["verdict"], run.record["simulators"][0]["cached"]


def code(simulation: Simulation) -> bytes:
    """Return the contents of the executable."""
    return Path(simulation.command[-1]).read_bytes()


class TestRuns:
    @BOTH
    def test_of_the_same_design_build_it_once(self, simulator: str, tmp_path: Path, home: Path) -> None:
        """The second run finds the first one's build from another folder, with equal results and the same build log."""
        runs = [run_sim(EVERY, tmp_path / name, "--vectors", 300, simulator=simulator) for name in "ab"]
        assert [ending(run) for run in runs] == [("PASS", False), ("PASS", True)]
        results = [run.record["simulators"][0] for run in runs]
        assert results[0]["digest"] == results[1]["digest"]
        logs = [(run.folder / simulator / "build" / "build.log").read_text() for run in runs]
        assert logs[0] == logs[1] and logs[0].startswith("$ ")
        (entry,) = build_cache.entries()
        assert (entry.facts["simulator"], entry.facts["top"]) == (simulator, "model")
        assert (entry.facts["version"], entry.key) == (results[0]["version"], next(home.iterdir()).name)

    def test_may_share_a_cache_at_once(self, tmp_path: Path) -> None:
        """One of four concurrent runs builds; the others wait and take that build."""
        found: list[bool] = []

        def one(name: str) -> None:
            found.append(build_of(tmp_path / name, GOOD, "verilator").cached)

        threads = [threading.Thread(target=one, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [False, True, True, True]

    def test_with_an_empty_limit_build_each_time(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DAIS_VERIF_CACHE_MB", "0")
        assert not any(build_of(tmp_path / name).cached for name in "aab")
        assert build_cache.entries() == []

    def test_with_a_limit_that_is_no_number_are_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DAIS_VERIF_CACHE_MB", "much")
        run = sim(tmp_path)
        assert run.ending == ("INVALID_INPUT", 2)
        assert "DAIS_VERIF_CACHE_MB is 'much'" in run.record["message"]

    @pytest.mark.parametrize("blocked", ["cache", "cache/builds"])
    def test_without_a_cache_that_can_be_written_build_each_time(self, blocked: str, tmp_path: Path) -> None:
        """Each run builds if a file is in the place of the cache's folder; missing permissions would not stop root."""
        shutil.rmtree(tmp_path / "cache")
        (tmp_path / blocked).parent.mkdir(exist_ok=True)
        (tmp_path / blocked).touch()
        assert not build_of(tmp_path / "a").cached
        assert ending(sim(tmp_path / "a")) == ("PASS", False)

    def test_go_on_when_the_cache_is_cleared(self, tmp_path: Path) -> None:
        """A run keeps the build that it was given, even if the cache is cleared."""
        first, second = (build_of(tmp_path / name) for name in "ab")
        assert second.cached
        build_cache.clear()
        assert code(first) == code(second) != b""

    def test_out_of_the_cache_spend_no_time_on_compiling(self, tmp_path: Path) -> None:
        watches = Stopwatch(), Stopwatch()
        for watch in watches:
            build_of(tmp_path / "a", watch=watch)
        assert [watch.seconds("icarus compile") > 0 for watch in watches] == [True, False]

    def test_say_so(self, tmp_path: Path) -> None:
        told = (sim(tmp_path).stderr.splitlines() for _ in range(2))
        built, taken = (next(line for line in lines if "icarus: " in line) for lines in told)
        # The time of a build, and that of a run.
        assert [len(re.findall(r"\d s\b", line)) for line in (built, taken)] == [2, 1]
        as_recorded(taken)
        (entry,) = json.loads(command("cache", "--json").stdout)["builds"]
        assert tuple(entry["facts"][name] for name in ("simulator", "top", "version")) == (
            "icarus",
            "model",
            tools.icarus().version,
        )


class TestOther:
    """If anything differs on which a build depends, the design is built again."""

    def test_rtl_is_found_wrong_though_the_good_one_is_kept(self, tmp_path: Path) -> None:
        """Wrong RTL that differs from right, cached RTL in only one character, and not in length, is found wrong."""
        bad = mutant(EVERY, "op_4 =", "+", "-")
        assert len(bad) == len(emit_verilog(EVERY))
        runs = [run_sim(EVERY, tmp_path, "--vectors", 50, rtl=rtl) for rtl in (None, bad)]
        assert [ending(run) for run in runs] == [("PASS", False), ("RTL_MISMATCH", False)]

    @MOSTLY_ICARUS
    def test_rtl_of_the_same_path_date_and_size(self, simulator: str, tmp_path: Path) -> None:
        source, found = tmp_path / "design.v", []
        for text in (GOOD, BAD, GOOD, BAD):
            source.write_text(text)
            os.utime(source, (10**9, 10**9))
            simulation = build(simulator, RtlDesign((source,), "model"), tmp_path / "build")
            found.append((simulation.cached, code(simulation)))
        assert [cached for cached, _ in found] == [False, False, True, True]
        assert found[0][1] == found[2][1] != found[1][1] == found[3][1]

    @MOSTLY_ICARUS
    def test_top(self, simulator: str, tmp_path: Path) -> None:
        two = GOOD + BAD.replace("module model", "module other")
        tops = ("model", "other", "model")
        found = [build_of(tmp_path, two, simulator, top=top) for top in tops]
        assert [(simulation.top, simulation.cached) for simulation in found] == [
            ("model", False),
            ("other", False),
            ("model", True),
        ]

    def test_order_and_split_of_files(self, tmp_path: Path) -> None:
        """The same total text in another order or split into files is built anew: a macro's last definition counts."""
        one, two, use = "`define V 4'd0\n", "`define V 4'd1\n", GOOD.replace("4'd0", "`V")
        for name, text in (("a", one), ("b", two), ("c", use), ("bc", two + use)):
            (tmp_path / f"{name}.v").write_text(text)
        found = {}
        for names in ("a b c", "b a c", "a bc", "b c"):
            design = RtlDesign(tuple(tmp_path / f"{name}.v" for name in names.split()), "model")
            found[names] = [build("icarus", design, tmp_path / "build").cached for _ in range(2)]
        assert found == {names: [False, True] for names in found}

    @pytest.mark.slow
    def test_options_in_verilator(self, tmp_path: Path) -> None:
        options: list[dict[str, Any]] = [{"signals": ("a",)}, {"signals": ("b",)}, {"signals": ("b",), "waves": True}]
        found = [build_of(tmp_path, GOOD, "verilator", **some) for some in options * 2]
        assert [simulation.cached for simulation in found] == [False] * 3 + [True] * 3
        assert [simulation.waves for simulation in found[:3]] == [simulation.waves for simulation in found[3:]]

    def test_tool(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Another installation of the same version of Icarus gives another build."""
        (tmp_path / "bin").mkdir()
        for name, path in (("iverilog", tools.icarus().iverilog), ("vvp", tools.icarus().vvp)):
            (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nexec "{path}" "$@"\n')
            (tmp_path / "bin" / name).chmod(0o755)
        assert not build_of(tmp_path).cached
        monkeypatch.setenv("DAIS_VERIF_IVERILOG", str(tmp_path / "bin" / "iverilog"))
        assert not build_of(tmp_path).cached

    def test_what_was_left_in_the_folder_is_not_what_is_run(self, tmp_path: Path) -> None:
        """A folder that holds the build of one design gets that of another design out of the cache."""
        good, bad = (code(build_of(tmp_path / name, text)) for name, text in (("a", GOOD), ("b", BAD)))
        assert good != bad
        again = build_of(tmp_path / "b", GOOD)
        assert (again.cached, code(again)) == (True, good)


class TestOtherFiles:
    """RTL that reads files known only to the simulator is built each time."""

    @MOSTLY_ICARUS
    def test_that_are_included(self, simulator: str, tmp_path: Path) -> None:
        rtl = GOOD.replace("module", '`include "v.vh"\nmodule', 1).replace("4'd0", "`V")
        found = []
        for value in (0, 0, 1):
            (tmp_path / "v.vh").write_text(f"`define V 4'd{value}\n")
            found.append(build_of(tmp_path, rtl, simulator))
            if simulator == "icarus":
                assert f"4'b000{value}" in code(found[-1]).decode() or f"C4<000{value}>" in code(found[-1]).decode()
        assert not any(simulation.cached for simulation in found)
        assert build_cache.entries() == []

    @BOTH
    def test_that_have_the_name_of_a_module(self, simulator: str, tmp_path: Path) -> None:
        """Verilator must not look for the module beside the sources: changes of that file would be missed."""
        top = GOOD.replace("assign model_out = model_inp ^ 4'd0", "inner i(model_inp, model_out)")
        (tmp_path / "inner.v").write_text(GOOD.replace("module model", "module inner"))
        with pytest.raises(ToolError, match="inner"):
            build_of(tmp_path, top, simulator)
        # If the RTL includes any file, Verilator does find the module; such a build is not kept.
        (tmp_path / "empty.vh").touch()
        if simulator == "verilator":
            build_of(tmp_path, '`include "empty.vh"\n' + top, simulator)
        assert build_cache.entries() == []


class TestBroken:
    """A broken entry never makes a run pass, and does not break all later runs."""

    @pytest.mark.parametrize(
        ("simulator", "size"),
        [("icarus", 1000), pytest.param("verilator", 1000, marks=pytest.mark.slow), ("verilator", 400_000)],
    )
    def test_cut_off_does_not_pass(self, simulator: str, size: int, tmp_path: Path, home: Path) -> None:
        build_of(tmp_path, GOOD, simulator)
        rewritten(the(home, simulator), lambda data: data[:size])
        run = sim(tmp_path, simulator)
        assert run.record["verdict"] == "TOOL_FAILURE" or ending(run) == ("PASS", False), ending(run)

    @pytest.mark.parametrize(
        ("simulator", "cut"),
        [
            ("icarus", 1),
            ("icarus", 1000),
            pytest.param("verilator", 1, marks=pytest.mark.slow),
            pytest.param("verilator", 1000, marks=pytest.mark.slow),
        ],
    )
    def test_cut_off_is_built_again(self, simulator: str, cut: int, tmp_path: Path, home: Path) -> None:
        good = code(build_of(tmp_path, GOOD, simulator))
        rewritten(the(home, simulator), lambda data: data[:-cut])
        found = [build_of(tmp_path, GOOD, simulator) for _ in range(2)]
        assert [simulation.cached for simulation in found] == [False, True]
        assert len(code(found[1])) == len(good)

    @MOSTLY_ICARUS
    def test_without_a_file_is_built_again_once(self, simulator: str, tmp_path: Path, home: Path) -> None:
        build_of(tmp_path, GOOD, simulator)
        the(home, simulator).unlink()
        assert [build_of(tmp_path, GOOD, simulator).cached for _ in range(2)] == [False, True]

    def test_for_another_does_not_pass(self, tmp_path: Path, home: Path) -> None:
        """Even if entries are mixed up, the simulation only passes if it computes the right outputs."""
        build_of(tmp_path, GOOD)
        good = the(home, "icarus")
        bad = code(build_of(tmp_path, BAD))
        rewritten(good, lambda _: bad)
        assert ending(sim(tmp_path)) in [("RTL_MISMATCH", True), ("PASS", False)]

    def test_not_by_a_later_build_in_the_folder_of_an_earlier_one(self, tmp_path: Path, home: Path) -> None:
        build_of(tmp_path, GOOD)
        files = {path: path.read_bytes() for path in the(home, "icarus").parent.iterdir()}
        build_of(tmp_path, GOOD.replace("model(", "other("), top="other")
        assert {path: path.read_bytes() for path in files} == files


def the(home: Path, simulator: str) -> Path:
    """Return the executable of the only entry."""
    (found,) = home.glob(f"*/{OUTPUT[simulator]}")
    return found


def rewritten(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Replace the file by a new one with changed contents; earlier runs have links to the old one."""
    data = change(path.read_bytes())
    path.unlink()
    path.write_bytes(data)
    path.chmod(0o755)


class TestFailures:
    def test_are_not_kept(self, tmp_path: Path) -> None:
        for _ in range(2):
            with pytest.raises(ToolError, match="syntax error"):
                build_of(tmp_path, GOOD.replace("assign", "assign assign"))
        with pytest.raises(ToolError, match=r"time.*0 s"):
            build_of(tmp_path, timeout=0)
        assert build_cache.entries() == []
        assert not build_of(tmp_path).cached

    def test_rtl_that_is_edited_while_it_is_built(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The build is of the text that was hashed, even if the file changes meanwhile."""
        compiled = icarus.build

        def edited(sources: tuple[Path, ...], *arguments: Any, **options: Any) -> Simulation:
            sources[0].write_text(BAD)
            return compiled(sources, *arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(icarus, "build", edited)
            build_of(tmp_path)
        assert (tmp_path / "build" / "rtl" / "0" / "design.v").read_text() == GOOD
        assert build_of(tmp_path).cached
        assert not build_of(tmp_path, BAD).cached
