"""ALIR files are read as programs with ALIR's meaning, for all opcodes and spec versions; bad files are refused."""

from __future__ import annotations

import copy
import gzip
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.places import ALIR
from support.said import as_recorded, raises

from dais_verif.base.errors import ProgramError, ViolationError
from dais_verif.golden import oracle
from dais_verif.spec.program import Program, load, parse, write_binary
from dais_verif.spec.program.opcodes import Code

X = [[], -1, [0], [-8, 7.5, 0.5], 0.0, 0.0]
Y = [[], -1, [1], [0, 15, 1], 0.0, 0.0]


def model(*ops: list[Any], tables: list[Any] | None = None, spec: object = 4, **more: Any) -> dict[str, Any]:
    """Return an ALIR model of inputs X and Y followed by ``ops``; every op is an output."""
    records = copy.deepcopy([X, Y, *ops])
    n = len(records)
    parts: list[Any] = [[2, n], [0, 0], list(range(n)), [0] * n, [False] * n, records, -1, -1]
    if tables is not None:
        parts.append(tables)
    return {"model": parts, "meta": "ALIRModel", "spec_version": spec, **more}


def read(tree: Any, layout: str | None = None) -> Program:
    return parse(json.dumps(tree).encode(), layout=layout)


def outputs(program: Program, *inputs: float) -> list[Fraction]:
    return oracle.evaluate(program, [Fraction(value) for value in inputs])


WIDE = [-1024, 1023.875, 0.125]

#: A record that reads the inputs X (op 0) and Y (op 1), their values, and the exact result.
MEANINGS = {
    "negation": ([[0], -2, [], WIDE, 0, 0], (2.5, 0), -2.5),
    "sum": ([[0, 1], 0, [-2], WIDE, 0, 0], (2.5, 3), 3.25),
    "difference": ([[0, 1], 1, [1], WIDE, 0, 0], (2.5, 3), -3.5),
    "relu": ([[0], 2, [], WIDE, 0, 0], (-2.5, 0), 0),
    "quant": ([[0], 3, [0], [0, 3, 1], 0, 0], (-2.5, 0), 1),
    "quant, shifted left": ([[0], 3, [2], [-8, 7, 1], 0, 0], (2.5, 0), -6),
    "quant, shifted right": ([[0], 3, [-2], [-8, 7.75, 0.25], 0, 0], (2.5, 0), 0.5),
    "constant on the type's grid": ([[0], 4, [-13, 3], WIDE, 0, 0], (2.5, 0), 0.875),
    "constant that fits the type's grid": ([[0], 4, [8, 4], [-16, 15.5, 0.5], 0, 0], (2.5, 0), 3),
    "constant that is even": ([[0], 4, [24, 4], [-16, 15.5, 0.5], 0, 0], (2.5, 0), 4),
    "constant": ([[], 5, [-5], [-1.25, -1.25, 0.25], 0, 0], (0, 0), -1.25),
    "mux, MSB set": ([[1, 0, 0], 6, [1], WIDE, 0, 0], (-2.5, 7), 7),
    "mux, MSB clear": ([[1, 0, 0], 6, [1], WIDE, 0, 0], (2.5, 7), 5),
    "product": ([[0, 1], 7, [], WIDE, 0, 0], (-2.5, 7), -17.5),
    "NOT, signed": ([[0], 9, [0], WIDE, 0, 0], (2.5, 0), -3),
    "any": ([[0], 9, [1], [0, 1, 1], 0, 0], (2.5, 0), 1),
    "all": ([[1], 9, [2], [0, 1, 1], 0, 0], (0, 15), 1),
    "xor": ([[0, 1], 10, [-1, 2], WIDE, 0, 0], (2.5, 7), 1),
    "sum of three": ([[0, 1, 0], 11, [1, 0, 0, -3, 1, 2], WIDE, 0, 0], (2.5, 5), 11.875),
    "sum of two": ([[1, 0], 11, [0, 1, 0, 0], WIDE, 0, 0], (-2.5, 5), -7.5),
}


@pytest.mark.parametrize("name", MEANINGS)
def test_meaning(name: str) -> None:
    record, inputs, value = MEANINGS[name]
    assert outputs(read(model(record)), *inputs)[2] == Fraction(value)


def test_lookup_begins_at_the_minimum_of_the_operands_interval() -> None:
    narrow = [[0], 3, [0], [-1, 0.5, 0.5], 0, 0]
    table = {"spec": {}, "table": [10, 11, 12, 13]}
    program = read(model(narrow, [[2], 8, [0], [10, 13, 1], 0, 0], tables=[table]))
    assert [outputs(program, x, 0)[3] for x in (-1, -0.5, 0, 0.5)] == [10, 11, 12, 13]


NUMBERS = {
    "negation": (-2, "neg"),
    "quant, shifted left": (3, "quant_shift"),
    "sum of three": (11, "sum"),
    "xor": (10, "bit_binary"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_ops_have_the_numbers_of_the_file(name: str) -> None:
    op = read(model(MEANINGS[name][0])).ops[2]
    assert (op.spec.number, op.spec.mnemonic) == NUMBERS[name]


def test_constant_below_the_grid_of_the_type_is_a_term() -> None:
    sixteenths = [[0], 3, [-3], [-1, 0.9375, 0.0625], 0, 0]
    program = read(model(sixteenths, [[2], 4, [3, 4], [-1, 1, 0.5], 0, 0]))
    assert outputs(program, 2.5, 0)[3] == Fraction(1, 2)
    assert (program.ops[3].spec.number, program.ops[3].spec.mnemonic) == (4, "add_term")
    with pytest.raises(ViolationError, match="op 3"):
        outputs(program, 2, 0)


def test_minus_two_is_negation_in_every_spec_and_relu_in_da4ml() -> None:
    spec2 = [0, -1, -2, 0, [-7.5, 8, 0.5], 0.0, 0.0]
    x2 = [0, -1, -1, 0, [-8, 7.5, 0.5], 0.0, 0.0]
    bare = [[1, 1], [0], [1], [0], [0], [x2, spec2], -1, -1]
    alir = [
        {"model": bare, "meta": "ALIRModel", "spec_version": 2},
        {"model": bare, "meta": "DAISModel", "spec_version": 2},
        {**model([[0], -2, [], [-7.5, 8, 0.5], 0, 0], spec=3)},
    ]
    assert [outputs(read(tree), 3, *[0] * (len(tree["model"][1]) - 1))[-1] for tree in alir] == [-3, -3, -3]
    assert outputs(read(bare), 3) == [0]
    assert outputs(read(bare, "alir"), 3) == [-3]


def test_dialect_that_nothing_tells_is_refused_with_both_readings() -> None:
    untold = {"model": model()["model"], "meta": "DAISModel"}
    for tree in (model([[0], -2, [], [-8, 8, 0.5], 0, 0])["model"], untold):
        with pytest.raises(ProgramError, match="layout") as caught:
            read(tree)
        assert "DAIS" in str(caught.value) and "ALIR" in str(caught.value)
        assert read(tree, "alir").origin.layout == "alir"


def test_spec_3_has_no_shift_and_spec_4_needs_one() -> None:
    record = [[0], 3, [], [0, 3, 1], 0, 0]
    assert outputs(read(model(record, spec=3)), 2.5, 0)[2] == 2
    with raises(ProgramError):
        read(model(record))


def changed(*path: int, to: Any) -> dict[str, Any]:
    """Return a valid model in which one item is replaced."""
    tree = model([[0, 1, 0], 11, [1, 0, 0, -3, 1, 2], WIDE, 0, 0])
    place: Any = tree["model"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return tree


OP = (5, 2)
REFUSED = {
    "meta": ({**model(), "meta": "Model"}, "ALIRModel"),
    "state machine": ({"meta": "ALIRFSM", "spec_version": 4, "fsm": {}}, "program (ALIRModel)"),
    "no spec version": ({"model": [], "meta": "ALIRModel"}, "spec_version is None"),
    "spec 1": (model(spec=1), "spec_version is 1"),
    "spec 5": (model(spec=5), "spec_version is 5"),
    "spec true": (model(spec=True), "spec_version is True"),
    "spec text": (model(spec="4"), "spec_version is '4'"),
    "model no list": ({"model": 3, "meta": "ALIRModel", "spec_version": 4}, "JSON model:"),
    "seven parts": ({"model": [0] * 7, "meta": "ALIRModel", "spec_version": 4}, "a list of 7"),
    "opcode 12": (changed(*OP, 1, to=12), "-2, -1, 0"),
    "opcode -3": (changed(*OP, 1, to=-3), "-3"),
    "opcode 11 in spec 2": (
        {**model(), "model": [[0, 0], [], [], [], [], [[0, 0, 11, 0, [0, 1, 1], 0, 0]], -1, -1], "spec_version": 2},
        "-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 in ALIR",
    ),
    "record of spec 2": (changed(*OP, to=[0, 1, 0, 0, [0, 1, 1], 0, 0]), "[addr"),
    "address of its own": (changed(*OP, 0, 1, to=2), "(11, shifted sum): addr[1] is 2"),
    "address negative": (changed(*OP, 0, 0, to=-1), "addr[0] is -1"),
    "address no integer": (changed(*OP, 0, 0, to=0.5), "JSON op 2: addr[0] is 0.5"),
    "one term": (changed(*OP, 0, to=[0]), "6 data words"),
    "a shift short": (changed(*OP, 2, to=[1, 0, 0, 0, 1]), "5 data words"),
    "sign 2": (changed(*OP, 2, 0, to=2), "data[0] is 2"),
    "shift 2**40": (changed(*OP, 2, 1, to=1 << 40), "data[1] is 1099511627776"),
    "shift 5000": (changed(*OP, 2, 3, to=5000), "op 2 (sum): shift of term 1 is 5000"),
    "input 2": (changed(5, 0, 2, 0, to=2), "op 0 (input): id0 is 2"),
    "two inputs in a record": (changed(5, 0, 2, to=[0, 1]), "(-1, input): 2 data words"),
    "shift of opcode 3": (model([[0], 3, [5000], WIDE, 0, 0]), "op 2 (quant_shift): data (shift) is 5000"),
    "opcode 9, data 3": (model([[0], 9, [3], WIDE, 0, 0]), "data[0] is 3"),
    "opcode 10, data 3": (model([[0, 1], 10, [0, 3], WIDE, 0, 0]), "data[1] is 3"),
    "table missing": (model([[0], 8, [0], WIDE, 0, 0]), "table index (low data) is 0"),
    "constant that its interval denies": (model([[], 5, [3], [0, 0, 0.5], 0, 0]), "2 (5, constant): data[0]"),
    "end off the grid": (changed(*OP, 3, to=[-1.25, 1, 0.5]), "-1.25"),
    "step 3": (changed(*OP, 3, to=[0, 9, 3]), "2**-4096..2**4096"),
    "NaN": (changed(*OP, 3, to=[float("nan"), 1, 1]), "[min, max, step]"),
    "latency of 400 digits": (changed(*OP, 4, to=10**400), "100000000000000000...0000000000000000000"),
    "latency infinite": (changed(*OP, 4, to=float("inf")), "2: latency"),
    "out_neg 2": (changed(4, 0, to=2), "out_neg is 2, must be 0 or 1"),
    "out_idx": (changed(2, 0, to=3), "out_idx is 3"),
    "carry size": (changed(6, to="x"), "carry_size is 'x'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    tree, message = REFUSED[name]
    with pytest.raises(ProgramError) as caught:
        read(tree)
    assert message in str(caught.value)
    as_recorded(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_no_binary_of_dais_holds_what_only_alir_has() -> None:
    for code in (11, 12):
        ops = [-1, 0, -1, 0, 0, 1, 3, 0, code, 0, -1 if code == 12 else 1, 0, 0, 1, 3, 0]
        data = np.array([1, 1, 2, 0, 1, 0, 0, *ops], dtype="<i4").tobytes()
        with raises(ProgramError):
            parse(data, layout="headerless")


def test_estimates_are_kept_and_gzip_is_the_same() -> None:
    tree = model([[0], -2, [], [-7.5, 8, 0.5], 1.5, 4])
    program = read(tree)
    assert program.estimates is not None
    assert program.estimates.latency.tolist() == [0, 0, 1.5] and program.estimates.cost.tolist() == [0, 0, 4]
    assert parse(gzip.compress(json.dumps(tree).encode())).hash == program.hash


def test_a_term_is_part_of_the_hash() -> None:
    hashes = {
        read(model([[0, 1], 11, [1, 0, sign, shift], WIDE, 0, 0])).hash for sign in (0, 1) for shift in (-1, 0, 1)
    }
    assert len(hashes) == 6


@pytest.mark.parametrize("name", [f"a{n:02}" for n in range(1, 11)])
def test_oracle_on_real_models(name: str) -> None:
    (folder,) = ALIR.glob(f"{name}_*")
    (path,) = folder.glob("alir.json*")
    program = load(path)
    inputs, expected = np.load(folder / "inputs.npy"), np.load(folder / "expected.npy")
    for row in np.linspace(0, len(inputs) - 1, 4 if program.n_ops > 500 else 20).astype(int):
        assert outputs(program, *inputs[row]) == [Fraction(value) for value in expected[row]]


@pytest.mark.parametrize("spec", [2, 3])
def test_oracle_on_older_files(spec: int) -> None:
    legacy = ALIR / "legacy"
    program = load(legacy / f"v{spec}.json.gz")
    assert program.origin.spec_version == spec and program.columns.code.tolist().count(Code.SUM) == 66
    inputs, expected = np.load(legacy / f"v{spec}.inputs.npy"), np.load(legacy / f"v{spec}.expected.npy")
    for row in range(0, len(inputs), 40):
        assert outputs(program, *inputs[row]) == [Fraction(value) for value in expected[row]]


def test_writing_a_binary_of_it_is_refused() -> None:
    with pytest.raises(Exception, match="op 2"):
        write_binary(read(model([[0], -2, [], [-7.5, 8, 0.5], 0, 0])), "v1")
