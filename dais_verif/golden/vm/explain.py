"""A log of VM execution, one line per op: real value, raw integer, bits, type."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from dais_verif.base.errors import EngineError
from dais_verif.base.text import counted
from dais_verif.golden import oracle
from dais_verif.golden.vm.execute import OBSERVER
from dais_verif.golden.vm.instructions import OUTPUT, InstructionSequence, comment
from dais_verif.golden.vm.machine import Event
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.listing import in_words
from dais_verif.spec.program.numbers import Batch

__all__ = ["logging_vm_execution"]

Facts = dict[str, Any]


@contextmanager
def logging_vm_execution(
    stream: TextIO | None = None, *, row: int = 0, as_json: bool = False, only_cone: int | None = None
) -> Iterator[None]:
    """While the context is active, write the result of every instruction for row ``row`` to ``stream`` (stdout).

    Each op, fused or not, and each output has one line: name, type, opcode (of ALIR with its number), real value, raw
    integer in units of the type's ``2**-f``, bits (two's complement), and the computation; ``!`` marks a promise that a
    checked run found broken. A pullback logs the gradient after every contribution. ``as_json``: write one JSON object
    per line instead. ``only_cone``: the number of an output; only log the ops on which it depends.
    """
    if row < 0:
        raise EngineError(f"row must not be negative, it is {row}")
    log = _Log(sys.stdout if stream is None else stream, row, as_json, only_cone)
    token = OBSERVER.set(log)
    try:
        yield
    finally:
        OBSERVER.reset(token)


class _Log:
    """Receives the result of every instruction, and writes the selected ones."""

    def __init__(self, stream: TextIO, row: int, as_json: bool, only_cone: int | None) -> None:
        self._stream, self._row, self._as_json, self._only_cone = stream, row, as_json, only_cone
        self._cone: set[int] | None = None

    def __call__(self, iseq: InstructionSequence, batch: Batch | None, first_row: int, event: Event) -> None:
        rows = batch.rows if batch is not None else len(event.raw)
        if event.position == 0 and first_row == 0:
            self._start(iseq, rows)
        at = self._row - first_row
        if 0 <= at < len(event.raw):
            for facts in _facts(iseq, event, at):
                if self._wanted(facts):
                    self._write(iseq.program, facts)

    def _start(self, iseq: InstructionSequence, rows: int) -> None:
        if self._row >= rows:
            raise EngineError(f"row {self._row} is to be logged, of {counted(rows, 'row')} numbered from 0 on")
        only, n_out = self._only_cone, iseq.program.n_out
        if only is not None and not 0 <= only < n_out:
            raise EngineError(f"output {only} is to be explained, of {counted(n_out, 'output')} numbered from 0 on")
        if only is not None:
            index = iseq.program.outputs[only][0]
            self._cone = set(cone(iseq.program, [index] if index >= 0 else []))

    def _wanted(self, facts: Facts) -> bool:
        if self._cone is None:
            return True
        return facts["output"] == self._only_cone if "output" in facts else facts["op"] in self._cone

    def _write(self, program: Program, facts: Facts) -> None:
        line = json.dumps(facts) if self._as_json else _line(program, facts)
        self._stream.write(line + "\n")


def _facts(iseq: InstructionSequence, event: Event, at: int) -> Iterator[Facts]:
    """Yield the log entries of one instruction, for one row of the chunk."""
    program, columns, position = iseq.program, iseq.columns, event.position
    of_alir = program.origin.layout == "alir"  # its opcodes -2, 3 and 4 differ from those of DAIS
    node, port = int(columns.node[position]), int(columns.port[position])
    if iseq.direction == "pullback":
        target = int(columns.target[position])
        of = {"of": target} if target >= 0 else {"input": port}
        words = {"instruction": position, "computes": comment(iseq, position)}
        yield {"op": node, **of, "gradient": float(event.raw[at]), **words}
    elif columns.code[position] == OUTPUT:
        words = {"instruction": position, "computes": comment(iseq, position)}
        yield {"output": port, **_value(int(event.raw[at]), program.output_types[port]), **words}
    else:
        for index in (node, *iseq.fused.get(node, ())):
            op = program.ops[index]
            yield {
                "op": index,
                "mnemonic": op.spec.mnemonic,
                **({"opcode": op.spec.number} if of_alir else {}),
                **_value(int(event.raw[at]), op.type),
                "broken": event.changed is not None and bool(event.changed[at]),
                "instruction": position,
                "fused": index != node,
                "computes": in_words(program, op),
            }


def _value(raw: int, kind: FixedType) -> Facts:
    bits = f"{raw & ((1 << kind.width) - 1):0{kind.width}b}" if kind.width else ""
    return {"type": str(kind), "real": oracle.show(raw * oracle.two(-kind.f)), "raw": raw, "bits": bits}


def _line(program: Program, facts: Facts) -> str:
    if "gradient" in facts:
        return f"  {facts['gradient']:>22.17g}  ; {facts['computes']}"
    name = f"out{facts['output']}" if "output" in facts else f"%{facts['op']}"
    mark = "!" if facts.get("broken") else " "
    numbers = f"{facts['real']:>12}  {facts['raw']:>10}  {facts['bits']:>16}"
    width = len(str(max(program.n_ops, program.n_out))) + 3
    word = facts.get("mnemonic", "output")
    word = f"{facts['opcode']} {word}" if "opcode" in facts else word
    what = f"{facts['type']:<6}  {word:<13}"
    return f"{mark} {name:<{width}}  {what}  {numbers}  ; {facts['computes']}"
