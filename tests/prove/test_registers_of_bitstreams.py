"""Registers and block RAMs of a bitstream are proved to match RTL with a memory, and no seeded fault is proved."""

from __future__ import annotations

import contextlib
import gzip
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from support.bitstreams import require_icestorm
from support.said import raises

from dais_verif.base.errors import InputError, ProofError
from dais_verif.hardware.bitstream.logic import ReadBack
from dais_verif.prover.clocked.machines.registers import open_registers
from dais_verif.prover.clocked.sequential import equivalence
from dais_verif.prover.clocked.sequential.answer import Equivalence
from dais_verif.prover.clocked.sequential.equivalence import prove_equal
from dais_verif.prover.clocked.sequential.rtl_side import rtl_gates
from dais_verif.prover.clocked.sequential.sides import Port
from dais_verif.prover.gates.aig import Aig
from dais_verif.verbs.read_back.bitstreams import BitstreamFile, read_bitstream
from dais_verif.verbs.read_back.gates import bitstream_gates

slang = pytest.importorskip("dais_verif.prover.slang")

_STORED = Path(__file__).parents[1] / "bitstreams"
_RTL = Path(__file__).parents[2] / "rtl"
_TOP = """
module model (
  input wire aclk, aresetn, rx_valid, out_ready, input wire [7:0] rx_data,
  output wire [7:0] out_data, output wire out_last, out_valid
);
  dais_deframer #(.BUFFER_BITS(9)) deframer (
    .clk(aclk), .resetn(aresetn), .rx_data(rx_data), .rx_valid(rx_valid),
    .out_data(out_data), .out_last(out_last), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
"""


@pytest.fixture(scope="module")
def logic(tmp_path_factory: pytest.TempPathFactory) -> ReadBack:
    """Return the buffer of a link, alone on an HX1K, as read back from its bitstream."""
    require_icestorm()
    folder = tmp_path_factory.mktemp("deframer")
    path = folder / "deframer.bin"
    path.write_bytes(gzip.decompress((_STORED / "deframer.bin.gz").read_bytes()))
    return read_bitstream(BitstreamFile(path, _STORED / "deframer.pcf"), folder / "tools")


def _proved(logic: ReadBack, folder: Path, edits: Mapping[str, str] | None = None) -> Equivalence:
    """Return the result of proving ``logic`` equal to the RTL after ``edits``."""
    text = (_RTL / "dais_deframer.v").read_text()
    for old, new in (edits or {}).items():
        assert old in text
        text = text.replace(old, new)
    for name, content in (("deframer.v", text), ("top.v", _TOP)):
        (folder / name).write_text(content)
    opened = open_registers(
        slang.elaborate([folder / "top.v", folder / "deframer.v", _RTL / "dais_crc32.v"], "model"), "aclk"
    )
    graph, inputs = Aig(), dict[Port, int]()
    rtl = rtl_gates(opened, graph, inputs, "aclk")
    return prove_equal(graph, rtl, bitstream_gates(logic, graph, inputs, "aclk"), seconds=60)


def test_the_buffer_of_a_link_is_proved(logic: ReadBack, tmp_path: Path) -> None:
    found = _proved(logic, tmp_path)
    assert found.proved, found.why
    assert found.columns == 18  # nine bits of 512 words, in halves: the whole memory


@pytest.mark.slow
def test_what_is_not_settled_in_all_rounds_is_not_proved(
    logic: ReadBack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(equivalence, "_ROUNDS", 1)
    found = _proved(logic, tmp_path)
    assert not found.proved
    assert "no fixed point after 1 rounds" in found.why


_ARRAY = "reg [8:0] memory [0:(1 << BUFFER_BITS) - 1];"


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        ("reg [8:0] memory [(1 << BUFFER_BITS) - 1:0];", "\\[0:n\\]"),
        (f"{_ARRAY} integer i; initial for (i = 0; i < 512; i = i + 1) memory[i] = 0;", "contents"),
        (f"{_ARRAY} assign out_odd = ^memory[0] ^ ^memory[3];", "\\[0:n\\]"),
    ],
    ids=["downwards", "initialised", "read at fixed places"],
)
def test_other_arrays_are_refused(logic: ReadBack, tmp_path: Path, array: str, reason: str) -> None:
    edits = {_ARRAY: array}
    if "out_odd" in array:
        edits |= {
            _ARRAY: array.replace("assign out_odd", "wire out_odd"),
            "crc <= crc_next;": "crc <= crc_next ^ out_odd;",
        }
    with raises(ProofError, match=reason):
        _proved(logic, tmp_path, edits)


_MUTANTS = {
    "head at power-up": ("reg [8:0] out;", "reg [8:0] out; initial head = 1;"),
    "crc at power-up": ("reg [8:0] out;", "reg [8:0] out; initial crc = 1;"),
    "reset of head": ("{head, committed} <= 0;", "{head, committed} <= 1;"),
    "one place more": ("wire has_room = place - tail != ROOM;", "wire has_room = 1'b1;"),
    "one place less": ("!= ROOM;", "!= ROOM - 1'b1;"),
    "written elsewhere": ("memory[place[BUFFER_BITS-1:0]]", "memory[place[BUFFER_BITS-1:0] ^ 1'b1]"),
    "read elsewhere": ("out <= memory[tail[BUFFER_BITS-1:0]]", "out <= memory[tail[BUFFER_BITS-1:0] ^ 1'b1]"),
    "read always": ("if (fetch) out <=", "out <="),
    "what lies there is kept": ("{1'b1, BAD}", "{1'b1, BAD} | memory[place[BUFFER_BITS-1:0]]"),
    "reads what is written": ("wire fetch = tail != committed", "wire fetch = tail != head"),
    "residue": ("32'hDEBB20E3", "32'hDEBB20E2"),
    "length": ("length <= length + {3'b0, length != 15};", "length <= length + 1'b1;"),
    "escape": ("escaped ? 8'h20", "escaped ? 8'h21"),
}


@pytest.mark.slow
@pytest.mark.parametrize("edit", _MUTANTS.values(), ids=_MUTANTS)
def test_rtl_that_differs_is_not_proved(logic: ReadBack, tmp_path: Path, edit: tuple[str, str]) -> None:
    with contextlib.suppress(InputError):  # the proof may no longer support the memory
        assert not _proved(logic, tmp_path, dict([edit])).proved


def _register(change: Callable[[ReadBack, int], dict[str, object]], number: int) -> Callable[[ReadBack], ReadBack]:
    def planted(logic: ReadBack) -> ReadBack:
        registers = list(logic.registers)
        number_of = number % len(registers)
        registers[number_of] = registers[number_of]._replace(**change(logic, number_of))
        return replace(logic, registers=tuple(registers))

    return planted


def _table(number: int) -> Callable[[ReadBack], ReadBack]:
    def planted(logic: ReadBack) -> ReadBack:
        rng = random.Random(number)
        luts = list(logic.luts)
        place = rng.randrange(len(luts))
        # An entry that the constants among the inputs do not rule out.
        entries = [
            entry
            for entry in range(16)
            if all(f"1'b{1 - (entry >> n & 1)}" != name for n, name in enumerate(luts[place].inputs))
        ]
        luts[place] = luts[place]._replace(table=luts[place].table ^ 1 << rng.choice(entries))
        return replace(logic, luts=tuple(luts))

    return planted


def _route(number: int) -> Callable[[ReadBack], ReadBack]:
    def planted(logic: ReadBack) -> ReadBack:
        rng = random.Random(number)
        luts = list(logic.luts)
        place = rng.choice([n for n, lut in enumerate(luts) if "1'b0" not in lut.inputs])
        inputs = list(luts[place].inputs)
        inputs[rng.randrange(4)] = rng.choice(logic.registers).name
        luts[place] = luts[place]._replace(inputs=tuple(inputs))  # type: ignore[arg-type]
        return replace(logic, luts=tuple(luts))

    return planted


def _carry(number: int) -> Callable[[ReadBack], ReadBack]:
    def planted(logic: ReadBack) -> ReadBack:
        carries = list(logic.carries)
        place = number % len(carries)
        a, b, _ = carries[place].inputs
        carries[place] = carries[place]._replace(inputs=(a, b, "1'b0" if number % 2 else "1'b1"))
        return replace(logic, carries=tuple(carries))

    return planted


def _ram(change: Callable[[ReadBack], dict[str, object]]) -> Callable[[ReadBack], ReadBack]:
    def planted(logic: ReadBack) -> ReadBack:
        first, *others = logic.rams
        changed = change(logic)
        pins = changed.pop("pins", {})
        assert isinstance(pins, dict)
        return replace(logic, rams=(first._replace(**changed, pins={**first.pins, **pins}), *others))

    return planted


def _swapped(pin: str, a: int, b: int) -> Callable[[ReadBack], dict[str, object]]:
    def change(logic: ReadBack) -> dict[str, object]:
        bits = list(logic.rams[0].pins[pin])
        bits[a], bits[b] = bits[b], bits[a]
        return {"pins": {pin: tuple(bits)}}

    return change


_FAULTS: dict[str, Callable[[ReadBack], ReadBack]] = {
    **{f"table {n}": _table(n) for n in range(16) if n != 14},
    **{f"route {n}": _route(n) for n in range(8)},
    **{f"carry {n}": _carry(n) for n in range(6)},
    **{
        f"register {n} set by its reset": _register(lambda logic, at: {"value": 1 - logic.registers[at].value}, n)
        for n in (5, 45, 80)
    },
    **{f"register {n} stuck": _register(lambda logic, at: {"data": "1'b1"}, n) for n in (3, 50, 90)},
    "RAM always written": _ram(lambda logic: {"pins": {"WE": ("1'b1",), "WCLKE": ("1'b1",)}}),
    "RAM never written": _ram(lambda logic: {"pins": {"WE": ("1'b0",)}}),
    "RAM always read": _ram(lambda logic: {"pins": {"RE": ("1'b1",), "RCLKE": ("1'b1",)}}),
    "RAM of other width written": _ram(lambda logic: {"write_mode": 2}),
    "RAM of other width read": _ram(lambda logic: {"read_mode": 2}),
    "places read in another order": _ram(_swapped("RADDR", 0, 1)),
    "places written in another order": _ram(_swapped("WADDR", 0, 1)),
    "bits written in another order": _ram(_swapped("WDATA", 0, 2)),
}


@pytest.mark.slow
@pytest.mark.parametrize("plant", _FAULTS.values(), ids=_FAULTS)
def test_a_fault_in_the_bitstream_is_not_proved(
    logic: ReadBack, tmp_path: Path, plant: Callable[[ReadBack], ReadBack]
) -> None:
    planted = plant(logic)
    assert planted != logic
    with contextlib.suppress(InputError):  # a loop, or logic that is not supported
        assert not _proved(planted, tmp_path).proved


@pytest.mark.slow
def test_a_fault_without_effect_is_proved(logic: ReadBack, tmp_path: Path) -> None:
    # The fault changes one bit of `place - tail` where lower bits borrow. The only use of the difference is to check
    # whether all bits are 0, and where lower bits borrow, they are not 0.
    assert _proved(_table(14)(logic), tmp_path).proved


@pytest.mark.slow
@pytest.mark.parametrize("falling", [True, False], ids=["falling edge", "another clock"])
def test_what_changes_at_other_times_is_refused(logic: ReadBack, tmp_path: Path, falling: bool) -> None:
    first, *others = logic.registers
    changed = first._replace(falling=True) if falling else first._replace(clock="rx_valid")
    with pytest.raises(InputError, match=r"other times|clocked by"):
        _proved(replace(logic, registers=(changed, *others)), tmp_path)
