"""Single faults in the hardware of a kernel instance: in its mapping, its block, or the control of its machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from prove.kernel_faults.instances import machine_of

from dais_verif.base.errors import DaisError
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.mapping import Addressing, Mapping
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.checks import validate as validate_machine
from dais_verif.spec.machine.faults import control_faults
from dais_verif.spec.program import Program
from dais_verif.spec.program.checks import validate
from dais_verif.spec.program.opcodes import MUXES, Code

__all__ = ["HardwareFault", "faults_of"]


@dataclass(frozen=True)
class HardwareFault:
    """A seeded fault.

    ``where``: mapping, block, or control. ``kind``: the kind of the mistake. ``text``: the exact change. ``machine``:
    the faulty machine.
    """

    where: str
    kind: str
    text: str
    machine: Machine


def faults_of(instance: KernelInstance, form: str) -> list[HardwareFault]:
    """Return all faults whose machine is valid, has the ports of the correct machine, and differs from it."""
    right = machine_of(instance, form)[0]
    found = []
    for kind, text, wrong in _of_mapping(instance):
        try:
            machine = machine_of(wrong, form)[0]
        except DaisError:  # the block lacks a port for an element, or the form does not exist
            continue
        found.append(HardwareFault("mapping", kind, text, machine))
    for name, block in right.blocks.items():
        if name.startswith("core"):
            for kind, text, program in _of_program(block.program):
                blocks = {**right.blocks, name: replace(block, program=program)}
                found.append(HardwareFault("block", kind, f"{name}, {text}", replace(right, blocks=blocks)))
    found += [HardwareFault("control", one.kind.value, one.text, one.machine) for one in control_faults(right)]
    return [one for one in found if one.machine != right and _fits(one.machine, right)]


def _fits(machine: Machine, right: Machine) -> bool:
    """Return whether ``machine`` is valid and has the same ports as ``right``."""
    try:
        validate_machine(machine)
    except DaisError:
        return False
    return [(s.name, s.types) for s in (*machine.inputs, *machine.outputs)] == [
        (s.name, s.types) for s in (*right.inputs, *right.outputs)
    ]


def _of_mapping(one: KernelInstance) -> Iterator[tuple[str, str, KernelInstance]]:
    mapping = one.mapping
    for r, size in enumerate(mapping.geometry):
        for step in (1, -1):
            if size + step > 0:
                geometry = (*mapping.geometry[:r], size + step, *mapping.geometry[r + 1 :])
                wrong = Mapping(geometry, *_fixed(mapping))
                yield "wrong size of the index space", f"dimension {r}: {size + step}", replace(one, mapping=wrong)
    for at, (pad, kind) in enumerate(zip(one.pads, one.input_types, strict=True)):
        for value in dict.fromkeys((pad + 1, pad - 1, 0, kind.raw_min, kind.raw_max)):
            if value != pad and kind.raw_min <= value <= kind.raw_max:
                pads = (*one.pads[:at], value, *one.pads[at + 1 :])
                yield "wrong pad value", f"input {at}: {value} in place of {pad}", replace(one, pads=pads)
    for side in ("inputs", "outputs"):
        tensors = getattr(mapping, side)
        for at, tensor in enumerate(tensors):
            for kind, text, wrong in _of_addressing(mapping.addressing(tensor)):
                changed = (*tensors[:at], replace(tensor, addressing=wrong), *tensors[at + 1 :])
                yield kind, f"{side} {at}, {text}", replace(one, mapping=replace(mapping, **{side: changed}))
    yield from _one_more(one)


def _fixed(mapping: Mapping) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """Return the inputs and outputs with explicit addressings, which no longer follow from the index space."""
    return tuple(
        tuple(replace(t, addressing=mapping.addressing(t)) for t in side) for side in (mapping.inputs, mapping.outputs)
    )


def _of_addressing(of: Addressing) -> Iterator[tuple[str, str, Addressing]]:
    offsets, slopes = np.array(of.offsets).reshape(of.count, -1), np.array(of.slopes)

    def changed(new_slopes: np.ndarray, new_offsets: np.ndarray) -> Addressing:
        return Addressing(tuple(map(tuple, new_slopes.tolist())), tuple(map(tuple, new_offsets.tolist())))

    for d in range(offsets.shape[1]):
        for step in (1, -1):
            moved = offsets.copy()
            moved[:, d] += step
            yield "start_b and end_b off by one", f"dimension {d}: {step}", changed(slopes, moved)
            for j in range(of.count) if of.count > 1 else ():
                moved = offsets.copy()
                moved[j, d] += step
                yield "one element elsewhere", f"element {j}, dimension {d}: {step}", changed(slopes, moved)
            for r in range(slopes.shape[1]):
                other = slopes.copy()
                other[d, r] += step
                yield "wrong slope", f"dimension {d} by {r}: {other[d, r]}", changed(other, offsets)
        for e in range(d):
            other, moved = slopes.copy(), offsets.copy()
            other[[d, e]], moved[:, [d, e]] = slopes[[e, d]], offsets[:, [e, d]]
            yield "swapped dimensions", f"{d} and {e} of the tensor", changed(other, moved)
    for r in range(slopes.shape[1]):
        for q in range(r):
            other = slopes.copy()
            other[:, [r, q]] = slopes[:, [q, r]]
            yield "swapped index", f"{r} and {q} of the index space", changed(other, offsets)
    for j in range(1, of.count):
        moved = offsets.copy()
        moved[[j, j - 1]] = offsets[[j - 1, j]]
        yield "two elements in the wrong order", f"{j - 1} and {j}", changed(slopes, moved)


def _one_more(one: KernelInstance) -> Iterator[tuple[str, str, KernelInstance]]:
    """Yield instances with one write too many: the last value also goes to a neighbour of the last output element."""
    block, mapping = one.block, one.mapping
    if not block.n_out or not mapping.outputs:
        return
    tensor = mapping.outputs[-1]
    of = mapping.addressing(tensor)
    longer = replace(
        block,
        **{
            name: np.append(getattr(block, name), getattr(block, name)[-1])
            for name in ("out_idx", "out_shift", "out_neg")
        },
    )
    for d in range(len(tensor.sizes)):
        for step in (1, -1):
            more = tuple(x + step * (at == d) for at, x in enumerate(of.offsets[-1]))
            outputs = (*mapping.outputs[:-1], replace(tensor, addressing=replace(of, offsets=(*of.offsets, more))))
            wrong = replace(one, block=longer, mapping=replace(mapping, outputs=outputs))
            yield "a write too many", f"dimension {d}: {step}", wrong


def _of_program(program: Program) -> Iterator[tuple[str, str, Program]]:
    """Yield the valid programs in which a constant, shift, operand, sign or table entry of one op is changed."""
    columns = program.columns
    for op in program.ops:
        n, found = op.index, list[tuple[str, str, dict[str, int]]]()
        if op.code in (Code.CONST, Code.ADD_CONST):
            found += [("constant", f"{op.data + s}", {"data": op.data + s}) for s in (1, -1)]
        if op.code in MUXES:
            found += [("mux arms", "swapped", {"id0": op.id1, "id1": op.id0})]
            found += [("condition", f"{op.condition + s}", {"data": op.data + s}) for s in (1, -1)]
        if op.code in (Code.ADD, Code.SUB):
            found += [("shift", f"{op.data + s}", {"data": op.data + s}) for s in (1, -1)]
            found += [("sign", "the other one", {"code": int(Code.SUB if op.code == Code.ADD else Code.ADD)})]
        if op.code in (Code.RELU, Code.QUANT):
            found += [("sign", "the other one", {"code": -op.code})]
        if op.code == Code.INPUT:
            found += [("operand", f"input {op.id0 + s}", {"id0": op.id0 + s}) for s in (1, -1)]
        elif op.code in (Code.ADD, Code.SUB, Code.MUL, *MUXES):
            found += [
                ("operand", f"{name} {getattr(op, name) + s}", {name: getattr(op, name) + s})
                for name in ("id0", "id1")
                for s in (1, -1)
            ]
        elif op.code in (Code.RELU, Code.RELU_NEG, Code.QUANT, Code.QUANT_NEG, Code.LOOKUP, Code.ADD_CONST):
            found += [("operand", f"{op.id0 + s}", {"id0": op.id0 + s}) for s in (1, -1)]
        for kind, text, values in found:
            new = {name: getattr(columns, name).copy() for name in values}
            for name, value in values.items():
                new[name][n] = value
            yield from _valid(kind, f"{op}: {text}", replace(program, columns=columns._replace(**new)))
    for at in range(len(program.terms.op)):
        for name, value in (("shift", 1), ("shift", -1), ("op", 1), ("op", -1)):
            new_terms = getattr(program.terms, name).copy()
            new_terms[at] += value
            kind = "operand" if name == "op" else name
            yield from _valid(
                kind, f"term {at}: {value}", replace(program, terms=program.terms._replace(**{name: new_terms}))
            )
        negative = program.terms.negative.copy()
        negative[at] = 1 - negative[at]
        yield from _valid("sign", f"term {at}", replace(program, terms=program.terms._replace(negative=negative)))
    for number, table in enumerate(program.tables):
        for entry in dict.fromkeys((0, len(table) // 2, len(table) - 1)):
            values = np.array(table).copy()
            values[entry] += 1 if values[entry] <= 0 else -1
            tables = (*program.tables[:number], values, *program.tables[number + 1 :])
            yield from _valid("table entry", f"{entry} of table {number}", replace(program, tables=tables))
    for port in range(program.n_out):
        negative = program.out_neg.copy()
        negative[port] = 1 - negative[port]
        yield from _valid("sign", f"output {port}", replace(program, out_neg=negative))


def _valid(kind: str, text: str, program: Program) -> Iterator[tuple[str, str, Program]]:
    try:
        validate(program)
    except (DaisError, ValueError, OverflowError, IndexError):
        return
    yield kind, text, program
