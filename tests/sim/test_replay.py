"""A replay of a failing vector leaves waves with a transition, and views of them that viewers can open."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from support.door import mutant
from support.programs import every_opcode
from support.said import as_recorded
from support.waves import Item, read_gtkw, read_vcd, run_sucl, shown_by_gtkwave, wave_of

from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.verdict import Verdict
from dais_verif.golden import oracle
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.emitter import module as cut
from dais_verif.hardware.emitter.module import path_of
from dais_verif.simulation.diagnosis import views as replay
from dais_verif.simulation.diagnosis.blame import Replay, replay_mismatch
from dais_verif.simulation.simulators import verilator
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.testbench.packing import pack_inputs
from dais_verif.simulation.verify import SimulationOptions, SimulationWatcher, verify
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of

#: The wrong RTL computes 16 + 1 instead of 16 - 1; input 1 is halved, then floored to quarters.
ROWS = [(-1, 0, -1, 0, (1, 5, 1)), (-1, 1, -1, 0, (0, 2, 2)), (1, 0, 1, 0, (1, 6, 2))]
PROGRAM = Program.build(ROWS, [(2, 3, 1)], inp_shift=[0, -1])
WRONG = mutant(PROGRAM, "op_2 =", "-", "+")
BATCH = Batch.of([[3.0, 1.0], [-16.0, 2.6875]], 2)

BOTH = pytest.mark.parametrize("simulator", ["icarus", "verilator"])
#: For tests of what is derived from existing waves.
MOSTLY_ICARUS = pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])


def packed(program: Program, batch: Batch, row: int) -> str:
    ports = ports_of(program)
    raw = pack_inputs(batch.slice(row, row + 1), ports).tobytes()
    return format(int.from_bytes(raw, "little"), f"0{ports.input_bits}b")


def replayed(
    folder: Path,
    simulator: str,
    rtl: str = WRONG,
    *,
    program: Program = PROGRAM,
    batch: Batch = BATCH,
    row: int = 1,
    before: int | None = 0,
) -> Replay:
    (folder / "model.v").write_text(rtl)
    design = RtlDesign((folder / "model.v",), "model")
    earlier = None if before is None else packed(program, batch, before)
    out = folder / f"replay_{simulator}"
    out.mkdir()
    return replay_mismatch(
        program, design, simulator, batch, row, packed(program, batch, row), 0, out, before=earlier, timeout=300
    )


def view(found: Replay, name: str) -> str:
    return next(path for path in found.views if path.name == name).read_text()


def names_in_the_wave(found: Replay) -> set[str]:
    """Return the names in the waves with their ranges, for Icarus from a VCD file by the same executable."""
    assert found.waves is not None
    text = found.waves.read_bytes()
    if found.waves.suffix == ".fst":
        assert text[0] == 0 and len(text) > 300, "no header block, no waves"
        again = found.waves.parent / "again"
        again.mkdir()
        subprocess.run(["vvp", "-n", "../build/simulation.vvp", "-vcd"], cwd=again, check=True, capture_output=True)
        text = (again / "waves.fst").read_bytes()
    return {name + bounds for name, bounds in read_vcd(text.decode()).ranges.items()}


@BOTH
def test_waves_and_views_of_a_seeded_fault(simulator: str, tmp_path: Path) -> None:
    found = replayed(tmp_path, simulator)
    folder = tmp_path / f"replay_{simulator}"
    assert found.waves == folder / {"icarus": "waves.fst", "verilator": "waves.vcd"}[simulator]
    assert found.views == (folder / "replay.gtkw", folder / "replay.sucl")
    assert (found.blame.kind, found.blame.op, found.blame.replayed_in) == ("op", 2, simulator)

    attributes, lines, comments = read_gtkw(view(found, "replay.gtkw"))
    assert attributes["dumpfile"] == f'"/replay/{found.waves.name}"'
    assert attributes["savefile"] == '"/replay/replay.gtkw"'
    assert attributes["marker"] == "15000"
    assert [(line.group, line.label, line.path, line.flags, line.fraction, line.color) for line in lines] == [
        ("inputs", "input 0", "model.model_inp", 0x40000420, 1, 0),
        ("inputs", "input 1", "model.model_inp", 0x40000024, 1, 0),
        ("blame", "op_2 sub", "model.op_2", 0x40000420, 2, 1),
        ("blame", "op_0 input 0", "model.op_0", 0x40000420, 1, 0),
        ("blame", "op_1 input 1", "model.op_1", 0x40000420, 2, 0),
        ("outputs", "out_0 (times 2^1)", "model.out_0", 0x420, 2, 1),
    ]
    assert all(part in " ".join(comments) for part in ("op 2 (sub)", "value", "expected -17.25", "-14.75"))
    assert found.found == "0000111011"
    assert {line.path + line.range for line in lines} <= names_in_the_wave(found)

    waves, shown = run_sucl(view(found, "replay.sucl"))
    assert waves == found.waves.name
    assert shown == [
        "inputs",
        Item("model.model_inp", "Binary", None),
        "blame",
        Item("model.op_2", "Signed", "op_2 sub = -14.75 (times 2^-2)"),
        Item("model.op_0", "Signed", "op_0 input 0 = -16 (times 2^-1)"),
        Item("model.op_1", "Signed", "op_1 input 1 = 1.25 (times 2^-2)"),
        "outputs",
        Item("model.out_0", "Signed", "out_0 = 118 (times 2^1)"),
    ]


@BOTH
def test_the_waves_hold_the_vector_before_and_then_what_blame_says(simulator: str, tmp_path: Path) -> None:
    found = replayed(tmp_path, simulator)
    assert found.waves is not None and found.blame.found is not None
    wave = wave_of(found.waves)
    assert wave.end == 20_000
    assert wave.at("model.op_2", 20_000) == found.blame.found.bits
    _, lines, _ = read_gtkw(view(found, "replay.gtkw"))
    inputs = [line for line in lines if line.group == "inputs"]
    assert [line.of(wave, 20_000) for line in inputs] == ["1100000", "0101"]  # as the verdict prints them
    assert "".join(line.of(wave, 10_000) for line in reversed(inputs)) == packed(PROGRAM, BATCH, 0)
    before = oracle.trace(PROGRAM, BATCH.row(0), violations=[])
    raw = [int(before[0] * 2), int(before[1] * 4), int((before[0] + before[1]) * 4)]
    assert [int(wave.at(f"model.op_{i}", 10_000), 2) for i in range(3)] == raw
    assert not any(set(bits) & set("xz") for changes in wave.changes.values() for _, bits in changes[-2:])


@MOSTLY_ICARUS
def test_a_design_without_op_names_shows_slices_of_its_ports(simulator: str, tmp_path: Path) -> None:
    rtl = re.sub(r"\bop_", "v_", re.sub(r"\bout_", "w_", WRONG))
    found = replayed(tmp_path, simulator, rtl)
    assert (found.blame.kind, found.blame.found) == ("cone", None)
    _, lines, _ = read_gtkw(view(found, "replay.gtkw"))
    assert [(line.group, line.label, line.path, line.bits) for line in lines] == [
        ("inputs", "input 0", "model.model_inp", [4, 5, 6, 7, 8, 9, 10]),
        ("inputs", "input 1", "model.model_inp", [0, 1, 2, 3]),
        ("outputs", "output 0 (times 2^1)", "model.model_out", None),
    ]
    assert {line.path + line.range for line in lines} <= names_in_the_wave(found)
    _, shown = run_sucl(view(found, "replay.sucl"))
    assert [item if isinstance(item, str) else item.path for item in shown] == [
        "inputs",
        "model.model_inp",
        "outputs",
        "model.model_out",
    ]


@BOTH
def test_one_build_serves_blame_and_waves(simulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[Path] = []
    build = replay.build

    def counted(name: str, design: RtlDesign, folder: Path, **options: bool) -> object:
        folders.append(folder)
        return build(name, design, folder, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(replay, "build", counted)
    found = replayed(tmp_path, simulator)
    assert folders == [tmp_path / f"replay_{simulator}" / "build"]
    assert found.waves is not None and len(found.views) == 2


def test_only_a_failure_is_replayed(tmp_path: Path) -> None:
    for name, rtl, verdict in (("good", emit_verilog(PROGRAM), Verdict.PASS), ("bad", WRONG, Verdict.RTL_MISMATCH)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "model.v").write_text(rtl)
        design = RtlDesign((folder / "model.v",), "model")
        assert verify(PROGRAM, BATCH, design, folder, SimulationOptions(("icarus",))).verdict is verdict
    assert not [path.name for path in (tmp_path / "good").rglob("*") if path.suffix in (".fst", ".vcd", ".gtkw")]
    left = {path.name for path in (tmp_path / "bad" / "replay_icarus").iterdir()}
    assert {"waves.fst", "replay.gtkw", "replay.sucl"} <= left


def test_after_a_vector_of_zeros_if_there_is_none_before(tmp_path: Path) -> None:
    (tmp_path / "model.v").write_text(WRONG)
    design = RtlDesign((tmp_path / "model.v",), "model")
    vector, folder = packed(PROGRAM, BATCH, 1), tmp_path / "replay"
    blame = replay_mismatch(PROGRAM, design, "icarus", BATCH, 1, vector, 0, folder).blame
    assert (blame.kind, blame.op, blame.replayed_in) == ("op", 2, "icarus")


def test_x_has_no_number(tmp_path: Path) -> None:
    found = replayed(tmp_path, "icarus", mutant(PROGRAM, "op_2 =", "-", "+ 1'bx -"))
    assert found.blame.found is not None and found.blame.found.real is None
    assert Item("model.op_2", "Signed", "op_2 sub (times 2^-2)") in run_sucl(view(found, "replay.sucl"))[1]


def test_the_vector_before_decides_in_a_design_that_keeps_state(tmp_path: Path) -> None:
    """The wrong design does not react to input 1, so its value comes from an earlier vector."""
    rtl = mutant(PROGRAM, "always @", "model_inp", "model_inp[6:0]")
    batch = Batch.of([[3.0, 1.0], [3.0, 2.0]], 2)
    (tmp_path / "after").mkdir()
    found = replayed(tmp_path / "after", "icarus", rtl, batch=batch)
    assert (found.blame.kind, found.blame.op) == ("op", 1)
    (tmp_path / "alone").mkdir()
    found = replayed(tmp_path / "alone", "icarus", rtl, batch=batch, before=None)
    assert found.blame.kind == "unknown"
    assert "vectors" in found.blame.text


def test_times_are_in_the_units_of_the_waves(tmp_path: Path) -> None:
    found = replayed(tmp_path, "icarus", "`timescale 1ns/100ps\n" + WRONG)
    attributes, _, _ = read_gtkw(view(found, "replay.gtkw"))
    assert found.waves is not None
    assert int(attributes["marker"]) == wave_of(found.waves).end * 3 // 4


@MOSTLY_ICARUS
def test_gtkwave_shows_real_numbers(simulator: str, tmp_path: Path) -> None:
    found = replayed(tmp_path, simulator)
    assert shown_by_gtkwave(found.views[0], tmp_path) == {
        "input 0": "-16",
        "input 1": "2.5",
        "op_2 sub": "-14.75",
        "op_0 input 0": "-16",
        "op_1 input 1": "1.25",
        "out_0 (times 2^1)": "59",
    }


@MOSTLY_ICARUS
def test_gtkwave_shows_all_outputs_of_every_opcode(simulator: str, tmp_path: Path) -> None:
    program = every_opcode()
    batch = Batch.of([[1.0, 1.0, 1.0], [-4.5, 6.125, -3.0]], 3)
    rtl = mutant(program, "op_4 =", "<<< 3", "<<< 2")
    found = replayed(tmp_path, simulator, rtl, program=program, batch=batch)
    shown = shown_by_gtkwave(found.views[0], tmp_path)
    values = oracle.trace(program, batch.row(1), violations=[])
    assert (shown["op_0 input 0"], shown["op_1 input 1"]) == (oracle.show(values[0]), oracle.show(values[1]))
    assert found.blame.found is not None and shown["op_4 add"] == found.blame.found.real
    outputs = ports_of(program).outputs
    assert {f"out_{j}" for j, element in enumerate(outputs) if element.width} <= set(shown)


class TestVerilatorAlone:
    """RTL that Icarus cannot build is rebuilt in Verilator, with the signals in the failing output's cone visible."""

    #: Two outputs without a common op, cut into parts of two ops; output 1 is wrong.
    ROWS = ((-1, 0, -1, 0, (1, 5, 1)), (-1, 1, -1, 0, (0, 2, 2)), (4, 0, -1, 1, (1, 6, 1)), (4, 1, -1, 1, (0, 3, 2)))
    PROGRAM = Program.build([*ROWS], [(2, 0, 0), (3, 0, 0)], inp_shift=[0, 0])

    @pytest.fixture
    def rtl(self, monkeypatch: pytest.MonkeyPatch) -> str:
        monkeypatch.setattr(cut, "MOST_SIGNALS", 2)
        text = mutant(self.PROGRAM, "op_3 =", "op_1", "4'(op_1 inside {0, 1} ? 5 : op_1)")
        assert "part_" in path_of(self.PROGRAM)(3)
        return text

    def test_sees_the_cone_and_no_more(self, rtl: str, tmp_path: Path) -> None:
        (tmp_path / "model.v").write_text(rtl)
        batch = Batch.of([[3.0, 1.0], [0.0, 0.25]], 2)
        told: list[str] = []
        watcher, watch = SimulationWatcher(), Stopwatch()
        watcher.notice = told.append  # type: ignore[method-assign]
        design, options = RtlDesign((tmp_path / "model.v",), "model"), SimulationOptions(("verilator",))
        finding = verify(self.PROGRAM, batch, design, tmp_path, options, watcher, watch)
        assert finding.verdict is Verdict.RTL_MISMATCH and finding.first_mismatch is not None
        blame = finding.first_mismatch.blame
        assert blame is not None and (blame.kind, blame.op, blame.replayed_in) == ("op", 3, "verilator")
        waves = Path(finding.first_mismatch.waves or "")
        shown = set(read_vcd(waves.read_text()).ranges)
        cone = {f"model.{path_of(self.PROGRAM)(op)}" for op in (1, 3)}
        assert {"model.model_inp", "model.model_out", *cone} <= shown
        assert not {name for name in shown if name.endswith("op_2")}
        # The slow rebuild is announced, and its time is measured.
        replays = [line for line in told if "vector 1 " in line]
        assert ["verilator" in line for line in replays] == [False, True]
        as_recorded("\n".join(replays))
        assert {"icarus replay", "verilator replay"} <= {stage.name for stage in watch.stages}

    def test_is_told_of_names_that_the_rtl_has(self) -> None:
        """Verilator gets only signal names that the RTL has, and none that would need quotes."""
        text = b"module m(input a);\nwire op_1, op_2;\nwire op_10;\nassign op_2 = op_1;\nendmodule\n"
        signals = ["op_2", "op_1", "op_3", 'op"x', "out_0"]
        assert verilator._public("m", ["a"], signals, [Path("rtl/0/m.v")], [text]).split("\n") == [
            "`verilator_config",
            'public_flat_rw -module "m" -var "a"',
            'public_flat_rw -module "*" -var "op_1"',
            'public_flat_rw -module "*" -var "op_2"',
            'tracing_off -file "rtl/0/m.v"',
            'tracing_on -file "rtl/0/m.v" -lines 1-2',
            'tracing_on -file "rtl/0/m.v" -lines 2-3',
            "",
        ]
