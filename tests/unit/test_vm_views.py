"""The listing, the log and the profile of the virtual machine are right: their text is parsed and compared."""

from __future__ import annotations

import io
import json
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.programs import dense_network, every_opcode, overflowing
from support.said import raises

from dais_verif.base.errors import EngineError, InputError
from dais_verif.golden import oracle
from dais_verif.golden.vm import (
    InstructionSequence,
    Profile,
    ViolationWarning,
    accept_instructions,
    benchmark_accept_instructions,
    compile_forward_and_backward,
    disassemble,
    logging_vm_execution,
)
from dais_verif.spec.program import Program
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.numbers import Batch

EVERY = every_opcode()
X = [[1.3125, -2.5, 7], [-7.9375, 31.75, -16], [3, 4, 5]]

LINE = re.compile(r"([ *]) +(\d+)  (\w+) +(\S+(?: <- [^+;]*?)?) +(\+)? *; (.*)")


def listed(lines: list[str], iseq: InstructionSequence) -> None:
    """Assert that every line shows what its instruction has."""
    assert len(lines) == len(iseq)
    for text, row in zip(lines, iseq, strict=True):
        found = LINE.fullmatch(text)
        assert found is not None, text
        mark, position, op, slots, cached, comment = found.groups()
        assert (mark, int(position), op, bool(cached), comment) == (" ", row.position, row.op, row.cached, row.comment)
        written, _, read = slots.partition(" <- ")
        read, _, kept = read.partition(" keep ")
        own = "s" if iseq.direction == "forward" else "g"
        numbers = [int(slot) for slot in re.findall(rf"\b{own}(\d+)", read)]
        others = [int(slot) for slot in re.findall(r"\bs(\d+)", kept if own == "s" else read)]
        assert (tuple(numbers), tuple(others)) == (row.args, row.saved), text
        assert written == (f"{own}{row.out}" if row.out is not None else f"out{re.findall('[0-9]+', comment)[0]}")


@pytest.mark.parametrize("program", [EVERY, dense_network(), overflowing()], ids=["every", "dense", "small"])
def test_the_listing_can_be_read_back(program: Program) -> None:
    compiled = compile_forward_and_backward(program)
    forward, backward, counts = disassemble(compiled).split("\n\n")
    assert forward.splitlines()[0] == "[Forward]" and backward.splitlines()[0] == "[Pullback]"
    listed(forward.splitlines()[1:], compiled.forward)
    listed(backward.splitlines()[1:], compiled.backward)

    totals = {name: int(total) for name, total in re.findall(r"^(\w+) +(\d+)  ", counts, re.MULTILINE)}
    slots = set(re.findall(r"\b[sg]\d+\b", re.sub(";.*", "", forward + backward)))
    assert totals["instructions"] == len(compiled.forward) + len(compiled.backward)
    assert totals["tensors"] == len(slots)
    # Scalars are constants of the program and shifts other than 0, as the comments show them.
    comments = [row.comment for row in (*compiled.forward, *compiled.backward)]
    shifts = sum(len(re.findall("<<|>>", text)) for text in comments)
    shifts += sum(int(program.inp_shift[op.id0]) != 0 for op in program.ops if op.code == -1)
    offsets = sum(op.code == 8 and op.data >> 32 != 0 for op in program.ops)
    constants = sum(op.code in (4, 5) for op in program.ops)
    assert totals["scalars"] == shifts + offsets + constants


def test_fused_ops_are_counted() -> None:
    ops = [(-1, 0, -1, 0, (1, 3, 0)), (3, 0, -1, 0, (1, 4, 0)), (3, 1, -1, 0, (1, 5, 0))]
    text = disassemble(compile_forward_and_backward(Program.build(ops, [(2, 0, 0)], inp_shift=[0])))
    assert "; fused: %2 s6.0 = quant(%1)" in text
    assert re.search(r"^instructions +4  forward 2, pullback 2, fused 2$", text, re.MULTILINE)


def test_no_pullback_is_said() -> None:
    text = disassemble(compile_forward_and_backward(overflowing(), need_backward=False))
    assert "[Pullback]\n  not compiled\n" in text and "pullback 0" in text


def log_of(program: Program, x: Any, *, as_json: bool = False, **options: Any) -> list[str]:
    stream = io.StringIO()
    compiled = compile_forward_and_backward(program)
    with logging_vm_execution(stream, as_json=as_json, **options):
        accept_instructions(compiled.forward, x)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("program", [EVERY, dense_network()], ids=["every", "dense"])
def test_json_lines_say_what_the_oracle_says(program: Program) -> None:
    x = np.random.default_rng(3).integers(-64, 64, (3, program.n_in)) / 8
    for row in range(3):
        inputs = Batch.of(x, program.n_in).row(row)
        values = oracle.trace(program, inputs)
        outputs = oracle.outputs_of(program, values)
        facts = [json.loads(line) for line in log_of(program, x, as_json=True, row=row)]
        ops = {fact["op"]: fact for fact in facts if "mnemonic" in fact}
        assert sorted(ops) == list(range(program.n_ops))
        named = {fact["output"]: fact for fact in facts if "output" in fact}
        assert sorted(named) == list(range(program.n_out))
        kinds = [*((ops[op.index], values[op.index], op.type) for op in program.ops)]
        kinds += [(named[j], outputs[j], kind) for j, kind in enumerate(program.output_types)]
        for fact, value, kind in kinds:
            assert Fraction(fact["real"]) == value == fact["raw"] * Fraction(2) ** -kind.f
            assert fact["type"] == str(kind) and len(fact["bits"]) == kind.width
            assert int(fact["bits"] or "0", 2) == fact["raw"] % (1 << kind.width)
        assert all(ops[op.index]["mnemonic"] == op.spec.mnemonic for op in program.ops)


def test_text_says_the_same_as_json() -> None:
    for text, line in zip(log_of(EVERY, X, row=1), log_of(EVERY, X, row=1, as_json=True), strict=True):
        fact = json.loads(line)
        name = f"out{fact['output']}" if "output" in fact else f"%{fact['op']}"
        words, _, computes = text.partition("  ; ")
        bits = [fact["bits"]] if fact["bits"] else []
        expected = [name, fact["type"], fact.get("mnemonic", "output"), fact["real"], str(fact["raw"]), *bits]
        assert (words.split(), computes) == (expected, fact["computes"])


@pytest.mark.parametrize("output", range(EVERY.n_out))
def test_only_the_cone_of_an_output(output: int) -> None:
    facts = [json.loads(line) for line in log_of(EVERY, X, as_json=True, only_cone=output)]
    index = EVERY.outputs[output][0]
    needed = cone(EVERY, [index]) if index >= 0 else []
    assert sorted(fact["op"] for fact in facts if "op" in fact) == needed
    assert [fact["output"] for fact in facts if "output" in fact] == [output]


def test_fused_ops_are_logged_with_their_own_type() -> None:
    program = Program.build([(-1, 0, -1, 0, (1, 3, 0)), (3, 0, -1, 0, (1, 4, 0))], [(1, 0, 0)], inp_shift=[0])
    first, second, _ = (json.loads(line) for line in log_of(program, [[-3]], as_json=True))
    assert (first["bits"], first["fused"], second["bits"], second["fused"]) == ("1101", False, "11101", True)
    assert first["instruction"] == second["instruction"]


def test_a_broken_promise_is_marked() -> None:
    with pytest.warns(ViolationWarning):
        stream = io.StringIO()
        with logging_vm_execution(stream, row=1):
            iseq = compile_forward_and_backward(overflowing()).forward
            accept_instructions(iseq, [[1], [127]], on_violation="warn")
    assert [line[:4] for line in stream.getvalue().splitlines()] == ["  %0", "! %1", "  ou"]


def test_the_row_is_counted_over_chunks_and_every_run_is_logged() -> None:
    compiled = compile_forward_and_backward(overflowing())
    x = np.arange(5000).reshape(-1, 1) % 100
    stream = io.StringIO()
    with logging_vm_execution(stream, row=4321, as_json=True):
        accept_instructions(compiled.forward, x)
        accept_instructions(compiled.forward, x + 1)
    accept_instructions(compiled.forward, x)
    facts = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [fact["raw"] for fact in facts] == [21, 22, 22, 22, 23, 23]


def test_gradients_are_logged() -> None:
    program = Program.build([(-1, 0, -1, 0, (1, 7, 0)), (7, 0, 0, 0, (1, 15, 0))], [(1, 0, 0)], inp_shift=[2])
    compiled = compile_forward_and_backward(program)
    accept_instructions(compiled.forward, [[1], [3]])
    text, lines = io.StringIO(), io.StringIO()
    for stream, as_json in ((text, False), (lines, True)):
        with logging_vm_execution(stream, row=1, as_json=as_json):
            accept_instructions(compiled.backward, [0.5])
    facts = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [fact["gradient"] for fact in facts] == [0.5, 6, 12, 48]
    assert [(fact["op"], fact.get("of"), fact.get("input")) for fact in facts] == [
        (1, 1, None),
        (1, 0, None),
        (1, 0, None),
        (0, None, 0),
    ]
    assert [line.split("  ; ")[0].strip() for line in text.getvalue().splitlines()] == ["0.5", "6", "12", "48"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"row": -1}, r"row.*-1"),
        ({"row": 3}, r"row 3 is to.*3 rows.*0"),
        ({"only_cone": 19}, r"19 is to.*19 outputs.*0"),
        ({"only_cone": -1}, "-1 is to"),
    ],
)
def test_what_cannot_be_logged(options: dict[str, int], message: str) -> None:
    with pytest.raises(EngineError, match=message):
        log_of(EVERY, X, **options)
    assert accept_instructions(compile_forward_and_backward(EVERY).forward, X).rows == 3, "logging is over"


def profile_of(iseq: InstructionSequence, *arguments: Any, **options: Any) -> tuple[Profile, str]:
    stream = io.StringIO()
    return benchmark_accept_instructions(iseq, *arguments, stream=stream, **options), stream.getvalue()


def parsed(text: str) -> tuple[list[tuple[str, int, str]], list[tuple[str, int, int, str]]]:
    """Return (mark, ns, rest) per instruction, and (kind, count, ns, share) per row of the table."""
    above, below = text.split("\n\n")
    lines = [re.fullmatch(r"([ *]) +([\d.]+)   +\d+  (.*)", line) for line in above.splitlines()[2:]]
    table = [re.fullmatch(r"  (\w+) +(\d+) +([\d.]+) +([\d.]+) %", line) for line in below.splitlines()[1:]]
    return (
        [(m[1], round(float(m[2]) * 1000), m[3]) for m in lines if m],
        [(m[1], int(m[2]), round(float(m[3]) * 1000), m[4]) for m in table if m],
    )


@pytest.mark.parametrize(("direction", "engine"), [("forward", "fast"), ("forward", "numpy"), ("backward", "numpy")])
def test_the_totals_of_a_profile_add_up(direction: str, engine: str) -> None:
    compiled = compile_forward_and_backward(EVERY)
    accept_instructions(compiled.forward, X)
    iseq = getattr(compiled, direction)
    profile, text = profile_of(iseq, 3, True, top_k=4, engine=engine)
    assert profile.engine == engine and profile.total > 0
    lines, table = parsed(text)
    assert len(lines) == len(iseq) == len(profile.ns)
    assert [ns for _, ns, _ in lines] == profile.ns.tolist()
    average = sum(profile.ns.tolist()) / len(iseq)
    assert [mark == "*" for mark, _, _ in lines] == [ns > average for ns in profile.ns]
    *kinds, total = table
    assert total[:3] == ("total", len(iseq), profile.total) and profile.total == sum(ns for _, ns, _ in lines)
    assert (sum(kind[1] for kind in kinds), sum(kind[2] for kind in kinds)) == total[1:3]
    assert len(kinds) == 5 and kinds[-1][0] == "others"
    spent: dict[str, int] = {}
    for row, ns in zip(iseq, profile.ns.tolist(), strict=True):
        spent[row.op] = spent.get(row.op, 0) + ns
    assert [kind[2] for kind in kinds[:4]] == sorted(spent.values(), reverse=True)[:4]
    assert all(spent[kind[0]] == kind[2] for kind in kinds[:4])
    assert [kind[3] for kind in table] == [f"{100 * kind[2] / profile.total:.1f}" for kind in table]


def test_calls_and_rows_of_a_profile() -> None:
    iseq = compile_forward_and_backward(overflowing()).forward
    for arguments, calls in (((), 1), ((3,), 3), ((3, True), 2), ((2, True), 1)):
        profile, text = profile_of(iseq, *arguments, x=[[1], [2], [127]])
        assert (profile.calls, profile.rows) == (calls, 3)
        assert text.startswith(f"[Forward] 3 rows, mean of {calls} calls, fast engine\n")
    assert profile_of(iseq)[0].rows == 2048
    assert len(profile_of(iseq, x=np.zeros((5000, 1)))[0].ns) == len(iseq)
    assert not iseq.runtime.checked, "timing is no run"


def test_an_empty_sequence_has_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    profile = benchmark_accept_instructions(compile_forward_and_backward(Program.build([], [])).forward)
    assert profile.total == 0 and profile.kinds(3) == []
    assert capsys.readouterr().out.splitlines()[-1].split() == ["total", "0", "0.000", "-"]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0,), {}, r"n_sample.*number of.*1.*0"),
        ((-1,), {}, ""),
        ((1.5,), {}, r"n_sample.*number of.*1.*1\.5"),
        ((True,), {}, ""),
        ((1, True), {}, r"n_sample is 1.*measured"),
        ((2,), {"top_k": 0}, r"top_k.*number of.*1.*0"),
        ((2,), {"x": np.zeros((0, 1))}, r"rows.*measured"),
        ((2,), {"x": [[1, 2]]}, r"\(rows, 1\)"),
    ],
)
def test_senseless_arguments_are_refused(arguments: Any, options: Any, message: str) -> None:
    with raises(InputError, match=message):
        profile_of(compile_forward_and_backward(overflowing()).forward, *arguments, **options)


def test_a_pullback_is_timed_after_a_forward_run_only() -> None:
    with raises(InputError):
        profile_of(compile_forward_and_backward(overflowing()).backward)
