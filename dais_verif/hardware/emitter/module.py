"""The common parts of all emitted modules: header, tables, constants, blocks of ops, outputs.

Ops that do not depend on an input are wires outside of the blocks, because an event-driven simulator never runs a block
that reads only constants. Sensitivity lists name all signals: the input port, signals of other blocks, and for each
table the word that is initialized last. Icarus runs such a block a fifth faster than one with ``@*``, which it makes
sensitive to every op, and it does not warn about tables. Lists and outputs are wrapped, since tools limit the length of
a line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from dais_verif.base.text import counted
from dais_verif.hardware.emitter.expressions import Writer, bits_for
from dais_verif.hardware.emitter.ops import Statement, signal, statements, table
from dais_verif.spec.program import Op, Program
from dais_verif.spec.program.listing import in_words
from dais_verif.spec.program.opcodes import INPUT, Data, low_int32
from dais_verif.spec.program.ports import Ports

__all__ = [
    "Computed",
    "MOST_NAMES",
    "MOST_SIGNALS",
    "Parts",
    "block",
    "by_cone",
    "comment",
    "constants",
    "cut",
    "footer",
    "header",
    "moving",
    "outputs",
    "parts_of",
    "path_of",
    "range_of",
    "reads",
    "sensitivity",
    "tables",
]


_WAIVERS = (
    ("WIDTHEXPAND", "Verilog sign-extends signed operands, as the format requires"),
    ("WIDTHTRUNC", "assignment to a narrower signal is the format's two's complement wrap"),
    ("UNUSEDSIGNAL", "programs may hold inputs, ops and bits that nothing reads"),
)

#: Longer assignments are wrapped, and longer comments are shortened; only sums of hundreds of terms are that long.
_LONGEST_LINE = 4000
_LONGEST_COMMENT = 1000

#: The assignments of one op, and their comment.
Computed = tuple[Sequence[Statement], str]


def header(
    out: Writer,
    program: Program,
    top: str,
    ports: Ports,
    kind: str,
    *,
    notes: Sequence[str] = (),
    control: Sequence[str] = (),
) -> None:
    """Write the comments before the module, and its ports.

    ``kind``: the kind of module, as text. ``notes``: further lines of comments. ``control``: declarations of further
    ports.
    """
    kind_of_program = "ALIR" if any(op.spec.alir for op in program.ops) else "DAIS"
    out.line(f"// {kind_of_program} program {program.hash}")
    size = (counted(program.n_in, "input"), counted(program.n_out, "output"), counted(program.n_ops, "op"))
    out.line(f"// {', '.join(size)}; {kind}.")
    out.line("// op_N is the value of op N: an integer in units of 2^-f, in two's complement; an unsigned one has")
    out.line(
        "// one more bit, always 0. Types are written sW.F or uW.F: signed or unsigned, W bits, F of them fractional."
    )
    out.line("// In comments %N is the value of op N.")
    for note in notes:
        out.line(f"// {note}")
    for rule, reason in _WAIVERS:
        out.line(f"/* verilator lint_off {rule} */  // {reason}")
    out.line(f"module {top} (")
    with out.indent():
        for port in control:
            out.line(f"{port},")
        out.line(f"input  wire [{max(ports.input_bits, 1) - 1}:0] model_inp,")
        out.line(f"output wire [{max(ports.output_bits, 1) - 1}:0] model_out")
    out.line(");")


def footer(out: Writer) -> None:
    """Write the end of the module."""
    out.line("endmodule")
    for rule, _ in _WAIVERS:
        out.line(f"/* verilator lint_on {rule} */")


def tables(out: Writer, program: Program) -> None:
    """Write the tables that lookups use, as memories."""
    used = sorted({low_int32(op.data) for op in program.ops if op.spec.data is Data.TABLE})
    for number in used:
        entries = program.tables[number].tolist()
        if not entries:
            continue
        bits = bits_for(min(entries), max(entries))
        out.line(f"reg signed [{bits - 1}:0] {table(number)} [0:{len(entries) - 1}];")
        out.line("initial begin")
        with out.indent():
            for index, entry in enumerate(entries):
                out.line(f"{table(number)}[{index}] = {bits}'h{entry & (1 << bits) - 1:x};")
        out.line("end")


def constants(out: Writer, program: Program, ports: Ports, ops: Iterable[Op]) -> None:
    """Write ``ops``, which do not depend on an input, as wires."""
    for op in ops:
        for one in statements(program, ports, op):
            _assign(out, f"wire {range_of(one.bits)} {one.target} = ", one.text, f";  // {comment(program, op)}")


def block(out: Writer, lines: Sequence[Computed], sensitive: Sequence[str]) -> None:
    """Write one ``always`` block and the signals that it assigns. Each item of ``lines`` reads only earlier items."""
    for assignments, _ in lines:
        for statement in assignments:
            out.line(f"reg {range_of(statement.bits)} {statement.target};")
    out.wrapped("always @(", [*(f"{name} or" for name in sensitive[:-1]), sensitive[-1]], ") begin")
    with out.indent():
        for (*helpers, last), said in lines:
            for statement in helpers:
                _assign(out, f"{statement.target} = ", statement.text, ";")
            _assign(out, f"{last.target} = ", last.text, f";  // {said}")
    out.line("end")


def _assign(out: Writer, head: str, text: str, tail: str) -> None:
    if len(text) > _LONGEST_LINE:
        out.wrapped(head.rstrip(), text.split(" "), tail)
    else:
        out.line(f"{head}{text}{tail}")


def range_of(bits: int) -> str:
    """Return the range of a signed signal with ``bits`` bits."""
    return f"signed [{bits - 1}:0]"


def comment(program: Program, op: Op) -> str:
    """Return the comment at the end of an op's line."""
    words = in_words(program, op)
    if len(words) > _LONGEST_COMMENT:
        words = f"{words[: words.rindex(' ', 0, _LONGEST_COMMENT)]} ... of {len(op.terms)} terms"
    return f"{op.type} {op.spec.mnemonic}: {words}"


def sensitivity(
    program: Program,
    ops: Sequence[Op],
    name_of: Callable[[int], str],
    *,
    also: Collection[int] = (),
    inputs: bool = False,
) -> list[str]:
    """Return the sensitivity list of a block of ``ops``: everything that it reads and does not assign.

    ``name_of``: returns the name of an op's signal in the block. ``also``: further ops that the block reads.
    ``inputs``: the input port is listed even if no op reads it.
    """
    port = ["model_inp"] if inputs or any(op.code == INPUT for op in ops) else []
    others = sorted({i for op in ops for i in op.operands}.union(also) - {op.index for op in ops})
    read = sorted({low_int32(op.data) for op in ops if op.spec.data is Data.TABLE})
    filled_last = [f"{table(t)}[{len(program.tables[t]) - 1}]" for t in read if len(program.tables[t])]
    return [*port, *map(name_of, others), *filled_last]


def outputs(out: Writer, program: Program, ports: Ports, value_of: Callable[[int, bool, int], str]) -> None:
    """Write the outputs. ``value_of(index, negated, width)``: the lowest bits of op ``index``, or of its negation."""
    names = []
    for j, ((index, shift, negated), element) in enumerate(zip(program.outputs, ports.outputs, strict=True)):
        if element.width == 0:
            continue
        point = f", times 2^{shift}" if shift else ""
        kind = f"{program.output_types[j]}{point}"
        out.line(f"wire [{element.width - 1}:0] out_{j} = {value_of(index, negated, element.width)};  // {kind}")
        names.append(f"out_{j}")
    if names:
        out.wrapped("assign model_out = {", [*(f"{name}," for name in names[:0:-1]), names[0]], "};")
    else:
        out.line("assign model_out = 1'b0;")


# The location of each op's signal in the emitted module.
#
# A small program is one block in the module itself. A large one is divided into parts, each of which is a block with
# its signals in a generate scope.


class Parts(NamedTuple):
    """The parts that a module is divided into.

    ``of``: the part of each op; None for an op that does not depend on an input: such an op is a wire of the module.
    ``members``: the ops of each part, in SSA order. No part reads a later part.
    """

    of: tuple[int | None, ...]
    members: tuple[tuple[int, ...], ...]

    @property
    def several(self) -> bool:
        """True if each part has a scope of its own."""
        return len(self.members) > 1

    def scope(self, part: int) -> str:
        """Return the name of the scope of a part; the last part has number 0.

        A change of the input port triggers all parts, which Icarus runs in descending order of their names. With these
        names, a part runs after all parts that it reads, and therefore only once per vector.
        """
        last = len(self.members) - 1
        return f"part_{last - part:0{len(str(last))}}"

    def seen_from(self, part: int | None) -> Callable[[int], str]:
        """Return the function that names an op's signal within ``part``; None: in the module, outside of all parts."""
        if not self.several:
            return signal
        prefixes = [f"{self.scope(number)}." for number in range(len(self.members))]

        def name(index: int) -> str:
            own = self.of[index]
            return signal(index) if own is None or own == part else prefixes[own] + signal(index)

        return name


def moving(program: Program) -> tuple[bool, ...]:
    """Return for each op whether it has bits and depends on an input. All other ops never change."""
    found: list[bool] = []
    for op in program.ops:
        found.append(op.type.width > 0 and (op.code == INPUT or any(found[i] for i in op.operands)))
    return tuple(found)


def reads(op: Op) -> Collection[int]:
    """Return what the block of ``op`` is sensitive to, besides the input port: its operands, and ``~N`` for table N."""
    return (*op.operands, ~low_int32(op.data)) if op.spec.data is Data.TABLE else op.operands


def parts_of(program: Program) -> Parts:
    """Return the parts into which ``program`` is divided."""
    moves, ops = moving(program), program.ops
    values = [index for index, moved in enumerate(moves) if moved]
    operands = [tuple(i for i in op.operands if moves[i]) if moves[op.index] else () for op in ops]
    outputs = [index for index, _, _ in program.outputs if index >= 0 and moves[index]]
    groups = cut(by_cone(values, operands, outputs), lambda index: reads(ops[index]))
    of: list[int | None] = [None] * program.n_ops
    for part, members in enumerate(groups):
        for index in members:
            of[index] = part
    return Parts(tuple(of), tuple(map(tuple, groups)))


def path_of(program: Program) -> Callable[[int], str]:
    """Return the function that names the signal of each op, as seen from the module."""
    return parts_of(program).seen_from(None)


# Partition many ops into groups, which become separate scopes, so that tools do not take long for any group.
#
# Related ops stay together, even if their numbers are far apart. In a convolution, the ops of different positions have
# neighbouring numbers, so that after a partition by number, nearly every op would be read by other groups.


#: The largest number of signals in a group. The time of tools grows with the square of the size of a block (Verilator's
#: latch check), or of the number of signals in a scope (Icarus compares a name with every other one to look it up).
MOST_SIGNALS = 5000
#: The largest number of signals of other groups that a group reads. The time of Icarus grows with the cube of the
#: length of a sensitivity list: 0.02 s for 250 names, 1.1 s for 1,000.
MOST_NAMES = 250


def by_cone(values: Sequence[int], operands: Sequence[Iterable[int]], roots: Iterable[int]) -> list[int]:
    """Return ``values``, reordered by root: for each root, the values that it needs and earlier roots do not need.

    Operands precede their readers, in ``values`` and in the result. Values that no root needs come last, ordered in the
    same way. ``operands``: for each value, its operands among ``values``.
    """
    order: list[int] = []
    begun = bytearray(len(operands))
    for root in (*roots, *reversed(values)):
        stack = [] if begun[root] else [root]
        while stack:
            value = stack.pop()
            if value < 0:  # all operands of the value are in the result
                order.append(~value)
            elif not begun[value]:
                begun[value] = 1
                stack.append(~value)
                stack.extend(operand for operand in operands[value] if not begun[operand])
    return order


def cut(
    order: Iterable[int], reads: Callable[[int], Collection[int]], signals: Callable[[int], int] = lambda value: 1
) -> list[list[int]]:
    """Return the values of ``order`` in groups of neighbours, each sorted; no group reads a later group.

    ``reads``: returns the numbers of everything that a value reads, including numbers that are not in ``order``.
    ``signals``: returns the number of signals of a value.
    """
    groups: list[list[int]] = []
    group_of: dict[int, int] = {}
    outside: set[int] = set()
    size = 0
    for value in order:
        current = len(groups) - 1
        new = {name for name in reads(value) if group_of.get(name) != current} - outside
        own = signals(value)
        if not groups or size + own > MOST_SIGNALS or len(outside) + len(new) > MOST_NAMES:
            groups.append([])
            outside, size = set(reads(value)), 0
        groups[-1].append(value)
        group_of[value] = len(groups) - 1
        outside |= new
        size += own
    return [sorted(group) for group in groups]
