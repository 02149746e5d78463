"""Seeded faults have the effect that is known beforehand, and change nothing else."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from support.places import ALIR
from support.said import raises
from support.signing import DESIGN
from support.strategies import programs
from support.tier import examples

from dais_verif.base.errors import InputError
from dais_verif.golden import Golden
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.ports.bind import sizings_of_inputs, sizings_of_outputs
from dais_verif.hardware.ports.discover import Port, ports_in, unused_in
from dais_verif.hardware.ports.interface import Clocking, DesignInterface, Wire, packed
from dais_verif.signoff.inverting_wrappers import OriginalDesign
from dais_verif.signoff.judge import possible_inputs
from dais_verif.signoff.seeded_faults import (
    SEEDED_FAULT,
    Poison,
    _poisoned,
    always_wrong,
    differing_rows,
    poison,
    sometimes_wrong,
)
from dais_verif.simulation.testbench.packing import pack_outputs
from dais_verif.spec.program import OPCODES, Program, load, write_binary
from dais_verif.stimulus import Generated
from dais_verif.verbs.vectors import WithBoundaries

EXAMPLES = Path(__file__).parents[2] / "examples"


def spoilt(program: Program, made: Poison, folder: Path, vectors: Generated) -> tuple[Program, list[int]]:
    """Read the poisoned program back, and return it with the numbers of the vectors on which it differs."""
    (folder / made.name).write_bytes(made.data)
    changed = load(folder / made.name, layout="v1" if made.name.endswith("bin") else None)
    pairs = [
        Golden(one, engine="numpy").run_raw(vectors.slice(0, vectors.rows), check=False) for one in (program, changed)
    ]
    differs = np.zeros(vectors.rows, dtype=bool)
    for number, (right, wrong) in enumerate(zip(*pairs, strict=True)):
        here = np.array([a != b for a, b in zip(right.tolist(), wrong.tolist(), strict=True)], dtype=bool)
        assert number == made.output or not here.any()
        differs |= here
    return changed, np.flatnonzero(differs).tolist()


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(programs())
def test_a_poisoned_program_differs_just_where_it_is_said_to(
    tmp_path: Path, drawn: tuple[Program, random.Random]
) -> None:
    program, _ = drawn
    vectors = Generated([program], 60, 0)
    try:
        made = poison(program, b"", vectors, check=False)
    except InputError:
        assume(False)
    changed, rows = spoilt(program, made, tmp_path, vectors)
    assert (len(rows), rows[0]) == differing_rows(program, made, vectors, check=False)
    assert changed.output_types == program.output_types
    assert sizings_of_inputs(changed)[0] == sizings_of_inputs(program)[0]


@pytest.mark.parametrize("name", ["p05_softmax_lut", "p06_matmul_2in", "p12_quant_modes"])
def test_in_json_declared_intervals_stay(name: str, corpus: Path, tmp_path: Path) -> None:
    intervals_stay(corpus / name / "da4ml.json", tmp_path)


@pytest.mark.parametrize("name", ["a06_softmax_lut/alir.json", "a10_ports_consts/alir.json", "legacy/v2.json.gz"])
def test_in_alir_declared_intervals_stay(name: str, tmp_path: Path) -> None:
    intervals_stay(ALIR / name, tmp_path)


def intervals_stay(path: Path, tmp_path: Path) -> None:
    program = load(path)
    vectors = Generated([program], 200, 0)
    made = poison(program, path.read_bytes(), vectors, check=True)
    changed, rows = spoilt(program, made, tmp_path, vectors)
    assert (len(rows), rows[0]) == differing_rows(program, made, vectors, check=False)
    assert changed.n_ops == program.n_ops + 1
    for sizings in (sizings_of_inputs, sizings_of_outputs):
        assert [one.elements for one in sizings(changed)] == [one.elements for one in sizings(program)]
    json.loads(made.data)


@pytest.mark.parametrize("name", ["a08_quant_modes", "a09_wide_acc", "a10_ports_consts"])
def test_in_alir_every_op_stays(name: str, tmp_path: Path) -> None:
    path = ALIR / name / "alir.json"
    program = load(path)
    vectors = Generated([program], 200, 0)
    made = poison(program, path.read_bytes(), vectors, check=False)
    changed, rows = spoilt(program, made, tmp_path, vectors)
    assert (len(rows), rows[0]) == differing_rows(program, made, vectors, check=False)
    assert changed.origin.layout == "alir" and changed.output_types == program.output_types
    last = program.n_ops - 1
    assert [op.spec for op in changed.ops] == [
        *[op.spec for op in program.ops[:last]],
        OPCODES[5],
        program.ops[-1].spec,
    ]
    for sizings in (sizings_of_inputs, sizings_of_outputs):
        assert [one.elements for one in sizings(changed)] == [one.elements for one in sizings(program)]


def test_a_constant_output_becomes_another_constant(tmp_path: Path) -> None:
    for negative, value in ((0, 2), (1, -2)):
        constant = Program.build([(5, -1, -1, 3, (0, 2, 0))], [(0, 0, negative)], inp_shift=[0])
        vectors = Generated([constant], 50, 0)
        made = poison(constant, b"", vectors, check=True)
        assert made.value == value and differing_rows(constant, made, vectors, check=True) == (50, 0)
        assert len(spoilt(constant, made, tmp_path, vectors)[1]) == 50


def test_a_program_that_cannot_be_poisoned_is_refused() -> None:
    nothing = Program.build([(5, -1, -1, 0, (0, 0, 0))], [(0, 0, 0)], inp_shift=[0])
    with raises(InputError):
        poison(nothing, b"", Generated([nothing], 50, 0), check=True)


def many_choices(ops: int) -> Program:
    """Return a program of ``ops`` ops, so many that one op more changes which boundaries are looked for."""
    rows = [(-1, index, -1, 0, (1, 20, 0)) for index in (0, 1)]
    rows += [(3, at % 2, -1, 0, (1, at % 18 + 1, 0)) for at in range(2, ops)]
    return Program.build(rows, [(ops - 1, 0, 0), (ops - 2, 0, 0)], inp_shift=[0, 0])


def counted_as_simulated(path: Path, folder: Path, check: bool) -> None:
    """Compare the rows that a sign-off expects to be wrong with those that ``sim`` of the poisoned program finds."""
    program, count = load(path), 400
    subject = SimpleNamespace(program=program, path=path, top="model", of=lambda kind: [])
    policy = SimpleNamespace(vectors=count, seeds=(3,), overflow="checked" if check else "unchecked")
    changed_path, *layout = _poisoned(SimpleNamespace(subject=subject, policy=policy), folder)  # type: ignore[arg-type]
    changed = load(changed_path, layout=layout[-1] if layout else None)
    batch = WithBoundaries(changed, count, 3, check=check).slice(0, count)
    pairs = zip(*(Golden(one).run_raw(batch, check=check) for one in (program, changed)), strict=True)
    differ = np.flatnonzero(np.any([right != wrong for right, wrong in pairs], axis=0))
    seeded = json.loads((folder / SEEDED_FAULT).read_text())
    assert (seeded["rows"], seeded["first"]) == (len(differ), differ[0]), path


def test_a_sign_off_expects_the_poisoned_model_on_the_vectors_of_sim(tmp_path: Path) -> None:
    """Another choice of vectors, also by a single op more, and right designs are not signed off."""
    (tmp_path / "large.bin").write_bytes(write_binary(many_choices(8_000), "v1"))
    for path in (EXAMPLES / "quantised_mac.bin", EXAMPLES / "lookup_square.bin", tmp_path / "large.bin"):
        counted_as_simulated(path, tmp_path / path.stem, check=False)


def test_expected_faults_of_the_corpus_are_those_of_sim(corpus: Path, tmp_path: Path) -> None:
    for path in sorted(corpus.glob("*/da4ml.json")):
        counted_as_simulated(path, tmp_path / path.parent.name, check=True)


# RTL


def write_chunk(folder: Path, program: Program, rows: int) -> None:
    (folder / "vectors").mkdir()
    ports = packed(program).ports
    batch = Generated([program], rows, 0).slice(0, rows)
    outputs = pack_outputs(Golden(program).run_raw(batch), ports, rows)
    (folder / "vectors" / "000000.bin").write_bytes(np.zeros((rows, 1), dtype="<u8").tobytes() + outputs.tobytes())


def test_rtl_that_is_sometimes_wrong_counts_its_vectors(tmp_path: Path) -> None:
    write_chunk(tmp_path, DESIGN, 200)
    (tmp_path / "model.v").write_text(emit_verilog(DESIGN))
    ports = ports_in([tmp_path / "model.v"], "model")
    assert ports is not None
    bad = sometimes_wrong(packed(DESIGN).interface, OriginalDesign("model", ports), tmp_path, 200, 0)
    assert (bad.top, bad.first) == ("model_sometimes_wrong", 0)
    assert 8 <= bad.rows <= 200
    (tmp_path / "bad.v").write_text(bad.text)
    sources = [tmp_path / "model.v", tmp_path / "bad.v"]
    assert ports_in(sources, bad.top) == ports
    assert unused_in(sources, bad.top) == []


def test_pins_go_through_and_only_data_is_flipped(tmp_path: Path) -> None:
    wires = (Wire("y_0", 0, 3), Wire("y_1", 3, 2))
    interface = DesignInterface((Wire("x", 0, 4),), wires, Clocking("clk", 1, valid_in="vin", valid_out="vout"))
    ports = (
        Port("clk", "in", 1),
        Port("vin", "in", 1),
        Port("x", "in", 4),
        Port("y_0", "out", 3),
        Port("vout", "out", 1),
        Port("y_1", "out", 2),
    )
    text = always_wrong(interface, OriginalDesign("core", ports)).text
    assert "assign vout = dais_inner_1;" in text
    assert "assign y_0 = dais_inner_0 ^ ({3{1'b1}} & (3'd1 << 0));" in text
    assert "wire [4:0] dais_all = {dais_inner_2, dais_inner_0};" in text
    assert ".clk(clk)" in text and ".vout(dais_inner_1)" in text


def test_an_array_is_spoilt_element_by_element() -> None:
    interface = DesignInterface((), (Wire("y[2]", 0, 3), Wire("y[1]", 3, 3)))
    design = OriginalDesign("core", (Port("y", "out", 3, range(2, 0, -1), signed=True),))
    text = always_wrong(interface, design).text
    assert "output wire signed [2:0] y [2:1]" in text
    assert "wire signed [2:0] dais_inner_0 [2:1];" in text
    assert "wire [5:0] dais_all = {dais_inner_0[1], dais_inner_0[2]};" in text
    assert "assign y[1] = dais_inner_0[1] ^ ({3{1'b1}} & (3'd1 << 0));" in text


def test_a_port_of_any_name_is_spoilt() -> None:
    text = always_wrong(
        DesignInterface((), (Wire("y[0]", 0, 1),)), OriginalDesign("core", (Port("y[0]", "out", 1),))
    ).text
    assert "output wire [0:0] \\y[0] " in text
    assert "assign \\y[0]  = dais_inner_0 ^" in text


def test_a_vhdl_entity_is_spoilt_in_vhdl() -> None:
    interface = DesignInterface((Wire("x", 0, 4),), (Wire("y", 0, 2), Wire("z", 2, 1)), Clocking("clk", 1))
    ports = (Port("clk", "in", 1), Port("x", "in", 4), Port("y", "out", 2), Port("z", "out", 1))
    types = {"clk": "std_ulogic", "x": "unsigned", "y": "signed", "z": "bit"}
    design = OriginalDesign("core", ports, types)
    text = always_wrong(interface, design).text
    assert design.suffix == ".vhd"
    for line in (
        "    x : in std_logic_vector(3 downto 0);",
        "  dais_own_1 <= unsigned(x);",
        "    clk => clk,",
        "    y => dais_own_2,",
        "  dais_inner_0 <= std_logic_vector(dais_own_2);",
        "  dais_all(1 downto 0) <= dais_inner_0;",
        "  dais_all(2) <= dais_inner_1;",
        "  y(0) <= dais_inner_0(0) xor '1';",
        "  y(1) <= dais_inner_0(1);",
        "  z <= dais_inner_1 xor '1';",
    ):
        assert line in text.split("\n"), text


@pytest.mark.parametrize("types", [None, {"y": "std_logic_vector"}])
def test_ports_that_no_wrapper_has_are_refused(types: dict[str, str] | None) -> None:
    interface = DesignInterface((), (Wire("y", 0, 3),))
    with raises(InputError):
        always_wrong(interface, OriginalDesign("core", (Port("y", "inout", 3),), types))


# the number of possible inputs


def test_possible_inputs() -> None:
    assert possible_inputs(DESIGN) == 1 << 12
    wide = Program.build([(-1, 0, -1, 0, (1, 69, 0))], [(0, 0, 0)], inp_shift=[0])
    assert possible_inputs(wide) == 1 << 70


def test_modules_that_are_no_part_of_the_top(tmp_path: Path) -> None:
    (tmp_path / "a.v").write_text(
        "module inner; endmodule\nmodule outer; inner i(); endmodule\nmodule lone; endmodule\n"
    )
    assert unused_in([tmp_path / "a.v"], "outer") == ["lone"]
    assert unused_in([tmp_path / "a.v"], "inner") == ["lone", "outer"]
    with raises(InputError):
        unused_in([tmp_path / "a.v"], "chip")
    (tmp_path / "b.v").write_text("module (")
    assert unused_in([tmp_path / "b.v"], "outer") is None
