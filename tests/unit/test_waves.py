"""The views of a replay, and the files that configure GTKWave and Surfer. No simulator runs."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from pathlib import Path

import pytest
from support.waves import Item, read_gtkw, run_sucl, shown_by_gtkwave

from dais_verif.hardware.emitter.module import path_of
from dais_verif.hardware.ports.interface import packed
from dais_verif.record.simulation import Blame, Value
from dais_verif.report.waves import Group, Signal, Trace, View, gtkwave, surfer
from dais_verif.simulation.diagnosis.views import ask_for, vcd_names, write_views
from dais_verif.simulation.testbench.exchange import read, write
from dais_verif.simulation.testbench.probe_job import Look, ProbeJob, Register, Seen
from dais_verif.spec.program import Program


def trace(width: int, f: int, *, signed: bool = True, lsb: int = 0, of: int | None = None, real: str = "1") -> Trace:
    total = width if of is None else of
    own = Signal("model", "op_7", total, (total - 1, 0) if total > 1 else None)
    return Trace(own, "op_7 mul", lsb, width, signed, f, real)


def view(*traces: Trace) -> View:
    return View("waves.fst", ["why"], [Group("blame", ["a note"], list(traces))], 10_000, 20_000)


@pytest.mark.parametrize(
    ("shown", "flags", "fraction", "label"),
    [
        # Integers: right-justified, and signed or decimal, or binary for one bit.
        (trace(8, 0), "420", None, "op_7 mul"),
        (trace(8, 0, signed=False), "24", None, "op_7 mul"),
        (trace(1, 0, signed=False), "28", None, "op_7 mul"),
        # Real numbers, as long as GTKWave shows them exactly.
        (trace(8, 3), "40000420", 3, "op_7 mul"),
        (trace(8, 3, signed=False), "40000024", 3, "op_7 mul"),
        (trace(1, 1, signed=False), "40000024", 1, "op_7 mul"),
        (trace(16, 13), "40000420", 13, "op_7 mul"),
        (trace(5, 13), "40000420", 13, "op_7 mul"),
        # GTKWave drops fractions below 0.0001, such as 2**-14.
        (trace(16, 14), "420", None, "op_7 mul (times 2^-14)"),
        # GTKWave cuts numbers after 20 characters: -32768.0001220703125 has 20, and 31 bits can need 21.
        (trace(29, 13), "40000420", 13, "op_7 mul"),
        (trace(31, 13), "420", None, "op_7 mul (times 2^-13)"),
        # GTKWave has no shift to the left.
        (trace(8, -3), "420", None, "op_7 mul (times 2^3)"),
        # GTKWave writes hexadecimal digits beyond 64 bits.
        (trace(64, 0), "420", None, "op_7 mul"),
        (trace(65, 0), "420", None, "op_7 mul (hex)"),
        (trace(65, 4), "420", None, "op_7 mul (times 2^-4) (hex)"),
    ],
)
def test_how_gtkwave_shows_a_signal(shown: Trace, flags: str, fraction: int | None, label: str) -> None:
    lines = gtkwave(view(shown)).splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("+{"))
    name = "model.op_7" if shown.width == 1 else f"model.op_7[{shown.width - 1}:0]"
    assert lines[place] == f"+{{{label}}} {name}"
    told = lines[place - 1 - (fraction is not None) : place]
    assert told == [f"@{flags}", *([] if fraction is None else [f"[fpshift_count] {fraction}"])]


def test_gtkwave_shows_what_it_is_said_to(tmp_path: Path) -> None:
    """GTKWave shows smallest, largest and odd values of many types exactly, as real numbers or as integers."""
    traces, declared, set_to, expected = [], [], [], {}
    for width in (2, 3, 8, 14, 20, 29, 30, 31, 32, 53, 64):
        for f in (-2, 0, 1, 4, 9, 12, 13, 14, 20):
            for signed in (True, False):
                lo, hi = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
                for raw in {lo, lo + 1, lo // 3, min(-1, hi) if signed else 1, hi // 3, hi - 1, hi}:
                    name = f"v{len(traces)}"
                    own = Signal("model", name, width, (width - 1, 0))
                    traces.append(Trace(own, name, 0, width, signed, f, None))
                    declared.append(f"$var wire {width} {name} {name} [{width - 1}:0] $end")
                    set_to.append(f"b{raw & (1 << width) - 1:b} {name}")
                    with localcontext() as context:
                        context.prec = 100
                        real = format(Decimal(raw) / (1 << max(f, 0)), "f")
                    expected[name] = real, str(raw)
    text = ["$timescale 1ps $end", "$scope module model $end", *declared, "$upscope $end", "$enddefinitions $end"]
    (tmp_path / "waves.vcd").write_text("\n".join([*text, "#0", *set_to, "#20000", ""]))
    (tmp_path / "replay.gtkw").write_text(gtkwave(view(*traces)._replace(waves="waves.vcd")))
    shown = shown_by_gtkwave(tmp_path / "replay.gtkw", tmp_path)
    told = {label.split(" ")[0]: (value, "times" in label) for label, value in shown.items()}
    assert set(told) == set(expected)
    wrong = {n: (told[n], expected[n]) for n in expected if told[n][0] != expected[n][told[n][1]]}
    assert not wrong
    assert sum(not integer for _, integer in told.values()) > len(told) // 2


def test_bits_of_a_slice_count_from_the_left() -> None:
    _, (line,), comments = read_gtkw(gtkwave(view(trace(3, 1, lsb=2, of=8))))
    assert (line.path, line.range, line.bits) == ("model.op_7", "[7:0]", [3, 4, 5])
    assert comments == ["a note"]
    upwards = trace(3, 1, lsb=2, of=8)._replace(signal=Signal("model", "op_7", 8, (0, 7)))
    _, (line,), _ = read_gtkw(gtkwave(view(upwards)))
    assert (line.range, line.bits) == ("[0:7]", [3, 4, 5])


def test_the_whole_wave_is_seen_with_the_marker_on_the_failing_vector() -> None:
    attributes, _, _ = read_gtkw(gtkwave(view(trace(8, 0))))
    assert attributes["marker"] == "15000"
    assert 2 ** -float(attributes["zoom"]) / 200 * 800 == pytest.approx(20_000, rel=1e-4)


def test_surfer_finds_every_line_by_its_number() -> None:
    """Each command refers to the line just added, also after 16 lines; ``run_sucl`` executes them as Surfer does."""
    traces = [trace(8, f, real=str(f)) for f in range(40)]
    waves, shown = run_sucl(surfer(view(*traces)))
    names = [f"op_7 mul = {f}" + (f" (times 2^{-f})" if f else "") for f in range(40)]
    assert (waves, shown) == ("waves.fst", ["blame", *(Item("model.op_7", "Signed", name) for name in names)])


def test_surfer_shows_a_port_once_in_place_of_its_slices() -> None:
    slices = [trace(3, 0, lsb=lsb, of=9) for lsb in (0, 3, 6)]
    assert run_sucl(surfer(view(*slices)))[1] == ["blame", Item("model.op_7", "Binary", None)]


#: One input, and a chain of 400 sums.
CHAIN = Program.build(
    [(-1, 0, -1, 0, (1, 8, 0)), *((0, i, i, -9, (1, 8, 0)) for i in range(400))], [(400, 0, 0)], inp_shift=[0]
)


def written(program: Program, blame: Blame, folder: Path, *, waves: str = "waves.fst") -> str:
    bits = {f"op_{op.index}": "0" * op.type.width for op in program.ops}
    bits |= {"model_inp": "0" * 9, "model_out": "0" * 9, "out_0": "0" * 9}
    ranges = {name: (len(value) - 1, 0) for name, value in bits.items()}
    seen = Seen(bits=bits, ranges=ranges, start=10_000, end=20_000)
    paths = write_views(program, packed(program), path_of(program), "model", seen, folder / waves, 0, blame, folder)
    assert [path.name for path in paths] == ["replay.gtkw", "replay.sucl"]
    return paths[0].read_text()


def test_the_nearest_ops_are_shown_and_the_rest_counted(tmp_path: Path) -> None:
    value = Value("1", 1, "000000001")
    text = written(CHAIN, Blame("op", "op 390 diverges", 390, "add", "s9.0", value, value), tmp_path)
    _, lines, comments = read_gtkw(text)
    shown = [line.path for line in lines if line.group == "blame"]
    assert shown == [f"model.op_{i}" for i in range(390, 90, -1)]
    assert any("91" in one for one in comments)
    assert [line.path for line in lines if line.color] == ["model.op_390", "model.out_0"]


def test_without_a_guilty_op_the_cone_of_the_output_is_shown(tmp_path: Path) -> None:
    _, lines, _ = read_gtkw(written(CHAIN, Blame("output", "all {agree}; #1"), tmp_path))
    assert [line.path for line in lines if line.group == "blame"][:2] == ["model.op_400", "model.op_399"]


def test_only_what_the_wave_has_is_shown(tmp_path: Path) -> None:
    (tmp_path / "waves.vcd").write_text(
        "$scope module top $end\n$scope module other $end\n$var wire 9 % op_1 [8:0] $end\n"
        "$upscope $end\n$upscope $end\n"
        "$scope module model $end\n$var wire 9 # op_400[8:0] $end\n$var wire 1 ! op_2 $end\n$upscope $end\n"
        "$enddefinitions $end\n$var wire 9 & op_3 [8:0] $end\n"
    )
    assert vcd_names(tmp_path / "waves.vcd") == {"top.other.op_1", "model.op_400", "model.op_2"}
    _, lines, _ = read_gtkw(written(CHAIN, Blame("output", ""), tmp_path, waves="waves.vcd"))
    assert [line.path for line in lines] == ["model.op_400", "model.op_2"]


def test_an_unsigned_signal_of_its_own_width_is_read_unsigned(tmp_path: Path) -> None:
    """Our RTL has one more bit, which is always 0; third-party RTL may not have it."""
    program = Program.build([(-1, 0, -1, 0, (0, 8, 0))], [(0, 0, 0)], inp_shift=[0])
    for bits, flags in (("11111111", 0x24), ("011111111", 0x420)):
        seen = Seen(bits={"op_0": bits}, ranges={"op_0": (len(bits) - 1, 0)}, start=10, end=20)
        waves, blame = tmp_path / "waves.fst", Blame("output", "")
        paths = write_views(program, packed(program), path_of(program), "model", seen, waves, 0, blame, tmp_path)
        assert [(line.path, line.flags) for line in read_gtkw(paths[0].read_text())[1]] == [("model.op_0", flags)]
        assert "item_rename op_0 input 0 = 255\n" in paths[1].read_text()


def test_what_is_asked_for() -> None:
    assert ask_for(CHAIN, packed(CHAIN)) == ["model_inp", "model_out", "out_0"]


def test_question_and_answer_survive_the_way_through_a_file(tmp_path: Path) -> None:
    look = Look(1, True, {"op_0": ("op_0", "a.op_0")}, arrays=False)
    job = ProbeJob(packed(CHAIN).interface, ("00", "01"), (Register(("r",), ("0", "-")),), look, held=True, valid=1)
    write(tmp_path / "job", job)
    assert read(tmp_path / "job", ProbeJob) == job
    paths, ranges = {"op_0": "a.op_0"}, {"a.op_0": (1, 0)}
    seen = Seen(("x0", "1"), (2, {0: "1"}), (0,), {"op_0": "1x"}, paths, ranges, 10, 20, ((3, "x0"),), "no port")
    write(tmp_path / "seen", seen)
    assert read(tmp_path / "seen", Seen) == seen


def test_no_comment_pushes_the_values_out_of_sight(tmp_path: Path) -> None:
    number = "9" * 400
    value = Value(number, 1, "1")
    _, _, comments = read_gtkw(written(CHAIN, Blame("op", "op 5 diverges", 5, "add", "s9.0", value, value), tmp_path))
    assert max(map(len, comments)) <= 44
    assert number in re.sub(" ", "", "".join(comments))
