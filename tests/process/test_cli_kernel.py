"""``kernel list`` and ``kernel show`` and the functions that they call; the code in docs/kernels.md runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.places import CORPUS
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import InputError, RequestError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.caller import instantiate
from dais_verif.compile.kernels.discovery import find_libraries
from dais_verif.compile.kernels.instance import instance_of
from dais_verif.compile.kernels.mapping_laws import check_mapping
from dais_verif.compile.kernels.structures import HabanaKernelParams, Tensor
from dais_verif.doors.cli import main
from dais_verif.golden.members import run_instance
from dais_verif.spec.program import FixedType

PAGE = (Path(__file__).parents[2] / "docs" / "kernels.md").read_text(encoding="utf-8")
MINE, USE, FILE, OWN = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


def asked(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> tuple[str, str]:
    assert main._run(list(map(str, words))) == code
    found = capsys.readouterr()
    return found.out, found.err


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Write the library of docs/kernels.md."""
    path = tmp_path / "mine.py"
    path.write_text(MINE, encoding="utf-8")
    return path


class TestPage:
    def test_the_library_negates(self, mine: Path) -> None:
        s4 = FixedType(1, 3, 0)
        request = HabanaKernelParams("negate", (Tensor.of(s4, 3),), (Tensor.of(s4, 3),))
        instance = instance_of(request, instantiate(find_libraries([mine]), request))
        assert run_instance(instance, [np.array([[1, -2, 7]])])[0].tolist() == [[-1, 2, -7]]

    def test_the_instance_is_evaluated(self) -> None:
        names: dict[str, object] = {}
        exec(USE, names)
        assert np.asarray(names["y"]).shape == (2, 4, 16, 16)

    def test_the_file_of_a_request(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (file,) = (text for text in re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S) if "w.npy" in text)
        (tmp_path / "conv.toml").write_text(file)
        np.save(tmp_path / "w.npy", np.linspace(-1, 0.875, 54 * 2).reshape(4, 3, 3, 3) // 0.125 * 0.125)
        monkeypatch.chdir(tmp_path)
        names: dict[str, Any] = {"find_libraries": find_libraries}
        exec(FILE, names)
        instance = instance_of(names["request"], instantiate(find_libraries(), names["request"]))
        assert instance.mapping.outputs[0].sizes == (16, 16, 4)

    def test_the_file_of_a_filter(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (file,) = (text for text in re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S) if "fir16.bin" in text)
        (tmp_path / "fir16.bin").write_bytes((CORPUS / "p03_fir16" / "prog.v1.bin").read_bytes())
        (tmp_path / "fir.toml").write_text(file)
        monkeypatch.chdir(tmp_path)
        names: dict[str, Any] = {}
        exec(OWN, names)
        assert check_mapping(names["instance"].mapping).verdict is Verdict.PASS

    def test_every_shipped_kernel_is_in_the_table(self) -> None:
        table = PAGE[PAGE.index("| kernel | computes |") : PAGE.index("Images are")]
        rows = re.findall(r"^\| (`[^|]*`) \|", table, re.M)
        names = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
        assert names == {kernel.name for kernel in dais_verif.list_kernels().kernels if kernel.library == "dais"}

    def test_every_code_is_in_the_table(self) -> None:
        rows = re.findall(r"^\| (\d[\d, to]*) \|", PAGE, re.M)
        numbers = [n for text in rows for n in re.findall(r"\d+", text)]
        assert sorted(map(int, numbers)) == [*range(22), 24, 400]


class TestList:
    def test_ours_are_there(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "160")
        out, _ = asked(capsys, "kernel", "list")
        rows = [line.split(maxsplit=2) for line in out.splitlines()]
        assert rows[0][:2] == ["kernel", "library"]
        assert {"relu", "dense", "conv2d"} <= {row[0] for row in rows if row[1] == "dais"}

    def test_a_library_of_mine(self, capsys: pytest.CaptureFixture[str], mine: Path) -> None:
        out, _ = asked(capsys, "kernel", "list", "--library", mine, "--json")
        listing = json.loads(out)
        assert {"name": "negate", "library": "mine"}.items() <= listing["kernels"][0].items()
        assert listing == json.loads(dais_verif.list_kernels(mine).to_json()) and not listing["left_out"]

    def test_a_broken_one_is_named_and_the_rest_is_listed(self, capsys: pytest.CaptureFixture[str], mine: Path) -> None:
        bad = mine.with_name("bad.py")
        bad.write_text("import no_such_module_at_all")
        out, _ = asked(capsys, "kernel", "list", "--library", bad, "--library", mine, code=2)
        flat = " ".join(out.split())
        assert "negate" in flat and "conv2d" in flat and "left out: library bad" in flat
        assert "ModuleNotFoundError" in flat
        out, err = asked(capsys, "kernel", "show", "negate", "--library", bad, "--library", mine)
        assert "library bad" in err and "negate" in out

    def test_names_of_others_are_no_markup(self, capsys: pytest.CaptureFixture[str], mine: Path) -> None:
        mine.write_text(MINE.replace('"negate"', '"[bold]x"'))
        assert "[bold]x" in asked(capsys, "kernel", "list", "--library", mine)[0]
        assert "[bold]x" in asked(capsys, "kernel", "show", "[bold]x", "--library", mine)[0]


class TestShow:
    def test_what_a_kernel_takes(self, capsys: pytest.CaptureFixture[str]) -> None:
        out, _ = asked(capsys, "kernel", "show", "conv2d")
        assert "3: input, weights, bias" in out
        assert all(
            f"{name}: signed, 32 bits, {default} " in out for name, default in (("stride_w", 1), ("activation", 0))
        )
        as_recorded(out)
        out, _ = asked(capsys, "kernel", "show", "conv2d", "--json")
        assert json.loads(out) == json.loads(dais_verif.show_kernel("conv2d").to_json())

    def test_a_library_that_only_answers(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        bare = tmp_path / "bare.py"
        bare.write_text(
            "from dais_verif.compile.kernels.shipped import LIBRARY as ours\n"
            "get_kernel_names, habana_kernel = ours.get_kernel_names, ours.habana_kernel\n"
        )
        out, _ = asked(capsys, "kernel", "show", "bare/relu", "--library", bare)
        as_recorded(out)
        assert dais_verif.show_kernel("bare/relu", bare).inputs is None

    @pytest.mark.parametrize(
        ("name", "said"), [("nope", "'nope'"), ("rleu", " relu?"), ("relu", "mine/relu or dais/relu")]
    )
    def test_one_line_and_2(self, capsys: pytest.CaptureFixture[str], mine: Path, name: str, said: str) -> None:
        mine.write_text(MINE.replace('"negate"', '"relu"'))
        _, err = asked(capsys, "kernel", "show", name, "--library", mine, code=2)
        assert said in err and err.count("\n") == 1
        as_recorded(err.rstrip())

    def test_files_that_are_not_there(self, tmp_path: Path) -> None:
        with raises(InputError):
            dais_verif.list_kernels(tmp_path / "none.py")
        with pytest.raises(RequestError, match="libraries"):
            dais_verif.list_kernels(3)  # type: ignore[arg-type]


CONV = """kernel = "conv2d"
[input]
shape = [1, 2, 3]
type = "s4.1"
[weights]
shape = [1, 1, 2, 2]
type = "s3.1"
seed = 3
[options]
pad = [1, 0]
"""


class TestBuild:
    @pytest.mark.slow
    def test_the_lines_of_the_page(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The commands of the page work in order: build, simulate, prove, and compare with the unfolded program."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "conv.toml").write_text(CONV)
        page = PAGE[PAGE.index("## An instance as hardware") : PAGE.index("## The shipped kernels")]
        lines = re.findall(r"^    dais-verif (.*?)(?:  +#.*)?$", page, re.M)
        assert [line.split()[0] for line in lines] == ["run", "sim", "prove"]
        np.save("x.npy", np.zeros((1, 2, 3)))
        asked(capsys, "kernel", "build", "conv2d", "--params", "conv.toml", "-o", "conv")
        for line in lines:
            out, _ = asked(capsys, *line.split(), *(["--sim", "icarus"] if line.startswith("sim") else []))
            assert "PASS" in out or (line.startswith("run") and "conv" in line)
        assert np.load("y.npy").shape == (1, 3, 2)

    def test_the_folder_and_its_facts(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        (tmp_path / "conv.toml").write_text(CONV)
        words = ("kernel", "build", "conv2d", "--params", tmp_path / "conv.toml", "-o", tmp_path / "conv")
        assert "4 cycles" in asked(capsys, *words)[0]
        built = dais_verif.build_kernel("conv2d", tmp_path / "conv.toml", output=tmp_path / "conv")
        assert json.loads(asked(capsys, *words, "--json")[0]) == json.loads(built.to_json())
        assert built.files == sorted(
            path.relative_to(tmp_path / "conv").as_posix() for path in (tmp_path / "conv").rglob("*") if path.is_file()
        )
        assert (built.facts["cycles"], built.facts["latency"]) == (4, 5 * 4 + 4 + 1 + 3)
        assert np.load(tmp_path / "conv" / "aux" / "input1.npy").shape == (1, 1, 2, 2)
        facts = json.loads((tmp_path / "conv" / "instance.json").read_bytes())
        assert facts["index_space"] == [2, 3] and facts["facts"] == built.facts

    def test_what_was_edited_is_not_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "conv.toml").write_text(CONV)
        dais_verif.build_kernel("conv2d", tmp_path / "conv.toml", output=tmp_path / "conv")
        (tmp_path / "conv" / "model.v").write_text("mine")
        with raises(InputError):
            dais_verif.build_kernel("conv2d", tmp_path / "conv.toml", output=tmp_path / "conv")

    def test_a_kernel_of_ones_own(self, tmp_path: Path) -> None:
        """The filter of the page can be built; with a shorter output, its last member would write beyond it."""
        (file,) = (text for text in re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S) if "fir16.bin" in text)
        (tmp_path / "fir16.bin").write_bytes((CORPUS / "p03_fir16" / "prog.v1.bin").read_bytes())
        (tmp_path / "fir.toml").write_text(file)
        built = dais_verif.build_kernel(str(tmp_path / "fir.toml"), output=tmp_path / "fir")
        assert (built.members, built.facts["cycles"]) == (7, 31)
        (tmp_path / "fir.toml").write_text(file.replace("[7]", "[6]"))
        with raises(InputError):
            dais_verif.build_kernel(str(tmp_path / "fir.toml"), output=tmp_path / "fir")

    def test_other_requests_are_refused(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        (tmp_path / "conv.toml").write_text(CONV)
        _, err = asked(capsys, "kernel", "build", "relu", "-o", tmp_path / "a", code=2)
        as_recorded(err)
        _, err = asked(
            capsys, "kernel", "build", "relu", "--params", tmp_path / "conv.toml", "-o", tmp_path / "a", code=2
        )
        as_recorded(err)
