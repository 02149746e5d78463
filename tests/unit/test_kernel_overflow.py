"""Nothing can overflow in the block of a shipped kernel, as its types prove; a type that lacks a bit is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

import dais_verif
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.generate.random_kernels import SHIPPED, asked
from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import OPCODES, Code
from dais_verif.spec.program.ranges import PromiseStatus, analyse

SEEDS = range(9)
#: Kernels that only move numbers, or whose ops define what happens to numbers that do not fit.
PROMISE_NOTHING = {"relu", "cast", "transpose", "concat"}


def promises(program: Program) -> list[int]:
    return [op.index for op in program.ops if OPCODES[op.code].promise]


@pytest.mark.parametrize("name", SHIPPED)
def test_no_input_overflows(name: str) -> None:
    made = 0
    for seed in SEEDS:
        block = asked(name, seed).instance.block
        record = dais_verif.check(block, proof=False)
        assert record.verdict is Verdict.PASS and record.overflow.proved_impossible == len(promises(block))
        made += record.overflow.proved_impossible
    assert bool(made) is (name not in PROMISE_NOTHING)


@pytest.mark.parametrize("name", SHIPPED)
def test_only_the_types_of_outputs_cut_a_number(name: str) -> None:
    """Even ops that may wrap change no number, except that one of softmax drops low bits of a sum before a lookup."""
    for seed in SEEDS:
        block = asked(name, seed).instance.block
        found, outputs = analyse(block), set(block.out_idx.tolist())
        inner = [op.index for op in block.ops if op.code != Code.INPUT and op.index not in outputs]
        cut = [at for at in inner if found.changes[at] is not PromiseStatus.SAFE]
        assert len(cut) <= (name == "softmax")
        for op in (block.ops[n] for n in cut):
            x = found.intervals[op.id0]
            assert op.code == Code.QUANT and x.lo >= 0 and x.hi >> (x.f - op.type.f) <= op.type.raw_max


def narrowed(block: Program, at: int) -> Program:
    """Return the block with one integer bit less in the type of op ``at``, or one entry less in its table."""
    if block.columns.code[at] == Code.LOOKUP:
        table = int(block.columns.data[at]) & 0xFFFFFFFF
        return replace(block, tables=[t[:-1] if n == table else t for n, t in enumerate(block.tables)])
    i = block.columns.i.copy()
    i[at] -= 1
    return replace(block, columns=block.columns._replace(i=i))


@pytest.mark.parametrize("name", sorted(set(SHIPPED) - PROMISE_NOTHING))
def test_a_bit_less_is_found_in_every_op_that_promises(name: str) -> None:
    for seed in SEEDS:
        block = asked(name, seed).instance.block
        intervals = analyse(block).intervals
        for at in promises(block):
            if intervals[at].lo or intervals[at].hi:  # 0 fits every type
                assert at in found(narrowed(block, at)), (seed, at)


def found(block: Program) -> list[int]:
    analysis = analyse(block)
    return [*analysis.promises(PromiseStatus.POSSIBLE), *analysis.promises(PromiseStatus.CERTAIN)]


def test_and_an_input_shows_it() -> None:
    block = asked("mul", 0).instance.block
    (product,) = promises(block)
    assert dais_verif.check(narrowed(block, product)).verdict is Verdict.PROGRAM_INVALID
