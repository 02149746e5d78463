"""The plan of a regression: files, names, order, shards, and what a job's result depends on."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.project_folders import alkaid_folder
from support.records import RECORD
from support.said import as_recorded, raises
from support.tier import examples

from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict, worst
from dais_verif.campaigns.regression.cluster import _Kept
from dais_verif.campaigns.regression.executors import Executor
from dais_verif.campaigns.regression.job import Task, run_jointly
from dais_verif.campaigns.regression.journal import NAME, History, Journal, Past, read_journal
from dais_verif.campaigns.regression.launcher import Ending, Request
from dais_verif.campaigns.regression.plan import (
    Choices,
    Defaults,
    Part,
    Planned,
    Variant,
    grouped,
    in_order,
    make_plan,
    shard_of,
)
from dais_verif.campaigns.regression.programs import Found, find, names_of, stem_of, unjudged
from dais_verif.campaigns.regression.runner import Settings, run_jobs
from dais_verif.campaigns.regression.watcher import RegressionWatcher
from dais_verif.record.campaigns import Job, JobResult
from dais_verif.record.simulation import Failed
from dais_verif.verbs.manifest import read_manifest, stages_variant


def planned(name: str) -> Planned:
    return Planned(Job(f"{name}/emitted/both/0", f"{name}.bin", "emitted", "both", 0, []), 9.0, name, ())


# Files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "a.bin": b"",
        "b.dais": b"",
        "b.mach": b"",
        "c.json": b" [1]",
        "d.json": b'{"verdict": 1}',
        "e.json.gz": gzip.compress(b"[[8,"),
        "f.json.gz": gzip.compress(b"{}"),
        "h.json": b'{"model":[[1,',
        "i.json.gz": gzip.compress(b'{ "meta": "ALIRModel", "model"'),
        "machine.json": b'{"meta": "ALIRFSM", "fsm": {',
        "metadata.json": b'{"flavor": "verilog"}',
        "broken.json.gz": b"\x1f\x8b",
        "g.npy": b"",
        ".hidden.bin": b"",
        "below/a.bin": b"",
        "below/.git/x.bin": b"",
        "an old run/result.json": b'{"schema": "dais-verif/result/1"}',
        "an old run/vectors/000000.bin": b"",
    }
    for name, data in files.items():
        (tmp_path / "f" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "f" / name).write_bytes(data)
    return tmp_path / "f"


def test_a_folder_means_its_programs_and_those_below(folder: Path) -> None:
    names = [
        "a.bin",
        "b.dais",
        "b.mach",
        "broken.json.gz",
        "c.json",
        "e.json.gz",
        "h.json",
        "i.json.gz",
        "machine.json",
        "below/a.bin",
    ]
    assert [found.name for found in find(str(folder)).found] == names
    assert [found.path for found in find(str(folder)).found] == [folder / name for name in names]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.bin", ["a.bin"]),
        ("**/*.bin", ["a.bin", "below/a.bin", "an old run/vectors/000000.bin"]),
        ("[ab].*", ["a.bin", "b.dais", "b.mach"]),
        ("bel*", ["below/a.bin"]),
        ("*.v", []),
        ("d.json", ["d.json"]),
        ("absent.bin", ["absent.bin"]),
    ],
)
def test_globs_and_files(pattern: str, names: list[str], folder: Path) -> None:
    """A file that is named without a glob is taken, whatever its content is."""
    assert {found.path for found in find(str(folder / pattern)).found} == {folder / name for name in names}


def test_what_may_be_a_program_and_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "gone.bin").symlink_to("nowhere/x.bin")
    (folder / "gone").symlink_to("nowhere")
    os.mkfifo(folder / "pipe.bin")
    os.mkfifo(folder / "pipe")  # no program by its name
    (folder / "an old run" / "a.bin").touch()
    alkaid_folder(folder / "an old run" / "project")
    (folder / "theirs").mkdir()
    (folder / "theirs" / "result.json").write_text('{"loss": 1}')  # not of dais-verif: it hides nothing
    (folder / "theirs" / "A.BIN").touch()
    alkaid_folder(folder / ".draft")
    search = find(str(folder))
    assert "theirs/A.BIN" in [found.name for found in search.found]
    named = [line.split("' ")[0].rpartition("/")[2] for line in search.left_out]
    assert sorted(named) == [".draft", ".hidden.bin", "a.bin", "gone", "gone.bin", "pipe.bin", "project"]


def test_a_folder_that_cannot_be_listed_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir, access = os.scandir, os.access

    def refused(path: Path) -> Iterator[os.DirEntry[str]]:
        if Path(path).name == "below":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "below" and access(path, mode))
    assert find(str(folder / "*" / "*.bin")).left_out[0].startswith(f"{str(folder / 'below')!r}")
    monkeypatch.setattr("dais_verif.campaigns.regression.programs.os.scandir", refused)
    named = [line.split(" ")[0] for line in find(str(folder)).left_out]
    assert repr(str(folder / "below")) in named


def test_links_to_folders_are_followed_once(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "z.bin").touch()
    (folder / "more").symlink_to(tmp_path / "elsewhere")
    (folder / "below" / "loop").symlink_to(folder)
    assert [found.name for found in find(str(folder)).found][-2:] == ["below/a.bin", "more/z.bin"]


def test_rtl_that_no_job_would_verify_is_named(folder: Path) -> None:
    """A program beside the user's RTL, and the model of a project folder, are no reason to be green on our RTL."""
    assert unjudged(find(str(folder))) == []
    (folder / "below" / "a.v").touch()
    assert "a.v" in unjudged(find(str(folder)))[0]
    assert unjudged(find(str(folder / "*.bin"))) == []
    for pattern in ("*", "bel*", "*/*"):  # a glob that takes the RTL, or the folder in which it is
        assert "a.v" in unjudged(find(str(folder / pattern)))[0]
    project = alkaid_folder(folder / "project")
    assert [found.name for found in find(str(folder)).found][-1] == "project"
    for pattern in (project / "model" / "comb.json.gz", folder / "**" / "comb.json.gz"):
        assert repr(str(project)) in unjudged(find(str(pattern)))[0]


def test_names_tell_programs_apart_and_no_more(tmp_path: Path) -> None:
    paths = ["x/a.bin", "y/a.bin", "z/y/a.bin", "b.bin"]
    found = [Found(tmp_path / path, Path(path).name) for path in paths]
    assert list(names_of(found).values()) == ["x/a.bin", f"{tmp_path.name}/y/a.bin", "z/y/a.bin", "b.bin"]


def test_the_same_file_is_one_program_however_it_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "link.bin").symlink_to("a.bin")
    programs = [find(path).found[0] for path in ("a.bin", str(folder / "a.bin"), "below/../a.bin", "link.bin")]
    plan = make_plan([Part(program, stages_variant(0)) for program in programs], Choices(), Defaults())
    assert [(each.job.id, each.job.program) for each in plan] == [("a.bin/emitted/both/0", "a.bin")]


@pytest.mark.parametrize(("name", "stem"), [("a.v1.bin", "a.v1"), ("a.json.gz", "a"), ("a.json", "a"), ("a", "a")])
def test_stems(name: str, stem: str) -> None:
    assert stem_of(Path("x.y") / name) == stem


# Manifests

MANIFEST = """
programs = ["*.bin", "below"]
simulators = ["icarus", "verilator"]
seeds = [3, 4]
timeout = 60

[variants.emitted]

[variants.deep]
stages = 3
vectors = 5

[variants.theirs]
rtl = "{folder}/rtl/{stem}*.v"
data = ["tables"]
ports = "ports.toml"
top = "top"
clock = "clk"
latency = "auto"
programs = "below/a.bin"
simulators = ["verilator"]
seeds = [9]
arguments = ["--unchecked"]
"""


def test_a_manifest_is_programs_times_variants_times_simulators_times_seeds(folder: Path) -> None:
    (folder / "regress.toml").write_text(MANIFEST)
    (folder / "below" / "rtl").mkdir()
    for name in ("a2.v", "a1.v", "b.v"):
        (folder / "below" / "rtl" / name).write_text("")
    parts, empty = read_manifest(folder / "regress.toml")
    plan = make_plan(parts, Choices(), Defaults())
    assert empty == []
    assert len({each.job.id for each in plan}) == len(plan) == 2 * 2 * 2 * 2 + 1
    by_name = {each.job.id: each for each in plan}
    deep = by_name[f"{folder.name}/a.bin/deep/verilator/4"]
    assert deep.job.arguments == ["--sim", "verilator", "--seed", "4", "--vectors", "5", "--stages", "3"]
    assert deep.timeout == 60
    theirs = by_name["below/a.bin/theirs/verilator/9"]
    rtl = [folder / "below" / "rtl" / name for name in ("a1.v", "a2.v")]
    assert theirs.files == (*rtl, folder / "tables", folder / "ports.toml")
    assert theirs.job.arguments == [
        *["--sim", "verilator", "--seed", "9", "--vectors", "1000"],
        *("--rtl", str(rtl[0]), "--rtl", str(rtl[1]), "--data", str(folder / "tables")),
        *("--top", "top", "--ports", str(folder / "ports.toml"), "--clock", "clk", "--latency", "auto", "--unchecked"),
    ]


def test_a_program_that_no_variant_takes_is_named(folder: Path) -> None:
    (folder / "regress.toml").write_text(MANIFEST.replace('["*.bin", "below"]', '["*.dais", "below"]'))
    assert read_manifest(folder / "regress.toml")[1] == []
    text = 'programs = ["*.dais", "below"]\n[variants.deep]\nstages = 3\nprograms = "below"\n'
    (folder / "regress.toml").write_text(text)
    parts, empty = read_manifest(folder / "regress.toml")
    assert [part.program.path.name for part in parts] == ["a.bin"]
    assert [str(folder / "b.dais") in line for line in empty] == [True]


def test_the_command_outranks_the_manifest(folder: Path) -> None:
    (folder / "regress.toml").write_text(MANIFEST)
    parts, _ = read_manifest(folder / "regress.toml")
    given = Choices(simulators=("icarus",), seeds=(7,), vectors=8, timeout=9.0)
    for each in make_plan(parts, given, Defaults()):
        assert each.job.arguments[:6] == ["--sim", "icarus", "--seed", "7", "--vectors", "8"] and each.timeout == 9


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("programs =", "valid TOML"),
        ("", "missing required field `programs`"),
        ("programs = 1", "programs: Expected `str | array`, got `int`"),
        ('programs = "a"\nprogram = "b"', "unknown field `program`; known are programs, variants, simulators"),
        ('programs = "a"\nseeds = [0, -1]', "seeds[1]: Expected `int` >= 0"),
        ('programs = "a"\nseeds = []', "seeds: Expected `array` of length >= 1"),
        (
            'programs = "a"\nsimulators = ["xsim"]',
            'simulators[0]: unknown value \'xsim\', must be one of "both", "ghdl"',
        ),
        ('programs = "a"\ntimeout = 0', "timeout: Expected `float` > 0"),
        ('programs = "a"\ntimeout = nan', "timeout: Expected `float` > 0"),
        ('programs = "a"\n[variants.x]\nstages = "3"', "[variants.x] stages must be an integer"),
        (
            'programs = "a"\n[variants.x]\nstage = 3',
            "[variants.x] stage is no key of a variant; did you mean stages?",
        ),
        ('programs = "a"\n[variants.x]\nstages = 3\nrtl = "a.v"', "emitted RTL"),
        (
            'programs = "a"\n[variants.x]\narguments = ["--seed=4"]',
            "--seed=4",
        ),
        ('programs = "a"\n[variants.x]\nsuggest = "a.v"', "[variants.x] suggest is no key"),
        ('programs = "a"\n[variants.x]\narguments = ["--suggest", "a.v"]', "--suggest"),
        ('programs = "a"\n[variants."x/y"]', "'x/y'"),
        ('programs = "a"\n[variants]\nx = 3', "[variants.x]"),
    ],
    ids=range(17),
)
def test_what_a_manifest_cannot_say(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "regress.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_manifest(path)
    assert problem in str(caught.value) and str(path) in str(caught.value) and "\n" not in str(caught.value)
    as_recorded(caught.value)


def test_one_name_for_two_things_is_refused() -> None:
    a = Part(Found(Path("a.bin"), "a.bin"), Variant("x", {"stages": 1}, ("--stages", "1")))
    with raises(InputError):
        make_plan([a, replace(a, variant=Variant("x", {"stages": 2}, ("--stages", "2")))], Choices(), Defaults())


def test_a_name_that_is_not_utf_8_is_refused() -> None:
    """A name that is not UTF-8 is refused: no record can hold it, and a job under another name finds no file."""
    part = Part(Found(Path("\udcff.bin"), "\udcff.bin"), Variant("x"))
    with raises(InputError):
        make_plan([part], Choices(), Defaults())


def test_a_name_that_looks_like_an_option_is_none() -> None:
    (each,) = make_plan([Part(Found(Path("--json"), "--json"), Variant("x"))], Choices(), Defaults())
    assert (each.job.program, each.job.id) == ("./--json", "--json/x/both/0")


# Order, shards


def test_what_failed_comes_first_then_what_is_new_then_the_slow() -> None:
    names = ["quick", "new1", "slow", "failed", "new2"]
    past = {"quick": Past(True, 1.0), "slow": Past(True, 9.0), "failed": Past(False, 5.0)}
    keys = {planned(name).past_key: seen for name, seen in past.items()}
    ordered = in_order([planned(name) for name in names], keys)
    assert [each.folder for each in ordered] == ["failed", "new1", "new2", "slow", "quick"]


@settings(max_examples=examples(30))
@given(st.lists(st.text(max_size=8), unique=True, max_size=9), st.integers(1, 7), st.text(max_size=8))
def test_every_job_is_in_exactly_one_shard_whatever_else_there_is(names: list[str], shards: int, more: str) -> None:
    plan = [planned(name) for name in names]
    found = [each for i in range(shards) for each in shard_of(plan, i + 1, shards)]
    assert sorted(each.job.id for each in found) == sorted(each.job.id for each in plan)
    for i in range(shards):
        alone = [each for each in shard_of([*plan, planned(more)], i + 1, shards) if each.folder != more]
        assert alone == [each for each in shard_of(plan, i + 1, shards) if each.folder != more]


@pytest.mark.parametrize("broken", [b"", b"no database", None])
def test_history_is_a_help_and_no_more(broken: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "below" / "history.sqlite"
    if broken is not None:
        path.parent.mkdir()
        path.write_bytes(broken)
    history = History(path)
    assert history.of(["a"]) == {}
    history.note("a", Past(True, 1.0))
    history.note("a", Past(False, 2.0))
    assert history.of(["a", "b"]) == {"a": Past(False, 2.0)}, "a broken one is made anew"
    History(tmp_path).note("a", Past(True, 1.0))
    assert History(tmp_path).of(["a"]) == {}


def test_results_come_early_after_an_interruption(tmp_path: Path) -> None:
    """An interrupted run goes on with small groups, which end before the next interruption."""
    jobs = []
    for number in range(40):
        (tmp_path / f"{number}.bin").touch()
        job = Job(f"{number}", str(tmp_path / f"{number}.bin"), "emitted", "icarus", 0, ["--seed", "0"])
        jobs.append(Planned(job, 9.0, f"{number}", ()))
    assert [len(group) for group in grouped(jobs, {}, 2)] == [20, 20]
    rising = [len(group) for group in grouped(jobs, {}, 2, rising=True)]
    assert rising[:4] == [1, 1, 2, 2] and sum(rising) == 40


# Fingerprints


def test_the_fingerprint_tells_when_a_block_of_a_machine_is_another_one(tmp_path: Path) -> None:
    """A changed block of a machine changes the fingerprint; otherwise, a resumed run would keep the old result."""
    path = tmp_path / "m.mach"
    path.write_text('machine\nblock add = "add.dais"\nblock other = "not there"\n')
    (tmp_path / "add.dais").write_text("one")
    job = Job("m/emitted/both/0", str(path), "emitted", "both", 0, [])
    each = Planned(job, 9.0, "m", ())
    before = each.fingerprint([], {}, Path.cwd())
    assert each.fingerprint([], {}, Path.cwd()) == before
    (tmp_path / "add.dais").write_text("two")
    assert each.fingerprint([], {}, Path.cwd()) != before


def test_the_fingerprint_tells_whatever_decides(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_text("1")
    (tmp_path / "a.v").write_text('$readmemh("t.mem", x);\n`include "k.vh"\n')
    (tmp_path / "k.vh").write_text('`define TABLE "low.mem"\n')
    (tmp_path / "more.sv").write_text("")
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    for name in ("t.mem", "low.mem", "folder/deep/x.v"):
        (tmp_path / name).write_text("00")
    arguments = ["--seed", "0", f"--rtl={tmp_path}/more.sv", "--rtl", str(tmp_path / "folder")]
    job = Job("a", str(tmp_path / "a.bin"), "x", "both", 0, arguments)
    each = Planned(job, 9.0, "a", (tmp_path / "a.v",))
    tools = {"icarus": "11"}
    known = {each.fingerprint([1, False], tools, Path.cwd())}
    assert each.fingerprint([1, False], tools, Path.cwd()) in known

    def new(value: str) -> bool:
        fresh = value not in known
        known.add(value)
        return fresh

    assert new(each.fingerprint([2, False], tools, Path.cwd()))
    assert new(each.fingerprint([1, True], tools, Path.cwd()))
    assert new(each.fingerprint([1, False], {"icarus": "12"}, Path.cwd()))
    assert new(replace(each, timeout=8.0).fingerprint([1, False], tools, Path.cwd()))
    assert new(replace(each, job=replace(job, arguments=["--seed", "1"])).fingerprint([1, False], tools, Path.cwd()))
    for name in ("a.bin", "a.v", "t.mem", "k.vh", "low.mem", "more.sv", "folder/deep/x.v"):
        with (tmp_path / name).open("a") as file:
            file.write(" ")
        assert new(each.fingerprint([1, False], tools, Path.cwd())), name
    (tmp_path / "a.v").unlink()
    assert new(each.fingerprint([1, False], tools, Path.cwd()))


def test_the_fingerprint_tells_what_lies_beside_another_source(tmp_path: Path) -> None:
    """Folders of all sources are searched for includes and tables, so a change in any of them counts."""
    for name, text in {
        "p.bin": "1",
        "a/m.v": '`include "k.vh"\nmodule m; initial $readmemh("t.mem", x); endmodule\n',
        "b/other.v": '`include "c/deep.vh"\n',
        "b/k.vh": "1",
        "b/c/deep.vh": '// "low.mem"\n',
        "b/c/low.mem": "00",
        "b/tables/t.mem": "00",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    job = Job("a", str(tmp_path / "p.bin"), "x", "both", 0, [])
    each = Planned(job, 9.0, "a", (tmp_path / "a" / "m.v", tmp_path / "b" / "other.v"))
    known = {each.fingerprint([], {}, tmp_path)}
    for name in ("b/k.vh", "b/c/deep.vh", "b/c/low.mem", "b/tables/t.mem"):
        with (tmp_path / name).open("a") as file:
            file.write(" ")
        found = each.fingerprint([], {}, tmp_path)
        assert found not in known, name
        known.add(found)
    (tmp_path / "a" / "k.vh").write_text("another")
    assert each.fingerprint([], {}, tmp_path) not in known


# Jobs that share a build


@pytest.mark.parametrize(
    ("sizes", "workers", "expected"),
    [
        ([0, 0, 0], 1, [3]),
        ([1] * 10, 2, [5, 5]),
        ([1] * 300, 1, [128, 128, 44]),
        ([1 << 17] * 5, 1, [2, 2, 1]),
        ([1, 1 << 18, 1, 1], 1, [1, 1, 2]),
        ([(1 << 18) + 1, 1, 1], 1, [1, 2]),
    ],
)
def test_small_jobs_are_grouped_by_number_and_size(
    sizes: list[int], workers: int, expected: list[int], tmp_path: Path
) -> None:
    jobs = []
    for number, size in enumerate(sizes):
        with (tmp_path / f"{number}.bin").open("wb") as file:
            file.truncate(size)
        job = Job(str(number), str(tmp_path / f"{number}.bin"), "emitted", "both", 0, ["--sim", "both"])
        jobs.append(Planned(job, 9.0, str(number), ()))
    groups = grouped(jobs, {}, workers)
    assert sorted(map(len, groups)) == sorted(expected)
    assert sorted(one.job.id for group in groups for one in group) == sorted(one.job.id for one in jobs)


class _Broken(Executor):
    """An executor in which job 11 breaks the build of its group, and fails alone; job 3 only fails."""

    def __init__(self) -> None:
        self.together: list[list[str]] = []
        self.alone: list[str] = []

    def workers(self) -> int:
        return 1

    def running(self) -> list[str]:
        return []

    def close(self) -> None:
        pass

    def doubts(self, ended: Future[JobResult]) -> bool:
        return False

    def submit(self, task: Task) -> Future[JobResult]:
        self.alone.append(task.job.id)
        verdict = Verdict.RTL_MISMATCH if task.job.id in ("3", "11") else Verdict.PASS
        future: Future[JobResult] = Future()
        future.set_result(JobResult(task.job, verdict, "", 1.0, [verdict]))
        return future

    def submit_jointly(self, tasks: Sequence[Task]) -> Future[list[JobResult | None]]:
        names = [task.job.id for task in tasks]
        self.together.append(names)
        future: Future[list[JobResult | None]] = Future()
        good = [
            None if task.job.id == "3" or "11" in names else JobResult(task.job, Verdict.PASS, "", 1.0, [Verdict.PASS])
            for task in tasks
        ]
        future.set_result(good)
        return future


def test_a_job_that_breaks_a_common_build_is_found_by_halves(tmp_path: Path) -> None:
    jobs = []
    for number in range(20):
        (tmp_path / f"{number}.bin").write_bytes(b"")
        job = Job(str(number), str(tmp_path / f"{number}.bin"), "emitted", "both", 0, ["--sim", "both"])
        jobs.append(Planned(job, 9.0, str(number), ()))
    executor = _Broken()
    settings = Settings(tmp_path, tmp_path, "dais-verif", {}, jointly=True)
    record = run_jobs(jobs, executor, settings, History(tmp_path / "history"), RegressionWatcher())
    failed = [result.job.id for result in record.jobs if result.verdict is not Verdict.PASS]
    assert (len(record.jobs), failed) == (20, ["3", "11"])
    assert [len(names) for names in executor.together] == [20, 10, 10, 5, 5, 2, 3]
    assert set(executor.alone) == {"3", "10", "11"} | set(
        executor.together[-2 if "11" in executor.together[-2] else -1]
    )


class _Blaming(_Broken):
    """An executor that loses all jobs under way when job 3 runs, as Dask does with all jobs of a lost worker."""

    def __init__(self) -> None:
        super().__init__()
        self.under_way: dict[str, Future[JobResult]] = {}
        self.most = 5

    def doubts(self, ended: Future[JobResult]) -> bool:
        return ended.exception() is not None

    def submit(self, task: Task) -> Future[JobResult]:
        self.alone.append(task.job.id)
        future = self.under_way[task.job.id] = Future()
        if len(self.under_way) == self.most:
            for name, one in self.under_way.items():
                if "3/emitted/both/0" in self.under_way:
                    one.set_exception(OSError(f"{name}: lost"))
                else:
                    one.set_result(JobResult(task.job, Verdict.PASS, "", 1.0, [Verdict.PASS]))
            self.under_way, self.most = {}, 1
        return future


def test_jobs_that_were_lost_with_others_run_again_alone(tmp_path: Path) -> None:
    jobs = [planned(str(number)) for number in range(5)]
    executor = _Blaming()
    record = run_jobs(
        jobs, executor, Settings(tmp_path, tmp_path, "x", {}), History(tmp_path / "history"), RegressionWatcher()
    )
    failed = {result.job.id: result.message for result in record.jobs if result.verdict is not Verdict.PASS}
    assert list(failed) == [jobs[3].job.id] and "lost" in failed[jobs[3].job.id]
    assert sorted(executor.alone) == sorted([one.job.id for one in jobs] * 2)


def test_a_worker_keeps_the_results_of_a_task_that_has_ended(tmp_path: Path) -> None:
    task = Task(planned("a").job, tmp_path, "jobs/a", tmp_path, 9.0)
    with _Kept(task, "k") as kept:
        assert kept.results is None
        (tmp_path / "jobs" / "a").mkdir(parents=True)
        kept.results = [result("a"), None]
    with _Kept(task, "k") as kept:
        assert kept.results == [result("a"), None]
    with _Kept(task, "another") as kept:
        assert kept.results is None


# The journal


def result(name: str) -> JobResult:
    return JobResult(planned(name).job, Verdict.PASS, "ä\n", 1.0, [Verdict.PASS])


@settings(max_examples=examples(40), deadline=None)
@given(cut=st.integers(0, 2000), tail=st.binary(max_size=9))
def test_a_journal_cut_anywhere_keeps_its_whole_lines(
    cut: int, tail: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    journal = Journal(folder, carry_on=False)
    for name in "abcd":
        journal.add(name, result(name))
    journal.close()
    text = (folder / NAME).read_bytes()
    whole = text[:cut].count(b"\n")
    (folder / NAME).write_bytes(text[:cut] + tail.replace(b"\n", b""))
    assert read_journal(folder) == {name: result(name) for name in "abcd"[:whole]}
    carried_on = Journal(folder, carry_on=True)
    carried_on.add("e", result("e"))
    carried_on.close()
    assert read_journal(folder) == {name: result(name) for name in [*"abcd"[:whole], "e"]}


# The worst of many verdicts


@given(st.lists(st.sampled_from(Verdict)))
def test_only_passes_make_a_pass(verdicts: list[Verdict]) -> None:
    found = worst(verdicts)
    assert (found is Verdict.PASS) == (bool(verdicts) and set(verdicts) == {Verdict.PASS})
    assert found in verdicts or (found is Verdict.NOT_RUN and not verdicts)


def test_what_did_not_pass_together_is_left_to_a_run_of_its_own(tmp_path: Path) -> None:
    records: dict[str, str | None] = {
        "good": replace(RECORD, verdict=Verdict.PASS, first_mismatch=None).to_json(),
        "wrong": RECORD.to_json(),
        "failed": Failed(Verdict.TOOL_FAILURE, "no simulator").to_json(),
        "silent": None,
    }
    tasks = [Task(Job(name, f"{name}.bin", "", "both", 0, []), tmp_path, name, tmp_path, 10.0) for name in records]

    class Writer:
        def run(self, request: Request, stopped: object) -> Ending:
            for name, text in records.items():
                (tmp_path / name).mkdir(exist_ok=True)
                if text is not None:
                    (tmp_path / name / "result.json").write_text(text)
            return Ending("itself", 0, 1.0)

    launcher: Any = Writer()
    found = run_jointly(tasks, launcher, "here")
    assert [one and one.verdict for one in found] == [Verdict.PASS, None, None, None]
