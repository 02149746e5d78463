"""The assumed delay of each op, in thousandths of a LUT level, and delay models read from files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from dais_verif.hardware.emitter import DelayModel, read_delay_model
from dais_verif.hardware.emitter.delays import _RULES, DEFAULT, delay_of
from dais_verif.spec.program import OPCODES, Program

ROOT = Path(__file__).parents[2]

S4, S8, U6, NONE = (1, 3, 0), (1, 7, 0), (0, 6, 0), (1, -1, 0)
XOR = 2 << 56
NEGATE_A, NEGATE_B = 1 << 32, 1 << 33


def test_every_opcode_has_a_rule() -> None:
    assert set(_RULES) == set(OPCODES)


def sum_delay(*terms: tuple[int, int, int], data: int = 0) -> int:
    """Return the delay of an s8 sum with terms on s4 (0), s8 (1) and a value of zero bits (2)."""
    rows = [(-1, j, -1, 0, kind) for j, kind in enumerate((S4, S8, NONE))]
    rows.append((11, 0, len(terms), data, S8))
    program = Program.build(rows, [(3, 0, 0)], inp_shift=[0] * 3, terms=terms)
    return delay_of(program, program.ops[3], DEFAULT)


def delay(code: int, *, id1: int | None = None, data: int = 0, kind: tuple[int, int, int] = S8, id0: int = 1) -> int:
    """Return the delay of an op of ``code`` on s4 (0), s8 (1), u6 (2) and a value of zero bits (3)."""
    rows = [(-1, j, -1, 0, kind_) for j, kind_ in enumerate((S4, S8, U6, NONE))]
    binary = code in (0, 1, 6, -6, 7, 10)
    id1 = (0 if id1 is None else id1) if binary else -1
    rows.append((code, -1 if code == 5 else id0, id1, data, kind))
    program = Program.build(rows, [(4, 0, 0)], inp_shift=[0] * 4, tables=[[1] * 16, [1] * 256])
    return delay_of(program, program.ops[4], DEFAULT)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (delay(-1), 0),
        (delay(5, data=3), 0),
        (delay(3, kind=S4), 0),
        (delay(0), 1600),  # 1.2 levels and 8 bits of carry
        (delay(0, kind=S4), 1400),
        (delay(0, id1=3), 0),  # plus a value of zero bits
        (delay(0, id0=3, id1=1), 0),
        (delay(1, id0=3, id1=1), 1600),  # 0 minus s8
        (delay(1, id1=3), 0),
        (delay(1, kind=NONE), 0),
        (delay(2), 1000),
        (delay(-2), 2600),
        (delay(-3), 1600),
        (delay(4, data=1), 1600),
        (delay(4, data=0), 0),
        (delay(6, data=2), 1000),
        (delay(6, data=3), 0),  # a condition of zero bits selects nothing
        (delay(-6, data=2), 2400),  # the operand of four bits is negated first
        (delay(7), 3600),  # 8 by 4 bits: two levels of sums, 12 bits
        (delay(7, id1=3), 0),
        (delay(8, id0=0), 1000),
        (delay(8, id0=1, data=1), 1500),  # 8 address bits are two more than a LUT has
        (delay(8, id0=1, data=1 << 32 | 1), 3100),  # and the offset is added
        (delay(8, id0=0, data=1 << 32), 1000),  # the offset is part of the table if one LUT suffices
        (delay(9), 1000),
        (delay(-9), 1600),
        (delay(9, data=1, kind=(0, 1, 0)), 2000),  # 8 bits take two levels
        (delay(9, data=2, kind=(0, 1, 0), id0=2), 1000),
        (delay(10, data=XOR), 1000),
        (delay(10, data=XOR | NEGATE_A), 2600),
        (delay(10, data=XOR | NEGATE_B), 2400),
        (delay(10, data=XOR | NEGATE_A | NEGATE_B), 2600),
        (delay(12, data=3), 0),
        (sum_delay((0, 3, 0)), 0),
        (sum_delay((0, 0, 1)), 1600),  # a negation
        (sum_delay((0, 0, 0), (1, 0, 0)), 1600),
        (sum_delay((0, 0, 0), (1, 0, 1)), 1600),
        (sum_delay((0, 0, 1), (1, 0, 1)), 2600),  # both negations add a one, and there is one carry-in
        (sum_delay((0, 0, 0), (2, 0, 0)), 0),  # plus a value of zero bits
        (sum_delay((0, 0, 0), (-1, 0, 0)), 0),
        (sum_delay((0, 0, 0), (-1, 0, 0), data=1), 1600),
        (sum_delay((0, 0, 0), (1, 0, 1), (1, 2, 1)), 2600),  # one level of compressors
        (sum_delay(*[(1, n, 0) for n in range(4)]), 3600),
        (sum_delay(*[(1, n, 0) for n in range(6)]), 4600),
        (sum_delay(*[(1, n, 0) for n in range(9)]), 5600),
    ],
)
def test_thousandths_of_a_level(found: int, expected: int) -> None:
    assert found == expected


@pytest.mark.parametrize("width", [1, 2, 5, 6, 7, 36, 37])
def test_a_reduction_is_as_many_levels_as_it_takes(width: int) -> None:
    assert DEFAULT.reduction(width) == (0 if width == 1 else 1 if width <= 6 else 2 if width <= 36 else 3)


def test_a_file_changes_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text('unit = "ns"\nlut = 2\ncarry = 0.125\n')
    found = read_delay_model(tmp_path / "d.toml")
    assert asdict(found) == asdict(DelayModel()) | {"unit": "ns", "lut": 2, "carry": 0.125}


def test_an_empty_file_is_the_default(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text("")
    assert read_delay_model(tmp_path / "d.toml") == DEFAULT


def test_the_shipped_file_can_be_read() -> None:
    assert read_delay_model(ROOT / "examples" / "ice40.toml").unit == "ns"


def test_the_page_gives_the_numbers_of_the_model() -> None:
    page = (ROOT / "docs" / "emit.md").read_text(encoding="utf-8")
    for name, value in asdict(DEFAULT).items():
        shown = f'"{value}"' if isinstance(value, str) else f"{value:g}"
        assert f"| `{name}` | {shown} |" in page
