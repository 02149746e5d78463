"""The package works as users install it: built from a clean copy, in a new virtual environment, outside the clone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples" / "quantised_mac.bin"

pytestmark = pytest.mark.slow


def call(*words: object, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command in an environment without this clone and without the Python environment of the tests."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "PYTEST"))
    }
    path = os.pathsep.join(one for one in kept["PATH"].split(os.pathsep) if not one.startswith(str(ROOT)))
    command = [str(word) for word in words]
    return subprocess.run(command, cwd=cwd, env={**kept, "PATH": path, **more}, capture_output=True, text=True)


def pip(python: Path, *words: object, cwd: Path, **more: str) -> None:
    """Call pip; skip the test if the machine reaches no package index."""
    done = call(python, "-m", "pip", *words, cwd=cwd, PIP_DISABLE_PIP_VERSION_CHECK="1", **more)
    if done.returncode and ("No matching distribution" in done.stderr or "connection" in done.stderr.lower()):
        pytest.skip(f"pip reaches no index of packages: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


def fresh_venv(folder: Path) -> Path:
    """Return the Python of a new virtual environment in ``folder``."""
    done = call(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "venv" / "bin" / "python"


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source distribution from the files that git tracks, without others in the clone."""
    folder = tmp_path_factory.mktemp("sdist")
    source = folder / "source"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is not a git repository")
    for name in listed.stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    build = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
    done = call(sys.executable, "-c", build, cwd=source)
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*.tar.gz")
    return found


def test_the_source_distribution_holds_what_a_build_needs(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "rtl/dais_axis.v",
        "dais_verif/golden/kernel/kernel.c",
        "dais_verif/golden/kernel/rows.h",
        "LICENSE",
    } <= names
    assert not {name for name in names if name.endswith((".so", ".pyc")) or name.startswith((".venv", "build"))}


def test_a_wheel_of_it_works_outside_the_clone(sdist: Path, tmp_path: Path) -> None:
    """``sim``, ``prove``, ``--wrap axis``, a report and the pytest plugin work, with the compiled engine."""
    python = fresh_venv(tmp_path)
    pip(python, "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, sdist, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    pip(python, "install", "--quiet", f"{wheel}[sim,prove,report]", "pytest", cwd=tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy(PROGRAM, work / "prog.bin")
    command = python.parent / "dais-verif"
    for words in (
        ["check", "prog.bin"],
        ["sim", "prog.bin", "--vectors", "50", "-o", "run"],
        ["prove", "prog.bin", "--no-cache"],
        ["emit", "prog.bin", "--wrap", "axis", "-o", "axis"],
        ["sim", "prog.bin", "--wrapped", "axis", "--sim", "icarus"],
        ["report", "run", "-o", "run.html"],
    ):
        done = call(command, *words, cwd=work)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
    done = call(python, "-m", "pytest", "--dais", "prog.bin", "--dais-vectors", "20", "--dais-sim", "icarus", cwd=work)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
    done = call(command, "signoff", "prog.bin", "-o", "signoff", cwd=work)
    assert done.returncode == 3 and "pip install 'dais-verif[signoff]'" in done.stderr, done.stderr
    ask = "import dais_verif.golden as g; print(g.__file__, g.Golden('prog.bin').engine)"
    done = call(python, "-c", ask, cwd=work)
    place, engine = done.stdout.split()
    assert engine == "fast" and Path(place).is_relative_to(tmp_path / "venv")


def test_without_a_compiler_another_engine_does_the_same(sdist: Path, tmp_path: Path) -> None:
    python = fresh_venv(tmp_path)
    pip(python, "install", "--quiet", sdist, cwd=tmp_path, CC="/no/compiler", CXX="/no/compiler")
    (tmp_path / "x.csv").write_text("1.5,2,0.25\n7.75,7.75,7.75\n")
    command = python.parent / "dais-verif"
    done = call(command, "run", PROGRAM, "--inputs", "x.csv", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.split()[-2:] == ["6.0", "25.5"], (done.stdout, done.stderr)
    assert "the numpy engine gives the same results, slower" in done.stderr
    assert call(command, "check", PROGRAM, cwd=tmp_path).returncode == 0
    done = call(command, "sim", PROGRAM, cwd=tmp_path)
    assert done.returncode == 3 and "pip install 'dais-verif[sim]'" in done.stderr and done.stderr.count("\n") == 1
