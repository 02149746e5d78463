"""Pictures of instances: grids show which elements members touch, charts show when; text, page and record agree."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from support.kernel_instances import OUT, S5, instance, instances
from support.pages import passed_run
from support.said import as_recorded

import dais_verif
from dais_verif.base.errors import InputError
from dais_verif.compile.kernels.caller import instantiate
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.compile.kernels.forms.stream import stream_form
from dais_verif.compile.kernels.instance import KernelInstance, instance_of
from dais_verif.compile.kernels.mapping import Addressing, MappedTensor, Mapping
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.compile.kernels.shipped import LIBRARY
from dais_verif.compile.kernels.shipped.pooling import STRUCTURE as POOL
from dais_verif.compile.kernels.structures import HabanaKernelParams, Tensor
from dais_verif.doors.cli import main
from dais_verif.golden.machine import trace_machine
from dais_verif.golden.machine_batch import run_machine
from dais_verif.record.kernel_picture import OUTSIDE, TOUCHED, Activity, Chart, Grid, KernelPicture
from dais_verif.record.program import ProgramInfo
from dais_verif.report.html.kernels.page import write_kernel_page
from dais_verif.report.html.page import render
from dais_verif.report.html.sources import Source
from dais_verif.report.kernel_picture_text import print_picture
from dais_verif.spec.machine import load_machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.spec.program import FixedType, Program
from dais_verif.verbs.kernels.picture import picture_of

INSTANCES = instances()


def spans(chart: Chart, what: str) -> dict[tuple[int, ...], tuple[int, int]]:
    """Return the first and last cycle in which each member of the chart reads, computes or writes."""
    return {tuple(one.member or ()): (one.first, one.last) for one in chart.activities if one.what == what}


def chart_of(one: KernelInstance, form: str) -> Chart:
    (chart,) = picture_of(one, forms=[form]).charts
    return chart


class TestGrids:
    @pytest.mark.parametrize("name", INSTANCES)
    def test_each_element_has_its_mark(self, name: str) -> None:
        """The marks of all grids are exactly the elements of the mapping."""
        one = INSTANCES[name]
        mapping = one.mapping
        tensors = (*mapping.inputs, *mapping.outputs)
        rng = np.random.default_rng(3)
        for member in [
            (0,) * len(mapping.geometry),
            *rng.integers(0, mapping.geometry, size=(3, len(mapping.geometry))),
        ]:
            picture = picture_of(one, [int(at) for at in member], forms=[])
            for tensor, shown in zip(tensors, picture.tensors, strict=True):
                elements = mapping.addressing(tensor).elements(np.array([member]))[0].tolist()
                inside = [all(0 <= at < n for at, n in zip(e, tensor.sizes, strict=True)) for e in elements]
                wanted = Counter(tuple(element[:2]) for element in elements)
                # Equal planes are shown once.
                seen = {place: mark for grid in shown.grids for place, mark in marks(grid)}
                assert seen.keys() == {(*place, 0)[:2] for place in wanted}
                touched = {(*e[:2], 0)[:2] for e, there in zip(elements, inside, strict=True) if there}
                assert {place for place, mark in seen.items() if mark == TOUCHED} == touched
                assert (shown.elements, shown.outside) == (len(elements), inside.count(False))

    def test_planes_that_differ_stand_beside_each_other(self) -> None:
        """Planes of a tensor that differ, as it is read over the edge of its slowest dimension, are drawn in a row."""
        pattern = AccessPattern(tuple(DimPattern.affine(0, 1, *span) for span in ((0, 0), (0, 0), (-1, 1))))
        picture = picture_of(drawn_only(pattern, (2, 2, 2), (2,)), [0], forms=[])
        assert [(grid.title, grid.rows) for grid in picture.tensors[0].grids] == [
            ("x[-1, :, :]", ["+ ", "  "]),
            ("x[0..1, :, :]", ["#.", ".."]),
        ]

    def test_what_is_too_large_is_cut_about_what_is_touched(self) -> None:
        pattern = AccessPattern((DimPattern.affine(0, 100, -1, 1), DimPattern.affine(0, 100, 0, 0)))
        (tensor,) = picture_of(drawn_only(pattern, (1000, 1000), (10,)), [7], forms=[]).tensors
        (grid,) = tensor.grids
        assert grid.cut and (len(grid.rows), len(grid.rows[0])) == (24, 64)
        assert dict(marks(grid)) == dict.fromkeys([(699, 700), (700, 700), (701, 700)], TOUCHED)

    def test_the_region_of_a_member_that_is_wider_than_the_picture(self) -> None:
        (tensor,) = picture_of(drawn_only(AccessPattern((DimPattern(),)), (1000,), (1,)), forms=[]).tensors
        assert tensor.grids[0].rows == ["#" * 64] and tensor.region == [(0, 999)] and tensor.elements == 1000


def marks(grid: Grid) -> list[tuple[tuple[int, int], str]]:
    return [
        ((grid.first_column + column, grid.first_row + row), mark)
        for row, line in enumerate(grid.rows)
        for column, mark in enumerate(line)
        if mark in (TOUCHED, OUTSIDE)
    ]


def drawn_only(pattern: AccessPattern, sizes: tuple[int, ...], geometry: tuple[int, ...]) -> KernelInstance:
    """Return an instance of one input that is only drawn and never run."""
    tensor = MappedTensor("x", sizes, pattern)
    return KernelInstance("drawn", Program.build([], []), Mapping(geometry, (tensor,), ()), (S5,), (), (0,))


class TestCharts:
    @pytest.mark.parametrize("name", ["concat", "pool"])
    def test_the_memory_form_does_what_the_chart_says(self, name: str) -> None:
        """The chart agrees with the signals of the machine, cycle by cycle, for the first three members."""
        one = stream_instance() if name == "pool" else INSTANCES[name]
        chart, form = chart_of(one, "memory"), memory_form(one)
        members = min(one.mapping.members, 3)
        cycles, rank = form.facts.latency + 2, len(one.mapping.geometry)
        held = {f"end{d}": size for d, size in enumerate(one.mapping.geometry)}
        rows = {s.name: [[Fraction(held.get(s.name, 0))]] * cycles for s in form.machine.inputs}
        rows["start"] = [[Fraction(at == 0)] for at in range(cycles)]
        found: dict[str, dict[tuple[int, ...], list[int]]] = {"read": {}, "compute": {}, "write": {}}
        inputs, outputs = range(len(one.mapping.inputs)), range(len(one.mapping.outputs))
        trace = [cycle.before for cycle in trace_machine(form.machine, rows)]
        for at, (before, values, after) in enumerate(zip(trace, trace[1:], trace[2:], strict=False), 1):
            # A value that is shifted in was looked up in the cycle before; a loaded member shows up a cycle later.
            if before["reading"][0] and any(values[f"in{t}_shift"][0] for t in inputs):
                found["read"].setdefault(tuple(map(int, before["member"])), []).append(at)
            if values["load"][0] and after["behind"][-1]:
                found["compute"].setdefault(tuple(map(int, after["members_behind"][-rank:])), []).append(at)
            if any(values[f"out{t}_write"][0] for t in outputs):
                found["write"].setdefault(tuple(map(int, values["members_behind"][-rank:])), []).append(at)
        for what, cycles_of in found.items():
            assert len(cycles_of) == one.mapping.members
            for member, seen in [*cycles_of.items()][:members]:
                first, last = spans(chart, what)[member]
                assert (seen[0] - (what == "read"), seen[-1]) == (first, last)
        assert chart.done == form.facts.latency

    def test_members_side_by_side_write_one_after_the_other(self) -> None:
        """In groups of two, the last of three members is alone, and nothing is written for the missing one."""
        one = instance("mul", [Tensor.of(S5, 3, 2)] * 2, (3, 2))
        form = memory_form(one, 2)
        held = {"end0": 3, "end1": 2}
        rows = {s.name: [[Fraction(held.get(s.name, 0))]] * form.facts.latency for s in form.machine.inputs}
        rows["start"] = [[Fraction(at == 0)] for at in range(form.facts.latency)]
        trace = enumerate(trace_machine(form.machine, rows))
        (chart,) = picture_of(one, forms=["memory"], parallel=2).charts
        written = [at for at, cycle in trace if cycle.before["out0_write"][0]]
        assert sorted(first for first, _ in spans(chart, "write").values()) == written
        assert chart.done == form.facts.latency and spans(chart, "read")[0, 0] == spans(chart, "read")[1, 0]

    @pytest.mark.parametrize("name", ["conv2d", "min_pool"])
    def test_the_stream_form_does_what_the_chart_says(self, name: str) -> None:
        """Outputs are valid in the cycles in which members write in the chart, the last one when all is done."""
        one = stream_instance() if name == "conv2d" else INSTANCES[name]
        chart, machine = chart_of(one, "stream"), stream_form(one).machine
        cycles = chart.done + 2
        pixels = one.mapping.inputs[0].sizes[0] * one.mapping.inputs[0].sizes[1]
        given = {s.name: np.zeros((1, cycles, len(s.types))) for s in machine.inputs}
        given["en"][:] = 1
        given["valid_in"][:, :pixels] = 1
        valid = np.flatnonzero(run_machine(machine, given).outputs["valid_out"][0, :, 0]).tolist()
        written = sorted(spans(chart, "write").values())
        assert [first for first, _ in written] == valid[: len(written)] and valid[-1] == chart.done
        assert spans(chart, "write").keys() == spans(chart, "read").keys()
        assert all(last <= written[0][1] + at for at, (_, last) in enumerate(sorted(spans(chart, "read").values())[:1]))

    def test_what_has_no_form_says_why(self) -> None:
        picture = dais_verif.draw_kernel(Path(__file__).parents[2] / "examples" / "kernels" / "print_test.toml")
        assert [chart.form for chart in picture.charts] == ["memory"]
        as_recorded(picture.unfit["stream"])

    def test_loads_end_before_the_start(self) -> None:
        loads = [one for one in chart_of(INSTANCES["concat"], "memory").activities if one.what == "load"]
        assert loads == [Activity("load", -6, -1, tensor="input 0"), Activity("load", -6, -5, tensor="input 1")]


def stream_instance() -> KernelInstance:
    """Return a 2x2 pool with stride 2, which gives an output for every other pixel of every other line."""
    given = {"pad_w": 0, "pad_h": 0, "stride_w": 2, "stride_h": 2, "dilation_w": 1, "dilation_h": 1}
    return instance("max_pool", [Tensor.of(S5, 6, 4, 1)], (3, 2, 1), POOL.pack({**given, "kernel_w": 2, "kernel_h": 2}))


def text_of(picture: KernelPicture, width: int = 100) -> str:
    out = Console(width=width, file=StringIO())
    print_picture(picture, out)
    return out.file.getvalue()  # type: ignore[attr-defined,no-any-return]


class _Page(HTMLParser):
    """Collects what a page offers to a screen reader: attributes of drawings, ids, and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.drawings: list[dict[str, str | None]] = []
        self.ids: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "svg":
            self.drawings.append(found)
        if found.get("id"):
            self.ids.append(str(found["id"]))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


class TestRenderings:
    @pytest.fixture
    def picture(self) -> KernelPicture:
        return picture_of(stream_instance())

    def test_text(self, picture: KernelPicture) -> None:
        as_recorded(text_of(picture))

    def test_a_narrow_terminal_has_coarser_charts(self, picture: KernelPicture) -> None:
        text = text_of(picture, 40)
        as_recorded(text)
        assert max(map(len, text.split("memory form")[1].splitlines()[1:9])) < 42

    def test_pads_and_broken_laws_are_told(self, tmp_path: Path) -> None:
        one = INSTANCES["max_pool"]
        (tensor,) = one.mapping.outputs
        was = one.mapping.addressing(tensor)
        moved = Addressing(was.slopes, tuple((x + 1, *rest) for x, *rest in was.offsets))
        mapping = replace(one.mapping, outputs=(replace(tensor, addressing=moved),))
        picture = picture_of(replace(one, mapping=mapping), [0, 0, 0])
        text = text_of(picture)
        assert "-4" in text and "broken      output 0: " in text
        as_recorded(text)
        write_kernel_page(picture, tmp_path / "k.html")
        assert "breaks a law" in (tmp_path / "k.html").read_text()
        assert "broken" not in text_of(picture_of(one, [0, 0, 0]))

    def test_the_page_tells_all_who_do_not_see(self, picture: KernelPicture, tmp_path: Path) -> None:
        write_kernel_page(picture, tmp_path / "k.html")
        page = _Page()
        page.feed((tmp_path / "k.html").read_text())
        assert len(page.drawings) == 1 + 2 + 2
        assert all(one["role"] == "img" and one["aria-label"] for one in page.drawings)
        assert len(set(page.ids)) == len(page.ids)
        told = [text for text in page.texts if text.startswith("member 1,1,0: ")]
        memory, stream = (
            ["read, cycles 17 to 21", "compute, cycle 22", "write, cycle 23"],
            ["read, cycles 14 to 21", "write, cycle 21"],
        )
        assert told == [f"member 1,1,0: {words}" for words in memory + stream]


class TestReports:
    def test_the_picture_beside_a_machine_is_on_its_page(self, tmp_path: Path) -> None:
        """The page only shows the picture of its own machine, not that of another one."""
        one = stream_instance()
        (tmp_path / "m.fsm.json").write_bytes(machine_json(memory_form(one).machine))
        machine = load_machine(tmp_path / "m.fsm.json")
        record = replace(passed_run(), program=ProgramInfo.of_machine(machine))
        assert 'id="space"' not in render([Source(record)], machine)
        picture = replace(picture_of(one), machine=machine.origin.file_sha256)
        assert KernelPicture.from_json(picture.to_json()) == picture
        (tmp_path / "picture.json").write_text(picture.to_json())
        page = render([Source(record)], machine)
        assert 'id="space"' in page and 'id="cycles"' in page and 'href="#cycles"' in page
        (tmp_path / "picture.json").write_text(replace(picture, machine="0" * 64).to_json())
        assert 'id="space"' not in render([Source(record)], machine)


CONV = """kernel = "max_pool"
[input]
shape = [1, 4, 6]
type = "s5.2"
[options]
kernel = [2, 2]
stride = [2, 2]
"""


class TestVerb:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        (tmp_path / "pool.toml").write_text(CONV)
        return tmp_path / "pool.toml"

    def run(self, capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> tuple[str, str]:
        assert main._run(["kernel", "show", *map(str, words)]) == code
        found = capsys.readouterr()
        return found.out, found.err

    def test_a_file_is_shown(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        page = file.with_suffix(".html")
        out, _ = self.run(capsys, file, "--member", "2,1,0", "--html", page)
        assert "shown       member 2,1,0" in out and "Member 2,1,0 is shown" in page.read_text()
        out, _ = self.run(capsys, file, "--member", "2,1,0", "--json")
        assert json.loads(out) == json.loads(dais_verif.draw_kernel(file, member=[2, 1, 0]).to_json())

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("FILE", "--member", "3,1,0"), "--member is 3,1,0; max_pool"),
            (("FILE", "--member", "1"), "--member is 1; max_pool"),
            (("FILE", "--member", "a"), "--member is 'a'"),
            (("relu", "--member", "1"), "--member"),
            (("relu", "--html", "x.html"), ""),
            (("none.toml",), "none.toml"),
        ],
        ids=["outside", "dimensions", "number", "name", "page", "file"],
    )
    def test_one_line_and_2(
        self, words: tuple[str, ...], said: str, file: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        _, err = self.run(capsys, *(file if word == "FILE" else word for word in words), code=2)
        assert said in err and err.count("\n") == 1
        as_recorded(err)

    def test_members_of_functions_are_checked_too(self, file: Path) -> None:
        with pytest.raises(InputError, match="member is 0,9,0"):
            dais_verif.draw_kernel(file, member=[0, 9, 0])


def test_a_table_of_its_library_is_no_tensor() -> None:
    """Constant inputs are part of the block: the picture shows the tensors that members access."""
    kind = FixedType(1, 2, 2)
    request = HabanaKernelParams("tanh", (Tensor.of(kind, 4),), (Tensor.of(OUT, 4),))
    picture = picture_of(instance_of(request, instantiate(LIBRARY, request)))
    assert [tensor.name for tensor in picture.tensors] == ["input 0", "output 0"]
