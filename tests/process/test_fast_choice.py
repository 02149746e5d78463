"""Which engine runs, with which instructions and on how many threads: what can be forced, and errors if it cannot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.fast_cases import isas, vectors
from support.programs import every_opcode
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import EngineFailure, InputError, ToolError
from dais_verif.golden import EngineWarning, Golden, fast, run, run_raw
from dais_verif.spec.program import Program, write_binary
from dais_verif.spec.program.numbers import Batch

ROOT = Path(__file__).parents[2]
EVERY = every_opcode()

with_kernel = pytest.mark.usefixtures("kernel")


@pytest.fixture
def fresh() -> Iterator[None]:
    """Clear what is cached about the kernel and the machine, before and after the test."""
    for known in (fast._load, fast.isa):
        known.cache_clear()
    yield
    for known in (fast._load, fast.isa):
        known.cache_clear()


def some_rows(rows: int) -> np.ndarray:
    return np.random.default_rng(3).integers(-160, 160, (rows, EVERY.n_in)) / 32


def command(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, with the package under test."""
    path = os.pathsep.join([str(Path(dais_verif.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DAIS_VERIF_")}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**kept, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def run_command(tmp_path: Path) -> list[str]:
    """Return the arguments of ``dais-verif run`` for a program and its vectors."""
    (tmp_path / "prog.bin").write_bytes(write_binary(EVERY, "v1"))
    np.save(tmp_path / "x.npy", some_rows(2085))
    return ["-m", "dais_verif", "run", str(tmp_path / "prog.bin"), "--inputs", str(tmp_path / "x.npy"), "--unchecked"]


# ------------------------------------------------------------------ instruction sets and threads


@with_kernel
def test_every_instruction_set_can_be_forced(run_command: list[str]) -> None:
    expected = run(EVERY, some_rows(2085), engine="numpy", check=False)
    for isa in isas():
        done = command(*run_command, "--engine", "fast", "--jobs", 2, DAIS_VERIF_ISA=isa)
        assert (done.returncode, done.stderr) == (0, "")
        found = np.loadtxt(done.stdout.splitlines()[1:], delimiter=",")
        assert np.array_equal(found, expected), isa


@with_kernel
@pytest.mark.usefixtures("fresh")
def test_what_is_forced_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    program = fast.FastProgram(EVERY)
    code = program.code(True)

    def spied(isa: str, *arguments: Any) -> Any:
        asked.append(isa)
        return code.run(isa, *arguments)

    program._codes[True] = SimpleNamespace(run=spied)
    for isa in isas():
        monkeypatch.setenv("DAIS_VERIF_ISA", isa)
        fast.isa.cache_clear()
        program.run_doubles(some_rows(3), check=True)
    monkeypatch.delenv("DAIS_VERIF_ISA")
    fast.isa.cache_clear()
    program.run_doubles(some_rows(3), check=True)
    assert asked == [*isas(), isas()[0]]


@with_kernel
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("isa", ["avx", "AVX2", "sse2", "neon", " "])
def test_an_unknown_instruction_set_is_refused(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_ISA", isa)
    with pytest.raises(ToolError) as caught:
        run(EVERY, some_rows(2))
    assert repr(isa) in str(caught.value) and ", ".join(isas()) in str(caught.value)


@pytest.mark.usefixtures("fresh")
def test_an_instruction_set_that_the_machine_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(has_isa=lambda name: name == "base")
    monkeypatch.setattr(fast, "_load", lambda: SimpleNamespace(module=module, problem=""))
    monkeypatch.setenv("DAIS_VERIF_ISA", "avx512")
    with pytest.raises(ToolError, match=r"^DAIS_VERIF_ISA is 'avx512'.*machine.*base$"):
        fast.isa()
    monkeypatch.delenv("DAIS_VERIF_ISA")
    assert fast.isa() == "base"


@with_kernel
def test_the_kernel_refuses_instructions_that_it_does_not_know() -> None:
    code = fast.FastProgram(EVERY).code(False)
    nothing = np.zeros(0)
    with pytest.raises(ValueError, match="no instruction set"):
        code.run("neon", nothing, 0, "f", 8, True, nothing, 0, 0, 0, 0, nothing, nothing, nothing)


@with_kernel
def test_a_wrong_instruction_set_ends_the_command_in_one_line(run_command: list[str]) -> None:
    done = command(*run_command, DAIS_VERIF_ISA="mmx")
    assert done.returncode == 3
    assert "TOOL_FAILURE: DAIS_VERIF_ISA" in done.stderr and ", ".join(isas()) in done.stderr
    assert done.stderr.endswith("docs/troubleshooting.md#engines\n")


@with_kernel
@pytest.mark.parametrize("text", ["", "0", "-1", "two", "1.5", "²"])
def test_a_wrong_number_of_threads_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_THREADS", text)
    message = ""
    with raises(InputError, match=message):
        run(EVERY, some_rows(2))


@with_kernel
@pytest.mark.parametrize("engine", ["fast", "numpy", "exact"])
@pytest.mark.parametrize("jobs", [0, -3])
def test_no_threads_at_all_are_refused(engine: Any, jobs: int) -> None:
    planar = np.zeros((EVERY.n_in, 2), dtype=np.int8)
    golden, x = Golden(EVERY, engine=engine), some_rows(2)
    for call in (
        lambda: golden.run(x, jobs=jobs),
        lambda: golden.run(x.tolist(), jobs=jobs),
        lambda: golden.run_raw(Batch.of(x, EVERY.n_in), jobs=jobs),
        lambda: golden.run_planar(planar, jobs=jobs),
    ):
        with raises(InputError):
            call()


@with_kernel
def test_a_wrong_number_of_threads_ends_the_command_in_one_line(run_command: list[str]) -> None:
    done = command(*run_command, DAIS_VERIF_THREADS="many")
    assert done.returncode == 2
    as_recorded(done.stderr)
    assert done.stderr.count("\n") == 1
    done = command(*run_command, "--jobs", 0)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "'--jobs': 0 is not in the range" in done.stderr


@with_kernel
def test_threads_are_started_where_they_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    in_threads = fast._in_threads
    monkeypatch.setattr(fast, "_in_threads", lambda *each: started.append(each[2]) or in_threads(*each))
    x, expected = some_rows(9001), run(EVERY, some_rows(9001), engine="numpy")
    golden = Golden(EVERY, engine="fast")
    assert np.array_equal(golden.run(x, jobs=3), expected)
    assert started == []
    monkeypatch.setattr(fast, "_WORTH_THREADS", 0)
    assert np.array_equal(golden.run(x, jobs=3), expected)
    monkeypatch.setenv("DAIS_VERIF_THREADS", "2")
    assert np.array_equal(Golden(EVERY, engine="fast").run(x), expected)
    assert started == [3, 2]


# ------------------------------------------------------------------ without the kernel


@pytest.fixture
def missing(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that the kernel was never built."""
    monkeypatch.setitem(sys.modules, "dais_verif.golden._kernel", None)


@pytest.fixture
def stale(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that the kernel was built from other sources."""
    monkeypatch.setitem(sys.modules, "dais_verif.golden._kernel", SimpleNamespace(SOURCE_HASH="0" * 16))


#: Fixtures without a kernel that can be used.
REASONS = ["missing", "stale"]


@pytest.mark.parametrize("reason", REASONS)
def test_without_the_kernel_another_engine_says_so_once_and_gives_the_same(
    reason: str, request: pytest.FixtureRequest
) -> None:
    x, planar = some_rows(40), np.random.default_rng(5).integers(-128, 128, (EVERY.n_in, 40)).astype(np.int16)
    expected, raw = run(EVERY, x, engine="exact"), vectors(EVERY, planar).raw
    request.getfixturevalue(reason)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        golden = Golden(EVERY)
    assert [warning.category for warning in caught] == [EngineWarning]
    as_recorded(str(caught[0].message))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert golden.engine == "numpy"
        assert np.array_equal(golden.run(x), expected)
        assert golden.run_planar(planar).tolist() == raw.tolist()
        Golden(EVERY, engine="numpy").run(x)


@pytest.mark.parametrize("reason", REASONS)
def test_each_function_warns_once_a_call_at_the_line_of_its_caller(reason: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(reason)
    x = some_rows(3)
    for call in (
        lambda: run(EVERY, x),
        lambda: run_raw(EVERY, Batch.of(x, EVERY.n_in)),
        lambda: Golden(EVERY),
        lambda: run(EVERY, x),
    ):
        with pytest.warns(EngineWarning) as caught:
            call()
        line = call.__code__.co_firstlineno
        assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line)]


@pytest.mark.parametrize("reason", REASONS)
def test_without_the_kernel_engine_fast_is_a_missing_tool(reason: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(reason)
    with pytest.raises(EngineFailure) as caught:
        Golden(EVERY, engine="fast")
    as_recorded(str(caught.value))


def test_without_the_kernel_the_command_prints_one_line_more(run_command: list[str], tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text('import sys\nsys.modules["dais_verif.golden._kernel"] = None\n')
    path = os.pathsep.join([str(tmp_path), str(Path(dais_verif.__file__).parents[1])])
    done = command(*run_command, PYTHONPATH=path)
    assert done.returncode == 0
    assert done.stderr.startswith("warning: ") and done.stderr.count("\n") == 1
    as_recorded(done.stderr)
    assert done.stdout == command(*run_command, "--engine", "numpy").stdout
    done = command(*run_command, "--engine", "fast", PYTHONPATH=path)
    assert done.returncode == 3
    assert done.stderr.startswith("dais-verif: TOOL_FAILURE: engine fast: ") and done.stderr.count("\n") == 1
    as_recorded(done.stderr)


# ------------------------------------------------------------------ beyond the kernel


def one_op(kind: tuple[int, int, int], *more: tuple[int, int, int, int, tuple[int, int, int]], out: int = 0) -> Program:
    tables = [[1, 2, 3]] if any(row[0] == 8 for row in more) else []
    return Program.build([(-1, 0, -1, 0, kind), *more], [(out, 0, 0)], inp_shift=[0], tables=tables)


BEYOND = {
    "output unsigned of 64 bits": one_op((0, 64, 0)),
    "output of 65 bits": one_op((1, 60, 0), (0, 0, 0, 3, (1, 64, 0)), out=1),
    "input of 65 bits": one_op((1, 64, 0), (3, 0, -1, 0, (1, 7, 0)), out=1),
    "lookup by 32 bits": one_op((0, 32, 0), (8, 0, -1, 0, (0, 2, 0)), out=1),
    "lookup far from its table": one_op((1, 30, 0), (8, 0, -1, -(1 << 31) << 32, (0, 2, 0)), out=1),
}


@with_kernel
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", BEYOND)
def test_what_is_beyond_the_kernel_is_served_by_another_engine_without_a_word(name: str) -> None:
    program, x = BEYOND[name], [[0], [1], [2], [-1], [1 << 40], [-(1 << 63)]]
    batch = Batch.of(x, 1)
    golden = Golden(program)
    assert golden.engine == "numpy"
    for one, other in zip(
        golden.run_raw(batch, check=False), run_raw(program, batch, engine="exact", check=False), strict=True
    ):
        assert one.tolist() == other.tolist()
    with raises(InputError, match="fast engine"):
        Golden(program, engine="fast")


@with_kernel
@pytest.mark.filterwarnings("error")
def test_what_only_checks_need_may_be_beyond_the_kernel_too() -> None:
    """Without checks, the kernel takes a program with an op that it cannot compute, if no other op reads that op."""
    program = one_op((0, 40, 0), (8, 0, -1, 0, (0, 2, 0)))
    x = np.array([[1.0], [2.0]])
    golden = Golden(program)
    assert (golden.run(x, check=False).tolist(), golden.engine) == ([[1.0], [2.0]], "fast")
    assert (golden.run(x).tolist(), golden.engine) == ([[1.0], [2.0]], "numpy")
    assert golden.run(x, check=False).tolist() == [[1.0], [2.0]]
    wanted = Golden(program, engine="fast")
    assert wanted.run(x, check=False).tolist() == [[1.0], [2.0]]
    with raises(InputError, match="fast engine"):
        wanted.run(x)


@with_kernel
@pytest.mark.parametrize(
    "program",
    [
        one_op((1, 63, 0)),
        one_op((0, 63, 0)),
        one_op((0, 64, 0), (3, 0, -1, 0, (1, 7, 0)), out=1),
        one_op((1, 60, 0), (0, 0, 0, 90, (1, 150, 0)), (3, 1, -1, 0, (1, 7, 0)), out=2),
        one_op((0, 31, 0), (8, 0, -1, 0, (0, 2, 0)), out=1),
    ],
    ids=["signed-64", "unsigned-63", "input-64", "wide-inside", "lookup-31"],
)
def test_what_is_just_within_the_kernel_is_taken(program: Program) -> None:
    assert Golden(program).engine == "fast"


# ------------------------------------------------------------------ building


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Copy the sources of the kernel, without an earlier build, which would hide that a compiler is missing."""
    if not (ROOT / "setup.py").exists():
        pytest.skip("the sources of the package are not here")
    for name in ("setup.py", "pyproject.toml", "README.md", "dais_verif/base/version.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "dais_verif/golden/kernel", tmp_path / "dais_verif/golden/kernel")
    return tmp_path


def build(folder: Path, **environment: str) -> tuple[subprocess.CompletedProcess[str], list[Path]]:
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done, sorted((folder / "dais_verif").rglob("*.so"))


def test_without_a_c_compiler_the_build_goes_on_without_the_kernel(sources: Path) -> None:
    done, built = build(sources, CC="/bin/false")
    assert done.returncode == 0, done.stderr
    assert built == []


@pytest.mark.slow
@pytest.mark.slow  # `make setup` builds it, too
@pytest.mark.skipif(shutil.which("cc") is None and shutil.which("gcc") is None, reason="no C compiler")
def test_with_a_c_compiler_the_kernel_is_built_and_knows_its_sources(sources: Path) -> None:
    # the compiler of this machine with little optimisation, which would take most of the time
    (sources / "cc").write_text('#!/bin/sh\nexec "$(command -v cc || command -v gcc)" "$@" -Og -g0\n')
    (sources / "cc").chmod(0o755)
    done, (built,) = build(sources, CC=str(sources / "cc"))
    assert done.returncode == 0, done.stderr
    script = (
        "import importlib.util, sys\n"
        "spec = importlib.util.spec_from_file_location('dais_verif.golden._kernel', sys.argv[1])\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "print(module.SOURCE_HASH, module.has_isa('base'))\n"
    )
    found = command("-c", script, built)
    files = sorted((sources / "dais_verif/golden/kernel").glob("*.[ch]"))
    digest = sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    assert found.stdout.split() == [digest[:16], "True"], found.stderr
