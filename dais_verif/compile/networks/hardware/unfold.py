"""Unfold all members of all stages into one program, the reference for machines that run them in turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dais_verif.compile.kernels.unfold import unfold
from dais_verif.compile.networks.hardware.chain import Chain
from dais_verif.compile.networks.hardware.stages import Stage
from dais_verif.spec.program import Columns, FixedType, Program, Terms
from dais_verif.spec.program.checks import validate
from dais_verif.spec.program.opcodes import Code

__all__ = ["unfold_chain"]


class _Element(NamedTuple):
    """The op of an element, or -1 for a 0, with shift and sign as in an output of a program."""

    op: int
    shift: int
    negative: int


def unfold_chain(chain: Chain, configuration: int = 0) -> Program:
    """Return the program of a configuration: from all elements of inputs to those of outputs, each in NumPy's order."""
    return _Unfolding(chain).program(configuration)


class _Unfolding:
    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.rows: list[list[int]] = []
        self.tables: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
        self.terms: list[tuple[int, int, int]] = []
        self.tensors: dict[str, list[_Element]] = {}
        self.zero: int | None = None

    def program(self, configuration: int) -> Program:
        """Return the program, built stage after stage."""
        count = 0
        for name, kind in self.chain.inputs.items():
            size = self.chain.storage[name].words * self.chain.storage[name].channels
            self.tensors[name] = [
                _Element(self.add(int(Code.INPUT), count + at, -1, 0, kind), 0, 0) for at in range(size)
            ]
            count += size
        for stage in self.chain.stages(configuration):
            self.tensors[stage.output] = self.stage(stage)
        outputs = [element for name in self.chain.outputs for element in self.tensors[name]]
        terms = np.array(self.terms, dtype=np.int64).reshape(-1, 3).T.copy()
        program = Program(
            inp_shift=np.zeros(count, dtype=np.int64),
            out_idx=np.array([one.op for one in outputs], dtype=np.int64),
            out_shift=np.array([one.shift for one in outputs], dtype=np.int64),
            out_neg=np.array([one.negative for one in outputs], dtype=np.int64),
            columns=Columns(*np.array(self.rows, dtype=np.int64).T.copy()),
            tables=tuple(self.tables),
            terms=Terms(*terms),
        )
        validate(program)
        return program

    def add(self, code: int, id0: int, id1: int, data: int, kind: FixedType) -> int:
        """Append an op."""
        self.rows.append([code, id0, id1, data, *kind])
        return len(self.rows) - 1

    def value(self, element: _Element, kind: FixedType) -> int:
        """Return the op that has the value of an element, in the type of its tensor."""
        if self.zero is None:
            self.zero = self.add(int(Code.CONST), -1, -1, 0, FixedType(0, 1, 0))
        if element.op < 0:
            return self.zero
        if not element.shift and not element.negative and self.rows[element.op][4:] == list(kind):
            return element.op
        code = Code.SUB if element.negative else Code.ADD
        return self.add(int(code), self.zero, element.op, element.shift, kind)

    def stage(self, stage: Stage) -> list[_Element]:
        """Add all members of a stage, and return the elements of its output."""
        own, kinds, sources = unfold(stage.instance), list[FixedType](), list[_Element]()
        for name, kind in zip(stage.inputs, stage.instance.input_types, strict=True):
            sources += self.tensors[name]
            kinds += [kind] * len(self.tensors[name])
        moved: list[int] = []
        first_table = len(self.tables)
        self.tables += list(own.tables)
        for op in own.ops:
            if op.code == Code.INPUT:
                value = self.value(sources[op.id0], kinds[op.id0])
                same = self.rows[value][4:] == list(op.type)
                moved.append(value if same else self.add(int(Code.QUANT), value, -1, 0, op.type))
                continue
            new = op.rewired(moved.__getitem__)
            data, id0, id1 = new.data, new.id0, new.id1
            if op.code == Code.LOOKUP:
                data += first_table
            if op.code == Code.SUM:
                id0, id1 = len(self.terms), len(new.terms)
                self.terms += [tuple(term) for term in new.terms]  # type: ignore[misc]
            moved.append(self.add(op.code, id0, id1, data, op.type))
        found = [_Element(moved[i] if i >= 0 else -1, s, n) for i, s, n in own.outputs]
        if stage.left_out is None:
            return found
        axis, places = stage.left_out
        elements = np.arange(len(found)).reshape(stage.shape)
        nothing = _Element(self.add(int(Code.CONST), -1, -1, stage.type.raw_min, stage.type), 0, 0)
        for at in np.take(elements, places, axis=2 + axis).ravel().tolist():
            found[at] = nothing
        return found
