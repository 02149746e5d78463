"""Make the example machines: `make examples`, or `python examples/make_machines.py`.

Each machine computes in many cycles what a program computes at once. The files of each are ``NAME.mach``, the program
``NAME.bin``, the frame ``NAME.toml``, which states the cycles of the program's inputs and outputs, and
``NAME_wrong.mach``, the machine with one fault in its control.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from dais_verif.spec.machine import Machine, MachineBuilder
from dais_verif.spec.machine.text import machine_text
from dais_verif.spec.program import FixedType, Program, assemble, write_binary

HERE = Path(__file__).parent

BIT = FixedType(0, 1, 0)
BYTE = FixedType(1, 7, 0)
SUM = FixedType(1, 19, 0)


def unsigned(width: int) -> FixedType:
    """Return the type of an unsigned integer."""
    return FixedType(0, width, 0)


def table(values: Sequence[int], width: int) -> str:
    """Return the text of a table with an entry for every number of ``width`` bits; missing ones are 0."""
    return "[" + ", ".join(map(str, [*values, *[0] * ((1 << width) - len(values))])) + "]"


# A dot product, one pair of numbers per cycle


def serial_dot(*, cleared: bool = True) -> Machine:
    """Return a sum of eight products, one per cycle; it restarts when the counter is 0, if it is ``cleared``."""
    made = MachineBuilder()
    x, w, en = made.input("x", BYTE), made.input("w", BYTE), made.input("en", BIT)
    count = made.register("count", unsigned(3), initial=0)
    total = made.register("total", SUM, initial=0)
    mac = made.block(
        "mac",
        assemble(f"""
            input x, w, total, count
            x     = s8.0 input x
            w     = s8.0 input w
            total = s20.0 input total
            count = u3.0 input count
            later = u1.0 any(count)             ; 0 in the first cycle of a frame
            zero  = s20.0 0
            kept  = s20.0 {"msb(later) ? total : zero" if cleared else "quant(total)"}
            p     = s16.0 x * w
            sum   = s21.0 kept + p
            new   = s20.0 quant(sum)
            more  = u4.0 count + 1
            next  = u3.0 quant(more)
            output total = new
            output count = next
        """),
    )
    for place, source in enumerate((x, w, total, count)):
        made.connect(source, mac.inputs[place])
    made.connect(mac.outputs[0], total, enable=en)
    made.connect(mac.outputs[1], count, enable=en)
    made.connect(total, made.output("y", SUM))
    return made.build()


def serial_dot_program() -> Program:
    """Return the sum of the eight products x0 * w0 to x7 * w7."""
    lines = ["input " + ", ".join(f"{v}{j}" for v in "xw" for j in range(8))]
    lines += [f"{v}{j} = s8.0 input {v}{j}" for v in "xw" for j in range(8)]
    lines += [f"p{j} = s16.0 x{j} * w{j}" for j in range(8)]
    lines += [f"a{j} = s17.0 p{2 * j} + p{2 * j + 1}" for j in range(4)]
    lines += ["b0 = s18.0 a0 + a1", "b1 = s18.0 a2 + a3", "y = s20.0 b0 + b1", "output y = y"]
    return assemble("\n".join(lines))


# A dense layer of 16 inputs and 8 outputs, one product per cycle

WEIGHTS = [Random(row).choices(range(-7, 8), k=16) for row in range(8)]


def dense(*, last: int = 128) -> Machine:
    """Return a layer that stores all inputs in cycle 0, then adds 16 products for each of 8 outputs.

    ``last``: the value of the counter in the last cycle.
    """
    made = MachineBuilder()
    x, en = made.input("x", [BYTE] * 16), made.input("en", BIT)
    weights = made.register("weights", [FixedType(1, 3, 0)] * 128, initial=[w for row in WEIGHTS for w in row])
    count = made.register("count", unsigned(8), initial=0)
    kept = made.register("kept", [BYTE] * 16, initial=0)
    total = made.register("total", SUM, initial=0)
    y = made.register("y", [SUM] * 8, initial=0, output=True)
    steps = range(128)
    control = made.block(
        "control",
        assemble(f"""
            input count, en
            table next = {table([(n + 1) % (last + 1) for n in range(last + 1)], 8)}
            table load = {table([1], 8)}
            table at = {table([0, *steps], 8)}
            table begin = {table([0, *[int(n % 16 == 0) for n in steps]], 8)}
            table end = {table([0, *[int(n % 16 == 15) for n in steps]], 8)}
            count = u8.0 input count
            en    = u1.0 input en
            next  = u8.0 next[count]
            load  = u1.0 load[count]
            loads = u1.0 load and en
            at    = u7.0 at[count]
            place = u4.0 quant(at)
            high  = u3.-4 quant(at)
            begin = u1.0 begin[count]
            end   = u1.0 end[count]
            ends  = u1.0 end and en
            output next = next
            output loads = loads
            output at = at
            output place = place
            output row = high>>4
            output begin = begin
            output ends = ends
        """),
    )
    made.connect(count, control.inputs[0])
    made.connect(en, control.inputs[1])
    following, loads, at, place, row, begin, ends = control.outputs
    made.connect(following, count, enable=en)
    made.connect(x, kept, enable=loads)
    mac = made.block(
        "mac",
        assemble("""
            input x, w, total, begin
            x     = s8.0 input x
            w     = s4.0 input w
            total = s20.0 input total
            begin = u1.0 input begin
            zero  = s20.0 0
            kept  = s20.0 msb(begin) ? zero : total
            p     = s12.0 x * w
            sum   = s21.0 kept + p
            new   = s20.0 quant(sum)
            output total = new
        """),
    )
    for number, source in enumerate((kept[0].at(place), weights[0].at(at), total, begin)):
        made.connect(source, mac.inputs[number])
    made.connect(mac.outputs, total, enable=en)
    made.connect(mac.outputs, y[0].at(row), enable=ends)
    return made.build()


def dense_program() -> Program:
    """Return the whole layer, by shifts and adds."""
    lines = ["input " + ", ".join(f"x{j}" for j in range(16)), *(f"x{j} = s8.0 input x{j}" for j in range(16))]
    lines.append("zero = s20.0 0")
    for row, weights in enumerate(WEIGHTS):
        name = "zero"
        for j, weight in enumerate(weights):
            for bit in (bit for bit in range(3) if abs(weight) >> bit & 1):
                lines.append(f"y{row}_{j}_{bit} = s20.0 {name} {'-' if weight < 0 else '+'} x{j}<<{bit}")
                name = f"y{row}_{j}_{bit}"
        lines.append(f"output y{row} = {name}")
    return assemble("\n".join(lines))


# A 3x3 convolution of an image of 8x8 pixels, of which one arrives per cycle

KERNEL = ((1, 2, 1), (2, 4, 2), (1, 2, 1))
PIXEL = unsigned(8)


def convolution(*, enabled: bool = True) -> Machine:
    """Return a convolution that stores two lines and the sums of two columns.

    ``y`` is right from the third pixel of the third line on. ``enabled``: whether the older line also waits while
    ``en`` is 0, as all other registers do.
    """
    made = MachineBuilder()
    x, en = made.input("x", PIXEL), made.input("en", BIT)
    column = made.register("column", unsigned(3), initial=0)
    above, higher = (made.register(name, [PIXEL] * 8, initial=0) for name in ("above", "higher"))
    sums = made.register("sums", [unsigned(10)] * 2, initial=0)
    window = made.block(
        "window",
        assemble("""
            input x, above, higher, middle, left, column
            x      = u8.0 input x
            above  = u8.0 input above
            higher = u8.0 input higher
            middle = u10.0 input middle
            left   = u10.0 input left
            column = u3.0 input column
            a      = u9.0 x + higher
            now    = u10.0 a + above<<1         ; a column, weighed 1, 2, 1
            b      = u11.0 now + left
            y      = u12.0 b + middle<<1        ; and so three columns
            more   = u4.0 column + 1
            next   = u3.0 quant(more)
            output now = now
            output y = y
            output next = next
        """),
    )
    for number, source in enumerate((x, above[0].at(column), higher[0].at(column), sums[0], sums[1], column)):
        made.connect(source, window.inputs[number])
    now, y, following = window.outputs
    made.connect(following, column, enable=en)
    made.connect(x, above[0].at(column), enable=en)
    made.connect(above[0].at(column), higher[0].at(column), enable=en if enabled else None)
    made.connect(now, sums[0], enable=en)
    made.connect(sums[0], sums[1], enable=en)
    made.connect(y, made.output("y", unsigned(12)))
    return made.build()


def convolution_program() -> Program:
    """Return all 36 results, each the sum of nine pixels times the weights of the kernel."""
    pixels = [(row, column) for row in range(8) for column in range(8)]
    lines = ["input " + ", ".join(f"x{r}{c}" for r, c in pixels), *(f"x{r}{c} = u8.0 input x{r}{c}" for r, c in pixels)]
    lines.append("zero = u12.0 0")
    for row in range(2, 8):
        for column in range(2, 8):
            name, nine = "zero", [(r, c) for r in range(3) for c in range(3)]
            for r, c in nine:
                shift = KERNEL[r][c].bit_length() - 1
                new = f"y{row}{column}{r}{c}"
                lines.append(f"{new} = u12.0 {name} + x{row + r - 2}{column + c - 2}<<{shift}")
                name = new
            lines.append(f"output y{row}{column} = {name}")
    return assemble("\n".join(lines))


HELD = "held.en = 1\nstall.en = 0\n"
FRAMES = {
    "serial_dot": f"""\
# Eight pairs, one a cycle; the sum is there before the edge of the ninth cycle, which is the next frame's first.
cycles = 8
inputs = [{{ signal = "x", cycle = 0, to = 7 }}, {{ signal = "w", cycle = 0, to = 7 }}]
outputs = [{{ signal = "y", cycle = 8 }}]
{HELD}""",
    "dense": f"""\
# All inputs in cycle 0, then 128 products.
cycles = 129
inputs = [{{ signal = "x", cycle = 0 }}]
outputs = [{{ signal = "y", cycle = 129 }}]
{HELD}""",
    "convolution": f"""\
# A pixel a cycle, line by line; results where three pixels of three lines are there.
cycles = 64
inputs = [{{ signal = "x", cycle = 0, to = 63 }}]
outputs = [
{"".join(f'  {{ signal = "y", cycle = {8 * row + 2}, to = {8 * row + 7} }},{chr(10)}' for row in range(2, 8))}]
{HELD}""",
}

#: The name, machine, machine with a fault, and program of each example.
MACHINES = [
    ("serial_dot", serial_dot(), serial_dot(cleared=False), serial_dot_program()),
    ("dense", dense(), dense(last=127), dense_program()),
    ("convolution", convolution(), convolution(enabled=False), convolution_program()),
]

if __name__ == "__main__":
    for name, right, wrong, program in MACHINES:
        (HERE / f"{name}.mach").write_text(machine_text(right))
        (HERE / f"{name}_wrong.mach").write_text(machine_text(wrong))
        (HERE / f"{name}.bin").write_bytes(write_binary(program, "v1"))
        (HERE / f"{name}.toml").write_text(FRAMES[name])
        print(f"{name}.mach, {name}_wrong.mach, {name}.bin, {name}.toml: {program.n_ops} ops")
