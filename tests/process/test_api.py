"""The functions of ``dais_verif`` do what the verbs do, but return records and print nothing."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.said import raises

import dais_verif
from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.synthesis.netlist import SynthesizedNetlist
from dais_verif.record.emission import EmissionRecord
from dais_verif.record.simulation import SimulationRecord
from dais_verif.record.synthesis import SynthesisRecord
from dais_verif.spec.program import Program, write_binary
from dais_verif.verbs.designs import DesignRequest

X, Y = (-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 4, 0))
SUM = Program.build([X, Y, (0, 0, 1, 0, (0, 5, 0))], [(2, 0, 0)], inp_shift=[0, 0])


@pytest.fixture
def bug(tmp_path: Path) -> Path:
    text = emit_verilog(SUM, "model")
    assert text.count("op_0 + op_1") == 1, "choose another bug, the emitter has changed"
    (tmp_path / "model.v").write_text(text.replace("op_0 + op_1", "op_0 - op_1"))
    return tmp_path / "model.v"


def test_a_simulation_that_passes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "prog.bin"
    path.write_bytes(write_binary(SUM, "v1"))
    result = dais_verif.simulate(path, simulators=["icarus"], vectors=50, seed=1, exhaustive_bits=0)
    assert result.verdict is dais_verif.Verdict.PASS and result.passed
    assert result.simulators["icarus"].vectors == result.simulators[0].vectors == 50
    assert result.first_mismatch is None
    result.raise_for_verdict()
    assert capfd.readouterr() == ("", "")
    assert repr(result).startswith("<SimulationRecord PASS: ")
    assert SimulationRecord.from_json(result.to_json()) == result
    assert "icarus" in result.simulators and "verilator" not in result.simulators
    with raises(KeyError):
        result.simulators["verilator"]


def test_a_wrong_design_is_a_verdict_with_the_op_to_blame(bug: Path) -> None:
    result = dais_verif.simulate(SUM, rtl=[bug], top="model", simulators=["icarus"], vectors=50)
    assert result.verdict is dais_verif.Verdict.RTL_MISMATCH and not result.passed
    assert result.first_mismatch is not None and result.first_mismatch.op == 2
    assert SimulationRecord.from_json(result.to_json()) == result
    with pytest.raises(dais_verif.VerdictError, match="RTL_MISMATCH"):
        result.raise_for_verdict()


def test_what_cannot_be_used_raises(tmp_path: Path, bug: Path) -> None:
    with raises(dais_verif.InputError):
        dais_verif.simulate(SUM, rtl=tmp_path / "nowhere.v")
    for function in (dais_verif.simulate, dais_verif.cover, dais_verif.rank_sensitivity):
        for wrong, _rule in ((-1, "a number, 0 or more"), ("x", "an integer")):
            with raises(dais_verif.RequestError):
                function(SUM, vectors=wrong)  # type: ignore[operator]
    with raises(dais_verif.RequestError):
        dais_verif.simulate(SUM, simulators=["icarus", "modelsim"])
    with raises(dais_verif.RequestError):
        dais_verif.simulate(SUM, rtl=bug, latency=3)
    with raises(dais_verif.RequestError, match=r"netlist .* is a netlist"):
        dais_verif.simulate(SUM, rtl=bug, netlist=bug)


def test_the_line_to_copy_asks_for_the_same(bug: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a program.bin"
    path.write_bytes(write_binary(SUM, "v1"))
    result = dais_verif.simulate(
        path, layout="v1", rtl=bug, simulators="icarus", vectors=30, seed=5, exhaustive_bits=0, bulk=False
    )
    _, *words = shlex.split(result.reproduce)
    assert main._run([*words, "--json"]) == result.verdict.exit_code == 1
    again = SimulationRecord.from_json(capsys.readouterr().out)
    assert (again.vectors, again.seed, again.stimulus) == (30, 5, result.stimulus)
    assert (again.message, again.decisions, again.rtl) == (result.message, result.decisions, result.rtl)


def test_the_line_of_a_netlist_names_its_target_and_no_file_of_ours() -> None:
    netlist = SynthesizedNetlist(Path("net.v"), "ice40")
    words = DesignRequest(rtl=(Path("net.v"), Path("cells.v")), netlist=netlist).words()
    assert words == ["--target", "ice40", "--rtl", "net.v"]


def test_progress_is_told(bug: Path) -> None:
    told: list[str] = []

    class Listener(dais_verif.Progress):
        def stage(self, name: str) -> None:
            told.append(name)

        @contextmanager
        def simulators(self) -> Iterator[None]:
            told.append("begin")
            yield
            told.append("end")

    dais_verif.simulate(SUM, simulators="icarus", vectors=20, progress=Listener())
    assert told[0] == "begin" and told[-1] == "end" and any("icarus" in name for name in told)


def test_in_threads_and_where_an_event_loop_runs(bug: Path) -> None:
    def simulate(rtl: Path | None) -> str:
        given = None if rtl is None else [rtl]
        return dais_verif.simulate(SUM, rtl=given, simulators=["icarus"], vectors=30).verdict.value

    async def inside() -> str:
        return simulate(bug)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(simulate, [None, bug, None, bug])) == ["PASS", "RTL_MISMATCH"] * 2
    assert asyncio.run(inside()) == "RTL_MISMATCH"


def test_under_o_nothing_is_lost(bug: Path, tmp_path: Path) -> None:
    """The checks also run under ``python -O``, because none of them rests on ``assert``."""
    (tmp_path / "prog.bin").write_bytes(write_binary(SUM, "v1"))
    code = f"import dais_verif as d; print(d.simulate('prog.bin', rtl={str(bug)!r}, simulators='icarus').verdict.value)"
    done = subprocess.run(
        [sys.executable, "-O", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "RTL_MISMATCH\n"


def test_other_verbs() -> None:
    assert dais_verif.check(SUM).passed
    assert dais_verif.diff(SUM, write_binary(SUM, "v1"), prove=True).passed
    assert dais_verif.cover(SUM, vectors=100).coverage.percent == 100.0
    assert dais_verif.rank_sensitivity(SUM, vectors=8).passed


def test_emit_returns_the_text_and_what_it_is(tmp_path: Path) -> None:
    made = dais_verif.emit(SUM)
    assert made.verilog == emit_verilog(SUM, "model") and made.pipeline is None and made.output is None
    assert [element.width for element in made.ports.model_inp] == [4, 4]
    staged = dais_verif.emit(SUM, stages=2, valid=True, output=tmp_path / "model.v")
    assert staged.pipeline is not None and staged.pipeline.latency == 2
    assert (tmp_path / "model.v").read_text() == staged.verilog and "out_valid" in staged.verilog
    assert EmissionRecord.from_json(staged.to_json()) == staged
    wrapped = dais_verif.emit(SUM, wrap="axis", axil=True, check_beats=2, output=tmp_path / "axis").wrapped
    assert wrapped is not None and set(wrapped.signatures) == {"1", "2"}
    assert (tmp_path / "axis" / "dais.json").is_file()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"top": "module"}, r"top.*Verilog"),
        ({"top": "a; endmodule"}, r"top.*Verilog"),
        ({"top": None}, "top"),
        ({"stages": 0}, r"stages.*1"),
        ({"max_depth": "3"}, r"max_depth.*number"),
        ({"wrap": "axis", "period": "5", "output": "x"}, r"period.*number"),
        ({"valid": True}, "valid"),
        ({"wrap": "pcie", "output": "x"}, "wrap"),
        ({"wrap": "axis"}, "name a folder"),
        ({"wrap": "uart", "axil": True, "output": "x"}, "AXI4-Stream"),
        ({"wrap": "axis", "user_bits": -1, "output": "x"}, r"user_bits.*0 to 4096"),
    ],
    ids=[
        "keyword",
        "injection",
        "no-name",
        "stages",
        "depth",
        "period",
        "valid",
        "wrap",
        "folder",
        "axil",
        "user-bits",
    ],
)
def test_emit_refuses_what_the_command_refuses(wrong: dict[str, Any], says: str) -> None:
    with raises(dais_verif.InputError, match=says):
        dais_verif.emit(SUM, **wrong)


def test_synthesize_counts_cells_and_keeps_a_netlist(tmp_path: Path) -> None:
    record = dais_verif.synthesize(SUM, "ice40", output=tmp_path / "net")
    assert record.counts["LUT"] == record.cells["SB_LUT4"] > 0 and record.depth.cells > 0 and record.pnr is None
    assert record.verdict is dais_verif.Verdict.PASS and SynthesisRecord.from_json(record.to_json()) == record
    assert (tmp_path / "net" / "synth.json").read_text() == record.to_json()
    verified = dais_verif.simulate(SUM, netlist=tmp_path / "net", simulators="icarus", vectors=20)
    assert verified.passed, verified.message


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"target": "vax"}, r"target.*ice40"),
        ({"target": "xilinx", "pnr": True}, r"open-source.*places"),
        ({"target": "ice40", "timeout": 0}, r"timeout.*number of seconds"),
        ({"target": "ice40", "memory": 1}, r"memory.*64"),
        ({"target": "ice40", "rtl": "a.v", "stages": 2}, r"rtl.*user RTL"),
    ],
    ids=["target", "pnr", "timeout", "memory", "stages"],
)
def test_synthesize_refuses_what_the_command_refuses(wrong: dict[str, Any], says: str) -> None:
    with raises(dais_verif.RequestError, match=says):
        dais_verif.synthesize(SUM, **wrong)


def test_importing_loads_none_of_it() -> None:
    """The import loads only four modules of the package and few modules of Python."""
    code = "import sys; before = set(sys.modules); import dais_verif; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = done.stdout.split()
    ours = {name for name in loaded if name.startswith("dais_verif")}
    assert ours == {"dais_verif", "dais_verif.base"} | {
        f"dais_verif.base.{name}" for name in ("errors", "moved", "verdict", "version")
    }
    assert len(loaded) < 60 and not any(name.startswith(("numpy", "click", "rich")) for name in loaded)


def test_names_are_what_they_promise() -> None:
    assert all(getattr(dais_verif, name) is not None for name in dais_verif.__all__)
