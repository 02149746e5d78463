"""Machines as Verilog: names, ports, which registers become memories, and what a copy does to bits."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.machines import BIT, NIBBLE, connect, counter, machine, read_tree, signal, tree
from support.places import FSM
from support.said import raises

from dais_verif.base.errors import MachineError, RequestError
from dais_verif.base.toolchain import tools
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.hardware.emitter.machines.machine import Memory, Vector, copied, joined, memory_of
from dais_verif.spec.machine import Machine, load_machine
from dais_verif.spec.machine.ports import port_names
from dais_verif.spec.program import FixedType
from dais_verif.verbs.emit import EmitRequest, WrapRequest, emit
from dais_verif.verbs.pipelines import PipelineRequest

BYTES = [[True, 7, 0]] * 8
#: Bits 4 to 7 of a vector of eight bits.
V, LOW = Vector("v", 8), 4


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ((1, 3, 0), (1, 3, 0), "v[7:4]"),
        ((1, 3, 0), (1, 5, 0), "{{2{v[7]}}, v[7:4]}"),
        ((0, 4, 0), (1, 5, 0), "{2'd0, v[7:4]}"),
        ((1, 3, 0), (0, 2, 0), "v[5:4]"),
        ((1, 3, 0), (1, 3, 2), "{v[7:4], 2'd0}"),
        ((1, 1, 2), (1, 3, 0), "{{2{v[7]}}, v[7:6]}"),
        ((1, -3, 6), (1, 3, 0), "{4{v[7]}}"),
        ((0, -2, 6), (1, 3, 0), "4'd0"),
        ((1, 3, 0), (0, -4, 6), "2'd0"),
        ((0, 0, 0), (0, 2, 0), "2'd0"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(map(str, value)),
)
def test_a_copy_drops_and_extends_bits(source: Any, target: Any, expected: str) -> None:
    assert " ".join(joined(copied(V, LOW, [FixedType(*source)], [FixedType(*target)]))) == expected


def test_neighbours_are_copied_as_one() -> None:
    kinds = [FixedType(1, 3, 0), FixedType(0, 0, 0), FixedType(0, 2, 0)]
    assert joined(copied(Vector("v", 6), 0, kinds, kinds)) == ["v"]


def memory(*reads: Any, **of_memory: Any) -> Machine:
    """Return a memory of eight words, written at ``i`` and read at the given (start, stop, stride or None)."""
    i, d = (signal(name, kind, exposed=True) for name, kind in (("i", [[False, 3, 0]]), ("d", BYTES[:1])))
    conns = [connect(d, signal("mem", BYTES, reg=True, view=(0, 1), dynamic=(i, 1), **of_memory))]
    for number, (start, stop, stride) in enumerate(reads):
        dynamic = None if stride is None else (i, stride)
        source = signal("mem", BYTES, reg=True, view=(start, stop), dynamic=dynamic, **of_memory)
        conns.append(connect(source, signal(f"y{number}", BYTES[start:stop], exposed=True)))
    return machine({}, conns)


@pytest.mark.parametrize(
    ("reads", "options", "expected"),
    [
        ([(0, 1, 1)], {}, Memory(8, 1, 8)),
        ([(3, 4, None)], {"rst_to": range(8)}, Memory(8, 1, 8)),
        ([(0, 2, 1)], {}, None),  # two words at once
        ([(0, 1, 1)], {"rst_if": signal("rst", exposed=True)}, None),
    ],
    ids=["read at the index", "read at a fixed place, with initial values", "two words at once", "with a reset"],
)
def test_whole_words_of_a_register_without_reset_make_a_memory(reads: Any, options: Any, expected: Any) -> None:
    of = memory(*reads, **{key: list(v) if isinstance(v, range) else v for key, v in options.items()})
    assert memory_of(of, of.signals["mem"]) == expected
    assert ("[7:0] mem [0:7];" in emit_machine(of)) is (expected is not None)


def test_a_rom_of_rows_is_a_memory_of_wide_words() -> None:
    text = emit_machine(load_machine(FSM / "f05_dense_folded" / "fsm.json.gz"))
    assert "reg [79:0] wrom [0:7];" in text
    assert text.count("wrom[") == 9  # eight initial values, and one read


def test_yosys_makes_block_ram_of_a_memory_that_is_read_at_the_edge(tmp_path: Path) -> None:
    """Yosys maps 256 words of 16 bits to one block RAM of an iCE40."""
    kind = [[True, 15, 0]]
    i, d, we = (
        signal(name, types, exposed=True) for name, types in (("i", [[False, 8, 0]]), ("d", kind), ("we", [BIT]))
    )
    word = signal("mem", kind * 256, reg=True, view=(0, 1), dynamic=(i, 1))
    q = signal("q", kind, reg=True)
    of = machine({}, [connect(d, word, we), connect(word, q), connect(q, signal("y", kind, exposed=True))])
    (tmp_path / "model.v").write_text(emit_machine(of))
    script = "read_verilog model.v; synth_ice40 -top model; tee -o stat.json stat -json"
    done = subprocess.run([str(tools.yosys().yosys), "-q", "-p", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    cells = json.loads((tmp_path / "stat.json").read_text())["design"]["num_cells_by_type"]
    assert cells["SB_RAM40_4K"] == 1


def test_signals_that_are_no_identifiers_get_names_that_are() -> None:
    names = ["clk", "a b", "a_b", "module", "7up", "n"]
    conns = [connect(signal(name, exposed=True), signal(f"r{number}", reg=True)) for number, name in enumerate(names)]
    of = machine({}, conns)
    assert list(port_names(of).values()) == ["clk_2", "a_b_2", "a_b", "s_module", "s_7up", "n"]


def test_each_block_is_a_module_of_its_own() -> None:
    text = emit_machine(read_tree(counter()), "top")
    assert [line.split()[1] for line in text.splitlines() if line.startswith("module ")] == ["top", "top_inc"]


def test_elements_without_bits_take_none_and_a_port_without_bits_is_tied() -> None:
    x = signal("x", [[False, 0, 0], *NIBBLE], exposed=True)
    y = signal("y", [[False, 0, 0], *NIBBLE], exposed=True)
    of = machine(
        {},
        [
            connect(x, y),
            connect(signal("e", [[False, 0, 0]], exposed=True), signal("z", [[False, 0, 0]], exposed=True)),
        ],
    )
    text = emit_machine(of)
    assert "input  wire [3:0] x" in text and "output wire [0:0] z" in text
    assert "assign y = x;" in text and "assign z = 1'b0;" in text
    assert "clk" not in text


def test_emit_writes_a_machine_and_says_what_its_ports_are(tmp_path: Path) -> None:
    source, output = FSM / "f04_fifo" / "fsm.json.gz", tmp_path / "fifo.v"
    record = emit(EmitRequest(program=source, top="fifo", output=output))
    assert output.read_text() == record.verilog and "module fifo (" in record.verilog
    assert record.signals is not None and record.program.layout == "alirfsm"
    assert [(port.port, port.direction, len(port.elements)) for port in record.signals] == [
        ("rst", "input", 1),
        ("push", "input", 1),
        ("pop", "input", 1),
        ("din", "input", 1),
        ("dout", "output", 1),
        ("full_empty", "output", 2),
        ("lvl", "output", 1),
    ]
    assert [element.offset for element in record.signals[5].elements] == [0, 1]
    again = emit(EmitRequest(program=source.read_bytes(), top="fifo"))
    assert again.verilog == record.verilog


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pipeline": PipelineRequest(stages=2)}, r"stages.*machine"),
        ({"layout": "v1"}, "layout"),
        ({"wrapper": WrapRequest(wrap="axis", axil=True), "output": Path("x")}, "axil"),
    ],
    ids=["stages", "layout", "wrap"],
)
def test_options_of_programs_are_refused(options: Any, message: str) -> None:
    with raises(RequestError, match=message):
        emit(EmitRequest(program=FSM / "f01_counter" / "fsm.json.gz", **options))


def test_a_broken_machine_is_refused_in_one_line() -> None:
    broken = tree({}, [connect(signal("x", exposed=True), signal("y", NIBBLE * 2, exposed=True))])
    with pytest.raises(MachineError, match=r"x\[0:1\] -> y\[0:2\]: .*1 element.*target 2"):
        emit(EmitRequest(program=json.dumps(broken).encode()))
