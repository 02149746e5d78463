"""The prover reads random modules as simulators compute them; ``make soundness`` reads thousands of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from prove.soundness import readings
from prove.soundness.modules import Module, random_module
from prove.soundness.readings import exceptions, judge
from prove.soundness.simulators import Bits, in_icarus, simulated, vectors


def modules(count: int, first: int = 0) -> list[Module]:
    return [random_module(seed) for seed in range(first, first + count)]


#: Modules for which Icarus 11 computes other values than Verilator and the reader, and one that never ends in Icarus.
ODD_IN_ICARUS = frozenset(
    f"m{seed}" for seed in (30, 57, 84, 99, 101, 121, 131, 137, 142, 233, 263, 273, 276, 297, 310, 318, 384, 386)
)
ENDLESS = "m317"


def test_a_module_is_the_same_for_the_same_seed() -> None:
    assert modules(5) == modules(5)
    assert {feature for m in modules(200) for feature in m.features} >= {
        *(
            "array",
            "array in a block",
            "beyond",
            "case",
            "case inside",
            "casex",
            "casez",
            "cast",
            "compound assignment",
        ),
        *("constant", "constant array", "count", "division", "division by zero", "do", "enumeration", "full case"),
        *(
            "function",
            "function without a value",
            "gate",
            "generate",
            "include",
            "incomplete list",
            "inside",
            "instance",
        ),
        *("jump", "latch", "list", "local", "loop", "macro", "nonblocking", "package", "packed array", "parts"),
        *(
            "pattern as a parameter",
            "power",
            "range",
            "repeat",
            "return",
            "several files",
            "structure",
            "table",
            "task",
        ),
        *("type", "unassigned", "variable in a branch", "variable index", "variable index on the left", "while"),
        *("X in a case", "X in a default", "X that is overwritten"),
    }


@pytest.mark.parametrize("count", [40, pytest.param(300, marks=pytest.mark.slow)])
def test_modules_in_icarus(count: int, tmp_path: Path) -> None:
    # Unlike all other tools, Icarus does not extend an expression that is connected to a port to the port's width.
    some = [m for m in modules(470) if not m.style.newer and "connected expression" not in m.features]
    some = [m for m in some if m.name != ENDLESS][:count]
    assert len(some) == count
    records = judge(some, vectors(24, 0), tmp_path, simulators=["icarus"])
    assert {text.split(",")[0] for text in exceptions(records)} <= ODD_IN_ICARUS
    outputs = Counter[str]()
    for record in records.values():
        outputs.update(record["readers"]["slang"]["outputs"])
    assert outputs["agreed"] >= 6 * count, outputs


@pytest.mark.slow
@pytest.mark.parametrize("first", [1000, 1040, 1080])
def test_modules_in_both_simulators_and_yosys(first: int, tmp_path: Path) -> None:
    some = modules(40, first)
    by_yosys = [m.name for m in some if not m.style.system and not m.style.casts]
    records = judge(some, vectors(48, first), tmp_path, by_yosys=by_yosys)
    assert exceptions(records) == []
    assert sum("verilator" in record["simulators"] for record in records.values()) >= 35
    assert sum("icarus" in record["simulators"] for record in records.values()) >= 20


def test_a_module_that_a_simulator_does_not_take_is_left_out(tmp_path: Path) -> None:
    right, other = [m for m in modules(40) if not m.style.system][:2]
    broken = replace(other, files={f"{other.name}.v": f"module {other.name}(input p; endmodule\n"})
    found = simulated([right, broken], vectors(4, 0), tmp_path, {"icarus": in_icarus})
    assert set(found["icarus"]) == {right.name}


class TestJudge:
    """The judge finds a reading with one wrong bit, and a reader that fails, on a module that is read correctly."""

    def judged(self, folder: Path) -> dict[str, dict[str, Any]]:
        return judge(modules(1, self.right), vectors(4, 0), folder, simulators=["icarus"])

    right = 1

    def test_a_module_that_is_read_right(self, tmp_path: Path) -> None:
        (record,) = self.judged(tmp_path).values()
        assert record["readers"]["slang"]["status"] == "agreed"

    def test_a_wrong_bit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        right = readings.as_read

        def wrong(*arguments: Any) -> list[Any]:
            first, *others = right(*arguments)
            *before, last = first
            return [[*before, Bits(last.value ^ 1, last.known)], *others]

        monkeypatch.setattr(readings, "as_read", wrong)
        assert ["y0 in icarus" in text for text in exceptions(self.judged(tmp_path))] == [True]

    def test_a_value_for_a_bit_that_is_x(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def knows_nothing(some: Sequence[Module], rows: Sequence[int], folder: Path) -> dict[str, list[Bits]]:
            return {m.name: [Bits(0, 0)] * len(rows) for m in some}

        monkeypatch.setitem(readings.SIMULATORS, "icarus", knows_nothing)
        assert ["known 0x0" in text for text in exceptions(self.judged(tmp_path))] == [True]

    def test_a_crash(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def breaks(*arguments: Any) -> list[Bits]:
            raise AssertionError("widths do not fit")

        monkeypatch.setattr(readings, "as_read", breaks)
        assert ["widths do not fit" in text for text in exceptions(self.judged(tmp_path))] == [True]

    def test_an_output_that_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        right = readings.as_read
        monkeypatch.setattr(readings, "as_read", lambda *arguments: ["no", *right(*arguments)[1:]])
        (record,) = self.judged(tmp_path).values()
        assert record["readers"]["slang"] == {
            "status": "refused",
            "outputs": {"refused": 1, "agreed": 9},
            "why": "no",
        }


def test_a_campaign_goes_on(tmp_path: Path) -> None:
    output = tmp_path / "readings.jsonl"

    def run(count: int) -> list[str]:
        arguments = [
            "-o",
            str(output),
            "--modules",
            str(count),
            "--vectors",
            "2",
            "--jobs",
            "1",
            "--simulator",
            "icarus",
        ]
        done = CliRunner().invoke(readings.main, arguments, catch_exceptions=False)
        assert f"{count} modules" in done.output
        return [json.loads(line)["name"] for line in output.read_text().splitlines()]

    assert run(2) == ["m0", "m1"]
    output.write_text(output.read_text() + '{"name": "m2", "dig')  # broken off within a line
    assert run(3) == ["m0", "m1", "m2"]
