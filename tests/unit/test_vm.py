"""The virtual machine equals the oracle and the batch engine for every schedule, engine and level of checks."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from support.places import ALIR
from support.programs import dense_network, every_opcode
from support.said import as_recorded, raises
from support.strategies import batches, programs
from support.tier import examples

from dais_verif.base.errors import InputError, ToolError, ViolationError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.golden import fast, run, run_raw
from dais_verif.golden.vm import (
    Compilation,
    InstructionSequence,
    MachineViolation,
    accept_instructions,
    compile_forward_and_backward,
)
from dais_verif.golden.vm.check_sequence import first_fault
from dais_verif.golden.vm.compile import assign_slots, order_of
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.numbers import Batch

FAST = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
OPTIONS = [{"fuse": fuse, "optimize_locality": local} for fuse in (False, True) for local in (False, True)]


def outcome(iseq: InstructionSequence, batch: Batch, level: Any, engine: str = "auto") -> Any:
    """Return raw outputs, or the op, the row and the words of the broken promise."""
    try:
        return [column.tolist() for column in accept_instructions(iseq, batch, opt_level=level, engine=engine).columns]
    except MachineViolation as violation:
        return violation.op, violation.row, violation.words


def expected_of(program: Program, batch: Batch) -> tuple[list[Any], str | None]:
    """Return the raw outputs of an unchecked run, and the message of a checked run."""
    outputs = [column.tolist() for column in run_raw(program, batch, engine="numpy", check=False)]
    try:
        run_raw(program, batch, engine="numpy")
    except ViolationError as error:
        return outputs, str(error)
    return outputs, None


@given(batches() | batches(alir=True))
@FAST
def test_all_schedules_and_levels_agree_with_the_engine(case: tuple[Program, list[list[Any]]]) -> None:
    program, rows = case
    batch = Batch.of(rows, program.n_in)
    outputs, broken = expected_of(program, batch)
    for options in OPTIONS:
        compiled = compile_forward_and_backward(program, **options)
        for level in (1, 2, 1, 3):
            found = outcome(compiled.forward, batch, level, "numpy")
            if broken is None or level == 3:
                assert found == outputs
            else:
                op, row, words = found
                assert f"row {row}: {words}" == broken and f"op {op} (" in words


@given(batches(promise_keeping=True) | batches(promise_keeping=True, alir=True))
@settings(FAST, max_examples=examples(80))
def test_fast_and_numpy_save_the_same_values(case: tuple[Program, list[list[Any]]]) -> None:
    program, rows = case
    tapes = []
    for engine in ("numpy", "auto"):
        compiled = compile_forward_and_backward(program)
        run = accept_instructions(compiled.forward, rows, engine=engine)
        assert [column.dtype for column in run.columns] == [
            c.dtype for c in run_raw(program, Batch.of(rows, program.n_in))
        ]
        saved = {slot: (raw.dtype, raw.tolist()) for slot, raw in compiled.tape.slots.items()}
        tapes.append(([column.tolist() for column in run.columns], saved))
    assert tapes[0] == tapes[1]


@given(programs() | programs(alir=True))
@FAST
def test_what_is_compiled_has_no_fault_and_one_instruction_an_op_and_output(case: tuple[Program, Any]) -> None:
    program = case[0]
    for options in OPTIONS:
        compiled = compile_forward_and_backward(program, **options)
        for iseq in (compiled.forward, compiled.backward):
            iseq.runtime.verified = ()  # otherwise, the sequence would be recognised as verified, and not checked
            assert first_fault(iseq) is None
        fused = sum(map(len, compiled.forward.fused.values()))
        assert len(compiled.forward) == program.n_ops + program.n_out - fused
        assert fused == 0 or options["fuse"]


@given(programs() | programs(alir=True))
@FAST
def test_operands_come_first_in_either_order(case: tuple[Program, Any]) -> None:
    program = case[0]
    assert order_of(program, locality=False).tolist() == list(range(program.n_ops))
    order = order_of(program, locality=True).tolist()
    assert sorted(order) == list(range(program.n_ops))
    rank = {index: place for place, index in enumerate(order)}
    assert all(rank[i] < rank[op.index] for op in program.ops for i in op.operands)


def test_locality_is_depth_first_from_the_outputs_then_dead_ops() -> None:
    x, kind = (-1, 0, -1, 0, (1, 3, 0)), (1, 9, 0)
    ops = [
        x,
        x,
        x,
        (0, 0, 1, 0, kind),
        (1, 2, 1, 0, kind),
        (0, 4, 3, 0, kind),
        (2, 0, -1, 0, kind),
        (3, 6, -1, 0, kind),
    ]
    program = Program.build(ops, [(-1, 0, 0), (5, 0, 0)], inp_shift=[0])
    assert order_of(program, locality=True).tolist() == [2, 1, 4, 0, 3, 5, 6, 7]


def test_slots_are_freed_at_the_last_use_and_taken_last_in_first_out() -> None:
    reads = np.array([[-1] * 3, [-1] * 3, [0, 1, -1], [2, 2, -1], [1, -1, -1], [-1] * 3], dtype=np.int32)
    order, keep, kind = np.arange(6, dtype=np.int32), np.zeros(6, dtype=bool), np.zeros(6, dtype=bool)
    slot, n_slots = assign_slots(order, reads, keep, kind)
    # 2 takes the slot of 0, and 3 that of 2; nothing reads 3. 4 takes the slot of 1, freed last, and 5 that of 4.
    assert (slot.tolist(), n_slots) == ([0, 1, 0, 0, 1, 1], 2)
    keep[0] = True
    assert assign_slots(order, reads, keep, kind)[0].tolist() == [0, 1, 2, 2, 1, 1]
    kind[3] = True
    assert assign_slots(order, reads, keep, kind)[0].tolist() == [0, 1, 2, 3, 1, 1]


def test_locality_saves_slots() -> None:
    """Locality saves slots; without it, all 16 inputs are read before the first of 15 sums of two neighbours."""
    ops: list[Any] = [(-1, j, -1, 0, (1, 3, 0)) for j in range(16)]
    ops += [(0, j, j + 1, 0, (1, 5, 0)) for j in range(15)]
    program = Program.build(ops, [(16 + j, 0, 0) for j in range(15)], inp_shift=[0] * 16)
    near, far = (compile_forward_and_backward(program, optimize_locality=local).allocation for local in (True, False))
    assert near.n_slots < far.n_slots == 16


QUANT = [
    (-1, 0, -1, 0, (1, 3, 2)),
    (3, 0, -1, 0, (1, 5, 2)),  # wider, with as many fractional bits: fused
    (3, 1, -1, 0, (1, 6, 2)),  # fused as well
    (3, 0, -1, 0, (1, 5, 3)),  # another number of fractional bits
    (3, 0, -1, 0, (1, 2, 2)),  # may wrap
    (3, 0, -1, 0, (1, 70, 2)),  # kept in Python integers
    (0, 2, 3, 0, (1, 7, 3)),
    (6, 2, 4, 2, (1, 6, 2)),  # selects by the MSB of a fused value
]
QUANTISED = Program.build(QUANT, [(6, 0, 0), (7, 0, 0), (2, 1, 1), (5, 0, 0)], inp_shift=[0])


def test_a_quant_op_that_changes_nothing_is_fused() -> None:
    compiled = compile_forward_and_backward(QUANTISED)
    assert compiled.forward.fused == {0: [1, 2]}
    comments = [row.comment for row in compiled.forward]
    assert comments[0] == "%0 s6.2 = input 0; fused: %1 s8.2 = quant(%0); fused: %2 s9.2 = quant(%1)"
    x = np.arange(-40, 40).reshape(-1, 1) / 4
    assert np.array_equal(accept_instructions(compiled.forward, x).values, run(QUANTISED, x))


def test_same_shapes_are_compiled_once() -> None:
    kind, sums = (1, 9, 0), [(0, 0, 1, 3), (0, 1, 0, 3), (0, 0, 1, 2), (1, 0, 1, 3)]
    ops = [(-1, 0, -1, 0, (1, 3, 0)), (-1, 1, -1, 0, (1, 3, 0)), *((*row, kind) for row in sums)]
    # the condition of a mux is an operand, and its shift is not; the data of a relu has no meaning
    ops += [(6, 0, 1, 2 | 1 << 32, kind), (6, 0, 1, 3 | 1 << 32, kind), (6, 0, 1, 2 | 2 << 32, kind)]
    ops += [(2, 0, -1, 0, kind), (2, 1, -1, 7, kind)]
    program = Program.build(ops, [], inp_shift=[0, 1])
    iseq = compile_forward_and_backward(program, optimize_locality=False).forward
    assert [row.cached for row in iseq] == [False, False, False, True, False, False, False, True, False, False, True]
    same = Program.build(ops[:2], [], inp_shift=[1, 1])
    assert [row.cached for row in compile_forward_and_backward(same).forward] == [False, True]


def test_checks_are_counted() -> None:
    """Of four promises, range analysis proves two; the others are counted as checked in the runs that check them."""
    x, kind = (-1, 0, -1, 0, (0, 4, 0)), (0, 4, 0)
    ops = [
        x,
        (5, -1, -1, 3, kind),
        (0, 0, 1, 0, kind),
        (0, 0, 1, 0, (0, 5, 0)),
        (7, 0, 0, 0, kind),
        (2, 0, -1, 0, kind),
    ]
    iseq = compile_forward_and_backward(Program.build(ops, [(5, 0, 0)], inp_shift=[0])).forward
    counts = [accept_instructions(iseq, [[2]], opt_level=level).checks for level in (2, 2, 1, 3)]
    assert [tuple(count) for count in counts] == [(4, 2, 2), (4, 2, 0), (4, 2, 2), (4, 2, 0)]
    as_recorded(str(counts[0]))


@pytest.mark.parametrize("engine", ["numpy", "auto"])
def test_only_a_run_that_checked_a_row_ends_the_checks(engine: str) -> None:
    """A run of no rows, one without checks or one that failed checks nothing, so the next run of level 2 does."""
    ops = [(-1, 0, -1, 0, (0, 4, 0)), (0, 0, 0, 0, (0, 4, 0))]
    iseq = compile_forward_and_backward(Program.build(ops, [(1, 0, 0)], inp_shift=[0])).forward
    assert accept_instructions(iseq, np.zeros((0, 1)), engine=engine).rows == 0
    assert accept_instructions(iseq, [[9]], opt_level=3, engine=engine).values.tolist() == [[2]]
    for _ in range(2):
        with pytest.raises(ViolationError):
            accept_instructions(iseq, [[9]], engine=engine)
    assert accept_instructions(iseq, [[7]], engine=engine).values.tolist() == [[14]]
    assert accept_instructions(iseq, [[9]], engine=engine).values.tolist() == [[2]]


def test_rows_in_many_chunks() -> None:
    program = dense_network()
    x = np.random.default_rng(1).integers(-70, 70, (5000, program.n_in)) / 16
    compiled = compile_forward_and_backward(program)
    assert np.array_equal(accept_instructions(compiled.forward, x, engine="numpy").values, run(program, x))
    assert compiled.tape.rows == 5000 and all(len(raw) == 5000 for raw in compiled.tape.slots.values())
    assert accept_instructions(compiled.backward).values.shape == (5000, program.n_in)


def test_no_rows_no_ops_no_outputs() -> None:
    compiled = compile_forward_and_backward(every_opcode())
    assert accept_instructions(compiled.forward, np.zeros((0, 3)), opt_level=1).values.shape == (0, 19)
    assert accept_instructions(compiled.backward, opt_level=1).values.shape == (0, 3)
    nothing = compile_forward_and_backward(Program.build([], [(-1, 0, 0)]))
    for engine in ("numpy", "auto"):
        assert accept_instructions(nothing.forward, np.zeros((2, 0)), engine=engine).values.tolist() == [[0], [0]]


def test_corpus(corpus: Any) -> None:
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        compiled = compile_forward_and_backward(load(folder / "prog.v1.bin"))
        x, expected = np.load(folder / "inputs.npy"), np.load(folder / "expected.npy")
        for engine, level in (("numpy", 1), ("auto", 2), ("auto", 3)):
            run = accept_instructions(compiled.forward, x, opt_level=level, engine=engine)
            assert np.array_equal(run.values, expected), folder.name


@pytest.mark.parametrize("name", ["a02_mlp_ternary", "a06_softmax_lut", "a09_wide_acc"])
def test_real_models_of_alir(name: str) -> None:
    folder = ALIR / name
    compiled = compile_forward_and_backward(load(next(folder.glob("alir.json*"))))
    x, expected = (np.load(folder / f"{part}.npy")[:200] for part in ("inputs", "expected"))
    for engine, level in (("numpy", 1), ("auto", 2)):
        assert np.array_equal(
            accept_instructions(compiled.forward, x, opt_level=level, engine=engine).values, expected
        ), engine


def test_a_sum_of_many_terms_is_an_instruction() -> None:
    """An instruction has as many operands as the largest sum, which reads some values several times."""
    ops: list[Any] = [(-1, j, -1, 0, (1, 3, 0)) for j in range(9)]
    ops += [(11, 0, 12, 0, (1, 12, 0)), (11, 12, 1, 0, (1, 13, 0)), (11, 13, 2, 3, (1, 14, 0))]
    terms = [(j % 9, j % 3, j & 1) for j in range(12)] + [(9, 0, 1), (-1, 2, 0), (10, 0, 0)]
    program = Program.build(ops, [(11, 0, 0)], inp_shift=[0] * 9, terms=terms)
    for options in OPTIONS:
        iseq = compile_forward_and_backward(program, **options).forward
        sums = [row for row in iseq if row.node is not None and row.node >= 9]
        assert [row.op for row in sums] == ["sum", "neg", "add_term", "output"]
        assert [len(row.args) for row in sums] == [12, 1, 1, 1]
        x = np.arange(-8, 10).reshape(2, 9) % 8
        exact = [3 * 4 - sum(row[j] * (1 << shift) * (-1 if sign else 1) for j, shift, sign in terms[:12]) for row in x]
        for engine in ("numpy", "auto"):
            assert accept_instructions(iseq, x, opt_level=1, engine=engine).values[:, 0].tolist() == exact


def test_a_program_that_is_too_large_for_the_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dais_verif.golden.vm.columns._MOST_ENTRIES", 11)
    ops: list[Any] = [(-1, 0, -1, 0, (1, 3, 0)), (11, 0, 6, 0, (1, 12, 0))]
    program = Program.build(ops, [(1, 0, 0)], inp_shift=[0], terms=[(0, 0, 0)] * 6)
    with raises(InputError):
        compile_forward_and_backward(program)


def test_sums_of_the_same_terms_on_other_ops_are_compiled_once() -> None:
    kind = (1, 9, 0)
    sums = [[(0, 0, 0), (1, 1, 1)], [(1, 0, 0), (0, 1, 1)], [(0, 0, 0), (2, 1, 1)], [(0, 0, 0), (1, 1, 0)]]
    sums += [[(0, 0, 0), (1, 1, 1), (-1, 0, 0)], [(0, 0, 0), (-1, 0, 0), (1, 1, 1)]]
    ops: list[Any] = [(-1, 0, -1, 0, (1, 3, 0)), (-1, 1, -1, 0, (1, 3, 0)), (-1, 2, -1, 0, (1, 4, 0))]
    for number, terms in enumerate(sums):
        ops.append((11, sum(map(len, sums[:number])), len(terms), 0, kind))
    program = Program.build(ops, [], inp_shift=[0] * 3, terms=[term for terms in sums for term in terms])
    iseq = compile_forward_and_backward(program, optimize_locality=False).forward
    assert [row.cached for row in iseq][3:] == [False, True, False, False, False, False]


def compilation() -> Compilation:
    return compile_forward_and_backward(QUANTISED)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opt_level": 0}, r"opt_level.*1, 2 or 3.*0"),
        ({"on_violation": "ignore"}, r"on_violation.*'raise' or 'warn'.*'ignore'"),
        ({"engine": "exact"}, r"engine.*auto, fast.*'exact'"),
        ({"x": None}, r"sequence.*vectors"),
        ({"x": [[1, 2]]}, r"\(rows, 1\)"),
    ],
)
def test_unusable_arguments(options: dict[str, Any], message: str) -> None:
    with raises(InputError, match=message):
        accept_instructions(compilation().forward, **({"x": [[1]]} | options))


def test_engine_fast_says_why_it_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dais_verif.golden.vm.execute.why_not", lambda: "the C kernel was not built")
    with raises(ToolError):
        accept_instructions(compilation().forward, [[1]], engine="fast")
    assert accept_instructions(compilation().forward, [[1]]).values.tolist() == [[2, 1, -2, 1]]


@pytest.mark.skipif(bool(fast.why_not()), reason=fast.why_not())
def test_what_is_beyond_the_kernel_runs_on_numpy() -> None:
    program = Program.build([(-1, 0, -1, 0, (1, 80, 0))], [(0, 0, 0)], inp_shift=[0])
    compiled = compile_forward_and_backward(program)
    assert accept_instructions(compiled.forward, [[1 << 70]]).columns[0].tolist() == [1 << 70]
    with raises(InputError):
        accept_instructions(compile_forward_and_backward(program).forward, [[1]], engine="fast")


def test_an_index_beyond_the_sequence() -> None:
    iseq = compilation().forward
    assert [row.position for row in iseq] == list(range(len(iseq)))
    with raises(IndexError):
        iseq[len(iseq)]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_5_000_programs(chunk: int) -> None:
    for seed in range(chunk * 500, chunk * 500 + 500):
        rng = random.Random(seed)
        program = random_program(rng, rng.randint(1, 40), promise_keeping=seed % 2 == 0, alir=seed % 8 < 4)
        batch = Batch.of(random_rows(rng, program, 6), program.n_in)
        outputs, broken = expected_of(program, batch)
        for engine in ("numpy", "auto"):
            compiled = compile_forward_and_backward(program, **OPTIONS[seed % 4])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run = accept_instructions(compiled.forward, batch, opt_level=1, on_violation="warn", engine=engine)
            assert [column.tolist() for column in run.columns] == outputs, seed
            assert (run.violation is None) == (broken is None), seed
            if run.violation is not None:
                assert f"row {run.violation.row}: {run.violation.words}" == broken, seed
