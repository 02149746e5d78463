"""Kernel libraries are found in files and installed packages; a broken one is named and does not affect the others."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.caller import instantiate
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.discovery import ENTRY_POINTS, Libraries, find_libraries
from dais_verif.compile.kernels.mapping import mapping_of
from dais_verif.compile.kernels.mapping_laws import check_mapping
from dais_verif.compile.kernels.structures import HabanaKernelParams, Tensor
from dais_verif.spec.program import FixedType, Program, read_binary

#: A third-party library in one file: the larger of two numbers, element by element.
OUTSIDERS = '''
"""Kernels of somebody else."""

from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.glue import Kernel, Patterns
from dais_verif.compile.kernels.library import Library
from dais_verif.compile.kernels.rules import access, expect_output_sizes, point, refuse
from dais_verif.spec.program import Program, write_binary


def larger(request):
    """y = x if x - z >= 0 else z, exactly."""
    k, i, f = kind = request.inputs[0].data_type
    ops = [(-1, 0, -1, 0, kind), (-1, 1, -1, 0, kind), (1, 0, 1, 0, (1, i + 1, f)), (6, 1, 0, 2, kind)]
    return write_binary(Program.build(ops, [(3, 0, 0)], inp_shift=[0, 0]), "v1")


def one_each(request):
    return access(*(point(d) for d in range(request.outputs[0].dims)))


LIBRARY = Library("outsiders", (Kernel(
    "larger", inputs=2, outputs=1,
    checks=(
        refuse(GlueCode.INCOMPATIBLE_DATA_TYPE, lambda r: len({t.data_type for t in r.inputs + r.outputs}) > 1),
        refuse(GlueCode.INCOMPATIBLE_INPUT_SIZE, lambda r: r.inputs[0].geometry != r.inputs[1].geometry),
        expect_output_sizes(lambda r: r.inputs[0].sizes),
    ),
    index_space=lambda r: r.outputs[0].geometry.shape,
    patterns=lambda r: Patterns([one_each(r), one_each(r)], [one_each(r)]),
    program=larger,
),))
'''

#: The same interface without our classes: two functions.
BARE = """
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.library import names_that_fit
from dais_verif.compile.kernels.structures import NO_BUFFERS

def get_kernel_names(device, max_count):
    return names_that_fit(["bare"], max_count)

def habana_kernel(params, instance=NO_BUFFERS):
    return (GlueCode.SUCCESS if params.node_name == "bare" else GlueCode.NODE_NOT_FOUND), NO_BUFFERS
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text(dedent(text), encoding="utf-8")
    return path


def names(libraries: Libraries) -> tuple[str, ...]:
    return libraries.get_kernel_names(1, 1000).names


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of installed packages, in which ``offer`` writes libraries."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def offer(folder: Path, package: str, **modules: str) -> None:
    entries = "".join(f"{name} = {value}\n" for name, value in modules.items())
    information = folder / f"{package}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{entries}")
    importlib.invalidate_caches()  # importlib may have cached a listing of the folder


class TestOutsiders:
    def test_it_is_short(self) -> None:
        assert sum(bool(line) for line in OUTSIDERS.splitlines()) <= 30

    def test_it_is_found_and_used(self, tmp_path: Path) -> None:
        libraries = find_libraries([written(tmp_path, "outsiders", OUTSIDERS)], installed=False)
        assert names(libraries) == ("larger",) and not libraries.broken
        kind = FixedType(1, 3, 2)
        x = Tensor.of(kind, 8, 3)
        request = HabanaKernelParams("larger", (x, x), (x,))
        answer = instantiate(libraries, request)
        assert check_mapping(mapping_of(request, answer)).verdict is Verdict.PASS
        assert answer.index_space_geometry.shape == (8, 3)
        block = read_binary(answer.kernel_elf, "v1")
        assert isinstance(block, Program) and (block.n_in, block.n_out) == (2, 1)
        code, _ = libraries.habana_kernel(HabanaKernelParams("larger", (x,), (x,)))
        assert code is GlueCode.INCOMPATIBLE_INPUT_COUNT

    def test_two_functions_are_enough(self, tmp_path: Path) -> None:
        libraries = find_libraries([written(tmp_path, "plain", BARE)], installed=False)
        assert names(libraries) == ("bare",)
        assert libraries.habana_kernel(HabanaKernelParams("bare"))[0] is GlueCode.SUCCESS

    def test_it_may_be_a_package(self, package: Path) -> None:
        written(package, "their_kernels", OUTSIDERS)
        written(package, "more_kernels", BARE)
        offer(package, "theirs", theirs="their_kernels:LIBRARY", more="more_kernels")
        # Its imports must not affect the process of the tests.
        ask = (
            "from dais_verif.compile.kernels.discovery import find_libraries; libraries = find_libraries();"
            "found, name = libraries.find('larger'); print(found.name, '|', found.where, '|', name);"
            "print(libraries.find('bare')[0].name, libraries.broken)"
        )
        environment = {**os.environ, "PYTHONPATH": str(package)}
        done = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=False)
        assert done.stdout.splitlines() == ["theirs | theirs, their_kernels:LIBRARY | larger", "more ()"], done


class TestOurs:
    def test_they_are_there_without_an_installation_and_once_with_it(self) -> None:
        assert [one.name for one in find_libraries().found].count("dais") == 1

    def test_the_entry_point_is_declared(self) -> None:
        project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert project["entry-points"][ENTRY_POINTS] == {"dais": "dais_verif.compile.kernels.shipped:LIBRARY"}

    def test_an_installed_one_is_not_taken_twice(self, package: Path) -> None:
        offer(package, "again", dais="dais_verif.compile.kernels.shipped:LIBRARY")
        libraries = find_libraries()
        assert not libraries.broken and "relu" in names(libraries)


class TestBroken:
    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("1 +", "SyntaxError"),
            ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
            ("raise SystemExit(3)", "SystemExit: 3"),
            ("x = 1", "LIBRARY"),
            ("LIBRARY = 3", "LIBRARY"),
            (BARE.replace('["bare"]', '["a", "a"]'), ""),
            (BARE.replace('["bare"]', '["a/b"]'), "'a/b'"),
            (BARE.replace('["bare"]', '["a" * 64]'), "63 bytes"),
            (
                BARE.replace("max_count)\n", "max_count + 1)[:2] + ((),)\n"),
                "1 kernel,",
            ),
            (OUTSIDERS.replace('"larger",', '"lar/ger",'), "63 bytes"),
        ],
        ids=["syntax", "import", "exit", "nothing", "number", "twice", "slash", "long", "miscounted", "refused"],
    )
    def test_it_is_named_and_the_others_work(self, tmp_path: Path, text: str, why: str) -> None:
        files = [written(tmp_path, "bad", text), written(tmp_path, "good", OUTSIDERS)]
        libraries = find_libraries(files, installed=False)
        assert names(libraries) == ("larger",)
        (broken,) = libraries.broken
        as_recorded(str(broken))
        assert why in broken.why
        assert "\n" not in str(broken)
        with raises(InputError):
            libraries.find("bare")

    def test_a_broken_package(self, package: Path) -> None:
        offer(package, "broken", gone="no_such_module_at_all:LIBRARY")
        libraries = find_libraries()
        assert [one.name for one in libraries.broken] == ["gone"]

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with raises(InputError):
            find_libraries([tmp_path / "none.py"])

    def test_two_of_one_name(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        files = [written(tmp_path, "mine", OUTSIDERS), written(tmp_path / "a", "mine", BARE)]
        libraries = find_libraries(files, installed=False)
        assert names(libraries) == ("larger",)
        as_recorded(libraries.broken[0].why)


class TestNames:
    def both(self, folder: Path) -> Libraries:
        return find_libraries([written(folder, "a", BARE), written(folder, "b", BARE)], installed=False)

    def test_a_name_that_two_have_is_qualified(self, tmp_path: Path) -> None:
        libraries = self.both(tmp_path)
        assert names(libraries) == ("a/bare", "b/bare")
        assert libraries.habana_kernel(HabanaKernelParams("b/bare"))[0] is GlueCode.SUCCESS
        assert libraries.find("b/bare")[0].name == "b"
        code, answer = libraries.habana_kernel(HabanaKernelParams("bare"))
        assert code is GlueCode.NODE_NOT_FOUND and "a/bare or b/bare" in answer.failure
        with raises(InputError):
            libraries.find("bare")

    def test_a_unique_name_may_be_qualified(self, tmp_path: Path) -> None:
        libraries = find_libraries([written(tmp_path, "a", BARE)], installed=False)
        assert libraries.habana_kernel(HabanaKernelParams("a/bare"))[0] is GlueCode.SUCCESS
        assert libraries.habana_kernel(HabanaKernelParams("c/bare"))[0] is GlueCode.NODE_NOT_FOUND
