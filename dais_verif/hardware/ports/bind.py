"""Map a program to a user's module as a ``Dut``: find, check and assign every port."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from dais_verif.base.errors import InputError, PortError
from dais_verif.base.text import counted
from dais_verif.hardware.ports.discover import Port
from dais_verif.hardware.ports.interface import Clocking, DesignInterface, Dut, Wire
from dais_verif.hardware.ports.ports_file import PortsFile, Side
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import Element, Ports, ports_of
from dais_verif.spec.program.types import type_of_interval

__all__ = [
    "FROM_FILE",
    "MOST_LISTED",
    "Sizing",
    "bind",
    "in_words",
    "sizings_of_inputs",
    "sizings_of_outputs",
    "stated_inputs",
    "stated_outputs",
    "with_pins",
]


#: The name of the output of a module that XLS writes.
_XLS_OUT = "out"


def bind(program: Program, said: PortsFile, found: Sequence[Port] | None, *, open_inputs: bool = False) -> Dut:
    """Return the interface of a module that implements ``program``.

    ``said``: the ports as the user describes them. ``found``: the ports of the module; None: they are unknown, and
    assumed to be as ``said`` describes them. ``open_inputs``: allow inputs that ``said`` does not mention.

    Raises ``InputError`` with the expected and the actual ports if the module does not match.
    """
    xls = found is not None and _is_of_xls(said, found)
    if xls:
        said = _as_xls_names(said, found or ())
    inputs, wires_in = _side(program, said.inputs, found, "input", said.where)
    outputs, wires_out = _side(program, said.outputs, found, "output", said.where)
    interface = DesignInterface(wires_in, wires_out, said.clocking, said.ties)
    if found is not None:
        _check_pins(interface, found)
        if not open_inputs:
            _check_driven(interface, found)
    how = " and ".join(dict.fromkeys([inputs.how, outputs.how])) + (", and named as by XLS" if xls else "")
    return Dut(interface, Ports(inputs.elements, outputs.elements), outputs.types, how)


def _is_of_xls(said: PortsFile, found: Sequence[Port]) -> bool:
    """Return True if XLS wrote the module: the user names no ports, and the only output is the return value ``out``."""
    unsaid = said.inputs == PortsFile().inputs and said.outputs == PortsFile().outputs
    return unsaid and [port.name for port in found if port.direction == "out"] == [_XLS_OUT]


def _as_xls_names(said: PortsFile, found: Sequence[Port]) -> PortsFile:
    """Return ``said`` with the names that XLS gives: the input is named like the function's only parameter."""
    pins = {*(said.clocking.driven if said.clocking else []), *(name for name, _ in said.ties)}
    data = [port.name for port in found if port.direction == "in" and port.name not in pins]
    inputs = Side(data[0]) if len(data) == 1 else said.inputs
    return replace(said, inputs=inputs, outputs=Side(_XLS_OUT))


def _side(
    program: Program, side: Side, found: Sequence[Port] | None, what: str, where: str
) -> tuple[Sizing, tuple[Wire, ...]]:
    is_input = what == "input"
    count = program.n_in if is_input else program.n_out
    if side.types is not None:
        stated = stated_inputs if is_input else stated_outputs
        candidates = [stated(program, side.types, where)]
    else:
        candidates = (sizings_of_inputs if is_input else sizings_of_outputs)(program)
    names = side.names(count)
    known = None if found is None else _usable(found, "in" if is_input else "out")
    if names is None:
        return _packed(side.port, candidates, known, found, what)
    if len(names) != count:
        shown = ", ".join(names[:MOST_LISTED]) + (", ..." if len(names) > MOST_LISTED else "")
        raise PortError(
            f"{where}: [{what}s] ports names {counted(len(names), 'port')} ({shown}), and the program has"
            f" {counted(count, what)}: name one port for each, in the order of the program"
        )
    return _apart(names, candidates, known, found, what)


def _usable(found: Sequence[Port], direction: str) -> dict[str, int]:
    return {name: width for port in found if port.direction == direction for name, width in port.wires.items()}


def _clock_hint(found: Sequence[Port] | None) -> str:
    """Name the option for the clock, with which ports are found by position, if an input may be the clock."""
    single = [port.name for port in found or () if port.direction == "in" and port.width == 1]
    return f", or, if {single[0]} is its clock, give {{clock}} {single[0]}" if single else ""


def _packed(
    name: str, candidates: Sequence[Sizing], known: Mapping[str, int] | None, found: Sequence[Port] | None, what: str
) -> tuple[Sizing, tuple[Wire, ...]]:
    """Assign all elements to one port."""
    first = candidates[0]
    if known is None:
        return first, (Wire(name, 0, first.bits),)
    if name not in known:
        raise PortError.of(
            "the design has no {what} port {name}; the program needs {name} with {bits} ({first}); the design "
            "has {found}: name its ports in a {ports} file" + _clock_hint(found),
            what=what,
            name=name,
            bits=counted(max(first.bits, 1), "bit"),
            first=_in_words(first, what),
            found=_listed(found),
        )
    fitting = [sizing for sizing in candidates if max(sizing.bits, 1) == known[name]]
    if not fitting:
        others = "".join(f", or {max(other.bits, 1)} by {other.how}" for other in candidates[1:])
        hint = _types_hint(first, [known[name]], what) if len(first.elements) == 1 else ""
        raise PortError.of(
            "port {name} of the design has {known}; the program needs {bits} by {how}{others} ({first}){hint}",
            name=name,
            known=counted(known[name], "bit"),
            bits=max(first.bits, 1),
            how=first.how,
            others=others,
            first=_in_words(first, what),
            hint=hint
            or PortError.of(
                ": if the design uses other types, state them under [{what}s] in a {ports} file", what=what
            ),
        )
    return fitting[0], (Wire(name, 0, fitting[0].bits),)


def _apart(
    names: Sequence[str],
    candidates: Sequence[Sizing],
    known: Mapping[str, int] | None,
    found: Sequence[Port] | None,
    what: str,
) -> tuple[Sizing, tuple[Wire, ...]]:
    """Assign one port per element."""
    problems: list[str] = []
    for sizing in candidates:
        wrong = _differences(names, sizing.elements, known)
        if not wrong:
            return _wired(names, sizing, known)
        problems = problems or wrong
    shown = "; ".join(problems[:MOST_LISTED])
    more = f"; and {len(problems) - MOST_LISTED} more" if len(problems) > MOST_LISTED else ""
    widths = [
        (known or {}).get(name, element.width) for name, element in zip(names, candidates[0].elements, strict=True)
    ]
    raise PortError.of(
        "the design does not fit the program: {shown}{more}; the design has {found}{hint}",
        shown=shown,
        more=more,
        found=_listed(found),
        hint=_types_hint(candidates[0], widths, what),
    )


def _types_hint(sizing: Sizing, widths: Sequence[int], what: str) -> str | InputError:
    """Return a hint on how to state types for ports of these ``widths``; empty if no port is wider than its element."""
    own = list(map(str, sizing.types))
    wide = [
        str(FixedType(kind.k, kind.i + max(width - kind.width, 0), kind.f))
        for kind, width in zip(sizing.types, widths, strict=True)
    ]
    if sizing.how == FROM_FILE or wide == own:
        return ""
    first = next(j for j, kind in enumerate(wide) if kind != own[j])
    listed = ", ".join(f'"{kind}"' for kind in wide[:MOST_LISTED]) + (", ..." if len(wide) > MOST_LISTED else "")
    return PortError.of(
        "; if a port has more bits on purpose, state its type under [{what}s] in a {ports} file, as in types ="
        " {types}: {kind} has {bits}, {fraction} of them fractional",
        what=what,
        types=f'"{wide[0]}"' if len(set(wide)) == 1 else f"[{listed}]",
        kind=wide[first],
        bits=counted(widths[first], "bit"),
        fraction=sizing.types[first].f,
    )


def _differences(names: Sequence[str], wanted: Iterable[Element], known: Mapping[str, int] | None) -> list[str]:
    wrong = []
    for name, element in zip(names, wanted, strict=True):
        if known is None or element.width == 0:
            continue  # an element without bits needs no port
        if name not in known:
            wrong.append(f"port {name} is missing, must have {counted(element.width, 'bit')}")
        elif known[name] != element.width:
            wrong.append(f"port {name} has {counted(known[name], 'bit')}, must have {element.width}")
    return wrong


def _wired(names: Sequence[str], sizing: Sizing, known: Mapping[str, int] | None) -> tuple[Sizing, tuple[Wire, ...]]:
    placed, kinds, wires, offset = [], [], [], 0
    for name, element, kind in zip(names, sizing.elements, sizing.types, strict=True):
        # The port of an element without bits carries 0, or a value that is not read.
        width = element.width or (known or {}).get(name, 0)
        placed.append(element._replace(offset=offset, width=width))
        kinds.append(kind if element.width else FixedType(0, width, 0))
        if width:
            wires.append(Wire(name, offset, width))
        offset += width
    return Sizing(tuple(placed), tuple(kinds), sizing.how), tuple(wires)


def _check_pins(interface: DesignInterface, found: Sequence[Port]) -> None:
    """Raise ``InputError`` unless every pin exists and has the correct direction."""
    ports = {port.name: port for port in found}
    driven = _driven(interface)
    read = [interface.clocking.valid_out] if interface.clocking and interface.clocking.valid_out else []
    for name, direction in [*((name, "in") for name in driven), *((name, "out") for name in read)]:
        if name not in ports or ports[name].direction != direction:
            raise PortError(f"the design has no {direction}put {name}; it has {_listed(found)}")
        if ports[name].width != 1 and name not in dict(interface.ties):
            raise PortError(f"port {name} of the design has {counted(ports[name].width, 'bit')}, must have 1")
    for name, value in interface.ties:
        if value.bit_length() > ports[name].width:
            raise PortError(f"[tie] {name} = {value} does not fit: the port has {counted(ports[name].width, 'bit')}")


def _driven(interface: DesignInterface) -> list[str]:
    return [*(interface.clocking.driven if interface.clocking else []), *(name for name, _ in interface.ties)]


def _check_driven(interface: DesignInterface, found: Sequence[Port]) -> None:
    """Raise ``InputError`` if an input of the design is not driven."""
    taken = {*_driven(interface), *(wire.name for wire in interface.inputs)}
    for port in found:
        for name in port.wires if port.direction != "out" else ():
            if name not in taken:
                raise PortError.of(
                    "nothing drives port {port} of the design: name it as {clock}, {reset}, {enable} or "
                    "{valid_in}, or give it a value under [tie] in a {ports} file",
                    port=port,
                )


def _in_words(sizing: Sizing, what: str) -> str:
    return f"{what}s {in_words(sizing.elements)}" if sizing.elements else f"no {what}s"


def _listed(found: Sequence[Port] | None) -> str:
    if not found:
        return "no ports"
    return ", ".join(map(str, found[:MOST_LISTED])) + (", ..." if len(found) > MOST_LISTED else "")


def with_pins(said: PortsFile, pins: Clocking | None) -> PortsFile:
    """Return ``said`` with the pins of the command line, which take precedence."""
    return said if pins is None else PortsFile(said.inputs, said.outputs, pins, said.ties)


# The possible positions and widths of a program's elements in the ports of a design.
#
# Our own modules use the program's types (``spec.program.ports``). da4ml sizes its ports differently: an input has
# the type of the last op that reads it, and an output has the interval of its op, negated and shifted as the output
# requires; an out_idx of -1 means the last op. A ports file may state any types, as long as no bit with a meaning is
# lost.


#: The largest number of ports, types or elements that a message lists.
MOST_LISTED = 12


class Sizing(NamedTuple):
    """The elements of one direction, from bit 0 on without gaps. ``how``: the source of their widths, as text.

    ``types``: the type of every element in its port. The type of an input matters only for the weights of its bits.
    """

    elements: tuple[Element, ...]
    types: tuple[FixedType, ...]
    how: str

    @property
    def bits(self) -> int:
        """The total number of bits."""
        return sum(element.width for element in self.elements)


_PROGRAM, _DA4ML, FROM_FILE = "the program's types", "da4ml's intervals", "the ports file"


def sizings_of_inputs(program: Program) -> list[Sizing]:
    """Return the known sizings of the inputs, the most likely first."""
    inputs = ports_of(program).inputs
    own = Sizing(inputs, tuple(FixedType(0, e.width + e.lo, -e.lo) for e in inputs), _PROGRAM)
    kinds = [FixedType(0, 0, 0)] * program.n_in
    for op in program.ops:
        if op.code == INPUT:
            k, i, f = op.type
            shift = int(program.inp_shift[op.id0])
            kinds[op.id0] = FixedType(k, i - shift, f + shift)
    return _in_order(program, own, _sizing(kinds, _DA4ML))


def sizings_of_outputs(program: Program) -> list[Sizing]:
    """Return the known sizings of the outputs, the most likely first."""
    own = _sizing(program.output_types, _PROGRAM)
    return _in_order(program, own, _sizing(_da4ml_outputs(program), _DA4ML))


def _da4ml_outputs(program: Program) -> list[FixedType]:
    kinds = []
    for index, shift, negated in program.outputs:
        if not program.n_ops:
            kinds.append(FixedType(0, 0, 0))
            continue
        op = program.ops[index]  # -1 is the last op, as in da4ml
        lo, hi = program.intervals[op.index] if program.intervals else (op.type.raw_min, op.type.raw_max)
        kind = type_of_interval(-hi, -lo, op.type.f) if negated else type_of_interval(lo, hi, op.type.f)
        kinds.append(FixedType(kind.k, kind.i + shift, kind.f - shift))
    return kinds


def _in_order(program: Program, own: Sizing, da4ml: Sizing) -> list[Sizing]:
    return [da4ml, own] if program.intervals and da4ml.elements != own.elements else [own, da4ml]


def stated_inputs(program: Program, kinds: Sequence[FixedType], where: str) -> Sizing:
    """Return the sizing of the inputs with the types ``kinds``, which the ports file ``where`` states.

    Raises ``InputError`` if a bit that an op reads is missing.
    """
    where = f"{where}: [inputs] types"
    own, stated = ports_of(program).inputs, _sizing(_for_all(kinds, program.n_in, "input", where), FROM_FILE)
    for j, (needed, given) in enumerate(zip(own, stated.elements, strict=True)):
        if needed.width and (given.lo > needed.lo or given.lo + given.width < needed.lo + needed.width):
            raise PortError(
                f"{where}: ops read the bits {_weights(needed)} of input {j}, and {stated.types[j]} has"
                f" {_weights(given)}; give a type that has them all"
            )
    return stated


def stated_outputs(program: Program, kinds: Sequence[FixedType], where: str) -> Sizing:
    """Return the sizing of the outputs with the types ``kinds``, which the ports file ``where`` states.

    Raises ``InputError`` if an output would lose fractional bits. Whether values fit is checked when they occur.
    """
    where = f"{where}: [outputs] types"
    stated = _sizing(_for_all(kinds, program.n_out, "output", where), FROM_FILE)
    for j, (kind, given) in enumerate(zip(program.output_types, stated.types, strict=True)):
        if kind.width and given.f < kind.f:
            raise PortError(
                f"{where}: output {j} has {counted(kind.f, 'fractional bit')} ({kind}), and {given} has {given.f};"
                " give a type that has them all"
            )
    return stated


def _for_all(kinds: Sequence[FixedType], count: int, what: str, where: str) -> list[FixedType]:
    if len(kinds) == 1:
        return [kinds[0]] * count
    if len(kinds) != count:
        types = ", ".join(map(str, kinds[:MOST_LISTED])) + (", ..." if len(kinds) > MOST_LISTED else "")
        raise PortError(
            f"{where} holds {len(kinds)} types ({types}), and the program has {counted(count, what)}:"
            f" give one type for each, or one text for all"
        )
    return list(kinds)


def _sizing(kinds: Sequence[FixedType], how: str) -> Sizing:
    offsets = itertools.accumulate((kind.width for kind in kinds), initial=0)
    placed = tuple(Element(offset, kind.width, -kind.f) for offset, kind in zip(offsets, kinds, strict=False))
    return Sizing(placed, tuple(kinds), how)


def _weights(element: Element) -> str:
    return f"2^{element.lo} to 2^{element.lo + element.width - 1}"


def in_words(elements: Sequence[Element]) -> str:
    """Return the widths of all elements as text, such as ``0-15: 8 bits each, 16: 12 bits``."""
    runs = []
    for width, group in itertools.groupby(enumerate(elements), key=lambda pair: pair[1].width):
        members = [j for j, _ in group]
        bits = counted(width, "bit")
        first, last = members[0], members[-1]
        runs.append(f"{first}: {bits}" if first == last else f"{first}-{last}: {bits} each")
    shown = runs[:12]
    return ", ".join(shown) + (f", and {len(runs) - 12} runs more" if len(runs) > 12 else "")
