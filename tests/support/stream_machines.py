"""Streaming machines with valid bits, an enable and a reset: a filter, a multiply-accumulate, delays and others."""

from __future__ import annotations

from pathlib import Path

from dais_verif.spec.machine import Machine, MachineBuilder
from dais_verif.spec.program import FixedType, assemble

__all__ = ["PINS", "delay", "mac", "moving_sum", "overflowing", "write_stream"]

BIT = FixedType(0, 1, 0)
BYTE = FixedType(1, 7, 0)

PINS = {"valid_in": "v", "valid_out": "w", "enable": "en", "reset": "rst"}


def write_stream(folder: Path, **changed: str | None) -> Path:
    """Write the file that names the pins, some of them ``changed`` (None: not named), and return its path."""
    pins = {**PINS, **changed}
    path = folder / "stream.toml"
    path.write_text("".join(f'{key} = "{name}"\n' for key, name in pins.items() if name is not None))
    return path


def moving_sum(*, elastic: bool = True, held: bool = True, all_reset: bool = True, latch: bool = True) -> Machine:
    """Return a filter ``y = 3 x - 2 x' + x''`` of the last three valid inputs, with a latency of two edges.

    Without ``elastic``, cycles that are not valid count as inputs, too. Without ``held``, the delay line ignores the
    enable. Without ``all_reset``, it ignores the reset. Without ``latch``, the outputs are combinational.
    """
    made = MachineBuilder()
    x, v = made.input("x", BYTE), made.input("v", BIT)
    en, rst = made.input("en", BIT), made.input("rst", BIT)
    line = made.register("line", (BYTE,) * 2, initial=0, reset=rst if all_reset else None)
    first = made.register("first", FixedType(1, 10, 0), initial=0, reset=rst)
    began = made.register("began", BIT, initial=0, reset=rst)
    fir = made.block(
        "fir",
        assemble(f"""
            input x, a, b, v, en
            x = s8.0 input x
            a = s8.0 input a
            b = s8.0 input b
            v = u1.0 input v
            en = u1.0 input en
            p = s10.0 x + x<<1
            q = s11.0 p - a<<1
            y = s11.0 q + b
            take = u1.0 {"v and en" if elastic and held else "en or en" if held else "v and v"}
            output y = y
            output take = take
        """),
    )
    for place, source in enumerate((x, line[0], line[1], v, en)):
        made.connect(source, fir.inputs[place])
    made.connect(x, line[0], enable=fir.outputs[1])
    made.connect(line[0], line[1], enable=fir.outputs[1])
    made.connect(fir.outputs[0], first, enable=en)
    made.connect(v, began, enable=en)
    if latch:
        late = made.register("y", FixedType(1, 10, 0), initial=0, reset=rst, output=True)
        given = made.register("w", BIT, initial=0, reset=rst, output=True)
        made.connect(first, late, enable=en)
        made.connect(began, given, enable=en)
    else:
        made.connect(fir.outputs[0], made.output("y", FixedType(1, 10, 0)))
        made.connect(v, made.output("w", BIT))
    return made.build()


def mac() -> Machine:
    """Return a multiply-accumulate over four products: it gives one output for every four inputs."""
    made = MachineBuilder()
    a, b, v = made.input("a", BYTE), made.input("b", FixedType(0, 5, 0)), made.input("v", BIT)
    en, rst = made.input("en", BIT), made.input("rst", BIT)
    count = made.register("count", FixedType(0, 2, 0), initial=0, reset=rst)
    total = made.register("total", FixedType(1, 16, 0), initial=0, reset=rst)
    given = made.register("given", BIT, initial=0, reset=rst)
    block = made.block(
        "mac",
        assemble("""
            input a, b, count, total, v, en
            a = s8.0 input a
            b = u5.0 input b
            count = u2.0 input count
            total = s17.0 input total
            v = u1.0 input v
            en = u1.0 input en
            going = u1.0 any(count)
            zero = s17.0 0
            before = s17.0 msb(going) ? total : zero
            p = s13.0 a * b
            s = s18.0 before + p
            sum = s17.0 quant(s)
            one = u3.0 count + 1
            next = u2.0 quant(one)
            last = u1.0 all(count)
            done = u1.0 last and v
            take = u1.0 v and en
            output sum = sum
            output next = next
            output done = done
            output take = take
        """),
    )
    for place, source in enumerate((a, b, count, total, v, en)):
        made.connect(source, block.inputs[place])
    made.connect(block.outputs[0], total, enable=block.outputs[3])
    made.connect(block.outputs[1], count, enable=block.outputs[3])
    made.connect(block.outputs[2], given, enable=en)
    made.connect(total, made.output("y", FixedType(1, 16, 0)))
    made.connect(given, made.output("w", BIT))
    return made.build()


def overflowing() -> Machine:
    """Return a sum that breaks its promise where both of its inputs are large."""
    made = MachineBuilder()
    x, v, en, rst = made.input("x", (BYTE, BYTE)), made.input("v", BIT), made.input("en", BIT), made.input("rst", BIT)
    add = made.block("add", assemble("input a, b\na = s8.0 input a\nb = s8.0 input b\ny = s8.0 a + b\noutput y = y"))
    y = made.register("y", BYTE, initial=0, reset=rst, output=True)
    w = made.register("w", BIT, initial=0, reset=rst, output=True)
    made.connect(x, add.inputs)
    made.connect(add.outputs, y, enable=en)
    made.connect(v, w, enable=en)
    return made.build()


def delay(edges: int, *, endless: bool = False, counting: bool = False) -> Machine:
    """Return a delay of ``edges``; ``endless``: valid stays 1. ``counting``: a register of 16 bits counts cycles."""
    made = MachineBuilder()
    x, v, en, rst = made.input("x", BYTE), made.input("v", BIT), made.input("en", BIT), made.input("rst", BIT)
    data = made.register("data", (BYTE,) * edges, initial=0, reset=rst)
    valid = made.register("valid", (BIT,) * edges, initial=0, reset=rst)
    for line, first in ((data, x), (valid, v)):
        made.connect(first, line[0], enable=en)
        for k in range(1, edges):
            made.connect(line[k - 1], line[k], enable=en)
    made.connect(data[-1], made.output("y", BYTE))
    if endless:
        stay = made.block(
            "stay", assemble("input a, b\na = u1.0 input a\nb = u1.0 input b\ny = u1.0 a or b\noutput y = y")
        )
        ever = made.register("ever", BIT, initial=0, reset=rst)
        made.connect(valid[-1], stay.inputs[0])
        made.connect(ever, stay.inputs[1])
        made.connect(stay.outputs, ever, enable=en)
        made.connect(ever, made.output("w", BIT))
    else:
        made.connect(valid[-1], made.output("w", BIT))
    if counting:
        wide = FixedType(0, 16, 0)
        count = made.register("cycles", wide, initial=0, reset=rst)
        more = made.block(
            "more", assemble("input n\nn = u16.0 input n\nm = u17.0 n + 1\ny = u16.0 quant(m)\noutput y = y")
        )
        made.connect(count, more.inputs)
        made.connect(more.outputs, count, enable=en)
    return made.build()
