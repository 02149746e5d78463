"""What the prover reads in random modules is what simulators compute; ``make soundness`` reads thousands of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from prove.soundness import readings
from prove.soundness.modules import Module, random_module
from prove.soundness.readings import Bits, exceptions, judge, vectors


def modules(count: int, first: int = 0) -> list[Module]:
    return [random_module(seed) for seed in range(first, first + count)]


def test_a_module_is_the_same_for_the_same_seed() -> None:
    assert modules(5) == modules(5)
    assert {feature for m in modules(60) for feature in m.features} >= {
        *("array", "beyond", "case", "casex", "casez", "cast", "division", "function", "generate", "include"),
        *("incomplete list", "instance", "latch", "list", "local", "loop", "macro", "parts", "table"),
    }


def test_a_few_modules_in_icarus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "in_verilator", readings.in_icarus)
    # Icarus gives what is connected to a port no more bits than it has by itself, which no other tool does.
    some = [m for m in modules(50, 2000) if "instance" not in m.features]
    records = judge(some, vectors(24, 0), tmp_path, also_yosys=False)
    assert exceptions(records) == []
    said = Counter(record["readers"]["slang"]["status"] for record in records.values())
    assert said["agreed"] >= 20, said


@pytest.mark.slow
def test_a_few_modules_in_both_simulators(tmp_path: Path) -> None:
    records = judge(modules(40), vectors(24, 0), tmp_path, also_yosys=False)
    assert exceptions(records) == []
    assert sum(record["simulators"] == ["icarus", "verilator"] for record in records.values()) >= 35


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1240, 40))
def test_more_modules_and_yosys(first: int, tmp_path: Path) -> None:
    records = judge(modules(40, first), vectors(48, first), tmp_path, also_yosys=True)
    assert exceptions(records) == []


class TestJudge:
    """A reading that is wrong in one bit is found, and one that breaks down; on one module that is read right."""

    def judged(self, folder: Path) -> dict[str, dict[str, Any]]:
        return judge(modules(1, self.right), vectors(4, 0), folder, also_yosys=False)

    right = 0

    @pytest.fixture(autouse=True)
    def icarus_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(readings, "in_verilator", readings.in_icarus)

    def test_a_module_that_is_read_right(self, tmp_path: Path) -> None:
        (record,) = self.judged(tmp_path).values()
        assert record["readers"]["slang"]["status"] == "agreed"

    def test_a_wrong_bit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        right = readings.as_read

        def wrong(netlist: Any, outputs: Sequence[str], rows: Sequence[int]) -> list[Bits]:
            *before, last = right(netlist, outputs, rows)
            return [*before, Bits(last.value ^ 1, last.known)]

        monkeypatch.setattr(readings, "as_read", wrong)
        assert ["y0 in icarus" in text for text in exceptions(self.judged(tmp_path))] == [True]

    def test_a_value_for_a_bit_that_is_x(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        right = readings.in_icarus

        def knows_nothing(*arguments: Any) -> list[dict[str, Bits]]:
            return [{name: Bits(0, 0) for name in row} for row in right(*arguments)]

        monkeypatch.setattr(readings, "in_icarus", knows_nothing)
        assert ["known 0x0" in text for text in exceptions(self.judged(tmp_path))] == [True]

    def test_a_crash(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def breaks(*arguments: Any) -> list[Bits]:
            raise AssertionError("widths do not fit")

        monkeypatch.setattr(readings, "as_read", breaks)
        assert ["widths do not fit" in text for text in exceptions(self.judged(tmp_path))] == [True]
